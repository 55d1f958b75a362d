//! Products of matrices and vectors.

use smallvec::{SmallVec, smallvec};

use crate::OpDef;
use crate::cpu::elements::Elements;
use crate::cpu::number::Num;
use crate::cpu::typed::Plain;
use crate::cpu::view::View;
use crate::cpu::{gemm, interrupt, strided};
use crate::dtype::Arithmetic;
use crate::functional::{self, add, complex, part, sub};
use crate::op::{ComposedCx, InferCx, KernelCx};
use crate::{Error, Layout, Outputs, Result, Shape, Tensor};

pub mod addbmm;
pub mod addmm;
pub mod addmv;
pub mod addr;
pub mod baddbmm;
pub mod bmm;
pub mod cdist;
pub mod cross;
pub mod dot;
pub mod linear;
pub mod matmul;
pub mod mm;
pub mod mv;
pub mod outer;
mod weighed;

use weighed::{ALPHA, BETA, ranks, same_batch, weighed_sum};

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &addbmm::OP,
    &addmm::OP,
    &addmv::OP,
    &addr::OP,
    &baddbmm::OP,
    &bmm::OP,
    &cdist::OP,
    &cross::OP,
    &dot::OP,
    &linear::OP,
    &matmul::OP,
    &mm::OP,
    &mv::OP,
    &outer::OP,
];

/// A product of complex numbers, from four products of their parts.
fn product_of_parts(
    cx: &ComposedCx<'_>,
    product: fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Outputs> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    if a.dtype() != b.dtype() {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![a.dtype(), b.dtype()] });
    }
    let [ar, ai] = [part(a, 0)?, part(a, 1)?];
    let [br, bi] = [part(b, 0)?, part(b, 1)?];
    let real = sub(&product(&ar, &br)?, &product(&ai, &bi)?)?;
    let imag = add(&product(&ar, &bi)?, &product(&ai, &br)?)?;
    Ok(smallvec![complex(&real, &imag)?])
}

/// `input @ weight.T + bias` of complex numbers.
fn linear_of_parts(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut outputs = product_of_parts(cx, |x, weight| functional::linear(x, weight, None))?;
    if let Some(bias) = cx.opt_input(2) {
        outputs[0] = add(&outputs[0], bias)?;
    }
    Ok(outputs)
}

/// The operands, which must be vectors.
fn two_vectors<'a>(cx: &'a ComposedCx<'_>) -> Result<(&'a Tensor, &'a Tensor)> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    if a.rank() != 1 || b.rank() != 1 {
        let shapes = vec![a.shape().clone(), b.shape().clone()];
        let rule = "two vectors are needed".into();
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    }
    Ok((a, b))
}

/// One product `C[m, n] = A[m, k] B[k, n]`: the operands from their first element on, with row and column strides.
pub(crate) struct Product<'a, T> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: &'a [T],
    pub(crate) a_strides: [usize; 2],
    pub(crate) b: &'a [T],
    pub(crate) b_strides: [usize; 2],
}

/// The batch sizes that both broadcast to, with (m, k, n); vectors count as one row or one column.
pub(crate) fn product_shape(a: &Shape, b: &Shape) -> Option<(Shape, [usize; 3])> {
    let (&k, &k_of_b) = (a.last()?, &b[b.rank().saturating_sub(2)..].first().copied()?);
    let m = if a.rank() > 1 { a[a.rank() - 2] } else { 1 };
    let n = if b.rank() > 1 { b[b.rank() - 1] } else { 1 };
    let batch = Shape::new(&a[..a.rank().saturating_sub(2)])
        .broadcast(&Shape::new(&b[..b.rank().saturating_sub(2)]))?;
    (k == k_of_b).then_some((batch, [m, k, n]))
}

/// The products of a batch: sizes, strides, and where the operands of each begin.
struct Batch<'a, T: Plain> {
    sizes: [usize; 3],
    a: Elements<'a, T>,
    a_strides: [usize; 2],
    b: Elements<'a, T>,
    b_strides: [usize; 2],
    starts: Vec<[usize; 2]>,
}

