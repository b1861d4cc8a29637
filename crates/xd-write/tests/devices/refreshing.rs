//! Refreshes in one step or not at all, tools beside devices, registries that fail.

use std::sync::Arc;

use serde_json::json;
use xd_protocol::DeviceName;
use xd_session::Session;
use xd_write::{Host, MountError, RefreshError, Registry, Tool, Workspace};

use crate::bench::{echo, host, named, write};

fn names(registry: &Registry) -> Vec<String> {
    registry.names().map(str::to_owned).collect()
}

fn tools(names: &[&str]) -> Result<Vec<Arc<dyn Tool>>, String> {
    Ok(names.iter().map(|name| named(name, "")).collect())
}

// CONTRACT R2: each origin keeps its place, whichever is refreshed.
#[test]
fn r2_an_origin_is_refreshed_in_its_place() {
    let mut registry = Registry::new();
    registry.mount(named("built", ""), "the host").unwrap();
    registry.refresh_origin("s", tools(&["s1", "s2"])).unwrap();
    registry.refresh_origin("t", tools(&["t1"])).unwrap();
    assert_eq!(names(&registry), ["built", "s1", "s2", "t1"]);
    registry.refresh_origin("s", tools(&["s3", "s1", "s4"])).unwrap();
    assert_eq!(names(&registry), ["built", "s3", "s1", "s4", "t1"]);
    registry.refresh_origin("s", tools(&[])).unwrap();
    assert_eq!(names(&registry), ["built", "t1"]);
}

// CONTRACT R2, case 58: the server answers an error, or a list that cannot be mounted.
#[test]
fn r2_case_058_a_failed_refresh_leaves_the_old_list_and_says_so() {
    let mut registry = Registry::new();
    registry.refresh_origin("s", tools(&["s1", "s2"])).unwrap();
    registry.refresh_origin("t", tools(&["t1"])).unwrap();
    let error = registry.refresh_origin("s", Err("timed out\n\u{1b}[2J")).unwrap_err();
    assert!(matches!(error, RefreshError::Unavailable { .. }));
    let text = error.to_string();
    assert!(
        text.contains("\"s\"") && text.contains("timed out") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert_eq!(names(&registry), ["s1", "s2", "t1"]);
    // Who asks for what is not there hears of it; who asks for what is there does not.
    let unknown = registry.unknown(DeviceName::new("s3").unwrap()).joined();
    assert!(unknown.starts_with("Unknown device 'xd://s3'."), "{unknown}");
    assert!(unknown.contains("The devices of s could not be refreshed: timed out"), "{unknown}");
    assert!(registry.get("s1").is_some());

    for bad in ["t1", "resolve", "a b", "read", "write"] {
        let error = registry.refresh_origin("s", tools(&["s9", bad])).unwrap_err();
        assert!(matches!(error, RefreshError::Mount(_)), "{bad}: {error}");
        assert_eq!(names(&registry), ["s1", "s2", "t1"], "{bad}");
    }
    registry.refresh_origin("s", tools(&["s3"])).unwrap();
    assert!(!registry.listing().contains("could not be refreshed"));
}

// CONTRACT R4, case 46: each failure has its origin, and what is mounted works all the same.
#[tokio::test]
async fn r4_case_046_registry_unavailable_is_another_error_than_unknown_device() {
    let (_folder, host) = host(|b| b.device(echo("grep", json!({}))).unwrap());
    let unknown = write(&host, "xd://issues", "{}").await.joined();
    assert_eq!(unknown, "Unknown device 'xd://issues'. Mounted: grep.");
    host.with_registry(|registry| {
        registry.set_failure("server tracker", "config: line 3: bad url")
    });
    let failed = write(&host, "xd://issues", "{}").await;
    assert!(failed.is_error);
    assert_eq!(
        failed.joined(),
        "xd://issues cannot be reached: the device registry failed to start: config: line 3: bad url \
         (from server tracker). Mounted: grep."
    );
    assert_eq!(write(&host, "xd://grep", "{}").await.content, ["{}"]);
    let text = write(&host, "xd://grap", "{}").await.joined();
    assert!(text.contains("Did you mean 'xd://grep'?"), "{text}");
    host.with_registry(|registry| {
        registry.refresh_origin("server tracker", tools(&["issues"])).unwrap()
    });
    assert_eq!(write(&host, "xd://issues", "{}").await.content, ["issues"]);
}

// CONTRACT R1: `read` and `write` are there as long as the host is, and nothing shadows them.
#[tokio::test]
async fn r1_read_and_write_are_neither_shadowed_nor_unmounted() {
    let (_folder, host) = host(|b| b.device(echo("grep", json!({}))).unwrap());
    for name in ["read", "write"] {
        let error =
            host.with_registry(|registry| registry.mount(named(name, ""), "server s")).unwrap_err();
        assert!(matches!(&error, MountError::BuiltIn { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("server s") && text.contains(name), "{text}");
        let built = try_host(|b| b.tool(echo(name, json!({}))));
        assert!(matches!(built, Err(MountError::BuiltIn { .. })), "{built:?}");
    }
    for _ in 0..3 {
        host.with_registry(|registry| registry.refresh(Vec::new()).unwrap());
        let tools: Vec<String> = host.definitions().into_iter().map(|d| d.name).collect();
        assert_eq!(tools, ["read", "write"]);
    }
    // In another case it is another name, as for the reserved ones.
    host.with_registry(|registry| registry.mount(named("Read", ""), "s").unwrap());
}

// CONTRACT R1, U11: a bare name reaches one thing.
#[test]
fn r1_a_tool_and_a_device_of_one_name_collide() {
    let both =
        try_host(|b| b.tool(echo("grep", json!({}))).device(echo("grep", json!({}))).unwrap());
    let text = both.unwrap_err().to_string();
    assert!(text.contains("a tool of the host") && text.contains("the host"), "{text}");
    let twice = try_host(|b| b.tool(echo("grep", json!({}))).tool(echo("grep", json!({}))));
    assert!(matches!(twice, Err(MountError::TwoTools { .. })));
    let host = try_host(|b| b.tool(echo("grep", json!({})))).unwrap();
    let later = host.with_registry(|registry| registry.mount(named("grep", ""), "server s"));
    assert!(matches!(later, Err(MountError::Collision { .. })));
    let later = host.with_registry(|registry| registry.refresh_origin("s", tools(&["grep"])));
    assert!(matches!(later, Err(RefreshError::Mount(MountError::Collision { .. }))));
}

#[test]
#[should_panic(expected = "`read` and `write` are tools of every session")]
fn r1_a_program_that_shadows_them_is_stopped() {
    let _ = host(|b| b.tool(echo("write", json!({}))));
}

fn try_host(
    configure: impl FnOnce(xd_write::HostBuilder) -> xd_write::HostBuilder,
) -> Result<Host, MountError> {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    configure(Host::builder(Arc::new(Session::new()), workspace)).try_build()
}
