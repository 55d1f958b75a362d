//! From a graph to a plan: groups become launches, views become layouts, buffers get places.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::gpu::OnGpu;
use super::group::{Group, group};
use super::memory::{Lifetime, place};
use super::onto::{by_input, late_nodes, stores_that_may};
use super::plan::{Choice, Delivery, Feed, Launch, Plan, Work};
use super::shares::Shares;
use crate::cpu::arena::{Operand, Operands, Place, Target};
use crate::graph::{Graph, Kind, NodeId, Value};
use crate::lane::{self, Ref};
use crate::op::{Body, Case, Kernel, Prepared};
use crate::tensor::Data;
use crate::{
    Attr, Attrs, DType, Device, Error, Layout, Meta, Number, OpDef, Result, Site, Tensor, fastrun,
    ops,
};

/// Compiles a graph. With `fuse`, elementwise ops that feed each other share a launch.
pub fn compile(graph: &Graph, fuse: bool) -> Result<Plan> {
    compiled(graph, group(graph, fuse, &[]), &[])
}

/// As [`compile`], where large variables that are stored to are written where they lie, as many as can be and `may` allows by the numbers
/// of the stores ([`Plan::onto`]): such a plan runs by [`Plan::run_onto`].
pub fn compile_onto(graph: &Graph, fuse: bool, may: &dyn Fn(usize) -> bool) -> Result<Plan> {
    let stores = stores_that_may(graph, may);
    let late = if stores.is_empty() { Vec::new() } else { late_nodes(graph, &stores) };
    compiled(graph, group(graph, fuse, &late), &stores)
}

fn compiled(graph: &Graph, groups: Vec<Group>, onto: &[usize]) -> Result<Plan> {
    let mut compiler = Compiler::new(graph);
    for group in groups {
        compiler.launch(&group)?;
    }
    let deliveries = graph.results().map(|it| compiler.deliver(it)).collect::<Result<Vec<_>>>()?;
    compiler.finish(deliveries, onto)
}

/// Where a value lies.
#[derive(Clone, Debug)]
pub(super) struct Location {
    buffer: Buffer,
    pub(super) layout: Layout,
    pub(super) dtype: DType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Buffer {
    Input(usize),
    Const(usize),
    Slot(usize),
}

/// A buffer that a launch writes.
pub(super) struct Slot {
    pub(super) meta: Meta,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Which kept buffer it is, when it outlives the run.
    pub(super) kept: Option<usize>,
    /// The slot whose place it takes: its launch changes what that held.
    pub(super) instead_of: Option<usize>,
    /// Where the program made what outlives the run.
    pub(super) site: Site,
}

/// A launch before buffers have places.
pub(super) struct Draft {
    pub(super) site: Site,
    pub(super) shares: Shares,
    pub(super) work: Work,
    pub(super) inputs: Vec<Given>,
    pub(super) outputs: Vec<usize>,
}

pub(super) enum Given {
    At(Location),
    Number(Number),
    Fed(usize),
}

impl Given {
    pub(super) fn slot(&self) -> Option<usize> {
        match self {
            Self::At(Location { buffer: Buffer::Slot(slot), .. }) => Some(*slot),
            _ => None,
        }
    }

    /// The input that it lies in.
    pub(super) fn input(&self) -> Option<usize> {
        match self {
            Self::At(Location { buffer: Buffer::Input(input), .. }) | Self::Fed(input) => {
                Some(*input)
            }
            _ => None,
        }
    }

    /// Whether it is all `n` elements of an input, as they lie there.
    pub(super) fn is_all_of_input(&self, input: usize, n: usize) -> bool {
        self.input() == Some(input)
            && self.is_flat(n)
            && matches!(self, Self::At(it) if it.layout.offset == 0)
    }

    /// Whether it lies as `n` results do, in row-major order.
    pub(super) fn is_flat(&self, n: usize) -> bool {
        matches!(self, Self::At(it) if it.layout.is_contiguous() && it.layout.shape.numel() == n)
    }

