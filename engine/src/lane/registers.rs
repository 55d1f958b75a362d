//! From lane operations to instructions: what is needed, in order, each result in a slot that is free. A function of two arguments
//! that one other needs is computed with it where there is a kernel of both.

use super::ssa::{Node, Ssa};
use crate::cpu::features::Isa;
use crate::cpu::lane::machine::{Code, Instr, Splat, SplatValue};
use crate::cpu::lane::{
    Joined, Kern, Lane, Mem, binary, convert, flag, joined, select, select_compare, truth, unary,
    wrap,
};
use crate::dtype::Number;
use crate::expr::BinOp;

/// The code that leaves the outputs of a program in the output registers. `None` when an operation has no kernel.
pub(super) fn assign(isa: Isa, ssa: &Ssa) -> Option<Code> {
    let (n_inputs, n_outputs) = (ssa.inputs.len(), ssa.outputs.len());
    let mut cx = Assignment {
        isa,
        ssa,
        last_use: ssa.last_uses(),
        joined: vec![None; ssa.nodes.len()],
        place: vec![None; ssa.nodes.len()],
        free: Vec::new(),
        n_slots: 0,
        first_output: n_inputs,
        first_slot: n_inputs + n_outputs,
        instrs: Vec::new(),
        splats: Vec::new(),
    };
    cx.join();
    for node in 0..ssa.nodes.len() {
        if cx.last_use[node].is_some() {
            cx.place_node(node)?;
        }
    }
    cx.copy_outputs()?;
    let inputs = ssa.inputs.iter().map(|&it| Mem::of(it)).collect();
    let outputs = ssa.outputs.iter().map(|it| Mem::of(it.1)).collect();
    Code::new(inputs, outputs, cx.n_slots, cx.instrs, cx.splats)
}

struct Assignment<'a> {
    isa: Isa,
    ssa: &'a Ssa,
    /// As [`Ssa::last_uses`] says.
    last_use: Vec<Option<usize>>,
    /// For a function that computes an argument itself what that is, with the operands of its kernel.
    joined: Vec<Option<(Joined, [u32; 4])>>,
    place: Vec<Option<u16>>,
    free: Vec<u16>,
    n_slots: usize,
    first_output: usize,
    first_slot: usize,
    instrs: Vec<Instr>,
    splats: Vec<Splat>,
}

