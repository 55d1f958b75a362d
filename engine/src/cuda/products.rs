//! Products of matrices by cuBLASLt. What it decides for a case is kept for the next product of that case.
//!
//! Only algorithms are taken whose sums come out the same on every run and are held as exact as the case asks for.

#![expect(unsafe_code, reason = "calls of the library")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use cudarc::cublaslt::sys;
use cudarc::driver::sys::CUstream;
use rustc_hash::FxHashMap;

use super::convolutions::Wait;
use super::driver::{Address, Answer, Driver, Element, Failure, Matrix, Product};
use crate::sync::Mutex;

/// Scratch that the library may use.
const WORKSPACE: usize = 32 << 20;

/// Algorithms of a case that are measured, at most.
const MOST_ALGORITHMS: usize = 8;

/// How often an algorithm is measured, each time in so many runs: most products take less time than the host takes to wait.
const MEASUREMENTS: usize = 3;
const RUNS: u32 = 5;

/// Parts of a long sum are added up in order, and as exactly as the sum itself.
const SUMS: u32 = sys::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_NONE as u32
    | sys::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;

/// The library on one device.
pub(super) struct Products {
    handle: sys::cublasLtHandle_t,
    known: Mutex<FxHashMap<Case, Option<Plan>>>,
    workspace: Mutex<Option<Address>>,
}

// SAFETY: the library's handles may be used by all threads.
unsafe impl Send for Products {}
// SAFETY: as above.
unsafe impl Sync for Products {}

/// What decides how a product is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Case {
    element: Element,
    out_element: Element,
    sizes: [usize; 4],
    a: Matrix,
    b: Matrix,
    coarse: bool,
    has_bias: bool,
    /// Whether all operands begin at multiples of 16 bytes.
    aligned: bool,
    measured: bool,
}

/// A case as the library describes it. Kept as long as the process runs.
#[derive(Clone, Copy)]
struct Plan {
    op: sys::cublasLtMatmulDesc_t,
    a: sys::cublasLtMatrixLayout_t,
    b: sys::cublasLtMatrixLayout_t,
    out: sys::cublasLtMatrixLayout_t,
    algorithm: sys::cublasLtMatmulAlgo_t,
}

/// What is multiplied, and on which stream.
struct Call<'a> {
    product: &'a Product,
    workspace: Address,
    stream: CUstream,
}

fn check(status: sys::cublasStatus_t) -> Answer<()> {
    match status {
        sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
        other => Err(Failure::Broken(format!("cuBLASLt: {other:?}"))),
    }
}

