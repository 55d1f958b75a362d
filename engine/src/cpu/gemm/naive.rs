//! `naive`: plain loops that say what a product is; also the product of integers, which wraps around.

use super::{GemmAlgo, GemmProblem, Operands};
use crate::cpu::element::Element;

pub(super) static ALGO: GemmAlgo = GemmAlgo {
    name: "naive",
    naive: true,
    reproducible: true,
    usable: |_| true,
    workspace: |_| 0,
    packs: [false, false],
    f32: run::<f32>,
    f64: run::<f64>,
};

unsafe fn run<T: Element>(p: &GemmProblem, o: &Operands<'_, T>) {
    for i in 0..p.m {
        for j in 0..p.n {
            // SAFETY: all indices are inside the problem, which the operands fit.
            unsafe {
                let c = o.c.add(i * p.rsc + j);
                let mut sum = T::ZERO;
                for x in 0..p.k {
                    sum += *o.a.add(i * p.rsa + x * p.csa) * *o.b.add(x * p.rsb + j * p.csb);
                }
                sum = if p.accumulate { *c + sum } else { sum };
                *c = finish(o, i, j, sum);
            }
        }
    }
    // SAFETY: all of C is done.
    unsafe { o.done(p, 0..p.m, 0..p.n) };
}

/// # Safety
/// The biases, where there are any, have an element for row `i` and column `j`.
unsafe fn finish<T: Element>(o: &Operands<'_, T>, i: usize, j: usize, mut x: T) -> T {
    // SAFETY: as promised by the caller.
    unsafe {
        if !o.col_bias.is_null() {
            x += *o.col_bias.add(j);
        }
        if !o.row_bias.is_null() {
            x += *o.row_bias.add(i);
        }
    }
    x
}

/// Whole numbers; sums and products wrap around, as in two's complement.
pub trait Integer: Copy + Default {
    #[must_use]
    fn mul_add_wrapping(self, x: Self, y: Self) -> Self;
}

macro_rules! integer {
    ($($t:ty)*) => {
        $(impl Integer for $t {
            #[inline(always)]
            fn mul_add_wrapping(self, x: Self, y: Self) -> Self {
                self.wrapping_add(x.wrapping_mul(y))
            }
        })*
    };
}

integer!(u8 i8 i16 u16 i32 i64);

/// The product of integer matrices, with the sizes and strides of `p`; its element kind, threads and ISA are not read.
///
/// # Panics
/// If a slice is shorter than the problem says.
pub fn gemm_wrapping<T: Integer>(p: &GemmProblem, a: &[T], b: &[T], c: &mut [T]) {
    for i in 0..p.m {
        let row = &mut c[i * p.rsc..][..p.n];
        if !p.accumulate {
            row.fill(T::default());
        }
        for x in 0..p.k {
            let factor = a[i * p.rsa + x * p.csa];
            if p.csb == 1 {
                let line = &b[x * p.rsb..][..p.n];
                for (y, &value) in row.iter_mut().zip(line) {
                    *y = y.mul_add_wrapping(factor, value);
                }
            } else {
                for (j, y) in row.iter_mut().enumerate() {
                    *y = y.mul_add_wrapping(factor, b[x * p.rsb + j * p.csb]);
                }
            }
        }
    }
}
