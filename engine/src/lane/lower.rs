//! From expressions to a graph of lane operations, in which equal operations exist once.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::ssa::{Node, Ssa};
use super::{Ref, Step};
use crate::DType;
use crate::cpu::lane::{Lane, Mem};
use crate::dtype::Arithmetic;
use crate::expr::{BinOp, Expr, Term, UnOp};

/// A value of a dtype. Its elements are exact in `mem`, which need not be the dtype's own: a bool may stand in floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) node: u32,
    pub(super) mem: Mem,
    pub(super) dtype: DType,
}

/// The program being built.
pub(super) struct Builder {
    nodes: Vec<Node>,
    known: FxHashMap<Node, u32>,
    inputs: Vec<Value>,
    steps: Vec<Value>,
}

/// The lane type in which a dtype is computed.
fn lane_of(dtype: DType) -> Lane {
    match dtype.arithmetic() {
        Arithmetic::F32 => Lane::F32,
        Arithmetic::F64 => Lane::F64,
        Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => Lane::I64,
    }
}

/// Whether lanes hold numbers that elements of the dtype cannot.
fn is_narrow(dtype: DType) -> bool {
    dtype != DType::Bool && Mem::from(lane_of(dtype)) != Mem::of(dtype)
}

impl Builder {
    pub(super) fn new(inputs: &[DType]) -> Self {
        let mut res = Self {
            nodes: Vec::new(),
            known: FxHashMap::default(),
            inputs: Vec::new(),
            steps: Vec::new(),
        };
        for (idx, &dtype) in inputs.iter().enumerate() {
            let node = res.node(Node::Input(idx));
            res.inputs.push(Value { node, mem: Mem::of(dtype), dtype });
        }
        res
    }

    /// The value of a reference, or `None` when there is none yet.
    pub(super) fn value(&self, reference: Ref) -> Option<Value> {
        match reference {
            Ref::Input(idx) => self.inputs.get(idx).copied(),
            Ref::Step(idx) => self.steps.get(idx).copied(),
        }
    }

    /// Adds a step; `params` gives for each attribute that occurs the number of the run. `None` when operands are missing.
    pub(super) fn step(
        &mut self,
        expr: &Expr,
        step: &Step,
        params: &[(usize, usize)],
    ) -> Option<()> {
        let operands: Option<SmallVec<[Value; 4]>> =
            step.inputs.iter().map(|&it| self.value(it)).collect();
        let lane = lane_of(step.compute);
        let mut cx =
            Lowering { operands: operands?, params, step, lane, done: FxHashMap::default() };
        let node = cx.lower(self, expr)?;
        let value = self.finish(node, lane, step);
        self.steps.push(value);
        Some(())
    }

    /// The result of a step in its dtype, rounded and wrapped as the op does alone.
    fn finish(&mut self, node: u32, lane: Lane, step: &Step) -> Value {
        let mem = Mem::from(lane);
        if step.out == DType::Bool {
            if self.is_truth(node) {
                return Value { node, mem, dtype: DType::Bool };
            }
            let node = self.truth(node, mem);
            return Value { node, mem: Mem::I64, dtype: DType::Bool };
        }
        let target = Mem::from(lane_of(step.out));
        let node = self.convert(node, mem, target);
        let narrow = is_narrow(step.out) && !self.is_truth(node);
        let node = if narrow { self.node(Node::Wrap(step.out, node)) } else { node };
        Value { node, mem: target, dtype: step.out }
    }

    /// The value in a lane, converted to the dtype that the step computes in.
    fn in_lane(&mut self, value: Value, step: &Step) -> u32 {
        let compute = step.compute;
        let target = Mem::from(lane_of(compute));
        if compute == DType::Bool && value.dtype != DType::Bool {
            return self.truth(value.node, value.mem);
        }
        let node = self.convert(value.node, value.mem, target);
        // A number that the dtype does not hold counts as the element that it would be there.
        let narrow = compute.is_int() && is_narrow(compute) && value.dtype == DType::I64;
        // So that half(0.1) equals 0.1; in arithmetic numbers count as they are.
        let compared = compute.is_half() && step.out == DType::Bool && value.dtype != compute;
        if narrow || compared { self.node(Node::Wrap(compute, node)) } else { node }
    }

    /// The program that gives these values.
    pub(super) fn finished(mut self, outputs: &[Value]) -> Ssa {
        let outputs = outputs.iter().map(|&it| (self.stored(it), it.dtype)).collect();
        let inputs = self.inputs.iter().map(|it| it.dtype).collect();
        Ssa { nodes: self.nodes, inputs, outputs }
    }

