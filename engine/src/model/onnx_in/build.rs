//! From the messages of a file to nodes whose names are resolved to slots: every name that a node takes is given before it, so there
//! are no cycles; operators are known; nested graphs are limited in depth and all nodes in number.

use std::collections::HashMap;
use std::rc::Rc;

use super::operators::{self, Operator};
use super::value::{Kind, Signature, Texts};
use super::{OnnxModel, damaged};
use crate::error::NodeError;
use crate::model::onnx_in::tensors::{self, Files, STRING};
use crate::onnx::proto::{
    AttributeProto, AttributeType, FunctionProto, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TypeProto,
};
use crate::{Error, Result, Tensor};

/// The latest version of ONNX's operators that is known.
const LATEST: i64 = 28;
/// Graphs inside each other, functions that are called among them.
const MOST_DEPTH: usize = 32;
/// Nodes of a model, those of called functions once per call.
const MOST_NODES: usize = 1 << 20;

/// Nodes in order.
pub(super) struct Graph {
    /// Where the inputs go.
    pub(super) inputs: Vec<usize>,
    pub(super) constants: Vec<Constant>,
    pub(super) texts: Vec<(usize, Texts)>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<usize>,
}

/// A tensor that the file holds.
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) slot: usize,
    pub(super) tensor: Tensor,
}

/// The application of an operator.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) operator: String,
    pub(super) opset: i64,
    /// Where the inputs are; `None` for one that is absent.
    pub(super) inputs: Vec<Option<usize>>,
    pub(super) outputs: Vec<Option<usize>>,
    pub(super) attributes: Vec<(String, Attribute)>,
    pub(super) how: How,
    /// What nothing needs afterwards.
    pub(super) frees: Vec<usize>,
}

