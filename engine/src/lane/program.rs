//! Lane programs: what a group of elementwise ops computes for one element, ready for the tile machine.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::expand::expand;
use super::lower::Builder;
use super::ssa::{Node, Ssa};
use super::{expr_of, number_of, registers};
use crate::cpu::features::{self, Isa, isa};
use crate::cpu::jit::{self, Writable};
use crate::cpu::lane::machine::Code;
use crate::dtype::Number;
use crate::op::InferCx;
use crate::sync::{Mutex, OnceLock};
use crate::{Attrs, DType, Error, OpDef, Result, Tensor, rules};

/// Where a step's operand or a program's output comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ref {
    /// Input `n` of the program.
    Input(usize),
    /// The result of an earlier step.
    Step(usize),
}

/// One op application of a program.
#[derive(Clone, Debug)]
pub struct Step {
    pub op: &'static OpDef,
    pub attrs: Attrs,
    pub inputs: SmallVec<[Ref; 3]>,
    /// The dtype that the op computes in.
    pub compute: DType,
    /// The dtype of its result.
    pub out: DType,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.op, other.op)
            && (self.compute, self.out) == (other.compute, other.out)
            && self.inputs == other.inputs
            && self.attrs == other.attrs
    }
}

impl Eq for Step {}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.op).hash(state);
        (&self.attrs, &self.inputs, self.compute, self.out).hash(state);
    }
}

impl Step {
    /// A step on operands of these kinds (abstract tensors will do); the row's rule gives the dtypes.
    pub fn new(
        op: &'static OpDef,
        attrs: &Attrs,
        inputs: &[Ref],
        tensors: &[Tensor],
    ) -> Result<Self> {
        let cx = InferCx { op, inputs: tensors, attrs };
        let (compute, out) = rules::elementwise_dtypes(&cx)?;
        let inputs = SmallVec::from_slice(inputs);
        Ok(Self { op, attrs: attrs.clone(), inputs, compute, out })
    }
}

/// A number that a program takes when it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The step and its attribute.
    pub step: usize,
    pub attr: usize,
    /// The value when the program was built.
    pub value: Number,
}

/// A program: what it computes, and how the tile machine does.
#[derive(Debug)]
pub struct Program {
    /// That of the programs of this process that compute the same.
    id: u64,
    ssa: Arc<Ssa>,
    code: Code,
    outputs: Vec<DType>,
    params: Vec<Param>,
}

impl Program {
    /// Dtypes of the inputs.
    pub fn inputs(&self) -> &[DType] {
        &self.ssa.inputs
    }

    /// Dtypes of the outputs.
    pub fn outputs(&self) -> &[DType] {
        &self.outputs
    }

    /// The numbers to pass to `run`, in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The numbers as they were when the program was built.
    pub fn param_values(&self) -> Vec<Number> {
        self.params.iter().map(|it| it.value).collect()
    }

    /// Number of passes over a tile.
    pub fn n_instructions(&self) -> usize {
        self.code.len()
    }

    /// Whether it gives its input as it is.
    pub(crate) fn is_copy(&self) -> bool {
        let [(node, dtype)] = self.ssa.outputs[..] else { return false };
        self.ssa.inputs[..] == [dtype] && matches!(self.ssa.nodes[node as usize], Node::Input(0))
    }

    /// A number that only programs of this process have that compute the same.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// What it computes.
    pub(crate) fn ssa(&self) -> &Ssa {
        &self.ssa
    }

