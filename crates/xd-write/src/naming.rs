//! Device names for tools whose names come from elsewhere (cases 48 and 50).

use xd_changeset::Hash;

/// The longest name made here, in bytes. Most providers allow a tool's name as much, and a model
/// may call a device by its bare name (`CONTRACT U11`).
const MOST_BYTES: usize = 64;
/// How many digits of the digest a name carries.
const DIGEST_DIGITS: usize = 16;

/// The device name for the tool `tool` of the server `server`: `server.tool` where both are made of
/// ASCII letters, digits, `_` and `-` (the tool's also of `.`) and that is short enough. Otherwise
/// what cannot stand in a name is replaced, what is too long is cut, and a digest of both full
/// names is put behind, so that two tools share a name only where their digests do.
///
/// The answer depends on the two names alone: it is the same after every restart. It is always a
/// well-formed name and none that is reserved.
///
/// ```
/// use xd_write::device_name;
///
/// assert_eq!(device_name("git", "log"), "git.log");
/// let (one, other) = (device_name("s", "a b"), device_name("s", "a_b"));
/// assert_eq!(other, "s.a_b");
/// assert!(one.starts_with("s.a_b-") && one != other);
/// ```
#[must_use]
pub fn device_name(server: &str, tool: &str) -> String {
    let name = format!("{}.{}", clean(server, false), clean(tool, true));
    let faithful = !server.is_empty() && !tool.is_empty() && name == format!("{server}.{tool}");
    // A name that looks as if it ended in a digest gets a real one: nobody can pick another's.
    if faithful && name.len() <= MOST_BYTES && !ends_in_digest(&name) {
        return name;
    }
    let mut whole = server.len().to_le_bytes().to_vec();
    whole.extend_from_slice(server.as_bytes());
    whole.extend_from_slice(tool.as_bytes());
    let digest = Hash::of(&whole).to_string();
    // Only ASCII is left, so every byte is a boundary.
    let kept = name.len().min(MOST_BYTES - DIGEST_DIGITS - 1);
    format!("{}-{}", &name[..kept], &digest[..DIGEST_DIGITS])
}

fn clean(part: &str, dots: bool) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || (dots && c == '.');
    match part {
        "" => "_".to_owned(),
        part => part.chars().map(|c| if allowed(c) { c } else { '_' }).collect(),
    }
}

fn ends_in_digest(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, end)| {
        end.len() == DIGEST_DIGITS && end.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}
