//! From lane operations to instructions: what is needed, in order, each result in a slot that is free.

use super::ssa::{Node, Ssa};
use crate::cpu::features::Isa;
use crate::cpu::lane::machine::{Code, Instr, Splat, SplatValue};
use crate::cpu::lane::{
    Kern, Lane, Mem, binary, convert, flag, select, select_compare, truth, unary, wrap,
};
use crate::dtype::Number;

/// The code that leaves the outputs of a program in the output registers. `None` when an operation has no kernel.
pub(super) fn assign(isa: Isa, ssa: &Ssa) -> Option<Code> {
    let (n_inputs, n_outputs) = (ssa.inputs.len(), ssa.outputs.len());
    let mut cx = Assignment {
        isa,
        ssa,
        last_use: ssa.last_uses(),
        place: vec![None; ssa.nodes.len()],
        free: Vec::new(),
        n_slots: 0,
        first_output: n_inputs,
        first_slot: n_inputs + n_outputs,
        instrs: Vec::new(),
        splats: Vec::new(),
    };
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
                let kern = self.kern(node)?;
                let (list, n) = node.operands();
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

/// Whether the node is an instruction, whose slot can be used again.
fn operands_of_instruction(node: Node) -> bool {
    node.operands().1 > 0
}
