//! The op row: everything the system knows about one op stands in one `OpDef`.

mod admit;
mod block;
mod cuda;
mod kernel;
mod nodes;
mod onnx;
mod prepared;
pub mod shapes;
mod surface;
mod widen;

pub use admit::AdmitCx;
pub(crate) use admit::indices;
pub(crate) use block::block;
pub use block::{Block, ControlCx};
pub(crate) use cuda::Finish;
pub use cuda::{Cuda, CudaCx};
pub use kernel::{Kernel, KernelCx, Method, Run};
pub(crate) use nodes::{NO_COMPLEX, Operand};
pub use nodes::{NodeCx, Sink, Wire, attr, tensor_proto};
pub use onnx::Onnx;
pub use prepared::{Case, Prepared, Ready};
pub use surface::{Alpha, Autocast, Cut, Form, Instead, Is, Returns, Surface, When};

pub use crate::attr::{flag, float, int, ints};

use crate::attr::{Attr, Attrs, attr_readers};
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::tape::StepCx;
use crate::tensor::{Metas, Outputs};
use crate::{DType, Device, Error, Layout, Result, Shape, Tensor};

/// One op. Rows are `static` and listed in `ops::ALL`.
pub struct OpDef {
    /// The name users write, `snake_case`.
    pub name: &'static str,
    /// What it computes, in a sentence or two.
    pub doc: &'static str,
    /// The same by definition: what kernels, passes and plans are held to.
    pub meaning: Meaning,
    /// Tensors and attributes in the order users pass them.
    pub params: &'static [Param],
    /// Dtypes admitted and produced; checked before any kernel runs.
    pub dtypes: DTypeRule,
    /// Shapes and dtypes of the outputs from those of the inputs, without data.
    pub infer: fn(&InferCx<'_>) -> Result<Metas>,
    /// How it is computed.
    pub body: Body,
    /// How gradients flow back.
    pub grad: Grad,
    /// What PyTorch calls its step of the tape, where that does not follow from the name: `NllLossBackward0`. Of a composed op, what it
    /// calls the step that the op is there; `None` leaves those that it consists of.
    pub step: Option<fn(&StepCx<'_>) -> &'static str>,
    /// Whether equal inputs give equal outputs; random ops are not pure and are never merged or dropped.
    pub pure: bool,
    /// Whether users also call it as a method of its first tensor.
    pub method: bool,
    /// Whether only other ops use it, such as the gradient of one: users do not see its name.
    pub internal: bool,
    /// What users see of it besides its parameters.
    pub surface: Surface,
    /// How it is written in ONNX.
    pub onnx: Onnx,
    /// Other names, with the module they stand in: `megengine.functional.gelu`.
    pub aliases: &'static [&'static str],
    /// Calls in the language with the text they print; values from another library.
    pub examples: &'static [(&'static str, &'static str)],
}

/// One parameter of an op.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name users may pass it by.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// Used when it is not given; `None` makes it required.
    pub default: Option<Default>,
}

/// A default value that can stand in a `static`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Ints(&'static [i64]),
    DType(DType),
    Str(&'static str),
}

/// What a parameter takes. Kinds that start with `Opt` also take `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Tensor,
    OptTensor,
    /// A list of tensors; only as the sole tensor parameter.
    Tensors,
    Bool,
    Int,
    OptInt,
    Float,
    OptFloat,
    /// A number that may be complex.
    Number,
    /// An int stands for a list of one.
    Ints,
    OptInts,
    DType,
    OptDType,
    /// One of the words that the doc names.
    Str,
    /// A graph; programs write its listing.
    Region,
}

impl ParamKind {
    /// Whether the argument is a tensor input, not an attribute.
    pub const fn is_tensor(self) -> bool {
        matches!(self, Self::Tensor | Self::OptTensor | Self::Tensors)
    }
}

impl Param {
    /// A required tensor.
    pub const fn tensor(name: &'static str) -> Self {
        Self { name, kind: ParamKind::Tensor, default: None }
    }