    /// Whether it is one element.
    pub(super) fn is_one(&self) -> bool {
        match self {
            Self::At(it) => it.layout.shape.numel() == 1,
            Self::Number(_) | Self::Fed(_) => true,
        }
    }

    /// The slot of which it is all, in row-major order.
    pub(super) fn whole_slot(&self, slots: &[Slot]) -> Option<usize> {
        let (Self::At(Location { layout, dtype, .. }), slot) = (self, self.slot()?) else {
            return None;
        };
        let is_whole = layout.offset == 0
            && layout.is_contiguous()
            && layout.shape.numel() == slots[slot].meta.shape.numel()
            && *dtype == slots[slot].meta.dtype;
        is_whole.then_some(slot)
    }
}

/// The kernel for a node, and where its operands lie.
pub(super) struct Chosen {
    pub(super) op: &'static OpDef,
    pub(super) kernel: Prepared,
    pub(super) attrs: Attrs,
    /// But for the first where that is made in the launch.
    pub(super) at: Vec<Location>,
    /// The kind of the first then, in the dtype in which the kernel reads it.
    pub(super) made: Option<Meta>,
}

/// A graph on its way to a plan.
pub(super) struct Compiler<'a> {
    pub(super) graph: &'a Graph,
    pub(super) users: Vec<SmallVec<[NodeId; 2]>>,
    pub(super) is_result: FxHashSet<Value>,
    inputs: Vec<Feed>,
    input_of: FxHashMap<NodeId, usize>,
    consts: Vec<Tensor>,
    locations: FxHashMap<Value, Location>,
    pub(super) slots: Vec<Slot>,
    pub(super) drafts: Vec<Draft>,
    choices: Vec<Choice>,
}

impl<'a> Compiler<'a> {
    fn new(graph: &'a Graph) -> Self {
        let feed = |&id: &NodeId| {
            let node = graph.node(id);
            let dtype = node.metas[0].dtype;
            match &node.kind {
                Kind::Input { layout } | Kind::Variable { layout } => {
                    let layout = Layout { offset: lift(layout), ..layout.clone() };
                    Feed { dtype, is_read: false, layout }
                }
                _ => {
                    let layout = Layout::contiguous(node.metas[0].shape.clone());
                    Feed { dtype, is_read: false, layout }
                }
            }
        };
        Self {
            graph,
            users: graph.users(),
            is_result: graph.results().collect(),
            inputs: graph.inputs().iter().map(feed).collect(),
            input_of: graph.inputs().iter().enumerate().map(|(idx, &id)| (id, idx)).collect(),
            consts: Vec::new(),
            locations: FxHashMap::default(),
            slots: Vec::new(),
            drafts: Vec::new(),
            choices: Vec::new(),
        }
    }

    pub(super) fn outputs(&self, id: NodeId) -> Vec<Value> {
        let n_outputs = self.graph.node(id).metas.len() as u32;
        (0..n_outputs).map(|output| Value { node: id, output }).collect()
    }

    /// A launch of a kernel by itself, or of an op that runs graphs.
    pub(super) fn kernel(&mut self, id: NodeId) -> Result<()> {
        let Kind::Op { op, attrs, inputs } = &self.graph.node(id).kind else { return Ok(()) };
        let site = self.graph.node(id).origin.site;
        let (work, given) = match (op.body, self.graph.device) {
            (Body::Control(_), _) => {
                (Work::Control { op, attrs: attrs.clone() }, self.operands(inputs)?)
            }
            (_, Device::Cuda(_)) => {
                let work = Work::OnGpu { op, attrs: attrs.clone(), finishing: None };
                (work, self.operands(inputs)?)
            }
            _ => {
                let Some(Chosen { op, kernel, attrs, at, .. }) = self.chosen(id, false)? else {
                    return Ok(());
                };
                self.note_choice(op, kernel.kernel);
                let (in_place, prologue, finishing) = (false, None, None);
                let work = Work::Kernel { op, kernel, attrs, in_place, prologue, finishing };
                (work, at.into_iter().map(Given::At).collect())
            }
        };
        self.draft((site, Shares::of(site)), work, given, &self.outputs(id));
        Ok(())
    }

