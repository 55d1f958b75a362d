//! Running a plan on a GPU: launch by launch, or all launches at once by a recording of them (a CUDA graph).
//!
//! A recording reads and writes at the addresses of the run in which it was made: of the inputs, and of what outlives the run. The
//! allocator hands out the same blocks again and again, so there are a few sets of addresses, and a recording for each. What lies somewhere
//! else all the time, as parts of a data set do and losses that are kept, is copied to a fixed place, or from one. What lies between is in
//! memory that the recordings of the plan share. Addresses that come once are worth none: where they are new, the launches go one by one.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

use super::plan::{Finishing, Launch, Plan, Work, outside};
use super::timing;
use crate::apply::compose::compose_kernel;
use crate::apply::place;
use crate::cpu::arena::{Operand, Place, Target};
use crate::cuda::driver::Address;
use crate::cuda::philox::Philox;
use crate::cuda::recording::{Pool, Recording};
use crate::cuda::{self, Block, Gpu};
use crate::lane::finish::Finisher;
use crate::lane::{Program, Ref};
use crate::op::{Body, ControlCx};
use crate::sync::{Mutex, OnceLock};
use crate::tensor::on_gpu::copy;
use crate::{
    Attrs, Buffer, DType, Device, Layout, Number, OpDef, Result, Shape, Tensor, lane, launch,
    storage,
};

/// Recordings of one plan.
const MOST: usize = 8;

/// Recordings one after the other that nobody has run again, after which a plan makes no more for a while.
const VAIN: u32 = 12;

/// Runs until it tries again.
const PAUSE: u32 = 200;

/// Addresses of an input or a result, after which it gets a fixed place.
const PLACES: usize = 4;

/// Launches from which on a recording is quicker than they are.
const WORTH: usize = 3;

/// Bytes of a number that a run takes, and of a seed with its offset.
const WORD: usize = 16;

/// What a plan for a GPU needs besides.
pub(super) struct OnGpu {
    gpu: &'static Gpu,
    /// For each launch the values that nobody reads after it.
    ends: Vec<Vec<usize>>,
    n_values: usize,
    draws: bool,
    /// Copies bytes.
    copies: Program,
    /// Where numbers lie that differ from run to run.
    words: OnceLock<Arc<Buffer>>,
    recordings: Mutex<Recordings>,
}

/// The recordings of a plan, by the addresses at which they read and write.
struct Recordings {
    pool: Arc<Pool>,
    known: VecDeque<(Addresses, Recording)>,
    /// Addresses of runs that went launch by launch: a recording is made where they come again.
    met: VecDeque<Addresses>,
    runs: u32,
    /// Recordings made since one was run again, and runs since then without one.
    vain: u32,
    paused: u32,
    /// Whether what the launches do can be recorded, as far as it is known.
    can: bool,
    /// Runs by a recording.
    replayed: usize,
    /// Where the inputs have been, then what outlives runs.
    stages: Vec<Stage>,
}

/// Where an input or a result has been.
#[derive(Default)]
struct Stage {
    seen: SmallVec<[Address; PLACES]>,
    /// Its place for recordings, if it has been in too many.
    fixed: Option<Tensor>,
}

type Addresses = SmallVec<[Address; 32]>;

/// What the launches of one run read and write.
struct Values<'a> {
    inputs: &'a [Tensor],
    consts: &'a [Tensor],
    kept: &'a [Tensor],
    between: Vec<Option<Tensor>>,
}

/// Numbers that differ from run to run, in the memory of the GPU: a seed and an offset, then those that are fed.
struct Words {
    bytes: Vec<u8>,
    buffer: Option<Arc<Buffer>>,
}

impl OnGpu {
    /// A plan that `draws` random numbers or not; one that `reads` conditions goes launch by launch.
    pub(super) fn new(
        index: u8,
        ends: Vec<Vec<usize>>,
        n_values: usize,
        (draws, reads): (bool, bool),
    ) -> Result<Self> {
        let gpu = cuda::gpu(index)?;
        let (known, can) = (VecDeque::new(), ends.len() >= WORTH && !reads);
        let recordings = Recordings {
            pool: gpu.pool(),
            known,
            met: VecDeque::new(),
            runs: 0,
            vain: 0,
            paused: 0,
            can,
            replayed: 0,
            stages: Vec::new(),
        };
        let (words, recordings) = (OnceLock::new(), Mutex::new(recordings));
        let copies = lane::build(&[DType::U8], &[], &[Ref::Input(0)])?;
        Ok(Self { gpu, ends, n_values, draws, copies, words, recordings })
    }

