//! The prompt section on devices (`CONTRACT R5`).

use xd_prompts::{DeviceLine, DeviceSection, Prompts};

use super::{Mount, Registry};
use crate::one_line::one_line;

/// How long the whole section may be, in characters.
const SECTION_CHARS: usize = 48_000;
/// How long one inlined document may be, in characters.
const DOC_CHARS: usize = 10_000;
/// How long a summary may be, in bytes; where many devices would not fit otherwise, shorter.
const SUMMARY_BYTES: [usize; 3] = [200, 80, 24];
/// What the words around the devices take at the most, in characters. An override of the template
/// may take more, which the last resort of [`section`] sees to.
const FRAME_CHARS: usize = 800;
/// What a line has beside name and summary: "- `xd://` — " and its end.
const LINE_CHARS: usize = 14;
/// What a document has beside itself and the name: "\n## xd://\n\n" and its end.
const HEAD_CHARS: usize = 16;

/// Lines for all devices, or as many as fit, then documents while the budgets last. The order is
/// that of the names, so the same devices give the same bytes.
pub(super) fn section(registry: &Registry, prompts: &Prompts) -> String {
    let mut mounts: Vec<&Mount> = registry.mounts().collect();
    mounts.sort_by(|a, b| a.name().cmp(b.name()));
    let mut left = SECTION_CHARS - FRAME_CHARS;
    let mut devices = lines(&mounts, &mut left);
    for (line, mount) in devices.iter_mut().zip(&mounts) {
        let doc = mount.docs(prompts);
        let chars = doc.chars().count();
        let all = chars + HEAD_CHARS + line.name.chars().count();
        if chars <= DOC_CHARS && all <= left {
            left -= all;
            line.doc = Some(doc);
        }
    }
    loop {
        let listed_only = devices.iter().filter(|line| line.doc.is_none()).count() as u64;
        let context =
            DeviceSection { devices: devices.clone(), listed_only, total: mounts.len() as u64 };
        let text = prompts.render(&context).unwrap_or_else(|error| {
            tracing::warn!(%error, "the device section's template failed");
            format!("{} devices are mounted. Read xd:// for the list.", mounts.len())
        });
        if text.chars().count() <= SECTION_CHARS || devices.is_empty() {
            return text;
        }
        // Only an overriding template gets here.
        match devices.iter_mut().rev().find(|line| line.doc.is_some()) {
            Some(line) => line.doc = None,
            None => drop(devices.pop()),
        }
    }
}

fn lines(mounts: &[&Mount], left: &mut usize) -> Vec<DeviceLine> {
    let mut lines = Vec::new();
    for bytes in SUMMARY_BYTES {
        let mut room = *left;
        lines.clear();
        for mount in mounts {
            let summary = one_line(mount.tool.definition().summary(), bytes);
            let chars = LINE_CHARS + mount.name().chars().count() + summary.chars().count();
            let Some(rest) = room.checked_sub(chars) else { break };
            room = rest;
            lines.push(DeviceLine { name: mount.name().to_owned(), summary, doc: None });
        }
        if lines.len() == mounts.len() || bytes == SUMMARY_BYTES[SUMMARY_BYTES.len() - 1] {
            *left = room;
            break;
        }
    }
    lines
}
