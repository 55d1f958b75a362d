//! A `while` on a tensor: the names that its body assigns are the state of the loop, which condition and body take and the body gives anew.

use std::rc::Rc;

use engine::region::{self, Paused, Recording};
use engine::{Attr, Attrs, DType, Meta, Tensor, apply_one};

use super::merge::{described, plain_dtype, seen_as, tensor_of};
use super::part::{Part, Variables, check_jumps, patched, with_ops};
use super::{has_return, refused};
use crate::bytecode::{Branch, Code, Op};
use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::function::CellVar;
use crate::objects::tensor::{Look, stands_for_number};
use crate::value::Value;

/// A name that the body assigns.
struct State {
    name: String,
    place: Place,
    /// What it holds before the loop.
    before: Value,
    /// The same as a tensor.
    initial: Tensor,
}

/// A name that the body assigns, and which holds something else.
struct Fixed {
    name: String,
    place: Place,
    value: Value,
}

/// Where a name has its value.
enum Place {
    Local(usize),
    Cell(Rc<CellVar>),
}

impl Cx {
    /// A loop whose condition is not known; it ends where that is `wanted`. Where to go on.
    pub(super) fn loop_on_tensor(
        &mut self,
        code: &Rc<Code>,
        branch: Branch,
        (start, back): (u32, u32),
        wanted: bool,
    ) -> Result<usize, Raised> {
        let (test, back) = (branch.test as usize, back as usize);
        let body = (test + 1, back);
        self.check_loop(code, start as usize, body)?;
        let before = Variables::of(self);
        let (states, fixed) = self.states(code, body, &before)?;
        let place = code.span(test);
        let looped =
            self.turns(code, (start as usize, test, back), wanted, &before, &states, &fixed);
        let after = looped.map_err(|it| self.at_place(it, place))?;
        after.put(self);
        Ok(branch.end as usize)
    }

    /// Refuses what a loop cannot hold.
    fn check_loop(
        &mut self,
        code: &Code,
        start: usize,
        (body, back): (usize, usize),
    ) -> Result<(), Raised> {
        if let Some(at) = has_return(code, body, back) {
            let words = "`return` cannot stand in a `while` on a tensor; make what ends the loop part of its condition, and return behind it";
            return Err(self.at_op(refused(words), code, at));
        }
        let assigns = |op: &Op| matches!(op, Op::SetLocal(_) | Op::SetCell(_) | Op::SetFree(_));
        let test = body - 1;
        let in_test = code.ops[start..test]
            .iter()
            .enumerate()
            .find(|(at, op)| assigns(op) && !is_hidden(code, **op) && start + at < test);
        if let Some((at, _)) = in_test {
            let words = "the condition of a `while` on a tensor cannot assign names; assign them in the body";
            return Err(self.at_op(refused(words), code, start + at));
        }
        check_jumps(code, body, back)
    }

    /// The names that the body assigns: those that hold tensors and numbers, and the others that are bound.
    fn states(
        &mut self,
        code: &Code,
        (from, to): (usize, usize),
        before: &Variables,
    ) -> Result<(Vec<State>, Vec<Fixed>), Raised> {
        let mut places: Vec<(String, Place)> = Vec::new();
        let mut seen = Vec::new();
        for &op in &code.ops[from..to] {
            let found = match op {
                Op::SetLocal(at) | Op::DelLocal(at) if !is_hidden(code, op) => {
                    Some((code.locals[at as usize], Place::Local(at as usize)))
                }
                Op::SetCell(at) | Op::DelCell(at) => match &before.locals[at as usize] {
                    Value::Cell(it) => Some((code.locals[at as usize], Place::Cell(it.clone()))),
                    _ => None,
                },
                Op::SetFree(at) | Op::DelFree(at) => {
                    let cell = self.machine.frames.last();
                    let cell = cell.and_then(|it| it.func.closure.get(at as usize).cloned());
                    cell.map(|it| (code.free[at as usize], Place::Cell(it)))
                }
                _ => None,
            };
            let Some((name, place)) = found.filter(|it| !seen.contains(&it.0)) else { continue };
            seen.push(name);
            places.push((name.to_string(), place));
        }
        let (mut states, mut fixed) = (Vec::new(), Vec::new());
        for (name, place) in places {
            let value = place.value(before);
            match tensor_of(&value) {
                _ if value.is_unbound() => {}
                Some(tensor) => {
                    let initial = plain(&tensor)?;
                    states.push(State { name, place, before: value, initial });
                }
                None => fixed.push(Fixed { name, place, value }),
            }
        }
        if states.is_empty() {
            return Err(refused(
                "the body of this `while` on a tensor assigns no name that held a tensor or a number before it, so its condition \
                 never changes; assign what the condition depends on before the loop",
            ));
        }
        Ok((states, fixed))
    }

