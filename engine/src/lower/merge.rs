//! Launches of one program on many small tensors as one: a small launch takes a GPU the time of its start, whatever it computes, and an
//! optimizer asks for one for each parameter.
//!
//! A launch may move as long as it stays behind what makes its operands and before what reads its results.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::compile::{Compiler, Draft, Given, Slot};
use super::plan::Work;
use crate::lane::{self, Program};
use crate::{Device, Number};

/// Elements of a result up to which a launch is small.
const SMALL: usize = 1 << 20;

/// What launches have in common that may be one.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    program: u64,
    numbers: Vec<Bits>,
    inputs: SmallVec<[Lies; 4]>,
}

/// A number, by its bits.
type Bits = (u8, u64, u64);

/// How an operand lies.
#[derive(PartialEq, Eq, Hash)]
enum Lies {
    /// In row-major order, as the results do.
    Flat,
    /// One element for all.
    One,
    Number(Bits),
    Fed(usize),
}

/// Launches of a kind and where they may stand: behind the first number of launches, at the second one at the latest.
struct Movable {
    at: usize,
    earliest: usize,
    latest: usize,
}

impl Compiler<'_> {
    /// Makes one launch of many, where the plan is for a GPU.
    pub(super) fn merge(&mut self) {
        if self.graph.device == Device::Cpu {
            return;
        }
        let mut kinds: FxHashMap<Kind, usize> = FxHashMap::default();
        for draft in &self.drafts {
            if let Some(kind) = kind_of(draft, &self.slots) {
                *kinds.entry(kind).or_default() += 1;
            }
        }
        let mut kinds: Vec<Kind> = kinds.into_iter().filter(|it| it.1 > 1).map(|it| it.0).collect();
        kinds.sort_by_key(|it| it.program);
        let drafts = std::mem::take(&mut self.drafts);
        self.drafts = kinds.iter().fold(drafts, |all, it| merged(all, it, &self.slots));
        self.follow_slots();
    }

    /// Says anew which launches write and read the slots.
    fn follow_slots(&mut self) {
        for (at, draft) in self.drafts.iter().enumerate() {
            for &slot in &draft.outputs {
                (self.slots[slot].from, self.slots[slot].to) = (at, at);
            }
            for slot in draft.inputs.iter().filter_map(Given::slot) {
                self.slots[slot].to = at;
            }
        }
    }
}

/// The launches, with those of a kind together where they may be.
fn merged(mut drafts: Vec<Draft>, kind: &Kind, slots: &[Slot]) -> Vec<Draft> {
    let mut done = 0;
    loop {
        let mut all = movable(&drafts, kind, slots);
        all.sort_by_key(|it| (it.latest, it.at));
        let Some((place, chosen)) = next(&all[done.min(all.len())..], &drafts) else {
            return drafts;
        };
        match chosen.len() {
            1 => done += 1,
            _ => drafts = together(drafts, &chosen, place),
        }
    }
}

/// Launches that may run together, with the first of them, and behind which place.
fn next(all: &[Movable], drafts: &[Draft]) -> Option<(usize, Vec<usize>)> {
    let first = all.first()?;
    let place = first.latest;
    let most = match &drafts[first.at].work {
        Work::Lanes { program, .. } => lane::on_gpu::most(program),
        _ => 0,
    };
    let mut chosen: Vec<usize> = Vec::new();
    for it in all.iter().filter(|it| it.earliest <= place) {
        let reads = |other: &usize| reads(&drafts[it.at], &drafts[*other]);
        if chosen.len() < most.max(1) && !chosen.iter().any(reads) {
            chosen.push(it.at);
        }
    }
    chosen.sort_unstable();
    Some((place, chosen))
}

fn reads(draft: &Draft, other: &Draft) -> bool {
    draft.inputs.iter().filter_map(Given::slot).any(|it| other.outputs.contains(&it))
}

/// The launches of a kind, and where each may stand.
fn movable(drafts: &[Draft], kind: &Kind, slots: &[Slot]) -> Vec<Movable> {
    let (mut maker, mut reader) = (vec![None; slots.len()], vec![None; slots.len()]);
    for (at, draft) in drafts.iter().enumerate() {
        draft.outputs.iter().for_each(|&it| maker[it] = Some(at));
        for slot in draft.inputs.iter().filter_map(Given::slot) {
            reader[slot].get_or_insert(at);
        }
    }
    let ours = drafts.iter().enumerate().filter(|it| kind_of(it.1, slots).as_ref() == Some(kind));
    ours.map(|(at, draft)| {
        let makers = draft.inputs.iter().filter_map(Given::slot).filter_map(|it| maker[it]);
        let readers = draft.outputs.iter().filter_map(|&it| reader[it]);
        let (earliest, latest) = (makers.max().unwrap_or(0), readers.min());
        Movable { at, earliest, latest: latest.unwrap_or(drafts.len()) - 1 }
    })
    .collect()
}

/// The chosen launches as one, behind the launch at `place`.
fn together(drafts: Vec<Draft>, chosen: &[usize], place: usize) -> Vec<Draft> {
    let mut res = Vec::with_capacity(drafts.len());
    let mut parts = Vec::with_capacity(chosen.len());
    let mut hole = 0;
    for (at, draft) in drafts.into_iter().enumerate() {
        match chosen.binary_search(&at) {
            Ok(_) => parts.push(draft),
            Err(_) => res.push(draft),
        }
        if at == place {
            hole = res.len();
        }
    }
    if let Some(last) = parts.pop() {
        res.insert(hole, one_of(parts, last));
    }
    res
}

/// Launches of one program as one, where the last of them is in the source.
fn one_of(before: Vec<Draft>, last: Draft) -> Draft {
    let count = before.len() + 1;
    let Draft { site, work, inputs: read, outputs: written } = last;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for draft in before {
        inputs.extend(draft.inputs);
        outputs.extend(draft.outputs);
    }
    inputs.extend(read);
    outputs.extend(written);
    let work = match work {
        Work::Lanes { program, params, label } => {
            Work::Many { program, params, label: format!("{label} x{count}") }
        }
        other => other,
    };
    Draft { site, work, inputs, outputs }
}

/// What a launch has in common with others, if it may be one with them.
fn kind_of(draft: &Draft, slots: &[Slot]) -> Option<Kind> {
    let Work::Lanes { program, params, .. } = &draft.work else { return None };
    let n = slots[*draft.outputs.first()?].meta.shape.numel();
    if n == 0 || n > SMALL || draft.inputs.is_empty() {
        return None;
    }
    let inputs = draft.inputs.iter().map(|it| lies(it, n)).collect::<Option<_>>()?;
    let numbers = params.iter().map(|it| bits(*it)).collect();
    takes_many(program).then(|| Kind { program: program.id(), numbers, inputs })
}

fn takes_many(program: &Program) -> bool {
    lane::on_gpu::most(program) > 1
}

/// How an operand of a launch lies whose results have `n` elements.
fn lies(given: &Given, n: usize) -> Option<Lies> {
    match given {
        Given::Number(number) => Some(Lies::Number(bits(*number))),
        Given::Fed(at) => Some(Lies::Fed(*at)),
        it if it.is_flat(n) => Some(Lies::Flat),
        it => it.is_one().then_some(Lies::One),
    }
}

fn bits(number: Number) -> Bits {
    match number {
        Number::Bool(it) => (0, it.into(), 0),
        Number::Int(it) => (1, it.cast_unsigned(), 0),
        Number::Float(it) => (2, it.to_bits(), 0),
        Number::Complex(real, imag) => (3, real.to_bits(), imag.to_bits()),
    }
}
