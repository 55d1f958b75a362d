//! Products of matrices on a GPU: by cuBLASLt where that is there and takes the operands as they lie, else by a kernel of our own.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::cuda::Gpu;
use crate::cuda::driver::{Address, Element, Grid, Matrix, Product};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::settings;
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::{DType, Layout, Result, Shape, Tensor, fastrun};

use super::product_shape;

const GEMM: &str = include_str!("gemm.cu");

/// One operand of many products: matrices under the sizes of a batch.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) address: Address,
    /// Elements from one row to the next, and from one column to the next.
    pub(crate) steps: [i64; 2],
    /// Where the matrix of each product begins.
    pub(crate) batch: Dims,
}

/// `out[m, n] = a[m, k] @ b[k, n] + bias[n]`, in each of a batch.
pub(crate) struct Request {
    pub(crate) dtype: DType,
    /// The dtype of the result: as the operands, or float32 for halves, or int32 for int8.
    pub(crate) out_dtype: DType,
    pub(crate) batch: usize,
    /// m, n and k.
    pub(crate) sizes: [usize; 3],
    pub(crate) a: Side,
    pub(crate) b: Side,
    /// All products in row-major order.
    pub(crate) out: Address,
    pub(crate) bias: Option<Address>,
}

impl Side {
    /// Matrices of a layout whose last two dimensions are rows and columns, under the sizes of a batch.
    pub(crate) fn of(op: &'static str, address: Address, layout: &Layout) -> Result<Self> {
        let rank = layout.shape.rank() - 2;
        let strides = [layout.strides[rank], layout.strides[rank + 1]].map(|it| it as i64);
        let [batch] = Dims::together(op, &layout.shape[..rank], [&layout.strides[..rank]])?;
        Ok(Self { address, steps: strides, batch })
    }

    /// As the vendor's library takes it: rows or columns in a row, matrices at even steps.
    fn matrix(&self, [rows, columns]: [usize; 2]) -> Option<Matrix> {
        let batch_step = match (&self.batch.sizes[..], &self.batch.strides[..]) {
            ([], _) => 0,
            ([_], [step]) if *step >= 0 => *step,
            _ => return None,
        };
        let [row, column] = self.steps;
        let fits = |step: i64, len: usize, n: usize| n == 1 || step >= len.max(1) as i64;
        if (column == 1 || columns == 1) && fits(row, columns, rows) {
            let step = if rows == 1 { columns.max(1) as i64 } else { row };
            return Some(Matrix { turned: false, step, batch_step });
        }
        if (row == 1 || rows == 1) && fits(column, rows, columns) {
            let step = if columns == 1 { rows.max(1) as i64 } else { column };
            return Some(Matrix { turned: true, step, batch_step });
        }
        None
    }
}

/// As the vendor's libraries know it; floats only.
pub(crate) fn element(dtype: DType) -> Option<Element> {
    match dtype {
        DType::F16 => Some(Element::F16),
        DType::BF16 => Some(Element::BF16),
        DType::F32 => Some(Element::F32),
        DType::F64 => Some(Element::F64),
        DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::U16 => None,
        DType::I32 | DType::I64 | DType::C64 | DType::C128 => None,
    }
}

/// Elements of the operands and of the result, where the vendor's library multiplies such.
fn elements(request: &Request) -> Option<(Element, Element)> {
    if request.dtype == DType::I8 && request.out_dtype == DType::I32 {
        let [_, n, k] = request.sizes;
        return (n % 4 == 0 && k % 4 == 0).then_some((Element::I8, Element::I32));
    }
    Some((element(request.dtype)?, element(request.out_dtype)?))
}

/// The product by the vendor's library; false where it does not take it.
fn by_library(gpu: &Gpu, request: &Request) -> Result<bool> {
    let Some((element, out_element)) = elements(request) else { return Ok(false) };
    let [m, n, k] = request.sizes;
    let sides = (request.a.matrix([m, k]), request.b.matrix([k, n]));
    let (Some(a), Some(b), true) = (sides.0, sides.1, k > 0) else { return Ok(false) };
    gpu.multiply(&Product {
        element,
        out_element,
        batch: request.batch,
        m,
        n,
        k,
        a: (request.a.address, a),
        b: (request.b.address, b),
        out: request.out,
        bias: request.bias,
        coarse: request.dtype == DType::F32 && settings::COARSE_PRODUCTS.is_on(),
        measured: fastrun::measures_libraries(),
    })
}

/// Computes the products.
pub(crate) fn multiply(gpu: &'static Gpu, request: &Request) -> Result<()> {
    let ([m, n, k], batch) = (request.sizes, request.batch);
    if m * n * batch == 0 || by_library(gpu, request)? {
        return Ok(());
    }
    let turned = |it: bool| Cow::Borrowed(if it { "1" } else { "0" });
    let defines = [
        ("T", Cow::Borrowed(type_of(request.dtype))),
        ("O", type_of(request.out_dtype).into()),
        ("C", computed(request.dtype).into()),
        ("A_TURNED", turned(request.a.steps[1] != 1)),
        ("B_TURNED", turned(request.b.steps[1] != 1)),
    ];
    let side = |parameters: Parameters, it: &Side| {
        let [row, column] = it.steps;
        parameters.address(it.address).signed(row).signed(column).dims(&it.batch)
    };
    let parameters = Parameters::default().long(batch).long(m).long(n).long(k);
    let parameters = side(side(parameters, &request.a), &request.b);
    let parameters = parameters.address(request.out).address(request.bias.unwrap_or(0));
    let tiles = m.div_ceil(64) * n.div_ceil(64) * batch;
    let function = gpu.function("gemm", GEMM, &defines)?;
    gpu.launch(function, Grid::blocks(tiles.min(1 << 20), 256), &parameters)
}