    /// A required parameter.
    pub const fn required(name: &'static str, kind: ParamKind) -> Self {
        Self { name, kind, default: None }
    }

    /// A parameter with a default.
    pub const fn with(name: &'static str, kind: ParamKind, default: Default) -> Self {
        Self { name, kind, default: Some(default) }
    }
}

impl Default {
    /// The value as an attribute.
    pub fn to_attr(self) -> Attr {
        match self {
            Self::None => Attr::None,
            Self::Bool(it) => Attr::Bool(it),
            Self::Int(it) => Attr::Int(it),
            Self::Float(it) => Attr::Float(it),
            Self::Ints(it) => Attr::ints(it),
            Self::DType(it) => Attr::DType(it),
            Self::Str(it) => Attr::Str(it),
        }
    }
}

/// Dtypes admitted and produced.
#[derive(Clone, Copy)]
pub enum DTypeRule {
    /// Any dtypes; `infer` decides.
    Any,
    /// Inputs promote to one dtype, which is the result's.
    Promote,
    /// As `Promote`, but bool is refused (`neg`, `sub`).
    PromoteNumbers,
    /// As `Promote`, but integers and bools compute in float32.
    PromoteToFloat,
    /// Floats only; the result has their promoted dtype.
    FloatsToSame,
    /// All inputs of one dtype, which is the result's: products do not promote.
    Same,
    /// As `Same`, but bool is refused.
    SameNumbers,
    /// As `Same`, floats only.
    SameFloats,
    /// Floats only; parameters beside a half may be float32, and the first result has the dtype of the first input (norms).
    FloatsLikeFirst,
    /// As `Any`, but the first input is a float (losses, whose targets may be classes).
    FloatFirst,
    /// Integers and bools only (bitwise ops).
    IntsToSame,
    /// Computed in the promoted dtype; the result is bool.
    PromoteToBool,
    /// Inputs count as true or false; the result is bool.
    LogicToBool,
    /// Of a composed op: as that rule, but the ops that it is made of get halves as they are. Others get them as float32, so that they
    /// round once.
    OfParts(&'static DTypeRule),
    /// Something else: gives (dtype to compute in per input, dtype of the result).
    Custom(DTypeChoice),
}

impl DTypeRule {
    /// What is asked of dtypes, whoever computes.
    pub const fn plain(&self) -> &Self {
        match self {
            Self::OfParts(rule) => rule,
            rule => rule,
        }
    }
}

/// Gives the dtype to compute in and that of the result.
pub type DTypeChoice = fn(&[Tensor], &Attrs) -> Result<(DType, DType)>;

/// What a gradient op is the gradient of.
#[derive(Clone, Copy, Debug)]
pub struct GradOf {
    pub(crate) op: &'static OpDef,
    pub(crate) input: usize,
    /// The forward inputs that follow the gradient of the output; the number behind the last is the result.
    pub(crate) uses: &'static [usize],
}

/// How an op is computed.
#[derive(Clone, Copy)]
pub enum Body {
    /// One scalar expression of one, two or three inputs; kernel, derivative, formula and fusion follow from it.
    Unary(fn(Expr) -> Expr),
    Binary(fn(Expr, Expr) -> Expr),
    Ternary(fn(Expr, Expr, Expr) -> Expr),
    /// As above, where attributes appear in the expression.
    Scalar(fn(&[Expr], &Attrs) -> Expr),
    /// The derivative of an elementwise op times the gradient of its output.
    GradOf(GradOf),
    /// The same storage under another layout; `None` where strides do not allow it, and a copy is made first.
    View(fn(&Layout, &Attrs, &Shape) -> Option<Layout>),
    /// Written kernels, best first; more than one means fast-run has a choice.
    Kernels(&'static [Kernel]),
    /// Runs graphs, which are attributes: branches and loops.
    Control(fn(&ControlCx<'_>) -> Result<Outputs>),
    /// A function of other ops; its parameters may include absent tensors.
    Composed(Composed),
}

impl Body {
    /// Whether the body is one scalar expression.
    pub const fn is_elementwise(&self) -> bool {
        matches!(
            self,
            Self::Unary(_) | Self::Binary(_) | Self::Ternary(_) | Self::Scalar(_) | Self::GradOf(_)
        )
    }

    /// Whether a kernel for a device may run a program on the parts of its first output.
    pub fn finishes(&self, device: Device) -> bool {
        match self {
            Self::Kernels(kernels) if device == Device::Cpu => kernels.iter().any(|it| it.finishes),
            Self::Kernels(kernels) => kernels.first().is_some_and(|it| it.finishes_on_cuda),
            _ => false,
        }
    }

    /// Whether a kernel for the processor takes the first operand of such an application in pieces, as a program makes them.
    pub fn takes_pieces(&self, cx: &InferCx<'_>) -> bool {
        matches!(self, Self::Kernels(kernels) if kernels.iter().any(|it| (it.prologue)(cx).is_some()))
    }
}

/// How gradients flow back through an op.
#[derive(Clone, Copy)]
pub enum Grad {
    /// From the scalar expression (elementwise ops), or through the ops it is composed of.
    Derived,
    /// A rule in ops; the second field says what the rule looks at.
    Rule(GradRule, Saves),
    /// A rule whose gradients go on from the sums that had come to the inputs before: what it runs adds to them one after the other, as a
    /// walk through its ops would.
    Onto(GradRule, Saves),
    /// None, and why.
    Stops(&'static str),
}

/// Gives one gradient per input; `None` where `cx.needs(i)` is false.
pub type GradRule = fn(&mut GradCx<'_>) -> Result<Vec<Option<Tensor>>>;

/// What a gradient rule looks at besides shapes; the rest is freed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saves {
    Shapes,
    Inputs,
    Outputs,
    Both,
    /// Some of each: the lowest bit stands for the first.
    Some {
        inputs: u64,
        outputs: u64,
    },
}

/// What `infer` and kernel choice see: shapes, dtypes and attributes, never elements.
pub struct InferCx<'a> {
    pub op: &'static OpDef,
    pub inputs: &'a [Tensor],
    pub attrs: &'a Attrs,
}

/// A function of other ops.
pub type Composed = fn(&ComposedCx<'_>) -> Result<Outputs>;

/// What the body of a composed op sees. Optional tensors that were not given are `None`.
pub struct ComposedCx<'a> {
    pub op: &'static OpDef,
    pub inputs: &'a [Option<Tensor>],
    pub attrs: &'a Attrs,
}

/// What a gradient rule sees.
pub struct GradCx<'a> {
    pub op: &'static OpDef,
    pub attrs: &'a Attrs,
    pub(crate) inputs: &'a [Tensor],
    pub(crate) outputs: &'a [Tensor],
    pub(crate) output_grads: &'a [Option<Tensor>],
    pub(crate) needs: &'a [bool],
    /// For a rule that goes on from them: what had come to each input before.
    pub(crate) sums: &'a mut [Option<Tensor>],
}

impl OpDef {
    /// Number of tensor parameters (a list counts as one).
    pub fn n_tensors(&self) -> usize {
        self.params.iter().filter(|it| it.kind.is_tensor()).count()
    }

    /// Whether its method has a form in place: `x.relu_()`.
    pub fn works_in_place(&self) -> bool {
        self.body.is_elementwise() || self.surface.in_place
    }

    /// The non-tensor parameters, in attribute order.
    pub fn attr_params(&self) -> impl Iterator<Item = &'static Param> {
        self.params.iter().filter(|it| !it.kind.is_tensor())
    }

    /// The attributes that apply when none is given; a required one is `Attr::None`.
    pub fn default_attrs(&self) -> Attrs {
        self.attr_params().map(|it| it.default.map_or(Attr::None, Default::to_attr)).collect()
    }

    /// Attributes that differ from the defaults, with their names.
    pub(crate) fn named_attrs<'a>(
        &'static self,
        attrs: &'a Attrs,
    ) -> impl Iterator<Item = (&'static str, &'a Attr)> {
        let defaults = self.default_attrs();
        let params = self.attr_params().enumerate();
        params.filter_map(move |(idx, param)| {
            let attr = attrs.get(idx)?;
            (Some(attr) != defaults.get(idx)).then_some((param.name, attr))
        })
    }

