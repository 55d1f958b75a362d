//! What can go wrong in the engine, as data. Text is made in `Display` only.

use std::fmt;

use crate::shape::MAX_RANK;
use crate::{DType, Device, Number, Shape, Site, words};

/// Every failure the engine reports. Callers match on it, never on its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Shapes of the operands do not fit together; `rule` states what `op` needs.
    Shapes { op: &'static str, shapes: Vec<Shape>, rule: String },
    /// Sizes that must be equal and are not, as PyTorch says before it computes anything.
    Unequal { op: &'static str, shapes: Vec<Shape>, rule: String },
    /// A dimension without elements, of which one is to be chosen.
    NoElements { op: &'static str, shape: Shape },
    /// A dtype that the op does not take.
    DType { op: &'static str, dtype: DType, allowed: &'static str },
    /// Real numbers where an op looks at the parts of complex ones.
    NotComplex { op: &'static str, dtype: DType },
    /// Operands whose dtypes must agree and do not.
    DTypes { op: &'static str, dtypes: Vec<DType> },
    /// A dimension outside `-rank..rank`.
    DimRange { op: &'static str, dim: i64, rank: usize },
    /// An index outside `-size..size`.
    IndexRange { op: &'static str, index: i64, size: usize, dim: usize },
    /// A class that is none of the `n_classes` of its row of scores.
    Class { op: &'static str, class: i64, n_classes: usize },
    /// A row that a table does not have.
    TableRow { row: i64, n_rows: usize },
    /// An element that the op does not take; `rule` states what holds for all of `name`.
    Elements { op: &'static str, name: &'static str, rule: &'static str },
    /// What a program refuses in elements, in its own words: the name of the class of its error, and the text.
    Told { error: &'static str, text: String },
    /// An attribute with a value that makes no sense for the op.
    Attr { op: &'static str, name: &'static str, problem: String },
    /// A number that elements of the dtype cannot be.
    Range { op: &'static str, name: &'static str, number: Number, dtype: DType },
    /// A list of tensors that has none.
    NoTensors { op: &'static str },
    /// Number of inputs differs from what the op takes.
    Arity { op: &'static str, expected: usize, got: usize },
    /// A tensor that would not fit into any address space.
    TooLarge { op: &'static str, shape: Shape },
    /// A tensor of more than [`MAX_RANK`] dimensions.
    TooManyDims { op: &'static str, rank: usize },
    /// The memory budget or the machine's memory is exhausted.
    OutOfMemory { bytes: usize, live: usize },
    /// The value of a tensor was asked for while only its shape is known.
    Abstract,
    /// Operands on two devices.
    Devices(Box<Devices>),
    /// The processor was to read elements in the memory of another device.
    NotOnHost { device: Device },
    /// There is no GPU of this number among `count`; `missing` says why there is none at all.
    NoGpu { index: u8, count: usize, missing: Option<String> },
    /// A GPU, or a library that it needs, has failed; the text says how.
    Gpu { index: u8, problem: String },
    /// ONNX has no words for an application of the op, which stands at `site`.
    NotInOnnx { op: &'static str, problem: String, site: Site },
    /// The op has no kernel on the device.
    NoKernel { op: &'static str, device: Device },
    /// The elements of a tensor of the device `meta` were asked for.
    NoData,
    /// The only element of a tensor of the device `meta` was asked for.
    NoItem,
    /// A value was asked from a tensor that does not hold exactly one element.
    NotScalar { shape: Shape },
    /// The derivative of an op that has none was needed.
    NoGradient { op: &'static str, reason: &'static str },
    /// `backward` cannot run; the text says why.
    Backward { problem: String },
    /// A backward pass meets an op whose record an earlier one has freed.
    Freed { op: &'static str },
    /// The graph or trace cannot do what was asked; the text says why and what to do.
    Trace { problem: String },
    /// A model or cache file is damaged or not one of ours.
    File { problem: String },
    /// A node of an ONNX model cannot be computed, or has an operator that is not known.
    Node(Box<NodeError>),
    /// An element is the first that is no finite number, while that is looked for.
    Anomaly(Box<Anomaly>),
    /// Work was stopped by the interrupt flag.
    Interrupted,
    /// What went wrong with an op that was computed later than the program applied it, at `site`.
    At { site: Site, error: Box<Error> },
}

impl Error {
    /// The error of an op that the program applied at `site`, if that is known; the first place that is named stays.
    #[cold]
    pub(crate) fn at(self, site: Site) -> Self {
        match self {
            Self::Interrupted | Self::At { .. } => self,
            _ if site == Site::NOWHERE => self,
            error => Self::At { site, error: Box::new(error) },
        }
    }

    /// The error itself, and where the program applied the op if that is another place.
    pub fn apart(self) -> (Self, Option<Site>) {
        match self {
            Self::At { site, error } => (*error, Some(site)),
            error => (error, None),
        }
    }

    /// What a layout is that reaches outside its storage.
    pub(crate) fn outside_storage() -> Self {
        Self::File { problem: "a layout reaches outside its storage".into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shapes { op, shapes, rule } | Self::Unequal { op, shapes, rule } => {
                write!(f, "{op}: shapes {} do not fit: {rule}", join(shapes))
            }
            Self::NotComplex { op, dtype } => write!(
                f,
                "{op} is for complex64 and complex128, got {dtype}: real numbers have no imaginary part; take x.to(torch.complex64), or x as it is"
            ),
            Self::NoTensors { op } => {
                write!(f, "{op} expects a non-empty TensorList: there is nothing to join")
            }
            Self::NoElements { op, shape } => {
                write!(
                    f,
                    "{op}: there is nothing to choose from in {shape}, of which a dimension has no elements"
                )
            }
            Self::DType { op, dtype, allowed } => {
                write!(f, "{op} does not take {dtype}; it needs {allowed}")
            }
            Self::DTypes { op, dtypes } => {
                write!(f, "{op} needs operands of one dtype, got {}", join(dtypes))
            }
            Self::DimRange { op, dim, rank } => {
                let bound = (*rank).max(1) as i64;
                write!(
                    f,
                    "{op}: dimension {dim} is out of range, expected {} to {}",
                    -bound,
                    bound - 1
                )
            }
            Self::IndexRange { op, index, size, dim } => {
                write!(f, "{op}: index {index} is out of range for dimension {dim} of size {size}")
            }
            Self::Class { class, n_classes, .. } => write!(
                f,
                "Target {class} is out of bounds. Classes are numbers from 0 to {}; `ignore_index` names one more that is left \
                 out of the loss",
                n_classes.saturating_sub(1)
            ),
            Self::TableRow { row, n_rows } => write!(
                f,
                "index out of range in self: {row}; the rows of the table are numbered 0 to {}",
                n_rows.saturating_sub(1)
            ),
            Self::Elements { name, rule, .. } => write!(f, "all elements of {name} should {rule}"),
            Self::Told { text, .. } => f.write_str(text),
            Self::Attr { op, name, problem } => write!(f, "{op}: `{name}` {problem}"),
            Self::Range { op, name, number, dtype } => {
                let to = match number {
                    Number::Float(it) if !dtype.is_float() && !it.is_finite() => {
                        "a dtype of floats"
                    }
                    Number::Float(_) if !dtype.is_float() => "a dtype of floats, or a wider one",
                    _ => "a wider dtype",
                };
                write!(f, "{op}: `{name}` is {number}, which {dtype} does not hold: take {to}")
            }
            Self::Arity { op, expected, got } => {
                write!(f, "{op} takes {expected} tensor(s), got {got}")
            }
            Self::TooLarge { op, shape } => {
                write!(f, "{op}: a tensor of shape {shape} is too large")
            }
            Self::TooManyDims { op, rank } => {
                write!(f, "{op}: a tensor of {rank} dimensions; {MAX_RANK} are the most")
            }
            Self::OutOfMemory { bytes, live } => {
                let [asked, used] = [*bytes, *live].map(words::size);
                write!(f, "out of memory: {asked} asked for, {used} in use by tensors")
            }
            Self::Abstract => f.write_str("this tensor has a shape but no value here"),
            Self::Devices(it) => it.fmt(f),
            Self::NotOnHost { device } => write!(
                f,
                "the elements lie in the memory of {device}, which the processor cannot read; bring them here with x.cpu()"
            ),
            Self::NoGpu { index, missing: Some(missing), .. } => {
                write!(f, "cannot use cuda:{index}: {missing}")
            }
            Self::NoGpu { index, count, missing: None } => write!(
                f,
                "cannot use cuda:{index}: invalid device ordinal; this machine has {count} GPU(s), numbered from 0"
            ),
            Self::Gpu { index, problem } => write!(f, "cuda:{index}: {problem}"),
            Self::NotInOnnx { op, problem, .. } => {
                write!(f, "{op} cannot be written as ONNX: {problem}")
            }
            Self::NoKernel { op, device } => write!(
                f,
                "{op} has no kernel on {device} yet; compute it on the CPU: bring the operands there with x.cpu(), and the result back \
                 with y.to('{device}')"
            ),
            Self::NoData => f.write_str("Cannot copy out of meta tensor; no data!"),
            Self::NoItem => f.write_str("Tensor.item() cannot be called on meta tensors"),
            Self::NotScalar { shape } => {
                let n = shape.numel();
                write!(f, "a Tensor with {n} elements cannot be converted to Scalar")
            }
            Self::NoGradient { op, reason } => write!(f, "{op} has no gradient: {reason}"),
            Self::Freed { op } => write!(
                f,
                "cannot go through {op} a second time: pass retain_graph=True the first time"
            ),
            Self::Backward { problem } | Self::Trace { problem } | Self::File { problem } => {
                f.write_str(problem)
            }
            Self::Node(it) => it.fmt(f),
            Self::Anomaly(it) => it.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
            Self::At { error, .. } => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// Two operands of an op that lie on devices that do not go together.
#[derive(Clone, Debug, PartialEq)]
pub struct Devices {
    pub op: &'static str,
    /// The operand whose device decides.
    pub expected: Placed,
    /// The first that lies elsewhere.
    pub found: Placed,
}

/// An operand of an op, and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// What the op calls it, `other` or `tensors[2]`, where that can be told.
    pub name: Option<String>,
    /// Its place among the arguments, or where it has no name among the tensors, from 1.
    pub position: usize,
    pub dtype: DType,
    pub shape: Shape,
    pub device: Device,
    /// Where its buffer was made.
    pub site: Site,
}

impl Devices {
    /// What is wrong, with places of the program in words.
    pub fn text(&self, place: impl Fn(Site) -> Option<String>) -> String {
        let (moves, to) = self.next();
        let [one, other] = [&self.expected, &self.found].map(|it| it.text(place(it.site)));
        format!(
            "{}\n{}: {one}; {other}. Bring {} to {to} with .to('{to}')",
            self.head(),
            self.op,
            moves.name_text()
        )
    }

    /// PyTorch's words.
    fn head(&self) -> String {
        let [expected, found] = [self.expected.device, self.found.device];
        match [expected, found].contains(&Device::Meta) {
            true => format!("Tensor on device {found} is not on the expected device {expected}!"),
            false => format!(
                "Expected all tensors to be on the same device, but found at least two devices, {expected} and {found}!"
            ),
        }
    }

    /// Which of the two is to go where: from the CPU to a GPU, and from both to `meta`, from where nothing comes back.
    pub fn next(&self) -> (&Placed, Device) {
        let rank = |it: &Placed| match it.device {
            Device::Cpu => 0,
            Device::Cuda(_) => 1,
            Device::Meta => 2,
        };
        match rank(&self.expected) < rank(&self.found) {
            true => (&self.expected, self.found.device),
            false => (&self.found, self.expected.device),
        }
    }
}

impl Placed {
    /// `` `other` (argument 2) is float32[3] on cpu, made by cell 3, line 7``.
    fn text(&self, place: Option<String>) -> String {
        let Self { name, position, dtype, shape, device, .. } = self;
        let made = place.map_or_else(String::new, |it| format!(", {it}"));
        let argument =
            name.as_ref().map_or_else(String::new, |_| format!(" (argument {position})"));
        format!("{}{argument} is {dtype}{shape} on {device}{made}", self.name_text())
    }

    fn name_text(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}`"),
            None => format!("operand {}", self.position),
        }
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|_| None))
    }
}

/// What is wrong at a node of an ONNX model.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeError {
    /// The name of the node, or of its first output where it has none.
    pub node: String,
    /// Its operator, with the domain if that is not ONNX's own.
    pub operator: String,
    /// The version of the set of operators that the model uses.
    pub opset: i64,
    pub cause: Error,
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, operator, opset, cause } = self;
        write!(f, "the node '{node}' ({operator}, opset {opset}): {cause}")
    }
}

/// The first element that is no finite number.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomaly {
    /// The op that gave it, or whose gradient it is in.
    pub op: &'static str,
    /// Of a gradient: the name of the step, and to which operand it goes.
    pub gradient: Option<(String, usize)>,
    pub value: NotFinite,
    /// Where it is, in a tensor of this shape.
    pub index: Vec<usize>,
    pub shape: Shape,
    /// What the op was applied to.
    pub operands: Vec<(DType, Shape)>,
    /// Where the op was applied.
    pub site: Site,
    /// What was not finite before this, and was no error.
    pub earlier: Option<Box<Self>>,
}

/// What a number is that is not finite; the worse is the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotFinite {
    Infinite,
    Nan,
}

impl NotFinite {
    /// What a number is; `None` if it is finite.
    pub fn of(value: f64) -> Option<Self> {
        match value {
            it if it.is_nan() => Some(Self::Nan),
            it if it.is_infinite() => Some(Self::Infinite),
            _ => None,
        }
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Infinite => "inf",
            Self::Nan => "nan",
        })
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, gradient, value, index, shape, operands, .. } = self;
        let operands: Vec<String> =
            operands.iter().map(|(dtype, shape)| format!("{dtype}{shape}")).collect();
        let operands = operands.join(" and ");
        match gradient {
            // PyTorch's words come first.
            Some((name, at)) => write!(
                f,
                "Function '{name}' returned {value} values in its {at}th output: the gradient of {op} of {operands}, first at \
                 index {index:?} of {shape}"
            ),
            None => write!(
                f,
                "{op} of {operands} gave the first {value}, at index {index:?} of {shape}"
            ),
        }
    }
}

fn join<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}