    /// How many runs went by a recording.
    pub(super) fn n_replayed(&self) -> usize {
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner).replayed
    }

    /// The outputs of a plan for inputs that fit it.
    pub(super) fn run(&self, plan: &Plan, inputs: &[Cow<'_, Tensor>]) -> Result<Vec<Tensor>> {
        if timing::is_on() {
            plan.note_run();
            return self.run_each(plan, inputs, |launch, run| timing::noted(&launch.shares, run));
        }
        let (mut words, fed) = self.fed(plan, inputs)?;
        let kept = self.kept(plan)?;
        self.work(plan, &fed, &kept, &mut words)?;
        self.delivered(plan, inputs, &kept)
    }

    /// As [`OnGpu::run`], launch by launch, where `each` runs one until the GPU has done it.
    pub(super) fn run_each(
        &self,
        plan: &Plan,
        inputs: &[Cow<'_, Tensor>],
        mut each: impl FnMut(&Launch, &mut dyn FnMut() -> Result<()>) -> Result<()>,
    ) -> Result<Vec<Tensor>> {
        let (words, fed) = self.fed(plan, inputs)?;
        words.send(self.gpu)?;
        let kept = self.kept(plan)?;
        self.gpu.settle()?;
        self.launches(plan, &fed, &kept, |launch, values| {
            each(launch, &mut || {
                self.launch(launch, values)?;
                self.gpu.settle()
            })
        })?;
        self.delivered(plan, inputs, &kept)
    }

    /// The inputs in the memory of the GPU. Those that are numbers are sent with [`Words::send`].
    fn fed(&self, plan: &Plan, inputs: &[Cow<'_, Tensor>]) -> Result<(Words, Vec<Tensor>)> {
        let mut words = Words { bytes: vec![0; WORD], buffer: None };
        let numbers: SmallVec<[Option<Number>; 16]> =
            inputs.iter().map(|it| it.as_number()).collect();
        for (number, feed) in numbers.iter().zip(&plan.inputs) {
            if let Some(number) = number {
                let bits = storage::bits_of(*number, feed.dtype);
                words.bytes.extend_from_slice(&bits.to_ne_bytes());
            }
        }
        if self.draws || words.bytes.len() > WORD {
            words.buffer = Some(self.room(words.bytes.len())?);
        }
        let (mut fed, mut at) = (Vec::with_capacity(inputs.len()), WORD);
        for (it, feed) in inputs.iter().zip(&plan.inputs) {
            fed.push(match (it.as_number(), &words.buffer) {
                (Some(_), Some(buffer)) => {
                    let offset = at / feed.dtype.size();
                    at += WORD;
                    let layout = Layout { offset, ..Layout::contiguous(Shape::default()) };
                    Tensor::stored(buffer.clone(), layout, feed.dtype)
                }
                _ if it.is_on_gpu() => it.detach(),
                _ if it.layout().is_contiguous() => it.sent(self.gpu)?,
                _ => sent_as_it_lies(it, self.gpu)?,
            });
        }
        Ok((words, fed))
    }

    /// Where so many bytes of numbers lie, which are as many in all runs.
    fn room(&self, bytes: usize) -> Result<Arc<Buffer>> {
        if let Some(known) = self.words.get().filter(|it| it.len() == bytes) {
            return Ok(known.clone());
        }
        let made: Arc<Buffer> = self.gpu.block(bytes)?.into();
        let _ = self.words.set(made.clone());
        Ok(made)
    }

    /// Tensors for what outlives the run, made where the program says so.
    fn kept(&self, plan: &Plan) -> Result<SmallVec<[Tensor; 16]>> {
        let make = |(meta, site): &(crate::Meta, crate::Site)| {
            let block = site.within(|| self.gpu.block_of(&meta.shape, meta.dtype));
            let block = block.map_err(|it| it.at(*site))?;
            Ok(Tensor::stored(block, Layout::contiguous(meta.shape.clone()), meta.dtype))
        };
        plan.kept.iter().map(make).collect()
    }

    fn delivered(
        &self,
        plan: &Plan,
        inputs: &[Cow<'_, Tensor>],
        kept: &[Tensor],
    ) -> Result<Vec<Tensor>> {
        let kept = kept.iter().map(Tensor::storage).collect::<Result<SmallVec<[_; 16]>>>()?;
        let on_gpu = |it: Tensor| if it.is_on_gpu() { Ok(it) } else { it.sent(self.gpu) };
        plan.deliveries.iter().map(|it| plan.deliver(it, inputs, &kept).and_then(on_gpu)).collect()
    }

    /// Does the work of a run.
    fn work(&self, plan: &Plan, fed: &[Tensor], kept: &[Tensor], words: &mut Words) -> Result<()> {
        let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        let recordings = &mut *recordings;
        recordings.runs = recordings.runs.saturating_add(1);
        // The first run compiles kernels, and makes what libraries keep.
        if !recordings.can || recordings.runs == 1 {
            words.send(self.gpu)?;
            return self.all(plan, fed, kept);
        }
        let (staged_in, staged_out) = recordings.staged(plan, fed, kept)?;
        self.copy_all(fed.iter().zip(&staged_in))?;
        self.at_places(plan, (&staged_in, &staged_out), words, recordings)?;
        self.copy_all(staged_out.iter().zip(kept))
    }

    /// Copies tensors in row-major order to others of their kind, but for those that lie there already.
    fn copy_all<'a>(&self, pairs: impl Iterator<Item = (&'a Tensor, &'a Tensor)>) -> Result<()> {
        let moved = pairs.filter(|(from, to)| !from.shares_buffer(to) && from.numel() > 0);
        let (from, to): (Vec<Tensor>, Vec<Tensor>) =
            moved.map(|(from, to)| (as_bytes(from), as_bytes(to))).unzip();
        let most = lane::on_gpu::most(&self.copies).max(1);
        from.chunks(most).zip(to.chunks(most)).try_for_each(|(from, to)| {
            lane::on_gpu::run_many(self.gpu, &self.copies, from, &[], to)
        })
    }

    fn all(&self, plan: &Plan, fed: &[Tensor], kept: &[Tensor]) -> Result<()> {
        self.launches(plan, fed, kept, |it, values| self.launch(it, values))
    }

    /// Does the work of a run on inputs and results at these places: by a recording, with making one, or launch by launch.
    fn at_places(
        &self,
        plan: &Plan,
        (fed, kept): (&[Tensor], &[Tensor]),
        words: &mut Words,
        recordings: &mut Recordings,
    ) -> Result<()> {
        let addresses = addresses(fed.iter().chain(kept), words)?;
        if let Some(at) = recordings.known.iter().position(|it| it.0 == addresses) {
            recordings.vain = 0;
            recordings.replayed += 1;
            let recording = &recordings.known[at].1;
            words.start(recording.draws());
            words.send(self.gpu)?;
            return recording.run();
        }
        words.send(self.gpu)?;
        if recordings.pauses() || recordings.is_new(&addresses) {
            return self.all(plan, fed, kept);
        }
        let all = || self.all(plan, fed, kept);
        let made = self.gpu.recorded(&recordings.pool, words.address(), all)?;
        match made {
            Some(recording) => recordings.keep(addresses, recording),
            None => recordings.can = false,
        }
        Ok(())
    }

    fn launches<'a>(
        &self,
        plan: &'a Plan,
        inputs: &'a [Tensor],
        kept: &'a [Tensor],
        mut each: impl FnMut(&Launch, &mut Values<'a>) -> Result<()>,
    ) -> Result<()> {
        let between = vec![None; self.n_values];
        let mut values = Values { inputs, consts: &plan.consts, kept, between };
        for (launch, ends) in plan.launches.iter().zip(&self.ends) {
            let done = launch.site.within(|| each(launch, &mut values));
            done.map_err(|it| it.at(launch.site))?;
            ends.iter().for_each(|&it| values.between[it] = None);
        }
        Ok(())
    }

    fn launch(&self, launch: &Launch, values: &mut Values<'_>) -> Result<()> {
        let operands = launch.operands.inputs().iter().map(|it| values.read(it));
        let inputs = operands.collect::<Result<SmallVec<[Tensor; 8]>>>()?;
        let targets = launch.operands.outputs();
        match &launch.work {
            Work::Lanes { program, params, .. } => {
                let outs = self.targets(targets, values)?;
                match (&inputs[..], &outs[..]) {
                    ([x], [out]) if program.is_copy() && x.is_on_gpu() => {
                        copy(x, out.address()?, out.layout())?;
                    }
                    _ => {
                        let to = outs.iter().map(Tensor::address);
                        let to = to.collect::<Result<SmallVec<[Address; 4]>>>()?;
                        let shape = &targets[0].shape;
                        lane::on_gpu::run("lanes", self.gpu, program, &inputs, params, shape, &to)?;
                    }
                }
                values.take(targets, outs)
            }
            Work::Many { program, params, .. } => {
                let outs = self.targets(targets, values)?;
                lane::on_gpu::run_many(self.gpu, program, &inputs, params, &outs)?;
                values.take(targets, outs)
            }
            Work::OnGpu { op, attrs, finishing: Some(finishing) } => {
                let outs = self.targets(targets, values)?;
                self.finished(op, attrs, &inputs, finishing, &outs)?;
                values.take(targets, outs)
            }
            Work::OnGpu { op, attrs, finishing: None } => {
                let targets_of = || self.targets(targets, values);
                let on = (self.gpu, compose_kernel as launch::Compose);
                let run = || launch::run_within(op, on, &inputs, attrs, targets_of);
                let made = place::as_one_step(self.device(), run)?;
                values.take(targets, made)
            }
            Work::Control { op, attrs } => {
                let Body::Control(body) = op.body else { return Err(outside()) };
                let cx = ControlCx { op, device: self.device(), inputs: &inputs, attrs };
                let made = place::as_one_step(self.device(), || body(&cx))?;
                values.take(targets, made.into_iter().collect())
            }
            Work::Kernel { .. } => Err(outside()),
        }
    }

    /// Runs an op and the program behind it, whose operands come last.
    fn finished(
        &self,
        op: &'static OpDef,
        attrs: &Attrs,
        inputs: &[Tensor],
        finishing: &Finishing,
        outs: &[Tensor],
    ) -> Result<()> {
        let Finishing { program, params, n_inputs, n_own, replaces, .. } = finishing;
        let (inputs, others) = inputs.split_at(inputs.len() - n_inputs);
        let (outputs, beside) = outs.split_at(*n_own);
        let kind = (outputs[0].numel(), *replaces);
        let finish = Finisher::new(program, params, others, beside, kind)?;
        let run = || launch::run_finished(op, self.gpu, inputs, attrs, outputs, &finish);
        place::as_one_step(self.device(), run)
    }

    fn device(&self) -> Device {
        Device::Cuda(self.gpu.index())
    }

    /// Tensors for what a launch gives: those that outlive the run, and new ones.
    fn targets(&self, targets: &[Target], values: &Values<'_>) -> Result<SmallVec<[Tensor; 4]>> {
        let make = |it: &Target| match it.place {
            Place::Output(at) => values.kept.get(at).cloned().ok_or_else(outside),
            _ => {
                let block = self.gpu.block_of(&it.shape, it.dtype)?;
                Ok(Tensor::stored(block, Layout::contiguous(it.shape.clone()), it.dtype))
            }
        };
        targets.iter().map(make).collect()
    }
}

impl Recordings {
    /// Where recordings look for the inputs, and have room for what outlives the run.
    fn staged(
        &mut self,
        plan: &Plan,
        fed: &[Tensor],
        kept: &[Tensor],
    ) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
        self.stages.resize_with(fed.len() + kept.len(), Stage::default);
        let (inputs, results) = self.stages.split_at_mut(fed.len());
        let mut staged_in = Vec::with_capacity(fed.len());
        for ((stage, tensor), feed) in inputs.iter_mut().zip(fed).zip(&plan.inputs) {
            let may = feed.layout.is_contiguous() && tensor.layout().is_contiguous();
            staged_in.push(stage.place(tensor, may)?);
        }
        let places = results.iter_mut().zip(kept).map(|(stage, it)| stage.place(it, true));
        Ok((staged_in, places.collect::<Result<_>>()?))
    }

    /// Whether this run makes no recording, since the last ones were for nothing.
    fn pauses(&mut self) -> bool {
        if self.vain < VAIN {
            return false;
        }
        self.paused += 1;
        if self.paused == PAUSE {
            (self.vain, self.paused) = (0, 0);
        }
        true
    }

    /// Whether no run has met these addresses lately.
    fn is_new(&mut self, addresses: &Addresses) -> bool {
        if self.met.contains(addresses) {
            return false;
        }
        if self.met.len() == MOST {
            self.met.pop_front();
        }
        self.met.push_back(addresses.clone());
        true
    }

    fn keep(&mut self, addresses: Addresses, recording: Recording) {
        self.vain += 1;
        if self.known.len() == MOST {
            self.known.pop_front();
        }
        self.known.push_back((addresses, recording));
    }
}

impl Stage {
    /// Where a tensor is for recordings: a fixed place if it has been in many, and may be copied.
    fn place(&mut self, tensor: &Tensor, may: bool) -> Result<Tensor> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        let address = tensor.address()?;
        if self.seen.contains(&address) || !may {
            return Ok(tensor.clone());
        }
        if self.seen.len() < PLACES {
            self.seen.push(address);
            return Ok(tensor.clone());
        }
        let block = tensor.gpu()?.block_of(tensor.shape(), tensor.dtype())?;
        let layout = Layout::contiguous(tensor.shape().clone());
        Ok(self.fixed.insert(Tensor::stored(block, layout, tensor.dtype())).clone())
    }
}