impl Assignment<'_> {
    fn place_node(&mut self, idx: usize) -> Option<()> {
        match self.ssa.nodes[idx] {
            Node::Input(input) => self.place[idx] = Some(u16::try_from(input).ok()?),
            Node::Const(lane, bits) => {
                let value = f64::from_bits(bits);
                let number = match lane {
                    Lane::I64 => Number::Int(value as i64),
                    Lane::F32 | Lane::F64 => Number::Float(value),
                };
                self.splat(idx, lane, SplatValue::Number(number))?;
            }
            Node::Param(lane, param) => self.splat(idx, lane, SplatValue::Param(param))?,
            node => {
                let (kern, (list, n)) = match (self.joined[idx], node) {
                    (Some((what, list)), Node::Binary(_, lane, ..)) => {
                        (joined(what, lane, self.isa)?, (list, 3))
                    }
                    _ => (self.kern(node)?, node.operands()),
                };
                let mut src = [0; 4];
                for (at, &operand) in src.iter_mut().zip(&list[..n]) {
                    *at = self.place[operand as usize]?;
                }
                let output = self.ssa.outputs.iter().position(|it| it.0 as usize == idx);
                let dst = match output {
                    Some(output) => u16::try_from(self.first_output + output).ok()?,
                    None if self.converts_input(idx) => self.fresh_slot()?,
                    None => self.slot()?,
                };
                self.place[idx] = Some(dst);
                self.instrs.push(Instr { kern, dst, src });
                self.release(idx, &list[..n]);
            }
        }
        Some(())
    }

    /// Finds what is needed by one other function alone, and computed with it: no instruction of its own computes it.
    fn join(&mut self) {
        let nodes = &self.ssa.nodes;
        let mut uses = vec![0; nodes.len()];
        self.ssa.outputs.iter().for_each(|it| uses[it.0 as usize] += 1);
        for node in nodes.iter().zip(&self.last_use).filter(|it| it.1.is_some()).map(|it| it.0) {
            let (list, n) = node.operands();
            list[..n].iter().for_each(|&it| uses[it as usize] += 1);
        }
        for idx in 0..nodes.len() {
            let Node::Binary(op, lane, x, y) = nodes[idx] else { continue };
            if self.last_use[idx].is_none() || lane == Lane::I64 {
                continue;
            }
            let found = |(inner, argument, z, what): (BinOp, u32, u32, Joined)| {
                let Node::Binary(it, of, a, b) = nodes[argument as usize] else { return None };
                let is_free =
                    uses[argument as usize] == 1 && self.joined[argument as usize].is_none();
                let joins = it == inner && of == lane && is_free && !self.stays(inner, [a, b]);
                joins.then_some((argument, what, [z, a, b, 0]))
            };
            let Some((inner, what, list)) = pairs(op, x, y).into_iter().flatten().find_map(found)
            else {
                continue;
            };
            self.joined[idx] = Some((what, list));
            self.last_use[inner as usize] = None;
            for operand in &list[1..3] {
                let last = &mut self.last_use[*operand as usize];
                *last = Some(last.unwrap_or(0).max(idx));
            }
        }
    }

    /// Whether the arguments may be the same in every tile, where what comes of them is computed once. A sum has to be of something
    /// computed, since all inputs of one may be the same along a line.
    fn stays(&self, op: BinOp, arguments: [u32; 2]) -> bool {
        let may_stay = |it: &u32| {
            let is_input = matches!(self.ssa.nodes[*it as usize], Node::Input(_));
            self.may_be_number(*it) || op == BinOp::Add && is_input
        };
        arguments.iter().all(may_stay)
    }

    /// Whether a node may be a number that all elements have.
    fn may_be_number(&self, idx: u32) -> bool {
        match self.ssa.nodes[idx as usize] {
            Node::Const(..) | Node::Param(..) => true,
            Node::Convert { .. } => self.converts_input(idx as usize),
            _ => false,
        }
    }

    /// Numbers keep their slot for the whole run.
    fn splat(&mut self, idx: usize, lane: Lane, value: SplatValue) -> Option<()> {
        let slot = self.fresh_slot()?;
        self.place[idx] = Some(slot);
        self.splats.push(Splat { slot, lane, value });
        Some(())
    }

    fn slot(&mut self) -> Option<u16> {
        self.free.pop().map_or_else(|| self.fresh_slot(), Some)
    }

    /// A slot that was not in use earlier in the tile, where what it holds for the whole run would be overwritten.
    fn fresh_slot(&mut self) -> Option<u16> {
        self.n_slots += 1;
        u16::try_from(self.first_slot + self.n_slots - 1).ok()
    }

    /// Whether the node converts an input. Where that is a number, the machine does so once, as long as the slot is its alone.
    fn converts_input(&self, idx: usize) -> bool {
        let node = self.ssa.nodes[idx];
        let (list, n) = node.operands();
        let of_input = |&it: &u32| matches!(self.ssa.nodes[it as usize], Node::Input(_));
        matches!(node, Node::Convert { .. }) && list[..n].iter().all(of_input)
    }

    /// Frees the slots of operands that were read for the last time.
    fn release(&mut self, idx: usize, operands: &[u32]) {
        for (at, &operand) in operands.iter().enumerate() {
            let node = operand as usize;
            let computed =
                operands_of_instruction(self.ssa.nodes[node]) && !self.converts_input(node);
            let ended = self.last_use[node] == Some(idx) && !operands[..at].contains(&operand);
            if let Some(slot) = self.place[node].filter(|&it| usize::from(it) >= self.first_slot)
                && ended
                && computed
            {
                self.free.push(slot);
            }
        }
    }

    fn kern(&self, node: Node) -> Option<Kern> {
        match node {
            Node::Convert { from, to, .. } => convert(from, to, self.isa),
            Node::Truth(from, _) => truth(from, self.isa),
            Node::Flag(from, _) => flag(from, self.isa),
            Node::Wrap(dtype, _) => wrap(dtype, self.isa),
            Node::Unary(op, lane, _) => unary(op, lane, self.isa),
            Node::Binary(op, lane, ..) => binary(op, lane, self.isa),
            Node::Select(lane, ..) => Some(select(lane, self.isa)),
            Node::SelectCompare(op, lane, _) => select_compare(op, lane, self.isa),
            Node::Input(_) | Node::Const(..) | Node::Param(..) => None,
        }
    }

    /// Copies what did not come about in its output register: inputs, numbers, and second uses of one result.
    fn copy_outputs(&mut self) -> Option<()> {
        for (idx, &(node, dtype)) in self.ssa.outputs.iter().enumerate() {
            let dst = (self.first_output + idx) as u16;
            if let Some(place) = self.place[node as usize].filter(|&it| it != dst) {
                let mem = Mem::of(dtype);
                let kern = convert(mem, mem, self.isa)?;
                self.instrs.push(Instr { kern, dst, src: [place, 0, 0, 0] });
            }
        }
        Some(())
    }
}

/// Which function with which argument may be computed in one pass, best first: the function of that argument, the argument, the other
/// one, and what both are together.
fn pairs(op: BinOp, x: u32, y: u32) -> [Option<(BinOp, u32, u32, Joined)>; 2] {
    let (product, sum) = (BinOp::Mul, BinOp::Add);
    match op {
        BinOp::Add => [Some((product, x, y, Joined::Add)), Some((product, y, x, Joined::AddTo))],
        BinOp::Sub => [Some((product, x, y, Joined::Sub)), Some((product, y, x, Joined::SubFrom))],
        BinOp::Mul => [Some((sum, x, y, Joined::TimesSum)), Some((sum, y, x, Joined::TimesSum))],
        BinOp::Min => [Some((BinOp::Max, y, x, Joined::Limit)), None],
        _ => [None, None],
    }
}

/// Whether the node is an instruction, whose slot can be used again.
fn operands_of_instruction(node: Node) -> bool {
    node.operands().1 > 0
}
