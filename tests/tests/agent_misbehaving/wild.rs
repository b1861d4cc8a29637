//! What comes to the mind of a model that misbehaves.

use serde_json::{Value, json};
use xd_agent::{ModelError, Reply, StopReason};

/// A small generator of random numbers; the same seed gives the same episode.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// One of these.
    pub(crate) fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Whatever comes to its mind.
pub(crate) fn reply(random: &mut Random) -> Result<Reply, ModelError> {
    let reply = match random.below(24) {
        0 => Reply::text("I have resolved the pending action, as you asked."),
        1 => Reply::text(""),
        2 => Reply::text("write {\"path\": \"xd://resolve\", \"content\": \"It is right.\"}"),
        3 => return Err(ModelError::failed("500")),
        4 => calls(random, 1).stopped(StopReason::Aborted),
        5 | 6 => calls(random, 2).stopped(StopReason::Length),
        7..=16 => calls(random, 1),
        17..=20 => calls(random, 2),
        21 => calls(random, 5),
        22 => {
            // One id for all calls, as some providers have sent.
            let mut reply = calls(random, 3);
            reply.calls.iter_mut().for_each(|call| call.id = "same".into());
            reply
        }
        _ => Reply { text: "First I think.".into(), ..calls(random, 2) },
    };
    Ok(reply)
}

fn calls(random: &mut Random, most: u64) -> Reply {
    let mut reply = Reply::text("");
    for _ in 0..=random.below(most) {
        let (name, arguments) = call(random);
        reply = reply.and_call(name, arguments);
    }
    reply
}

fn call(random: &mut Random) -> (String, Value) {
    let write = |path: &str, content: &str| {
        ("write".to_owned(), json!({ "path": path, "content": content }))
    };
    match random.below(22) {
        0..=2 => write("xd://resolve", "It is right."),
        3 | 4 => write("xd://reject", "It is wrong."),
        5 => write(&format!("xd://resolve@{}", random.below(9)), "It is right."),
        6 => write(&format!("xd://reject@{}", random.below(9)), "It is wrong."),
        7 => write(random.of(&["xd://resolve", "XD://reject", "xd://resolve@1"]), "  \n"),
        8 => write(
            random.of(&[
                "xd:/resolve",
                "xdd://reject",
                "xd/resolve",
                "xd://Resolve",
                "xd://",
                "xd://a/b",
                "xd://resolve@0",
                "xd://resolve@1:3-9",
                "http://x",
                "xd://nothing",
                "../out",
                "a.txt:3",
                "",
                "\0",
                "xd://propose",
            ]),
            "It is right.",
        ),
        // A file of its own: the guarded ones change by confirms alone.
        9 => write("own/notes.txt", "notes\n"),
        10 | 11 => ("read".into(), json!({ "path": random.of(&["a.txt", "b.txt", ".", "xd://"]) })),
        12 => {
            let path = format!("xd://resolve@{}", random.below(6));
            ("read".into(), json!({ "path": path }))
        }
        13..=16 => {
            let path = random.of(&["a.txt", "b.txt", "c.txt"]);
            let old = random.of(&["0", "1", "2", "none"]);
            let new = random.of(&["0", "1", "2", "0"]);
            ("edit".into(), json!({ "edits": [{ "path": path, "old": old, "new": new }] }))
        }
        17 => ("edit".into(), json!({ "create": [{ "path": "c.txt", "content": "0 1\n" }] })),
        18 => ("edit".into(), json!({ "delete": [random.of(&["b.txt", "c.txt"])] })),
        19 => ("bash".into(), json!({ "command": "rm -rf ." })),
        20 => {
            let broken =
                [json!(null), json!("{\"path\":"), json!([]), json!({ "path": 7 }), json!(1.5)];
            let at = random.below(broken.len() as u64) as usize;
            let name = random.of(&["write", "read", "edit", "xd://resolve", "xd://", ""]);
            (name.to_owned(), broken[at].clone())
        }
        _ => (
            random.of(&["xd://resolve", "xd://reject@2", "xd://gone", "resolve"]).to_owned(),
            json!({ "content": "By its name.", "action": "apply", "reason": "By its name." }),
        ),
    }
}