    /// Where operands lie in memory.
    pub(super) fn operands(&mut self, values: &[Value]) -> Result<Vec<Given>> {
        values.iter().map(|&it| self.locate(it).map(Given::At)).collect()
    }

    /// The kernel for a node, and where its operands lie, the first of which is `made` in the launch or lies, too; `None` for nodes that
    /// are no ops, and where the kernel does not take the operand so.
    pub(super) fn chosen(&mut self, id: NodeId, made: bool) -> Result<Option<Chosen>> {
        let Kind::Op { op, attrs, inputs } = &self.graph.node(id).kind else { return Ok(None) };
        let Body::Kernels(kernels) = op.body else {
            return Err(Error::Trace { problem: format!("{} cannot be compiled", op.name) });
        };
        let (first, others) = inputs.split_at(usize::from(made));
        let at = others.iter().map(|&it| self.locate(it)).collect::<Result<Vec<_>>>()?;
        let stand_ins = first.iter().map(|&it| self.graph.stand_in(it));
        let mut shown: SmallVec<[Tensor; 3]> = stand_ins.collect();
        shown.extend(at.iter().map(|it| self.shown(it)));
        let constant = at.iter().take(31).enumerate().fold(0, |bits, (idx, it)| {
            let is_constant = matches!(it.buffer, Buffer::Const(_));
            bits | u32::from(is_constant) << (idx + first.len())
        });
        let case = Case::new(op, &shown, attrs).with_constants(constant);
        let mut kernel = fastrun::choose(kernels, &case).ok_or_else(|| case.refused())?;
        let mut meta = None;
        if made {
            let Some(dtype) = (kernel.kernel.prologue)(&case.seen()) else { return Ok(None) };
            let read = Meta::new(shown[0].shape().clone(), dtype);
            if dtype != shown[0].dtype() {
                shown[0] = Tensor::abstract_of(read.clone());
                let case = Case::new(op, &shown, attrs).with_constants(constant);
                kernel = kernel.kernel.prepare(&case).ok_or_else(|| case.refused())?;
            }
            meta = Some(read);
        }
        Ok(Some(Chosen { op, kernel, attrs: attrs.clone(), at, made: meta }))
    }

    /// An operand as kernels are shown it: only a constant has elements.
    fn shown(&self, at: &Location) -> Tensor {
        match at.buffer {
            Buffer::Const(idx) if self.consts[idx].dtype() == at.dtype => {
                self.consts[idx].with_layout(at.layout.clone())
            }
            _ => Tensor::make(at.dtype, at.layout.clone(), Data::Abstract(None, Device::Cpu), None),
        }
    }

    pub(super) fn note_choice(&mut self, op: &'static OpDef, kernel: &Kernel) {
        if matches!(op.body, Body::Kernels(kernels) if kernels.len() > 1) {
            self.choices.push(Choice { op: op.name, kernel: kernel.name });
        }
    }

    /// Adds a launch; its outputs get fresh slots.
    pub(super) fn draft(
        &mut self,
        (site, shares): (Site, Shares),
        work: Work,
        inputs: Vec<Given>,
        values: &[Value],
    ) {
        let now = self.drafts.len();
        for given in &inputs {
            if let Some(slot) = given.slot() {
                self.slots[slot].to = now;
            }
        }
        let mut outputs = Vec::with_capacity(values.len());
        for &value in values {
            let meta = self.graph.meta(value).clone();
            let slot = self.slot(meta.clone(), now);
            let layout = Layout::contiguous(meta.shape);
            let location = Location { buffer: Buffer::Slot(slot), layout, dtype: meta.dtype };
            self.locations.insert(value, location);
            outputs.push(slot);
        }
        self.drafts.push(Draft { site, shares, work, inputs, outputs });
    }

