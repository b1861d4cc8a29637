//! Resources, subscriptions, prompts, progress.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, GetPromptRequestParams, ReadResourceRequestParams, Request,
    SubscribeRequestParams,
};
use serde_json::{Value, json};
use site::{Client, Ears, Site, text, until};
use xd_mcp::{DEVICES, LOG, PENDING};
use xd_resolve::{Decider, Recorder};
use xd_session::Session;
use xd_write::{StateFolder, Workspace};

async fn resource(client: &Client, uri: &str) -> Result<String, rmcp::ServiceError> {
    let read = client.peer.read_resource(ReadResourceRequestParams::new(uri)).await?;
    let value = serde_json::to_value(&read.contents[0]).unwrap();
    Ok(value["text"].as_str().unwrap().to_owned())
}

async fn subscribe(client: &Client, uri: &str) -> Result<(), rmcp::ServiceError> {
    let request = Request::new(SubscribeRequestParams::new(uri));
    client.peer.send_request(ClientRequest::SubscribeRequest(request)).await.map(drop)
}

/// Decides as a shell command does: another session over the same state.
async fn decide_elsewhere(site: &Site, path: &str) {
    let workspace = Workspace::open(site.path()).unwrap();
    let state = StateFolder::open(&workspace, "shell").unwrap();
    let lock = state.lock(std::time::Duration::from_secs(5)).unwrap();
    let recorder: Arc<dyn Recorder> = Arc::new(state.clone());
    let session = Arc::new(Session::with_store(|store| store.with_recorder(recorder)));
    state.restore(&workspace, session.actions(), Some(&lock)).unwrap();
    let host = xd_write::Host::builder(session, workspace).build();
    let arguments = json!({ "path": path, "content": "From a shell." });
    let call = xd_resolve::ToolCall::new("1", "write", arguments);
    let scope = xd_write::CallScope::of(Decider::Person);
    assert!(!host.run_batch(&[call], &scope).await[0].is_error);
}

#[tokio::test]
async fn previews_the_log_and_what_is_pending_can_be_read() {
    let site = Site::new();
    let client = site.client().await;
    assert_eq!(resource(&client, LOG).await.unwrap(), "");
    assert_eq!(resource(&client, PENDING).await.unwrap(), "[]");
    assert!(!site.has(".xd"), "looking makes nothing");
    client.edit("a.txt", "one", "1").await;
    let listed = client.peer.list_all_resources().await.unwrap();
    let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, [PENDING, LOG, DEVICES, "xd://resolve@1"]);
    assert!(resource(&client, "xd://resolve@1").await.unwrap().contains("+1"));
    let pending: Value = serde_json::from_str(&resource(&client, PENDING).await.unwrap()).unwrap();
    assert_eq!(pending[0]["number"], 1);
    client.write("xd://reject", "No.").await;
    let log = resource(&client, LOG).await.unwrap();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert!(log.contains("No."));
    // A decided one stays readable, and is listed no more.
    assert!(resource(&client, "xd://resolve@1").await.unwrap().contains("(discarded)"));
    assert_eq!(client.peer.list_all_resources().await.unwrap().len(), 3);
    for uri in ["xd://resolve@9", "file:///etc/passwd", "xd-state:///no"] {
        assert!(resource(&client, uri).await.is_err(), "{uri}");
    }
    client.leave().await;
}

#[tokio::test]
async fn case_44_the_inventory_is_the_listing() {
    let site = Site::new();
    let client = site.client().await;
    let devices: Value = serde_json::from_str(&resource(&client, DEVICES).await.unwrap()).unwrap();
    let listing = text(&client.read("xd://").await);
    let devices = devices.as_array().unwrap();
    assert!(devices.len() >= 4);
    for device in devices {
        let address = device["address"].as_str().unwrap();
        assert_eq!(listing.matches(&format!("{address} ")).count(), 1, "{address} in {listing}");
        assert!(device["schema"].is_object());
    }
    client.leave().await;
}

#[tokio::test]
async fn who_subscribes_hears_what_others_do() {
    let site = Site::new();
    let ears = Ears::default();
    let client = site.client_of(site.options(), ears.clone()).await;
    for uri in [LOG, PENDING, "xd://resolve@1"] {
        subscribe(&client, uri).await.unwrap();
    }
    assert!(subscribe(&client, "file:///etc/passwd").await.is_err());
    let heard = |uri: &str| ears.updated.lock().unwrap().iter().filter(|u| *u == uri).count();
    client.edit("a.txt", "one", "1").await;
    assert!(until(|| heard(LOG) > 0 && heard(PENDING) > 0 && heard("xd://resolve@1") > 0).await);
    assert!(until(|| *ears.lists.lock().unwrap() > 0).await);
    let before = (heard(LOG), heard("xd://resolve@1"));
    decide_elsewhere(&site, "xd://resolve@1").await;
    assert!(until(|| heard(LOG) > before.0 && heard("xd://resolve@1") > before.1).await);
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    // The next call knows it too.
    assert!(!site::is_error(&client.edit("b.txt", "three", "3").await));
    client.leave().await;
}

#[tokio::test]
async fn prompts_teach_and_review() {
    let site = Site::new();
    let client = site.client().await;
    let names: Vec<_> =
        client.peer.list_all_prompts().await.unwrap().into_iter().map(|p| p.name).collect();
    assert_eq!(names, ["staged_edits", "review_staged"]);
    let get = async |name: &str, arguments: Value| {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = arguments.as_object().cloned();
        let got = client.peer.get_prompt(params).await?;
        Ok::<_, rmcp::ServiceError>(serde_json::to_string(&got.messages).unwrap())
    };
    assert!(get("staged_edits", json!({})).await.unwrap().contains("xd://resolve@<n>"));
    assert!(get("review_staged", json!({})).await.unwrap().contains("Nothing is pending"));
    client.edit("a.txt", "one", "1").await;
    assert!(get("review_staged", json!({ "number": "1" })).await.unwrap().contains("+1"));
    assert!(get("review_staged", json!({})).await.unwrap().contains("xd://reject@1"));
    assert!(get("review_staged", json!({ "number": "7" })).await.is_err());
    assert!(get("no_such", json!({})).await.is_err());
    client.leave().await;
}

#[tokio::test]
async fn a_large_tree_tells_how_it_gets_on() {
    let site = Site::new();
    for n in 0..400 {
        site.put(&format!("src/f{n}.rs"), &"fn f() { old(1); }\n".repeat(20));
    }
    let ears = Ears::default();
    let client = site.client_of(site.options(), ears.clone()).await;
    let arguments = json!({ "ops": [{ "pat": "old($A)", "out": "new($A)" }], "paths": ["src"] });
    let result = client.call("ast_edit", arguments).await;
    assert!(!site::is_error(&result), "{}", text(&result));
    assert!(until(|| !ears.progress.lock().unwrap().is_empty()).await);
    assert!(ears.progress.lock().unwrap().is_sorted_by(|a, b| a < b));
    // CONTRACT A3: bounded for the model, whole in the resource.
    assert!(text(&result).len() < 64 * 1024);
    assert!(resource(&client, "xd://resolve@1").await.unwrap().len() > text(&result).len());
    assert_eq!(site::data(&result)["staged"]["counts"]["replacements"], 8_000);
    client.leave().await;
}
