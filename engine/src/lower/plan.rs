//! The plan: a linear list of launches with bound operands. Running it dispatches nothing and allocates only what
//! outlives the run.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::control;
use super::gpu::OnGpu;
use super::memory::Placement;
use super::onto::Ontos;
use super::shares::Shares;
use super::timing;
use crate::cpu::arena::{Buffers, Operands};
use crate::cpu::lane::machine::Source;
use crate::cpu::lane::{Part, Producer};
use crate::cpu::view::{OutView, View};
use crate::lane::cuda::{self, Form};
use crate::lane::{self, Program};
use crate::op::{KernelCx, Prepared};
use crate::random::HOST;
use crate::{
    Attrs, Buffer, DType, Error, Layout, Meta, Number, OpDef, Result, Site, Tensor, launch,
};

/// A compiled graph.
pub struct Plan {
    pub(super) inputs: Vec<Feed>,
    pub(super) consts: Vec<Tensor>,
    pub(super) const_buffers: Vec<Arc<Buffer>>,
    pub(super) launches: Vec<Launch>,
    /// Buffers that outlive a run, and where the program made what they hold.
    pub(super) kept: Vec<(Meta, Site)>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) memory: Placement,
    /// Where the program applies the op at which most of the arena is in use.
    pub(super) fullest: Site,
    pub(super) choices: Vec<Choice>,
    /// What is written where variables lie.
    pub(super) onto: Ontos,
    /// What a plan for a GPU needs besides.
    pub(super) gpu: Option<OnGpu>,
}

/// The kernel that was chosen for a structured op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The op.
    pub op: &'static str,
    /// The kernel.
    pub kernel: &'static str,
}

/// An input as the plan takes it.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    pub(super) dtype: DType,
    /// Whether a launch or a result takes it from where it comes in: what is written where it lies is lent apart.
    pub(super) is_read: bool,
    /// Counted from the lowest element.
    pub(super) layout: Layout,
}

/// One launch.
pub(super) struct Launch {
    /// Where the program applies it; of several ops the last.
    pub(super) site: Site,
    /// Whose time it takes.
    pub(super) shares: Shares,
    pub(super) work: Work,
    pub(super) operands: Operands,
}

