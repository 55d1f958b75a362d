//! Launches of one program on many small tensors as one: a small launch takes a GPU the time of its start, whatever it computes, and threads
//! the time to wake, and an optimizer asks for one for each parameter.
//!
//! A launch may move as long as it stays behind what makes its operands and before what reads its results.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::compile::{Compiler, Draft, Given, Slot};
use super::onto::worth_writing_onto;
use super::plan::Work;
use super::shares::Shares;
use crate::{Device, Number, lane};

/// Elements of a result up to which a launch is small.
const SMALL: usize = 1 << 20;

/// Bytes of results that one launch makes at once which would come one by one: on a GPU, and on the CPU, where they are to stay in the cache.
const BYTES: [usize; 2] = [64 << 20, 1 << 20];

/// What launches have in common that may be one. On the CPU each has operands of its own, however they lie.
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

/// A launch and the number of its kind, if it may be one with others of that.
type Numbered = (Draft, Option<usize>);

/// A launch of a kind.
struct Movable {
    at: usize,
    /// The first and the last launch behind which it may stand.
    earliest: usize,
    latest: usize,
    /// Of its results that do not outlive the run.
    bytes: usize,
}

/// Launches that become one, behind the one at a place.
struct Together {
    place: usize,
    chosen: Vec<usize>,
}

