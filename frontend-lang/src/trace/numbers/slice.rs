//! The program that computes numbers anew.

use std::mem::discriminant;

use super::super::node::is_same;
use crate::native::*;
use crate::operate::container::plain_slice;
use crate::value::Value;

/// Where a number comes from.
#[derive(Clone)]
pub(crate) enum Operand {
    /// The result of a step.
    Step(u32),
    /// It is always this.
    Plain(Value),
    /// A tuple of such, as functions get that take any number of arguments.
    Row(Vec<Operand>),
}

/// How a number is computed.
#[derive(Clone)]
pub(super) enum Step {
    /// What stands in that place when the call begins.
    Input(u32),
    /// The element of a tensor that the graph gives: that many were read before it.
    Read(u32),
    Binary(BinaryOp, Operand, Operand),
    Unary(UnaryOp, Operand),
    Call(&'static NativeFn, Vec<Operand>),
    Place(Place),
}

/// The first of the rows `start:stop` of a tensor, or the only one at `start`: where these are so many.
#[derive(Clone)]
pub(super) struct Place {
    start: Operand,
    stop: Option<Operand>,
    /// Rows of the tensor.
    size: usize,
    pub(super) count: usize,
}

/// What the path relied on.
#[derive(Clone)]
pub(super) enum Test {
    /// A step gives this number.
    Is(u32, Value),
    Truth(u32, bool),
    Compare(CompareOp, Operand, Operand, bool),
    /// What a function says of numbers: `math.isnan`.
    Says(&'static NativeFn, Vec<Operand>, bool),
}

/// Steps in order, each with a number of the type that its results have, and tests. Those that come of what is read of tensors are *late*:
/// they are known when the graph has run.
#[derive(Clone, Default)]
pub(crate) struct Slice {
    steps: Vec<(Step, Value)>,
    is_late: Vec<bool>,
    tests: Vec<Test>,
}

impl Slice {
    /// Adds a step, which has given this number; its place.
    pub(super) fn add(&mut self, step: Step, value: Value) -> u32 {
        let is_late = match &step {
            Step::Input(_) => false,
            Step::Read(_) => true,
            Step::Binary(_, a, b) => self.is_late(a) || self.is_late(b),
            Step::Unary(_, a) => self.is_late(a),
            Step::Call(_, args) => args.iter().any(|it| self.is_late(it)),
            Step::Place(it) => self.is_late(&it.start) || it.stop.iter().any(|it| self.is_late(it)),
        };
        self.is_late.push(is_late);
        self.steps.push((step, value));
        self.steps.len() as u32 - 1
    }

    /// Where the rows of a tensor of so many lie that these name, with the first of them; `None` where there are none, or the place is not known
    /// before the graph has run.
    pub(super) fn place(
        &self,
        start: Operand,
        stop: Option<Operand>,
        size: usize,
    ) -> Option<(Place, i64)> {
        if self.is_late(&start) || stop.iter().any(|it| self.is_late(it)) {
            return None;
        }
        let mut place = Place { start, stop, size, count: 0 };
        let (first, count) = place.rows(|it| match it {
            Operand::Step(at) => self.example(*at),
            other => other.value(&[]),
        })?;
        place.count = count;
        Some((place, first))
    }

    /// Adds a test, if it is new.
    pub(super) fn demand(&mut self, test: Test) {
        if !self.tests.iter().any(|it| it.is(&test)) {
            self.tests.push(test);
        }
    }

    /// Whether a number is known only when the graph has run.
    pub(super) fn is_late(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Step(at) => self.is_late[*at as usize],
            Operand::Plain(_) => false,
            Operand::Row(all) => all.iter().any(|it| self.is_late(it)),
        }
    }

    fn is_late_test(&self, test: &Test) -> bool {
        match test {
            Test::Is(at, _) | Test::Truth(at, _) => self.is_late[*at as usize],
            Test::Compare(_, a, b, _) => self.is_late(a) || self.is_late(b),
            Test::Says(_, args, _) => args.iter().any(|it| self.is_late(it)),
        }
    }

    /// Whether a number comes of what is read of tensors.
    pub(super) fn has_late(&self) -> bool {
        self.is_late.contains(&true)
    }

    /// The number that a step gave when it was added.
    pub(super) fn example(&self, step: u32) -> Value {
        self.steps[step as usize].1.clone()
    }

    /// Whether both compute the same, and rely on the same.
    pub(super) fn is(&self, other: &Slice) -> bool {
        self.steps.len() == other.steps.len()
            && self.tests.len() == other.tests.len()
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .all(|(a, b)| a.0.is(&b.0) && discriminant(&a.1) == discriminant(&b.1))
            && self.tests.iter().zip(&other.tests).all(|(a, b)| a.is(b))
    }

    /// The numbers of all steps for these inputs, but for late ones. `None` where the path would be another one, or something raises.
    pub(super) fn values(&self, cx: &mut Cx, inputs: &[Value]) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(self.steps.len());
        for ((step, example), is_late) in self.steps.iter().zip(&self.is_late) {
            values.push(match is_late {
                true => Value::Unbound,
                false => step.value(cx, inputs, &values).filter(|it| is_like(it, example))?,
            });
        }
        let mut tests = self.tests.iter().filter(|it| !self.is_late_test(it));
        tests.all(|it| it.holds(cx, &values)).then_some(values)
    }

