//! The files beside the notebook, for completion.

use std::fs;

use frontend_lang::editor::Files;

/// Names of one folder that are looked at.
const MOST: usize = 5000;

/// The file system.
pub(super) struct Disk;

impl Files for Disk {
    fn list(&self, folder: &str) -> Vec<(String, bool)> {
        let folder = if folder.is_empty() { "." } else { folder };
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let entry = |it: fs::DirEntry| {
            let name = it.file_name().into_string().ok()?;
            Some((name, it.path().is_dir()))
        };
        let mut all: Vec<_> = entries.flatten().take(MOST).filter_map(entry).collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        fs::write(dir.path().join("a.txt"), "").unwrap();
        let found = Disk.list(dir.path().to_str().unwrap());
        assert_eq!(found, [("a.txt".to_owned(), false), ("b".to_owned(), true)]);
        assert_eq!(Disk.list("/no/such/folder"), []);
    }
}
