//! Which Python: the one that is named, that of the active environment, or that of the system.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use frontend_lang::python::worker::{Lost, Wanted};

const NONE: &str = "There is no Python on this machine (looked for: $VIRTUAL_ENV, $CONDA_PREFIX, python3 and python on the path). \
    Install one, or name it: %python PATH";

/// The program to start, with symbolic links as they are: by them a program knows its environment. `variable` looks into the
/// variables of the system.
///
/// Lost: there is none, or what is named is none.
pub(super) fn find(
    wanted: &Wanted,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, Lost> {
    let set = |name: &str| variable(name).filter(|it| !it.is_empty());
    if let Some(name) = &wanted.path {
        return named(name, set);
    }
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"];
    let active = active.into_iter().find_map(|it| in_environment(Path::new(&set(it)?)));
    let path = set("PATH");
    let on_path = || ["python3", "python"].into_iter().find_map(|it| on_path(it, path.as_ref()));
    active.or_else(on_path).ok_or_else(|| Lost(NONE.to_owned()))
}

/// A program, a folder of an environment, or a name on the path.
fn named(name: &str, set: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Lost> {
    let place = match name.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            Path::new(&set("HOME").unwrap_or_default()).join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(name),
    };
    let full = std::path::absolute(&place).unwrap_or(place);
    if full.is_dir() {
        let words = || format!("There is no bin/python in the folder {}", full.display());
        return in_environment(&full).ok_or_else(|| not_this(words()));
    }
    if full.exists() {
        let words = || format!("{} is not a program", full.display());
        return Some(full.clone()).filter(|it| is_program(it)).ok_or_else(|| not_this(words()));
    }
    let found = if name.contains('/') { None } else { on_path(name, set("PATH").as_ref()) };
    found.ok_or_else(|| not_this(format!("There is no Python at {}", full.display())))
}

fn not_this(words: String) -> Lost {
    Lost(format!("{words}. Name a program or the folder of a virtual environment: %python PATH"))
}

fn in_environment(folder: &Path) -> Option<PathBuf> {
    ["bin/python3", "bin/python"].map(|it| folder.join(it)).into_iter().find(|it| is_program(it))
}

fn on_path(name: &str, path: Option<&OsString>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|it| it.join(name)).find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with programs, and one file that is none.
    fn place(programs: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in programs.iter().map(|it| (*it, 0o755)).chain([("text", 0o644)]) {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        dir
    }

    /// What is found, below the folder; in `set`, `@` is the folder.
    fn check(dir: &tempfile::TempDir, path: Option<&str>, set: &[(&str, &str)]) -> String {
        let root = dir.path().to_str().unwrap();
        let full = |text: &str| text.replace('@', root);
        let wanted = Wanted { path: path.map(full) };
        let variable = |name: &str| {
            let found = set.iter().find(|it| it.0 == name)?;
            Some(full(found.1).into())
        };
        let found = find(&wanted, variable);
        let text = found.map_or_else(|lost| lost.0, |it| it.to_string_lossy().into_owned());
        text.replace(root, "@")
    }

    #[test]
    fn the_active_environment_comes_before_the_path() {
        let dir = place(&["venv/bin/python3", "conda/bin/python", "b/python3", "a/python"]);
        let path = ("PATH", "@/none:@/a:@/b");
        let conda = ("CONDA_PREFIX", "@/conda");
        let venv = ("VIRTUAL_ENV", "@/venv");
        assert_eq!(check(&dir, None, &[path, conda, venv]), "@/venv/bin/python3");
        assert_eq!(check(&dir, None, &[path, conda]), "@/conda/bin/python");
        assert_eq!(check(&dir, None, &[path]), "@/b/python3");
        assert_eq!(check(&dir, None, &[("PATH", "@/a")]), "@/a/python");
        // An environment that is gone does not count.
        assert_eq!(check(&dir, None, &[path, ("VIRTUAL_ENV", "@/gone")]), "@/b/python3");
        assert_eq!(check(&dir, None, &[path, ("VIRTUAL_ENV", "")]), "@/b/python3");
    }

    #[test]
    fn one_can_be_named() {
        let dir = place(&["venv/bin/python", "a/python3.12"]);
        let set = [("HOME", "@"), ("PATH", "@/a")];
        assert_eq!(check(&dir, Some("@/venv"), &set), "@/venv/bin/python");
        assert_eq!(check(&dir, Some("~/venv"), &set), "@/venv/bin/python");
        assert_eq!(check(&dir, Some("~/a/python3.12"), &set), "@/a/python3.12");
        assert_eq!(check(&dir, Some("python3.12"), &set), "@/a/python3.12");
    }

    #[test]
    fn words_say_what_is_wrong() {
        let dir = place(&["a/ls"]);
        let hint = ". Name a program or the folder of a virtual environment: %python PATH";
        let named = |path: &str, words: &str| {
            assert_eq!(check(&dir, Some(path), &[("HOME", "@")]), format!("{words}{hint}"));
        };
        named("@/gone", "There is no Python at @/gone");
        named("~/gone", "There is no Python at @/gone");
        named("@/text", "@/text is not a program");
        named("@/a", "There is no bin/python in the folder @/a");
        assert_eq!(check(&dir, None, &[("PATH", "@/a")]), NONE);
        assert_eq!(check(&dir, None, &[]), NONE);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = place(&["real/python3"]);
        fs::create_dir_all(dir.path().join("venv/bin")).unwrap();
        let link = dir.path().join("venv/bin/python");
        std::os::unix::fs::symlink(dir.path().join("real/python3"), link).unwrap();
        assert_eq!(check(&dir, Some("@/venv"), &[]), "@/venv/bin/python");
    }
}