impl Compiler<'_> {
    /// Makes one launch of many.
    pub(super) fn merge(&mut self) {
        let is_on_cpu = self.graph.device == Device::Cpu;
        let bytes = BYTES[usize::from(is_on_cpu)];
        let mut known = Kinds::default();
        let drafts = std::mem::take(&mut self.drafts).into_iter();
        let numbered = drafts.map(|it| {
            let kind = known.number(&it, &self.slots, is_on_cpu);
            (it, kind)
        });
        let mut all: Vec<Numbered> = numbered.collect();
        for (kind, &(_, most)) in known.counts.iter().enumerate().filter(|it| it.1.0 > 1) {
            all = merged(all, kind, (most, bytes), &self.slots);
        }
        self.drafts = all.into_iter().map(|it| it.0).collect();
        self.follow_slots();
    }

    /// Says anew which launches write and read the slots.
    pub(super) fn follow_slots(&mut self) {
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

/// The kinds of the launches of a plan.
#[derive(Default)]
struct Kinds {
    numbers: FxHashMap<Kind, usize>,
    /// How many launches of each there are, and how many of them one launch takes.
    counts: Vec<(usize, usize)>,
    /// How many launches of a program one takes.
    most: FxHashMap<u64, usize>,
}

impl Kinds {
    /// The number of a launch's kind, if it may be one with others.
    fn number(&mut self, draft: &Draft, slots: &[Slot], is_on_cpu: bool) -> Option<usize> {
        let Work::Lanes { program, params, .. } = &draft.work else { return None };
        let meta = &slots[*draft.outputs.first()?].meta;
        let n = meta.shape.numel();
        if n == 0 || n > SMALL || draft.inputs.is_empty() {
            return None;
        }
        let (inputs, most) = if is_on_cpu {
            // What is large may be written where its variable lies, and which of several refuses an element is not known.
            let is_free = meta.bytes() < worth_writing_onto() && !program.may_refuse();
            (is_free && !program.is_copy()).then(|| (SmallVec::new(), usize::MAX))?
        } else {
            let inputs = draft.inputs.iter().map(|it| lies(it, n)).collect::<Option<_>>()?;
            let most = || lane::on_gpu::most(program);
            (inputs, *self.most.entry(program.id()).or_insert_with(most))
        };
        let numbers = params.iter().map(|it| bits(*it)).collect();
        let next = self.counts.len();
        let kind = Kind { program: program.id(), numbers, inputs };
        let number = (most > 1).then(|| *self.numbers.entry(kind).or_insert(next))?;
        if number == next {
            self.counts.push((0, most));
        }
        self.counts[number].0 += 1;
        Some(number)
    }
}

/// The launches, with those of a kind together where they may be.
fn merged(all: Vec<Numbered>, kind: usize, most: (usize, usize), slots: &[Slot]) -> Vec<Numbered> {
    let groups = groups(&all, kind, most, slots);
    let mut group_of: FxHashMap<usize, usize> = FxHashMap::default();
    for (number, group) in groups.iter().enumerate() {
        group.chosen.iter().for_each(|&it| _ = group_of.insert(it, number));
    }
    let mut parts: Vec<Vec<Draft>> = groups.iter().map(|_| Vec::new()).collect();
    let mut places = groups.iter().enumerate().peekable();
    let mut res: Vec<Option<Numbered>> = Vec::with_capacity(all.len());
    let mut holes = Vec::with_capacity(groups.len());
    for (at, it) in all.into_iter().enumerate() {
        match group_of.get(&at) {
            Some(&group) => parts[group].push(it.0),
            None => res.push(Some(it)),
        }
        while places.next_if(|it| it.1.place == at).is_some() {
            holes.push(res.len());
            res.push(None);
        }
    }
    for (hole, mut parts) in holes.into_iter().zip(parts) {
        if let Some(last) = parts.pop() {
            res[hole] = Some((one_of(parts, last), None));
        }
    }
    res.into_iter().flatten().collect()
}

/// Launches of a kind that run together, by their places: so many of them, and so many bytes of what they make.
fn groups(
    all: &[Numbered],
    kind: usize,
    (most, most_bytes): (usize, usize),
    slots: &[Slot],
) -> Vec<Together> {
    let mut by_end = movable(all, kind, slots);
    by_end.sort_by_key(|it| (it.latest, it.at));
    let mut by_start: Vec<usize> = (0..by_end.len()).collect();
    by_start.sort_by_key(|&it| by_end[it].earliest);
    let mut coming = by_start.into_iter().peekable();
    // Launches that may stand at the place that is looked at, the first that must first.
    let mut ready: BTreeSet<usize> = BTreeSet::new();
    let mut done = vec![false; by_end.len()];
    let mut groups = Vec::new();
    for first in 0..by_end.len() {
        let place = by_end[first].latest;
        while let Some(next) = coming.next_if(|&it| by_end[it].earliest <= place) {
            ready.insert(next);
        }
        if done[first] {
            continue;
        }
        let mut chosen: Vec<usize> = Vec::new();
        let mut bytes = 0;
        for &it in &ready {
            let reads = |&other: &usize| reads(&all[by_end[it].at].0, &all[by_end[other].at].0);
            if chosen.len() == most || bytes + by_end[it].bytes > most_bytes && it != first {
                break;
            }
            if !chosen.iter().any(reads) {
                bytes += by_end[it].bytes;
                chosen.push(it);
            }
        }
        for it in &chosen {
            ready.remove(it);
            done[*it] = true;
        }
        if chosen.len() > 1 {
            let mut chosen: Vec<usize> = chosen.iter().map(|&it| by_end[it].at).collect();
            chosen.sort_unstable();
            groups.push(Together { place, chosen });
        }
    }
    groups
}

fn reads(draft: &Draft, other: &Draft) -> bool {
    draft.inputs.iter().filter_map(Given::slot).any(|it| other.outputs.contains(&it))
}

/// The launches of a kind, and where each may stand.
fn movable(all: &[Numbered], kind: usize, slots: &[Slot]) -> Vec<Movable> {
    let (mut maker, mut reader) = (vec![None; slots.len()], vec![None; slots.len()]);
    for (at, (draft, _)) in all.iter().enumerate() {
        draft.outputs.iter().for_each(|&it| maker[it] = Some(at));
        for slot in draft.inputs.iter().filter_map(Given::slot) {
            reader[slot].get_or_insert(at);
        }
    }
    let ours = all.iter().enumerate().filter(|it| it.1.1 == Some(kind));
    ours.map(|(at, (draft, _))| {
        let makers = draft.inputs.iter().filter_map(Given::slot).filter_map(|it| maker[it]);
        let readers = draft.outputs.iter().filter_map(|&it| reader[it]);
        let earliest = makers.max().unwrap_or(0);
        let latest = readers.min().unwrap_or(all.len()) - 1;
        let passing = draft.outputs.iter().filter(|it| slots[**it].kept.is_none());
        let bytes = passing.map(|&it| slots[it].meta.bytes()).sum();
        Movable { at, earliest, latest, bytes }
    })
    .collect()
}

/// Launches of one program as one, where the last of them is in the source.
fn one_of(before: Vec<Draft>, last: Draft) -> Draft {
    let count = before.len() + 1;
    let shares = Shares::together(before.iter().chain([&last]).map(|it| &it.shares));
    let Draft { site, work, inputs: read, outputs: written, .. } = last;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for draft in before {
        inputs.extend(draft.inputs);
        outputs.extend(draft.outputs);
    }
    inputs.extend(read);
    outputs.extend(written);
    let work = match work {
        Work::Lanes { program, params, label, .. } => {
            Work::Many { program, params, label: format!("{label} x{count}") }
        }
        other => other,
    };
    Draft { site, shares, work, inputs, outputs }
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
