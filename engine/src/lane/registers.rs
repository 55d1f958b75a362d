//! From the graph of lane operations to instructions: what is needed, in order, each result in a slot that is free.

use super::lower::{Builder, Node};
use crate::DType;
use crate::cpu::features::Isa;
use crate::cpu::lane::machine::{Code, Instr, Splat, SplatValue};
use crate::cpu::lane::{
    Kern, Lane, Mem, binary, convert, select, select_compare, truth, unary, wrap,
};
use crate::dtype::Number;

/// The code that leaves `outputs` (nodes) in the output registers. `None` when an operation has no kernel.
pub(super) fn assign(
    isa: Isa,
    inputs: &[DType],
    graph: &Builder,
    outputs: &[u32],
    dtypes: &[DType],
) -> Option<Code> {
    let mut cx = Assignment {
        isa,
        nodes: &graph.nodes,
        last_use: last_uses(&graph.nodes, outputs),
        place: vec![None; graph.nodes.len()],
        free: Vec::new(),
        n_slots: 0,
        first_output: inputs.len(),
        first_slot: inputs.len() + outputs.len(),
        instrs: Vec::new(),
        splats: Vec::new(),
    };
    for node in 0..graph.nodes.len() {
        if cx.last_use[node].is_some() {
            cx.place_node(node, outputs)?;
        }
    }
    cx.copy_outputs(outputs, dtypes)?;
    let mems = |dtypes: &[DType]| dtypes.iter().map(|&it| Mem::of(it)).collect();
    Code::new(mems(inputs), mems(dtypes), cx.n_slots, cx.instrs, cx.splats)
}

struct Assignment<'a> {
    isa: Isa,
    nodes: &'a [Node],
    /// The last node that reads this one, or the node itself; `None` where nothing needs it.
    last_use: Vec<Option<usize>>,
    place: Vec<Option<u16>>,
    free: Vec<u16>,
    n_slots: usize,
    first_output: usize,
    first_slot: usize,
    instrs: Vec<Instr>,
    splats: Vec<Splat>,
}

fn operands(node: Node) -> ([u32; 4], usize) {
    match node {
        Node::Input(_) | Node::Const(..) | Node::Param(..) => ([0; 4], 0),
        Node::Convert { x, .. } | Node::Truth(_, x) | Node::Wrap(_, x) | Node::Unary(_, _, x) => {
            ([x, 0, 0, 0], 1)
        }
        Node::Binary(_, _, x, y) => ([x, y, 0, 0], 2),
        Node::Select(_, c, x, y) => ([c, x, y, 0], 3),
        Node::SelectCompare(_, _, all) => (all, 4),
    }
}

fn last_uses(nodes: &[Node], outputs: &[u32]) -> Vec<Option<usize>> {
    let mut res = vec![None; nodes.len()];
    for &node in outputs {
        res[node as usize] = Some(nodes.len());
    }
    for idx in (0..nodes.len()).rev() {
        if res[idx].is_none() {
            continue;
        }
        let (list, n) = operands(nodes[idx]);
        for &operand in &list[..n] {
            let operand = &mut res[operand as usize];
            *operand = Some(operand.unwrap_or(0).max(idx));
        }
    }
    res
}

impl Assignment<'_> {
    fn place_node(&mut self, idx: usize, outputs: &[u32]) -> Option<()> {
        match self.nodes[idx] {
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
                let (list, n) = operands(node);
                let mut src = [0; 4];
                for (at, &operand) in src.iter_mut().zip(&list[..n]) {
                    *at = self.place[operand as usize]?;
                }
                let output = outputs.iter().position(|&it| it as usize == idx);
                let dst = match output {
                    Some(output) => u16::try_from(self.first_output + output).ok()?,
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
        // A slot that was in use earlier in the tile would be overwritten there.
        let slot = u16::try_from(self.first_slot + self.n_slots).ok()?;
        self.n_slots += 1;
        self.place[idx] = Some(slot);
        self.splats.push(Splat { slot, lane, value });
        Some(())
    }

    fn slot(&mut self) -> Option<u16> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        self.n_slots += 1;
        u16::try_from(self.first_slot + self.n_slots - 1).ok()
    }

    /// Frees the slots of operands that were read for the last time.
    fn release(&mut self, idx: usize, operands: &[u32]) {
        for (at, &operand) in operands.iter().enumerate() {
            let node = operand as usize;
            let computed = operands_of_instruction(self.nodes[node]);
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
            Node::Wrap(dtype, _) => wrap(dtype, self.isa),
            Node::Unary(op, lane, _) => unary(op, lane, self.isa),
            Node::Binary(op, lane, ..) => binary(op, lane, self.isa),
            Node::Select(lane, ..) => Some(select(lane, self.isa)),
            Node::SelectCompare(op, lane, _) => select_compare(op, lane, self.isa),
            Node::Input(_) | Node::Const(..) | Node::Param(..) => None,
        }
    }

    /// Copies what did not come about in its output register: inputs, numbers, and second uses of one result.
    fn copy_outputs(&mut self, outputs: &[u32], dtypes: &[DType]) -> Option<()> {
        for (idx, (&node, &dtype)) in outputs.iter().zip(dtypes).enumerate() {
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
    operands(node).1 > 0
}
