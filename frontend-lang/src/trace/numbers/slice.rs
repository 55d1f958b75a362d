//! The program that computes numbers anew.

use std::mem::discriminant;

use super::super::node::is_same;
use crate::native::*;
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
    Binary(BinaryOp, Operand, Operand),
    Unary(UnaryOp, Operand),
    Call(&'static NativeFn, Vec<Operand>),
}

/// What the path relied on.
#[derive(Clone)]
pub(super) enum Test {
    /// A step gives this number.
    Is(u32, Value),
    Truth(u32, bool),
    Compare(CompareOp, Operand, Operand, bool),
}

/// Steps in order, each with a number of the type that its results have, and tests.
#[derive(Clone, Default)]
pub(crate) struct Slice {
    steps: Vec<(Step, Value)>,
    tests: Vec<Test>,
}

impl Slice {
    /// Adds a step, which has given this number; its place.
    pub(super) fn add(&mut self, step: Step, value: Value) -> u32 {
        self.steps.push((step, value));
        self.steps.len() as u32 - 1
    }

    /// Adds a test, if it is new.
    pub(super) fn demand(&mut self, test: Test) {
        if !self.tests.iter().any(|it| it.is(&test)) {
            self.tests.push(test);
        }
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

    /// The numbers of all steps for these inputs. `None` where the path would be another one, or something raises.
    pub(in crate::trace) fn values(&self, cx: &mut Cx, inputs: &[Value]) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(self.steps.len());
        for (step, example) in &self.steps {
            let value = step.value(cx, inputs, &values)?;
            if discriminant(&value) != discriminant(example) {
                return None;
            }
            values.push(value);
        }
        self.tests.iter().all(|it| it.holds(cx, &values)).then_some(values)
    }
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
            (Operand::Row(a), Operand::Row(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b))
            }
            _ => false,
        }
    }
}

impl Step {
    fn value(&self, cx: &mut Cx, inputs: &[Value], values: &[Value]) -> Option<Value> {
        let value = match self {
            Step::Input(at) => return inputs.get(*at as usize).cloned(),
            Step::Binary(op, a, b) => cx.binary(*op, &a.value(values), &b.value(values)),
            Step::Unary(op, a) => cx.unary(*op, &a.value(values)),
            Step::Call(row, args) => {
                let args: Vec<Value> = args.iter().map(|it| it.value(values)).collect();
                (row.run)(cx, Args::new(&args))
            }
        };
        value.ok()
    }

    fn is(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Input(a), Step::Input(b)) => a == b,
            (Step::Binary(op, a, b), Step::Binary(other, c, d)) => {
                op == other && a.is(c) && b.is(d)
            }
            (Step::Unary(op, a), Step::Unary(other, b)) => op == other && a.is(b),
            (Step::Call(row, args), Step::Call(other, others)) => {
                std::ptr::eq(*row, *other)
                    && args.len() == others.len()
                    && args.iter().zip(others).all(|(a, b)| a.is(b))
            }
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
        }
    }

    fn is(&self, other: &Test) -> bool {
        match (self, other) {
            (Test::Is(a, value), Test::Is(b, other)) => a == b && is_same(value, other),
            (Test::Truth(a, is), Test::Truth(b, other)) => a == b && is == other,
            (Test::Compare(op, a, b, is), Test::Compare(other, c, d, was)) => {
                op == other && a.is(c) && b.is(d) && is == was
            }
            _ => false,
        }
    }
}
