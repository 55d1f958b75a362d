//! `%load`: reads a model file into a name, or the text of a file into the cell.

use frontend_lang::builtins::modules::jit::load_model;
use frontend_lang::objects::model::ModelObj;
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "load",
    summary: "NAME FILE: read a model file that %dump wrote; the name can be called like a function. FILE alone: put the text of a file \
              into this cell.",
    args: &[
        Arg::Word {
            name: "FILE",
            help: "a text file; or the name to give to a model, before its file",
        },
        Arg::Optional { name: "MODEL", help: "a file that %dump wrote" },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%load model missing.ngm", shows: "error: FileNotFoundError" },
        Example { setup: "", cell: "%load model", shows: "error: MagicError" },
        Example { setup: "", cell: "%load model.ngm", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let name = args.word(0).unwrap_or_default();
    let Some(path) = args.word(1) else { return text_of(cx, name) };
    let cell = &mut cx.session.cx;
    let model = load_model(cell, path)
        .map_err(|raised| MagicError::Raised(Box::new(cell.cell_error(&raised))))?;
    let value = Value::object(ModelObj(model));
    cx.session.set_global(name, value.clone());
    let text = cx.session.repr(&value).map_err(|it| MagicError::Raised(Box::new(it)))?;
    Ok(vec![Artifact::Text(format!("{name} = {text}"))])
}

/// Puts the text of a file in place of the cell, below what asked for it.
fn text_of(cx: &mut MagicCx<'_>, path: &str) -> Result<Vec<Artifact>, MagicError> {
    if path.ends_with(".ngm") {
        let message = format!("a model needs a name; write `%load model {path}`");
        return Err(MagicError::usage(&MAGIC, message));
    }
    let host = &mut cx.session.cx.host;
    let bytes = host.read_file(path).map_err(MagicError::failed)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| MagicError::failed(format!("{path} is not text; %load takes UTF-8 files")))?;
    host.set_next_input(&format!("# %load {path}\n{text}"), true);
    Ok(Vec::new())
}