/// A copy in the memory of a GPU, with all that lies between its elements: launches know where these lie.
fn sent_as_it_lies(tensor: &Tensor, gpu: &'static Gpu) -> Result<Tensor> {
    let (layout, dtype) = (tensor.layout(), tensor.dtype());
    let offset = layout.lowest();
    let len = layout.reach().ok_or_else(outside)? - offset;
    let all = Layout { offset, ..Layout::contiguous(Shape::from([len])) };
    let sent = tensor.detach().seen_as(dtype, all).sent(gpu)?;
    Ok(sent.seen_as(dtype, Layout { offset: layout.offset - offset, ..layout.clone() }))
}

impl Values<'_> {
    /// An operand of a launch.
    fn read(&self, operand: &Operand) -> Result<Tensor> {
        let Operand { place, layout, dtype } = operand;
        let seen = |it: Option<&Tensor>| {
            it.map(|it| it.seen_as(*dtype, layout.clone())).ok_or_else(outside)
        };
        match *place {
            Place::Input(at) => {
                let input = self.inputs.get(at).ok_or_else(outside)?;
                let offset = layout.offset + input.layout().lowest();
                Ok(input.seen_as(*dtype, Layout { offset, ..layout.clone() }))
            }
            Place::Const(at) => seen(self.consts.get(at)),
            Place::Slot(at) => seen(self.between.get(at).and_then(Option::as_ref)),
            Place::Output(at) => seen(self.kept.get(at)),
            Place::Number(number) => Ok(Tensor::from_number(number)),
            Place::Fed(at) => self.inputs.get(at).cloned().ok_or_else(outside),
            Place::Arena(_) => Err(outside()),
        }
    }

    /// Takes what a launch gave: what outlives the run has to lie where that is kept.
    fn take(&mut self, targets: &[Target], made: SmallVec<[Tensor; 4]>) -> Result<()> {
        for (target, tensor) in targets.iter().zip(made) {
            match target.place {
                Place::Slot(at) => {
                    *self.between.get_mut(at).ok_or_else(outside)? = Some(based(tensor)?);
                }
                Place::Output(at) => {
                    let kept = self.kept.get(at).ok_or_else(outside)?;
                    if kept.address()? != tensor.address()? {
                        copy(&tensor, kept.address()?, kept.layout())?;
                    }
                }
                _ => return Err(outside()),
            }
        }
        Ok(())
    }
}