/// What computes a node.
pub(super) enum How {
    Operator(&'static Operator),
    /// The nodes of a function, which have slots of their own: so many.
    Function(Graph, usize),
}

/// The value of an attribute.
pub(super) enum Attribute {
    Int(i64),
    Float(f32),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
    Tensor(Tensor),
    TextTensor(Texts),
    Graph(Graph),
    /// A type, which no operator looks at.
    Type,
}

impl Node {
    /// An error at this node; what is no matter of the node stays as it is.
    pub(super) fn error(&self, cause: Error) -> Error {
        at_node(&self.name, &self.operator, self.opset, cause)
    }
}

fn at_node(node: &str, operator: &str, opset: i64, cause: Error) -> Error {
    match cause {
        Error::Abstract | Error::Interrupted | Error::Node(_) | Error::Anomaly(_) => cause,
        cause => Error::Node(Box::new(NodeError {
            node: node.into(),
            operator: operator.into(),
            opset,
            cause,
        })),
    }
}

/// The model of a file.
pub(super) fn model(proto: &ModelProto, files: &mut Files<'_>) -> Result<OnnxModel> {
    let graph = proto.graph.as_ref().ok_or_else(|| damaged("it has no graph"))?;
    let opsets = Opsets::of(&proto.opset_import)?;
    let mut builder = Builder {
        functions: &proto.functions,
        files,
        n_nodes: 0,
        scopes: Vec::new(),
        n_slots: 0,
        depth: 0,
        opsets,
        given: HashMap::new(),
    };
    let signature = |name: &str, kind: Option<&TypeProto>| Signature {
        name: name.into(),
        kind: Kind::of(kind),
    };
    let is_given = |name: &str| {
        graph.initializer.iter().any(|it| it.name == name)
            || graph
                .sparse_initializer
                .iter()
                .any(|it| it.values.as_ref().is_some_and(|it| it.name == name))
    };
    let inputs = graph
        .input
        .iter()
        .filter(|it| !is_given(&it.name))
        .map(|it| signature(&it.name, it.r#type.as_ref()))
        .collect();
    let outputs = graph.output.iter().map(|it| signature(&it.name, it.r#type.as_ref())).collect();
    let built = builder.graph(graph)?;
    Ok(OnnxModel { graph: built, n_slots: builder.n_slots, inputs, outputs })
}

/// The versions of sets of operators that nodes use.
#[derive(Clone)]
struct Opsets(HashMap<String, i64>);

impl Opsets {
    fn of(imports: &[OperatorSetIdProto]) -> Result<Self> {
        let mut known = HashMap::new();
        for it in imports {
            let domain = if it.domain == "ai.onnx" { "" } else { &it.domain };
            if domain.is_empty() && !(1..=LATEST).contains(&it.version) {
                return Err(damaged(&format!(
                    "it uses opset {}, known are 1 to {LATEST}; export it with another opset_version",
                    it.version
                )));
            }
            known.insert(domain.to_owned(), it.version);
        }
        Ok(Self(known))
    }

    fn of_domain(&self, domain: &str) -> i64 {
        self.0.get(domain).copied().unwrap_or(1)
    }
}

/// The names of a graph that is being built.
#[derive(Default)]
struct Scope {
    names: HashMap<String, usize>,
    /// The node under way, and at which node each slot is needed last.
    at: usize,
    last_use: HashMap<usize, usize>,
}

struct Builder<'a, 'f> {
    functions: &'a [FunctionProto],
    files: &'a mut Files<'f>,
    n_nodes: usize,
    scopes: Vec<Scope>,
    n_slots: usize,
    depth: usize,
    opsets: Opsets,
    /// The attributes that the call of the function under way gives.
    given: HashMap<String, AttributeProto>,
}

impl Builder<'_, '_> {
    fn graph(&mut self, proto: &GraphProto) -> Result<Graph> {
        self.enter()?;
        self.scopes.push(Scope::default());
        let mut constants = Vec::new();
        let mut texts = Vec::new();
        for it in &proto.initializer {
            let slot = self.define(&it.name)?;
            if it.data_type == STRING {
                let (all, shape) = tensors::read_texts(it)?;
                texts.push((slot, Texts { shape, texts: all.into() }));
                continue;
            }
            let tensor = tensors::read(it, self.files)?;
            constants.push(Constant { name: it.name.clone(), slot, tensor });
        }
        for it in &proto.sparse_initializer {
            let name = it.values.as_ref().map(|it| it.name.clone()).unwrap_or_default();
            let slot = self.define(&name)?;
            let tensor = tensors::read_sparse(it, self.files)?;
            constants.push(Constant { name, slot, tensor });
        }
        let mut inputs = Vec::new();
        for it in &proto.input {
            let is_given =
                self.scopes.last().is_some_and(|scope| scope.names.contains_key(&it.name));
            // In old files inputs may have an initializer: its value is the default.
            if !is_given {
                inputs.push(self.define(&it.name)?);
            }
        }
        let names: Vec<&str> = proto.output.iter().map(|it| it.name.as_str()).collect();
        let (nodes, outputs) = self.nodes(&proto.node, &names)?;
        Ok(Graph { inputs, constants, texts, nodes, outputs })
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(damaged(&format!("more than {MOST_DEPTH} graphs are inside each other")));
        }
        Ok(())
    }

    /// The nodes of the innermost scope, which ends with them.
    fn nodes(&mut self, protos: &[NodeProto], outputs: &[&str]) -> Result<(Vec<Node>, Vec<usize>)> {
        let mut nodes = Vec::with_capacity(protos.len());
        for (at, proto) in protos.iter().enumerate() {
            if let Some(scope) = self.scopes.last_mut() {
                scope.at = at;
            }
            self.n_nodes += 1;
            if self.n_nodes > MOST_NODES {
                return Err(damaged(&format!("it has more than {MOST_NODES} nodes")));
            }
            nodes.push(self.node(proto)?);
        }
        let output = |name: &&str| {
            self.resolve(name).ok_or_else(|| damaged(&format!("no node gives the output '{name}'")))
        };
        let outputs: Vec<usize> = outputs.iter().map(output).collect::<Result<_>>()?;
        let scope = self.scopes.pop().unwrap_or_default();
        self.depth -= 1;
        for (slot, at) in scope.last_use {
            if let Some(node) = nodes.get_mut(at).filter(|_| !outputs.contains(&slot)) {
                node.frees.push(slot);
            }
        }
        Ok((nodes, outputs))
    }

    fn node(&mut self, proto: &NodeProto) -> Result<Node> {
        let domain = if proto.domain == "ai.onnx" { "" } else { &proto.domain };
        let operator = match domain {
            "" => proto.op_type.clone(),
            _ => format!("{domain}.{}", proto.op_type),
        };
        let opset = self.opsets.of_domain(domain);
        let first = || proto.output.first().cloned().unwrap_or_default();
        let name = if proto.name.is_empty() { first() } else { proto.name.clone() };
        let at = |cause: Error| at_node(&name, &operator, opset, cause);
        let refuse = |problem: String| at(Error::File { problem });
        let mut inputs = Vec::with_capacity(proto.input.len());
        for input in &proto.input {
            let slot = if input.is_empty() { None } else { Some(self.used(input)) };
            let missing = || refuse(format!("it takes '{input}', which nothing before it gives"));
            inputs.push(slot.map(|it| it.ok_or_else(missing)).transpose()?);
        }
        let function = self.functions.iter().find(|it| {
            it.name == proto.op_type && it.domain == proto.domain && it.overload == proto.overload
        });
        let how = match (function, operators::find(&operator)) {
            (Some(function), _) => self.function(function, &proto.attribute).map_err(at)?,
            (None, Some(known)) => How::Operator(known),
            (None, None) => {
                return Err(refuse(format!(
                    "the operator {operator} is not known here; export the model with operators that are, or write it as a \
                     function of the model"
                )));
            }
        };
        let attributes = match &how {
            How::Operator(_) => self.attributes(&proto.attribute).map_err(at)?,
            How::Function(..) => Vec::new(),
        };
        let mut outputs = Vec::with_capacity(proto.output.len());
        for output in &proto.output {
            outputs.push(if output.is_empty() { None } else { Some(self.define(output)?) });
        }
        Ok(Node { name, operator, opset, inputs, outputs, attributes, how, frees: Vec::new() })
    }

    /// A call of a function: its nodes, with the attributes of the call.
    fn function(&mut self, proto: &FunctionProto, given: &[AttributeProto]) -> Result<How> {
        self.enter()?;
        let mut all: HashMap<String, AttributeProto> =
            proto.attribute_proto.iter().map(|it| (it.name.clone(), it.clone())).collect();
        for it in given {
            if let Some(it) = self.given_attribute(it) {
                all.insert(it.name.clone(), it);
            }
        }
        let opsets = match proto.opset_import.is_empty() {
            true => self.opsets.clone(),
            false => Opsets::of(&proto.opset_import)?,
        };
        let opsets = std::mem::replace(&mut self.opsets, opsets);
        let given = std::mem::replace(&mut self.given, all);
        let scopes = std::mem::replace(&mut self.scopes, vec![Scope::default()]);
        let n_slots = std::mem::replace(&mut self.n_slots, 0);
        let inputs: Vec<usize> =
            proto.input.iter().map(|it| self.define(it)).collect::<Result<_>>()?;
        let names: Vec<&str> = proto.output.iter().map(String::as_str).collect();
        let (nodes, outputs) = self.nodes(&proto.node, &names)?;
        let n_own = std::mem::replace(&mut self.n_slots, n_slots);
        (self.opsets, self.given, self.scopes) = (opsets, given, scopes);
        let graph = Graph { inputs, constants: Vec::new(), texts: Vec::new(), nodes, outputs };
        Ok(How::Function(graph, n_own))
    }

    /// The attribute, or what the call of the function around it gives for it.
    fn given_attribute(&self, proto: &AttributeProto) -> Option<AttributeProto> {
        if proto.ref_attr_name.is_empty() {
            return Some(proto.clone());
        }
        let given = self.given.get(&proto.ref_attr_name)?;
        Some(AttributeProto { name: proto.name.clone(), ..given.clone() })
    }

    fn attributes(&mut self, protos: &[AttributeProto]) -> Result<Vec<(String, Attribute)>> {
        let mut all = Vec::with_capacity(protos.len());
        for proto in protos {
            let Some(proto) = self.given_attribute(proto) else { continue };
            let value = self.attribute(&proto)?;
            all.push((proto.name.clone(), value));
        }
        Ok(all)
    }

    fn attribute(&mut self, proto: &AttributeProto) -> Result<Attribute> {
        let text = |it: &Vec<u8>| String::from_utf8_lossy(it).into_owned();
        let refuse = |problem: &str| Error::File {
            problem: format!("its attribute '{}' {problem}", proto.name),
        };
        Ok(match AttributeType::try_from(proto.r#type).unwrap_or(AttributeType::Undefined) {
            AttributeType::Int => Attribute::Int(proto.i),
            AttributeType::Float => Attribute::Float(proto.f),
            AttributeType::String => Attribute::Text(text(&proto.s)),
            AttributeType::Ints => Attribute::Ints(proto.ints.clone()),
            AttributeType::Floats => Attribute::Floats(proto.floats.clone()),
            AttributeType::Strings => Attribute::Texts(proto.strings.iter().map(text).collect()),
            AttributeType::Tensor => {
                let tensor = proto.t.as_ref().ok_or_else(|| refuse("has no tensor"))?;
                match tensor.data_type {
                    STRING => {
                        let (texts, shape) = tensors::read_texts(tensor)?;
                        Attribute::TextTensor(Texts { shape, texts: Rc::from(texts) })
                    }
                    _ => Attribute::Tensor(tensors::read(tensor, self.files)?),
                }
            }
            AttributeType::SparseTensor => {
                let tensor = proto.sparse_tensor.as_ref().ok_or_else(|| refuse("has no tensor"))?;
                Attribute::Tensor(tensors::read_sparse(tensor, self.files)?)
            }
            AttributeType::Graph => {
                let graph = proto.g.as_deref().ok_or_else(|| refuse("has no graph"))?;
                Attribute::Graph(self.graph(graph)?)
            }
            AttributeType::TypeProto => Attribute::Type,
            other => return Err(refuse(&format!("is of a kind that is not read: {other:?}"))),
        })
    }

    /// A new slot of the innermost scope.
    fn define(&mut self, name: &str) -> Result<usize> {
        let slot = self.n_slots;
        self.n_slots += 1;
        let Some(scope) = self.scopes.last_mut() else { return Err(damaged("it has no graph")) };
        scope.last_use.insert(slot, scope.at);
        match scope.names.insert(name.to_owned(), slot) {
            None => Ok(slot),
            Some(_) => Err(damaged(&format!("two values have the name '{name}'"))),
        }
    }

    /// The slot of a name, which is needed by the node under way.
    fn used(&mut self, name: &str) -> Option<usize> {
        let scope = self.scopes.iter_mut().rev().find(|it| it.names.contains_key(name))?;
        let slot = scope.names[name];
        scope.last_use.insert(slot, scope.at);
        Some(slot)
    }

    /// As [`Self::used`], of what a graph gives.
    fn resolve(&mut self, name: &str) -> Option<usize> {
        self.used(name)
    }
}
