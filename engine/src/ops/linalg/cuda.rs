//! Factors of matrices on a GPU: a block for each matrix.

use std::borrow::Cow;

use super::linalg_eigh::is_upper;
use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::Parameters;
use crate::cuda::source::type_of;
use crate::op::CudaCx;
use crate::{DType, Error, Result, Tensor};

const EIGEN: &str = concat!(include_str!("blocks.cu"), include_str!("eigen.cu"));
const FACTORS: &str = concat!(include_str!("blocks.cu"), include_str!("factors.cu"));
const REFLECTIONS: &str = concat!(include_str!("blocks.cu"), include_str!("reflections.cu"));
const ROTATIONS: &str = concat!(include_str!("blocks.cu"), include_str!("rotations.cu"));

/// The matrices of an operand.
struct Sizes {
    count: usize,
    rows: usize,
    columns: usize,
}

impl Sizes {
    /// Errors where places in a matrix are more than kernels count.
    fn of(cx: &CudaCx<'_>, idx: usize) -> Result<Self> {
        let shape = cx.shape(idx);
        let [lead @ .., rows, columns] = &shape[..] else {
            return Err(cx.seen().bad_shapes("matrices have at least two dimensions"));
        };
        if rows.saturating_mul(*columns) > i32::MAX as usize {
            return Err(Error::TooLarge { op: cx.op.name, shape: shape.clone() });
        }
        Ok(Self { count: lead.iter().product(), rows: *rows, columns: *columns })
    }

    fn least(&self) -> usize {
        self.rows.min(self.columns)
    }

    fn numel(&self) -> usize {
        self.count * self.rows * self.columns
    }

    /// The number of matrices, then rows and columns.
    fn parameters(&self) -> Parameters {
        Parameters::default().long(self.count).int(self.rows as i32).int(self.columns as i32)
    }

    /// A block for each, of as many threads as there is work.
    fn threads(&self) -> u32 {
        match self.rows * self.columns {
            0..=256 => 32,
            257..=4096 => 128,
            _ => 512,
        }
    }
}

/// Runs a kernel with a block for each matrix.
fn run(
    cx: &CudaCx<'_>,
    sizes: &Sizes,
    (name, text): (&'static str, &'static str),
    parameters: &Parameters,
) -> Result<()> {
    let (dtype, threads) = (cx.dtype(0), sizes.threads());
    let eps = if dtype == DType::F64 { "2.3e-16" } else { "1.2e-7f" };
    let defines = [
        ("T", Cow::Borrowed(type_of(dtype))),
        ("EPS", eps.into()),
        ("THREADS", threads.to_string().into()),
    ];
    if sizes.count == 0 {
        return Ok(());
    }
    cx.run(name, text, &defines, Grid::blocks(sizes.count, threads), parameters)
}

/// Scratch for so many numbers.
fn numbers(cx: &CudaCx<'_>, n: usize) -> Result<Block> {
    cx.scratch(n.max(1) * cx.dtype(0).size())
}

/// Where the elements are; anywhere if there are none.
fn place(tensor: &Tensor) -> Result<Address> {
    if tensor.numel() == 0 { Ok(0) } else { tensor.address() }
}

/// Where result `idx` is.
fn result(cx: &CudaCx<'_>, idx: usize) -> Result<Address> {
    place(&cx.outputs[idx])
}

pub(super) fn cholesky(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let parameters = Parameters::default()
        .long(sizes.count)
        .int(sizes.rows as i32)
        .int(i32::from(cx.flag(0)))
        .addresses([place(&a)?, result(cx, 0)?, result(cx, 1)?]);
    run(cx, &sizes, ("cholesky", FACTORS), &parameters)
}

pub(super) fn lu(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let places = [place(&a)?, result(cx, 0)?, result(cx, 1)?, result(cx, 2)?];
    run(cx, &sizes, ("lu", FACTORS), &sizes.parameters().addresses(places))
}

pub(super) fn permutation(cx: &CudaCx<'_>) -> Result<()> {
    let (pivots, size) = (cx.plain(0)?, cx.int(0) as usize);
    let each = pivots.shape().last().copied().unwrap_or(0);
    let count: usize = pivots.shape()[..pivots.rank() - 1].iter().product();
    if count * size == 0 {
        return Ok(());
    }
    let parameters = Parameters::default()
        .long(count)
        .int(each as i32)
        .int(size as i32)
        .address(place(&pivots)?)
        .address(result(cx, 0)?);
    let defines = [("T", "float"), ("EPS", "0"), ("THREADS", "256")];
    let defines = defines.map(|(name, it)| (name, Cow::Borrowed(it)));
    cx.run("permutation", FACTORS, &defines, Grid::each(count), &parameters)
}

pub(super) fn solve_triangular(cx: &CudaCx<'_>) -> Result<()> {
    let (a, b, sizes) = (cx.plain(0)?, cx.plain(1)?, Sizes::of(cx, 1)?);
    let (upper, left, unit) = (cx.flag(0), cx.flag(1), cx.flag(2));
    let [n, k] = match left {
        true => [sizes.rows, sizes.columns],
        false => [sizes.columns, sizes.rows],
    };
    if sizes.numel() == 0 {
        return Ok(());
    }
    let flags = [n as i32, k as i32, i32::from(upper), i32::from(left), i32::from(unit)];
    let parameters =
        flags.into_iter().fold(Parameters::default().long(sizes.count), |all, it| all.int(it));
    let places = [place(&a)?, place(&b)?, result(cx, 0)?];
    run(cx, &sizes, ("solve_triangular", FACTORS), &parameters.addresses(places))
}

