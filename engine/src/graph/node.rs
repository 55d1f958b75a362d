//! The graph: a typed SSA arena. Nodes stand in an order in which every input comes before its use.
//!
//! **Invariant:** equal applications of a pure op are one node, so a value is computed once. Ops that are not pure keep
//! their order and number.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::{
    Attrs, DType, Device, Error, Layout, Meta, Metas, Number, OpDef, Result, Scope, Shape, Site,
    Tensor, apply,
};

/// Names a node of one graph.
pub type NodeId = u32;

/// One output of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The node.
    pub node: NodeId,
    /// Which of its outputs.
    pub output: u32,
}

impl Value {
    /// Output 0 of a node.
    pub fn of(node: NodeId) -> Self {
        Self { node, output: 0 }
    }
}

/// Operands of a node.
pub type Operands = SmallVec<[Value; 3]>;

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Fed from outside, in the given layout.
    Input { layout: Layout },
    /// State that outlives a run, fed as it stands before the run, in the given layout: a parameter, what an optimiser keeps.
    Variable { layout: Layout },
    /// A number of the language that is fed from outside: rank 0, weak in promotion.
    Fed,
    /// A tensor that is part of the graph.
    Const(Tensor),
    /// A number of the language that is part of the graph.
    Number(Number),
    /// An op application.
    Op { op: &'static OpDef, attrs: Attrs, inputs: Operands },
}

/// What a run leaves in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The node of the variable.
    pub variable: NodeId,
    /// Its next value.
    pub value: Value,
}

/// Which part of a training step a node belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// From inputs to results.
    #[default]
    Forward,
    /// A reverse walk over the tape.
    Backward,
    /// What follows a reverse walk while no gradients are recorded.
    Update,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Shapes and dtypes of its outputs.
    pub metas: Metas,
    /// Where it came in first.
    pub origin: Origin,
}

/// Where a node comes from. It says nothing about what the node computes.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The part of a training step.
    pub phase: Phase,
    /// The place in the program.
    pub site: Site,
    /// The modules and composed ops that it is a part of.
    pub scope: Scope,
}

impl Kind {
    /// Whether it comes from outside in every run.
    pub fn is_fed(&self) -> bool {
        matches!(self, Self::Input { .. } | Self::Variable { .. } | Self::Fed)
    }
}

