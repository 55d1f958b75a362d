//! What op rows write their ONNX nodes with.

use rustc_hash::FxHashSet;

use crate::attr::attr_readers;
use crate::onnx::proto::{AttributeProto, AttributeType, GraphProto, NodeProto, TensorProto};
use crate::{Attrs, DType, Error, Meta, Number, OpDef, Result, Shape, Site, Tensor};

/// The name of a value in a model.
pub type Wire = String;

/// A graph that is being written.
pub struct Sink {
    pub(crate) graph: GraphProto,
    /// The version of ONNX's operators that is written.
    pub opset: i64,
    /// Where the nodes belong that are written next: `layer1.0.conv1`.
    pub(crate) place: String,
    made: usize,
    /// Names that are given elsewhere.
    taken: FxHashSet<Wire>,
}

/// An operand of an op that is being written.
pub(crate) struct Operand {
    pub(crate) wire: Wire,
    /// A number of the language in an elementwise op, which becomes what the op computes in; it has no name.
    pub(crate) number: Option<Number>,
    pub(crate) meta: Meta,
}

/// What a row sees that is being written: one application of it.
pub struct NodeCx<'a> {
    pub op: &'static OpDef,
    pub attrs: &'a Attrs,
    pub(crate) inputs: &'a [Operand],
    /// What the results are, and whether somebody uses them.
    pub(crate) outputs: &'a [(Meta, bool)],
    pub(crate) sink: &'a mut Sink,
    /// Where in the program it stands.
    pub(crate) site: Site,
    pub(crate) results: Vec<Wire>,
}

/// Attributes of nodes.
pub mod attr {
    use super::{AttributeProto, AttributeType};

    fn named(name: &str, kind: AttributeType) -> AttributeProto {
        AttributeProto { name: name.into(), r#type: kind as i32, ..AttributeProto::default() }
    }

    /// A whole number.
    pub fn int(name: &str, i: i64) -> AttributeProto {
        AttributeProto { i, ..named(name, AttributeType::Int) }
    }

    /// A number, which ONNX keeps as float32.
    pub fn float(name: &str, value: f64) -> AttributeProto {
        AttributeProto { f: value as f32, ..named(name, AttributeType::Float) }
    }

    /// Whole numbers.
    pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
        AttributeProto { ints: values.to_vec(), ..named(name, AttributeType::Ints) }
    }

    /// A word.
    pub fn text(name: &str, value: &str) -> AttributeProto {
        AttributeProto { s: value.as_bytes().to_vec(), ..named(name, AttributeType::String) }
    }

    /// A graph.
    pub fn graph(name: &str, graph: super::GraphProto) -> AttributeProto {
        AttributeProto { g: Some(Box::new(graph)), ..named(name, AttributeType::Graph) }
    }
}

/// A tensor with its elements, under a name.
pub fn tensor_proto(name: &str, tensor: &Tensor) -> Result<TensorProto> {
    let size = |&it: &usize| {
        i64::try_from(it).map_err(|_| Error::File { problem: format!("{name} is too large") })
    };
    let mut raw_data = Vec::new();
    tensor.append_le_bytes(&mut raw_data)?;
    Ok(TensorProto {
        dims: tensor.shape().iter().map(size).collect::<Result<_>>()?,
        data_type: tensor.dtype().onnx(),
        name: name.into(),
        raw_data,
        ..TensorProto::default()
    })
}

impl Sink {
    /// An empty graph for this version of the operators, in which these names are given to something else.
    pub fn new(opset: i64, taken: impl IntoIterator<Item = Wire>) -> Self {
        let taken = taken.into_iter().collect();
        Self { graph: GraphProto::default(), opset, place: String::new(), made: 0, taken }
    }

