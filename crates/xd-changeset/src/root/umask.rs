//! The permission bits of a new file.

/// What a file made without a wish gets: `0666`, or `0777` where it is to be executable, less the
/// process's mask. The mask is read from the system's own table, because the only call that
/// tells it also changes it for every thread; where there is no such table it is taken as `022`.
pub(crate) fn new_file_mode(executable: bool) -> u32 {
    let mask = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| mask_in(&status))
        .unwrap_or(0o022);
    (if executable { 0o777 } else { 0o666 }) & !mask
}

fn mask_in(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_141_a_new_file_follows_the_mask() {
        assert_eq!(mask_in("Name:\tx\nUmask:\t0027\nState:\tR\n"), Some(0o027));
        assert_eq!(mask_in("Name:\tx\n"), None);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "").unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            std::fs::metadata(folder.path().join("f")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(new_file_mode(false), mode);
    }
}