    fn slot(&mut self, meta: Meta, now: usize) -> usize {
        self.slots.push(Slot {
            meta,
            from: now,
            to: now,
            kept: None,
            instead_of: None,
            site: Site::NOWHERE,
        });
        self.slots.len() - 1
    }

    /// An operand of a lane program.
    pub(super) fn given(&mut self, value: Value) -> Result<Given> {
        Ok(match self.graph.node(value.node).kind {
            Kind::Number(number) => Given::Number(number),
            Kind::Fed => Given::Fed(self.input_of[&value.node]),
            _ => Given::At(self.locate(value)?),
        })
    }

    /// Where a value lies in memory. Views are laid out over their operand, or over a copy of it.
    fn locate(&mut self, value: Value) -> Result<Location> {
        if let Some(known) = self.locations.get(&value) {
            return Ok(known.clone());
        }
        let node = self.graph.node(value.node);
        let location = match &node.kind {
            Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed => {
                let at = self.input_of[&value.node];
                let feed = &self.inputs[at];
                Location {
                    buffer: Buffer::Input(at),
                    layout: feed.layout.clone(),
                    dtype: feed.dtype,
                }
            }
            Kind::Const(tensor) => self.constant(tensor)?,
            Kind::Number(number) => {
                let number = Tensor::from_number(*number);
                let bytes = number.storage()?;
                self.constant(&Tensor::stored(bytes, number.layout().clone(), number.dtype()))?
            }
            Kind::Op { op, attrs, inputs } => {
                let Body::View(view) = op.body else {
                    let problem = format!("%{} is used before it is computed", value.node);
                    return Err(Error::Trace { problem });
                };
                let Meta { shape, dtype } = &node.metas[0];
                let mut below = self.locate(inputs[0])?;
                if below.dtype != *dtype && !matches!(below.buffer, Buffer::Slot(_)) {
                    // Offsets of inputs and constants are counted in elements of their own.
                    below = self.copy(node.origin.site, below)?;
                }
                match view(&below.layout, attrs, shape) {
                    Some(layout) => Location { layout, dtype: *dtype, ..below },
                    None => {
                        let copy = self.copy(node.origin.site, below)?;
                        let layout = view(&copy.layout, attrs, shape);
                        let problem =
                            || Error::Trace { problem: format!("{} is no view", op.name) };
                        Location { layout: layout.ok_or_else(problem)?, dtype: *dtype, ..copy }
                    }
                }
            }
        };
        self.locations.insert(value, location.clone());
        Ok(location)
    }

    /// Has a value there before the plan runs.
    pub(super) fn hold(&mut self, value: Value, tensor: &Tensor) -> Result<()> {
        let location = self.constant(tensor)?;
        self.locations.insert(value, location);
        Ok(())
    }

    /// A constant, on the device of the graph.
    fn constant(&mut self, tensor: &Tensor) -> Result<Location> {
        let tensor = tensor.moved_to(self.graph.device)?;
        let location = Location {
            buffer: Buffer::Const(self.consts.len()),
            layout: tensor.layout().clone(),
            dtype: tensor.dtype(),
        };
        self.consts.push(tensor);
        Ok(location)
    }

