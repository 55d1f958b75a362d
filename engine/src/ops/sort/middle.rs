//! `middle`: the median of all elements, of an even number the lower one. A NaN is the median, unless NaN are left out.

use smallvec::smallvec;

use super::ascending;
use crate::cpu::number::Num;
use crate::dtype::Number;
use crate::functional::{div, eq, mul, ne, select_where, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, by_index, in_order, of_kind};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::{Meta, Metas, OpDef, Result, Shape, Tensor, with_dtype};

pub static OP: OpDef = OpDef {
    name: "middle",
    doc: "The median of all elements, of an even number the lower one. A NaN is the median, unless `skip_nan`.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("skip_nan", ParamKind::Bool)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("middle.select", run).on_cuda(super::cuda::middle)]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "MedianBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "one number of shape []", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("middle(tensor([3.0, 1.0, 2.0]), False)", "tensor(2.)"),
        ("middle(tensor([3.0, nan, 2.0]), False)", "tensor(nan)"),
        ("middle(tensor([3.0, nan, 2.0]), True)", "tensor(2.)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    of_kind!(cx.input(0), x => {
        let all: Vec<_> = x.iter().copied().collect();
        let n_nan = all.iter().filter(|it| Scalar::is_no_number(**it)).count();
        let order = in_order(&all, false);
        let place = match all.len() - n_nan {
            n_numbers if n_nan > 0 && !cx.flag(0) => n_numbers,
            n_numbers => n_numbers.saturating_sub(1) / 2,
        };
        let middle = order.get(place).map_or(Scalar::from_number(Number::Float(f64::NAN)), |it| all[*it]);
        by_index(&[], |_| middle)
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0).numel() == 0 && !cx.dtype(0).is_float() {
        return Err(cx.bad_shapes("nothing has no median"));
    }
    Ok(smallvec![Meta::new(Shape::default(), cx.dtype(0))])
}

/// Of nothing it is NaN.
fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, skip_nan) = (cx.inputs[0], cx.flag(0));
    with_dtype!(input.dtype(), T => {
        let mut all = input.to_slice::<T>().into_owned();
        let n_nan = all.iter().filter(|it| it.is_nan()).count();
        let n_numbers = all.len() - n_nan;
        // In order, NaN stand behind all numbers.
        let place = if n_nan > 0 && !skip_nan { n_numbers } else { n_numbers.saturating_sub(1) / 2 };
        let found = match all.is_empty() {
            true => T::from_f64(f64::NAN),
            false => *all.select_nth_unstable_by(place, ascending).1,
        };
        cx.outputs[0].as_mut_slice::<T>()[0] = found;
    });
    Ok(())
}

/// All elements that are the median have an equal share.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, y, dy) = (cx.input(0), cx.output(0), cx.output_grad()?);
    let hit = to(&select_where(&ne(y, y)?, &ne(x, x)?, &eq(x, y)?)?, x.dtype())?;
    Ok(vec![Some(mul(&dy, &div(&hit, &sum(&hit, &[], false)?)?)?)])
}
