//! `notegrad.jit`, also `megengine.jit`: from functions to static graphs.

use std::any::Any;

use engine::model::Model;
use engine::model::onnx_in::OnnxModel;
use engine::passes::RELAXED;
use engine::trace::Options;

use super::os::path_of;
use crate::native::*;
use crate::objects::model::ModelObj;
use crate::objects::onnx::OnnxObj;
use crate::trace::{Exclude, TRACED, TracedFn, WithoutHost};

/// The module `notegrad.jit`.
pub static JIT: NativeModule = NativeModule {
    name: "notegrad.jit",
    doc: "From functions to static graphs.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &["megengine.jit", "torch.jit"],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "trace",
        "function=None, *, symbolic=False, capture_as_const=False, record_only=False, opt_level=3, \
         symbolic_shape=True, profiling=False, without_host=None, always=False, check=False",
        "Compiles a function into static graphs. Positional tensors are inputs, keyword arguments are everything else. \
         The first call records; later calls run the body, match it with the recording and take results from the plan. \
         The plan runs without the body once that is known to be the same. With without_host=True what prevents it (prints, lists that \
         grow, elements that something in the body is computed of) is an error at its line; with without_host=False the body always runs. Where calls are quicker \
         as the function was written, which is found out by timing some, they run so; with always=True they are traced nevertheless. \
         With check=True each call is compared with eager execution, which runs beside it, and the first op that gives something else is an error at its line. \
         opt_level: 0 no passes, 1 what is unused or repeated goes, 2 all passes, 3 fusion (plans up to here give the bits of eager code), 4 also what \
         rounds in another way: attention by hand as one kernel, batch norm in evaluation folded into constant weights. What was done stands in stats().",
        trace,
    ),
    function(
        "exclude_from_trace",
        "",
        "`with exclude_from_trace():` runs code eagerly inside a trace.",
        excluded,
    ),
    function("load", "path", "Reads a model file; call the result with its inputs.", load)
        .session(),
    function("is_tracing", "", "Whether a trace is running.", is_tracing),
];

fn trace(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options {
        symbolic: cx.truth(&args[1])?,
        capture_as_const: cx.truth(&args[2])?,
        record_only: cx.truth(&args[3])?,
        opt_level: opt_level(args.int(4)?)?,
        always: cx.truth(&args[8])?,
        check: cx.truth(&args[9])?,
        ..Options::default()
    };
    let without_host = match args.opt(7) {
        None => WithoutHost::IfPossible,
        Some(it) if cx.truth(it)? => WithoutHost::Always,
        Some(_) => WithoutHost::Never,
    };
    match args.opt(0) {
        Some(func) => decorate(cx, func, options, without_host),
        None => Ok(Value::object(Decorator { options, without_host })),
    }
}

fn opt_level(level: i64) -> Result<u8, Raised> {
    u8::try_from(level).ok().filter(|it| *it <= RELAXED).ok_or_else(|| {
        value_error(format!("opt_level is a number from 0 to {RELAXED}, not {level}"))
    })
}

fn decorate(cx: &mut Cx, func: &Value, options: Options, without_host: WithoutHost) -> Res {
    if !cx.is_callable(func) {
        return Err(type_error(format!("trace takes a function, not {}", type_name(func))));
    }
    Ok(Value::object(TracedFn::new(func.clone(), options, without_host)))
}

fn excluded(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::object(Exclude::default()))
}

fn load(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    if path.to_lowercase().ends_with(".onnx") {
        return load_onnx(cx, &path);
    }
    load_model(cx, &path).map(|it| Value::object(ModelObj(it)))
}

/// A module of the nodes and weights of an ONNX file.
fn load_onnx(cx: &mut Cx, path: &str) -> Res {
    let bytes = cx.read_file(path)?;
    let folder = path.rfind(['/', '\\']).map_or("", |at| &path[..=at]);
    let host = &*cx.host;
    let mut read = |location: &str| {
        let problem = |it: crate::host::FileError| format!("{location}: {it}");
        let content = host.read_file(&format!("{folder}{location}"));
        content.map_err(|it| engine::Error::File { problem: problem(it) })
    };
    let model = OnnxModel::from_bytes(&bytes, &mut read)
        .map_err(|error| os_error(format!("{path}: {error}")))?;
    let module = cx.import("notegrad.onnx_module")?;
    let class = cx.getattr(&module, Sym::new("OnnxModule"))?;
    cx.call(&class, &[Value::object(OnnxObj(model))])
}

/// The model in a file that `dump` wrote.
pub fn load_model(cx: &mut Cx, path: &str) -> Result<Model, Raised> {
    let bytes = cx.read_file(path)?;
    Model::from_bytes(&bytes).map_err(|error| os_error(format!("{path}: {error}")))
}

fn is_tracing(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Bool(engine::trace::active()))
}

/// `trace(symbolic=True)`, waiting for its function.
struct Decorator {
    options: Options,
    without_host: WithoutHost,
}

impl NativeObject for Decorator {
    fn native_type(&self) -> &'static NativeType {
        &TRACED
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        match args.positional {
            [func] => decorate(cx, func, self.options.clone(), self.without_host),
            _ => Err(type_error("trace(...) takes the function to trace")),
        }
    }
}
