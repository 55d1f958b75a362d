//! After a branch: what each name holds where the condition is true, and where it is false, as one value.
//!
//! The same object stays. Tensors, and numbers that differ, become outputs of the branch. A name that one way alone binds is unbound.

use std::rc::Rc;

use engine::apply::default_dtype;
use engine::dtype::Kind;
use engine::region::{self, Paused, Recorded};
use engine::{DType, Meta, Tensor};

use super::part::{Part, Variables};
use super::refused;
use crate::cx::Cx;
use crate::error::{Raised, type_name};
use crate::objects::tensor::{Look, TensorObj, stands_for_number};
use crate::tensor::convert::operand;
use crate::value::Value;

/// How the function goes on.
pub(super) enum Merged {
    /// It has returned.
    Returned(Value),
    /// Behind the branch, perhaps with a value on the stack.
    Ended(Variables, Option<Value>),
}

/// A value of both ways.
enum Joint {
    Same(Value),
    /// Output of the branch of this number.
    Output(usize),
    Tuple(Vec<Joint>),
    List(Vec<Joint>),
}

/// What both ways give, as far as it is known.
struct Joining {
    first: Paused,
    second: Paused,
    then: Vec<Tensor>,
    orelse: Vec<Tensor>,
    dtypes: Vec<Option<DType>>,
    looks: Vec<Look>,
    /// Where the variables of both ways lie that each output comes from.
    places: Vec<[Option<usize>; 2]>,
}

impl Cx {
    /// Puts together what both ways have come to.
    pub(super) fn merged(
        &mut self,
        before: &Variables,
        (then, first): (Part, Paused),
        (orelse, second): (Part, Paused),
        condition: &Tensor,
    ) -> Result<Merged, Raised> {
        let mut joining = Joining::of(first, second);
        match (then, orelse) {
            (Part::Returned(a), Part::Returned(b)) => {
                let joint = joining.join("the returned value", &a, &b)?;
                let outputs = joining.outputs(condition)?;
                Ok(Merged::Returned(joint.value(&outputs)))
            }
            (Part::Ended(a, one), Part::Ended(b, other)) => {
                let names = self.names_of(before);
                let joints = joining.variables(before, &names, (&a, &b))?;
                let value = one.zip(other);
                let value = value.map(|(a, b)| joining.join("the value", &a, &b)).transpose()?;
                let outputs = joining.outputs(condition)?;
                let mut values = joints.into_iter().map(|it| it.value(&outputs));
                let locals = values.by_ref().take(before.locals.len()).collect();
                let cells = before.cells.iter().map(|it| it.0.clone()).zip(values).collect();
                let value = value.map(|it| it.value(&outputs));
                Ok(Merged::Ended(Variables { locals, cells }, value))
            }
            _ => Err(refused("one way of a branch on a tensor returns, and the other does not")),
        }
    }

    /// The names of locals, then of cells; empty for what no name has.
    pub(super) fn names_of(&self, variables: &Variables) -> Vec<String> {
        let Some(frame) = self.machine.frames.last() else { return Vec::new() };
        let code = &frame.func.code;
        let own = code.locals.iter().zip(&variables.locals);
        let own = own.filter(|it| matches!(it.1, Value::Cell(_))).map(|it| *it.0);
        let of_cells = own.chain(code.free.iter().copied());
        code.locals.iter().copied().chain(of_cells).map(|it| it.to_string()).collect()
    }
}

impl Joining {
    fn of(first: Paused, second: Paused) -> Self {
        let (then, orelse, dtypes, looks, places) = Default::default();
        Self { first, second, then, orelse, dtypes, looks, places }
    }

    /// The output that both variables are already.
    fn known(&self, a: &Value, b: &Value) -> Option<usize> {
        let wanted = places(a, b);
        let is_it = |it: &[Option<usize>; 2]| *it == wanted && wanted.iter().all(Option::is_some);
        self.places.iter().position(is_it)
    }

