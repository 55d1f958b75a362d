//! Convolutions as graphs of cuDNN: a case is a graph of one operation, and the library names engines that compute it, the most promising
//! first.
//!
//! Only those are taken whose sums come out the same on every run and are as exact as the case asks for.

use super::cudnn::{
    ConvolutionMode, DataType, FORWARD, Functions, Handle, HeuristicsMode, INPUT_GRAD, Kind, Name,
    Note, Operation, WEIGHT_GRAD,
};
use super::descriptors::Descriptor;
use super::driver::{Answer, ConvolutionCase, Element};
use crate::cpu::conv::ConvPass;

/// Bytes of whose multiples all operands begin.
pub(super) const ALIGNMENT: u64 = 16;

/// What images, kernels and results are called in a graph.
pub(super) const IDS: [i64; 3] = [b'x' as i64, b'w' as i64, b'y' as i64];

/// How engines are asked for: by what is expected of them, and then those that take nearly everything.
static MODES: [HeuristicsMode; 2] = [HeuristicsMode::A, HeuristicsMode::FALLBACK];

/// Notes that an engine has, at most.
const MOST_NOTES: usize = 32;

/// Engines of a case with their settings (`CUDNN_BACKEND_ENGINECFG_DESCRIPTOR`), in the order in which they should be tried.
pub(super) struct Engines {
    functions: &'static Functions,
    case: ConvolutionCase,
    graph: Descriptor,
    modes: std::slice::Iter<'static, HeuristicsMode>,
    found: std::vec::IntoIter<Descriptor>,
}

impl Engines {
    /// An error where the library knows no such operation.
    pub(super) fn new(
        functions: &'static Functions,
        handle: Handle,
        case: &ConvolutionCase,
    ) -> Answer<Self> {
        let graph = Descriptor::new(functions, Kind::GRAPH)?
            .with(Name::GRAPH_HANDLE, &[handle])?
            .with_part(Name::GRAPH_OPERATIONS, &operation(functions, case)?)?
            .finalized()?;
        let (modes, found) = (MODES.iter(), Vec::new().into_iter());
        Ok(Self { functions, case: *case, graph, modes, found })
    }

    /// What the library names in a mode.
    fn named(&self, mode: HeuristicsMode) -> Answer<Vec<Descriptor>> {
        let heuristics = Descriptor::new(self.functions, Kind::HEURISTICS)?
            .with_part(Name::HEURISTICS_GRAPH, &self.graph)?
            .with(Name::HEURISTICS_MODE, &[mode])?
            .finalized()?;
        let count = heuristics.count(Name::HEURISTICS_RESULTS)?;
        heuristics.parts(Name::HEURISTICS_RESULTS, Kind::ENGINE_CONFIG, count)
    }
}

impl Iterator for Engines {
    type Item = Descriptor;

    fn next(&mut self) -> Option<Descriptor> {
        loop {
            if let Some(config) = self.found.find(|it| takes(&self.case, it)) {
                return Some(config);
            }
            let mode = *self.modes.next()?;
            self.found = self.named(mode).unwrap_or_default().into_iter();
        }
    }
}

/// Whether a case takes an engine. One of which nothing is known is not taken.
fn takes(case: &ConvolutionCase, config: &Descriptor) -> bool {
    let Ok(engine) = config.parts(Name::CONFIG_ENGINE, Kind::ENGINE, 1) else { return false };
    let mut notes = [Note::TENSOR_CORE; MOST_NOTES];
    let read = |it: &Descriptor| Some(admits(case, it.read(Name::ENGINE_NOTES, &mut notes).ok()?));
    engine.first().and_then(read).unwrap_or(false)
}

/// Whether a case takes an engine of which this is noted.
fn admits(case: &ConvolutionCase, notes: &[Note]) -> bool {
    let is_exact = case.element == Element::F32 && !case.coarse;
    let refused =
        [Note::NONDETERMINISTIC, Note::DOWN_CONVERT_INPUTS, Note::REDUCED_PRECISION_REDUCTION];
    !notes.iter().any(|it| refused.contains(it) || is_exact && *it == Note::TENSOR_CORE)
}

/// The operation of a case. How many groups it has follows from the channels of its images and its kernels.
fn operation(functions: &'static Functions, case: &ConvolutionCase) -> Answer<Descriptor> {
    let Operation { kind, alpha, beta, convolution, images, kernels, results } = match case.pass {
        ConvPass::Forward => &FORWARD,
        ConvPass::InputGrad => &INPUT_GRAD,
        ConvPass::WeightGrad => &WEIGHT_GRAD,
    };
    let tensor = |id, sizes| tensor(functions, case.element, id, sizes);
    let res = Descriptor::new(functions, *kind)?
        .with_part(*convolution, &steps(functions, case)?)?
        .with_part(*images, &tensor(IDS[0], case.images)?)?
        .with_part(*kernels, &tensor(IDS[1], case.kernels)?)?
        .with_part(*results, &tensor(IDS[2], case.results)?)?;
    let res = match case.element {
        Element::F64 => res.with(*alpha, &[1.0_f64])?.with(*beta, &[0.0_f64])?,
        Element::F16 | Element::BF16 | Element::F32 | Element::I8 | Element::I32 => {
            res.with(*alpha, &[1.0_f32])?.with(*beta, &[0.0_f32])?
        }
    };
    res.finalized()
}

