//! Products of bfloat16 by the processor's unit for tiles, where it has one; others widen them (`op/widen.rs`).

use std::sync::Arc;

use super::products::Products;
use crate::op::{Case, Ready};

/// Multiplications below this are not worth bringing operands into tiles.
#[cfg(target_arch = "x86_64")]
const LEAST: usize = 1 << 13;

/// As [`super::products::prepare`], for bfloat16 that lies as it is multiplied.
#[cfg(target_arch = "x86_64")]
pub(super) fn prepare(case: &Case<'_>, products: Option<Products>) -> Option<Arc<dyn Ready>> {
    let products = products?;
    let work = [products.m, products.n, products.k].into_iter().fold(1, usize::saturating_mul);
    let takes = work >= LEAST
        && products.copied == [false, false]
        && case.inputs.iter().all(|it| it.dtype() == crate::DType::BF16)
        && crate::cpu::amx::is_there();
    takes.then(|| Arc::new(x86::ByTiles(products)) as Arc<dyn Ready>)
}

/// No processor has it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn prepare(_: &Case<'_>, _: Option<Products>) -> Option<Arc<dyn Ready>> {
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::sync::Arc;

    use half::bf16;

    use super::Products;
    use crate::Result;
    use crate::cpu::amx::{self, Matrix};
    use crate::op::{KernelCx, Ready};

    /// Products by tiles.
    pub(super) struct ByTiles(pub(super) Products);

    impl Ready for ByTiles {
        fn workspace(&self) -> usize {
            amx::workspace([self.0.m, self.0.n, self.0.k])
        }

        fn of_rows(&self, rows: usize) -> Option<Arc<dyn Ready>> {
            Some(Arc::new(Self(self.0.some_rows(rows)?)))
        }

        fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
            let Products { m, n, k, strides: [of_a, of_b], starts, .. } = &self.0;
            let bias = cx.inputs.get(2).map(|it| it.to_slice::<bf16>());
            let bias: Option<Vec<f32>> = bias.map(|it| it.iter().map(|it| it.to_f32()).collect());
            let [a, b] = [0, 1].map(|side| self.0.operand::<u16>(side, &cx.inputs[side]));
            let sides =
                [Matrix { elements: &a, strides: *of_a }, Matrix { elements: &b, strides: *of_b }];
            let out = cx.outputs[0].as_mut_slice();
            Ok(amx::multiply([*m, *n, *k], sides, starts, bias.as_deref(), out)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{linear, matmul};
    use crate::functional::{to, transpose};
    use crate::op::{Body, Case};
    use crate::ops::tests::differs;
    use crate::test_ops::sample;
    use crate::{Attrs, DType, OpDef, Tensor, apply_one};

    fn halves(shape: &[usize], seed: usize) -> Tensor {
        sample(shape, DType::BF16, seed)
    }

    /// As in float32, rounded once, however the operands lie.
    fn check(op: &'static OpDef, inputs: &[Tensor]) {
        let Body::Kernels([first, ..]) = op.body else { panic!("{} has no kernels", op.name) };
        let takes = first.prepare(&Case::new(op, inputs, &Attrs::new())).is_some();
        #[cfg(target_arch = "x86_64")]
        assert_eq!(takes, crate::cpu::amx::is_there(), "{}", op.name);
        let got = apply_one(op, inputs, &Attrs::new()).unwrap();
        let wide: Vec<Tensor> = inputs.iter().map(|it| to(it, DType::F32).unwrap()).collect();
        let want = apply_one(op, &wide, &Attrs::new()).unwrap();
        assert_eq!(differs(&got, &to(&want, DType::BF16).unwrap()), None, "{} {takes}", op.name);
    }

    #[test]
    fn products_are_those_of_float32_rounded_once() {
        let (a, b) = (halves(&[40, 70], 1), halves(&[70, 50], 2));
        let turned = |it: &Tensor| transpose(it, -1, -2).unwrap();
        check(&matmul::OP, &[a.clone(), b.clone()]);
        check(&matmul::OP, &[turned(&b), turned(&a)]);
        check(&matmul::OP, &[halves(&[3, 1, 20, 40], 3), halves(&[2, 40, 30], 4)]);
        check(&matmul::OP, &[halves(&[3, 20, 40], 5), turned(&halves(&[3, 30, 40], 6))]);
        check(&linear::OP, &[halves(&[4, 10, 70], 7), halves(&[50, 70], 8), halves(&[50], 9)]);
        check(&linear::OP, &[a, halves(&[33, 70], 10)]);
    }
}
