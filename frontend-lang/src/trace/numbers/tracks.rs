//! Which numbers are followed in a call, and what that has shown.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::{Number, Tensor};

use super::super::check::is_as;
use super::super::node::Node;
use super::looks::{Looks, Place};
use super::part::Parts;
use super::slice::{Operand, Slice};
use super::spot::{Spot, spots, sweep};
use super::tracked::{Recorder, bare, holds_tracked, is_tracked, kind_of, numbers_in, plain_by};
use crate::cx::Cx;
use crate::native::type_name;
use crate::objects::class::with_article;
use crate::objects::tensor::TensorObj;
use crate::source::Span;
use crate::tensor::convert;
use crate::value::Value;

/// Most places that are followed; each takes part in each call.
const MOST: usize = 1024;

/// Most places of one object that are followed.
const MOST_OF_ONE: usize = 64;

/// The numbers that are followed.
#[derive(Default)]
pub(in crate::trace) struct Tracks {
    /// The places in which earlier calls left other numbers.
    spots: RefCell<Vec<Rc<Spot>>>,
    /// Whether elements that are read of tensors are followed too.
    reads: Cell<bool>,
}

/// The places in which tracked numbers stand now.
pub(crate) struct Tracking {
    spots: Vec<Rc<Spot>>,
    /// The numbers that stood in each of them.
    inputs: Vec<Operand>,
    /// The arguments that are numbers, tracked.
    args: Vec<Value>,
    pub(super) recorder: Rc<Recorder>,
    /// Whether a look at a tracked number is refused.
    refuses_looks: bool,
    /// Whether elements that are read of tensors are tracked.
    pub(super) reads: bool,
    /// Objects in which tracked numbers were left in other places.
    strays: RefCell<Vec<Value>>,
    /// What the body has left in each of the places.
    left: RefCell<Vec<Option<Operand>>>,
}

/// What a followed call has shown about its numbers.
#[derive(Default)]
pub(in crate::trace) struct Found {
    spots: Vec<Rc<Spot>>,
    slice: Slice,
    /// What is put into which place.
    stores: Vec<(usize, Operand)>,
    /// Where each number comes from that ops take.
    fed: Vec<Operand>,
    looks: Looks,
}

impl Tracks {
    /// Takes in all places of these objects in which numbers stand; whether some are new.
    pub(in crate::trace) fn grow(&self, changed: &[Node]) -> bool {
        let mut known = self.spots.borrow_mut();
        known.retain(|it| it.get().is_some());
        let n_known = known.len();
        for node in changed {
            let Some(object) = node.object() else { continue };
            let found = spots(&object, node.slots());
            if found.len() > MOST_OF_ONE {
                continue;
            }
            for spot in found {
                if known.len() < MOST && !known.iter().any(|it| it.is(&spot)) {
                    known.push(Rc::new(spot));
                }
            }
        }
        known.len() > n_known
    }

    /// From now on the elements that a body reads of tensors are numbers that it is followed with; whether that is new.
    pub(in crate::trace) fn follow_reads(&self) -> bool {
        !self.reads.replace(true)
    }

    /// Puts tracked numbers into the places, and makes some of these arguments. `None` where there are neither, and none are read.
    pub(in crate::trace) fn plant(&self, args: &[Value], refuses_looks: bool) -> Option<Tracking> {
        let recorder = Recorder::new();
        let reads = self.reads.get();
        let (spots, inputs, tracked, strays, left) = Default::default();
        let mut tracking =
            Tracking { spots, inputs, args: tracked, recorder, refuses_looks, reads, strays, left };
        let mut n_inputs = 0..;
        let mut input = |it: &Value| tracking.recorder.input(n_inputs.next().unwrap_or(0), it);
        for spot in &*self.spots.borrow() {
            let Some(number) = spot.get().filter(|it| !holds_tracked(it)) else { continue };
            let planted = match (&number, numbers_in(&number)) {
                (Value::Tuple(_), Some(all)) => {
                    Value::tuple(all.iter().map(&mut input).collect::<Vec<_>>())
                }
                (_, Some(_)) => input(&number),
                (_, None) => continue,
            };
            spot.put(&planted);
            tracking.inputs.extend(tracking.recorder.stored(&planted));
            tracking.spots.push(spot.clone());
        }
        tracking.args = args.iter().map(&mut input).collect();
        let is_any = !tracking.spots.is_empty() || !tracking.args.is_empty() || reads;
        is_any.then_some(tracking)
    }
}