    /// Whether equal inputs give equal outputs with these attributes: an op is as pure as the graphs that it runs.
    pub fn is_pure(&self, attrs: &Attrs) -> bool {
        let draws = |it: &Attr| matches!(it, Attr::Region(it) if !it.is_pure());
        self.pure && !attrs.iter().any(draws)
    }

    /// Whether it is there for what it refuses alone.
    pub fn only_checks(&self) -> bool {
        matches!(self.body, Body::Kernels([kernel, ..]) if kernel.only_checks)
    }

    /// What the gradient looks at.
    pub(crate) fn saves(&self) -> Saves {
        match self.grad {
            Grad::Rule(_, saves) | Grad::Onto(_, saves) => saves,
            Grad::Derived => Saves::Inputs,
            Grad::Stops(_) => Saves::Shapes,
        }
    }
}

impl PartialEq for OpDef {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for OpDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

attr_readers!(InferCx<'_>);
attr_readers!(ComposedCx<'_>);
attr_readers!(GradCx<'_>);

impl InferCx<'_> {
    /// Shape of input `idx`.
    pub fn shape(&self, idx: usize) -> &Shape {
        self.inputs[idx].shape()
    }

    /// Dtype of input `idx`.
    pub fn dtype(&self, idx: usize) -> DType {
        self.inputs[idx].dtype()
    }

    /// The error for shapes that do not fit; `rule` states what the op needs.
    pub fn bad_shapes(&self, rule: impl Into<String>) -> Error {
        let shapes = self.inputs.iter().map(|it| it.shape().clone()).collect();
        Error::Shapes { op: self.op.name, shapes, rule: rule.into() }
    }
}

impl ComposedCx<'_> {
    /// Tensor `idx`, which the row requires.
    pub fn input(&self, idx: usize) -> Result<&Tensor> {
        let missing = Error::Arity { op: self.op.name, expected: idx + 1, got: idx };
        self.inputs.get(idx).and_then(Option::as_ref).ok_or(missing)
    }

    /// Tensor `idx` when it was given.
    pub fn opt_input(&self, idx: usize) -> Option<&Tensor> {
        self.inputs.get(idx).and_then(Option::as_ref)
    }
}

impl GradCx<'_> {
    /// Input `idx` of the forward op, on the tape, so that the gradient can be differentiated again.
    pub fn input(&self, idx: usize) -> &Tensor {
        &self.inputs[idx]
    }

    /// Output `idx` of the forward op, on the tape.
    pub fn output(&self, idx: usize) -> &Tensor {
        &self.outputs[idx]
    }

    /// Number of inputs of the forward op.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Gradient of output 0.
    pub fn output_grad(&self) -> Result<Tensor> {
        self.output_grad_of(0)?.ok_or_else(|| Error::Backward {
            problem: format!("{} got no gradient for its first output", self.op.name),
        })
    }

    /// Gradient of output `idx`, or `None` when nothing depends on it.
    pub fn output_grad_of(&self, idx: usize) -> Result<Option<Tensor>> {
        Ok(self.output_grads.get(idx).cloned().flatten())
    }

    /// What had come to input `idx` before, for a rule that goes on from it.
    pub fn sum(&self, idx: usize) -> Option<&Tensor> {
        self.sums.get(idx)?.as_ref()
    }

    /// As [`sum`](Self::sum), taken out, for a rule that writes where it lies.
    pub(crate) fn take_sum(&mut self, idx: usize) -> Option<Tensor> {
        self.sums.get_mut(idx)?.take()
    }

    /// Whether the gradient of input `idx` is wanted.
    pub fn needs(&self, idx: usize) -> bool {
        self.needs[idx]
    }
}
