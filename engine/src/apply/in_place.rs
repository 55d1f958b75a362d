//! Elementwise ops in place: `x += 1` takes no second buffer where nobody else can see the old elements.

use smallvec::SmallVec;

use super::is_watched;
use crate::op::InferCx;
use crate::{Attrs, OpDef, Result, Tensor, admit, lane};

/// Replaces the elements of `target`, the first operand of an elementwise op, by its results.
///
/// False, with nothing changed, where [`super::apply`] has to be asked instead: if another handle sees the elements, the tape or a
/// trace must know of it, the results are of another dtype or shape, or the op may fail on an element after others are written. An
/// interrupt waits for the end.
pub fn apply_in_place(
    op: &'static OpDef,
    target: &mut Tensor,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<bool> {
    if let Some(refuses) = op.surface.refuses {
        let inputs = std::iter::once(&*target).chain(others).cloned();
        let inputs: SmallVec<[Tensor; 4]> = inputs.collect();
        refuses(&InferCx { op, inputs: &inputs, attrs })?;
    }
    let fits = op.body.is_elementwise() && op.n_tensors() == 1 + others.len();
    let watched = is_watched(std::iter::once(&*target).chain(others));
    if !fits || watched || !target.is_owned() || admit::may_fail(op, target.dtype(), attrs) {
        return Ok(false);
    }
    lane::replace(op, target, others, attrs)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ops::{binary, unary};
    use crate::storage::Element;
    use crate::{Attr, DType, Shape, apply_one, functional, tape};

    fn values() -> Tensor {
        tensor(&(0..600).map(|it| it as f32 - 300.5).collect::<Vec<_>>(), &[2, 300])
    }

    fn tensor<T: Element>(values: &[T], shape: &[usize]) -> Tensor {
        Tensor::from_vec(values, Shape::new(shape)).unwrap()
    }

    fn address(x: &Tensor) -> usize {
        Arc::as_ptr(&x.storage().unwrap()).addr()
    }

    /// What every op in place gives is what it gives otherwise, also with operands that are spread or strided.
    #[test]
    fn gives_what_the_op_gives() {
        let tall = functional::reshape(&values(), &Shape::from([300, 2])).unwrap();
        let others = [
            Tensor::number(3.0),
            values(),
            tensor(&[2.0_f32, -4.0], &[2, 1]),
            functional::transpose(&tall, 0, 1).unwrap(),
        ];
        for other in others {
            for op in [&binary::add::OP, &binary::div::OP, &binary::pow::OP, &binary::atan2::OP] {
                let expected = apply_one(op, &[values(), other.clone()], &Attrs::new()).unwrap();
                let mut own = values();
                let before = address(&own);
                let done =
                    apply_in_place(op, &mut own, std::slice::from_ref(&other), &Attrs::new())
                        .unwrap();
                assert!(done && address(&own) == before, "{}", op.name);
                let bits = |it: &Tensor| -> Vec<u32> {
                    it.to_vec::<f32>().unwrap().iter().map(|it| it.to_bits()).collect()
                };
                assert_eq!(bits(&own), bits(&expected), "{}", op.name);
            }
        }
    }

    #[test]
    fn leaves_alone_what_others_see() {
        let (plus, none) = (&binary::add::OP, Attrs::new());
        let one = || vec![Tensor::number(1.0)];
        let mut x = values();
        let handle = x.clone();
        assert!(!apply_in_place(plus, &mut x, &one(), &none).unwrap());
        drop(handle);
        let view = functional::transpose(&x, 0, 1).unwrap();
        assert!(!apply_in_place(plus, &mut x, &one(), &none).unwrap());
        drop(view);
        let before = super::super::set_shapes_only(true);
        assert!(!apply_in_place(plus, &mut x, &one(), &none).unwrap());
        super::super::set_shapes_only(before);
        let mut leaf = values().leaf();
        assert!(!apply_in_place(plus, &mut leaf, &one(), &none).unwrap());
        let before = tape::set_enabled(false);
        assert!(apply_in_place(plus, &mut leaf, &one(), &none).unwrap() && leaf.requires_grad());
        tape::set_enabled(before);
        assert!(apply_in_place(plus, &mut x, &one(), &none).unwrap());
        assert_eq!(x.to_vec::<f32>().unwrap()[0], -299.5);
    }

    #[test]
    fn leaves_alone_what_would_be_of_another_dtype_or_shape_or_may_fail() {
        let none = Attrs::new();
        let mut x = tensor(&[1_i64, 2], &[2]);
        let half = Tensor::number(0.5);
        assert!(!apply_in_place(&binary::add::OP, &mut x, &[half], &none).unwrap());
        assert!(!apply_in_place(&unary::exp::OP, &mut x, &[], &none).unwrap());
        let zero = tensor(&[1_i64, 0], &[2]);
        assert!(
            !apply_in_place(&binary::floor_divide::OP, &mut x, std::slice::from_ref(&zero), &none)
                .unwrap()
        );
        assert!(apply_in_place(&binary::mul::OP, &mut x, &[zero], &none).unwrap());
        assert_eq!(x.to_vec::<i64>().unwrap(), [1, 0]);
        let wide = tensor(&[1_i64, 2, 3, 4], &[2, 2]);
        assert!(!apply_in_place(&binary::add::OP, &mut x, &[wide], &none).unwrap());
        let short = tensor(&[1_i64, 2, 3], &[3]);
        assert!(apply_in_place(&binary::add::OP, &mut x, &[short], &none).is_err());
        assert_eq!((x.dtype(), x.to_vec::<i64>().unwrap()), (DType::I64, vec![1, 0]));
        let mut turned = functional::transpose(&values(), 0, 1).unwrap();
        assert!(!apply_in_place(&unary::exp::OP, &mut turned, &[], &none).unwrap());
    }

    /// One element takes the short way through the machine.
    #[test]
    fn one_element_is_replaced_too() {
        let mut x = tensor(&[3.0_f64], &[1, 1]);
        let limits: Attrs = [Attr::Float(-1.0), Attr::Float(2.5)].into_iter().collect();
        assert!(apply_in_place(&unary::clamp::OP, &mut x, &[], &limits).unwrap());
        assert!(
            apply_in_place(&binary::mul::OP, &mut x, &[Tensor::number(2.0)], &Attrs::new())
                .unwrap()
        );
        assert_eq!(x.to_vec::<f64>().unwrap(), [5.0]);
    }
}
