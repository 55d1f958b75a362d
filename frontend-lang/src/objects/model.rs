//! Model files in the language: `f.dump(path)` writes one, `load(path)` gives something to call.

use std::any::Any;

use engine::Tensor;
use engine::model::{Model, OPSET};

use crate::native::*;
use crate::tensor::convert;
use crate::trace::TracedFn;
use crate::trace::any_sizes::AnyDim;

/// The type of a loaded model.
pub static MODEL: NativeType = NativeType {
    module: "notegrad",
    methods: &[METHODS],
    ..NativeType::plain("Model", "A model file: call it with its inputs.")
};

static METHODS: &[NativeFn] = &[
    function("inputs", "self", "(name, kind) of each input.", inputs),
    function("outputs", "self", "(name, kind) of each output.", outputs),
    function("check", "self", "The largest difference of each test case in the file.", check)
        .opaque(),
];

/// The formats of model files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Notegrad's own, `.ngm`.
    #[default]
    Ngm,
    /// ONNX, in this version of its operators.
    Onnx(i64),
}

impl Format {
    /// The format of this name, else the one that the file's ending says.
    pub fn of(path: &str, name: Option<&str>, opset: Option<i64>) -> Result<Self, Raised> {
        let is_onnx = match name {
            Some("onnx") => true,
            Some("ngm") => false,
            Some(other) => {
                return Err(value_error(format!("format is 'ngm' or 'onnx', not '{other}'")));
            }
            None => path.to_lowercase().ends_with(".onnx"),
        };
        match (is_onnx, opset) {
            (true, opset) => Ok(Self::Onnx(opset.unwrap_or(OPSET))),
            (false, None) => Ok(Self::Ngm),
            (false, Some(_)) => Err(value_error("an opset is chosen for ONNX files alone")),
        }
    }

    /// The content of a file.
    pub fn bytes(self, model: &Model) -> Result<Vec<u8>, Raised> {
        Ok(match self {
            Self::Ngm => model.to_bytes()?,
            Self::Onnx(opset) => model.to_onnx(opset)?,
        })
    }
}

/// What goes into a file besides graph and weights.
#[derive(Default)]
pub struct DumpOptions {
    /// The format.
    pub format: Format,
    /// Names of the inputs; those missing keep their own.
    pub arg_names: Vec<String>,
    /// Names of the outputs.
    pub output_names: Vec<String>,
    /// Whether the latest call becomes a test case.
    pub test_case: bool,
    /// Text kept with the model.
    pub info: String,
    /// Dimensions that can have any size; `None`: those with names in annotations.
    pub any_sizes: Option<Vec<AnyDim>>,
}

/// A model of the latest call of `traced`, weights inside.
pub fn model_of(cx: &mut Cx, traced: &TracedFn, options: &DumpOptions) -> Result<Model, Raised> {
    let mut any = traced.any_sizes(options.any_sizes.as_deref())?;
    let (template, graph) = match any.is_empty() {
        true => (None, traced.frozen_graph(cx)?),
        false => {
            let (template, graph) = traced.graph_of_any_sizes(cx, &mut any)?;
            (Some(template), graph)
        }
    };
    let call = traced.last_call();
    let (own_names, tensors) = call.map(|it| (it.names(), it.tensors)).unwrap_or_default();
    let names = if options.arg_names.is_empty() { &own_names } else { &options.arg_names };
    let mut model = Model::new(graph, names, &options.output_names)?;
    if let Some(template) = template {
        model = model.with_any_sizes(template, any)?;
    }
    model.info.clone_from(&options.info);
    if options.test_case {
        let inputs: Vec<Tensor> = tensors.iter().map(Tensor::detach).collect();
        model.add_test_case(&inputs)?;
    }
    Ok(model)
}

/// Writes `traced` into a file; gives the number of bytes.
pub fn dump(
    cx: &mut Cx,
    traced: &TracedFn,
    path: &str,
    options: &DumpOptions,
) -> Result<usize, Raised> {
    let bytes = options.format.bytes(&model_of(cx, traced, options)?)?;
    cx.host.write_file(path, &bytes).map_err(os_error)?;
    Ok(bytes.len())
}

/// A loaded model as a value.
pub struct ModelObj(pub Model);

fn ports(ports: Vec<engine::model::Port>) -> Value {
    let pair = |it: engine::model::Port| {
        let kind = it.to_string();
        Value::tuple(vec![Value::from(it.name), Value::str(kind)])
    };
    Value::list(ports.into_iter().map(pair).collect())
}

fn inputs(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(ports(args.object::<ModelObj>(0)?.0.inputs()))
}

fn outputs(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(ports(args.object::<ModelObj>(0)?.0.outputs()))
}

fn check(_cx: &mut Cx, args: Args<'_>) -> Res {
    let differences = args.object::<ModelObj>(0)?.0.check()?;
    Ok(Value::list(differences.into_iter().map(Value::Float).collect()))
}

impl ModelObj {
    /// Positional and keyword arguments in the order of the model's inputs.
    fn bind(&self, args: CallArgs<'_>) -> Result<Vec<Tensor>, Raised> {
        let ports = self.0.inputs();
        if args.positional.len() > ports.len() {
            let names: Vec<&str> = ports.iter().map(|it| it.name.as_str()).collect();
            return Err(type_error(format!(
                "the model takes {} inputs ({}), got {}",
                ports.len(),
                names.join(", "),
                args.positional.len()
            )));
        }
        let mut bound = Vec::with_capacity(ports.len());
        for (at, port) in ports.iter().enumerate() {
            let keyword =
                args.keywords.iter().find(|it| it.0.as_str() == port.name).map(|it| &it.1);
            let value = args.positional.get(at).or(keyword).ok_or_else(|| {
                type_error(format!("the input '{}' ({port}) is missing", port.name))
            })?;
            let tensor = convert::variable(value)?.get().detach();
            if !port.takes(&tensor.meta()) {
                return Err(shape_error(format!(
                    "the input '{}' is {port}, got {}",
                    port.name,
                    tensor.meta()
                )));
            }
            bound.push(tensor);
        }
        Ok(bound)
    }
}

impl NativeObject for ModelObj {
    fn native_type(&self) -> &'static NativeType {
        &MODEL
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let inputs = self.bind(args)?;
        let mut outputs = self.0.run(&inputs)?.into_iter().map(Value::tensor);
        match (outputs.next(), outputs.len()) {
            (Some(only), 0) => Ok(only),
            (Some(first), _) => {
                Ok(Value::tuple(std::iter::once(first).chain(outputs).collect::<Vec<_>>()))
            }
            (None, _) => Ok(Value::None),
        }
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let text = |ports: Vec<engine::model::Port>| {
            ports.iter().map(|it| format!("{}: {it}", it.name)).collect::<Vec<_>>().join(", ")
        };
        Ok(format!("<model ({}) -> ({})>", text(self.0.inputs()), text(self.0.outputs())))
    }
}