    /// Records condition and body, and applies the loop; the variables behind it.
    fn turns(
        &mut self,
        code: &Rc<Code>,
        (start, test, back): (usize, usize, usize),
        wanted: bool,
        before: &Variables,
        states: &[State],
        fixed: &[Fixed],
    ) -> Result<Variables, Raised> {
        let recording = Recording::begin();
        let (variables, _) = parameters(&recording, before, states);
        let condition = self.run_part(&testing(code, test), start, &variables, &[])?;
        let condition = self.condition(condition, wanted)?;
        let condition = recording.pause()?.finish(&[condition])?;
        if condition.draws() {
            return Err(refused(
                "the condition of a `while` on a tensor cannot draw random numbers; draw them in the body",
            ));
        }
        let recording = Recording::begin();
        let (variables, values) = parameters(&recording, before, states);
        let stood: Vec<Tensor> = values.iter().filter_map(tensor_of).collect();
        let standing: Vec<Value> = states
            .iter()
            .zip(&values)
            .filter(|it| !stands_for_number(&it.0.before))
            .map(|it| it.1.clone())
            .collect();
        let body = patched(code, (test + 1, Some(back)), false)?;
        let part = self.run_part(&body, test + 1, &variables, &standing)?;
        let Part::Ended(after, _) = part else {
            return Err(refused("the body of a `while` on a tensor has no end"));
        };
        check_fixed(fixed, &after)?;
        code.enter_site(test + 1);
        let body = next_states(recording.pause()?, states, &after)?;
        let initial: Vec<Tensor> = states.iter().map(|it| it.initial.clone()).collect();
        let results = region::while_loop(&initial, &condition, &body)?;
        let mut behind = before.clone();
        for ((state, result), stood) in states.iter().zip(results).zip(&stood) {
            // What no turn changes stays, as the number or the variable that it was.
            let is_kept = tensor_of(&state.place.value(&after)).is_some_and(|it| it.same(stood));
            let value = match is_kept {
                true => state.before.clone(),
                false => seen_as(&result, state.look()),
            };
            state.place.put(&mut behind, value);
        }
        Ok(behind)
    }

    /// What a condition has come to, as a tensor that is true as long as the loop goes on.
    fn condition(&mut self, part: Part, wanted: bool) -> Result<Tensor, Raised> {
        let Part::Returned(value) = part else {
            return Err(refused("the condition of a `while` on a tensor has no end"));
        };
        let tensor = match tensor_of(&value) {
            Some(it) => it,
            None => Tensor::from_number(engine::Number::Bool(self.truth(&value)?)),
        };
        if tensor.numel() != 1 {
            self.truth(&value)?;
        }
        match wanted {
            true => Ok(engine::functional::logical_not(&tensor)?),
            false => Ok(tensor),
        }
    }
}

impl State {
    /// How a tensor shows that takes its place.
    fn look(&self) -> Look {
        if stands_for_number(&self.before) { Look::Number } else { Look::Tensor }
    }
}

impl Place {
    fn value(&self, variables: &Variables) -> Value {
        match self {
            Self::Local(at) => variables.locals.get(*at).cloned().unwrap_or_default(),
            Self::Cell(cell) => variables.in_cell(cell),
        }
    }

    fn put(&self, variables: &mut Variables, value: Value) {
        match self {
            Self::Local(at) => variables.locals[*at] = value,
            Self::Cell(cell) => {
                let cells = variables.cells.iter_mut().filter(|it| Rc::ptr_eq(&it.0, cell));
                cells.for_each(|it| it.1 = value.clone());
            }
        }
    }
}

