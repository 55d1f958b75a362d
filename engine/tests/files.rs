//! Reading and writing whole files: what stands at the path beforehand decides.
#![cfg(unix)]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use engine::atomic_file::{check, read, write};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn a_link_is_followed_and_permissions_stay() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("real")).expect("a folder");
    let (target, link) = (dir.path().join("real/file"), dir.path().join("link"));
    fs::write(&target, "old").expect("a file");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("real/file", &link).expect("a link");
    let second = dir.path().join("second");
    symlink(&link, &second).expect("a link");
    for (path, text) in [(&target, "one"), (&link, "two"), (&second, "three")] {
        check(path).expect("a file that can be written");
        write(path, text.as_bytes()).expect("written");
        assert_eq!(fs::read_to_string(&target).expect("a file"), text);
        assert_eq!(mode(&target), 0o640, "{text}");
    }
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!((names(dir.path()), names(&dir.path().join("real"))), (3, 1));
}

#[test]
fn a_link_to_nothing_makes_its_target() {
    let dir = tempfile::tempdir().expect("a folder");
    let link = dir.path().join("link");
    symlink("target", &link).expect("a link");
    check(&link).expect("a file that can be written");
    assert_eq!(names(dir.path()), 1, "a check leaves nothing behind");
    write(&link, b"new").expect("written");
    assert_eq!(fs::read_to_string(dir.path().join("target")).expect("a file"), "new");
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    let turn = dir.path().join("turn");
    symlink("turn", &turn).expect("a link");
    write(&turn, b"").expect_err("a link to itself");
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let (socket, link) = (dir.path().join("socket"), dir.path().join("link"));
    let _listener = UnixListener::bind(&socket).expect("a socket");
    symlink(&socket, &link).expect("a link");
    let before = fs::symlink_metadata(&socket).expect("a socket").ino();
    for path in [&socket, &link] {
        for error in [write(path, b"new").err(), read(path).err(), check(path).err()] {
            let text = error.expect("refused").to_string();
            assert!(text.contains("not a regular file"), "{text}");
        }
    }
    assert_eq!(fs::symlink_metadata(&socket).expect("a socket").ino(), before);
    let zero = read(Path::new("/dev/zero")).expect_err("refused").to_string();
    assert!(zero.contains("not a regular file"), "{zero}");
    assert_eq!(read(dir.path()).expect_err("a folder").kind(), ErrorKind::IsADirectory);
    assert_eq!(write(dir.path(), b"").expect_err("a folder").kind(), ErrorKind::IsADirectory);
    assert_eq!(check(dir.path()).expect_err("a folder").kind(), ErrorKind::IsADirectory);
    let absent = dir.path().join("no/such");
    assert_eq!(read(&absent).expect_err("nothing").kind(), ErrorKind::NotFound);
    assert_eq!(write(&absent, b"").expect_err("nothing").kind(), ErrorKind::NotFound);
    assert_eq!(check(&absent).expect_err("nothing").kind(), ErrorKind::NotFound);
    assert_eq!(names(dir.path()), 2, "no temporary file is left");
}

#[test]
fn what_killed_processes_have_left_is_removed_and_what_others_write_stays() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    for name in [
        ".model.ngm.999999-0.notegrad-tmp",
        ".other.77-12.notegrad-tmp",
        ".hidden",
        "a.notegrad-tmp",
    ] {
        fs::write(path(name), "half a model").expect("a file");
    }
    let held = fs::File::create(path(".model.ngm.1-0.notegrad-tmp")).expect("a file");
    held.lock().expect("a lock");
    write(&path("model.ngm"), b"whole").expect("written");
    let mut left: Vec<_> = fs::read_dir(dir.path()).expect("a folder").flatten().collect();
    left.sort_by_key(|it| it.file_name());
    let left: Vec<_> =
        left.iter().map(|it| it.file_name().into_string().expect("a name")).collect();
    assert_eq!(left, [".hidden", ".model.ngm.1-0.notegrad-tmp", "a.notegrad-tmp", "model.ngm"]);
    assert_eq!(fs::read(path("model.ngm")).expect("a file"), b"whole");
}