    /// The same elements in a slot of their own, in row-major order.
    fn copy(&mut self, site: Site, from: Location) -> Result<Location> {
        let dtype = from.dtype;
        let layout = Layout::contiguous(from.layout.shape.clone());
        let work = match dtype.is_complex() {
            true if self.graph.device != Device::Cpu => {
                let (op, attrs) = (&ops::shape::cat::OP, smallvec![Attr::Int(0)]);
                Work::OnGpu { op, attrs, finishing: None }
            }
            true => {
                let (op, attrs) = (&ops::shape::cat::OP, smallvec![Attr::Int(0)]);
                let shown = [self.shown(&from)];
                let case = Case::new(op, &shown, &attrs);
                let kernel = ops::shape::cat::COPY.prepare(&case).ok_or_else(|| case.refused())?;
                let (in_place, prologue, finishing) = (false, None, None);
                Work::Kernel { op, kernel, attrs, in_place, prologue, finishing }
            }
            false => Work::Lanes {
                program: lane::shared(vec![dtype], Vec::new(), vec![Ref::Input(0)])?,
                params: Vec::new(),
                replaced: SmallVec::new(),
                label: "copy".into(),
            },
        };
        self.draft((site, Shares::of(site)), work, vec![Given::At(from)], &[]);
        let now = self.drafts.len() - 1;
        let slot = self.slot(Meta::new(layout.shape.clone(), dtype), now);
        self.drafts[now].outputs.push(slot);
        Ok(Location { buffer: Buffer::Slot(slot), layout, dtype })
    }

    fn deliver(&mut self, value: Value) -> Result<Delivery> {
        match self.graph.node(value.node).kind {
            Kind::Number(number) => return Ok(Delivery::Number(number)),
            Kind::Fed => return Ok(Delivery::Fed(self.input_of[&value.node])),
            _ => {}
        }
        let site = self.graph.node(value.node).origin.site;
        let mut at = self.locate(value)?;
        if let Buffer::Slot(_) = at.buffer
            && Given::At(at.clone()).whole_slot(&self.slots).is_none()
        {
            at = self.copy(site, at)?;
        }
        Ok(match at.buffer {
            Buffer::Input(input) => Delivery::Input(input, at.layout),
            Buffer::Const(constant) => Delivery::Const(constant, at.layout),
            Buffer::Slot(slot) => {
                let n_kept = self.slots.iter().filter(|it| it.kept.is_some()).count();
                let slot = &mut self.slots[slot];
                let kept = *slot.kept.get_or_insert(n_kept);
                slot.site = site;
                Delivery::Kept(kept, Meta::new(at.layout.shape, at.dtype))
            }
        })
    }

    /// Notes which inputs are taken from where they come in.
    fn note_reads(&mut self, deliveries: &[Delivery], overwritten: &FxHashMap<usize, usize>) {
        let delivered = deliveries.iter().filter_map(|it| match it {
            Delivery::Input(at, _) | Delivery::Fed(at) => Some(*at),
            Delivery::Kept(..) | Delivery::Const(..) | Delivery::Number(_) => None,
        });
        let read = self.drafts.iter().flat_map(|it| &it.inputs).filter_map(Given::input);
        for at in delivered.chain(read) {
            self.inputs[at].is_read = !overwritten.contains_key(&at);
        }
    }

    /// Where an input stands that a variable of the graph is.
    pub(super) fn input_at(&self, variable: NodeId) -> usize {
        self.input_of[&variable]
    }