impl Node {
    /// Values it is computed from.
    pub fn inputs(&self) -> &[Value] {
        match &self.kind {
            Kind::Op { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// The op, when it is an application.
    pub fn op(&self) -> Option<&'static OpDef> {
        match self.kind {
            Kind::Op { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Attributes, when it is an application.
    pub fn attrs(&self) -> Option<&Attrs> {
        match &self.kind {
            Kind::Op { attrs, .. } => Some(attrs),
            _ => None,
        }
    }

    /// Whether it draws random numbers.
    pub fn draws(&self) -> bool {
        matches!(&self.kind, Kind::Op { op, attrs, .. } if !op.is_pure(attrs))
    }

    /// Whether it must run even when nobody uses it: it draws, or is there for what it refuses.
    pub fn acts(&self) -> bool {
        self.draws() || self.op().is_some_and(OpDef::only_checks)
    }
}

/// What makes two nodes the same.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Op(usize, Attrs, Operands),
    Number(u8, u64),
    Complex([u64; 2]),
    Const(usize, DType, Shape, SmallVec<[isize; 4]>, usize),
}

/// A graph under construction or finished.
#[derive(Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    inputs: Vec<NodeId>,
    /// What the graph computes, in order.
    pub outputs: Vec<Value>,
    /// What it leaves in its variables: one store for a variable at most.
    pub stores: Vec<Store>,
    /// Where the nodes come from that are added next.
    pub origin: Origin,
    /// Where its ops run.
    pub device: Device,
    known: FxHashMap<Key, NodeId>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// All nodes, inputs before uses.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The nodes that are fed from outside, in feeding order.
    pub fn inputs(&self) -> &[NodeId] {
        &self.inputs
    }

    /// Shape and dtype of a value.
    pub fn meta(&self, value: Value) -> &Meta {
        &self.nodes[value.node as usize].metas[value.output as usize]
    }

    /// Number of op applications.
    pub fn n_ops(&self) -> usize {
        self.nodes.iter().filter(|it| it.op().is_some()).count()
    }

    /// A new input of this dtype and layout.
    pub fn input(&mut self, dtype: DType, layout: Layout) -> Value {
        let metas = smallvec![Meta::new(layout.shape.clone(), dtype)];
        let id = self.push(Kind::Input { layout }, metas);
        self.inputs.push(id);
        Value::of(id)
    }

    /// A new variable of this dtype and layout.
    pub fn variable(&mut self, dtype: DType, layout: Layout) -> Value {
        let metas = smallvec![Meta::new(layout.shape.clone(), dtype)];
        let id = self.push(Kind::Variable { layout }, metas);
        self.inputs.push(id);
        Value::of(id)
    }

    /// What a run gives: the outputs, then what it stores, in order.
    pub fn results(&self) -> impl Iterator<Item = Value> {
        self.outputs.iter().copied().chain(self.stores.iter().map(|it| it.value))
    }

    /// A new input that takes a number of the language.
    pub fn fed(&mut self, dtype: DType) -> Value {
        let metas = smallvec![Meta::new(Shape::default(), dtype)];
        let id = self.push(Kind::Fed, metas);
        self.inputs.push(id);
        Value::of(id)
    }

    /// A number as part of the graph.
    pub fn number(&mut self, number: Number) -> Value {
        let key = match number {
            Number::Bool(it) => Key::Number(0, u64::from(it)),
            Number::Int(it) => Key::Number(1, it as u64),
            Number::Float(it) => Key::Number(2, it.to_bits()),
            Number::Complex(real, imag) => Key::Complex([real, imag].map(f64::to_bits)),
        };
        let metas = smallvec![Meta::new(Shape::default(), number.dtype())];
        self.cons(Some(key), Kind::Number(number), metas)
    }

    /// A tensor as part of the graph.
    pub fn constant(&mut self, tensor: &Tensor) -> Value {
        if let Some(number) = tensor.as_number() {
            return self.number(number);
        }
        let layout = tensor.layout();
        let key = tensor.storage().ok().map(|bytes| {
            let root = std::sync::Arc::as_ptr(&bytes) as usize;
            let strides = layout.strides.clone();
            Key::Const(root, tensor.dtype(), layout.shape.clone(), strides, layout.offset)
        });
        let kind = Kind::Const(tensor.detach());
        self.cons(key, kind, smallvec![tensor.meta()])
    }

    /// An op application; infers shapes and dtypes. Returns its node, which may be an earlier one.
    pub fn apply(&mut self, op: &'static OpDef, inputs: &[Value], attrs: &Attrs) -> Result<NodeId> {
        if let Some(id) = self.find(op, inputs, attrs) {
            return Ok(id);
        }
        let stand_ins: SmallVec<[Tensor; 3]> = inputs.iter().map(|&it| self.stand_in(it)).collect();
        apply::check_arity(op, &stand_ins)?;
        let metas = apply::infer(op, &stand_ins, attrs)?;
        Ok(self.apply_known(op, inputs, attrs, metas))
    }

    /// As [`Graph::apply`], for one output.
    pub fn apply_one(
        &mut self,
        op: &'static OpDef,
        inputs: &[Value],
        attrs: &Attrs,
    ) -> Result<Value> {
        self.apply(op, inputs, attrs).map(Value::of)
    }

    /// An op application whose shapes and dtypes are known already.
    pub(crate) fn apply_known(
        &mut self,
        op: &'static OpDef,
        inputs: &[Value],
        attrs: &Attrs,
        metas: Metas,
    ) -> NodeId {
        let key = op.is_pure(attrs).then(|| op_key(op, inputs, attrs));
        let kind = Kind::Op { op, attrs: attrs.clone(), inputs: inputs.into() };
        self.cons(key, kind, metas).node
    }

    /// An op application that stands in another graph, whose nodes are taken over one by one: no two of those are equal, so it is not looked
    /// for among those that are here, nor found by [`Graph::apply`] later. For graphs to which nothing is added.
    pub(crate) fn take_over(
        &mut self,
        op: &'static OpDef,
        inputs: &[Value],
        attrs: Attrs,
    ) -> Result<NodeId> {
        let stand_ins: SmallVec<[Tensor; 3]> = inputs.iter().map(|&it| self.stand_in(it)).collect();
        let metas = apply::infer(op, &stand_ins, &attrs)?;
        Ok(self.push(Kind::Op { op, attrs, inputs: inputs.into() }, metas))
    }

    /// The nodes that draw random numbers. Their order is that of the draws: the stream of random numbers is state that each of them takes
    /// from the one before, and the run leaves it where the last has.
    pub fn draws(&self) -> impl Iterator<Item = NodeId> {
        (0..).zip(&self.nodes).filter(|it| it.1.draws()).map(|it| it.0)
    }

    /// A tensor without elements that stands for a value in inference.
    pub fn stand_in(&self, value: Value) -> Tensor {
        let node = &self.nodes[value.node as usize];
        match &node.kind {
            Kind::Number(number) => Tensor::from_number(*number),
            Kind::Fed => Tensor::from_number(Number::one_of(node.metas[0].dtype)),
            _ => Tensor::abstract_on(self.device, self.meta(value).clone()),
        }
    }

    /// For each node the nodes that use it; a result counts as a use by nobody.
    pub fn users(&self) -> Vec<SmallVec<[NodeId; 2]>> {
        let mut users = vec![SmallVec::new(); self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            for input in node.inputs() {
                let list: &mut SmallVec<[NodeId; 2]> = &mut users[input.node as usize];
                if list.last() != Some(&(id as NodeId)) {
                    list.push(id as NodeId);
                }
            }
        }
        users
    }

    /// Which nodes the results and effects need.
    pub fn needed(&self) -> Vec<bool> {
        self.needed_beside(Node::acts)
    }

    /// Which nodes the results need, and draws: not what is only there for what it refuses.
    pub(crate) fn needed_for_values(&self) -> Vec<bool> {
        self.needed_beside(Node::draws)
    }

    /// Which nodes the results need, and those that must run.
    fn needed_beside(&self, must_run: fn(&Node) -> bool) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for result in self.results() {
            needed[result.node as usize] = true;
        }
        for id in (0..self.nodes.len()).rev() {
            if needed[id] || must_run(&self.nodes[id]) {
                needed[id] = true;
                for input in self.nodes[id].inputs() {
                    needed[input.node as usize] = true;
                }
            }
        }
        needed
    }

    fn find(&self, op: &'static OpDef, inputs: &[Value], attrs: &Attrs) -> Option<NodeId> {
        op.is_pure(attrs).then(|| self.known.get(&op_key(op, inputs, attrs)).copied()).flatten()
    }

    fn cons(&mut self, key: Option<Key>, kind: Kind, metas: Metas) -> Value {
        let Some(key) = key else { return Value::of(self.push(kind, metas)) };
        if let Some(&id) = self.known.get(&key) {
            return Value::of(id);
        }
        let id = self.push(kind, metas);
        self.known.insert(key, id);
        Value::of(id)
    }

    fn push(&mut self, kind: Kind, metas: Metas) -> NodeId {
        self.nodes.push(Node { kind, metas, origin: self.origin.clone() });
        (self.nodes.len() - 1) as NodeId
    }

    /// The node with this id, or an error for a damaged graph.
    pub fn checked(&self, value: Value) -> Result<&Meta> {
        let node = self.nodes.get(value.node as usize);
        let meta = node.and_then(|it| it.metas.get(value.output as usize));
        meta.ok_or_else(|| Error::File { problem: format!("%{} does not exist", value.node) })
    }
}

fn op_key(op: &'static OpDef, inputs: &[Value], attrs: &Attrs) -> Key {
    Key::Op(std::ptr::from_ref(op) as usize, attrs.clone(), inputs.into())
}
