//! A few ops with plain kernels, so that tracing and graphs are tested apart from the op list.

use std::cell::Cell;

use crate::meaning::{Array, Meaning, MeaningCx, broadcast, by_index};
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::{
    Attr, Attrs, DType, Error, Layout, Meta, OpDef, Result, Shape, Tensor, apply_one, functional,
    ops, rules,
};

const BASE: OpDef = OpDef {
    name: "",
    doc: "",
    meaning: Meaning::of(|cx| cx.input(0).clone()),
    params: &[Param::tensor("x"), Param::tensor("y")],
    dtypes: DTypeRule::Any,
    infer: rules::broadcast,
    body: Body::Kernels(&[]),
    grad: Grad::Stops("test op"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[],
};

static ADD: OpDef = OpDef {
    name: "t_add",
    meaning: Meaning::of(|cx| both(cx, |x, y| x + y)),
    body: Body::Kernels(&[kernel(add)]),
    ..BASE
};
static MUL: OpDef = OpDef {
    name: "t_mul",
    meaning: Meaning::of(|cx| both(cx, |x, y| x * y)),
    body: Body::Kernels(&[kernel(mul)]),
    ..BASE
};
static MATMUL: OpDef = OpDef {
    name: "t_matmul",
    meaning: ops::matrix::matmul::OP.meaning,
    infer: infer_matmul,
    body: Body::Kernels(&[kernel(matmul)]),
    ..BASE
};
static NEG: OpDef = OpDef {
    name: "t_neg",
    meaning: Meaning::of(|cx| cx.input(0).floats().mapv(|x| -x).into()),
    params: &[Param::tensor("x")],
    infer: rules::same_as_input,
    body: Body::Kernels(&[kernel(neg)]),
    ..BASE
};
static SUM: OpDef = OpDef {
    name: "t_sum",
    meaning: ops::reduce::sum::OP.meaning,
    params: &[Param::tensor("x")],
    infer: |cx| Ok(smallvec::smallvec![Meta::new(Shape::default(), cx.dtype(0))]),
    body: Body::Kernels(&[kernel(sum)]),
    ..BASE
};
static TRANSPOSE: OpDef = OpDef {
    name: "t_t",
    meaning: Meaning::of(|cx| {
        let shape: Vec<usize> = cx.shape(0).iter().rev().copied().collect();
        cx.input(0).moved(&shape, |at| at.iter().rev().copied().collect())
    }),
    params: &[Param::tensor("x")],
    infer: |cx| {
        let shape = cx.shape(0).iter().rev().copied().collect();
        Ok(smallvec::smallvec![Meta::new(shape, cx.dtype(0))])
    },
    body: Body::View(|layout, _, _| {
        let dims: Vec<usize> = (0..layout.shape.rank()).rev().collect();
        Some(layout.permute(&dims))
    }),
    ..BASE
};
static RESHAPE: OpDef = OpDef {
    name: "t_reshape",
    meaning: Meaning::of(|cx| cx.input(0).reshaped(&cx.sizes(0))),
    params: &[Param::tensor("x"), Param::required("shape", ParamKind::Ints)],
    infer: |cx| {
        let shape = cx.ints(0).unwrap_or_default().iter().map(|&it| it as usize).collect();
        Ok(smallvec::smallvec![Meta::new(shape, cx.dtype(0))])
    },
    body: Body::View(|layout: &Layout, _: &Attrs, shape: &Shape| layout.reshape(shape)),
    ..BASE
};
static SCALE: OpDef = OpDef {
    name: "t_scale",
    meaning: Meaning::of(|cx| cx.input(0).floats().mapv(|x| x * cx.float(0)).into()),
    params: &[
        Param::tensor("x"),
        Param::with("by", ParamKind::Float, Default::Float(2.0)),
        Param::with("mode", ParamKind::Str, Default::Str("plain")),
    ],
    infer: rules::same_as_input,
    body: Body::Kernels(&[kernel(|cx| {
        let by = cx.float(0) as f32;
        unary(cx, |it| it * by)
    })]),
    ..BASE
};
static DRAW: OpDef = OpDef {
    name: "t_draw",
    meaning: Meaning::drawn(|cx, drawn| drawn.shape() == cx.shape(0)),
    params: &[Param::tensor("x")],
    infer: rules::same_as_input,
    step: None,
    pure: false,
    body: Body::Kernels(&[kernel(draw)]),
    ..BASE
};

static FAIL: OpDef = OpDef {
    name: "t_fail",
    params: &[Param::tensor("x")],
    infer: rules::same_as_input,
    body: Body::Kernels(&[kernel(fail)]),
    ..BASE
};

/// The ops of this file.
pub(crate) static ALL: &[&OpDef] =
    &[&ADD, &MUL, &MATMUL, &NEG, &SUM, &TRANSPOSE, &RESHAPE, &SCALE, &DRAW, &FAIL];

thread_local! {
    static DRAWN: Cell<u32> = const { Cell::new(0) };
    static FULL: Cell<bool> = const { Cell::new(true) };
}

/// Restarts the sequence of `t_draw`.
pub(crate) fn seed(value: u32) {
    DRAWN.set(value);
}

/// Whether there is no memory for what `t_fail` gives for a number above 4.
pub(crate) fn set_full(is_full: bool) {
    FULL.set(is_full);
}

pub(crate) fn find(name: &str) -> &'static OpDef {
    ALL.iter().copied().find(|it| it.name == name).unwrap()
}