impl Tracking {
    /// Puts the plain numbers back, and says what was found. `fed` are the numbers that ops took.
    pub(in crate::trace) fn finish(self, fed: &[Tensor]) -> Found {
        let mut stores = Vec::new();
        for (at, left) in self.left.take().into_iter().enumerate() {
            match left {
                Some(it) if it.is(&self.inputs[at]) => {}
                // Also what stood there: another call may find something else in the place.
                Some(it) => stores.push((at, it)),
                None => {}
            }
        }
        self.put_back();
        let (slice, fed, looks) = self.recorder.close(fed);
        Found { spots: self.spots, slice, stores, fed, looks }
    }

    /// The body has ended; what it has left in the places is noted before numbers are made plain, as such a place may also be a name.
    pub(super) fn note_left(&self) {
        let left = |it: &Rc<Spot>| it.get().and_then(|now| self.recorder.stored(&now));
        self.left.replace(self.spots.iter().map(left).collect());
    }

    /// This operation of the cell is about to run.
    pub(in crate::trace) fn is_at(&self, place: Place) {
        self.recorder.at.set(Some(place));
    }

    /// Puts the plain numbers back; nothing was found.
    pub(in crate::trace) fn give_up(self) {
        self.put_back();
        self.recorder.give_up();
    }

    fn put_back(&self) {
        for spot in &self.spots {
            if let Some(tracked) = spot.get().filter(holds_tracked) {
                spot.put(&plain_by(&tracked, &bare));
            }
        }
    }

    /// A tracked number was left in a place in which none was planted.
    pub(super) fn note_stray(&self, spot: &Spot) {
        self.strays.borrow_mut().extend(spot.holder());
    }

    /// The objects with such places. What is left there may be another number in the next call, also where it is now what it was.
    pub(in crate::trace) fn strays(&self) -> Vec<Node> {
        self.strays.borrow().iter().filter_map(|it| Node::of(it, &mut |_| {})).collect()
    }

    /// Whether a tracked number was put into this place.
    pub(super) fn has_planted(&self, spot: &Spot) -> bool {
        self.spots.iter().any(|it| it.is(spot))
    }

    /// Puts tracked numbers in place of the arguments that are numbers.
    pub(in crate::trace) fn put_args<'a>(&self, args: impl Iterator<Item = &'a mut Value>) {
        let numbers = args.filter(|it| kind_of(it).is_some());
        numbers.zip(&self.args).for_each(|(place, it)| *place = it.clone());
    }

    /// Whether a number was looked at, which is refused.
    pub(in crate::trace) fn has_refused(&self) -> bool {
        self.refuses_looks && self.recorder.has_looked()
    }

    /// Where a number was first looked at.
    pub(in crate::trace) fn looked_at(&self) -> Option<Span> {
        self.recorder.place()
    }

    /// Makes the numbers plain in what a body gives. Those in places that are followed stay; if others are not `known` to be computed anew,
    /// they have to be the same each time.
    pub(in crate::trace) fn make_plain(&self, value: &mut Value, known: bool) {
        let plain = if known { bare } else { Recorder::plain };
        *value = plain_by(value, &plain);
        sweep([value.clone()], true, &mut |spot, it| {
            let is_own = holds_tracked(it) && !self.has_planted(spot);
            is_own.then(|| plain_by(it, &plain))
        });
    }

    /// Where a number comes from that a body gives; `None` for what is no tracked one.
    pub(in crate::trace) fn origin(&self, value: &Value) -> Option<Operand> {
        is_tracked(value).then(|| self.recorder.stored(value)).flatten()
    }

    /// Where a view begins in what it is a part of, and how many rows it has, if that differs from call to call.
    pub(in crate::trace) fn place_of(&self, view: &Rc<TensorObj>) -> Option<(Operand, usize)> {
        self.recorder.parts.place_of(view)
    }

    /// The parts of tensors that are taken at tracked numbers.
    pub(in crate::trace) fn parts(&self) -> Rc<Parts> {
        self.recorder.parts.clone()
    }

    /// The tensors whose elements were read.
    pub(in crate::trace) fn reads(&self) -> Vec<Tensor> {
        self.recorder.reads()
    }

    /// Whether one of these elements has to be known before the graph has run.
    pub(in crate::trace) fn is_read_early(&self) -> bool {
        self.recorder.is_read_early()
    }
}