    /// Notes what the latest output comes from. Names of one variable in one way, and of two in the other, cannot be written.
    fn note(&mut self, a: &Value, b: &Value) {
        let new = places(a, b);
        let last = self.places.len();
        for (at, known) in self.places.iter().enumerate() {
            if known.iter().zip(&new).any(|(a, b)| a.is_some() && a == b) {
                self.looks[at] = Look::Either;
                self.looks[last] = Look::Either;
            }
        }
        self.places.push(new);
    }

    /// Locals, then what cells hold.
    fn variables(
        &mut self,
        before: &Variables,
        names: &[String],
        (a, b): (&Variables, &Variables),
    ) -> Result<Vec<Joint>, Raised> {
        let locals = a.locals.iter().cloned().zip(b.locals.iter().cloned());
        let cells = before.cells.iter().map(|(cell, _)| (a.in_cell(cell), b.in_cell(cell)));
        let mut joints = Vec::new();
        for ((a, b), name) in locals.chain(cells).zip(names) {
            let is_cell = matches!((&a, &b), (Value::Cell(_), _) | (_, Value::Cell(_)));
            let differs = !a.is(&b);
            joints.push(match differs && (name.is_empty() || is_cell) {
                true => Joint::Same(Value::Unbound),
                false => self.join(&format!("`{name}`"), &a, &b)?,
            });
        }
        Ok(joints)
    }

    /// One value of both ways.
    fn join(&mut self, what: &str, a: &Value, b: &Value) -> Result<Joint, Raised> {
        if a.is(b) {
            return Ok(Joint::Same(a.clone()));
        }
        if a.is_unbound() || b.is_unbound() {
            return Ok(Joint::Same(Value::Unbound));
        }
        match (a, b) {
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => {
                let items = x.iter().zip(y.iter()).enumerate();
                let joint = |(at, (a, b)): (usize, _)| self.join(&format!("{what}[{at}]"), a, b);
                return Ok(Joint::Tuple(items.map(joint).collect::<Result<_, _>>()?));
            }
            (Value::List(x), Value::List(y)) => {
                let (x, y) = (x.items.borrow().clone(), y.items.borrow().clone());
                if x.len() == y.len() {
                    let items = x.iter().zip(y.iter()).enumerate();
                    let joint =
                        |(at, (a, b)): (usize, _)| self.join(&format!("{what}[{at}]"), a, b);
                    return Ok(Joint::List(items.map(joint).collect::<Result<_, _>>()?));
                }
            }
            (Value::Str(x), Value::Str(y)) if ***x == ***y => {
                return Ok(Joint::Same(a.clone()));
            }
            _ => {}
        }
        match (tensor_of(a), tensor_of(b)) {
            (Some(x), Some(y)) => {
                if let Some(at) = self.known(a, b) {
                    return Ok(Joint::Output(at));
                }
                let look = match () {
                    () if stands_for_number(a) && stands_for_number(b) => Look::Number,
                    () if is_shared(a, &self.first) || is_shared(b, &self.second) => Look::Either,
                    () => Look::Tensor,
                };
                let joint = self.output(what, (x, y), look)?;
                self.note(a, b);
                Ok(joint)
            }
            _ => Err(refused(format!(
                "{what} is {} where the condition is true and {} where it is false, and a branch on a tensor gives \
                 tensors and numbers; assign it before the branch, or make it a tensor in both",
                described(a),
                described(b)
            ))),
        }
    }

    fn output(
        &mut self,
        what: &str,
        (a, b): (Tensor, Tensor),
        look: Look,
    ) -> Result<Joint, Raised> {
        let (one, other) = kinds(&a, &b);
        if one != other {
            return Err(refused(format!(
                "{what} is {one} where the condition is true and {other} where it is false; bring both to one shape \
                 and dtype, with .expand(...), .reshape(...) or .to(dtype)"
            )));
        }
        self.then.push(a);
        self.orelse.push(b);
        self.dtypes.push(Some(one.dtype));
        self.looks.push(look);
        Ok(Joint::Output(self.then.len() - 1))
    }