/// The product of two plain matrices, which needs no batch; `None` for other ranks and for flipped views.
fn one_product<'a, T: Num>(a: &View<'a>, b: &View<'a>) -> Option<Product<'a, T>> {
    let matrix = |view: &View<'a>| {
        let Layout { shape, strides, offset } = view.layout();
        let (&[rows, columns], &[row, column]) = (&shape[..], &strides[..]) else { return None };
        let strides = [usize::try_from(row).ok()?, usize::try_from(column).ok()?];
        Some(([rows, columns], strides, view.buffer::<T>().get(*offset..)?))
    };
    let (([m, k], a_strides, a), ([k_of_b, n], b_strides, b)) = (matrix(a)?, matrix(b)?);
    (k == k_of_b).then_some(Product { m, n, k, a, a_strides, b, b_strides })
}

impl<'a, T: Num> Batch<'a, T> {
    fn new(a_view: &View<'a>, b_view: &View<'a>) -> Option<Self> {
        let (mut batch, [mut m, k, n]) = product_shape(a_view.shape(), b_view.shape())?;
        let (a, mut a_layout) = forward::<T>(a_view);
        let (b, b_layout) = forward::<T>(b_view);
        if b_view.shape().rank() <= 2 && batch.numel() > 1 {
            // One matrix for the whole batch: the rows of all products form one matrix when they lie evenly.
            let joined = Shape::from([batch.numel() * m, k]);
            if let Some(layout) = a_layout.reshape(&joined).filter(|_| m * k > 0) {
                (m, batch, a_layout) = (joined[0], Shape::default(), layout);
            }
        }
        let a_layout = as_matrices(&a_layout, &batch, [m, k], 0);
        let b_layout = as_matrices(&b_layout, &batch, [k, n], 1);
        let rank = batch.rank();
        let strides = |it: &Layout| [it.strides[rank] as usize, it.strides[rank + 1] as usize];
        let (a_strides, b_strides) = (strides(&a_layout), strides(&b_layout));
        let mut starts: Vec<[usize; 2]> = Vec::with_capacity(batch.numel());
        strided::for_each_run(
            [&front(&a_layout, rank), &front(&b_layout, rank)],
            |[a, b], len, [a_step, b_step]| {
                starts.extend(
                    (0..len).map(|it| [a + it * a_step as usize, b + it * b_step as usize]),
                );
            },
        );
        Some(Self { sizes: [m, n, k], a, a_strides, b, b_strides, starts })
    }

    fn product(&self, [a_start, b_start]: [usize; 2]) -> Product<'_, T> {
        let [m, n, k] = self.sizes;
        let (a, b) = (self.a.get(a_start..).unwrap_or(&[]), self.b.get(b_start..).unwrap_or(&[]));
        Product { m, n, k, a, a_strides: self.a_strides, b, b_strides: self.b_strides }
    }

    /// Distance of the operands of one product from those of the one before, when it is the same for all.
    fn step(&self) -> Option<[usize; 2]> {
        let [first, second, ..] = self.starts[..] else { return None };
        let step = [second[0].checked_sub(first[0])?, second[1].checked_sub(first[1])?];
        let even = |it: &[[usize; 2]]| (0..2).all(|side| it[0][side] + step[side] == it[1][side]);
        self.starts.windows(2).all(even).then_some(step)
    }
}

/// All products of a batch in plain loops.
pub(crate) fn run_plain<T: Num>(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let Some(batch) = Batch::<T>::new(&cx.inputs[0], &cx.inputs[1]) else { return Ok(()) };
    let out = cx.outputs[0].as_mut_slice::<T>();
    if out.is_empty() {
        return Ok(());
    }
    let [m, n, _] = batch.sizes;
    for (&starts, c) in batch.starts.iter().zip(out.chunks_exact_mut(m * n)) {
        plain(&batch.product(starts), c);
    }
    Ok(())
}

