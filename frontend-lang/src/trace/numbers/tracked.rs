//! A number that knows what it is computed from.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::Discriminant;
use std::rc::Rc;

use engine::trace::reading_along;
use engine::{Tensor, index};

use super::super::node::can_change;
use super::looks::{Looks, Place};
use super::part::{self, Part, Parts};
use super::slice::{Operand, Slice, Step, Test};
use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::source::Span;
use crate::tensor::convert;
use crate::value::Value;

/// The type of tracked numbers; programs never see it.
static TRACKED: NativeType = NativeType::plain("number", "A number that a trace follows.");

/// What is noted while a body runs.
pub(crate) struct Recorder {
    slice: RefCell<Slice>,
    /// The numbers that were given to ops, with their steps.
    fed: RefCell<Vec<(Tensor, u32)>>,
    /// The tensors whose elements were read, in order.
    reads: RefCell<Vec<Tensor>>,
    /// The parts of tensors that were taken at tracked numbers.
    pub(super) parts: Rc<Parts>,
    /// Whether what was read has to be known before the graph has run.
    is_read_early: Cell<bool>,
    /// Tracked numbers are made no longer.
    is_closed: Cell<bool>,
    /// Whether a number was looked at that has to stay the same for that, and where first.
    looked: Cell<bool>,
    place: Cell<Option<Span>>,
    /// Which operation of the cell runs, where the body is part of one.
    pub(super) at: Cell<Option<Place>>,
    looks: RefCell<Looks>,
}

/// A step that was taken, with what it gave.
pub(super) struct Tracked {
    step: u32,
    value: Value,
    recorder: Rc<Recorder>,
}

/// The kind of a number, tracked or not; `None` for what is none.
pub(in crate::trace) fn kind_of(value: &Value) -> Option<Discriminant<Value>> {
    match value {
        Value::Int(_) | Value::Float(_) => Some(std::mem::discriminant(value)),
        other => tracked(other).map(|it| std::mem::discriminant(&it.value)),
    }
}

pub(in crate::trace) fn is_tracked(value: &Value) -> bool {
    tracked(value).is_some()
}

pub(super) fn tracked(value: &Value) -> Option<&Tracked> {
    match value {
        Value::Object(it) => it.as_any().downcast_ref::<Tracked>(),
        _ => None,
    }
}

/// Most numbers of a tuple that are followed where it stands.
const MOST_IN_TUPLE: usize = 8;

/// Whether a tuple of these values may be followed where it stands: they are numbers, and not many.
pub(in crate::trace) fn can_stand_in_tuple(all: &[Value]) -> bool {
    (1..=MOST_IN_TUPLE).contains(&all.len()) && all.iter().all(|it| kind_of(it).is_some())
}

/// A number, or those of such a tuple; `None` for all other values.
pub(super) fn numbers_in(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Tuple(all) => Some(&all[..]).filter(|it| can_stand_in_tuple(it)),
        other => kind_of(other).map(|_| std::slice::from_ref(other)),
    }
}

/// What stands in place of a value whose numbers `plain` makes plain, those in tuples too.
pub(in crate::trace) fn plain_by(value: &Value, plain: &dyn Fn(&Value) -> Option<Value>) -> Value {
    match value {
        Value::Tuple(all) if holds_tracked(value) => {
            Value::tuple(all.iter().map(|it| plain_by(it, plain)).collect::<Vec<_>>())
        }
        other => plain(other).unwrap_or_else(|| other.clone()),
    }
}

/// Whether a value is a tracked number, or a tuple with one in it.
pub(in crate::trace) fn holds_tracked(value: &Value) -> bool {
    match value {
        Value::Tuple(all) => all.iter().any(holds_tracked),
        other => is_tracked(other),
    }
}

/// The plain number in place of a tracked one; nothing is noted.
pub(in crate::trace) fn bare(value: &Value) -> Option<Value> {
    tracked(value).map(|it| it.value.clone())
}