    /// A name that nothing has yet.
    pub fn fresh(&mut self, stem: &str) -> Wire {
        loop {
            self.made += 1;
            let name = format!("{stem}_{}", self.made);
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    /// A name that begins so, and has nothing behind that if nothing else is called so.
    pub(crate) fn named(&mut self, stem: &str) -> Wire {
        match self.taken.insert(stem.into()) {
            true => stem.into(),
            false => self.fresh(stem),
        }
    }

    /// Adds a node; gives its results.
    pub fn nodes(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        n_outputs: usize,
        attribute: Vec<AttributeProto>,
    ) -> Vec<Wire> {
        let stem = op_type.to_lowercase();
        let output: Vec<Wire> = (0..n_outputs).map(|_| self.fresh(&stem)).collect();
        let place = if self.place.is_empty() { "" } else { "/" };
        let name = format!("{}{place}{}", self.place, output.first().map_or("", |it| it));
        let input = inputs.iter().map(|&it| it.into()).collect();
        let op_type = op_type.into();
        let node = NodeProto {
            input,
            output: output.clone(),
            name,
            op_type,
            attribute,
            ..NodeProto::default()
        };
        self.graph.node.push(node);
        output
    }

    /// Adds a node with one result.
    pub fn node(&mut self, op_type: &str, inputs: &[&str], attrs: Vec<AttributeProto>) -> Wire {
        self.nodes(op_type, inputs, 1, attrs).swap_remove(0)
    }

    /// A tensor as part of the model.
    pub fn tensor(&mut self, name: &str, tensor: &Tensor) -> Result<Wire> {
        self.graph.initializer.push(tensor_proto(name, tensor)?);
        Ok(name.into())
    }

    /// Whole numbers as part of the model: sizes, dimensions, positions.
    pub fn ints(&mut self, values: &[i64]) -> Result<Wire> {
        let name = self.fresh("ints");
        self.tensor(&name, &Tensor::from_vec(values, Shape::new(&[values.len()]))?)
    }

    /// A number of a dtype as part of the model, of no dimensions.
    pub fn number(&mut self, number: Number, dtype: DType) -> Result<Wire> {
        let name = self.fresh("number");
        let shape = Shape::default();
        let tensor = match number {
            Number::Bool(it) => Tensor::from_converted(&[i64::from(it)], shape, dtype)?,
            Number::Int(it) => Tensor::from_converted(&[it], shape, dtype)?,
            Number::Float(it) => Tensor::from_converted(&[it], shape, dtype)?,
            Number::Complex(..) => {
                return Err(Error::Trace {
                    problem: format!("ONNX cannot say this: {NO_COMPLEX}"),
                });
            }
        };
        self.tensor(&name, &tensor)
    }

    /// A value in another dtype.
    pub fn cast(&mut self, wire: &str, from: DType, to: DType) -> Wire {
        if from == to {
            return wire.into();
        }
        self.node("Cast", &[wire], vec![attr::int("to", i64::from(to.onnx()))])
    }
}

/// Why complex numbers are refused.
pub(crate) const NO_COMPLEX: &str =
    "it has no arithmetic of complex numbers; write a function of their real and imaginary parts";

impl NodeCx<'_> {
    /// Operand `at`.
    pub fn input(&self, at: usize) -> Wire {
        self.inputs[at].wire.clone()
    }

    /// How many operands were given.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// What operand `at` is.
    pub fn meta(&self, at: usize) -> &Meta {
        &self.inputs[at].meta
    }

    /// The shape of operand `at`.
    pub fn shape(&self, at: usize) -> &Shape {
        &self.inputs[at].meta.shape
    }

    /// Number of dimensions of operand `at`.
    pub fn rank(&self, at: usize) -> usize {
        self.shape(at).rank()
    }

    /// The dtype of operand `at`.
    pub fn dtype(&self, at: usize) -> DType {
        self.inputs[at].meta.dtype
    }

    /// What result `at` is.
    pub fn output(&self, at: usize) -> &Meta {
        &self.outputs[at].0
    }

    /// Whether somebody uses result `at`.
    pub fn is_used(&self, at: usize) -> bool {
        self.outputs.get(at).is_some_and(|it| it.1)
    }

    /// The sizes of a shape.
    pub fn sizes(shape: &Shape) -> Vec<i64> {
        shape.iter().map(|&it| it as i64).collect()
    }

    /// Attribute `idx` as a dimension of operand 0.
    pub fn dim(&self, idx: usize) -> i64 {
        self.nonnegative(self.int(idx), self.rank(0))
    }

    /// A dimension counted from the front.
    pub fn nonnegative(&self, dim: i64, rank: usize) -> i64 {
        if dim < 0 { dim + rank.max(1) as i64 } else { dim }
    }

    /// Operand `at` in a dtype.
    pub fn input_as(&mut self, at: usize, dtype: DType) -> Wire {
        let operand = &self.inputs[at];
        self.sink.cast(&operand.wire, operand.meta.dtype, dtype)
    }

    /// Operand `at` of an elementwise op, in the dtype that it computes in.
    pub(crate) fn operand_as(&mut self, at: usize, dtype: DType) -> Result<Wire> {
        match self.inputs[at].number {
            Some(number) => self.sink.number(number, dtype),
            None => Ok(self.input_as(at, dtype)),
        }
    }

    /// Adds a node with one result.
    pub fn node(&mut self, op_type: &str, inputs: &[&str], attrs: Vec<AttributeProto>) -> Wire {
        self.sink.node(op_type, inputs, attrs)
    }

    /// Adds a node with several results.
    pub fn nodes(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        n_outputs: usize,
        attrs: Vec<AttributeProto>,
    ) -> Vec<Wire> {
        self.sink.nodes(op_type, inputs, n_outputs, attrs)
    }

    /// Whole numbers as part of the model.
    pub fn constant(&mut self, values: &[i64]) -> Result<Wire> {
        self.sink.ints(values)
    }

    /// A number of a dtype as part of the model.
    pub fn number(&mut self, value: f64, dtype: DType) -> Result<Wire> {
        self.sink.number(Number::Float(value), dtype)
    }

    /// A value in another dtype.
    pub fn cast(&mut self, wire: &str, from: DType, to: DType) -> Wire {
        self.sink.cast(wire, from, to)
    }

    /// A tensor as part of the model.
    pub fn tensor(&mut self, tensor: &Tensor) -> Result<Wire> {
        let name = self.sink.fresh("constant");
        self.sink.tensor(&name, tensor)
    }

    /// A whole number as part of the model, of no dimensions: an index, an axis.
    pub fn index(&mut self, value: i64) -> Result<Wire> {
        self.sink.number(Number::Int(value), DType::I64)
    }

    /// The version of ONNX's operators that is written.
    pub fn opset(&self) -> i64 {
        self.sink.opset
    }

    /// Parts of a value: along each dimension the first, the one behind the last, and the step.
    pub fn slice(&mut self, wire: &str, parts: &[(i64, i64, i64, i64)]) -> Result<Wire> {
        let list =
            |of: fn(&(i64, i64, i64, i64)) -> i64| -> Vec<i64> { parts.iter().map(of).collect() };
        let starts = self.constant(&list(|it| it.1))?;
        let ends = self.constant(&list(|it| it.2))?;
        let axes = self.constant(&list(|it| it.0))?;
        let steps = self.constant(&list(|it| it.3))?;
        Ok(self.node("Slice", &[wire, &starts, &ends, &axes, &steps], Vec::new()))
    }

    /// A tensor of one number, of the dtype of the first result.
    pub fn filled(&mut self, shape: &Shape, value: f64) -> Result<Wire> {
        self.filled_with(shape, value, self.outputs[0].0.dtype)
    }

    /// A tensor of one number.
    pub fn filled_with(&mut self, shape: &Shape, value: f64, dtype: DType) -> Result<Wire> {
        let (number, sizes) = (self.number(value, dtype)?, self.constant(&Self::sizes(shape))?);
        Ok(self.node("Expand", &[&number, &sizes], Vec::new()))
    }

    /// A reduction over dimensions; those that ONNX takes as an attribute before opset 18.
    pub fn reduce(&mut self, op_type: &str, x: &str, dims: &[i64], keep: bool) -> Result<Wire> {
        let mut attrs = vec![attr::int("keepdims", i64::from(keep))];
        if dims.is_empty() {
            // Of one element.
            return Ok(self.node(op_type, &[x], attrs));
        }
        if op_type != "ReduceSum" && self.opset() < 18 {
            attrs.push(attr::ints("axes", dims));
            return Ok(self.node(op_type, &[x], attrs));
        }
        let axes = self.constant(dims)?;
        Ok(self.node(op_type, &[x, &axes], attrs))
    }

    /// A value in another shape.
    pub fn reshape(&mut self, wire: &str, sizes: &[i64]) -> Result<Wire> {
        let sizes = self.sink.ints(sizes)?;
        Ok(self.node("Reshape", &[wire, &sizes], vec![attr::int("allowzero", 1)]))
    }

    /// The next result, of which `dtype` is the dtype here.
    pub fn give_as(&mut self, wire: &str, dtype: DType) {
        let wanted = self.outputs[self.results.len()].0.dtype;
        let wire = self.sink.cast(wire, dtype, wanted);
        self.results.push(wire);
    }

    /// The next result.
    pub fn give(&mut self, wire: Wire) -> Result<()> {
        self.results.push(wire);
        Ok(())
    }

    /// An error that says what of the op cannot be written.
    pub fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(Error::NotInOnnx { op: self.op.name, problem: what.into(), site: self.site })
    }

    /// An error unless the version of the operators that is written is at least this.
    pub fn needs_opset(&self, since: i64) -> Result<()> {
        match self.sink.opset >= since {
            true => Ok(()),
            false => self.refuse(&format!(
                "its operator came with opset {since}, and opset {} is written",
                self.sink.opset
            )),
        }
    }
}

attr_readers!(NodeCx<'_>);