/// `a @ b`, batches of matrices, which broadcast, or vectors.
pub(super) fn matmul(cx: &CudaCx<'_>) -> Result<()> {
    let (Some((mut batch, [mut m, k, n])), out) =
        (product_shape(cx.shape(0), cx.shape(1)), cx.output(0)?)
    else {
        return Ok(());
    };
    let mut a = cx.layout(0).clone();
    if cx.shape(1).rank() <= 2 && batch.numel() > 1 && m * k > 0 {
        // One matrix for the whole batch: the rows of all products form one matrix when they lie evenly.
        let joined = Shape::from([batch.numel() * m, k]);
        if let Some(layout) = a.reshape(&joined) {
            (m, batch, a) = (joined[0], Shape::default(), layout);
        }
    }
    let a = as_matrices(&a, &batch, [m, k], 0);
    let b = as_matrices(cx.layout(1), &batch, [k, n], 1);
    let (a, b) = match m * n * k * batch.numel() {
        0 => (Matrices::empty(cx, &a)?, Matrices::empty(cx, &b)?),
        _ => (Matrices::of(cx, 0, a, [m, k])?, Matrices::of(cx, 1, b, [k, n])?),
    };
    multiply(
        cx.gpu,
        &Request {
            dtype: cx.dtype(0),
            out_dtype: cx.dtype(0),
            batch: batch.numel(),
            sizes: [m, n, k],
            a: a.side,
            b: b.side,
            out,
            bias: None,
        },
    )
}

/// The product of two int8 matrices in int32.
pub(super) fn int_mm(cx: &CudaCx<'_>) -> Result<()> {
    let [m, k, n] = [cx.shape(0)[0], cx.shape(0)[1], cx.shape(1)[1]];
    let side = |idx: usize| {
        let address = if m * n * k == 0 { 0 } else { cx.input(idx)? };
        Side::of(cx.op.name, address, cx.layout(idx))
    };
    let request = Request {
        dtype: DType::I8,
        out_dtype: DType::I32,
        batch: 1,
        sizes: [m, n, k],
        a: side(0)?,
        b: side(1)?,
        out: cx.output(0)?,
        bias: None,
    };
    multiply(cx.gpu, &request)
}

/// An operand, and the copy that it may be.
struct Matrices {
    side: Side,
    _copy: Option<Tensor>,
}

impl Matrices {
    fn empty(cx: &CudaCx<'_>, layout: &Layout) -> Result<Self> {
        Ok(Self { side: Side::of(cx.op.name, 0, layout)?, _copy: None })
    }

    /// Operand `idx` under a layout; floats that the library does not take as they lie are copied.
    fn of(cx: &CudaCx<'_>, idx: usize, layout: Layout, sizes: [usize; 2]) -> Result<Self> {
        let side = Side::of(cx.op.name, cx.input(idx)?, &layout)?;
        if element(cx.dtype(idx)).is_none() || side.matrix(sizes).is_some() {
            return Ok(Self { side, _copy: None });
        }
        let offset = cx.layout(idx).offset;
        let copy = cx.inputs[idx].with_layout(Layout { offset, ..layout }).gathered()?;
        let side = Side::of(cx.op.name, copy.address()?, copy.layout())?;
        Ok(Self { side, _copy: Some(copy) })
    }
}

/// A batch of matrices under the batch sizes of the product; a vector is one row (side 0) or one column (side 1).
fn as_matrices(layout: &Layout, batch: &Shape, [rows, columns]: [usize; 2], side: usize) -> Layout {
    let mut layout = layout.clone();
    if layout.shape.rank() == 1 {
        layout.shape.dims_mut().insert(side, 1);
        layout.strides.insert(side, 0);
    }
    let shape: Shape = batch.iter().copied().chain([rows, columns]).collect();
    layout.broadcast_to(&shape).unwrap_or(layout)
}

/// `x @ weight.T + bias`, where the rows of all of `x` form one matrix.
pub(super) fn linear(cx: &CudaCx<'_>) -> Result<()> {
    let (n, k) = (cx.shape(1)[0], cx.shape(1)[1]);
    let m: usize = cx.shape(0)[..cx.shape(0).rank() - 1].iter().product();
    let rows = Shape::from([m, k]);
    let x: Tensor = match cx.layout(0).reshape(&rows) {
        Some(layout) => cx.inputs[0].with_layout(layout),
        None => {
            let plain = cx.plain(0)?;
            plain.with_layout(Layout { offset: plain.layout().offset, ..Layout::contiguous(rows) })
        }
    };
    let weight = cx.layout(1);
    let weight = Layout {
        shape: Shape::from([k, n]),
        strides: SmallVec::from_slice(&[weight.strides[1], weight.strides[0]]),
        offset: 0,
    };
    let bias = match cx.inputs.get(2) {
        Some(_) => Some(cx.plain(2)?),
        None => None,
    };
    let is_empty = m * n * k == 0;
    let request = Request {
        dtype: cx.dtype(0),
        out_dtype: cx.dtype(0),
        batch: 1,
        sizes: [m, n, k],
        a: Side::of(cx.op.name, if is_empty { 0 } else { x.address()? }, x.layout())?,
        b: Side::of(cx.op.name, if is_empty { 0 } else { cx.input(1)? }, &weight)?,
        out: cx.output(0)?,
        bias: bias.as_ref().map(Tensor::address).transpose()?,
    };
    multiply(cx.gpu, &request)
}