impl Recorder {
    pub(super) fn new() -> Rc<Recorder> {
        Rc::new(Recorder {
            slice: RefCell::default(),
            fed: RefCell::default(),
            reads: RefCell::default(),
            parts: Rc::default(),
            is_read_early: Cell::new(false),
            is_closed: Cell::new(false),
            looked: Cell::new(false),
            place: Cell::new(None),
            at: Cell::new(None),
            looks: RefCell::default(),
        })
    }

    /// A number that stood in place `at` when the call began.
    pub(super) fn input(self: &Rc<Self>, at: u32, value: &Value) -> Value {
        self.track(Step::Input(at), value.clone())
    }

    /// The one element of a tensor; `None` where that is no number, or there is another number of elements. A truth has to be the same each time.
    pub(super) fn read(self: &Rc<Self>, tensor: &Tensor) -> Option<Value> {
        let (read, element) = self.element(tensor)?;
        if let Value::Bool(_) = element {
            self.demand_read(read, element.clone(), |step| Test::Is(step, element.clone()));
            return Some(element);
        }
        Some(self.track(read, element))
    }

    /// Whether the one element of a tensor is another one than 0, which decides the way from here on.
    pub(super) fn truth(&self, tensor: &Tensor) -> Option<bool> {
        let (read, element) = self.element(tensor)?;
        let is = match element {
            Value::Bool(it) => it,
            Value::Int(it) => it != 0,
            Value::Float(it) => it != 0.0,
            _ => return None,
        };
        self.demand_read(read, element, |step| Test::Truth(step, is));
        Some(is)
    }

    /// Reads the one element of a tensor, with the step that does in a run without the body.
    fn element(&self, tensor: &Tensor) -> Option<(Step, Value)> {
        if self.is_closed.get() || tensor.numel() != 1 || tensor.dtype().is_complex() {
            return None;
        }
        let number = convert::number(reading_along(|| tensor.item()).ok()?);
        let mut reads = self.reads.borrow_mut();
        reads.push(tensor.detach());
        Some((Step::Read(reads.len() as u32 - 1), number))
    }

    fn demand_read(&self, read: Step, element: Value, test: impl FnOnce(u32) -> Test) {
        let mut slice = self.slice.borrow_mut();
        let step = slice.add(read, element);
        slice.demand(test(step));
    }

    /// The tensors that were read: a run without the body has to give them too.
    pub(in crate::trace) fn reads(&self) -> Vec<Tensor> {
        self.reads.borrow().clone()
    }

    /// Whether what was read has to be known before the graph has run: then the body cannot be left out.
    pub(in crate::trace) fn is_read_early(&self) -> bool {
        self.is_read_early.get()
    }

    fn track(self: &Rc<Self>, step: Step, value: Value) -> Value {
        let step = self.slice.borrow_mut().add(step, value.clone());
        Value::object(Tracked { step, value, recorder: self.clone() })
    }

    /// What an operation on such operands has given: tracked, if it is a number and they are.
    fn result(self: &Rc<Self>, step: Step, operands: &[&Operand], value: Value) -> Value {
        if !self.is_closed.get() && kind_of(&value).is_some() {
            return self.track(step, value);
        }
        operands.iter().for_each(|it| self.fix_operand(it));
        value
    }

    /// Calls a function that computes a number of numbers, or says whether something is so.
    pub(super) fn call(
        self: &Rc<Self>,
        cx: &mut Cx,
        row: &'static NativeFn,
        args: &[Value],
    ) -> Option<Value> {
        let operands = args.iter().map(|it| self.row(it)).collect::<Option<Vec<_>>>()?;
        let plain: Vec<Value> = args.iter().map(|it| plain_by(it, &bare)).collect();
        let value = (row.run)(cx, Args::new(&plain)).ok()?;
        if let (Value::Bool(is), false) = (&value, self.is_closed.get()) {
            self.slice.borrow_mut().demand(Test::Says(row, operands, *is));
            return Some(value);
        }
        kind_of(&value)?;
        Some(self.track(Step::Call(row, operands), value))
    }