    /// Adds the late numbers, which come of these. `None` as in [`Slice::values`].
    pub(super) fn add_late(
        &self,
        cx: &mut Cx,
        values: &mut [Value],
        reads: &[Value],
    ) -> Option<()> {
        for (at, (step, example)) in self.steps.iter().enumerate() {
            if self.is_late[at] {
                let value = match step {
                    Step::Read(it) => reads.get(*it as usize).cloned(),
                    other => other.value(cx, &[], values),
                };
                values[at] = value.filter(|it| is_like(it, example))?;
            }
        }
        let mut tests = self.tests.iter().filter(|it| self.is_late_test(it));
        tests.all(|it| it.holds(cx, values)).then_some(())
    }
}

impl Place {
    /// The first row and how many they are, where this is the value of an operand; `None` for none.
    fn rows(&self, value: impl Fn(&Operand) -> Value) -> Option<(i64, usize)> {
        let start = value(&self.start);
        let Some(stop) = &self.stop else {
            let at = start.as_int()?;
            let first = if at < 0 { at.checked_add(self.size as i64)? } else { at };
            return (0..self.size as i64).contains(&first).then_some((first, 1));
        };
        let rows = plain_slice(&start, &value(stop), &Value::None, self.size)?;
        (!rows.is_empty()).then(|| (rows.start, rows.len()))
    }

    fn value(&self, values: &[Value]) -> Option<Value> {
        let (first, count) = self.rows(|it| it.value(values))?;
        (count == self.count).then_some(Value::Int(first))
    }

    fn is(&self, other: &Place) -> bool {
        let same_stop = match (&self.stop, &other.stop) {
            (Some(a), Some(b)) => a.is(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.start.is(&other.start)
            && same_stop
            && (self.size, self.count) == (other.size, other.count)
    }
}

/// Whether both are numbers of one type.
fn is_like(value: &Value, example: &Value) -> bool {
    discriminant(value) == discriminant(example)
}

impl Operand {
    pub(in crate::trace) fn value(&self, values: &[Value]) -> Value {
        match self {
            Operand::Step(at) => values[*at as usize].clone(),
            Operand::Plain(it) => it.clone(),
            Operand::Row(all) => {
                Value::tuple(all.iter().map(|it| it.value(values)).collect::<Vec<_>>())
            }
        }
    }

    pub(in crate::trace) fn is(&self, other: &Operand) -> bool {
        match (self, other) {
            (Operand::Step(a), Operand::Step(b)) => a == b,
            (Operand::Plain(a), Operand::Plain(b)) => is_same(a, b),
            (Operand::Row(a), Operand::Row(b)) => are(a, b),
            _ => false,
        }
    }
}

fn call(cx: &mut Cx, row: &'static NativeFn, args: &[Operand], values: &[Value]) -> Res {
    let args: Vec<Value> = args.iter().map(|it| it.value(values)).collect();
    (row.run)(cx, Args::new(&args))
}

fn are(some: &[Operand], others: &[Operand]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| a.is(b))
}

impl Step {
    fn value(&self, cx: &mut Cx, inputs: &[Value], values: &[Value]) -> Option<Value> {
        let value = match self {
            Step::Input(at) => return inputs.get(*at as usize).cloned(),
            // Those of the graph are there before.
            Step::Read(_) => return None,
            Step::Binary(op, a, b) => cx.binary(*op, &a.value(values), &b.value(values)),
            Step::Unary(op, a) => cx.unary(*op, &a.value(values)),
            Step::Call(row, args) => call(cx, row, args, values),
            Step::Place(it) => return it.value(values),
        };
        value.ok()
    }

    fn is(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Input(a), Step::Input(b)) | (Step::Read(a), Step::Read(b)) => a == b,
            (Step::Binary(op, a, b), Step::Binary(other, c, d)) => {
                op == other && a.is(c) && b.is(d)
            }
            (Step::Unary(op, a), Step::Unary(other, b)) => op == other && a.is(b),
            (Step::Call(row, args), Step::Call(other, others)) => {
                std::ptr::eq(*row, *other) && are(args, others)
            }
            (Step::Place(a), Step::Place(b)) => a.is(b),
            _ => false,
        }
    }
}

impl Test {
    fn holds(&self, cx: &mut Cx, values: &[Value]) -> bool {
        match self {
            Test::Is(at, value) => is_same(&values[*at as usize], value),
            Test::Truth(at, is) => cx.truth(&values[*at as usize]).is_ok_and(|it| it == *is),
            Test::Compare(op, a, b, is) => {
                let found = cx.compare(*op, &a.value(values), &b.value(values));
                matches!(found, Ok(Value::Bool(it)) if it == *is)
            }
            Test::Says(row, args, is) => {
                matches!(call(cx, row, args, values), Ok(Value::Bool(it)) if it == *is)
            }
        }
    }

    fn is(&self, other: &Test) -> bool {
        match (self, other) {
            (Test::Is(a, value), Test::Is(b, other)) => a == b && is_same(value, other),
            (Test::Truth(a, is), Test::Truth(b, other)) => a == b && is == other,
            (Test::Compare(op, a, b, is), Test::Compare(other, c, d, was)) => {
                op == other && a.is(c) && b.is(d) && is == was
            }
            (Test::Says(row, args, is), Test::Says(other, others, was)) => {
                std::ptr::eq(*row, *other) && are(args, others) && is == was
            }
            _ => false,
        }
    }
}