impl Products {
    /// The library, which is loaded; `None` where it does not start.
    pub(super) fn open() -> Option<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to a handle of ours.
        check(unsafe { sys::cublasLtCreate(&raw mut handle) }).ok()?;
        Some(Self { handle, known: Mutex::default(), workspace: Mutex::default() })
    }

    /// Asks for a product on a stream; false where the library does not take it.
    pub(super) fn multiply(
        &self,
        driver: &dyn Driver,
        stream: CUstream,
        wait: Wait<'_>,
        product: &Product,
    ) -> Answer<bool> {
        let addresses = [product.a.0, product.b.0, product.out, product.bias.unwrap_or(0)];
        let mut case = Case {
            element: product.element,
            out_element: product.out_element,
            sizes: [product.batch, product.m, product.n, product.k],
            a: product.a.1,
            b: product.b.1,
            coarse: product.coarse,
            has_bias: product.bias.is_some(),
            aligned: addresses.iter().all(|it| it % 16 == 0),
            measured: product.measured,
        };
        let call = Call { product, workspace: self.workspace(driver)?, stream };
        let even = |it: &Matrix| it.step % 4 == 0 && it.batch_step % 4 == 0;
        if case.element == Element::I8 && !(case.aligned && even(&case.a) && even(&case.b)) {
            return Ok(false);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody has measured yet, and nobody can measure now, goes as if it was not to be measured.
        case.measured &= wait.is_some() || known.contains_key(&case);
        let plan = match known.get(&case) {
            Some(plan) => *plan,
            None => *known.entry(case).or_insert(self.plan(&case, &call, wait).ok()),
        };
        let Some(plan) = plan else { return Ok(false) };
        self.run(&plan, &call)?;
        Ok(true)
    }

    fn run(&self, plan: &Plan, call: &Call<'_>) -> Answer<()> {
        let Call { product, workspace, stream } = *call;
        let (double, single, whole) = ([1.0_f64, 0.0], [1.0_f32, 0.0], [1_i32, 0]);
        let scales: [*const c_void; 2] = match product.element {
            Element::F64 => [(&raw const double[0]).cast(), (&raw const double[1]).cast()],
            Element::I8 => [(&raw const whole[0]).cast(), (&raw const whole[1]).cast()],
            Element::F16 | Element::BF16 | Element::F32 | Element::I32 => {
                [(&raw const single[0]).cast(), (&raw const single[1]).cast()]
            }
        };
        let at = |address: Address| address as usize as *const c_void;
        let out = product.out as usize as *mut c_void;
        if let Some(bias) = product.bias {
            set(
                plan.op,
                sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                &bias,
            )?;
        }
        // Column by column, the library's way, a row-major result is its transpose: b^T @ a^T.
        // SAFETY: the descriptions are those of these operands, which their owners keep until the stream is done with them.
        check(unsafe {
            sys::cublasLtMatmul(
                self.handle,
                plan.op,
                scales[0],
                at(product.b.0),
                plan.b,
                at(product.a.0),
                plan.a,
                scales[1],
                out.cast_const(),
                plan.out,
                out,
                plan.out,
                &raw const plan.algorithm,
                workspace as usize as *mut c_void,
                WORKSPACE,
                stream.cast(),
            )
        })
    }

    fn workspace(&self, driver: &dyn Driver) -> Answer<Address> {
        let mut known = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some(address) => Ok(address),
            None => Ok(*known.insert(driver.allocate(WORKSPACE)?)),
        }
    }

    /// What the library makes of a case; measures on the places of a call, whose result is overwritten, if the case asks for that.
    fn plan(&self, case: &Case, call: &Call<'_>, wait: Wait<'_>) -> Answer<Plan> {
        use sys::cublasComputeType_t as Compute;
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let [batch, m, n, k] = case.sizes;
        let (compute, scale) = match case.element {
            Element::F64 => (Compute::CUBLAS_COMPUTE_64F, sys::cudaDataType_t::CUDA_R_64F),
            Element::I8 => (Compute::CUBLAS_COMPUTE_32I, sys::cudaDataType_t::CUDA_R_32I),
            Element::F32 if case.coarse => {
                (Compute::CUBLAS_COMPUTE_32F_FAST_TF32, sys::cudaDataType_t::CUDA_R_32F)
            }
            Element::F16 | Element::BF16 | Element::F32 | Element::I32 => {
                (Compute::CUBLAS_COMPUTE_32F, sys::cudaDataType_t::CUDA_R_32F)
            }
        };
        let mut op = ptr::null_mut();
        // SAFETY: the pointer is to a handle of ours.
        check(unsafe { sys::cublasLtMatmulDescCreate(&raw mut op, compute, scale) })?;
        set(op, Attribute::CUBLASLT_MATMUL_DESC_TRANSA, &transposed(case.b))?;
        set(op, Attribute::CUBLASLT_MATMUL_DESC_TRANSB, &transposed(case.a))?;
        if case.has_bias {
            let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS;
            set(op, Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
        }
        let whole = Matrix { turned: false, step: n as i64, batch_step: (m * n) as i64 };
        let a = layout(case.element, case.a, [m, k], batch)?;
        let b = layout(case.element, case.b, [k, n], batch)?;
        let out = layout(case.out_element, whole, [m, n], batch)?;
        let plan = |algorithm| Plan { op, a, b, out, algorithm };
        let most = if case.measured { MOST_ALGORITHMS } else { 1 };
        let plans: Vec<Plan> =
            self.algorithms([b, a, out], op, case.aligned, most)?.into_iter().map(plan).collect();
        let quickest = wait.filter(|_| plans.len() > 1).and_then(|wait| {
            let timed = plans.iter().filter_map(|it| Some((self.time(it, call, wait)?, it)));
            timed.min_by_key(|it| it.0).map(|it| *it.1)
        });
        let first = plans.first().copied();
        quickest.or(first).ok_or_else(|| Failure::Broken("cuBLASLt takes no such product".into()))
    }

    /// The time that some runs of a plan take, with what the host does for it; `None` if it does not run.
    fn time(
        &self,
        plan: &Plan,
        call: &Call<'_>,
        wait: &dyn Fn() -> Answer<()>,
    ) -> Option<Duration> {
        let run = |count: u32| {
            let start = Instant::now();
            (0..count).try_for_each(|_| self.run(plan, call)).ok()?;
            wait().ok()?;
            Some(start.elapsed())
        };
        // Kernels are loaded when they first run.
        run(1)?;
        (0..MEASUREMENTS).map(|_| run(RUNS)).min()?
    }

    /// Algorithms for a product as the library sees it, the most promising first.
    fn algorithms(
        &self,
        [a, b, out]: [sys::cublasLtMatrixLayout_t; 3],
        op: sys::cublasLtMatmulDesc_t,
        aligned: bool,
        most: usize,
    ) -> Answer<Vec<sys::cublasLtMatmulAlgo_t>> {
        use sys::cublasLtMatmulPreferenceAttributes_t as Attribute;
        let mut preference = ptr::null_mut();
        let mut found = [const { MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::zeroed() };
            MOST_ALGORITHMS];
        let most = most.min(MOST_ALGORITHMS);
        let mut count = 0;
        let alignment: u32 = if aligned { 16 } else { 2 };
        let sides = [
            Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        ];
        // SAFETY: each value has the size that is said; the library writes at most `most` results, and says how many.
        unsafe {
            check(sys::cublasLtMatmulPreferenceCreate(&raw mut preference))?;
            let prefer = |which, value: *const c_void, size| {
                check(sys::cublasLtMatmulPreferenceSetAttribute(preference, which, value, size))
            };
            let bytes = WORKSPACE;
            let room = Attribute::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            prefer(room, (&raw const bytes).cast(), size_of::<usize>())?;
            let sums = Attribute::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK;
            prefer(sums, ptr::from_ref(&SUMS).cast(), size_of::<u32>())?;
            for side in sides {
                prefer(side, (&raw const alignment).cast(), size_of::<u32>())?;
            }
            let done = sys::cublasLtMatmulAlgoGetHeuristic(
                self.handle,
                op,
                a,
                b,
                out,
                out,
                preference,
                most as i32,
                found.as_mut_ptr().cast(),
                &raw mut count,
            );
            sys::cublasLtMatmulPreferenceDestroy(preference);
            check(done)?;
            let found = found.iter().take(count.max(0) as usize).map(|it| it.assume_init_ref());
            let works = |it: &&sys::cublasLtMatmulHeuristicResult_t| check(it.state).is_ok();
            Ok(found.filter(works).map(|it| it.algo).collect())
        }
    }
}