    /// A number as an operand; `None` for what is none, or was tracked by another call.
    fn operand(self: &Rc<Self>, value: &Value) -> Option<Operand> {
        match tracked(value) {
            Some(it) if Rc::ptr_eq(&it.recorder, self) => Some(Operand::Step(it.step)),
            Some(_) => None,
            None => matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_))
                .then(|| Operand::Plain(value.clone())),
        }
    }

    /// An argument: the same, a tuple of these, or what cannot change.
    fn row(self: &Rc<Self>, value: &Value) -> Option<Operand> {
        match value {
            Value::Tuple(all) => {
                all.iter().map(|it| self.operand(it)).collect::<Option<Vec<_>>>().map(Operand::Row)
            }
            other if is_tracked(other) || can_change(other) => self.operand(other),
            other => self.operand(other).or_else(|| Some(Operand::Plain(other.clone()))),
        }
    }

    /// What is left in a place: a number, or a tuple of some.
    pub(super) fn stored(self: &Rc<Self>, value: &Value) -> Option<Operand> {
        if let (Value::Tuple(_), Some(all)) = (value, numbers_in(value)) {
            return all.iter().map(|it| self.stored(it)).collect::<Option<_>>().map(Operand::Row);
        }
        self.operand(value).filter(|it| match it {
            Operand::Step(_) => true,
            Operand::Plain(it) => kind_of(it).is_some(),
            Operand::Row(_) => false,
        })
    }

    /// The number has to be the same each time.
    fn fix(&self, step: u32, value: &Value) {
        if self.is_closed.get() {
            return;
        }
        if let Some(at) = self.at.get() {
            self.looks.borrow_mut().add(at, value.clone());
        }
        let mut slice = self.slice.borrow_mut();
        match slice.is_late(&Operand::Step(step)) {
            true => self.is_read_early.set(true),
            false => slice.demand(Test::Is(step, value.clone())),
        }
    }

    fn fix_operand(&self, operand: &Operand) {
        if let Operand::Step(at) = operand {
            let value = self.slice.borrow().example(*at);
            self.fix(*at, &value);
        }
    }

    /// Notes where a number was looked at.
    pub(super) fn note_look(&self, place: Option<Span>) {
        if !self.looked.replace(true) {
            self.place.set(place);
        }
    }

    pub(super) fn has_looked(&self) -> bool {
        self.looked.get()
    }

    pub(super) fn place(&self) -> Option<Span> {
        self.place.get()
    }

    /// The plain number, which has to be the same each time.
    pub(super) fn plain(value: &Value) -> Option<Value> {
        let it = tracked(value)?;
        it.recorder.fix(it.step, &it.value);
        Some(it.value.clone())
    }

    /// The number as an operand of an op on tensors.
    pub(super) fn feed(value: &Value) -> Option<Value> {
        let it = tracked(value)?;
        if it.recorder.slice.borrow().is_late(&it.operand()) {
            return None;
        }
        it.recorder.feed_step(it.step, &it.value).map(Value::tensor)
    }

    fn feed_step(&self, step: u32, value: &Value) -> Option<Tensor> {
        let number = Tensor::from_number(convert::as_number(value)?);
        self.fed.borrow_mut().push((number.clone(), step));
        Some(number)
    }

    /// The rows of a tensor from `start` to `stop`, or the only one at `start`, and how many they are: a view of it whose elements are picked
    /// at a number that is computed anew. `None` for other than one or more rows of what lies as it does in a buffer of its own.
    pub(super) fn rows(
        self: &Rc<Self>,
        of: &Value,
        start: &Value,
        stop: Option<&Value>,
    ) -> Option<(Value, usize)> {
        let of = of.as_tensor().filter(|it| !it.is_array())?;
        let value = of.get();
        if self.is_closed.get() || value.edge().is_some() || !value.layout().is_contiguous() {
            return None;
        }
        let start = self.operand(start)?;
        let stop = match stop {
            Some(it) => Some(self.operand(it)?),
            None => None,
        };
        let size = *value.shape().first()?;
        let (place, first) = self.slice.borrow().place(start, stop, size)?;
        let (count, first_row) = (place.count, Value::Int(first));
        let step = self.slice.borrow_mut().add(Step::Place(place), first_row.clone());
        let rows = index::rows_from(&value, &self.feed_step(step, &first_row)?, count).ok()?;
        let view = TensorObj::view_of(of, part::view_of_rows(first, count), rows);
        self.parts.add(Part::new(&view, of, (step, count), self.at.get()));
        Some((Value::Tensor(view), count))
    }

    /// Ends it. For each number that ops took where it comes from; what was given to ops and is not among these has to be the same each
    /// time.
    pub(super) fn close(&self, fed: &[Tensor]) -> (Slice, Vec<Operand>, Looks) {
        for (step, at) in self.parts.fixed() {
            self.at.set(at);
            self.fix_operand(&Operand::Step(step));
        }
        self.at.set(None);
        let given = self.fed.take();
        let origin = |it: &Tensor| match given.iter().find(|given| given.0.same(it)) {
            Some((_, step)) => Operand::Step(*step),
            None => Operand::Plain(it.as_number().map_or(Value::None, convert::number)),
        };
        let origins: Vec<Operand> = fed.iter().map(origin).collect();
        for (number, step) in &given {
            if !fed.iter().any(|it| it.same(number)) {
                self.fix_operand(&Operand::Step(*step));
            }
        }
        self.is_closed.set(true);
        (self.slice.take(), origins, self.looks.take())
    }

    /// Ends it without a result.
    pub(super) fn give_up(&self) {
        self.is_closed.set(true);
    }
}

