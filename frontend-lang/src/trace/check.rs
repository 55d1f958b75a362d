//! Runs without the body that are compared with the body: the graph runs first, on the side, then the body as ever, and both must have
//! come to the same.

use std::cell::RefCell;

use engine::Tensor;
use engine::random::Everywhere;
use engine::trace::{Now, Ran, in_words, is_alike};

use super::asked::Asked;
use super::node::is_same;
use super::template::Filling;
use super::variant::{Fate, Slot, Variant};
use crate::native::*;
use crate::value::Value;

/// Why a body runs that is compared with its graph.
pub(super) const WORDS: &str = "its body runs beside it, to be compared";

/// What a run without the body has come to, before the body runs.
pub(super) struct Foreseen {
    pub(super) variant: Variant,
    /// Which way of it, and the numbers that it computes.
    way: usize,
    numbers: Vec<Value>,
    ran: Ran,
    /// The variables of the graph before that.
    before: Vec<Option<Tensor>>,
    /// The random numbers before and after it.
    drawn: Everywhere,
    left: Everywhere,
}

impl Foreseen {
    /// That a way of this variant has given this. The random numbers go back to where they were: the body draws them.
    pub(super) fn new(
        variant: Variant,
        asked: &Asked<'_>,
        (way, numbers, ran): (usize, Vec<Value>, Ran),
        drawn: Everywhere,
    ) -> Foreseen {
        #[cfg(test)]
        let ran = tests::spoiled(ran);
        let slots = variant.ways[way].slots.iter();
        let before = slots.map(|slot| variant.object(asked, *slot).map(|it| it.get())).collect();
        let left = drawn.clone().resume();
        Foreseen { variant, way, numbers, ran, before, drawn, left }
    }

    /// An error if the body has come to something else. `actual` makes of what was foreseen what it has come to.
    pub(super) fn compare(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        actual: impl FnOnce(&Cx, &Value) -> Value,
    ) -> Result<(), Raised> {
        let Some(difference) = self.difference(cx, asked, actual)? else { return Ok(()) };
        let way = &self.variant.ways[self.way];
        let variable = |at: usize| match (way.slots[at], &self.before[at]) {
            (Slot::Grad { of, .. }, None) => Some(self.variant.world.tensor(of)?.get()),
            (_, value) => value.clone(),
        };
        let number = |at: usize| way.numbers.fed(at, &self.numbers);
        let now = Now { variable: &variable, number: &number };
        let left = self.drawn.clone().resume();
        let first = way.graph.first_difference(&asked.tensors(), &now);
        left.resume();
        let why = match first {
            Some(error) => format!("the first op that differs: {error}"),
            None => "its graph computes what was recorded, but the body does something else now"
                .to_owned(),
        };
        Err(Raised::new(
            &TRACE_ERROR,
            format!(
                "the run without the body differs from the body: {difference}; {why}. Run it eagerly, and report this"
            ),
        ))
    }

    /// What differs first, in words.
    fn difference(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        actual: impl FnOnce(&Cx, &Value) -> Value,
    ) -> Result<Option<String>, Raised> {
        if Everywhere::now() != self.left {
            return Ok(Some("it leaves the random numbers at another place".to_owned()));
        }
        let way = &self.variant.ways[self.way];
        for (at, slot) in way.slots.iter().enumerate() {
            let stored = self.ran.stored.iter().find(|it| it.0 == at).map(|it| &it.1);
            if let Some(found) = self.at_variable(asked, *slot, stored.or(self.before[at].as_ref()))
            {
                return Ok(Some(found));
            }
        }
        if let Some(place) = way.numbers.differing(&self.numbers) {
            return Ok(Some(format!("it stores another number into {place}")));
        }
        let results = way.objects(&self.ran.results);
        let grad = |of: usize| self.variant.grad(of).map(Value::Tensor);
        let (args, numbers, complete) = (&asked.passed[..], &self.numbers[..], RefCell::default());
        let filling =
            Filling { args, results: &results, grad: &grad, numbers, complete: &complete };
        let foreseen = way.template.filled(cx, &filling)?;
        let actual = actual(cx, &foreseen);
        Ok(other(&foreseen, &actual).map(|it| format!("it gives {it}")))
    }

    /// What differs at a variable.
    fn at_variable(
        &self,
        asked: &Asked<'_>,
        slot: Slot,
        foreseen: Option<&Tensor>,
    ) -> Option<String> {
        let object = self.variant.object(asked, slot);
        let name = match slot {
            Slot::Found(_) => "a tensor that it finds",
            Slot::Grad { .. } => "the gradient of a tensor that it finds",
            Slot::Arg(_) => "an argument",
        };
        match (slot, object) {
            (Slot::Grad { fate: Fate::Removed, .. }, None) | (_, None) => None,
            (Slot::Grad { fate: Fate::Removed, .. }, Some(_)) => {
                Some(format!("it removes {name}, and the body does not"))
            }
            // It shows what is in the variable that it is a view of.
            (_, Some(object)) if object.base_object().is_some() => None,
            (_, Some(object)) => {
                let now = object.get().detach();
                let foreseen = foreseen.filter(|it| !is_alike(&now, it))?;
                let difference = in_words(foreseen, &now, "the body leaves");
                Some(format!("in {name} ({}) it leaves {difference}", now.meta()))
            }
        }
    }
}

