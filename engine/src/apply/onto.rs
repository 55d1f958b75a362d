//! Temporary elision: where an operand of an elementwise op is needed no more, the results take the place of its elements, as NumPy has it.
//! `a * x + b` of many elements then writes one buffer, not two, and the sum reads what is still in the caches.

use super::{apply_in_place, default_dtype, infer};
use crate::{Attrs, OpDef, Result, Tensor};

/// Bytes of an operand from which on its place is taken; for less, a new buffer costs nothing worth saving.
pub const LEAST: usize = 256 << 10;

/// As [`super::apply_two`], with the results where the elements of `own` are, the first operand.
///
/// They are a new value: without a history, and made here. False, with nothing changed, where the other has to be asked instead: if the op
/// is not elementwise, the operand is small, has a history, does not lie row-major or is seen by another handle, the results are of another
/// dtype or shape, or the tape or a trace must know of them. An error leaves nothing that may be read.
pub fn apply_onto(
    op: &'static OpDef,
    own: &mut Tensor,
    other: &Tensor,
    attrs: &Attrs,
) -> Result<bool> {
    let is_large = own.meta().bytes() >= LEAST && own.layout().is_contiguous();
    if !is_large || own.edge().is_some() || !op.body.is_elementwise() || default_dtype::is_set() {
        return Ok(false);
    }
    if own.dtype().is_complex() || other.dtype().is_complex() || own.is_on_gpu() {
        return Ok(false);
    }
    let operands = [own.clone(), other.clone()];
    let fits = infer(op, &operands, attrs).is_ok_and(|it| it[..] == [own.meta()]);
    drop(operands);
    let done = fits && apply_in_place(op, own, None, std::slice::from_ref(other), attrs)?;
    if done {
        own.made_here();
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ops::binary;
    use crate::ops::matrix::matmul;
    use crate::{Attrs, DType, Shape, Site, Tensor, apply_two, functional, tape};

    fn large(from: f32) -> Tensor {
        let n = LEAST / size_of::<f32>();
        let values: Vec<f32> = (0..n).map(|it| from + it as f32 / 7.0).collect();
        Tensor::from_vec(&values, Shape::from([n / 64, 64])).unwrap()
    }

    #[test]
    fn results_have_the_bits_of_the_op_and_the_place_of_the_operand() {
        let row = functional::select(&large(-3.0), 0, 5).unwrap();
        for other in [Tensor::number(3.0), large(-900.0), row] {
            for op in [&binary::add::OP, &binary::sub::OP, &binary::mul::OP, &binary::div::OP] {
                let expected = apply_two(op, &large(-40.0), &other, &Attrs::new()).unwrap();
                let mut own = large(-40.0);
                let address = |it: &Tensor| Arc::as_ptr(&it.storage().unwrap()).addr();
                let before = address(&own);
                assert_eq!(
                    apply_onto(op, &mut own, &other, &Attrs::new()),
                    Ok(true),
                    "{}",
                    op.name
                );
                assert_eq!(address(&own), before);
                let bits = |it: &Tensor| {
                    it.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(bits(&own), bits(&expected), "{}", op.name);
            }
        }
    }

    #[test]
    fn results_were_made_where_the_op_stands() {
        Site::new(7).enter();
        let mut own = large(1.0);
        Site::new(9).enter();
        let number = Tensor::number(2.0);
        assert_eq!(apply_onto(&binary::add::OP, &mut own, &number, &Attrs::new()), Ok(true));
        Site::NOWHERE.enter();
        assert_eq!(own.storage().unwrap().site(), Site::new(9));
    }

    #[test]
    fn what_others_see_or_what_does_not_fit_stays() {
        let mut own = large(1.0);
        let held = own.clone();
        let number = Tensor::number(2.0);
        assert_eq!(apply_onto(&binary::add::OP, &mut own, &number, &Attrs::new()), Ok(false));
        drop(held);
        let mut recorded = large(1.0).leaf();
        let taped = tape::set_enabled(false);
        assert_eq!(apply_onto(&binary::add::OP, &mut recorded, &number, &Attrs::new()), Ok(false));
        tape::set_enabled(taped);
        let wide = functional::to(&large(1.0), DType::F64).unwrap();
        assert_eq!(apply_onto(&binary::add::OP, &mut own, &wide, &Attrs::new()), Ok(false));
        let product = functional::transpose(&large(1.0), 0, 1).unwrap();
        assert_eq!(apply_onto(&matmul::OP, &mut own, &product, &Attrs::new()), Ok(false));
        assert_eq!(own.to_vec::<f32>().unwrap(), large(1.0).to_vec::<f32>().unwrap());
    }
}