/// All products of a batch with one algorithm, or with the one that is expected to be fastest.
pub(crate) fn run_gemm<T: Num + crate::cpu::Element>(
    cx: &mut KernelCx<'_, '_>,
    algo: Option<&'static gemm::GemmAlgo>,
) -> Result<()> {
    let out = cx.outputs[0].as_mut_slice::<T>();
    if out.is_empty() {
        return Ok(());
    }
    if let Some(product) = one_product::<T>(&cx.inputs[0], &cx.inputs[1]) {
        let problem = product.problem();
        let algo = algo.unwrap_or_else(|| gemm::heuristic(&problem));
        gemm::run(algo, &problem, product.a, product.b, out, gemm::Epilogue::part(cx.part));
        return Ok(());
    }
    let Some(batch) = Batch::<T>::new(&cx.inputs[0], &cx.inputs[1]) else { return Ok(()) };
    let [m, n, _] = batch.sizes;
    let first = batch.product(batch.starts[0]);
    let problem = first.problem();
    if let (None, Some([a_step, b_step])) = (algo, batch.step()) {
        let strides = [a_step, b_step, m * n];
        gemm::gemm_batched(&problem, batch.starts.len(), strides, first.a, first.b, out, cx.part);
        return Ok(());
    }
    for (at, (&starts, c)) in batch.starts.iter().zip(out.chunks_exact_mut(m * n)).enumerate() {
        let product = batch.product(starts);
        let algo = algo.unwrap_or_else(|| gemm::heuristic(&problem));
        let epilogue = gemm::Epilogue::part(cx.part.skip(at * m * n));
        gemm::run(algo, &problem, product.a, product.b, c, epilogue);
    }
    Ok(())
}

impl<T: crate::cpu::Element> Product<'_, T> {
    /// The product as the CPU kernels see it.
    pub(crate) fn problem(&self) -> gemm::GemmProblem {
        let ([rsa, csa], [rsb, csb]) = (self.a_strides, self.b_strides);
        gemm::GemmProblem {
            rsa,
            csa,
            rsb,
            csb,
            ..gemm::GemmProblem::contiguous::<T>(self.m, self.n, self.k)
        }
    }
}

/// The algorithm called `name`.
pub(crate) fn algorithm(name: &str) -> Option<&'static gemm::GemmAlgo> {
    gemm::ALL.iter().copied().find(|it| it.name == name)
}

/// Whether `algo` takes the product of the inputs of an application, `b` being transposed for linear.
pub(crate) fn takes(cx: &InferCx<'_>, algo: &str) -> bool {
    problem_of(cx).zip(algorithm(algo)).is_some_and(|(problem, algo)| (algo.usable)(&problem))
}

/// Bytes of scratch that `algo` needs.
pub(crate) fn scratch(cx: &InferCx<'_>, algo: &str) -> usize {
    problem_of(cx).zip(algorithm(algo)).map_or(0, |(problem, algo)| (algo.workspace)(&problem))
}

/// Multiplications and additions of all products of an application.
pub(crate) fn flops(cx: &InferCx<'_>) -> usize {
    let Some((batch, [m, k, n])) = sizes(cx) else { return 0 };
    [batch, m, k, n].iter().fold(2, |product, it| product.saturating_mul(*it))
}

/// The number of products, and (m, k, n) of each.
fn sizes(cx: &InferCx<'_>) -> Option<(usize, [usize; 3])> {
    let (a, b) = (cx.shape(0), cx.shape(1));
    if is_transposed(cx) {
        let (&k, &n) = (b.get(1)?, b.first()?);
        return Some((1, [a.numel().checked_div(k)?, k, n]));
    }
    let (batch, sizes) = product_shape(a, b)?;
    Some((batch.numel(), sizes))
}

/// Whether the right operand is `[n, k]`.
fn is_transposed(cx: &InferCx<'_>) -> bool {
    cx.op.name == "linear"
}

