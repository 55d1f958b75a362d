//! Products of matrices: how the operands of an application lie, and the kernels of rows that are products.

use std::sync::Arc;

use smallvec::SmallVec;

use super::product_shape;
use crate::cpu::elements::Elements;
use crate::cpu::gemm::{Gemm, GemmAlgo, GemmProblem, Starts};
use crate::cpu::number::Num;
use crate::cpu::packs::Packed;
use crate::cpu::typed::Plain;
use crate::cpu::view::View;
use crate::cpu::{Element, gemm, interrupt, strided};
use crate::dtype::Arithmetic;
use crate::op::{Case, KernelCx, Ready};
use crate::{DType, Layout, Result, Shape, with_dtype, with_float};

/// The products of an application: `C[m, n] = A[m, k] B[k, n]`, one or many.
pub(super) struct Products {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    /// Row and column strides of A and of B.
    pub(super) strides: [[usize; 2]; 2],
    /// Which operands are copied first, into row-major order.
    pub(super) copied: [bool; 2],
    /// Counted from the first element of each operand.
    pub(super) starts: Starts,
}

impl Products {
    /// `a @ b`, batches of matrices, which broadcast, or vectors. `None` for shapes that do not fit.
    pub(super) fn of_batches(a: &Layout, b: &Layout) -> Option<Self> {
        let (mut batch, [mut m, k, n]) = product_shape(&a.shape, &b.shape)?;
        let ((mut a, copied_a), (b, copied_b)) = (forward(a), forward(b));
        let copied = [copied_a, copied_b];
        if b.shape.rank() <= 2 && batch.numel() > 1 && m * k > 0 {
            // One matrix for the whole batch: the rows of all products form one matrix when they lie evenly.
            let joined = Shape::from([batch.numel() * m, k]);
            if let Some(layout) = a.reshape(&joined) {
                (m, batch, a) = (joined[0], Shape::default(), layout);
            }
        }
        let (a, b) = (as_matrices(&a, &batch, [m, k], 0), as_matrices(&b, &batch, [k, n], 1));
        let rank = batch.rank();
        let strides = |it: &Layout| [it.strides[rank] as usize, it.strides[rank + 1] as usize];
        let strides = [strides(&a), strides(&b)];
        let starts = starts(&front(&a, rank), &front(&b, rank));
        Some(Self { m, n, k, strides, copied, starts })
    }

    /// `x @ weight.T`, where the rows of all of `x` form one matrix.
    pub(super) fn of_rows(x: &Layout, weight: &Layout) -> Option<Self> {
        let (&[n, k], rows) = (&weight.shape[..], x.shape.split_last()?.1) else { return None };
        Some(Self {
            m: rows.iter().product(),
            n,
            k,
            strides: [[k, 1], [1, k]],
            copied: [!x.is_contiguous(), !weight.is_contiguous()],
            starts: Starts::ONE,
        })
    }

    /// Multiplications and additions.
    pub(super) fn flops(&self) -> usize {
        let sizes = [self.starts.len(), self.m, self.k, self.n];
        sizes.iter().fold(2, |product, it| product.saturating_mul(*it))
    }

    /// One of them as the processor's kernels see it; `None` in a dtype that they do not compute in.
    fn problem(&self, dtype: DType) -> Option<GemmProblem> {
        let problem = match dtype.arithmetic() {
            Arithmetic::F32 => GemmProblem::contiguous::<f32>(self.m, self.n, self.k),
            Arithmetic::F64 => GemmProblem::contiguous::<f64>(self.m, self.n, self.k),
            Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => return None,
        };
        let [[rsa, csa], [rsb, csb]] = self.strides;
        Some(GemmProblem { rsa, csa, rsb, csb, ..problem })
    }