    /// The tensors that the branch gives.
    fn outputs(self, condition: &Tensor) -> Result<Vec<Value>, Raised> {
        let then: Recorded = self.first.finish_as(&self.then, &self.dtypes)?;
        let orelse = self.second.finish_as(&self.orelse, &self.dtypes)?;
        let outputs = region::cond(condition, then, orelse)?;
        Ok(outputs.iter().zip(self.looks).map(|(it, look)| seen_as(it, look)).collect())
    }
}

impl Joint {
    fn value(self, outputs: &[Value]) -> Value {
        let all = |items: Vec<Self>| -> Vec<Value> {
            items.into_iter().map(|it| it.value(outputs)).collect()
        };
        match self {
            Self::Same(value) => value,
            Self::Output(at) => outputs[at].clone(),
            Self::Tuple(items) => Value::tuple(all(items)),
            Self::List(items) => Value::list(all(items)),
        }
    }
}

/// A variable of its own with this value.
pub(super) fn seen_as(tensor: &Tensor, look: Look) -> Value {
    let value = Value::tensor(tensor.clone());
    if let Value::Tensor(it) = &value {
        it.show_as(look);
    }
    value
}

/// Where the variables of both ways lie; numbers have no place.
fn places(a: &Value, b: &Value) -> [Option<usize>; 2] {
    [a, b].map(|it| it.as_tensor().and_then(|_| it.address()))
}

/// Whether a value is a variable, or a view of one, that others hold: no op of this way has made it, or it has another name.
fn is_shared(value: &Value, way: &Paused) -> bool {
    let Value::Tensor(object) = value else { return false };
    let root = TensorObj::root(object);
    let is_view = !Rc::ptr_eq(&root, object);
    // A view holds what it looks at, and so do we.
    !way.has_made(&root.peek()) || is_view && Rc::strong_count(&root) > 2
}

/// A tensor, or a number as one.
pub(super) fn tensor_of(value: &Value) -> Option<Tensor> {
    match value {
        Value::Tensor(it) => Some(it.get()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => operand(value),
        _ => None,
    }
}

/// The kinds of both as tensors: a number takes the dtype of a tensor of rank 0 that holds such numbers.
fn kinds(a: &Tensor, b: &Tensor) -> (Meta, Meta) {
    let kind = |it: &Tensor, other: &Tensor| match it.as_number() {
        None => it.meta(),
        Some(number) => Meta::new(it.shape().clone(), dtype_beside(number, other)),
    };
    (kind(a, b), kind(b, a))
}

/// The dtype of a number beside another value.
fn dtype_beside(number: engine::Number, other: &Tensor) -> DType {
    let own = plain_dtype(number);
    let theirs = match other.as_number() {
        Some(it) => plain_dtype(it),
        None => other.dtype(),
    };
    let rank = |it: DType| match it.kind() {
        Kind::Bool => 0,
        Kind::Int => 1,
        Kind::Float | Kind::Complex => 2,
    };
    if rank(theirs) >= rank(own) { theirs } else { own }
}

/// The dtype of the tensor that a number becomes.
pub(super) fn plain_dtype(number: engine::Number) -> DType {
    match number {
        engine::Number::Bool(_) => DType::Bool,
        engine::Number::Int(_) => DType::I64,
        engine::Number::Float(_) => default_dtype::get(),
        engine::Number::Complex(..) => default_dtype::get().complex(),
    }
}

/// A value in a few words.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Tensor(it) => format!("a tensor {}", it.get().meta()),
        Value::None => "None".into(),
        Value::Bool(it) => if *it { "True" } else { "False" }.into(),
        Value::Int(it) => it.to_string(),
        Value::Float(it) => format!("{it:?}"),
        Value::Str(it) if it.len() < 40 => format!("{:?}", &***it),
        Value::List(it) => format!("a list of {}", it.items.borrow().len()),
        Value::Tuple(it) => format!("a tuple of {}", it.len()),
        other => format!("an object of {}", type_name(other)),
    }
}
