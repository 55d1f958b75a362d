//! ONNX files in the language: what the module that `load("m.onnx")` gives calls.

use std::any::Any;

use engine::Tensor;
use engine::model::onnx_in::{OnnxModel, Signature, Value as Given};

use crate::native::*;
use crate::tensor::convert;

/// The type of the nodes of an ONNX file.
pub static ONNX: NativeType = NativeType {
    module: "notegrad",
    methods: &[METHODS],
    ..NativeType::plain("OnnxNodes", "The nodes of an ONNX file.")
};

static METHODS: &[NativeFn] = &[
    function("inputs", "self", "(name, kind) of each input.", inputs),
    function("outputs", "self", "(name, kind) of each output.", outputs),
    function(
        "initializers",
        "self",
        "(name, tensor) of what the file holds values of.",
        initializers,
    ),
    function("run", "self, weights, args, kwargs", "The outputs, with these weights.", run),
];

/// A file as a value.
pub struct OnnxObj(pub OnnxModel);

impl NativeObject for OnnxObj {
    fn native_type(&self) -> &'static NativeType {
        &ONNX
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn signatures(all: &[Signature]) -> Value {
    let pair = |it: &Signature| {
        Value::tuple(vec![Value::str(it.name.clone()), Value::str(it.kind.to_string())])
    };
    Value::list(all.iter().map(pair).collect())
}

fn inputs(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(signatures(args.object::<OnnxObj>(0)?.0.inputs()))
}

fn outputs(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(signatures(args.object::<OnnxObj>(0)?.0.outputs()))
}

fn initializers(_cx: &mut Cx, args: Args<'_>) -> Res {
    let all = args.object::<OnnxObj>(0)?.0.initializers();
    let pair = |(name, tensor): (&str, &Tensor)| {
        Value::tuple(vec![Value::str(name.to_owned()), Value::tensor(tensor.clone())])
    };
    Ok(Value::list(all.map(pair).collect()))
}

fn run(cx: &mut Cx, args: Args<'_>) -> Res {
    let weights = cx.collect(&args[1])?;
    let weights: Vec<Option<Tensor>> = weights
        .iter()
        .map(|it| Ok(Some(convert::variable(it)?.get())))
        .collect::<Result<_, Raised>>()?;
    let positional = cx.collect(&args[2])?;
    let mut named = Vec::new();
    for name in cx.collect(&args[3])? {
        let value = cx.getitem(&args[3], &name)?;
        named.push((cx.str(&name)?, value));
    }
    let model = &args.object::<OnnxObj>(0)?.0;
    let inputs = bind(model.inputs(), &positional, &named)?;
    let mut outputs = model.run(&inputs, &weights)?.into_iter().map(of_given);
    match (outputs.next(), outputs.len()) {
        (Some(only), 0) => Ok(only),
        (Some(first), _) => {
            Ok(Value::tuple(std::iter::once(first).chain(outputs).collect::<Vec<_>>()))
        }
        (None, _) => Ok(Value::None),
    }
}

/// Arguments in the order of the inputs.
fn bind(
    signatures: &[Signature],
    positional: &[Value],
    named: &[(String, Value)],
) -> Result<Vec<Given>, Raised> {
    let names: Vec<&str> = signatures.iter().map(|it| it.name.as_str()).collect();
    if positional.len() > names.len() {
        let (takes, names, got) = (names.len(), names.join(", "), positional.len());
        return Err(type_error(format!("the model takes {takes} inputs ({names}), got {got}")));
    }
    if let Some((name, _)) = named.iter().find(|it| !names.contains(&it.0.as_str())) {
        return Err(type_error(format!(
            "the model has no input '{name}'; it has {}",
            names.join(", ")
        )));
    }
    let mut bound = Vec::with_capacity(names.len());
    for (at, Signature { name, kind }) in signatures.iter().enumerate() {
        let by_name = named.iter().find(|it| it.0 == *name).map(|it| &it.1);
        if at < positional.len() && by_name.is_some() {
            return Err(type_error(format!("the input '{name}' is given twice")));
        }
        let value = positional
            .get(at)
            .or(by_name)
            .ok_or_else(|| type_error(format!("the input '{name}' ({kind}) is missing")))?;
        if matches!(value, Value::None) {
            bound.push(Given::Nothing);
            continue;
        }
        let tensor = convert::variable(value)?.get();
        if !kind.takes(&tensor.meta()) {
            return Err(shape_error(format!(
                "the input '{name}' is {kind}, got {}",
                tensor.meta()
            )));
        }
        bound.push(Given::Tensor(tensor));
    }
    Ok(bound)
}

fn of_given(value: Given) -> Value {
    match value {
        Given::Tensor(it) => Value::tensor(it),
        Given::Texts(it) => Value::list(it.texts.iter().map(|it| Value::str(it.clone())).collect()),
        Given::Sequence(all) => Value::list(all.into_iter().map(of_given).collect()),
        Given::Nothing => Value::None,
    }
}