/// What a launch runs.
pub(super) enum Work {
    /// Inputs of the program that are `replaced` are no operands: each is what an output held, whose number stands behind its own.
    Lanes {
        program: Arc<Program>,
        params: Vec<Number>,
        replaced: SmallVec<[(usize, usize); 2]>,
        label: String,
    },
    /// With `in_place`, the first operand is what the output holds. With `prologue`, the first operands are those of its program, which
    /// makes the kernel's first; with `finishing`, the last are those of that program.
    Kernel {
        op: &'static OpDef,
        kernel: Prepared,
        attrs: Attrs,
        in_place: bool,
        prologue: Option<Box<Prologue>>,
        finishing: Option<Finishing>,
    },
    /// Runs graphs, which have plans of their own.
    Control { op: &'static OpDef, attrs: Attrs },
    /// A program on many tensors: the operands for the first, then those for the next.
    Many { program: Arc<Program>, params: Vec<Number>, label: String },
    /// By the CUDA side of the row. With `finishing`, the last operands are those of its program.
    OnGpu { op: &'static OpDef, attrs: Attrs, finishing: Option<Finishing> },
}

/// What makes the first operand of a kernel in pieces, when it is about to read them: the first output of a program.
pub(super) struct Prologue {
    pub(super) program: Arc<Program>,
    pub(super) params: Vec<Number>,
    pub(super) label: String,
    /// Where the program applies its last op.
    pub(super) site: Site,
    /// The kind of the operand, in the dtype in which the kernel reads it.
    pub(super) meta: Meta,
    /// Operands of the launch that the program takes, before those of the kernel.
    pub(super) n_inputs: usize,
    /// Outputs of the launch that others need of what the program makes; they are the last.
    pub(super) n_outputs: usize,
}

/// What a kernel runs on each part of its first output: a program whose first input that output is.
pub(super) struct Finishing {
    pub(super) program: Arc<Program>,
    pub(super) params: Vec<Number>,
    pub(super) label: String,
    /// Operands of the launch that the program takes, after those of the kernel.
    pub(super) n_inputs: usize,
    /// Outputs of the launch that are the kernel's, before those of the program.
    pub(super) n_own: usize,
    /// Whether the first result takes the place of the kernel's output.
    pub(super) replaces: bool,
}

/// Where an output comes from.
#[derive(Clone, Debug)]
pub(super) enum Delivery {
    Kept(usize, Meta),
    Input(usize, Layout),
    Const(usize, Layout),
    Number(Number),
    Fed(usize),
}

impl Plan {
    /// Kinds of the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = Meta> {
        self.inputs.iter().map(|it| Meta::new(it.layout.shape.clone(), it.dtype))
    }

    /// Number of launches.
    pub fn n_launches(&self) -> usize {
        self.launches.len()
    }

    /// How many runs on a GPU were one launch of a recording (a CUDA graph); `None` for plans that run on the CPU.
    pub fn n_replayed(&self) -> Option<usize> {
        self.gpu.as_ref().map(OnGpu::n_replayed)
    }

    /// The memory plan: peak bytes of the arena, and the bound that no plan can beat.
    pub fn memory(&self) -> &Placement {
        &self.memory
    }

    /// Bytes of the buffers that outlive a run.
    pub fn output_bytes(&self) -> usize {
        self.kept.iter().map(|it| it.0.bytes()).sum()
    }

    /// The kernels that were chosen.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The launches of elementwise ops as CUDA C, each a kernel under the ops that it consists of; launches of other ops are remarks.
    /// A kernel steps through each operand evenly: how a broadcast or turned operand lies stands in the line above it.
    pub fn cuda_text(&self) -> String {
        let text = |at: usize, stage: &str, program: &Program| {
            let kernel = cuda::kernel(program, &format!("launch{at}{stage}"), &Form::flat(program));
            kernel.unwrap_or_else(|| "// has no expansion\n".into())
        };
        let kernel = |(at, launch): (usize, &Launch)| match &launch.work {
            Work::Lanes { program, .. } | Work::Many { program, .. } => {
                format!("// {launch}\n{}", text(at, "", program))
            }
            Work::Control { .. } => format!("// {launch}: runs plans of its own\n"),
            Work::OnGpu { finishing: Some(it), .. } => {
                format!("// {launch}: a kernel of its own\n{}", text(at, "", &it.program))
            }
            Work::OnGpu { .. } => format!("// {launch}: a kernel of its own\n"),
            Work::Kernel { prologue, finishing, .. } => {
                let mut res = format!("// {launch}: a kernel of its own\n");
                if let Some(it) = prologue {
                    res += "// for pieces of its operand\n";
                    res += &text(at, "_prologue", &it.program);
                }
                if let Some(it) = finishing {
                    res += "// on each part of its output\n";
                    res += &text(at, "", &it.program);
                }
                res
            }
        };
        let kernels: Vec<String> = self.launches.iter().enumerate().map(kernel).collect();
        let text = kernels.join("\n");
        format!("// What begins with ng_ stands in a prelude that all kernels share.\n{text}")
    }

    pub(super) fn deliver(
        &self,
        delivery: &Delivery,
        inputs: &[Cow<'_, Tensor>],
        kept: &[Arc<Buffer>],
    ) -> Result<Tensor> {
        match delivery {
            Delivery::Kept(at, meta) => Ok(stored(&kept[*at], meta)),
            Delivery::Input(at, layout) => {
                let offset = layout.offset + inputs[*at].layout().lowest();
                own(&inputs[*at].with_layout(Layout { offset, ..layout.clone() }))
            }
            Delivery::Const(at, layout) => own(&self.consts[*at].with_layout(layout.clone())),
            Delivery::Number(number) => own(&Tensor::from_number(*number)),
            Delivery::Fed(at) => own(&inputs[*at]),
        }
    }
}

impl Feed {
    pub(super) fn fit<'a>(&self, idx: usize, tensor: &'a Tensor) -> Result<Cow<'a, Tensor>> {
        let here = tensor.layout();
        if here.shape != self.layout.shape || tensor.dtype() != self.dtype {
            let expected = Meta::new(self.layout.shape.clone(), self.dtype);
            let problem = format!("input {idx} is {expected}, got {}", tensor.meta());
            return Err(Error::Trace { problem });
        }
        if here.strides == self.layout.strides
            || (here.is_contiguous() && self.layout.is_contiguous())
        {
            return Ok(Cow::Borrowed(tensor));
        }
        if self.layout.is_contiguous() {
            return launch::contiguous(tensor).map(Cow::Owned);
        }
        Err(Error::Trace { problem: format!("input {idx} has other strides than recorded") })
    }
}

impl Launch {
    pub(super) fn run(&self, buffers: &mut Buffers<'_>) -> Result<()> {
        let run = || self.operands.with(buffers, |inputs, outputs| self.work.run(inputs, outputs));
        let done = self.site.within(run).unwrap_or_else(|| Err(outside()));
        done.map_err(|it| it.at(self.site))
    }

    /// As [`Launch::run`]; notes the time that it takes where somebody asks.
    pub(super) fn run_noted(&self, buffers: &mut Buffers<'_>, is_noted: bool) -> Result<()> {
        match is_noted {
            false => self.run(buffers),
            true => timing::noted(&self.shares, || self.run(buffers)),
        }
    }
}