/// Whether a plain value is another one; a NaN is a NaN.
pub(super) fn is_as(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::Float(a), Value::Float(b)) if a.is_nan() && b.is_nan())
        || is_same(a, b)
}

/// The first thing that differs between what was foreseen and what has come, in words.
fn other(foreseen: &Value, actual: &Value) -> Option<String> {
    let all = |a: &[Value], b: &[Value]| match a.len() == b.len() {
        true => a.iter().zip(b).find_map(|(a, b)| other(a, b)),
        false => Some(format!("{} items where the body gives {}", a.len(), b.len())),
    };
    match (foreseen, actual) {
        (Value::Tensor(a), Value::Tensor(b)) => {
            let (a, b) = (a.get().detach(), b.get().detach());
            (!is_alike(&b, &a)).then(|| in_words(&a, &b, "the body gives"))
        }
        (Value::Tuple(a), Value::Tuple(b)) => all(&a[..], &b[..]),
        (Value::List(a), Value::List(b)) => {
            all(&a.items.borrow().clone(), &b.items.borrow().clone())
        }
        (Value::Dict(a), Value::Dict(b)) => {
            let values =
                |it: &[(Value, Value)]| it.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
            all(&values(&a.items()), &values(&b.items()))
        }
        (a, b) if is_as(a, b) => None,
        (a, b)
            if a.address().is_some() && b.address().is_some() && type_name(a) == type_name(b) =>
        {
            None
        }
        (Value::Int(a), Value::Int(b)) => Some(format!("{a} where the body gives {b}")),
        (Value::Float(a), Value::Float(b)) => Some(format!("{a} where the body gives {b}")),
        (a, b) => Some(format!("{} where the body gives {}", type_name(a), type_name(b))),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use engine::Tensor;
    use engine::functional::{add, num};
    use engine::trace::Ran;

    use crate::host::{Record, Recording};
    use crate::session::{Options, Session};
    use crate::value::Value;

    /// What is wrong on purpose of what a graph gives.
    #[derive(Clone, Copy, PartialEq)]
    enum Spoiled {
        Nothing,
        Results,
        Variables,
    }

    thread_local! {
        static SPOILED: Cell<Spoiled> = const { Cell::new(Spoiled::Nothing) };
    }

    pub(super) fn spoiled(mut ran: Ran) -> Ran {
        let more = |it: &mut Tensor| *it = add(it, &num(1.0)).unwrap();
        match SPOILED.get() {
            Spoiled::Nothing => {}
            Spoiled::Results => ran.results.iter_mut().for_each(more),
            Spoiled::Variables => ran.stored.iter_mut().for_each(|it| more(&mut it.1)),
        }
        ran
    }

    const SETUP: &str = "
import torch
from notegrad.jit import trace
w = torch.ones(3)
def step(x):
    global w
    w += x
    return w * 2
";

    /// The error of a call that comes after many others, or nothing.
    fn after_many(setup: &str, call: &str, spoiled: Spoiled) -> String {
        let record = Rc::new(Record::default());
        let mut session = Session::new(Box::new(Recording { record }));
        let mut run = |code: &str| {
            let result = session.run_cell(code, &Options::default());
            result.error.map_or_else(String::new, |it| it.plain)
        };
        assert_eq!(run(&format!("{SETUP}{setup}")), "");
        assert_eq!(run(&format!("for at in range(20):\n    {call}")), "");
        SPOILED.set(spoiled);
        let error = run(call);
        SPOILED.set(Spoiled::Nothing);
        let again = run(call);
        assert_eq!(again, "");
        error
    }

    #[test]
    fn a_nan_is_a_nan() {
        let [a, b] = [f64::NAN, -f64::NAN].map(|it| Value::list(vec![Value::Float(it)]));
        assert_eq!(super::other(&a, &b), None);
        assert!(super::other(&a, &Value::list(vec![Value::Float(0.0)])).is_some());
    }

    #[test]
    fn a_run_without_the_body_that_differs_is_an_error() {
        for setup in
            ["f = trace(step, check=True)", "f = trace(step, check=True, without_host=True)"]
        {
            let call = "f(torch.ones(3))";
            assert_eq!(after_many(setup, call, Spoiled::Nothing), "");
            let error = after_many(setup, call, Spoiled::Results);
            let expected = "the run without the body differs from the body: it gives 45 where the body gives 44, at [0] (3 of 3 elements differ)";
            assert!(error.contains(expected), "{error}");
            let error = after_many(setup, call, Spoiled::Variables);
            let expected = "in a tensor that it finds (f32[3]) it leaves 23 where the body leaves 22, at [0] (3 of 3 elements differ)";
            assert!(error.contains(expected), "{error}");
        }
    }
}