    /// An operand (0 is A, 1 is B) from its first element on.
    pub(super) fn operand<'a, T: Plain>(&self, side: usize, view: &View<'a>) -> Elements<'a, T> {
        if self.copied[side] {
            return view.to_slice::<T>();
        }
        Elements::Lent(view.buffer::<T>().get(view.layout().offset..).unwrap_or(&[]))
    }

    /// All products in plain loops, in any dtype, and a bias for each column.
    pub(super) fn run_plain(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        with_dtype!(cx.inputs[0].dtype(), T => {
            let bias = cx.inputs.get(2).map(View::to_slice::<T>);
            let (a, b) = (self.operand::<T>(0, &cx.inputs[0]), self.operand::<T>(1, &cx.inputs[1]));
            let out = cx.outputs[0].as_mut_slice::<T>();
            if out.is_empty() {
                return Ok(());
            }
            for (at, c) in out.chunks_exact_mut(self.m * self.n).enumerate() {
                let [a_start, b_start] = self.starts.get(at);
                self.plain(a.get(a_start..).unwrap_or(&[]), b.get(b_start..).unwrap_or(&[]), c);
            }
            for row in out.chunks_exact_mut(self.n) {
                let bias = bias.iter().flat_map(|it| it.iter());
                row.iter_mut().zip(bias).for_each(|(slot, &b)| *slot = slot.plus(b));
            }
            Ok(())
        })
    }

    /// One product in plain loops; integers wrap.
    fn plain<T: Num>(&self, a: &[T], b: &[T], c: &mut [T]) {
        let [[rsa, csa], [rsb, csb]] = self.strides;
        for (row, c) in c.chunks_exact_mut(self.n.max(1)).enumerate() {
            if interrupt::ends_here() {
                return;
            }
            c.fill(T::ZERO);
            for x in 0..self.k {
                let factor = a[row * rsa + x * csa];
                if csb == 1 {
                    let b = &b[x * rsb..x * rsb + self.n];
                    c.iter_mut().zip(b).for_each(|(slot, &b)| *slot = slot.plus(factor.times(b)));
                } else {
                    c.iter_mut().enumerate().for_each(|(at, slot)| {
                        *slot = slot.plus(factor.times(b[x * rsb + at * csb]))
                    });
                }
            }
        }
    }
}

/// Products by an algorithm.
struct ByGemm {
    products: Products,
    gemm: Gemm,
}

impl Products {
    /// Of the products of which `self` is the whole, so many rows of each; `None` where they do not lie so.
    pub(super) fn some_rows(&self, m: usize) -> Option<Self> {
        let lies_so = !self.copied[0];
        lies_so.then(|| Self { m, starts: self.starts.clone(), ..*self })
    }
}

impl Ready for ByGemm {
    fn workspace(&self) -> usize {
        self.gemm.workspace()
    }

    fn of_rows(&self, rows: usize) -> Option<Arc<dyn Ready>> {
        let gemm = self.gemm.of_rows(rows)?;
        Some(Arc::new(Self { products: self.products.some_rows(rows)?, gemm }))
    }

    fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
            let bias = cx.inputs.get(2).map(View::to_slice::<T>);
            let a = self.products.operand::<T>(0, &cx.inputs[0]);
            let b = self.products.operand::<T>(1, &cx.inputs[1]);
            let epilogue = gemm::Epilogue { col_bias: bias.as_deref(), ..gemm::Epilogue::part(cx.part) };
            let out = cx.outputs[0].as_mut_slice::<T>();
            let panels = [self.panels(0, &cx.inputs[0], &a), self.panels(1, &cx.inputs[1], &b)];
            match self.products.starts {
                Starts::Even { count: 1, .. } => self.gemm.run(&a, &b, out, epilogue, &panels),
                ref starts => self.gemm.run_batch(starts, &a, &b, out, epilogue, &panels),
            }
            Ok(())
        })
    }
}