impl Work {
    fn run<'a>(&self, inputs: &[Source<'a>], outputs: &mut [OutView<'a>]) -> Result<()> {
        match self {
            Self::Lanes { program, params, replaced, .. } if replaced.is_empty() => {
                lane::run(program, inputs, outputs, params)
            }
            Self::Lanes { program, params, replaced, .. } => {
                let mut sources: SmallVec<[Source<'_>; 8]> = SmallVec::from_slice(inputs);
                for &(at, output) in replaced {
                    sources.insert(at, Source::Replaced(output));
                }
                lane::run(program, &sources, outputs, params)
            }
            Self::Control { op, attrs } => control::run(op, attrs, inputs, outputs),
            Self::Many { program, params, .. } => lane::run_many(program, inputs, outputs, params),
            Self::OnGpu { .. } => Err(outside()),
            Self::Kernel { op, kernel, attrs, in_place, prologue, finishing } => {
                let (made, inputs) = inputs.split_at(prologue.as_ref().map_or(0, |it| it.n_inputs));
                let n_finishing = finishing.as_ref().map_or(0, |it| it.n_inputs);
                let (own, others) = inputs.split_at(inputs.len() - n_finishing);
                let n_kept = prologue.as_ref().map_or(0, |it| it.n_outputs);
                let (outputs, kept) = outputs.split_at_mut(outputs.len() - n_kept);
                // Filled where they stay, here and in `run_each`: vectors that are collected are moved, and these are large.
                let mut views: SmallVec<[View<'_>; 8]> = SmallVec::new();
                for it in own {
                    match it {
                        Source::View(view) => views.push(*view),
                        Source::Number(_) | Source::Replaced(_) => return Err(outside()),
                    }
                }
                let call = Call { op, kernel, attrs, in_place: *in_place };
                let mut run = |outputs: &mut [OutView<'a>], part: Part<'_>| match prologue {
                    None => call.run(&views, None, outputs, part),
                    Some(prologue) => prologue.run(made, kept, |producer| {
                        let mut all: SmallVec<[View<'_>; 8]> = smallvec![producer.stand_in()];
                        all.extend_from_slice(&views);
                        let mut outputs: SmallVec<[OutView<'_>; 4]> =
                            outputs.iter_mut().map(OutView::reborrow).collect();
                        call.run(&all, Some(producer), &mut outputs, part)
                    }),
                };
                match finishing {
                    None => run(outputs, Part::NONE),
                    Some(finishing) => finishing.run(others, outputs, run),
                }
            }
        }
    }
}

/// The kernel of a launch.
struct Call<'a> {
    op: &'static OpDef,
    kernel: &'a Prepared,
    attrs: &'a Attrs,
    in_place: bool,
}

impl Call<'_> {
    fn run<'b>(
        &self,
        inputs: &[View<'b>],
        producer: Option<&Producer<'_>>,
        outputs: &mut [OutView<'b>],
        part: Part<'_>,
    ) -> Result<()> {
        let Self { op, kernel, attrs, in_place } = *self;
        HOST.with(|stream| {
            let cx = &mut KernelCx { op, attrs, inputs, producer, outputs, part, stream };
            if in_place { kernel.update(cx) } else { kernel.compute(cx) }
        })
    }
}

impl Prologue {
    /// Calls the kernel with what makes its operand; `outputs` are those of the program that others need.
    fn run(
        &self,
        inputs: &[Source<'_>],
        outputs: &mut [OutView<'_>],
        kernel: impl FnOnce(&Producer<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { program, params, site, meta, .. } = self;
        let producer = lane::producer(program, inputs, meta, outputs, params)?;
        let ran = kernel(&producer);
        match (producer.outcome::<Error>(), ran) {
            (_, Err(Error::Interrupted)) => Err(Error::Interrupted),
            (Err(error), _) => Err(error.at(*site)),
            (Ok(()), ran) => ran,
        }
    }
}

impl Finishing {
    /// Runs the kernel on its outputs and the program on the parts of the first.
    fn run<'a>(
        &self,
        inputs: &[Source<'a>],
        outputs: &mut [OutView<'a>],
        kernel: impl FnOnce(&mut [OutView<'a>], Part<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { program, params, n_own, replaces, .. } = self;
        lane::run_behind(program, inputs, outputs, params, (*n_own, *replaces), kernel)
    }
}

/// What a buffer holds that outlives a run.
pub(super) fn stored(buffer: &Arc<Buffer>, meta: &Meta) -> Tensor {
    Tensor::stored(buffer.clone(), Layout::contiguous(meta.shape.clone()), meta.dtype)
}

/// The tensor in row-major order from the start of a storage, as plans give what they compute.
pub(crate) fn own(tensor: &Tensor) -> Result<Tensor> {
    let tensor = launch::contiguous(tensor)?;
    if tensor.layout().offset == 0 && tensor.layout().is_contiguous() {
        let layout = Layout::contiguous(tensor.shape().clone());
        return Ok(tensor.with_layout(layout));
    }
    if tensor.is_on_gpu() {
        return tensor.copied();
    }
    let bytes = tensor.look(|view| {
        crate::with_size!(tensor.dtype(), T => {
            crate::storage::from_slice(&view.to_slice::<T>())
        })
    })??;
    let layout = Layout::contiguous(tensor.shape().clone());
    Ok(Tensor::stored(bytes, layout, tensor.dtype()))
}

pub(super) fn outside() -> Error {
    Error::Trace { problem: "a plan reaches outside its memory".into() }
}
