//! A lane program as data: single assignment over lanes. Whoever executes elementwise ops reads this value: the tile machine
//! ([`super::registers`]), and other back ends by way of its expansion into arithmetic ([`super::expand`]).

use crate::DType;
use crate::cpu::lane::{Lane, Mem};
use crate::expr::{BinOp, UnOp};
use crate::math::Fault;

/// One lane operation; operands are earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Input(usize),
    /// A number, as the bits of an `f64`.
    Const(Lane, u64),
    /// Number `n` of the run.
    Param(Lane, usize),
    Convert {
        from: Mem,
        to: Mem,
        x: u32,
    },
    /// 1 where not 0.
    Truth(Mem, u32),
    /// As `Truth`, as memory holds a bool.
    Flag(Mem, u32),
    /// Into the range of a dtype that is narrower than its lane.
    Wrap(DType, u32),
    Unary(UnOp, Lane, u32),
    Binary(BinOp, Lane, u32, u32),
    Select(Lane, u32, u32, u32),
    /// The third where the comparison of the first two holds, else the fourth.
    SelectCompare(BinOp, Lane, [u32; 4]),
}

/// A list of nodes with what comes in and what goes out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ssa {
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<DType>,
    /// The node and the dtype of each output.
    pub(crate) outputs: Vec<(u32, DType)>,
}

impl Node {
    /// The nodes that it reads.
    pub(crate) fn operands(&self) -> ([u32; 4], usize) {
        match *self {
            Self::Input(_) | Self::Const(..) | Self::Param(..) => ([0; 4], 0),
            Self::Convert { x, .. }
            | Self::Truth(_, x)
            | Self::Flag(_, x)
            | Self::Wrap(_, x)
            | Self::Unary(_, _, x) => ([x, 0, 0, 0], 1),
            Self::Binary(_, _, x, y) => ([x, y, 0, 0], 2),
            Self::Select(_, c, x, y) => ([c, x, y, 0], 3),
            Self::SelectCompare(_, _, all) => (all, 4),
        }
    }

    /// What it refuses in its second operand.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self {
            Self::Binary(op, lane, ..) if *lane == Lane::I64 => Fault::of(*op),
            _ => None,
        }
    }
}

impl Ssa {
    /// For each node the last that reads it, or the number of nodes for an output; `None` where nothing needs it.
    pub(crate) fn last_uses(&self) -> Vec<Option<usize>> {
        let mut res = vec![None; self.nodes.len()];
        for &(node, _) in &self.outputs {
            res[node as usize] = Some(self.nodes.len());
        }
        for idx in (0..self.nodes.len()).rev() {
            if res[idx].is_none() {
                continue;
            }
            let (list, n) = self.nodes[idx].operands();
            for &operand in &list[..n] {
                let operand = &mut res[operand as usize];
                *operand = Some(operand.unwrap_or(0).max(idx));
            }
        }
        res
    }
}