pub(super) fn qr(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let rows = cx.outputs[1].shape()[cx.outputs[1].rank() - 2];
    let columns = if cx.word(0) == "r" { 0 } else { rows };
    let [from, q, r] = [place(&a)?, result(cx, 0)?, result(cx, 1)?];
    reflect(cx, &sizes, [columns, rows], [from, q, r])
}

/// The reflections of matrices at the first place: columns at the second, triangles at the third.
fn reflect(
    cx: &CudaCx<'_>,
    sizes: &Sizes,
    [columns, rows]: [usize; 2],
    [from, q, r]: [Address; 3],
) -> Result<()> {
    let works = numbers(cx, sizes.numel())?;
    let factors = numbers(cx, sizes.count * sizes.least())?;
    let parameters = sizes.parameters().int(columns as i32).int(rows as i32).addresses([
        from,
        works.address(),
        factors.address(),
        q,
        r,
    ]);
    run(cx, sizes, ("reflections", REFLECTIONS), &parameters)
}

pub(super) fn eigh(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let [works, bases] = [numbers(cx, sizes.numel())?, numbers(cx, sizes.numel())?];
    let turns = numbers(cx, sizes.count * (sizes.rows + 1))?;
    let parameters = Parameters::default()
        .long(sizes.count)
        .int(sizes.rows as i32)
        .int(i32::from(is_upper(cx.op.name, cx.attrs)?))
        .addresses([place(&a)?, works.address(), bases.address(), turns.address()])
        .addresses([result(cx, 0)?, result(cx, 1)?, result(cx, 2)?]);
    run(cx, &sizes, ("symmetric", ROTATIONS), &parameters)
}

/// By rotations of the columns, or of the rows where these are fewer; reflections then complete the vectors.
pub(super) fn svd(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let (k, count) = (sizes.least(), sizes.count);
    let [left, right] = if cx.flag(0) { [sizes.rows, sizes.columns] } else { [k, k] };
    let squares = count * k * k;
    let [lines, columns] = [numbers(cx, sizes.numel())?, numbers(cx, sizes.numel())?];
    let [bases, turns, triangles] = [(); 3].map(|()| numbers(cx, squares));
    let (bases, turns, triangles) = (bases?, turns?, triangles?);
    let lengths = numbers(cx, count * k)?;
    let from = place(&a)?;
    let parameters = sizes
        .parameters()
        .addresses([from, lines.address(), bases.address(), lengths.address()])
        .addresses([result(cx, 1)?, columns.address(), turns.address(), result(cx, 3)?]);
    run(cx, &sizes, ("turned", ROTATIONS), &parameters)?;
    let len = sizes.rows.max(sizes.columns);
    let wanted = if sizes.rows < sizes.columns { right } else { left };
    let long = Sizes { count, rows: len, columns: k };
    let q = numbers(cx, count * len * wanted)?;
    let places = [columns.address(), q.address(), triangles.address()];
    reflect(cx, &long, [wanted, k], places)?;
    let parameters = sizes
        .parameters()
        .int(left as i32)
        .int(right as i32)
        .addresses([q.address(), triangles.address(), turns.address(), result(cx, 3)?])
        .addresses([result(cx, 0)?, result(cx, 2)?]);
    run(cx, &sizes, ("oriented", ROTATIONS), &parameters)
}

/// Matrices that are in work at once, each with scratch of its own.
const AT_ONCE: usize = 1024;

/// Eigenvalues, and vectors where there are results for them, in doubles.
pub(super) fn eig(cx: &CudaCx<'_>) -> Result<()> {
    let (a, sizes) = (cx.plain(0)?, Sizes::of(cx, 0)?);
    let (n, blocks, wanted) = (sizes.rows, sizes.count.min(AT_ONCE), cx.outputs.len() > 3);
    if blocks == 0 {
        return Ok(());
    }
    let each = if wanted { 3 * n * n } else { n * n } + 3 * n;
    let works = cx.scratch((blocks * each).max(1) * size_of::<f64>())?;
    let vectors = if wanted { [result(cx, 2)?, result(cx, 3)?] } else { [0; 2] };
    let parameters = Parameters::default()
        .long(sizes.count)
        .int(n as i32)
        .int(i32::from(wanted))
        .addresses([place(&a)?, works.address(), result(cx, 0)?, result(cx, 1)?])
        .addresses(vectors)
        .address(result(cx, cx.outputs.len() - 1)?);
    let threads = sizes.threads();
    let defines = [
        ("T", Cow::Borrowed("double")),
        ("E", type_of(cx.dtype(0)).into()),
        ("EPS", "2.3e-16".into()),
        ("THREADS", threads.to_string().into()),
    ];
    cx.run("eigen", EIGEN, &defines, Grid::blocks(blocks, threads), &parameters)
}