    fn finish(mut self, deliveries: Vec<Delivery>, onto: &[usize]) -> Result<Plan> {
        self.merge();
        self.update_in_place();
        let onto = self.write_onto(onto, &deliveries);
        self.hand_down();
        let of_slot = |it: &Slot| Some((it.kept?, (it.meta.clone(), it.site)));
        let mut kept: Vec<(usize, (Meta, Site))> = self.slots.iter().filter_map(of_slot).collect();
        kept.sort_by_key(|it| it.0);
        let lives: Vec<Lifetime> = self
            .slots
            .iter()
            .filter(|it| it.kept.is_none() && it.instead_of.is_none())
            .map(|it| Lifetime { size: it.meta.bytes(), from: it.from, to: it.to })
            .collect();
        let memory = place(&lives);
        let gpu = self.gpu()?;
        let mut offsets = memory.offsets.iter();
        let mut places: Vec<Place> = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            places.push(match (slot.instead_of, slot.kept) {
                (Some(before), _) => places[before],
                (None, Some(at)) => Place::Output(at),
                (None, None) => {
                    let offset = offsets.next().copied().unwrap_or(0);
                    if gpu.is_some() { Place::Slot(places.len()) } else { Place::Arena(offset) }
                }
            });
        }
        let overwritten = by_input(&onto);
        self.note_reads(&deliveries, &overwritten);
        let places = (&places[..], &overwritten);
        let launches = self.drafts.into_iter().map(|it| bind(it, places, &self.slots));
        let launches = launches.collect::<Result<Vec<_>>>()?;
        let const_buffers = self.consts.iter().map(Tensor::storage).collect::<Result<Vec<_>>>()?;
        // Numbers lie in one order only.
        let many = const_buffers.iter().filter(|it| it.len() > size_of::<u128>());
        many.for_each(|it| it.packs().expect_reuse());
        let kept = kept.into_iter().map(|it| it.1).collect();
        let fullest = launches.get(memory.fullest).map_or(Site::NOWHERE, |it| it.site);
        let Self { inputs, consts, choices, .. } = self;
        Ok(Plan {
            inputs,
            consts,
            const_buffers,
            launches,
            kept,
            deliveries,
            memory,
            fullest,
            choices,
            onto,
            gpu,
        })
    }

    /// What a plan for a GPU needs besides, if it is for one.
    fn gpu(&self) -> Result<Option<OnGpu>> {
        let Device::Cuda(index) = self.graph.device else { return Ok(None) };
        let mut ends = vec![Vec::new(); self.drafts.len()];
        for (at, slot) in self.slots.iter().enumerate().filter(|it| it.1.kept.is_none()) {
            ends[slot.to].push(at);
        }
        let reads = self.drafts.iter().any(|it| matches!(it.work, Work::Control { .. }));
        let draws = self.graph.draws().next().is_some();
        OnGpu::new(index, ends, self.slots.len(), (draws, reads)).map(Some)
    }
}

/// A launch with its operands; `overwritten` are the inputs that are written where they lie, with the buffers that they are then.
fn bind(
    draft: Draft,
    (places, overwritten): (&[Place], &FxHashMap<usize, usize>),
    slots: &[Slot],
) -> Result<Launch> {
    let operand = |given| match given {
        Given::At(Location { buffer, layout, dtype }) => {
            let place = match buffer {
                Buffer::Input(at) => {
                    overwritten.get(&at).map_or(Place::Input(at), |it| Place::Output(*it))
                }
                Buffer::Const(at) => Place::Const(at),
                Buffer::Slot(at) => places[at],
            };
            Operand { place, layout, dtype }
        }
        Given::Number(number) => scalar(Place::Number(number), number.dtype()),
        Given::Fed(at) => scalar(Place::Fed(at), DType::F64),
    };
    let inputs = draft.inputs.into_iter().map(operand).collect();
    let target = |&slot: &usize| {
        let Meta { shape, dtype } = slots[slot].meta.clone();
        Target { place: places[slot], shape, dtype }
    };
    let outputs = draft.outputs.iter().map(target).collect();
    let overlap = || Error::Trace { problem: "a plan writes over its own operands".into() };
    let operands = Operands::new(inputs, outputs).ok_or_else(overlap)?;
    let Draft { site, shares, work, .. } = draft;
    Ok(Launch { site, shares, work, operands })
}

fn scalar(place: Place, dtype: DType) -> Operand {
    Operand { place, layout: Layout::contiguous(crate::Shape::default()), dtype }
}

/// How far the first element lies above the lowest one.
fn lift(layout: &Layout) -> usize {
    if layout.shape.numel() == 0 {
        return 0;
    }
    let down = layout.shape.iter().zip(&layout.strides);
    down.map(|(&size, &stride)| (size as isize - 1).max(0) * (-stride).max(0)).sum::<isize>()
        as usize
}