    /// The value as memory holds its dtype.
    fn stored(&mut self, value: Value) -> u32 {
        // Storing keeps the low bits, or rounds, anyway.
        let node = match self.nodes[value.node as usize] {
            Node::Wrap(dtype, x) if dtype == value.dtype && dtype != DType::Bool => x,
            _ => value.node,
        };
        match [Mem::F32, Mem::F64].contains(&value.mem) && value.dtype.is_bool() {
            true => self.node(Node::Flag(value.mem, node)),
            false => self.convert(node, value.mem, Mem::of(value.dtype)),
        }
    }

    /// The input that the node wraps, or the node.
    fn unwrapped_input(&self, node: u32) -> u32 {
        match self.nodes[node as usize] {
            Node::Wrap(dtype, x)
                if dtype.is_int() && matches!(self.nodes[x as usize], Node::Input(_)) =>
            {
                x
            }
            _ => node,
        }
    }

    fn truth(&mut self, x: u32, from: Mem) -> u32 {
        if from == Mem::I64 && self.is_truth(x) {
            return x;
        }
        match from.wider() {
            Some(wide) => {
                let x = self.convert(x, from, wide);
                self.truth(x, wide)
            }
            None => self.node(Node::Truth(from, x)),
        }
    }

    fn convert(&mut self, x: u32, from: Mem, to: Mem) -> u32 {
        if from == to {
            return x;
        }
        if let Node::Const(_, bits) = self.nodes[x as usize]
            && let Some(lane) = [Lane::F32, Lane::F64].into_iter().find(|&it| Mem::from(it) == to)
        {
            return self.node(Node::Const(lane, bits));
        }
        let Some(stop) = from.stop(to) else { return self.node(Node::Convert { from, to, x }) };
        let x = self.node(Node::Convert { from, to: stop, x });
        self.convert(x, stop, to)
    }

    /// Whether the node can only be 0 or 1.
    fn is_truth(&self, node: u32) -> bool {
        match self.nodes[node as usize] {
            Node::Unary(op, ..) => op.is_truth(),
            Node::Binary(BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor, _, x, y) => {
                self.is_truth(x) && self.is_truth(y)
            }
            Node::Binary(op, ..) => op.is_truth(),
            Node::Truth(..) => true,
            Node::Wrap(dtype, _) => dtype.is_bool(),
            Node::Convert { x, .. } => self.is_truth(x),
            _ => false,
        }
    }

    fn node(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            next
        })
    }
}

/// One expression on its way into the graph.
struct Lowering<'a> {
    operands: SmallVec<[Value; 4]>,
    params: &'a [(usize, usize)],
    step: &'a Step,
    lane: Lane,
    /// By address, since expressions share parts.
    done: FxHashMap<*const Term, u32>,
}

impl Lowering<'_> {
    fn lower(&mut self, to: &mut Builder, expr: &Expr) -> Option<u32> {
        let key = Rc::as_ptr(&expr.0);
        if let Some(&node) = self.done.get(&key) {
            return Some(node);
        }
        let lane = self.lane;
        let node = match &*expr.0 {
            Term::Input(idx) => {
                let value = *self.operands.get(*idx)?;
                to.in_lane(value, self.step)
            }
            Term::Param(idx) => {
                let number = self.params.iter().find(|it| it.0 == *idx)?.1;
                to.node(Node::Param(lane, number))
            }
            Term::Const(value) => to.node(Node::Const(lane, value.to_bits())),
            Term::Unary(UnOp::BitNot, x) if self.step.compute == DType::Bool => {
                let x = self.lower(to, x)?;
                to.node(Node::Unary(UnOp::Not, lane, x))
            }
            Term::Unary(op, x) => {
                let x = self.lower(to, x)?;
                to.node(Node::Unary(*op, lane, x))
            }
            Term::Binary(op, x, y) => {
                let (mut x, mut y) = (self.lower(to, x)?, self.lower(to, y)?);
                if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
                    // Their low bits follow from low bits, and the result is wrapped.
                    (x, y) = (to.unwrapped_input(x), to.unwrapped_input(y));
                }
                to.node(Node::Binary(*op, lane, x, y))
            }
            Term::Select(cond, x, y) => {
                let (cond, x, y) = (self.lower(to, cond)?, self.lower(to, x)?, self.lower(to, y)?);
                self.select(to, cond, x, y)
            }
        };
        self.done.insert(key, node);
        Some(node)
    }

    fn select(&self, to: &mut Builder, cond: u32, x: u32, y: u32) -> u32 {
        match to.nodes[cond as usize] {
            Node::Binary(op @ (BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le), lane, a, b) => {
                to.node(Node::SelectCompare(op, lane, [a, b, x, y]))
            }
            _ => to.node(Node::Select(self.lane, cond, x, y)),
        }
    }
}
