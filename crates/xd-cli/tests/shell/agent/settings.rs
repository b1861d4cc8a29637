//! Models, keys and files of settings, as far as they can be wrong.

use super::{agent, command, folder, text};
use crate::{Folder, Run};

fn fault(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut all = vec!["agent", "-p"];
    all.extend(arguments);
    all.push("Go.");
    let mut command = command(folder, &all);
    command.envs(variables.iter().copied());
    Run::of(command.output().unwrap())
}

#[test]
fn a_model_must_be_named_and_known() {
    let folder = folder(&[]);
    let run = fault(&folder, &[], &[]);
    run.is_plain_error("no model is named");
    assert!(run.err.contains("XD_MODEL") && run.err.contains("home/xd/config.toml"), "{run:?}");
    let run = fault(&folder, &["-m", "nowhere/model"], &[]);
    run.is_plain_error("no provider is named `nowhere`");
    assert!(run.err.contains("anthropic") && run.err.contains("[provider.NAME]"), "{run:?}");
    fault(&folder, &["-m", "gpt"], &[]).is_plain_error("PROVIDER/MODEL");
    fault(&folder, &["-m", "custom/x"], &[]).is_plain_error("where the provider 'custom' is");
    let bad = fault(&folder, &["-m", "ollama/x", "--base-url", "nonsense"], &[]);
    bad.is_plain_error("`nonsense` is no base URL");
    fault(&folder, &["-m", "ollama/x", "--thinking", "hard"], &[]).is_plain_error("'hard'");
    fault(&folder, &["-m", "ollama/x"], &[("XD_APPROVAL", "always")]).is_plain_error("'always'");
    // Nothing of it made a session.
    assert!(!folder.path().join(".xd/sessions").exists());
}

#[test]
fn a_missing_key_names_its_variable() {
    let folder = folder(&[]);
    let run = fault(&folder, &["-m", "anthropic/claude-sonnet-4-5"], &[]);
    run.is_plain_error("ANTHROPIC_API_KEY is not set");
    assert!(run.err.contains("api_key_env"), "{run:?}");
    folder.put("home/xd/config.toml", "[provider.anthropic]\napi_key_env = 'TEAM_KEY'\n");
    let run = fault(&folder, &["-m", "anthropic/x"], &[("ANTHROPIC_API_KEY", "sk-other")]);
    run.is_plain_error("TEAM_KEY is not set");
    assert!(!run.err.contains("sk-other"), "{run:?}");
}

#[test]
fn a_bad_file_names_line_and_key() {
    let folder = folder(&[text("Heard.")]);
    folder.put("home/xd/config.toml", "model = 'script:script.jsonl'\n\nmodle = 'x/y'\n");
    let run = fault(&folder, &[], &[]);
    run.is_plain_error("config.toml:3: `modle`: unknown field `modle`");
    folder.put("home/xd/config.toml", "model = 'script:script.jsonl'\n");
    assert_eq!(fault(&folder, &[], &[]).out, "Heard.\n");
    folder.put(".xd.toml", "[provider.openai]\nbase_url = 'http://elsewhere'\n");
    let run = fault(&folder, &[], &[]);
    run.is_plain_error(".xd.toml:1");
    assert!(run.err.contains("user's own file"), "{run:?}");
    // What needs no agent needs no settings.
    assert_eq!(folder.xd(&["status"]).status, 0);
    let run = agent(&folder, &["--json", "Go."]);
    assert_eq!(run.status, 2);
    assert!(run.json()["error"].as_str().unwrap().contains(".xd.toml:1"), "{run:?}");
}

/// Each mistake in the name of a model says what is missing, and how it is named.
#[test]
fn a_model_without_a_provider_or_a_provider_without_a_model_is_told() {
    let folder = folder(&[]);
    for (name, what) in [
        ("claude-sonnet-4-5", "'claude-sonnet-4-5' names no provider"),
        ("anthropic", "'anthropic' names a provider and no model"),
        ("nope/x", "no provider is named `nope`"),
    ] {
        let run = Run::of(command(&folder, &["agent", "-m", name, "-p", "Hi."]).output().unwrap());
        run.is_plain_error(what);
        assert!(run.err.contains("MODEL"), "{run:?}");
    }
}

/// What cannot be reached is named, and so is the way out; a key in the address is not.
#[test]
fn an_address_that_nobody_answers_at_is_told() {
    let folder = folder(&[]);
    folder.put("home/xd/config.toml", "[retry]\nattempts = 1\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let plain = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
    });
    for (base, what) in [
        ("http://127.0.0.1:9/v1?key=hush".to_owned(), "http://127.0.0.1:9: "),
        ("http://no.such.host.invalid/v1".to_owned(), "no.such.host.invalid: "),
        (format!("https://127.0.0.1:{port}/v1"), "http:// may be meant"),
    ] {
        let arguments = ["agent", "-m", "custom/x", "--base-url", &base, "-p", "Hi."];
        let run = Run::of(command(&folder, &arguments).output().unwrap());
        run.is_plain_error(what);
        assert!(run.err.contains("Check the network and the base URL"), "{run:?}");
        assert!(!run.err.contains("hush"), "{run:?}");
    }
    plain.join().unwrap();
}
