//! `%env`: the variables of the environment, as `os.environ` has them.

use std::rc::Rc;

use frontend_lang::native::{Dict, Sym};
use frontend_lang::suggest::nearest;
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "env",
    summary: "Show the variables of the environment, show one, or set one for this session: what `os.environ` holds.",
    args: &[Arg::Line { name: "NAME[=VALUE]", help: "the variable; all are listed if absent" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%env DATA=/tmp/data", shows: "env: DATA=/tmp/data" },
        Example { setup: "import os\nos.environ['A'] = '1'", cell: "%env A", shows: "1" },
        Example {
            setup: "",
            cell: "%env A=2\nimport os\nos.environ['A'] + os.getenv('A')",
            shows: "22",
        },
        Example { setup: "", cell: "%env NOT_THERE", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let environ = environ(cx)?;
    let line = args.line().trim();
    if line.is_empty() {
        return Ok(vec![list(&environ)]);
    }
    // `%env NAME VALUE` is the older form.
    match line.split_once('=').or_else(|| line.split_once(char::is_whitespace)) {
        Some((name, value)) => {
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || name.contains(char::is_whitespace) {
                let message = format!("`{name}` is no name; write `%env NAME=VALUE`");
                return Err(MagicError::usage(&MAGIC, message));
            }
            environ.insert_name(Sym::new(name), Value::str(value));
            Ok(vec![Artifact::Text(format!("env: {name}={value}"))])
        }
        None => show(&environ, line),
    }
}

fn environ(cx: &mut MagicCx<'_>) -> Result<Rc<Dict>, MagicError> {
    let cx = &mut cx.session.cx;
    let found = cx.import("os").and_then(|os| cx.getattr(&os, Sym::new("environ")));
    match found.map(|it| it.as_dict().cloned()) {
        Ok(Some(environ)) => Ok(environ),
        Ok(None) => Err(MagicError::failed("os.environ is no dict any more")),
        Err(raised) => Err(MagicError::Raised(Box::new(cx.cell_error(&raised)))),
    }
}

fn entries(environ: &Dict) -> Vec<(String, String)> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let mut entries: Vec<_> = environ.items().iter().map(|it| (text(&it.0), text(&it.1))).collect();
    entries.sort();
    entries
}

fn list(environ: &Dict) -> Artifact {
    let rows = entries(environ).into_iter().map(|(name, value)| vec![name, value]).collect();
    let head = ["name", "value"].map(String::from).to_vec();
    Artifact::Table(Table { head, rows, ..Table::default() })
}

fn show(environ: &Dict, name: &str) -> Result<Vec<Artifact>, MagicError> {
    let entries = entries(environ);
    match entries.iter().find(|it| it.0 == name) {
        Some((_, value)) => Ok(vec![Artifact::Text(value.clone())]),
        None => {
            let near = nearest(name, entries.iter().map(|it| it.0.as_str()));
            let hint = near.map_or_else(
                || format!("`%env {name}=VALUE` sets it"),
                |it| format!("did you mean {it}?"),
            );
            Err(MagicError::failed(format!("there is no variable {name}; {hint}")))
        }
    }
}
