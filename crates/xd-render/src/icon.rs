//! The signs in front of titles. Each is one cell in every setting.

/// Not decided, not done.
pub(crate) const PENDING: &str = "◌";
/// Went through.
pub(crate) const SUCCESS: &str = "✓";
/// Turned down.
pub(crate) const DISCARD: &str = "⊘";
/// Failed.
pub(crate) const FAILURE: &str = "✗";
/// In front of the further rows of a line that is wrapped.
pub(crate) const CONTINUED: &str = "›";

#[cfg(test)]
mod tests {
    use crate::Cells;

    #[test]
    fn v3_icons_are_one_cell_in_every_setting() {
        for icon in
            [super::PENDING, super::SUCCESS, super::DISCARD, super::FAILURE, super::CONTINUED]
        {
            for ambiguous_wide in [false, true] {
                let cells = Cells { ambiguous_wide, split_emoji: false };
                assert_eq!(cells.width(icon), 1, "{icon}");
            }
        }
    }
}
