//! Shape and dtype rules that several ops share.

use std::borrow::Borrow;

use smallvec::smallvec;

use crate::dtype::Number;
use crate::dtype::result_type;
use crate::op::{Body, ComposedCx, DTypeRule, InferCx};
use crate::tensor::Metas;
use crate::{DType, Error, Meta, OpDef, Result, Shape, Tensor};

/// Elementwise: inputs broadcast together, dtype by the row's rule.
pub fn broadcast(cx: &InferCx<'_>) -> Result<Metas> {
    let (_, out) = elementwise_dtypes(cx)?;
    Ok(smallvec![Meta::new(broadcast_shape(cx.op, cx.inputs)?, out)])
}

/// Output 0 has the shape and dtype of input 0.
pub fn same_as_input(cx: &InferCx<'_>) -> Result<Metas> {
    Ok(smallvec![cx.inputs[0].meta()])
}

/// What a composed op gives: its body runs on tensors without elements.
pub fn composed(cx: &InferCx<'_>) -> Result<Metas> {
    let Body::Composed(body) = cx.op.body else { return same_as_input(cx) };
    check_dtypes(cx.op.name, &cx.op.dtypes, cx.inputs)?;
    let inputs = |widened: bool| -> Vec<Option<Tensor>> {
        let dtype = |it: DType| if widened && it.is_half() { DType::F32 } else { it };
        let one =
            |it: &Tensor| Tensor::abstract_of(Meta::new(it.shape().clone(), dtype(it.dtype())));
        cx.inputs.iter().map(|it| Some(one(it))).collect()
    };
    let own = inputs(false);
    let given = ComposedCx { op: cx.op, inputs: &own, attrs: cx.attrs };
    if !given.widens() {
        return Ok(body(&given)?.iter().map(Tensor::meta).collect());
    }
    let outputs = body(&ComposedCx { inputs: &inputs(true), ..given })?;
    let rounded =
        |(at, it): (usize, &Tensor)| Meta::new(it.shape().clone(), given.rounded(at, it.dtype()));
    Ok(outputs.iter().enumerate().map(rounded).collect())
}

/// The shape that all inputs broadcast to.
pub fn broadcast_shape<T: Borrow<Tensor>>(op: &'static OpDef, inputs: &[T]) -> Result<Shape> {
    let mut shapes = inputs.iter().map(|it| it.borrow().shape());
    let Some(first) = shapes.next() else { return Ok(Shape::default()) };
    let changes = |it: &&Shape| **it != *first && it.rank() > 0;
    let Some(other) = shapes.find(changes) else { return Ok(first.clone()) };
    let mut res = first.clone();
    for shape in std::iter::once(other).chain(shapes) {
        res = res.broadcast(shape).ok_or_else(|| Error::Shapes {
            op: op.name,
            shapes: inputs.iter().map(|it| it.borrow().shape().clone()).collect(),
            rule: "sizes must be equal or 1, compared from the last dimension".into(),
        })?;
    }
    Ok(res)
}

/// The dtype of what an elementwise op gives, if it is one of whole numbers: then its attributes and numbers must fit into it.
pub fn whole_dtype(cx: &InferCx<'_>) -> Result<Option<DType>> {
    if cx.inputs.iter().any(|it| it.dtype().is_float() || it.dtype().is_complex()) {
        return Ok(None);
    }
    elementwise_dtypes(cx).map(|it| Some(it.1))
}