impl ByGemm {
    /// The panels that are kept of an operand that is the same in all products, and lies as it is multiplied.
    fn panels<T: Num + Element>(
        &self,
        side: usize,
        view: &View<'_>,
        operand: &[T],
    ) -> Option<Arc<Packed>> {
        let Products { copied, starts, .. } = &self.products;
        if copied[side] || !starts.is_shared(side) || starts.is_empty() {
            return None;
        }
        self.gemm.panels(view.packs()?, side, operand)
    }
}

/// The products by the algorithm called `name`, or by the one that is expected to be fastest.
pub(super) fn prepare(
    case: &Case<'_>,
    products: Option<Products>,
    name: Option<&str>,
) -> Option<Arc<dyn Ready>> {
    let products = products?;
    let problem = products.problem(case.inputs[0].dtype())?;
    let algo: &'static GemmAlgo = match name {
        Some(name) => gemm::ALL.iter().find(|it| it.name == name)?,
        None => gemm::heuristic(&problem),
    };
    Some(Arc::new(ByGemm { gemm: Gemm::new(problem, algo)?, products }))
}

/// The kernels of a row that is a product, of which `$products` says how the operands of an application lie, and `$on_cuda` how a GPU
/// computes it: by the processor's unit for tiles, by the expected fastest, by each algorithm, and in plain loops for any dtype.
macro_rules! gemm_kernels {
    ($products:path, $on_cuda:path) => {
        &[
            Kernel { narrow: true, ..gemm_kernels!(@one $products, "amx", super::tiles::prepare) }
                .on_cuda($on_cuda),
            gemm_kernels!(@by $products, "auto", None),
            gemm_kernels!(@by $products, "dots", Some("dots")),
            gemm_kernels!(@by $products, "gemv", Some("gemv")),
            gemm_kernels!(@by $products, "no-copy", Some("no-copy")),
            gemm_kernels!(@by $products, "packed", Some("packed")),
            gemm_kernels!(@by $products, "packed-b", Some("packed-b")),
            Kernel {
                naive: true,
                ..Kernel::new("gemm.naive", |cx| {
                    let products = $products(cx.inputs[0].layout(), cx.inputs[1].layout());
                    products.map_or(Ok(()), |it| it.run_plain(cx))
                })
            },
        ]
    };
    (@by $products:path, $name:literal, $algorithm:expr) => {
        Kernel {
            finishes: true,
            ..gemm_kernels!(@one $products, $name, |case, products| {
                super::products::prepare(case, products, $algorithm)
            })
        }
    };
    (@one $products:path, $name:literal, $prepare:expr) => {
        Kernel {
            flops: |cx| {
                let products = $products(cx.inputs[0].layout(), cx.inputs[1].layout());
                products.map_or(0, |it| it.flops())
            },
            ..Kernel::prepared(concat!("gemm.", $name), |case| {
                let products = $products(case.inputs[0].layout(), case.inputs[1].layout());
                $prepare(case, products)
            })
        }
    };
}
pub(super) use gemm_kernels;

/// The layout with strides that are not negative, and whether the elements are copied for it: those of a flipped view are.
fn forward(layout: &Layout) -> (Layout, bool) {
    let copied = layout.strides.iter().any(|&it| it < 0);
    match copied {
        true => (Layout::contiguous(layout.shape.clone()), true),
        false => (Layout { offset: 0, ..layout.clone() }, false),
    }
}

/// Where the operands of each product begin.
fn starts(a: &Layout, b: &Layout) -> Starts {
    let count = a.shape.numel();
    if count == 1 {
        return Starts::ONE;
    }
    let step = |it: &Layout| it.reshape(&Shape::from([count])).map(|it| it.strides[0] as usize);
    if let (true, Some(a), Some(b)) = (count > 0, step(a), step(b)) {
        return Starts::Even { count, steps: [a, b] };
    }
    let mut all: Vec<[usize; 2]> = Vec::with_capacity(count);
    strided::for_each_run([a, b], |[a, b], len, [a_step, b_step]| {
        all.extend((0..len).map(|it| [a + it * a_step as usize, b + it * b_step as usize]));
    });
    Starts::Each(all)
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
