//! Writing files so that a crash leaves the old content.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Error, Result};

/// Writes a temporary file beside `path`, syncs it, and renames it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let failed = |error: std::io::Error| problem(path, &error);
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or("file");
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error matters; a leftover temporary file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(failed)
}

/// The whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| problem(path, &error))
}

fn problem(path: &Path, error: &std::io::Error) -> Error {
    Error::File { problem: format!("{}: {error}", path.display()) }
}