/// (dtype to compute in, dtype of the result) of an elementwise op.
pub fn elementwise_dtypes(cx: &InferCx<'_>) -> Result<(DType, DType)> {
    let promoted = || result_type(cx.inputs.iter().map(|it| (it.dtype(), it.strength())));
    let refuse = |dtype, allowed| Err(Error::DType { op: cx.op.name, dtype, allowed });
    let same = |dtype| Ok((dtype, dtype));
    let admit = |dtype: DType, fits: bool, allowed| {
        if fits { same(dtype) } else { refuse(dtype, allowed) }
    };
    match *cx.op.dtypes.plain() {
        DTypeRule::Any
        | DTypeRule::OfParts(_)
        | DTypeRule::FloatFirst
        | DTypeRule::Promote
        | DTypeRule::Same => same(promoted()),
        DTypeRule::PromoteNumbers | DTypeRule::SameNumbers => {
            let (dtype, allowed) =
                (promoted(), "a number; convert with .to(int64) or use logical ops");
            admit(dtype, !dtype.is_bool(), allowed)
        }
        DTypeRule::PromoteToFloat => {
            let dtype = promoted();
            same(if dtype.is_differentiable() { dtype } else { DType::F32 })
        }
        DTypeRule::FloatsToSame | DTypeRule::SameFloats | DTypeRule::FloatsLikeFirst => {
            let dtype = promoted();
            admit(dtype, dtype.is_float(), "floats")
        }
        DTypeRule::IntsToSame => {
            let dtype = promoted();
            admit(dtype, !dtype.is_differentiable(), "integers or bool")
        }
        DTypeRule::PromoteToBool => Ok((promoted(), DType::Bool)),
        DTypeRule::LogicToBool => Ok((DType::Bool, DType::Bool)),
        DTypeRule::Custom(rule) => rule(cx.inputs, cx.attrs),
    }
}

/// Checks that a number can become an element of a dtype.
pub fn check_fits(
    op: &'static str,
    name: &'static str,
    number: Number,
    dtype: DType,
) -> Result<()> {
    if number.fits(dtype) { Ok(()) } else { Err(Error::Range { op, name, number, dtype }) }
}

/// Checks that numbers among the operands of an elementwise op can become elements of its result.
pub fn check_numbers(cx: &InferCx<'_>) -> Result<()> {
    let numbers =
        || cx.inputs.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_number()?)));
    if numbers().next().is_none() {
        return Ok(());
    }
    let (_, dtype) = elementwise_dtypes(cx)?;
    numbers().try_for_each(|(at, it)| check_fits(cx.op.name, cx.op.params[at].name, it, dtype))
}

/// Checks the row's dtype rule for ops that are not elementwise.
pub fn check_dtypes(op: &'static str, rule: &DTypeRule, inputs: &[Tensor]) -> Result<()> {
    let (rule, first) = (rule.plain(), inputs.first().map(Tensor::dtype));
    for (idx, input) in inputs.iter().enumerate() {
        let dtype = input.dtype();
        let refuse_unless = |fits: bool, allowed| match fits {
            true => Ok(()),
            false => Err(Error::DType { op, dtype, allowed }),
        };
        let same = || match first == Some(dtype) {
            true => Ok(()),
            false => Err(Error::DTypes { op, dtypes: inputs.iter().map(Tensor::dtype).collect() }),
        };
        match rule {
            DTypeRule::FloatFirst => refuse_unless(idx > 0 || dtype.is_float(), "floats")?,
            DTypeRule::FloatsToSame => refuse_unless(dtype.is_float(), "floats")?,
            DTypeRule::SameFloats => {
                refuse_unless(dtype.is_float(), "floats")?;
                same()?;
            }
            DTypeRule::FloatsLikeFirst => {
                refuse_unless(dtype.is_float(), "floats")?;
                let is_wider = dtype == DType::F32 && first.is_some_and(DType::is_half);
                let fits = || (first == Some(dtype) || is_wider) && dtype == inputs[1].dtype();
                refuse_unless(idx == 0 || fits(), LIKE_FIRST)?;
            }
            DTypeRule::PromoteNumbers => refuse_unless(!dtype.is_bool(), "a number")?,
            DTypeRule::SameNumbers => {
                refuse_unless(!dtype.is_bool(), "a number")?;
                same()?;
            }
            DTypeRule::Same => same()?,
            DTypeRule::IntsToSame => refuse_unless(!dtype.is_differentiable(), "integers or bool")?,
            DTypeRule::Any
            | DTypeRule::OfParts(_)
            | DTypeRule::Promote
            | DTypeRule::PromoteToFloat
            | DTypeRule::PromoteToBool
            | DTypeRule::LogicToBool
            | DTypeRule::Custom(_) => {}
        }
    }
    Ok(())
}

/// What [`DTypeRule::FloatsLikeFirst`] admits.
const LIKE_FIRST: &str = "parameters of the input's dtype, or all float32 beside a half";