impl Found {
    /// Whether both calls have shown the same.
    pub(in crate::trace) fn is(&self, other: &Found) -> bool {
        let same_store =
            |(a, b): (&(usize, Operand), &(usize, Operand))| a.0 == b.0 && a.1.is(&b.1);
        self.spots.len() == other.spots.len()
            && self.spots.iter().zip(&other.spots).all(|(a, b)| Rc::ptr_eq(a, b))
            && self.slice.is(&other.slice)
            && self.stores.len() == other.stores.len()
            && self.stores.iter().zip(&other.stores).all(same_store)
            && self.fed.len() == other.fed.len()
            && self.fed.iter().zip(&other.fed).all(|(a, b)| a.is(b))
    }

    /// The first operation of the cell that looked at another number than in an earlier call, which is a reason why they differ.
    pub(in crate::trace) fn looked_at_another(&self, earlier: &Found) -> Option<Place> {
        self.looks.first_other(&earlier.looks)
    }

    /// Whether a number comes of what is read of tensors, so that it may turn out late that the way is another one.
    pub(in crate::trace) fn has_late(&self) -> bool {
        self.slice.has_late()
    }

    /// Adds what comes of these elements, which the graph has given; `None` if the way is another one.
    pub(in crate::trace) fn add_late(
        &self,
        cx: &mut Cx,
        values: &mut [Value],
        reads: impl Iterator<Item = Option<Number>>,
    ) -> Option<()> {
        let reads = reads.map(|it| it.map(convert::number)).collect::<Option<Vec<_>>>()?;
        self.slice.add_late(cx, values, &reads)
    }

    /// The numbers as they are before a call with these numbers as arguments, if its way is this one; late ones are not among them.
    pub(in crate::trace) fn values(&self, cx: &mut Cx, args: &[Value]) -> Option<Vec<Value>> {
        let mut inputs = Vec::with_capacity(self.spots.len() + args.len());
        for spot in &self.spots {
            inputs.extend_from_slice(numbers_in(&spot.get()?)?);
        }
        inputs.extend_from_slice(args);
        self.slice.values(cx, &inputs)
    }

    /// Number `at` of those that ops take, if it differs from call to call.
    pub(in crate::trace) fn fed(&self, at: usize, values: &[Value]) -> Option<Tensor> {
        let Operand::Step(step) = self.fed.get(at)? else { return None };
        convert::operand(&values[*step as usize])
    }

    /// All of them.
    pub(in crate::trace) fn all_fed(&self, values: &[Value]) -> Vec<Option<Tensor>> {
        (0..self.fed.len()).map(|at| self.fed(at, values)).collect()
    }

    /// Puts the numbers that a call leaves into their places.
    pub(in crate::trace) fn store(&self, values: &[Value]) {
        for (at, operand) in &self.stores {
            self.spots[*at].put(&operand.value(values));
        }
    }

    /// The first place where another number stands than [`Found::store`] would put there, in words.
    pub(in crate::trace) fn differing(&self, values: &[Value]) -> Option<String> {
        let is_other = |it: &&(usize, Operand)| {
            self.spots[it.0].get().is_some_and(|now| !are_as(&now, &it.1.value(values)))
        };
        let (at, _) = self.stores.iter().find(is_other)?;
        let holder = self.spots[*at].holder();
        Some(holder.map_or("an object".to_owned(), |it| with_article(type_name(&it))))
    }
}

/// Whether both are the same number, or tuples of the same ones.
fn are_as(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(&b[..]).all(|(a, b)| is_as(a, b))
        }
        (a, b) => is_as(a, b),
    }
}
