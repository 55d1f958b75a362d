//! Running a plan: its buffers, its launches one by one, and what it gives.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::onto::Onto;
use super::plan::{Delivery, Feed, Launch, Plan, outside, stored};
use super::timing;
use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::arena::{Buffers, Operand, Place};
use crate::cpu::interrupt;
use crate::{Buffer, DType, Error, Layout, Meta, Number, Result, Shape, Site, Tensor};

/// Says whether to go on, given the first elements of outputs, where they are numbers.
pub type Decide<'a> = &'a mut dyn FnMut(&dyn Fn(usize) -> Option<Number>) -> bool;

impl Plan {
    /// The outputs for these inputs, then what the graph stores in its variables: contiguous tensors that own their storage or share an
    /// input's.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        if let Some(gpu) = &self.gpu {
            return gpu.run(self, &self.fitted(inputs)?);
        }
        let is_noted = timing::is_on();
        self.run_each(inputs, |launch, buffers| launch.run_noted(buffers, is_noted))
    }

    /// The stores that are written where their variables lie, in the order in which [`Plan::run_onto`] takes these.
    pub fn onto(&self) -> &[Onto] {
        &self.onto.all
    }

    /// As [`Plan::run`], where some variables are `lent`, each by the one handle on its elements, and are written where they lie; what stands
    /// for them among the inputs is not looked at, nor are there results for them. Before the first is written `decide` is asked whether to
    /// go on, and may ask for the first elements of outputs. After an error, and where it says no (`None`), they hold what they held.
    pub fn run_onto(
        &self,
        inputs: &[Tensor],
        lent: &mut [Tensor],
        decide: Decide<'_>,
    ) -> Result<Option<Vec<Tensor>>> {
        self.takes(lent)?;
        // There nothing is written where it lies.
        if self.gpu.is_some() {
            return self.run(inputs).map(Some);
        }
        let inputs = self.fitted(inputs)?;
        let is_noted = timing::is_on();
        let mut each =
            |launch: &Launch, buffers: &mut Buffers<'_>| launch.run_noted(buffers, is_noted);
        self.run_all(&inputs, lent, &mut each, decide)
    }

    /// Runs once and tells for each launch what it is and how many seconds it took.
    pub fn profile(&self, inputs: &[Tensor]) -> Result<Vec<(String, f64)>> {
        let mut rows = Vec::with_capacity(self.launches.len());
        if let Some(gpu) = &self.gpu {
            gpu.run_each(self, &self.fitted(inputs)?, |launch, run| {
                let clock = std::time::Instant::now();
                run()?;
                rows.push((launch.to_string(), clock.elapsed().as_secs_f64()));
                Ok(())
            })?;
            return Ok(rows);
        }
        self.run_each(inputs, |launch, buffers| {
            let clock = std::time::Instant::now();
            launch.run(buffers)?;
            rows.push((launch.to_string(), clock.elapsed().as_secs_f64()));
            Ok(())
        })?;
        Ok(rows)
    }

    fn run_each(
        &self,
        inputs: &[Tensor],
        mut each: impl FnMut(&Launch, &mut Buffers<'_>) -> Result<()>,
    ) -> Result<Vec<Tensor>> {
        self.takes(&[])?;
        let inputs = self.fitted(inputs)?;
        self.run_all(&inputs, &mut [], &mut each, &mut |_| true)?.ok_or_else(outside)
    }

    fn run_all(
        &self,
        inputs: &[Cow<'_, Tensor>],
        lent: &mut [Tensor],
        each: &mut dyn FnMut(&Launch, &mut Buffers<'_>) -> Result<()>,
        decide: Decide<'_>,
    ) -> Result<Option<Vec<Tensor>>> {
        let mut storages: SmallVec<[Arc<Buffer>; 16]> = SmallVec::new();
        let mut numbers: SmallVec<[Option<Number>; 16]> = SmallVec::new();
        for it in inputs {
            storages.push(it.storage()?);
            numbers.push(it.as_number());
        }
        let mut kept = self.buffers()?;
        let mut arena = made(self.fullest, || Bytes::uninit(self.memory.peak))?;
        let mut fed: SmallVec<[_; 16]> = SmallVec::new();
        for (tensor, buffer) in inputs.iter().zip(&storages) {
            let lowest = tensor.layout().lowest() * tensor.dtype().size();
            fed.push((buffer.host()?, buffer.packs(), lowest));
        }
        let mut consts: SmallVec<[_; 16]> = SmallVec::new();
        for it in &self.const_buffers {
            consts.push((it.host()?, it.packs()));
        }
        let outputs = self.outputs(&mut kept, lent).ok_or_else(outside)?;
        let buffers = Buffers::new(
            fed.into_iter(),
            &numbers,
            consts.into_iter(),
            &mut arena,
            outputs.into_iter(),
        );
        let mut buffers = buffers.ok_or_else(outside)?;
        let (first, last) = self.launches.split_at(self.n_before());
        first.iter().try_for_each(|it| each(it, &mut buffers))?;
        // What may have to be copied is, before anything is written over.
        let is_made = |it: &&Delivery| matches!(it, Delivery::Kept(..));
        let given = self.deliveries.iter().filter(|it| !is_made(it));
        let given = given.map(|it| self.deliver(it, inputs, &[])).collect::<Result<Vec<_>>>()?;
        if !decide(&|at| self.first_of(at, &buffers)) {
            return Ok(None);
        }
        self.write_onto(last, &mut buffers, each)?;
        if timing::is_on() {
            self.note_run();
        }
        drop(buffers);
        drop(arena);
        let kept: SmallVec<[Arc<Buffer>; 16]> = kept.into_iter().map(Into::into).collect();
        let mut given = given.into_iter();
        let results = self.deliveries.iter().filter_map(|it| match it {
            Delivery::Kept(at, _) if self.is_onto(*at) => None,
            Delivery::Kept(at, meta) => Some(stored(&kept[*at], meta)),
            _ => given.next(),
        });
        Ok(Some(results.collect()))
    }

    /// Launches that write over nothing that was there before; all that may fail are among them, but for one.
    fn n_before(&self) -> usize {
        if self.onto.all.is_empty() { self.launches.len() } else { self.onto.from }
    }

    /// Runs the launches that write over variables. The first may refuse, with nothing changed.
    fn write_onto(
        &self,
        launches: &[Launch],
        buffers: &mut Buffers<'_>,
        each: &mut dyn FnMut(&Launch, &mut Buffers<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some((first, others)) = launches.split_first() else { return Ok(()) };
        let write = || {
            each(first, buffers)?;
            let done = others.iter().try_for_each(|it| each(it, buffers));
            assert!(done.is_ok(), "a launch that cannot fail has failed: {done:?}");
            Ok(())
        };
        interrupt::unstopped(usize::MAX, write).ok_or(Error::Interrupted)?
    }

    /// Whether a buffer that outlives the run is a variable's.
    fn is_onto(&self, kept: usize) -> bool {
        self.onto.all.binary_search_by_key(&kept, |it| it.kept).is_ok()
    }

    /// Fails unless these are the variables that are written where they lie, and nobody else looks at them.
    fn takes(&self, lent: &[Tensor]) -> Result<()> {
        let fits = |(onto, it): (&Onto, &Tensor)| {
            let Feed { dtype, layout, .. } = &self.inputs[onto.input];
            *it.shape() == layout.shape
                && it.dtype() == *dtype
                && it.layout().is_contiguous()
                && it.is_owned()
        };
        let all = self.onto.all.iter().zip(lent);
        if lent.len() == self.onto.all.len() && all.into_iter().all(fits) {
            return Ok(());
        }
        Err(Error::Trace {
            problem: "a plan that writes over variables has to be lent them".into(),
        })
    }

    /// What the run writes that outlives it, and where each begins: new buffers, and what is lent.
    fn outputs<'a>(
        &self,
        kept: &'a mut [Bytes],
        lent: &'a mut [Tensor],
    ) -> Option<SmallVec<[(&'a mut Bytes, usize); 16]>> {
        let mut lent = lent.iter_mut();
        let mut outputs = SmallVec::new();
        for (at, bytes) in kept.iter_mut().enumerate() {
            outputs.push(match self.is_onto(at) {
                false => (bytes, 0),
                true => {
                    let it = lent.next()?;
                    let offset = it.layout().offset * it.dtype().size();
                    (it.own_bytes()?, offset)
                }
            });
        }
        Some(outputs)
    }

    /// The first element of an output, once that is there.
    fn first_of(&self, at: usize, buffers: &Buffers<'_>) -> Option<Number> {
        let (place, layout, dtype) = match self.deliveries.get(at)? {
            Delivery::Kept(at, meta) => {
                (Place::Output(*at), Layout::contiguous(meta.shape.clone()), meta.dtype)
            }
            Delivery::Input(at, layout) => {
                (Place::Input(*at), layout.clone(), self.inputs[*at].dtype)
            }
            Delivery::Const(at, layout) => {
                (Place::Const(*at), layout.clone(), self.consts[*at].dtype())
            }
            Delivery::Number(number) => return Some(*number),
            Delivery::Fed(at) => {
                (Place::Fed(*at), Layout::contiguous(Shape::default()), DType::F64)
            }
        };
        buffers.first(&Operand { place, layout, dtype })
    }

    /// Buffers for what outlives the run, which is made where the program says so, not where the run is asked for.
    fn buffers(&self) -> Result<SmallVec<[Bytes; 16]>> {
        let buffer = |(at, (meta, site)): (usize, &(Meta, Site))| match self.is_onto(at) {
            true => made(*site, || Bytes::uninit(0)),
            false => made(*site, || Bytes::of(&meta.shape, meta.dtype)),
        };
        self.kept.iter().enumerate().map(buffer).collect()
    }

    /// The inputs, copied where their strides are not what the plan was made for; what is not read may be anything.
    fn fitted<'a>(&self, inputs: &'a [Tensor]) -> Result<SmallVec<[Cow<'a, Tensor>; 16]>> {
        if inputs.len() != self.inputs.len() {
            let expected = self.inputs.len();
            return Err(Error::Arity { op: "graph", expected, got: inputs.len() });
        }
        self.inputs
            .iter()
            .zip(inputs)
            .enumerate()
            .map(|(idx, (feed, it))| match feed.is_read {
                true => feed.fit(idx, it),
                false => Ok(Cow::Borrowed(it)),
            })
            .collect()
    }
}

type Taken = std::result::Result<Bytes, AllocError>;

/// Memory for what the program makes at `site`.
fn made(site: Site, take: impl FnOnce() -> Taken) -> Result<Bytes> {
    site.within(take).map_err(|it| Error::from(it).at(site))
}