    /// Whether it may refuse an element as it runs.
    pub(crate) fn may_refuse(&self) -> bool {
        self.code.may_refuse()
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// Has code of its own, with such vectors, written at the first run.
    #[cfg(test)]
    pub(super) fn write_at_once(&mut self, vectors: jit::Vectors) {
        self.code.write_at_once(source_of(&self.ssa), vectors);
    }

    /// Has no code of its own written.
    #[cfg(test)]
    pub(super) fn stay_with_instructions(&mut self) {
        self.code.stay_with_instructions();
    }
}

/// A program of `steps`, each of which may use the program's inputs and earlier steps. Equal computations are done
/// once, and what no output needs is left out. Fails when a step is not an elementwise op or has no meaning in its dtype.
pub fn build(inputs: &[DType], steps: &[Step], outputs: &[Ref]) -> Result<Program> {
    build_for(isa(), inputs, steps, outputs)
}

/// As [`build`], for an instruction set that this machine has.
pub(crate) fn build_for(
    isa: Isa,
    inputs: &[DType],
    steps: &[Step],
    outputs: &[Ref],
) -> Result<Program> {
    let mut builder = Builder::new(inputs);
    let mut params = Vec::new();
    for (idx, step) in steps.iter().enumerate() {
        add_step(&mut builder, &mut params, idx, step)?;
    }
    let problem = || Error::Trace { problem: "a lane program refers to a missing value".into() };
    let values: Option<Vec<_>> = outputs.iter().map(|&it| builder.value(it)).collect();
    let values = values.ok_or_else(problem)?;
    let dtypes: Vec<DType> = values.iter().map(|it| it.dtype).collect();
    let ssa = builder.finished(&values);
    let unsupported = || {
        let op = steps.last().map_or("lanes", |it| it.op.name);
        let dtype = steps.last().map_or(DType::F32, |it| it.compute);
        Error::DType { op, dtype, allowed: "a dtype in which the formula has a meaning" }
    };
    let code = registers::assign(isa, &ssa).ok_or_else(unsupported)?;
    let ssa = Arc::new(ssa);
    let (id, writable) = known(&ssa, isa, n_passes(&ssa, &code));
    Ok(Program { id, ssa, code: code.with_written(writable), outputs: dtypes, params })
}

/// What gives the expansion that code is written from: none where something may be refused, which is looked for between instructions.
fn source_of(ssa: &Arc<Ssa>) -> jit::Source {
    let ssa = ssa.clone();
    Box::new(move || expand(&ssa).filter(|it| it.faults.is_empty()))
}

/// Instructions that pass over all elements: those on numbers of the language, which have 64 bits, run once.
fn n_passes(ssa: &Ssa, code: &Code) -> usize {
    let is_of_number = |it: &&Node| match it {
        Node::Convert { from, to, x } => {
            let of_input = matches!(ssa.nodes[*x as usize], Node::Input(_));
            of_input && from.size() == 8 && to.size() < 8
        }
        _ => false,
    };
    code.len() - ssa.nodes.iter().filter(is_of_number).count().min(code.len())
}

/// Programs that are remembered; more are forgotten together.
const KNOWN: usize = 4096;

/// What is known of a program.
struct Known {
    id: u64,
    /// The code that its copies share.
    writable: Weak<Writable>,
}

/// The number of programs that compute this, and the code of their own that may be written for them, in place of so many instructions.
fn known(ssa: &Arc<Ssa>, isa: Isa, n_instructions: usize) -> (u64, Option<Arc<Writable>>) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static PROGRAMS: OnceLock<Mutex<FxHashMap<Arc<Ssa>, Known>>> = OnceLock::new();
    let new = || Writable::new(source_of(ssa), n_instructions, isa).map(Arc::new);
    let mut programs =
        PROGRAMS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if programs.len() >= KNOWN && !programs.contains_key(ssa) {
        programs.clear();
    }
    let known = programs.entry(ssa.clone()).or_insert_with(|| Known {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        writable: Weak::new(),
    });
    // A set of instructions that is not the machine's best is asked for by tests.
    if isa != features::isa() {
        return (known.id, new());
    }
    let writable = known.writable.upgrade().or_else(|| {
        let new = new()?;
        known.writable = Arc::downgrade(&new);
        Some(new)
    });
    (known.id, writable)
}

fn add_step(builder: &mut Builder, params: &mut Vec<Param>, idx: usize, step: &Step) -> Result<()> {
    let not_elementwise = Error::Trace { problem: format!("{} is not elementwise", step.op.name) };
    let expr = expr_of(step.op, &step.attrs).ok_or(not_elementwise)?;
    let mut slots: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    expr.each_param(&mut |attr| {
        if slots.iter().all(|it| it.0 != attr) {
            slots.push((attr, params.len()));
            let value = step.attrs.get(attr).and_then(number_of).unwrap_or(Number::Float(f64::NAN));
            params.push(Param { step: idx, attr, value });
        }
    });
    builder.step(&expr, step, &slots).ok_or(Error::Arity {
        op: step.op.name,
        expected: step.op.n_tensors(),
        got: step.inputs.len(),
    })
}