/// Padding, stride and dilation of a case, and how it is added up.
fn steps(functions: &'static Functions, case: &ConvolutionCase) -> Answer<Descriptor> {
    let padding = case.padding.map(i64::from);
    Descriptor::new(functions, Kind::CONVOLUTION)?
        .with(Name::CONVOLUTION_SUMS, &[sums_type(case.element)])?
        .with(Name::CONVOLUTION_MODE, &[ConvolutionMode::CROSS_CORRELATION])?
        .with(Name::CONVOLUTION_AXES, &[padding.len() as i64])?
        .with(Name::CONVOLUTION_PRE_PADDINGS, &padding)?
        .with(Name::CONVOLUTION_POST_PADDINGS, &padding)?
        .with(Name::CONVOLUTION_STRIDES, &case.stride.map(i64::from))?
        .with(Name::CONVOLUTION_DILATIONS, &case.dilation.map(i64::from))?
        .finalized()
}

/// A tensor in row-major order.
fn tensor(
    functions: &'static Functions,
    element: Element,
    id: i64,
    sizes: [i32; 4],
) -> Answer<Descriptor> {
    let sizes = sizes.map(i64::from);
    Descriptor::new(functions, Kind::TENSOR)?
        .with(Name::TENSOR_TYPE, &[data_type(element)])?
        .with(Name::TENSOR_SIZES, &sizes)?
        .with(Name::TENSOR_STRIDES, &strides(sizes))?
        .with(Name::TENSOR_ID, &[id])?
        .with(Name::TENSOR_ALIGNMENT, &[ALIGNMENT as i64])?
        .finalized()
}

/// Elements from one index to the next along each axis, in row-major order.
fn strides([_, c, h, w]: [i64; 4]) -> [i64; 4] {
    [c * h * w, h * w, w, 1]
}

fn data_type(element: Element) -> DataType {
    match element {
        Element::F16 => DataType::HALF,
        Element::BF16 => DataType::BFLOAT16,
        Element::F32 => DataType::FLOAT,
        Element::F64 => DataType::DOUBLE,
        Element::I8 => DataType::INT8,
        Element::I32 => DataType::INT32,
    }
}

/// The type in which sums are held: halves are added up in float32.
fn sums_type(element: Element) -> DataType {
    match element {
        Element::F64 => DataType::DOUBLE,
        Element::F16 | Element::BF16 | Element::F32 => DataType::FLOAT,
        // Whole numbers are no elements of convolutions.
        Element::I8 | Element::I32 => DataType::FLOAT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: ConvolutionCase = ConvolutionCase {
        pass: ConvPass::Forward,
        element: Element::F32,
        images: [2, 8, 9, 12],
        kernels: [12, 2, 3, 4],
        results: [2, 12, 5, 6],
        padding: [1, 0],
        stride: [2, 1],
        dilation: [1, 2],
        groups: 4,
        coarse: false,
        measured: false,
    };

    #[test]
    fn engines_are_exact_and_give_the_same_on_every_run() {
        let coarse = ConvolutionCase { coarse: true, ..CASE };
        let halves = ConvolutionCase { element: Element::F16, ..CASE };
        for (notes, exact, others) in [
            (&[][..], true, true),
            (&[Note::WINOGRAD], true, true),
            (&[Note::TENSOR_CORE], false, true),
            (&[Note::NONDETERMINISTIC], false, false),
            (&[Note::TENSOR_CORE, Note::DOWN_CONVERT_INPUTS], false, false),
            (&[Note::WINOGRAD, Note::REDUCED_PRECISION_REDUCTION], false, false),
        ] {
            let taken = [CASE, coarse, halves].map(|it| admits(&it, notes));
            assert_eq!(taken, [exact, others, others], "{notes:?}");
        }
    }

    #[test]
    fn tensors_lie_in_row_major_order() {
        assert_eq!(strides([2, 3, 5, 7]), [105, 35, 7, 1]);
        assert_eq!(strides([1; 4]), [1; 4]);
    }

    #[test]
    fn the_library_takes_what_is_said_of_a_case() {
        let Some(functions) = Functions::all() else { return };
        for pass in [ConvPass::Forward, ConvPass::InputGrad, ConvPass::WeightGrad] {
            for element in [Element::F16, Element::BF16, Element::F32, Element::F64] {
                let case = ConvolutionCase { pass, element, ..CASE };
                assert!(operation(functions, &case).is_ok(), "{case:?}");
                let wrong = ConvolutionCase { results: [2, 12, 5, 7], ..case };
                assert!(operation(functions, &wrong).is_err(), "{wrong:?}");
            }
        }
    }
}
