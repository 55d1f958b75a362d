//! What was derived from an op row, kept for its next use: one list per op, searched by dtypes and attributes. Programs of several ops are
//! kept by their steps, which are the same whatever the sizes.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Program, Ref, Step, build, expr_of};
use crate::op::InferCx;
use crate::{Attrs, DType, Error, OpDef, Result, Tensor, rules};

/// More variants of one op than this are forgotten together.
const LIMIT: usize = 64;

/// Values kept per op and variant.
pub(super) struct Kept<T> {
    ops: FxHashMap<usize, OpEntry<T>>,
}

struct OpEntry<T> {
    /// Attributes that programs read when they run: their values make no variant.
    params: u32,
    variants: Vec<Variant<T>>,
}

struct Variant<T> {
    kinds: u64,
    attrs: Attrs,
    value: T,
}

impl<T: Clone> Kept<T> {
    pub(super) fn new() -> Self {
        Self { ops: FxHashMap::default() }
    }

    /// The value for these kinds of operands and attributes.
    pub(super) fn get(&self, op: &'static OpDef, kinds: u64, attrs: &Attrs) -> Option<T> {
        let entry = self.ops.get(&address(op))?;
        let variant = entry
            .variants
            .iter()
            .find(|it| it.kinds == kinds && same_variant(&it.attrs, attrs, entry.params))?;
        Some(variant.value.clone())
    }

    pub(super) fn put(&mut self, op: &'static OpDef, kinds: u64, attrs: &Attrs, value: T) {
        let entry = self
            .ops
            .entry(address(op))
            .or_insert_with(|| OpEntry { params: 0, variants: Vec::new() });
        if let Some(expr) = expr_of(op, attrs) {
            expr.each_param(&mut |idx| entry.params |= 1 << idx.min(31));
        }
        if entry.variants.len() >= LIMIT {
            entry.variants.clear();
        }
        entry.variants.push(Variant { kinds, attrs: attrs.clone(), value });
    }
}

/// Attributes that are parameters must only be of one kind.
fn same_variant(a: &Attrs, b: &Attrs, params: u32) -> bool {
    if a.is_empty() && b.is_empty() {
        return true;
    }
    a.len() == b.len()
        && a.iter().zip(b).enumerate().all(|(idx, (a, b))| {
            let is_param = params >> idx.min(31) & 1 == 1;
            if is_param { std::mem::discriminant(a) == std::mem::discriminant(b) } else { a == b }
        })
}

fn address(op: &'static OpDef) -> usize {
    std::ptr::from_ref(op).addr()
}

/// Bits that tell dtype and strength of an operand: those of a strength, and of a dtype's number plus one.
const KIND_BITS: u32 = 2 + usize::BITS - DType::ALL.len().leading_zeros();

thread_local! {
    static PROGRAMS: RefCell<Kept<Rc<Program>>> = RefCell::new(Kept::new());
}

/// The program of one op on operands of these dtypes.
pub(super) fn program<T: Borrow<Tensor>>(
    op: &'static OpDef,
    inputs: &[T],
    attrs: &Attrs,
) -> Result<Rc<Program>> {
    // What the row's dtype rule looks at, so that it need not run again.
    let kind = |it: &Tensor| (it.dtype() as u64 + 1) << 2 | it.strength() as u64;
    let kinds = inputs.iter().fold(0, |acc, it| acc << KIND_BITS | kind(it.borrow()));
    match PROGRAMS.with_borrow(|it| it.get(op, kinds, attrs)) {
        Some(known) => Ok(known),
        None => built(op, inputs, attrs, kinds),
    }
}

#[cold]
fn built<T: Borrow<Tensor>>(
    op: &'static OpDef,
    inputs: &[T],
    attrs: &Attrs,
    kinds: u64,
) -> Result<Rc<Program>> {
    let inputs: SmallVec<[Tensor; 4]> = inputs.iter().map(|it| it.borrow().clone()).collect();
    let (compute, out) = rules::elementwise_dtypes(&InferCx { op, inputs: &inputs, attrs })?;
    let dtypes: SmallVec<[DType; 4]> = inputs.iter().map(Tensor::dtype).collect();
    if let Some(dtype) = [compute, out].iter().chain(&dtypes).copied().find(|it| it.is_complex()) {
        let allowed = "real numbers: of complex ones the parts are computed";
        return Err(Error::DType { op: op.name, dtype, allowed });
    }
    let refs = (0..inputs.len()).map(Ref::Input).collect();
    let step = Step { op, attrs: attrs.clone(), inputs: refs, compute, out };
    let program = Rc::new(build(&dtypes, &[step], &[Ref::Step(0)])?);
    PROGRAMS.with_borrow_mut(|it| it.put(op, kinds, attrs, program.clone()));
    Ok(program)
}

/// Programs of several ops that are known while a plan has them; more are forgotten together.
const MOST_GROUPS: usize = 1024;

/// What [`build`] makes a program of.
#[derive(PartialEq, Eq, Hash)]
struct Group {
    inputs: Vec<DType>,
    steps: Vec<Step>,
    outputs: Vec<Ref>,
}

thread_local! {
    static GROUPS: RefCell<FxHashMap<Group, Weak<Program>>> = RefCell::default();
}

/// As [`build`]; what was built of the same steps before, and is in use, is used again.
pub(crate) fn shared(
    inputs: Vec<DType>,
    steps: Vec<Step>,
    outputs: Vec<Ref>,
) -> Result<Arc<Program>> {
    let group = Group { inputs, steps, outputs };
    if let Some(known) = GROUPS.with_borrow(|it| it.get(&group).and_then(Weak::upgrade)) {
        return Ok(known);
    }
    let program = Arc::new(build(&group.inputs, &group.steps, &group.outputs)?);
    GROUPS.with_borrow_mut(|it| {
        if it.len() >= MOST_GROUPS {
            it.clear();
        }
        it.insert(group, Arc::downgrade(&program));
    });
    Ok(program)
}
