//! Arguments in one line.

use crate::arguments::Arguments;
use crate::cells::Cells;
use crate::clean::clean_line;

/// The bytes of a summary of arguments after which no further argument is added.
const SUMMARY_BYTES: usize = 400;

/// The columns of one argument in a summary.
const VALUE_COLUMNS: usize = 48;

/// Whole arguments in one line, for tools without a drawing of their own. Looks at a bounded part of
/// them: as much as a line can show.
pub(crate) fn summary_of(arguments: &Arguments) -> String {
    let cells = Cells::default();
    let mut summary = String::new();
    let start = |text: &str| -> String {
        let text = &text[..text.floor_char_boundary(4 * VALUE_COLUMNS)];
        let first = text.trim_start().lines().next().unwrap_or("");
        cells.cut(&clean_line(first), VALUE_COLUMNS).into_owned()
    };
    for field in arguments.fields().filter(|field| field.complete) {
        if summary.len() > SUMMARY_BYTES {
            break;
        }
        let gap = if summary.is_empty() { "" } else { "  " };
        summary.push_str(&format!("{gap}{}={}", start(field.name), start(field.text)));
    }
    summary
}