pub(crate) fn add_of(x: &Tensor, y: &Tensor) -> Tensor {
    call(&ADD, &[x, y])
}

pub(crate) fn mul_of(x: &Tensor, y: &Tensor) -> Tensor {
    call(&MUL, &[x, y])
}

pub(crate) fn neg_of(x: &Tensor) -> Tensor {
    call(&NEG, &[x])
}

pub(crate) fn sum_of(x: &Tensor) -> Tensor {
    call(&SUM, &[x])
}

pub(crate) fn t(x: &Tensor) -> Tensor {
    call(&TRANSPOSE, &[x])
}

pub(crate) fn draw_of(x: &Tensor) -> Tensor {
    call(&DRAW, &[x])
}

pub(crate) fn reshape(x: &Tensor, shape: &[i64]) -> Tensor {
    apply_one(&RESHAPE, std::slice::from_ref(x), &[Attr::ints(shape)].into_iter().collect())
        .unwrap()
}

/// A tensor of `f32`s.
pub(crate) fn tensor(values: &[f32]) -> Tensor {
    Tensor::from_vec(values, Shape::from([values.len()])).unwrap()
}

/// Its elements.
pub(crate) fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

fn call(op: &'static OpDef, inputs: &[&Tensor]) -> Tensor {
    let inputs: Vec<Tensor> = inputs.iter().map(|it| (*it).clone()).collect();
    apply_one(op, &inputs, &op.default_attrs()).unwrap()
}

const fn kernel(run: fn(&mut KernelCx<'_, '_>) -> Result<()>) -> Kernel {
    Kernel::new("naive", run)
}

fn unary(cx: &mut KernelCx<'_, '_>, f: impl Fn(f32) -> f32) -> Result<()> {
    let input = cx.inputs[0].to_slice::<f32>();
    for (out, it) in cx.outputs[0].as_mut_slice::<f32>().iter_mut().zip(input.iter()) {
        *out = f(*it);
    }
    Ok(())
}

fn both(cx: &MeaningCx<'_>, f: fn(f64, f64) -> f64) -> Array {
    let shape = broadcast([cx.shape(0), cx.shape(1)]);
    let [x, y] = [0, 1].map(|it| cx.input(it).expanded(&shape).floats());
    by_index(&shape, |at| f(x[at], y[at])).into()
}

fn operand(cx: &KernelCx<'_, '_>, idx: usize) -> Vec<f32> {
    let view = cx.inputs[idx];
    crate::cpu::lane::cast::<f32>(&view).into_owned()
}

fn binary(cx: &mut KernelCx<'_, '_>, f: fn(f32, f32) -> f32) -> Result<()> {
    let (x, y) = (operand(cx, 0), operand(cx, 1));
    for (idx, out) in cx.outputs[0].as_mut_slice::<f32>().iter_mut().enumerate() {
        *out = f(x[idx % x.len()], y[idx % y.len()]);
    }
    Ok(())
}

fn add(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    binary(cx, |x, y| x + y)
}

fn mul(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    binary(cx, |x, y| x * y)
}

fn neg(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    unary(cx, |it| -it)
}

fn sum(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let total = operand(cx, 0).iter().sum();
    cx.outputs[0].as_mut_slice::<f32>()[0] = total;
    Ok(())
}

fn draw(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    for out in cx.outputs[0].as_mut_slice::<f32>() {
        DRAWN.set(DRAWN.get() + 1);
        *out = DRAWN.get() as f32;
    }
    Ok(())
}

/// Gives its input; fails as it runs where that begins above 4, which nobody sees before, as with an op that finds no memory.
fn fail(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    if FULL.get() && operand(cx, 0)[0] > 4.0 {
        return Err(Error::OutOfMemory { bytes: 5, live: 0 });
    }
    unary(cx, |it| it)
}

fn infer_matmul(cx: &InferCx<'_>) -> Result<crate::Metas> {
    let (x, y) = (cx.shape(0), cx.shape(1));
    if x.rank() != 2 || y.rank() != 2 || x[1] != y[0] {
        return Err(cx.bad_shapes("inner sizes must agree"));
    }
    Ok(smallvec::smallvec![Meta::new(Shape::from([x[0], y[1]]), cx.dtype(0))])
}

fn matmul(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (x, y) = (operand(cx, 0), operand(cx, 1));
    let (inner, cols) = (cx.inputs[0].shape()[1], cx.inputs[1].shape()[1]);
    for (idx, out) in cx.outputs[0].as_mut_slice::<f32>().iter_mut().enumerate() {
        let (row, col) = (idx / cols, idx % cols);
        *out = (0..inner).map(|at| x[row * inner + at] * y[at * cols + col]).sum();
    }
    Ok(())
}

/// Elements that repeat late, of either sign.
pub(crate) fn sample(shape: &[usize], dtype: DType, seed: usize) -> Tensor {
    let scale = if dtype.is_float() { 1.0 } else { 100.0 };
    let value = |at: usize| ((at * 2_654_435_761 + seed * 97) % 1000) as f64 / 331.0 - 1.5;
    let values: Vec<f64> = (0..shape.iter().product()).map(|at| value(at) * scale).collect();
    functional::to(&Tensor::from_vec(&values, Shape::new(shape)).unwrap(), dtype).unwrap()
}

/// The bits of all elements.
pub(crate) fn bits(it: &Tensor) -> Vec<u64> {
    it.to_f64_vec().unwrap().iter().map(|it| it.to_bits()).collect()
}