/// The bytes of a tensor in row-major order.
fn as_bytes(tensor: &Tensor) -> Tensor {
    let size = tensor.dtype().size();
    let layout = Layout::contiguous(Shape::from([tensor.numel() * size]));
    tensor.seen_as(DType::U8, Layout { offset: tensor.layout().offset * size, ..layout })
}

/// The tensor in row-major order from the start of a buffer, where plans look for it.
fn based(tensor: Tensor) -> Result<Tensor> {
    let layout = tensor.layout();
    if layout.offset == 0 && layout.is_contiguous() { Ok(tensor) } else { tensor.copied() }
}

impl Words {
    /// Sets where random numbers begin.
    fn start(&mut self, start: Option<Philox>) {
        if let Some(Philox { seed, offset }) = start {
            self.bytes[..8].copy_from_slice(&seed.to_ne_bytes());
            self.bytes[8..WORD].copy_from_slice(&offset.to_ne_bytes());
        }
    }

    fn block(&self) -> Option<&Block> {
        self.buffer.as_ref()?.gpu()
    }

    /// Where they lie; 0 if there are none.
    fn address(&self) -> Address {
        self.block().map_or(0, Block::address)
    }

    fn send(&self, gpu: &Gpu) -> Result<()> {
        self.block().map_or(Ok(()), |it| gpu.write(it, &self.bytes))
    }
}

/// Where these tensors begin, and the numbers of the run.
fn addresses<'a>(tensors: impl Iterator<Item = &'a Tensor>, words: &Words) -> Result<Addresses> {
    tensors.map(Tensor::address).chain([Ok(words.address())]).collect()
}
