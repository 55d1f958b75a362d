//! The shape of the workspace: crate arrows, file sizes, what text may not say.

use std::path::{Path, PathBuf};

/// Longest source file, in lines.
const MAX_LINES: usize = 600;

/// Which workspace crates each crate may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("numeric", &[]),
    ("engine", &["numeric"]),
    ("frontend-lang", &["engine"]),
    ("magics", &["engine", "frontend-lang"]),
    ("notebooks", &[]),
    ("kernel", &["engine", "frontend-lang", "magics", "notebooks"]),
    ("tests", &["engine", "frontend-lang", "magics", "notebooks", "kernel"]),
    ("xtask", &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below `folder` with one of the extensions, leaving out what is built.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" && name != ".venv" {
                files(&path, extensions, found);
            }
        } else if extensions.iter().any(|it| name.ends_with(it)) {
            found.push(path);
        }
    }
}

fn sources(extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root(), extensions, &mut found);
    assert!(!found.is_empty(), "no {extensions:?} files below the root");
    found
}

#[test]
fn crates_point_only_along_the_arrows() {
    let names: Vec<&str> = ARROWS.iter().map(|it| it.0).collect();
    for (name, allowed) in ARROWS {
        let manifest = read(&root().join(name).join("Cargo.toml"));
        for line in manifest.lines() {
            let Some(dependency) = line.split(['.', ' ', '=']).next() else { continue };
            let is_ours = names.contains(&dependency) && line.contains("workspace = true");
            assert!(
                !is_ours || allowed.contains(&dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn every_crate_has_its_arrows_listed() {
    let manifest = read(&root().join("Cargo.toml"));
    let members = manifest.lines().find(|it| it.starts_with("members")).expect("a member list");
    let count = members.matches('"').count() / 2;
    assert_eq!(count, ARROWS.len(), "{members}");
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = sources(&[".rs", ".ng"])
        .iter()
        .map(|path| (path, read(path).lines().count()))
        .filter(|it| it.1 > MAX_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "longer than {MAX_LINES} lines:\n{}", long.join("\n"));
}

#[test]
fn files_open_with_a_header() {
    let bare: Vec<String> = sources(&[".rs"])
        .iter()
        .filter(|path| !path.ends_with("build.rs"))
        .filter(|path| !read(path).trim_start().starts_with("//!"))
        .map(|path| path.display().to_string())
        .collect();
    assert!(bare.is_empty(), "no `//!` header:\n{}", bare.join("\n"));
}

#[test]
fn no_unfinished_code() {
    let marks = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("XXX", ":")];
    let found: Vec<String> = sources(&[".rs", ".ng"])
        .iter()
        .filter(|path| marks.iter().any(|mark| read(path).contains(mark)))
        .map(|path| path.display().to_string())
        .collect();
    assert!(found.is_empty(), "unfinished:\n{}", found.join("\n"));
}
