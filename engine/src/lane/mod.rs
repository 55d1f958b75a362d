//! Elementwise execution: scalar expressions as programs over vector lanes.
//!
//! An op alone is a program of one step; a fused group is a program of many. Every step rounds as the op does when it
//! runs alone, so a fused group gives the same bits.

mod cache;
#[cfg(test)]
mod cases;
pub(crate) mod cuda;
#[cfg(test)]
mod cuda_tests;
mod expand;
#[cfg(test)]
pub(crate) mod expected;
pub(crate) mod finish;
pub(crate) mod grad;
#[cfg(test)]
mod jit_tests;
mod lower;
pub(crate) mod on_gpu;
mod program;
mod registers;
pub(crate) mod ssa;
#[cfg(test)]
mod tests;
mod tile;

use std::borrow::Borrow;

use smallvec::SmallVec;

use crate::cpu::alloc::Bytes;
use crate::cpu::interrupt;
use crate::cpu::view::{OutView, View};
use crate::expr::Expr;
use crate::op::Body;
use crate::tensor::Data;
use crate::{Attr, Attrs, DType, Error, Layout, OpDef, Result, Shape, Tensor, rules};

pub use crate::cpu::lane::machine::Source;
pub use crate::dtype::Number;
pub(crate) use cache::shared;
pub use grad::{ElementwiseGrad, grad_op};
pub use program::{Program, Ref, Step, build};
pub use tile::run;
pub(crate) use tile::{producer, run_behind, run_many};

/// The scalar expression of an elementwise op; `None` for other ops.
pub fn expr_of(op: &'static OpDef, attrs: &Attrs) -> Option<Expr> {
    let input = Expr::input;
    match op.body {
        Body::Unary(body) => Some(body(input(0))),
        Body::Binary(body) => Some(body(input(0), input(1))),
        Body::Ternary(body) => Some(body(input(0), input(1), input(2))),
        Body::Scalar(body) => {
            let inputs: SmallVec<[Expr; 4]> = (0..op.n_tensors()).map(input).collect();
            Some(body(&inputs, attrs))
        }
        Body::GradOf(of) => grad::expr(of, attrs),
        Body::View(_) | Body::Kernels(_) | Body::Control(_) | Body::Composed(_) => None,
    }
}

/// The formula of an elementwise op in the names of its parameters: `x * sigmoid(x)`.
pub fn formula(op: &'static OpDef, attrs: &Attrs) -> Option<String> {
    let names = |tensors: bool| -> Vec<&str> {
        op.params.iter().filter(|it| it.kind.is_tensor() == tensors).map(|it| it.name).collect()
    };
    expr_of(op, attrs).map(|it| it.formula(&names(true), &names(false)))
}

/// An attribute as the number that `Expr::param` stands for.
pub fn number_of(attr: &Attr) -> Option<Number> {
    match attr {
        Attr::Bool(it) => Some(Number::Bool(*it)),
        Attr::Int(it) => Some(Number::Int(*it)),
        Attr::Float(it) => Some(Number::Float(*it)),
        Attr::Complex(real, imag) => Some(Number::Complex(*real, *imag)),
        Attr::None | Attr::Ints(_) | Attr::DType(_) | Attr::Str(_) | Attr::Region(_) => None,
    }
}