impl Tracked {
    fn operand(&self) -> Operand {
        Operand::Step(self.step)
    }
}

impl NativeObject for Tracked {
    fn native_type(&self) -> &'static NativeType {
        &TRACKED
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Recorder::plain(this).map(|it| cx.getattr(&it, name)).transpose()
    }

    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        let known = self.recorder.operand(other);
        let plain = match &known {
            Some(_) => bare(other).unwrap_or_else(|| other.clone()),
            None => Recorder::plain(other).unwrap_or_else(|| other.clone()),
        };
        let (a, b) = if reflected { (&plain, &self.value) } else { (&self.value, &plain) };
        let result = cx.binary(op, a, b);
        let (Ok(value), Some(known)) = (&result, known) else {
            self.recorder.fix(self.step, &self.value);
            Recorder::plain(other);
            return result.map(Some);
        };
        let (a, b) = match reflected {
            true => (known, self.operand()),
            false => (self.operand(), known),
        };
        let step = Step::Binary(op, a.clone(), b.clone());
        Ok(Some(self.recorder.result(step, &[&a, &b], value.clone())))
    }

    fn unary(&self, cx: &mut Cx, op: UnaryOp, _this: &Value) -> Result<Option<Value>, Raised> {
        let value = cx.unary(op, &self.value)?;
        let step = Step::Unary(op, self.operand());
        Ok(Some(self.recorder.result(step, &[&self.operand()], value)))
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let plain = bare(other).unwrap_or_else(|| other.clone());
        let result = cx.compare(op, &self.value, &plain);
        match (&result, self.recorder.operand(other)) {
            (Ok(Value::Bool(is)), Some(known)) if !self.recorder.is_closed.get() => {
                let test = Test::Compare(op, self.operand(), known, *is);
                self.recorder.slice.borrow_mut().demand(test);
            }
            _ => {
                self.recorder.fix(self.step, &self.value);
                Recorder::plain(other);
            }
        }
        result.map(Some)
    }

    fn truth(&self, cx: &mut Cx) -> Result<bool, Raised> {
        let is = cx.truth(&self.value)?;
        if !self.recorder.is_closed.get() {
            self.recorder.slice.borrow_mut().demand(Test::Truth(self.step, is));
        }
        Ok(is)
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        self.recorder.fix(self.step, &self.value);
        cx.repr(&self.value)
    }

    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        self.recorder.fix(self.step, &self.value);
        cx.hash(&self.value).map(Some)
    }

    fn as_index(&self) -> Option<i64> {
        self.recorder.fix(self.step, &self.value);
        self.value.as_int()
    }

    fn as_float(&self) -> Option<f64> {
        self.recorder.fix(self.step, &self.value);
        self.value.as_float()
    }
}