fn problem_of(cx: &InferCx<'_>) -> Option<gemm::GemmProblem> {
    let (a, b) = (cx.inputs[0].layout(), cx.inputs[1].layout());
    let b = if is_transposed(cx) { b.permute(&[1, 0]) } else { b.clone() };
    let (_, [m, k, n]) = sizes(cx)?;
    let last_two = |it: &Layout| {
        let rank = it.shape.rank();
        let row = if rank > 1 { it.strides[rank - 2] } else { 0 };
        [row.max(0) as usize, it.strides[rank - 1].max(0) as usize]
    };
    let ([rsa, csa], [rsb, csb]) = (last_two(a), last_two(&b));
    let problem = match cx.dtype(0).arithmetic() {
        Arithmetic::F32 => gemm::GemmProblem::contiguous::<f32>(m, n, k),
        Arithmetic::F64 => gemm::GemmProblem::contiguous::<f64>(m, n, k),
        Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => return None,
    };
    Some(gemm::GemmProblem { rsa, csa, rsb, csb, ..problem })
}

/// The kernels of a row that is a product: by the expected fastest, by each algorithm, and in plain loops for any dtype.
macro_rules! gemm_kernels {
    ($run:ident, $plain:ident) => {
        &[
            Kernel {
                usable: |cx| cx.dtype(0).is_float(),
                flops: super::flops,
                finishes: true,
                ..Kernel::new("gemm.auto", |cx| $run(cx, None))
            },
            gemm_kernels!(@one $run, "dots"),
            gemm_kernels!(@one $run, "gemv"),
            gemm_kernels!(@one $run, "no-copy"),
            gemm_kernels!(@one $run, "packed"),
            gemm_kernels!(@one $run, "packed-b"),
            Kernel { naive: true, ..Kernel::new("gemm.naive", $plain) },
        ]
    };
    (@one $run:ident, $name:literal) => {
        Kernel {
            usable: |cx| super::takes(cx, $name),
            workspace: |cx| super::scratch(cx, $name),
            finishes: true,
            ..Kernel::new(concat!("gemm.", $name), |cx| $run(cx, super::algorithm($name)))
        }
    };
}
pub(crate) use gemm_kernels;

/// The elements and their layout with strides that are not negative; a flipped view is copied.
fn forward<'a, T: Num>(view: &View<'a>) -> (Elements<'a, T>, Layout) {
    if view.layout().strides.iter().all(|&it| it >= 0) {
        return (Elements::Lent(view.buffer::<T>()), view.layout().clone());
    }
    (view.to_slice::<T>(), Layout::contiguous(view.shape().clone()))
}

/// A batch of matrices under the batch sizes of the product; vectors gain the dimension `vector_dim` of the two lacks.
fn as_matrices(layout: &Layout, batch: &Shape, [rows, columns]: [usize; 2], side: usize) -> Layout {
    let mut layout = layout.clone();
    if layout.shape.rank() == 1 {
        let at = side;
        layout.shape.dims_mut().insert(at, 1);
        layout.strides.insert(at, 0);
    }
    let shape: Shape = batch.iter().copied().chain([rows, columns]).collect();
    layout.broadcast_to(&shape).unwrap_or(layout)
}

/// The leading `rank` dimensions.
fn front(layout: &Layout, rank: usize) -> Layout {
    Layout {
        shape: Shape::new(&layout.shape[..rank]),
        strides: SmallVec::from_slice(&layout.strides[..rank]),
        offset: layout.offset,
    }
}

/// A product of any dtype in plain loops; integers wrap.
pub(crate) fn plain<T: Num>(p: &Product<'_, T>, c: &mut [T]) {
    let ([rsa, csa], [rsb, csb]) = (p.a_strides, p.b_strides);
    for (row, c) in c.chunks_exact_mut(p.n.max(1)).enumerate() {
        if interrupt::ends_here() {
            return;
        }
        c.fill(T::ZERO);
        for x in 0..p.k {
            let factor = p.a[row * rsa + x * csa];
            if csb == 1 {
                let b = &p.b[x * rsb..x * rsb + p.n];
                c.iter_mut().zip(b).for_each(|(slot, &b)| *slot = slot.plus(factor.times(b)));
            } else {
                c.iter_mut().enumerate().for_each(|(at, slot)| {
                    *slot = slot.plus(factor.times(p.b[x * rsb + at * csb]))
                });
            }
        }
    }
}
