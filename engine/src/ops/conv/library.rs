//! Convolutions as the vendor's library is asked for them.

use crate::cpu::conv::ConvProblem;
use crate::cuda::driver::{Address, Convolution, ConvolutionCase};
use crate::cuda::settings;
use crate::op::CudaCx;
use crate::ops::matrix::cuda::element;
use crate::{DType, Result, fastrun};

/// Elements of a tensor that the library takes.
const MOST_ELEMENTS: usize = i32::MAX as usize;

/// Computes a pass whose images, kernels and results, or their gradients, are at these places; false where there is no library or it
/// does not take the case.
pub(super) fn convolve(
    cx: &CudaCx<'_>,
    problem: &ConvProblem,
    places: [Address; 3],
) -> Result<bool> {
    match case(problem, cx.dtype(0)) {
        Some(case) if settings::CUDNN.is_on() => cx.gpu.convolve(&Convolution { case, places }),
        _ => Ok(false),
    }
}

/// A pass as the library takes it: sizes that fit into its numbers, and nothing that is empty.
fn case(problem: &ConvProblem, dtype: DType) -> Option<ConvolutionCase> {
    let ([height, width], groups) = (problem.output(), problem.groups);
    let tensor = |n: usize, c: usize, [h, w]: [usize; 2]| {
        let elements = [n, c, h, w].into_iter().try_fold(1, usize::checked_mul)?;
        (1..=MOST_ELEMENTS).contains(&elements).then_some([n, c, h, w].map(|it| it as i32))
    };
    let pair = |[a, b]: [usize; 2]| Some([i32::try_from(a).ok()?, i32::try_from(b).ok()?]);
    Some(ConvolutionCase {
        pass: problem.pass,
        element: element(dtype)?,
        images: tensor(problem.batch, problem.in_channels, problem.input)?,
        kernels: tensor(problem.out_channels, problem.in_channels / groups, problem.kernel)?,
        results: tensor(problem.batch, problem.out_channels, [height, width])?,
        padding: pair(problem.padding)?,
        stride: pair(problem.stride)?,
        dilation: pair(problem.dilation)?,
        groups: i32::try_from(groups).ok()?,
        coarse: dtype == DType::F32 && settings::COARSE_CONVOLUTIONS.is_on(),
        measured: fastrun::measures_libraries(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::conv::ConvPass;
    use crate::ops::conv::Steps;

    const PASSES: [ConvPass; 3] = [ConvPass::Forward, ConvPass::InputGrad, ConvPass::WeightGrad];

    fn steps(stride: [usize; 2], padding: [usize; 2], dilation: [usize; 2]) -> Steps {
        Steps { stride, padding, dilation, groups: 1 }
    }

    fn case_of(
        steps: Steps,
        x: [usize; 4],
        w: [usize; 4],
        pass: ConvPass,
    ) -> Option<ConvolutionCase> {
        case(&steps.problem(&x, &w, DType::F32, pass)?, DType::F32)
    }

    /// `cudnnGetConvolution2dForwardOutputDim`.
    fn output(case: &ConvolutionCase) -> [i32; 4] {
        let along = |axis: usize| {
            let reach = (case.kernels[axis + 2] - 1) * case.dilation[axis] + 1;
            1 + (case.images[axis + 2] + 2 * case.padding[axis] - reach) / case.stride[axis]
        };
        [case.images[0], case.kernels[0], along(0), along(1)]
    }

    #[test]
    fn the_library_infers_the_same_results() {
        let wide = Steps { groups: 4, ..steps([1, 2], [3, 0], [2, 1]) };
        for (steps, x, w) in [
            (steps([1, 1], [1, 1], [1, 1]), [32, 64, 56, 56], [64, 64, 3, 3]),
            (steps([2, 2], [3, 3], [1, 1]), [2, 3, 224, 224], [64, 3, 7, 7]),
            (steps([2, 3], [0, 2], [1, 2]), [1, 5, 20, 31], [7, 5, 3, 2]),
            (steps([1, 1], [0, 2], [1, 1]), [4, 6, 1, 50], [8, 6, 1, 5]),
            (wide, [2, 8, 9, 12], [12, 2, 3, 4]),
            (Steps { groups: 8, ..wide }, [2, 8, 9, 12], [8, 1, 3, 3]),
        ] {
            for pass in PASSES {
                let case = case_of(steps, x, w, pass).unwrap();
                assert_eq!(output(&case), case.results, "{case:?}");
                assert_eq!(case.images[1], case.kernels[1] * case.groups, "{case:?}");
                assert_eq!((case.pass, case.coarse, case.measured), (pass, false, false));
            }
        }
    }

    #[test]
    fn what_it_cannot_take_stays_here() {
        let plain = steps([1, 1], [0, 0], [1, 1]);
        let fits = |x, w| case_of(plain, x, w, ConvPass::Forward).is_some();
        assert!(fits([1, 1, 3, 3], [1, 1, 3, 3]));
        assert!(!fits([0, 1, 3, 3], [1, 1, 3, 3]));
        assert!(!fits([1, 0, 3, 3], [1, 0, 3, 3]));
        assert!(!fits([1, 1, 3, 3], [1, 1, 4, 3]), "no results");
        assert!(!fits([1 << 20, 64, 56, 56], [64, 64, 3, 3]), "too many elements");
        let far = steps([1, 1], [0, 0], [1 << 33, 1]);
        assert!(case_of(far, [1, 1, 3, 3], [1, 1, 1, 3], ConvPass::Forward).is_none());
        let problem = plain.problem(&[1, 1, 3, 3], &[1, 1, 3, 3], DType::F32, ConvPass::Forward);
        assert!(case(&problem.unwrap(), DType::I64).is_none());
    }
}
