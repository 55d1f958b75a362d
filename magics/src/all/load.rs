//! `%load`: reads a model file into a name.

use frontend_lang::builtins::modules::jit::load_model;
use frontend_lang::objects::model::ModelObj;
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "load",
    summary: "Read a model file that %dump wrote; the name can be called like a function.",
    args: &[
        Arg::Word { name: "NAME", help: "the name to give it" },
        Arg::Word { name: "FILE", help: "a file that %dump wrote" },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%load model missing.ngm", shows: "error: FileNotFoundError" },
        Example { setup: "", cell: "%load model", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let (name, path) = (args.word(0).unwrap_or_default(), args.word(1).unwrap_or_default());
    let cell = &mut cx.session.cx;
    let model = load_model(cell, path)
        .map_err(|raised| MagicError::Raised(Box::new(cell.cell_error(&raised))))?;
    let value = Value::object(ModelObj(model));
    cx.session.set_global(name, value.clone());
    let text = cx.session.repr(&value).map_err(|it| MagicError::Raised(Box::new(it)))?;
    Ok(vec![Artifact::Text(format!("{name} = {text}"))])
}
