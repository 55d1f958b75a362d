//! Convolutions by cuDNN. What it decides for a case is kept for the next convolution of that case.
//!
//! Only algorithms are taken whose sums come out the same on every run.

#![expect(unsafe_code, reason = "calls of the library")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::PoisonError;

use cudarc::driver::sys::CUstream;
use rustc_hash::FxHashMap;

use super::cudnn::{self, Descriptor, Functions, Handle, PassFunctions, Performance};
use super::driver::{Address, Answer, Convolution, ConvolutionCase, Element};
use super::libraries;
use crate::cpu::conv::ConvPass;
use crate::sync::Mutex;

/// The most scratch that an algorithm may have.
const MOST_WORKSPACE: usize = 1 << 30;

/// Scratch is asked for in powers of two of at least so many bytes, so that few blocks are kept for all cases.
const LEAST_WORKSPACE: usize = 1 << 20;

/// Algorithms that the library is asked to name, at most.
const MOST_ALGORITHMS: usize = 10;

/// Gives scratch of so many bytes on the device, if there is room.
pub(crate) type Room<'a> = &'a mut dyn FnMut(usize) -> Option<Address>;

/// The library on one device.
pub(super) struct Convolutions {
    functions: &'static Functions,
    handle: Handle,
    /// The library's handle may be used by one thread at a time: that which holds this.
    known: Mutex<FxHashMap<ConvolutionCase, Option<Plan>>>,
}

// SAFETY: the library's handles may be used by all threads, one after the other.
unsafe impl Send for Convolutions {}
// SAFETY: the handle and what is known are used under the lock.
unsafe impl Sync for Convolutions {}

/// A case as the library describes it. Kept as long as the process runs.
struct Plan {
    described: Described,
    /// What may compute it, the most promising first.
    choices: Vec<Choice>,
}

/// The descriptors of a case.
#[derive(Clone, Copy)]
struct Described {
    /// Of the operands and the result of its pass.
    sides: [Descriptor; 3],
    convolution: Descriptor,
}

/// An algorithm with what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    algorithm: c_int,
    math: c_int,
    workspace: usize,
}

/// Addresses of the operands and the result of a pass.
type Places = [Address; 3];

fn data(address: Address) -> *mut c_void {
    address as usize as *mut c_void
}

impl Convolutions {
    /// The library, which is loaded; `None` where it does not start.
    pub(super) fn open() -> Option<Self> {
        // The library looks for these by name when it starts.
        let _ = (libraries::cublas_lt(), libraries::nvrtc());
        let functions = Functions::all()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to a handle of ours.
        functions.check(unsafe { (functions.create)(&raw mut handle) }).ok()?;
        Some(Self { functions, handle, known: Mutex::default() })
    }

