//! `%python`: the Python in which packages run, imports from it, and cells of Python code.

use frontend_lang::error::Raised;
use frontend_lang::python::worker::About;
use frontend_lang::sym::Sym;
use frontend_lang::value::Value;

use super::cd::expanded;
use super::time::duration;
use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::from_value;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "python",
    summary: "Say which Python runs packages, choose one (a program or a virtual environment), or import from it what the language has \
              itself; with %%python run the cell there.",
    args: &[
        Arg::Flag { name: "-i", value: "NAMES", help: "names to pass into the cell: a,b" },
        Arg::Flag { name: "-o", value: "NAMES", help: "names to take out of it" },
        Arg::Line { name: "PATH or import ...", help: "a Python, or an import statement" },
    ],
    on_cell: OnCell::TakesBody,
    run,
    // What needs a Python is tested where there is one.
    examples: &[Example { setup: "", cell: "%python /no/such/python", shows: "error: MagicError" }],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    match (cx.body, args.line()) {
        (Some(body), "") => run_cell(cx, args, &format!("\n{body}\n")),
        (Some(_), _) => Err(MagicError::usage(&MAGIC, "code stands on the lines below".into())),
        (None, "") => Ok(vec![Artifact::Text(which(cx))]),
        (None, "import" | "from") => {
            Err(MagicError::usage(&MAGIC, "an import statement is not complete".into()))
        }
        (None, line) if is_import(line) => import(cx, line).map(|()| Vec::new()),
        (None, path) => {
            let path = expanded(cx, path);
            let about =
                cx.session.cx.choose_python(&path).map_err(|it| MagicError::failed(it.0))?;
            Ok(vec![Artifact::Text(words(&about))])
        }
    }
}

fn words(about: &About) -> String {
    format!("Python {} ({}), started in {}", about.version, about.path, duration(about.seconds))
}

fn which(cx: &mut MagicCx<'_>) -> String {
    cx.session.cx.python.try_again();
    match cx.session.cx.start_python() {
        Ok(about) => words(&about),
        Err(lost) => lost.0,
    }
}

fn names<'a>(args: &'a Args, flag: &str) -> impl Iterator<Item = &'a str> {
    let names = args.flag(flag).unwrap_or_default();
    names.split(',').map(str::trim).filter(|it| !it.is_empty())
}

fn run_cell(cx: &mut MagicCx<'_>, args: &Args, text: &str) -> Result<Vec<Artifact>, MagicError> {
    for name in names(args, "-i") {
        let value = cx.global(name)?;
        let set = cx.session.cx.set_python_name(name, &value);
        set.map_err(|raised| failed(cx, &raised))?;
    }
    let number = cx.options.cell.unwrap_or(cx.cells.len());
    let place = format!("In[{number}]");
    let ran = cx.session.cx.run_python(text, &place);
    cx.session.cx.show_python_figures(ran.as_ref().ok());
    let value = ran.map_err(|raised| failed(cx, &raised))?;
    for name in names(args, "-o") {
        let value = cx.session.cx.python_name(name).map_err(|raised| failed(cx, &raised))?;
        cx.session.set_global(name, value);
    }
    shown(cx, &value)
}

fn shown(cx: &mut MagicCx<'_>, value: &Value) -> Result<Vec<Artifact>, MagicError> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let text = cx.session.repr(value).map_err(|it| MagicError::Raised(Box::new(it)))?;
    let rich = cx.session.rich_form(value);
    Ok(vec![from_value::artifact_of(rich.as_ref().unwrap_or(value), &text)])
}

fn failed(cx: &mut MagicCx<'_>, raised: &Raised) -> MagicError {
    MagicError::Raised(Box::new(cx.session.cx.cell_error(raised)))
}

fn is_import(line: &str) -> bool {
    line.starts_with("import ") || line.starts_with("from ")
}

/// `import a.b, c as d` or `from a.b import c, d as e`: binds the same names as the statement.
fn import(cx: &mut MagicCx<'_>, line: &str) -> Result<(), MagicError> {
    let usage = || MagicError::usage(&MAGIC, format!("`{line}` is no import statement"));
    let raised = |cx: &mut MagicCx<'_>, it: &Raised| failed(cx, it);
    if let Some(rest) = line.strip_prefix("from ") {
        let (module, parts) = rest.split_once(" import ").ok_or_else(usage)?;
        let module = cx.session.cx.python_module(module.trim()).map_err(|it| raised(cx, &it))?;
        for part in parts.split(',') {
            let (name, bound) = renamed(part);
            let value = cx.session.cx.import_name(&module, Sym::new(name));
            let value = value.map_err(|it| raised(cx, &it))?;
            cx.session.set_global(bound, value);
        }
        return Ok(());
    }
    for part in line["import ".len()..].split(',') {
        let (name, bound) = renamed(part);
        let module = cx.session.cx.python_module(name).map_err(|it| raised(cx, &it))?;
        if bound != name || !name.contains('.') {
            cx.session.set_global(bound, module);
            continue;
        }
        let first = name.split('.').next().unwrap_or(name);
        let package = cx.session.cx.python_module(first).map_err(|it| raised(cx, &it))?;
        cx.session.set_global(first, package);
    }
    Ok(())
}

/// A name, and the one that it is bound to.
fn renamed(part: &str) -> (&str, &str) {
    let (name, bound) = part.split_once(" as ").unwrap_or((part, part));
    (name.trim(), bound.trim())
}
