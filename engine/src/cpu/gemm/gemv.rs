//! `gemv`: a vector times a matrix, for products with one row or one column. It reads the matrix once, in order.

use super::{GemmAlgo, GemmProblem, Operands, naive, no_copy};
use crate::cpu::element::Element;
use crate::cpu::pool::{self, Shared};
use crate::cpu::scratch;
use crate::cpu::simd::{Axpy, Dots};

pub(super) static ALGO: GemmAlgo = GemmAlgo {
    name: "gemv",
    naive: false,
    reproducible: true,
    usable: |p| (p.m == 1 || p.n == 1) && (view(p).rsb == 1 || view(p).csb == 1),
    workspace: |p| (p.k + p.m.max(p.n)) * p.kind.size(),
    packs: [false, false],
    f32: run::<f32>,
    f64: run::<f64>,
};

/// `y[n] (+)= x[k] B[k, n]`
struct View {
    n: usize,
    incx: usize,
    rsb: usize,
    csb: usize,
    incy: usize,
    /// The problem has one row; else it has one column, and B here is its A, transposed.
    is_row: bool,
}

fn view(p: &GemmProblem) -> View {
    if p.m == 1 {
        View { n: p.n, incx: p.csa, rsb: p.rsb, csb: p.csb, incy: 1, is_row: true }
    } else {
        View { n: p.m, incx: p.rsb, rsb: p.csa, csb: p.rsa, incy: p.rsc, is_row: false }
    }
}

unsafe fn run<T: Element>(p: &GemmProblem, o: &Operands<'_, T>) {
    let v = view(p);
    let (x, b) = if v.is_row { (o.a, o.b) } else { (o.b, o.a) };
    // Dots want a contiguous x, sums of rows a contiguous y.
    let by_dots = v.rsb == 1 && (v.csb != 1 || p.k >= v.n);
    let copies_x = by_dots && v.incx != 1;
    let copies_y = !by_dots && v.incy != 1;
    let len = if copies_x {
        p.k
    } else if copies_y {
        v.n
    } else {
        0
    };
    let done = scratch::with(len, |scratch: *mut T| {
        // SAFETY: the operands fit the problem, and the scratch vector its longer side.
        unsafe {
            if by_dots {
                let x = if copies_x { gather(x, v.incx, p.k, scratch) } else { x };
                dots(p, &v, x, b, o.c);
            } else if copies_y {
                gather(o.c.cast_const(), v.incy, if p.accumulate { v.n } else { 0 }, scratch);
                sums(p, &v, x, b, scratch);
                for j in 0..v.n {
                    *o.c.add(j * v.incy) = *scratch.add(j);
                }
            } else {
                sums(p, &v, x, b, o.c);
            }
            finish(&v, o);
            o.done(p, 0..p.m, 0..p.n);
        }
    });
    if done.is_none() {
        let fallback = if p.csb == 1 { &no_copy::ALGO } else { &naive::ALGO };
        // SAFETY: the operands fit the problem.
        unsafe { T::gemm_run(fallback)(p, o) };
    }
}

unsafe fn gather<T: Element>(src: *const T, stride: usize, len: usize, dst: *mut T) -> *const T {
    for i in 0..len {
        // SAFETY: both hold `len` elements.
        unsafe { *dst.add(i) = *src.add(i * stride) };
    }
    dst
}

unsafe fn dots<T: Element>(p: &GemmProblem, v: &View, x: *const T, b: *const T, y: *mut T) {
    let kernel = T::kernels(p.isa).dots;
    let (x, b, y) = (Shared(x.cast_mut()), Shared(b.cast_mut()), Shared(y));
    for_columns(p, v.n, 16, &|j, n| {
        let line = Dots {
            m: 1,
            n,
            k: p.k,
            x: x.get(),
            rsx: 0,
            b: b.get().wrapping_add(j * v.csb),
            csb: v.csb as isize,
            y: y.get().wrapping_add(j * v.incy),
            rsy: 0,
            incy: v.incy as isize,
            accumulate: p.accumulate,
        };
        // SAFETY: the columns lie in the problem.
        unsafe { kernel(&line) };
    });
}

unsafe fn sums<T: Element>(p: &GemmProblem, v: &View, x: *const T, b: *const T, y: *mut T) {
    let kernel = T::kernels(p.isa).axpy;
    let (x, b, y) = (Shared(x.cast_mut()), Shared(b.cast_mut()), Shared(y));
    for_columns(p, v.n, 256, &|j, n| {
        let y = y.get().wrapping_add(j);
        // SAFETY: the columns lie in the problem.
        unsafe {
            if !p.accumulate {
                std::slice::from_raw_parts_mut(y, n).fill(T::ZERO);
            }
            let b = b.get().wrapping_add(j).cast_const();
            let (incx, rsb) = (v.incx as isize, v.rsb as isize);
            kernel(&Axpy { n, k: p.k, x: x.get(), incx, b, rsb, y });
        }
    });
}

/// Calls `f(first column, columns)` for ranges of at least `grain` columns.
fn for_columns(p: &GemmProblem, n: usize, grain: usize, f: &(dyn Fn(usize, usize) + Sync)) {
    // Memory, not arithmetic, is the limit here: less work is worth sharing than in a product.
    let wanted = if p.threads > 1 && n * p.k >= 100_000 { 4 * p.threads } else { 1 };
    let step = n.div_ceil(wanted).next_multiple_of(grain);
    pool::for_each_chunk(n.div_ceil(step), &|chunk| {
        f(chunk * step, step.min(n - chunk * step));
    });
}

unsafe fn finish<T: Element>(v: &View, o: &Operands<'_, T>) {
    let (along, single) =
        if v.is_row { (o.col_bias, o.row_bias) } else { (o.row_bias, o.col_bias) };
    if along.is_null() && single.is_null() {
        return;
    }
    for j in 0..v.n {
        // SAFETY: biases have an element per row or column.
        unsafe {
            let y = o.c.add(j * v.incy);
            if !along.is_null() {
                *y += *along.add(j);
            }
            if !single.is_null() {
                *y += *single;
            }
        }
    }
}
