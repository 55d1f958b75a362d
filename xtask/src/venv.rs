//! The Python environment of the tests: JupyterLab, nbconvert and the kernel test suite.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{demo, shell};

/// Makes the venv when it is missing or its requirements changed; gives its folder.
pub(crate) fn ensure() -> Result<PathBuf> {
    let folder = demo::target_dir().join("venv");
    let requirements = shell::root().join("tests/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(folder);
    }
    let python = find_python()?;
    shell::run(shell::command(python).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut install = shell::command(bin(&folder, "python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    shell::run(install.arg(&requirements))?;
    std::fs::write(&stamp, wanted)?;
    Ok(folder)
}

/// A program of the venv.
pub(crate) fn bin(venv: &Path, program: &str) -> PathBuf {
    venv.join("bin").join(program)
}

/// Where the packages of the venv are.
pub(crate) fn packages(venv: &Path) -> Result<PathBuf> {
    let mut asked = shell::command(bin(venv, "python"));
    asked.args(["-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]);
    let found = asked.output().context("cannot run the Python of the venv")?;
    Ok(PathBuf::from(String::from_utf8(found.stdout)?.trim()))
}

fn find_python() -> Result<&'static str> {
    match ["python3", "python"].into_iter().find(|it| shell::exists(it)) {
        Some(python) => Ok(python),
        None => bail!(
            "Python 3 is not on the PATH; install it (with its `venv` module) and run this again"
        ),
    }
}