/// Computes an elementwise op at once.
pub fn eager<T: Borrow<Tensor>>(op: &'static OpDef, inputs: &[T], attrs: &Attrs) -> Result<Tensor> {
    let program = cache::program(op, inputs, attrs)?;
    if let Some(done) = alike(&program, inputs) {
        return done;
    }
    let shape = rules::broadcast_shape(op, inputs)?;
    let dtype = program.outputs()[0];
    shape.checked_numel(op.name)?;
    let mut bytes = Bytes::of(&shape, dtype)?;
    let mut sources: SmallVec<[Source<'_>; 4]> = SmallVec::new();
    for tensor in inputs {
        sources.push(source(tensor.borrow())?);
    }
    let params = params_of(&program, attrs);
    let Some(output) = OutView::new(&mut bytes, &shape, dtype) else {
        return Err(Error::TooLarge { op: op.name, shape });
    };
    run(&program, &sources, &mut [output], &params)?;
    Ok(Tensor::stored(bytes, Layout::contiguous(shape), dtype))
}

/// As [`eager`] for few elements, where all operands lie alike: most of the time of such an op would go into getting ready. `None`, with
/// nothing done, where that is not so.
#[inline(always)]
fn alike<T: Borrow<Tensor>>(program: &Program, inputs: &[T]) -> Option<Result<Tensor>> {
    let shape = inputs.first()?.borrow().shape();
    let mut operands: SmallVec<[(&Bytes, usize, DType); 4]> = SmallVec::new();
    for tensor in inputs {
        let tensor = tensor.borrow();
        let Data::Stored(buffer) = tensor.data() else { return None };
        let layout = tensor.layout();
        if layout.shape != *shape || !layout.is_contiguous() {
            return None;
        }
        operands.push((buffer.host().ok()?, layout.offset, tensor.dtype()));
    }
    let dtype = program.outputs()[0];
    let make = || Ok(Bytes::of(shape, dtype)?);
    let made = program.code().run_alike(&operands, make, (shape, dtype))?;
    let stored = |bytes| Tensor::stored(bytes, Layout::contiguous(shape.clone()), dtype);
    Some(made.map(stored))
}

/// As [`eager`], where the results take the place of the first operand, whose buffer nobody else has; false, with nothing changed, if
/// they do not fit there.
pub(crate) fn replace(
    op: &'static OpDef,
    target: &mut Tensor,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let inputs: SmallVec<[&Tensor; 4]> = std::iter::once(&*target).chain(others).collect();
    let (program, shape) =
        (cache::program(op, &inputs, attrs)?, rules::broadcast_shape(op, &inputs)?);
    drop(inputs);
    written(&program, &shape, target, [Source::Replaced(0)].into_iter(), others, attrs)
}

/// As [`eager`], where the results take the place of the elements of a tensor whose buffer nobody else has; false, with nothing changed,
/// if they do not fit there.
pub(crate) fn into(
    op: &'static OpDef,
    target: &mut Tensor,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    let (program, shape) =
        (cache::program(op, inputs, attrs)?, rules::broadcast_shape(op, inputs)?);
    written(&program, &shape, target, std::iter::empty(), inputs, attrs)
}

/// Runs a program on `first` and then these inputs; its results go where the elements of `target` are, if they fit there.
fn written<'a>(
    program: &Program,
    shape: &Shape,
    target: &mut Tensor,
    first: impl Iterator<Item = Source<'a>>,
    inputs: &'a [Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    if program.outputs()[0] != target.dtype() {
        return Ok(false);
    }
    let mut sources: SmallVec<[Source<'_>; 4]> = first.collect();
    for tensor in inputs {
        sources.push(source(tensor)?);
    }
    let Some(output) = place_of(target, shape) else { return Ok(false) };
    let params = params_of(program, attrs);
    let run = || run(program, &sources, &mut [output], &params);
    interrupt::unstopped(shape.numel(), run).ok_or(Error::Interrupted)??;
    Ok(true)
}

/// Where results of this shape take the place of a tensor's elements: if they lie row-major, and only this handle sees them.
pub(crate) fn place_of<'a>(tensor: &'a mut Tensor, shape: &'a Shape) -> Option<OutView<'a>> {
    let (dtype, start) = (tensor.dtype(), tensor.layout().offset);
    if !tensor.layout().is_contiguous() || tensor.shape() != shape {
        return None;
    }
    OutView::from_element(tensor.own_bytes()?, start, shape, dtype)
}

fn params_of(program: &Program, attrs: &Attrs) -> SmallVec<[Number; 4]> {
    let value = |it: &program::Param| attrs.get(it.attr).and_then(number_of).unwrap_or(it.value);
    match program.params() {
        [] => SmallVec::new(),
        params => params.iter().map(value).collect(),
    }
}

/// Inlined, so that what it gives is made where it stays: it would be moved in other words than it was written in, and such a read has to
/// wait for the writes.
#[inline(always)]
pub(crate) fn source(tensor: &Tensor) -> Result<Source<'_>> {
    let buffer = match tensor.data() {
        Data::Number(number) => return Ok(Source::Number(*number)),
        Data::Stored(buffer) => buffer,
        Data::Pending(pending) => pending.force()?,
        Data::Abstract(..) => return Err(Error::Abstract),
        Data::Meta => return Err(Error::NoData),
    };
    let view = View::new(buffer.host()?, tensor.layout(), tensor.dtype());
    view.map(Source::View).ok_or_else(Error::outside_storage)
}