/// Whether an operation assigns a place that no name has.
fn is_hidden(code: &Code, op: Op) -> bool {
    match op {
        Op::SetLocal(at) | Op::DelLocal(at) => code.locals[at as usize].as_str().is_empty(),
        _ => false,
    }
}

/// The code of a function that returns the condition which is tested at `test`.
fn testing(code: &Rc<Code>, test: usize) -> Rc<Code> {
    let mut ops: Vec<Op> = code.ops.iter().map(|it| it.unjoined()).collect();
    match ops[test] {
        Op::CompareJump(op, _) => {
            ops[test] = Op::Compare(op);
            ops[test + 1] = Op::Return;
        }
        _ => ops[test] = Op::Return,
    }
    with_ops(code, ops)
}

/// A number as a tensor of its plain dtype: an operand, so that another number is the same graph.
fn plain(tensor: &Tensor) -> Result<Tensor, Raised> {
    let Some(number) = tensor.as_number() else { return Ok(tensor.clone()) };
    let full = |value: Attr| {
        let dtype = Attr::DType(plain_dtype(number));
        let attrs: Attrs = [Attr::ints(&[]), value, dtype].into_iter().collect();
        apply_one(&engine::ops::create::full::OP, &[], &attrs)
    };
    Ok(match number {
        engine::Number::Bool(it) => full(Attr::Bool(it))?,
        _ => engine::functional::mul(&full(Attr::Int(1))?, tensor)?,
    })
}

/// The variables with parameters of a region in place of the state, and these.
fn parameters(
    recording: &Recording,
    before: &Variables,
    states: &[State],
) -> (Variables, Vec<Value>) {
    let mut variables = before.clone();
    let value = |state: &State| {
        let value = seen_as(
            &recording.parameter(state.initial.meta(), state.initial.device(), true),
            state.look(),
        );
        state.place.put(&mut variables, value.clone());
        value
    };
    let values = states.iter().map(value).collect();
    (variables, values)
}

/// Other names hold after a turn what they held before.
fn check_fixed(fixed: &[Fixed], after: &Variables) -> Result<(), Raised> {
    for Fixed { name, place, value } in fixed {
        let now = place.value(after);
        if !now.is(value) {
            return Err(refused(format!(
                "`{name}` is {} before this `while` on a tensor and {} after a turn, and a loop keeps tensors and numbers; \
                 assign it before the loop, or make it a tensor",
                described(value),
                described(&now)
            )));
        }
    }
    Ok(())
}

/// The body, with what it makes of the state.
fn next_states(
    body: Paused,
    states: &[State],
    after: &Variables,
) -> Result<region::Recorded, Raised> {
    let (mut outputs, mut dtypes): (Vec<Tensor>, Vec<Option<DType>>) = Default::default();
    for state in states {
        let value = state.place.value(after);
        let (name, meta) = (&state.name, state.initial.meta());
        let Some(next) = tensor_of(&value) else {
            let words = if value.is_unbound() { "unbound".into() } else { described(&value) };
            return Err(refused(format!(
                "`{name}` is {meta} before this `while` on a tensor and {words} after a turn; a loop keeps tensors and numbers"
            )));
        };
        let fits = next.as_number().is_some_and(|it| fits(it, &meta));
        if !fits && kind(&next) != meta {
            return Err(refused(format!(
                "`{name}` is {meta} before this `while` on a tensor and {} after a turn; a loop keeps shapes and dtypes, so begin \
                 with a value of that kind, or bring it back with .to(dtype) or .reshape(...)",
                kind(&next)
            )));
        }
        outputs.push(next);
        dtypes.push(Some(meta.dtype));
    }
    Ok(body.finish_as(&outputs, &dtypes)?)
}

/// Whether a number can be an element of a state of this kind.
fn fits(number: engine::Number, meta: &Meta) -> bool {
    let own = plain_dtype(number);
    let same = own == meta.dtype || own.is_int() && meta.dtype.is_int();
    meta.shape.rank() == 0 && (same || meta.dtype.is_float() && own != DType::C64)
}

fn kind(tensor: &Tensor) -> Meta {
    match tensor.as_number() {
        Some(number) => Meta::new(tensor.shape().clone(), plain_dtype(number)),
        None => tensor.meta(),
    }
}
