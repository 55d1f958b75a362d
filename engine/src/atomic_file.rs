//! Reading and writing whole files, so that a crash leaves the old content; adding to files, which has no old content to keep.
//!
//! Links are followed. What exists and is no regular file, such as a device or a pipe, is neither read nor replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Error;

/// Links that are followed one after the other.
const MOST_LINKS: usize = 40;

/// Writes a temporary file beside the file, syncs it, and renames it. A file that is there keeps its permissions. Temporary files that
/// processes have left in this folder, because they were killed, are removed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, old) = target(path)?;
    remove_abandoned(&target);
    let (temporary, mut file) = create(&target)?;
    let written = take_over(&file, old.as_ref())
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The first error matters; a leftover temporary file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Adds to the end of a file, which is made if it is not there. This is no whole: a crash may leave a part of `bytes`.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !is_written(path)? {
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}

/// Makes an empty file, or empties the one that is there: there is no old content to keep.
pub fn create_empty(path: &Path) -> io::Result<()> {
    if !is_written(path)? {
        return Ok(());
    }
    OpenOptions::new().write(true).create(true).truncate(true).open(path).map(drop)
}

/// Whether a path is a file or can become one; the null device takes everything and keeps nothing.
fn is_written(path: &Path) -> io::Result<bool> {
    match regular(path) {
        Err(_) if path == Path::new("/dev/null") => Ok(false),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}

/// The whole file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    regular(path).and_then(|_| fs::read(path))
}

/// Whether the file can be written, and read if it is there. Nothing is changed.
pub fn check(path: &Path) -> io::Result<()> {
    let (target, old) = target(path)?;
    if old.is_some() {
        File::open(&target)?;
    }
    let (temporary, _) = create(&target)?;
    fs::remove_file(&temporary)
}

/// An error about `path` as one of the engine.
pub(crate) fn about(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::File { problem: format!("{}: {error}", path.display()) }
}

/// The file that writing to `path` replaces, and what it is now if it is there.
fn target(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    let is_there = match regular(path) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    let target = follow(path)?;
    // What cannot be opened for writing must not be replaced either.
    let old = is_there.then(|| OpenOptions::new().write(true).open(&target)?.metadata());
    Ok((target, old.transpose()?))
}

/// What a path leads to; refused if that is neither a file nor a folder. Of folders the system says so itself.
fn regular(path: &Path) -> io::Result<Metadata> {
    let found = fs::metadata(path)?;
    if found.is_file() || found.is_dir() {
        return Ok(found);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "this is not a regular file"))
}

/// Where links lead, also to what is not there yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// What the names of temporary files begin and end with.
const MARKS: (&str, &str) = (".", ".notegrad-tmp");

/// Names of a folder that are looked at for what others have left there.
const MOST_NAMES: usize = 10_000;

/// A new file beside the target, locked as long as it is open: who is killed lets go of it.
fn create(target: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let path = beside(target);
        let file = File::create(&path)?;
        match file.lock() {
            // A process that has found the file before it was locked has removed it.
            Ok(()) if !path.exists() => {}
            // Where there are no locks, nobody removes what others have left.
            _ => return Ok((path, file)),
        }
    }
}

fn beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = target.file_name().and_then(|it| it.to_str()).unwrap_or("file");
    let (count, process) = (COUNT.fetch_add(1, Ordering::Relaxed), std::process::id());
    target.with_file_name(format!("{}{name}.{process}-{count}{}", MARKS.0, MARKS.1))
}

/// Removes temporary files beside the target that no process holds.
fn remove_abandoned(target: &Path) {
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().take(MOST_NAMES) {
        let name = entry.file_name();
        let is_temporary = |it: &str| it.starts_with(MARKS.0) && it.ends_with(MARKS.1);
        if name.to_str().is_some_and(is_temporary) && entry.file_type().is_ok_and(|it| it.is_file())
        {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|it| it.try_lock().is_ok()) {
                // Another process may do the same.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Gives a new file the owner and the permissions of the one that it will replace.
fn take_over(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    let Some(old) = old else { return Ok(()) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Few may give files away; the others own what they write.
        let _ = fchown(file, None, Some(old.gid()));
        let _ = fchown(file, Some(old.uid()), None);
    }
    file.set_permissions(old.permissions())
}
