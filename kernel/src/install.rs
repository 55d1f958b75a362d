//! `notegrad install` and `uninstall`: the kernelspec, which tells Jupyter how to start the kernel.
//! <https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs>

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use lexopt::prelude::*;
use serde_json::json;

use crate::cli::{CliResult, say};

/// The name under which Jupyter knows the kernel, unless another is given.
pub const NAME: &str = "notegrad";

const LOGO: &str = include_str!("../assets/logo.svg");
const LOGO_32: &[u8] = include_bytes!("../assets/logo-32x32.png");
const LOGO_64: &[u8] = include_bytes!("../assets/logo-64x64.png");

struct Options {
    /// The directory that holds `kernels/`.
    data: PathBuf,
    name: String,
    display_name: String,
}

/// Writes the kernelspec and says where.
pub fn install(args: Vec<OsString>) -> CliResult {
    let options = options(args)?;
    let dir = write(&options)?;
    Ok(say(&format!("installed the kernel `{}` in {}\n", options.name, dir.display())))
}

/// Removes the kernelspec; it is no error if there is none.
pub fn uninstall(args: Vec<OsString>) -> CliResult {
    let options = options(args)?;
    let dir = options.data.join("kernels").join(&options.name);
    if !dir.join("kernel.json").is_file() {
        return Ok(say(&format!("no kernel `{}` in {}\n", options.name, options.data.display())));
    }
    fs::remove_dir_all(&dir)?;
    Ok(say(&format!("removed {}\n", dir.display())))
}

/// The directories in which Jupyter looks for kernels of this user and environment.
pub fn data_dirs() -> Vec<PathBuf> {
    let listed = std::env::var_os("JUPYTER_PATH").unwrap_or_default();
    let mut dirs: Vec<PathBuf> =
        std::env::split_paths(&listed).filter(|it| !it.as_os_str().is_empty()).collect();
    dirs.extend(user_dir());
    dirs.extend(sys_prefix().map(share));
    dirs.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    dirs
}

fn options(args: Vec<OsString>) -> Result<Options, Box<dyn std::error::Error>> {
    let (mut data, mut name, mut display_name) = (None, NAME.to_owned(), "Notegrad".to_owned());
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("user") => data = Some(user_dir().ok_or("there is no home directory")?),
            Long("sys-prefix") => {
                let none = "--sys-prefix needs an activated environment: set VIRTUAL_ENV or CONDA_PREFIX, or use --prefix";
                data = Some(share(sys_prefix().ok_or(none)?));
            }
            Long("prefix") => data = Some(share(PathBuf::from(parser.value()?))),
            Long("name") => name = parser.value()?.string()?,
            Long("display-name") => display_name = parser.value()?.string()?,
            _ => return Err(arg.unexpected().into()),
        }
    }
    if name.is_empty() || !name.bytes().all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it))
    {
        return Err(
            format!("`{name}` is no kernel name: use letters, digits, `.`, `_`, `-`").into()
        );
    }
    if name.starts_with('.') {
        return Err("a kernel name does not start with a dot".into());
    }
    let data = data.or_else(user_dir).ok_or("there is no home directory; use --prefix")?;
    Ok(Options { data, name, display_name })
}

fn share(prefix: PathBuf) -> PathBuf {
    prefix.join("share").join("jupyter")
}

fn sys_prefix() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    set("VIRTUAL_ENV").or_else(|| set("CONDA_PREFIX"))
}

/// Jupyter's own rule: its variable first, then what the system uses.
fn user_dir() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    if let Some(dir) = set("JUPYTER_DATA_DIR") {
        return Some(dir);
    }
    if cfg!(windows) {
        return set("APPDATA").map(|it| it.join("jupyter"));
    }
    if cfg!(target_os = "macos") {
        return set("HOME").map(|it| it.join("Library").join("Jupyter"));
    }
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|it| it.join(".local/share")));
    data.map(|it| it.join("jupyter"))
}

/// Writes beside the place and renames, so that Jupyter never sees half a kernelspec.
fn write(options: &Options) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let kernels = options.data.join("kernels");
    let dir = kernels.join(&options.name);
    let fresh = kernels.join(format!(".{}-{}", options.name, std::process::id()));
    let in_kernels = |error| format!("cannot write in {}: {error}", kernels.display());
    fs::create_dir_all(&fresh).map_err(in_kernels)?;
    let files: [(&str, &[u8]); 4] = [
        ("kernel.json", &kernel_json(&options.display_name)?),
        ("logo-svg.svg", LOGO.as_bytes()),
        ("logo-32x32.png", LOGO_32),
        ("logo-64x64.png", LOGO_64),
    ];
    let res = files.iter().try_for_each(|(name, bytes)| fs::write(fresh.join(name), bytes));
    let res = res.and_then(|()| replace(&fresh, &dir));
    if res.is_err() {
        let _ = fs::remove_dir_all(&fresh);
    }
    res.map_err(in_kernels)?;
    Ok(dir)
}

fn replace(fresh: &Path, dir: &Path) -> std::io::Result<()> {
    if dir.exists() {
        // The files one by one: each rename replaces the old one at once.
        for entry in fs::read_dir(fresh)? {
            let entry = entry?;
            fs::rename(entry.path(), dir.join(entry.file_name()))?;
        }
        return fs::remove_dir(fresh);
    }
    fs::rename(fresh, dir)
}

fn kernel_json(display_name: &str) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let exe = std::env::current_exe()?;
    let exe = exe.to_str().ok_or("the path of this program is not valid Unicode")?;
    let spec = json!({
        "argv": [exe, "kernel", "-f", "{connection_file}"],
        "display_name": display_name,
        // nbgrader, papermill and jupytext key on it.
        "language": "python",
        "interrupt_mode": "message",
        "kernel_protocol_version": crate::wire::header::VERSION,
        "metadata": {"debugger": false},
    });
    let mut text = serde_json::to_vec_pretty(&spec)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn installs_again_over_itself_and_is_removed() {
        let prefix = tempfile::tempdir().unwrap();
        let at = prefix.path().to_str().unwrap();
        let dir = prefix.path().join("share/jupyter/kernels/other");
        for display_name in ["One", "Two"] {
            let list = args(&["--prefix", at, "--name", "other", "--display-name", display_name]);
            install(list).unwrap();
            let text = fs::read_to_string(dir.join("kernel.json")).unwrap();
            let spec: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(spec["display_name"], display_name);
            assert_eq!(spec["language"], "python");
            assert_eq!(fs::read_dir(dir.parent().unwrap()).unwrap().count(), 1);
        }
        uninstall(args(&["--prefix", at, "--name", "other"])).unwrap();
        assert!(!dir.exists());
        uninstall(args(&["--prefix", at])).unwrap();
    }

    #[test]
    fn refuses_a_name_that_is_a_path() {
        assert!(install(args(&["--prefix", "/nowhere", "--name", "../x"])).is_err());
        assert!(install(args(&["--prefix", "/nowhere", "--name", ".."])).is_err());
    }
}
