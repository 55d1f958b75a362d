//! The command line: one row per subcommand; usage, help and dispatch walk over the rows.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;

use crate::connection::Connection;
use crate::{doctor, echo, explain, install, language, load_and_run, server, terminal};

/// What went wrong, for the user.
pub type CliResult = Result<ExitCode, Box<dyn std::error::Error>>;

/// One subcommand.
pub struct Subcommand {
    /// As it is typed.
    pub name: &'static str,
    /// One line for the overview.
    pub summary: &'static str,
    /// What may follow the name.
    pub usage: &'static str,
    /// Runs it with what follows the name.
    pub run: fn(Vec<OsString>) -> CliResult,
}

/// Every subcommand, sorted.
pub static ALL: &[Subcommand] = &[
    Subcommand {
        name: "doctor",
        summary: "Try whether Jupyter can find and start this kernel.",
        usage: "[--name NAME]",
        run: doctor::run,
    },
    Subcommand {
        name: "eval",
        summary: "Run one cell in the terminal.",
        usage: "CODE",
        run: terminal::eval,
    },
    Subcommand {
        name: "explain",
        summary: "Say what an error means and what to do.",
        usage: "[CODE | --pages FOLDER]",
        run: explain::run,
    },
    Subcommand {
        name: "install",
        summary: "Tell Jupyter about this kernel.",
        usage: "[--user | --sys-prefix | --prefix P] [--name NAME] [--display-name NAME]",
        run: install::install,
    },
    Subcommand {
        name: "kernel",
        summary: "Serve a Jupyter frontend; Jupyter itself starts this.",
        usage: "-f CONNECTION_FILE [--echo]",
        run: kernel,
    },
    Subcommand {
        name: "load-and-run",
        summary: "Load a model file, run, time and check it.",
        usage: load_and_run::USAGE,
        run: load_and_run::run,
    },
    Subcommand {
        name: "run",
        summary: "Run a notebook or source file without Jupyter.",
        usage: "FILE [--out FILE.ipynb] [--html FILE.html] [--set NAME=VALUE]... [--timeout S] [--keep-going] [--strict]

  FILE          a notebook (.ipynb), a source file, whose cells begin at `# %%`, or `-` for standard input; in .py files,
                magics may stand in comments: `# %trace`
  --out, --html write the notebook with its outputs, or a page that stands alone; otherwise outputs go to the terminal
  --set         replace a value of the cell tagged `parameters`
  --timeout     end a cell that runs longer
  --keep-going  run the cells behind one that fails, too, and end with a table of those that failed
  --strict      magics and programs of other kernels (%pip, !ls) are errors, not remarks",
        run: terminal::run,
    },
    Subcommand {
        name: "uninstall",
        summary: "Make Jupyter forget this kernel.",
        usage: "[--user | --sys-prefix | --prefix P] [--name NAME]",
        run: install::uninstall,
    },
];

/// Runs the command line; a mistake in it or a failure gives status 2 or 1 and a message.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let first = args.next().unwrap_or_else(|| "--help".into());
    match first.to_str() {
        Some("-h" | "--help" | "help") => return say(&overview()),
        Some("-V" | "--version") => {
            return say(concat!("notegrad ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        _ => {}
    }
    let Some(subcommand) = ALL.iter().find(|it| first == it.name) else {
        let name = first.to_string_lossy();
        return complain(
            &format!("there is no subcommand `{name}`; `notegrad --help` lists them"),
            2,
        );
    };
    let rest: Vec<OsString> = args.collect();
    if rest.iter().any(|it| it == "--help" || it == "-h") {
        return say(&help(subcommand));
    }
    match (subcommand.run)(rest) {
        Ok(code) => code,
        Err(error) if error.is::<lexopt::Error>() => {
            complain(&format!("{error}\n{}", help(subcommand)), 2)
        }
        Err(error) => complain(&error.to_string(), 1),
    }
}

/// The overview of all subcommands.
pub fn overview() -> String {
    let mut text =
        "Notegrad, a tensor notebook.\n\nusage: notegrad SUBCOMMAND [options]\n\n".to_owned();
    for it in ALL {
        let _ = writeln!(text, "  {:<12} {}", it.name, it.summary);
    }
    text.push_str(
        "\nnotegrad SUBCOMMAND --help says more; notegrad --version tells the version.\n",
    );
    text
}

fn help(it: &Subcommand) -> String {
    format!("{}\n\nusage: notegrad {} {}\n", it.summary, it.name, it.usage)
}

/// Writes to standard output; a reader that has gone is no failure.
pub fn say(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn complain(text: &str, status: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "notegrad: {}", text.trim_end());
    ExitCode::from(status)
}

fn kernel(args: Vec<OsString>) -> CliResult {
    let (mut file, mut is_echo) = (None, false);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('f') => file = Some(PathBuf::from(parser.value()?)),
            Long("echo") => is_echo = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    let file = file.ok_or(lexopt::Error::from("-f CONNECTION_FILE is missing"))?;
    let connection = Connection::read(&file)?;
    let language = if is_echo { echo::language() } else { language::language() };
    server::run(connection, language)?;
    Ok(ExitCode::SUCCESS)
}
