//! `%dump`: writes a traced function and its weights into one file.

use frontend_lang::check::{Level, lint};
use frontend_lang::objects::model::{DumpOptions, Format, model_of};
use frontend_lang::trace::TracedFn;
use frontend_lang::trace::any_sizes::AnyDim;

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Notice, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

/// A traced function that was called.
const TRACED: &str = "import torch\nfrom notegrad.jit import trace\n@trace\ndef f(x):\n    return x * 2\ny = f(torch.ones(3))";

pub(super) static MAGIC: Magic = Magic {
    name: "dump",
    summary: "Write a traced function, as of its latest call, and its weights into one file: a safetensors file with the graph \
              in its metadata, or an ONNX model.",
    args: &[
        Arg::Word { name: "NAME", help: "a function traced with @trace or %trace and called once" },
        Arg::Word { name: "FILE", help: "the file to write, such as model.ngm" },
        Arg::Flag { name: "--arg-names", value: "A,B", help: "names of the inputs" },
        Arg::Flag { name: "--output-names", value: "A,B", help: "names of the outputs" },
        Arg::Switch {
            name: "--test-case",
            help: "keep the latest inputs and their outputs in the file",
        },
        Arg::Flag {
            name: "--dynamic-axes",
            value: "x:0=N,y:0=N",
            help: "dimensions of inputs that can have any size, with its name; `none` for those of the latest call",
        },
        Arg::Flag { name: "--user-info", value: "TEXT", help: "text kept with the model" },
        Arg::Flag {
            name: "--format",
            value: "ngm|onnx",
            help: "the format; without it, what the ending of FILE says",
        },
        Arg::Flag {
            name: "--opset",
            value: "N",
            help: "the version of ONNX's operators, 17 to 23 (20)",
        },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: TRACED, cell: "%dump f f.ngm", shows: "f.ngm" },
        Example { setup: TRACED, cell: "%dump f f.ngm --dynamic-axes x:0=N", shows: "f32[N]" },
        Example { setup: TRACED, cell: "%dump f f.onnx", shows: "f.onnx" },
        Example { setup: TRACED, cell: "%dump f f.onnx --opset 3", shows: "error: TraceError" },
        Example {
            setup: TRACED,
            cell: "%dump f f.ngm --dynamic-axes x=N",
            shows: "error: MagicError",
        },
        Example { setup: "", cell: "%dump", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let (name, path) = (args.word(0).unwrap_or_default(), args.word(1).unwrap_or_default());
    let value = cx.global(name)?;
    let traced = value.downcast::<TracedFn>().ok_or_else(|| {
        MagicError::failed(format!("`{name}` is not traced; run `%trace {name}` and call it first"))
    })?;
    let list = |flag: &str| -> Vec<String> {
        args.flag(flag)
            .map(|it| it.split(',').map(|it| it.trim().into()).collect())
            .unwrap_or_default()
    };
    let opset = args.flag("--opset").map(str::parse).transpose().map_err(|_| {
        MagicError::usage(&MAGIC, "--opset takes a whole number, such as 20".to_owned())
    })?;
    let format = Format::of(path, args.flag("--format"), opset)
        .map_err(|raised| MagicError::usage(&MAGIC, raised.message()))?;
    let options = DumpOptions {
        format,
        arg_names: list("--arg-names"),
        output_names: list("--output-names"),
        test_case: args.switch("--test-case"),
        info: args.flag("--user-info").unwrap_or_default().into(),
        any_sizes: args.flag("--dynamic-axes").map(any_sizes).transpose()?,
    };
    let cell = &mut cx.session.cx;
    let model = model_of(cell, traced, &options)
        .map_err(|raised| MagicError::Raised(Box::new(cell.cell_error(&raised))))?;
    let value_of_traced = traced.func().clone();
    let bytes = format
        .bytes(&model)
        .map_err(|raised| MagicError::Raised(Box::new(cell.cell_error(&raised))))?;
    cell.host.write_file(path, &bytes).map_err(MagicError::failed)?;
    let row =
        |role: &str, it: &engine::model::Port| vec![role.into(), it.name.clone(), it.to_string()];
    let mut rows: Vec<Vec<String>> = model.inputs().iter().map(|it| row("input", it)).collect();
    rows.extend(model.outputs().iter().map(|it| row("output", it)));
    let caption = format!(
        "wrote {name} to {path}: {} ops, {} bytes, {} test case(s)",
        model.graph().n_ops(),
        bytes.len(),
        model.test_cases().len()
    );
    let head = ["role", "name", "kind"].map(String::from).to_vec();
    let table = Artifact::Table(Table { caption, head, rows, ..Table::default() });
    let lint = &lint::EVAL_DUMP;
    let silent = cx.settings.check == Level::Off || cx.session.quiet_lints.contains(lint.name);
    if silent || !lint::trains(&value_of_traced) {
        return Ok(vec![table]);
    }
    let text = format!(
        "warning[{name}]: {}\n{}\n(`%check quiet {name}` says that it is meant.)",
        lint.message,
        lint.next,
        name = lint.name
    );
    let summary = format!("{} ({})", lint.message, lint.name);
    Ok(vec![table, Artifact::Notice(Notice { summary, text })])
}

/// `x:0=N,y:0=N`.
fn any_sizes(text: &str) -> Result<Vec<AnyDim>, MagicError> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let one = |it: &str| {
        let (place, name) = it.split_once('=')?;
        let (input, dim) = place.split_once(':')?;
        Some((input.trim().to_owned(), dim.trim().parse().ok()?, name.trim().to_owned()))
    };
    let wrong = |it: &str| {
        let message =
            format!("--dynamic-axes takes INPUT:DIMENSION=NAME, such as x:0=N, not `{it}`");
        MagicError::usage(&MAGIC, message)
    };
    text.split(',').map(|it| one(it).ok_or_else(|| wrong(it))).collect()
}