fn set<T>(
    op: sys::cublasLtMatmulDesc_t,
    which: sys::cublasLtMatmulDescAttributes_t,
    value: &T,
) -> Answer<()> {
    let (value, size) = (ptr::from_ref(value).cast(), size_of::<T>());
    // SAFETY: the value has the size that is said.
    check(unsafe { sys::cublasLtMatmulDescSetAttribute(op, which, value, size) })
}

/// `CUBLAS_OP_N` or `CUBLAS_OP_T`.
fn transposed(matrix: Matrix) -> i32 {
    matrix.turned.into()
}

/// A row-major matrix of `rows x columns` as the library sees it: column by column, with both exchanged.
fn layout(
    element: Element,
    matrix: Matrix,
    [rows, columns]: [usize; 2],
    batch: usize,
) -> Answer<sys::cublasLtMatrixLayout_t> {
    use sys::cublasLtMatrixLayoutAttribute_t as Attribute;
    let ty = match element {
        Element::F16 => sys::cudaDataType::CUDA_R_16F,
        Element::BF16 => sys::cudaDataType::CUDA_R_16BF,
        Element::F32 => sys::cudaDataType::CUDA_R_32F,
        Element::F64 => sys::cudaDataType::CUDA_R_64F,
        Element::I8 => sys::cudaDataType::CUDA_R_8I,
        Element::I32 => sys::cudaDataType::CUDA_R_32I,
    };
    let (rows, columns) = if matrix.turned { (rows, columns) } else { (columns, rows) };
    let mut res = ptr::null_mut();
    let (count, step) = (batch as i32, matrix.batch_step);
    // SAFETY: the pointer is to a handle of ours; each value has the size that is said.
    unsafe {
        let (rows, columns) = (rows as u64, columns as u64);
        check(sys::cublasLtMatrixLayoutCreate(&raw mut res, ty, rows, columns, matrix.step))?;
        let set = |which, value: *const c_void, size| {
            check(sys::cublasLtMatrixLayoutSetAttribute(res, which, value, size))
        };
        let number = Attribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
        set(number, (&raw const count).cast(), size_of::<i32>())?;
        let offset = Attribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
        set(offset, (&raw const step).cast(), size_of::<i64>())?;
    }
    Ok(res)
}
