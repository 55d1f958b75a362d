//! What was recorded for one signature: a tree of op applications. Each call walks a path from the root.

use std::rc::Rc;

use smallvec::SmallVec;

use super::segment::Segment;
use super::walk::Events;
use crate::graph::Origin;
use crate::{Attrs, DType, Device, Layout, Number, OpDef, Tensor};

pub(super) type StepId = u32;

/// The step before the first op.
pub(super) const ROOT: StepId = 0;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ref {
    /// Argument of the traced function.
    Arg(u32),
    /// A tensor from outside, in order of first use along the path.
    Capture(u32),
    /// Result of an earlier step, counted along the path.
    Result(u32),
    /// A number of the language that has been the same in every call so far.
    Number(Number),
    /// A number of this dtype that differs from call to call.
    Fed(DType),
}

impl Ref {
    pub(super) fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Arg(a), Self::Arg(b))
            | (Self::Capture(a), Self::Capture(b))
            | (Self::Result(a), Self::Result(b)) => a == b,
            _ => false,
        }
    }
}

/// A result as it was recorded.
#[derive(Clone, Debug)]
pub(super) struct Out {
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    /// Whether it is a view of the first operand's storage.
    pub(super) alias: bool,
}

/// A captured tensor as it was recorded.
#[derive(Clone, Debug)]
pub(super) struct Captured {
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    pub(super) device: Device,
    /// The tensor itself, when captures are constants.
    pub(super) constant: Option<Tensor>,
}

/// One op application.
#[derive(Default)]
pub(super) struct Step {
    /// `None` for the root only.
    pub(super) op: Option<&'static OpDef>,
    /// Where it ran.
    pub(super) device: Device,
    pub(super) attrs: Attrs,
    pub(super) inputs: SmallVec<[Ref; 3]>,
    pub(super) outputs: SmallVec<[Out; 1]>,
    /// Captures that this step uses first.
    pub(super) captures: SmallVec<[Captured; 1]>,
    pub(super) parent: StepId,
    pub(super) children: SmallVec<[StepId; 1]>,
    /// The function ended here.
    pub(super) end: Option<End>,
    /// Where the program applied it when it was recorded.
    pub(super) origin: Origin,
    /// Compiled stretches that end with this step, by the step they start after.
    pub(super) segments: SmallVec<[(StepId, Rc<Segment>); 1]>,
    /// Reverse walks that begin here.
    pub(super) events: Events,
}

/// Worlds of which it is kept what a call in them found out.
const MOST_WORLDS: usize = 8;

/// How a path ends.
#[derive(Default)]
pub(super) struct End {
    /// What the function returns; `None` where that was not computed from tensors.
    pub(super) results: Vec<Option<Ref>>,
    /// Results of steps that outlived the call in which the path was recorded, ascending.
    pub(super) left: Vec<u32>,
    /// What the call left in variables, in the order in which its caller names them; `None` until one does.
    pub(super) stores: Option<Vec<Stored>>,
    /// What the latest calls that were followed found out, one of each world, the last one last.
    pub(super) followed: Vec<Followed>,
    /// Calls that took this path.
    pub(super) n_calls: usize,
}

/// What a path needs besides variables when it runs without the body: the same in each call of one world.
pub(super) struct Followed {
    pub(super) world: u64,
    /// What the function returns; `None` where that was not computed from tensors.
    pub(super) results: Vec<Option<Ref>>,
    /// The captures that the body makes of numbers, by their numbers.
    pub(super) constants: Vec<(u32, Tensor)>,
    /// The numbers that differed between calls, in order; whether they may differ within this world.
    pub(super) fed: Vec<Tensor>,
    pub(super) fed_vary: bool,
}

impl Followed {
    /// Whether both hold the same, if they are of one world.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let number = |it: &Tensor| it.as_number();
        let same_fed = |(a, b): (&Tensor, &Tensor)| matches!((number(a), number(b)), (Some(a), Some(b)) if a.same(b));
        let same = |(a, b): (&(u32, Tensor), &(u32, Tensor))| a.0 == b.0 && a.1.has_bits_of(&b.1);
        self.results.len() == other.results.len()
            && self.constants.len() == other.constants.len()
            && self.fed.len() == other.fed.len()
            && self.constants.iter().zip(&other.constants).all(same)
            && (self.fed_vary || self.fed.iter().zip(&other.fed).all(same_fed))
    }
}

