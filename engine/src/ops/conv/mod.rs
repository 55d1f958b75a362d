//! Convolution and pooling of images `[batch, channels, height, width]`.

use std::sync::Arc;

use crate::cpu::view::View;
use crate::cpu::{conv, pool2d};
use crate::dtype::Arithmetic;
use crate::functional::{add, reshape};
use crate::op::{ComposedCx, Default, KernelCx, Param, ParamKind, Ready};
use crate::ops::matrix::product_of_parts;
use crate::{
    Attr, Attrs, DType, Error, OpDef, Outputs, Result, Shape, Tensor, apply_one, with_float,
};

pub mod adaptive_avg_pool2d;
pub mod adaptive_avg_pool2d_backward;
pub mod avg_pool2d;
pub mod avg_pool2d_backward;
pub mod conv1d;
pub mod conv2d;
pub mod conv2d_input_grad;
pub mod conv2d_weight_grad;
pub mod conv_transpose2d;
pub mod convolution;
mod cuda;
mod library;
pub mod max_pool2d;
pub mod max_pool2d_with_indices;
mod onnx;
mod whole;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &adaptive_avg_pool2d::OP,
    &adaptive_avg_pool2d_backward::OP,
    &avg_pool2d::OP,
    &avg_pool2d_backward::OP,
    &conv1d::OP,
    &conv2d::OP,
    &conv2d_input_grad::OP,
    &conv2d_weight_grad::OP,
    &conv_transpose2d::OP,
    &convolution::OP,
    &max_pool2d::OP,
    &max_pool2d_with_indices::OP,
];

/// The parameters of convolutions.
const PARAMS: &[Param] = &[
    Param::tensor("input"),
    Param::tensor("weight"),
    Param::with("bias", ParamKind::OptTensor, Default::None),
    Param::with("stride", ParamKind::Ints, Default::Ints(&[1])),
    Param::with("padding", ParamKind::Ints, Default::Ints(&[0])),
    Param::with("dilation", ParamKind::Ints, Default::Ints(&[1])),
    Param::with("groups", ParamKind::Int, Default::Int(1)),
];

/// Attribute `idx` as (height, width); one number stands for both, an absent one is `default`.
pub(crate) fn pair(
    op: &'static str,
    name: &'static str,
    attrs: &Attrs,
    idx: usize,
    least: i64,
    default: [usize; 2],
) -> Result<[usize; 2]> {
    let given = crate::op::ints(attrs, idx).filter(|it| !it.is_empty());
    let sizes = match given.as_deref() {
        None => return Ok(default),
        Some([one]) => [*one, *one],
        Some([height, width]) => [*height, *width],
        Some(_) => return Err(Error::Attr { op, name, problem: "takes one number or two".into() }),
    };
    if sizes.iter().any(|&it| it < least || it > i64::from(u32::MAX)) {
        return Err(Error::Attr { op, name, problem: format!("must be at least {least}") });
    }
    Ok(sizes.map(|it| it as usize))
}

/// How a kernel moves over an image.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
    pub(crate) dilation: [usize; 2],
    pub(crate) groups: usize,
}

impl Steps {
    /// From the attributes stride, padding, dilation and groups, which begin at `idx`.
    pub(crate) fn from_attrs(op: &'static str, attrs: &Attrs, idx: usize) -> Result<Self> {
        let groups = match attrs.get(idx + 3) {
            Some(Attr::Int(it)) if *it > 0 => *it as usize,
            _ => {
                return Err(Error::Attr { op, name: "groups", problem: "must be positive".into() });
            }
        };
        Ok(Self {
            stride: pair(op, "stride", attrs, idx, 1, [1, 1])?,
            padding: pair(op, "padding", attrs, idx + 1, 0, [0, 0])?,
            dilation: pair(op, "dilation", attrs, idx + 2, 1, [1, 1])?,
            groups,
        })
    }

    /// The problem for images `x` and kernels `w`, or what does not fit.
    pub(crate) fn problem(
        &self,
        x: &[usize],
        w: &[usize],
        dtype: DType,
        pass: conv::ConvPass,
    ) -> Option<conv::ConvProblem> {
        let ([n, c, height, width], [k, c_of_group, rows, columns]) = (x, w) else { return None };
        let fits = c_of_group.checked_mul(self.groups) == Some(*c)
            && k % self.groups == 0
            && rows * columns > 0;
        if !fits {
            return None;
        }
        let (x, w) = ([*n, *c, *height, *width], [*k, *c_of_group, *rows, *columns]);
        let problem = match dtype.arithmetic() {
            Arithmetic::F64 => conv::ConvProblem::new::<f64>(x, w),
            // Whole numbers are refused where they are computed.
            Arithmetic::F32 | Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => {
                conv::ConvProblem::new::<f32>(x, w)
            }
        };
        let Self { stride, padding, dilation, groups } = *self;
        Some(conv::ConvProblem { stride, padding, dilation, groups, pass, ..problem })
    }
}

/// A pass by an algorithm, with the bias per channel.
struct Pass(conv::Conv);

impl Ready for Pass {
    fn workspace(&self) -> usize {
        self.0.workspace()
    }

    fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
            let (lhs, rhs) = (cx.inputs[0].to_slice::<T>(), cx.inputs[1].to_slice::<T>());
            let bias = cx.inputs.get(2).map(View::to_slice::<T>);
            let epilogue = conv::Epilogue { bias: bias.as_deref(), part: cx.part };
            // What has been copied has no buffer that stays.
            let packs = cx.inputs[1].packs().filter(|_| cx.inputs[1].layout().is_contiguous());
            let form = packs.and_then(|it| self.0.form(it, &rhs));
            self.0.run(&lhs, &rhs, cx.outputs[0].as_mut_slice::<T>(), &epilogue, form.as_deref());
            Ok(())
        })
    }
}

/// The pass by the algorithm called `name`, or by the one that is expected to be fastest.
fn prepare(problem: Option<conv::ConvProblem>, name: Option<&str>) -> Option<Arc<dyn Ready>> {
    let problem = problem?;
    let algo: &'static conv::ConvAlgo = match name {
        Some(name) => conv::ALL.iter().find(|it| it.name == name)?,
        None => conv::heuristic(&problem),
    };
    Some(Arc::new(Pass(conv::Conv::new(problem, algo)?)))
}

/// The kernels of a row that is one pass: by the expected fastest and by each algorithm. `$problem` gives the problem, `$on_cuda` computes it
/// on a GPU.
macro_rules! conv_kernels {
    ($problem:ident, $on_cuda:path) => {
        &[
            conv_kernels!(@one $problem, "auto", None)
                .on_cuda(|cx| $problem(&cx.seen()).map_or(Ok(()), |it| $on_cuda(cx, &it))),
            conv_kernels!(@one $problem, "direct", Some("direct")),
            conv_kernels!(@one $problem, "im2col", Some("im2col")),
            conv_kernels!(@one $problem, "winograd", Some("winograd")),
            Kernel { naive: true, ..conv_kernels!(@one $problem, "naive", Some("naive")) },
        ]
    };
    (@one $problem:ident, $name:literal, $algorithm:expr) => {
        Kernel {
            flops: |cx| $problem(cx).map_or(0, |it| it.flops()),
            finishes: true,
            ..Kernel::prepared(concat!("conv.", $name), |case| {
                super::prepare($problem(&case.seen()), $algorithm)
            })
        }
    };
}
pub(crate) use conv_kernels;

/// The pooling of planes that the attributes kernel_size, stride, padding (from `idx` on) describe, or what does not fit.
pub(crate) fn window(
    op: &'static str,
    shape: &Shape,
    attrs: &Attrs,
    idx: usize,
) -> Result<pool2d::PoolProblem> {
    let refuse = |rule: String| Error::Shapes { op, shapes: vec![shape.clone()], rule };
    let kernel = pair(op, "kernel_size", attrs, idx, 1, [1, 1])?;
    let stride = pair(op, "stride", attrs, idx + 1, 1, kernel)?;
    let padding = pair(op, "padding", attrs, idx + 2, 0, [0, 0])?;
    let rank = shape.rank();
    if !(3..=4).contains(&rank) {
        return Err(refuse("images [n, c, h, w] or one image [c, h, w] are needed".into()));
    }
    if (0..2).any(|it| padding[it] * 2 > kernel[it]) {
        return Err(refuse("padding must be at most half the window".into()));
    }
    let planes = shape[..rank - 2].iter().product();
    let input = [shape[rank - 2], shape[rank - 1]];
    Ok(pool2d::PoolProblem { stride, padding, ..pool2d::PoolProblem::new(planes, input, kernel) })
}

/// The shape of what pooling gives.
pub(crate) fn pooled(
    op: &'static str,
    shape: &Shape,
    problem: &pool2d::PoolProblem,
) -> Result<Shape> {
    let [height, width] = problem.output();
    if height == 0 || width == 0 {
        let rule = "the window is larger than the padded image".into();
        return Err(Error::Shapes { op, shapes: vec![shape.clone()], rule });
    }
    Ok(shape[..shape.rank() - 2].iter().copied().chain([height, width]).collect())
}

/// (planes, input, output) of adaptive pooling of images of `shape` to attribute `idx`.
pub(crate) fn adaptive(
    op: &'static str,
    shape: &Shape,
    attrs: &Attrs,
    idx: usize,
) -> Result<(usize, [usize; 2], [usize; 2])> {
    let rank = shape.rank();
    let output = pair(op, "output_size", attrs, idx, 1, [1, 1])?;
    if !(3..=4).contains(&rank) || shape[rank - 2] * shape[rank - 1] == 0 {
        let rule = "images [n, c, h, w] or one image [c, h, w] are needed".into();
        return Err(Error::Shapes { op, shapes: vec![shape.clone()], rule });
    }
    Ok((shape[..rank - 2].iter().product(), [shape[rank - 2], shape[rank - 1]], output))
}

/// A convolution of complex numbers, or one of its gradients, from four of the parts; then the bias is added.
fn of_parts(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let product = |a: &Tensor, b: &Tensor| apply_one(cx.op, &[a.clone(), b.clone()], cx.attrs);
    let mut outputs = product_of_parts(cx, product)?;
    let Some(bias) = cx.opt_input(2) else { return Ok(outputs) };
    let (input, weight) = (cx.input(0)?, cx.input(1)?);
    if bias.dtype() != input.dtype() {
        let dtypes = vec![input.dtype(), weight.dtype(), bias.dtype()];
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    if bias.shape()[..] != weight.shape()[..1] {
        let shapes = vec![input.shape().clone(), weight.shape().clone(), bias.shape().clone()];
        let rule = "the bias is one number for each kernel".into();
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    }
    outputs[0] = add(&outputs[0], &reshape(bias, &Shape::from([bias.numel(), 1, 1]))?)?;
    Ok(outputs)
}
