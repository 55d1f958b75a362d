//! Memory that both processes see: a file without a name. Arrays go through it, so that they are not copied into frames.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use frontend_lang::python::worker::Lost;
use tempfile::{Builder, NamedTempFile, TempPath};

use super::ending::words;

/// Bytes that the file may hold after what needed them has passed.
const KEPT: u64 = 64 << 20;
/// KiB below which the shared memory of the system is too small; containers often give 64 MiB.
const ROOMY: u64 = 1 << 20;

/// The file.
pub(super) struct Shared {
    file: File,
    path: Option<TempPath>,
}

impl Shared {
    /// A new file, in memory if the system has enough for that, which only this user can open.
    pub(super) fn new() -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix("notegrad-");
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let in_memory = memory_folder(&mounts).and_then(|it| builder.tempfile_in(it).ok());
        let made = in_memory.map_or_else(|| builder.tempfile(), Ok)?;
        let (file, path) = NamedTempFile::into_parts(made);
        Ok(Self { file, path: Some(path) })
    }

    /// Where it is, until it is hidden.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes its name away: from here on those have it who have opened it, and it ends with them.
    pub(super) fn hide(&mut self) {
        self.path = None;
    }

    /// Writes; the file grows as needed. A write at the start gives back the memory that something large needed before.
    ///
    /// Lost: the memory or the disk is full; nothing else is.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Lost> {
        let size = bytes.len() as u64;
        let shrink = || {
            let before = self.file.metadata()?.len();
            if before > KEPT && size < before { self.file.set_len(size) } else { Ok(()) }
        };
        let ready = if at == 0 { shrink() } else { Ok(()) };
        ready.and_then(|()| self.file.write_all_at(bytes, at)).map_err(|error| {
            let _ = self.file.set_len(at);
            let why = words(&error);
            Lost(format!("{size} bytes do not fit into the memory shared with Python: {why}"))
        })
    }

    /// Reads as many bytes as `into` has.
    ///
    /// Lost: there are not so many.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Lost> {
        self.file.read_exact_at(into, at).map_err(|error| {
            let (size, why) = (into.len(), words(&error));
            Lost(format!("{size} bytes cannot be read from the memory shared with Python: {why}"))
        })
    }
}

/// The folder whose files are in memory, if enough fits; without a limit that is half of the memory of the machine.
fn memory_folder(mounts: &str) -> Option<PathBuf> {
    let mut lines = mounts.lines().map(|it| it.split(' '));
    let mount = lines.rfind(|it| it.clone().nth(1) == Some("/dev/shm"))?;
    let limit = mount.clone().nth(3)?.split(',').find_map(|it| it.strip_prefix("size="));
    let limit = limit.map_or(Some(ROOMY), |it| it.strip_suffix('k')?.parse().ok())?;
    (limit >= ROOMY).then(|| "/dev/shm".into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn length(shared: &Shared) -> u64 {
        shared.file.metadata().unwrap().len()
    }

    #[test]
    fn is_private_and_can_be_hidden() {
        let mut shared = Shared::new().unwrap();
        let path = shared.path().unwrap().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        shared.hide();
        assert!(!path.exists() && shared.path().is_none());
        shared.write(0, b"abc").unwrap();
        shared.write(5, b"de").unwrap();
        let mut into = [1; 7];
        shared.read(0, &mut into).unwrap();
        assert_eq!(&into, b"abc\0\0de");
    }

    #[test]
    fn what_is_not_there_cannot_be_read() {
        let shared = Shared::new().unwrap();
        shared.write(0, b"abc").unwrap();
        let words = shared.read(1, &mut [0; 3]).unwrap_err().0;
        assert!(words.starts_with("3 bytes cannot be read"), "{words}");
    }

    #[test]
    fn a_write_at_the_start_gives_much_memory_back() {
        let shared = Shared::new().unwrap();
        shared.file.set_len(KEPT).unwrap();
        shared.write(0, b"abc").unwrap();
        assert_eq!(length(&shared), KEPT);
        shared.file.set_len(KEPT + 1).unwrap();
        shared.write(1, b"abc").unwrap();
        assert_eq!(length(&shared), KEPT + 1);
        shared.write(0, b"abc").unwrap();
        assert_eq!(length(&shared), 3);
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let Ok(file) = full else { return };
        let words = Shared { file, path: None }.write(8, b"abc").unwrap_err().0;
        let expected = "3 bytes do not fit into the memory shared with Python: No space left";
        assert!(words.starts_with(expected), "{words}");
    }

    #[test]
    fn small_memory_is_not_used() {
        let roomy = |mounts: &str| memory_folder(mounts).is_some();
        assert!(roomy("tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n"));
        assert!(roomy("a / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw,relatime,size=24684096k 0 0\n"));
        assert!(!roomy("shm /dev/shm tmpfs rw,nosuid,noexec,size=65536k 0 0\n"));
        assert!(!roomy("a / ext4 rw 0 0\n"));
        assert!(!roomy(""));
    }
}