impl End {
    /// Takes over what a call found out; whether that is what one of the same world found before, if there is one.
    pub(super) fn note(&mut self, found: Followed) -> Option<bool> {
        let known = self.followed.iter().position(|it| it.world == found.world);
        let known = known.map(|it| self.followed.remove(it));
        let alike = known.filter(|it| it.fed.len() == found.fed.len());
        let agrees = alike.map(|it| it.agrees(&found));
        if self.followed.len() == MOST_WORLDS {
            self.followed.remove(0);
        }
        self.followed.push(found);
        agrees
    }
}

/// What a call leaves in a variable.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    /// Its number among those of the caller.
    pub(super) at: u32,
    /// The variable when the call began, if an op reads that: an argument or a capture.
    pub(super) before: Option<Ref>,
    /// Its next value; `None` if it was not computed from tensors of the call.
    pub(super) after: Option<Ref>,
}

impl Stored {
    /// Whether ops read the variable and nothing was stored to it.
    pub(super) fn is_only_read(&self) -> bool {
        matches!((self.before, self.after), (Some(before), Some(after)) if before.same(after))
    }
}

/// An argument as the signature sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgSpec {
    pub(super) device: Device,
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    pub(super) number: bool,
}

impl ArgSpec {
    /// That of a tensor. Offsets do not count.
    pub fn of(tensor: &Tensor) -> Self {
        let layout = Layout { offset: 0, ..tensor.layout().clone() };
        let number = tensor.as_number().is_some();
        Self { device: tensor.device(), dtype: tensor.dtype(), layout, number }
    }
}

/// All paths for one signature.
pub(super) struct Tree {
    pub(super) signature: Vec<ArgSpec>,
    pub(super) steps: Vec<Step>,
    /// Paths that reached an end.
    pub(super) n_paths: usize,
    /// Those of which it is known what they leave in variables.
    pub(super) n_told: usize,
    /// The worlds in which calls were followed, the latest last.
    worlds: Vec<u64>,
}

impl Tree {
    pub(super) fn new(signature: Vec<ArgSpec>) -> Self {
        Self { signature, steps: vec![Step::default()], n_paths: 0, n_told: 0, worlds: Vec::new() }
    }

    /// Notes that a call was followed in a world; whether it was the first.
    pub(super) fn note_world(&mut self, world: u64) -> bool {
        if self.worlds.contains(&world) {
            return false;
        }
        if self.worlds.len() == MOST_WORLDS {
            self.worlds.remove(0);
        }
        self.worlds.push(world);
        true
    }

    pub(super) fn step(&self, id: StepId) -> &Step {
        &self.steps[id as usize]
    }

    pub(super) fn step_mut(&mut self, id: StepId) -> &mut Step {
        &mut self.steps[id as usize]
    }

    /// What a path that ends with this step leaves in variables.
    pub(super) fn stores(&self, end: StepId) -> &[Stored] {
        self.step(end).end.as_ref().and_then(|it| it.stores.as_deref()).unwrap_or_default()
    }

    /// Steps after `from` up to and with `to`, in order.
    pub(super) fn path(&self, from: StepId, to: StepId) -> Vec<StepId> {
        let mut path = Vec::new();
        let mut at = to;
        while at != from && at != ROOT {
            path.push(at);
            at = self.step(at).parent;
        }
        path.reverse();
        path
    }

    /// Appends a step after `parent`.
    pub(super) fn push(&mut self, parent: StepId, step: Step) -> StepId {
        let id = self.steps.len() as StepId;
        self.steps.push(Step { parent, ..step });
        self.step_mut(parent).children.push(id);
        id
    }

    /// Forgets all steps from number `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        let gone = self.steps.split_off(len);
        for parent in gone.iter().map(|it| it.parent).filter(|it| (*it as usize) < len) {
            self.step_mut(parent).children.retain(|it| (*it as usize) < len);
        }
    }

    /// Turns numbers of a step into plan inputs; compiled stretches that contain the step are dropped, and reverse walks,
    /// whose ops may depend on the numbers.
    pub(super) fn generalise(&mut self, id: StepId, differs: impl Fn(usize) -> bool) {
        for (idx, it) in self.step_mut(id).inputs.iter_mut().enumerate() {
            if let Ref::Number(number) = *it
                && differs(idx)
            {
                *it = Ref::Fed(number.dtype());
            }
        }
        self.steps.iter_mut().for_each(|it| it.events = Events::default());
        let mut below = vec![id];
        while let Some(at) = below.pop() {
            let step = self.step_mut(at);
            step.segments.retain(|it| it.0 >= id);
            below.extend_from_slice(&step.children);
        }
    }

    /// The steps at which paths end.
    pub(super) fn ends(&self) -> impl Iterator<Item = StepId> {
        (0..self.steps.len() as StepId).filter(|&it| self.step(it).end.is_some())
    }
}
