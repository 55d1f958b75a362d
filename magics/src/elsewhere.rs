//! Magics and programs that other kernels run: left out here, with a remark that says what to do instead.
//!
//! Under `--strict` (`%config Notegrad.strict`) each is an error.

use crate::artifact::{Artifact, Notice};
use crate::notebook::Settings;
use crate::{MagicError, OnCell};

/// Magics or programs, and what takes their place.
pub struct Elsewhere {
    /// Names after `%`, `%%` or `!`.
    pub names: &'static [&'static str],
    /// What is said of them.
    pub says: &'static str,
    /// What becomes of the cell below `%%name`: code for this kernel runs, other text does not.
    pub on_cell: OnCell,
}

const fn row(names: &'static [&'static str], says: &'static str) -> Elsewhere {
    Elsewhere { names, says, on_cell: OnCell::TakesBody }
}

/// What is said of programs that have no row.
pub const NO_SHELL: &str = "this kernel runs no programs of the system; use a terminal for it";

/// All of them.
pub static ALL: &[Elsewhere] = &[
    row(
        &["conda", "mamba", "micromamba", "pip", "pip3", "poetry", "uv"],
        "nothing is installed into this kernel, its modules are built in",
    ),
    row(
        &["apt", "apt-get", "brew", "sudo"],
        "nothing is installed from here; use a terminal for it",
    ),
    row(
        &["aimport", "autoreload", "load_ext", "reload_ext", "unload_ext"],
        "there are no extensions; `importlib.reload(module)` runs an edited file again",
    ),
    row(&["watermark"], "`torch.__version__` and %device say what is here"),
    row(&["pylab"], "write `import matplotlib.pyplot as plt`; plots are drawn in the notebook"),
    row(&["bash", "cmd", "powershell", "script", "sh", "sx", "system", "zsh"], NO_SHELL),
    row(
        &[
            "cat", "cp", "dir", "head", "ll", "ls", "man", "mkdir", "more", "mv", "rm", "rmdir",
            "tail", "touch", "tree", "wc",
        ],
        "`os`, `pathlib` and `open()` reach files and folders",
    ),
    row(
        &["curl", "gdown", "git", "gsutil", "kaggle", "tar", "unzip", "wget"],
        "nothing is fetched or unpacked here; put the files beside the notebook",
    ),
    row(&["nvidia-smi"], "%device says what computes"),
    row(
        &["cython", "julia", "perl", "pypy", "python2", "python3", "R", "ruby", "rust"],
        "this kernel runs its own language only",
    ),
    row(&["bigquery", "sql"], "there are no databases here; `csv` and `json` read files"),
    row(&["tensorboard", "wandb"], "plots show how training goes: `plt.plot(losses)`"),
    row(&["javascript", "js", "latex", "svg"], "%%html and %%markdown show text of your own"),
    row(&["debug", "pdb"], "there is no debugger; every name lives on after an error"),
    row(&["colors", "pprint", "precision", "xmode"], "the frontend says how results look"),
    row(&["lprun"], "%prun shows what each function takes"),
    Elsewhere {
        on_cell: OnCell::ThenRun,
        ..row(&["memit", "mprun"], "%mem shows how much memory tensors use")
    },
    Elsewhere {
        on_cell: OnCell::ThenRun,
        ..row(
            &["heat", "line_profiler", "pyinstrument", "scalene", "snakeviz"],
            "%%prun shows what each function takes",
        )
    },
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Elsewhere> {
    ALL.iter().find(|it| it.names.contains(&name))
}

/// What is said of `!command`.
pub fn of_command(command: &str) -> &'static str {
    let program = command.trim_start_matches('!').split_whitespace().next().unwrap_or("");
    find(program).map_or(NO_SHELL, |it| it.says)
}

impl Settings {
    /// Passes over something that other kernels do; an error if that is not to be passed over.
    pub(crate) fn leave_out(&self, what: &str, says: &str) -> Result<Artifact, MagicError> {
        if self.strict {
            return Err(MagicError::failed(format!("{what} cannot run: {says}")));
        }
        Ok(Artifact::Notice(Notice::line(format!("{what} is left out: {says}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_row_and_is_no_magic_of_this_kernel() {
        let mut names: Vec<&str> = ALL.iter().flat_map(|it| it.names).copied().collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        for name in names {
            assert!(crate::find(name).is_none(), "%{name}");
        }
    }

    #[test]
    fn what_stands_in_place_of_one_is_there() {
        for row in ALL {
            let words = row.says.split(|it: char| it.is_whitespace() || it == ';' || it == ',');
            for name in words.filter_map(|it| it.strip_prefix('%')) {
                let name = name.trim_start_matches('%');
                assert!(crate::find(name).is_some(), "%{name} in {}", row.says);
            }
        }
    }
}
