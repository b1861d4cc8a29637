//! What staging refuses where the large contents cannot be kept.

use std::sync::Arc;

use super::*;
use crate::disk::Disk as _;
use crate::disk::sim::{Quirks, SimDisk};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// `CONTRACT S7`: the disk is full while a large content is put aside. Said when staging, with the
/// file and the way out, and nothing is staged.
#[test]
fn s7_f1_a_full_disk_while_staging_is_said_and_nothing_is_staged() {
    let large = || vec![b'x'; usize::try_from(Content::LARGE).unwrap() + 1];
    let disk = SimDisk::default();
    disk.create(&p("large"), &large(), 0o644).unwrap();
    disk.create(&p("small"), b"small", 0o644).unwrap();
    disk.with(|state| state.quirks = Quirks { no_scratch: true, ..Quirks::default() });
    let root = Root::on(Arc::new(disk.clone()));
    let before = disk.picture();
    type Stage = fn(&mut Builder, Vec<u8>) -> &mut Builder;
    let stages: [(&str, Stage); 6] = [
        ("new", |b, large| b.create(&p("new"), large, None)),
        ("small", |b, large| b.replace(&p("small"), large)),
        ("new", |b, large| b.put(&p("new"), large, false)),
        ("large", |b, _| b.delete(&p("large"))),
        ("large", |b, large| b.edit_from(&p("large"), large.into(), vec![])),
        ("small", |b, large| b.edit(&p("small"), vec![ByteEdit::new(0..0, large)])),
    ];
    for (path, stage) in stages {
        let mut builder = ChangeSet::builder(&root);
        stage(&mut builder, large());
        let error = builder.build().unwrap_err();
        let BuildError::NoRoom { path: named, source } = &error else { panic!("{error}") };
        assert_eq!((named.as_str(), source.kind()), (path, io::ErrorKind::StorageFull));
        let said = error.to_string();
        assert!(said.contains(&format!("'{path}'")) && said.contains("free some space"), "{said}");
        assert_eq!(disk.picture(), before);
    }
    // What has room in memory needs none on disk.
    ChangeSet::builder(&root).replace(&p("small"), "other").build().unwrap();
}