    /// Asks for a convolution on a stream; false where the library does not take it.
    pub(super) fn convolve(
        &self,
        stream: CUstream,
        convolution: &Convolution,
        room: Room<'_>,
    ) -> Answer<bool> {
        let case = &convolution.case;
        let places = in_order(case.pass, convolution.places);
        if places.iter().any(|it| it % 16 != 0) {
            return Ok(false);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the handle was made, and this thread has it; the stream lives as long as the process.
        self.functions.check(unsafe { (self.functions.set_stream)(self.handle, stream) })?;
        if !known.contains_key(case) {
            known.insert(*case, self.plan(case, places, room).ok());
        }
        let Some(Some(plan)) = known.get_mut(case) else { return Ok(false) };
        while let Some(&choice) = plan.choices.first() {
            if self.run(case, plan.described, choice, places, room)? {
                return Ok(true);
            }
            plan.choices.remove(0);
        }
        Ok(false)
    }

    /// Runs one algorithm; false if there is no room for it, or the library refuses it.
    fn run(
        &self,
        case: &ConvolutionCase,
        described: Described,
        choice: Choice,
        [a, b, out]: Places,
        room: Room<'_>,
    ) -> Answer<bool> {
        let Some(workspace) = scratch(choice.workspace, room) else { return Ok(false) };
        let (double, single) = ([1.0_f64, 0.0], [1.0_f32, 0.0]);
        let [alpha, beta]: [*const c_void; 2] = match case.element {
            Element::F64 => [0, 1].map(|it| (&raw const double[it]).cast()),
            _ => [0, 1].map(|it| (&raw const single[it]).cast()),
        };
        let Described { sides, convolution } = described;
        // SAFETY: the descriptors are those of these operands, which their owners keep until the stream is done with them, as is the
        // workspace, of the size that the algorithm has asked for.
        let status = unsafe {
            self.functions.check((self.functions.set_math)(convolution, choice.math))?;
            (self.pass(case.pass).run)(
                self.handle,
                alpha,
                sides[0],
                data(a),
                sides[1],
                data(b),
                convolution,
                choice.algorithm,
                data(workspace),
                choice.workspace,
                beta,
                sides[2],
                data(out),
            )
        };
        match status {
            cudnn::SUCCESS => Ok(true),
            it if it < cudnn::EXECUTION_FAILED => Ok(false),
            it => self.functions.check(it).map(|()| true),
        }
    }

    fn pass(&self, pass: ConvPass) -> &PassFunctions {
        match pass {
            ConvPass::Forward => &self.functions.forward,
            ConvPass::InputGrad => &self.functions.input_grad,
            ConvPass::WeightGrad => &self.functions.weight_grad,
        }
    }

    /// What the library makes of a case; measures on the places, whose result is overwritten, if the case asks for that.
    fn plan(&self, case: &ConvolutionCase, places: Places, room: Room<'_>) -> Answer<Plan> {
        let described = self.describe(case)?;
        let measured =
            if case.measured { self.measured(case, described, places, room) } else { Vec::new() };
        let found = if measured.is_empty() { self.expected(case, described) } else { measured };
        Ok(Plan { described, choices: choices(case, &found) })
    }

    /// Algorithms in the order of the time that the library expects; none if it takes no such case.
    fn expected(&self, case: &ConvolutionCase, described: Described) -> Vec<Performance> {
        let Described { sides: [a, b, out], convolution } = described;
        self.answers(|most, count, found| {
            // SAFETY: the descriptors are whole; the library writes at most as many answers as there is room for.
            unsafe {
                (self.pass(case.pass).get)(self.handle, a, b, convolution, out, most, count, found)
            }
        })
    }

    /// Algorithms in the order of the time that they have taken.
    fn measured(
        &self,
        case: &ConvolutionCase,
        described: Described,
        places: Places,
        room: Room<'_>,
    ) -> Vec<Performance> {
        let Described { sides, convolution } = described;
        let [a, b, out] = places.map(data);
        let sizes = [MOST_WORKSPACE, MOST_WORKSPACE >> 3, 0];
        let Some((bytes, workspace)) =
            sizes.into_iter().find_map(|it| Some((it, scratch(it, room)?)))
        else {
            return Vec::new();
        };
        self.answers(|most, count, found| {
            // SAFETY: as in `expected`; the workspace has so many bytes, and the places are those of the descriptors.
            unsafe {
                (self.pass(case.pass).find)(
                    self.handle,
                    sides[0],
                    a,
                    sides[1],
                    b,
                    convolution,
                    sides[2],
                    out,
                    most,
                    count,
                    found,
                    data(workspace),
                    bytes,
                )
            }
        })
    }

    /// What the library answers when it is asked for algorithms.
    fn answers(
        &self,
        ask: impl FnOnce(c_int, *mut c_int, *mut Performance) -> cudnn::Status,
    ) -> Vec<Performance> {
        let mut found = [Performance::NONE; MOST_ALGORITHMS];
        let mut count = 0;
        let status = ask(MOST_ALGORITHMS as c_int, &raw mut count, found.as_mut_ptr());
        let count = if status == cudnn::SUCCESS { count.max(0) as usize } else { 0 };
        found[..count.min(MOST_ALGORITHMS)].to_vec()
    }

    fn describe(&self, case: &ConvolutionCase) -> Answer<Described> {
        let it = self.functions;
        let element = data_type(case.element);
        let tensor = |[n, c, h, w]: [i32; 4]| {
            let res = self.created(it.create_tensor)?;
            // SAFETY: the descriptor was made.
            it.check(unsafe { (it.set_tensor)(res, cudnn::NCHW, element, n, c, h, w) })?;
            Ok(res)
        };
        let (images, results) = (tensor(case.images)?, tensor(case.results)?);
        let kernels = self.created(it.create_filter)?;
        let [k, c, h, w] = case.kernels;
        let convolution = self.created(it.create_convolution)?;
        let ([top, left], [down, right]) = (case.padding, case.stride);
        let [rows, columns] = case.dilation;
        let (mode, sums) = (cudnn::CROSS_CORRELATION, sums_type(case.element));
        // SAFETY: the descriptors were made.
        unsafe {
            it.check((it.set_filter)(kernels, element, cudnn::NCHW, k, c, h, w))?;
            it.check((it.set_convolution)(
                convolution,
                top,
                left,
                down,
                right,
                rows,
                columns,
                mode,
                sums,
            ))?;
            it.check((it.set_groups)(convolution, case.groups))?;
            it.check((it.set_math)(convolution, math(case)))?;
        }
        Ok(Described { sides: in_order(case.pass, [images, kernels, results]), convolution })
    }

    fn created(
        &self,
        create: unsafe extern "C" fn(*mut Descriptor) -> cudnn::Status,
    ) -> Answer<Descriptor> {
        let mut res = ptr::null_mut();
        // SAFETY: the pointer is to a descriptor of ours.
        self.functions.check(unsafe { create(&raw mut res) })?;
        Ok(res)
    }
}

/// Scratch for an algorithm that needs so many bytes.
fn scratch(bytes: usize, room: Room<'_>) -> Option<Address> {
    match bytes {
        0 => Some(0),
        _ => room(bytes.max(LEAST_WORKSPACE).next_power_of_two()),
    }
}

/// Of images, kernels and results: the two operands of a pass and what it gives, in the library's order.
fn in_order<T>(pass: ConvPass, [images, kernels, results]: [T; 3]) -> [T; 3] {
    match pass {
        ConvPass::Forward => [images, kernels, results],
        ConvPass::InputGrad => [kernels, results, images],
        ConvPass::WeightGrad => [images, results, kernels],
    }
}

/// The answers that may be used for a case, in their order.
fn choices(case: &ConvolutionCase, found: &[Performance]) -> Vec<Choice> {
    let is_exact = case.element == Element::F32 && !case.coarse;
    let fits = |it: &&Performance| {
        it.status == cudnn::SUCCESS
            && it.determinism == cudnn::DETERMINISTIC
            && it.memory <= MOST_WORKSPACE
            && (!is_exact || it.math == cudnn::math::FMA)
    };
    let choice =
        |it: &Performance| Choice { algorithm: it.algorithm, math: it.math, workspace: it.memory };
    found.iter().filter(fits).map(choice).collect()
}

fn data_type(element: Element) -> c_int {
    match element {
        Element::F16 => cudnn::data_type::HALF,
        Element::BF16 => cudnn::data_type::BFLOAT16,
        Element::F32 => cudnn::data_type::FLOAT,
        Element::F64 => cudnn::data_type::DOUBLE,
    }
}

/// The type in which sums are held: halves are added up in float32.
fn sums_type(element: Element) -> c_int {
    match element {
        Element::F64 => cudnn::data_type::DOUBLE,
        _ => cudnn::data_type::FLOAT,
    }
}

/// How elements are multiplied: float32 keeps all its digits unless the case is coarse.
fn math(case: &ConvolutionCase) -> c_int {
    match case.element {
        Element::F16 | Element::BF16 => cudnn::math::TENSOR_OP,
        Element::F32 if !case.coarse => cudnn::math::FMA,
        _ => cudnn::math::DEFAULT,
    }
}

/// The version of the library, `90800` for 9.8.0, where it was found.
pub fn version() -> Option<usize> {
    Functions::all().map(Functions::version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: ConvolutionCase = ConvolutionCase {
        pass: ConvPass::Forward,
        element: Element::F32,
        images: [1; 4],
        kernels: [1; 4],
        results: [1; 4],
        padding: [0; 2],
        stride: [1; 2],
        dilation: [1; 2],
        groups: 1,
        coarse: false,
        measured: false,
    };

    const EXACT: Performance = Performance {
        status: cudnn::SUCCESS,
        determinism: cudnn::DETERMINISTIC,
        math: cudnn::math::FMA,
        ..Performance::NONE
    };

    /// Numbers of the algorithms that a case takes of these answers.
    fn taken(case: ConvolutionCase, found: &[Performance]) -> Vec<c_int> {
        choices(&case, found).iter().map(|it| it.algorithm).collect()
    }

    #[test]
    fn algorithms_are_exact_and_give_the_same_on_every_run() {
        let found = [
            Performance { algorithm: 1, determinism: 0, ..EXACT },
            Performance { algorithm: 2, math: cudnn::math::DEFAULT, ..EXACT },
            Performance { algorithm: 3, status: 3000, ..EXACT },
            Performance { algorithm: 4, memory: MOST_WORKSPACE + 1, ..EXACT },
            Performance { algorithm: 6, memory: MOST_WORKSPACE, ..EXACT },
            Performance { algorithm: 5, ..EXACT },
        ];
        assert_eq!(taken(CASE, &found), [6, 5]);
        assert_eq!(taken(ConvolutionCase { coarse: true, ..CASE }, &found), [2, 6, 5]);
        assert_eq!(taken(ConvolutionCase { element: Element::F16, ..CASE }, &found), [2, 6, 5]);
    }

    #[test]
    fn scratch_comes_in_few_sizes() {
        let mut asked = Vec::new();
        let mut room = |bytes| {
            asked.push(bytes);
            Some(512)
        };
        assert_eq!(scratch(0, &mut room), Some(0));
        let sizes = [1, LEAST_WORKSPACE + 1, MOST_WORKSPACE];
        sizes.iter().for_each(|it| assert_eq!(scratch(*it, &mut room), Some(512)));
        assert_eq!(asked, [LEAST_WORKSPACE, 2 * LEAST_WORKSPACE, MOST_WORKSPACE]);
        assert_eq!(scratch(1, &mut |_| None), None);
    }

    #[test]
    fn the_library_is_of_the_version_that_is_asked_for() {
        assert!(version().is_none_or(|it| it / 10_000 == 9));
    }
}
