//! Items that a body takes out of lists, tuples and dicts at places which differ from round to round: `xs[i % 4]`, `batches[order[i]]`; and
//! how many these hold, where it does not look at them otherwise: `len(batches)`.
//!
//! What stands there when the body begins is an argument of it, as what a first statement `x = xs[i % 4]` binds would be, and neither the
//! container nor the number counts as found. That is the same as what the body would take as long as it does not bind these names before, and
//! comes by the container in no other way, in which it could change it: a body that does is seen while it is followed ([`Choices::finds`]),
//! and has no such items from there on.

use std::cell::RefCell;
use std::ops::Range;

use super::home::{Home, Name, Use, use_of, uses};
use super::names::is_argument;
use super::pack::Pack;
use super::world::World;
use crate::bytecode::{Code, Op};
use crate::operate::BinaryOp;
use crate::value::Value;
use crate::vm::quick::{quick_binary, quick_item};

/// One place in a body where an item is taken.
pub(super) struct Choice {
    /// The operations that do.
    ops: Range<usize>,
    /// The same as what they compute, in their order.
    steps: Vec<Step>,
    /// What stands behind the text for each tensor that it gave latest: nothing, or its place in a container.
    shown: RefCell<Vec<String>>,
}

/// What an item is taken with: names, constants, sums of numbers and lengths.
enum Step {
    Name(Name),
    /// The name `len`, which has to be that of the function.
    Len(Name),
    Const(Value),
    Binary(BinaryOp),
    Item,
    /// Calls `len` with what is on top.
    Count,
}

/// What is known of a value of these steps before they run.
#[derive(Clone, Copy, Default)]
struct Form {
    /// A name, or an item: that may be a container.
    is_place: bool,
    has_name: bool,
    /// It is an item at a place that a name says, or a length.
    differs: bool,
    /// It is the function `len`.
    is_len: bool,
}

/// What was chosen in one call.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) item: Value,
    /// What it was taken out of, container by container.
    pub(super) from: Vec<Value>,
    /// The container of tensors that it is, if it is one.
    pub(super) pack: Option<Pack>,
}

/// A body binds a name before it takes an item with it.
pub(super) struct Rebound;

/// What a body that is followed finds at these places.
pub(super) struct Choices(Vec<Known>);

struct Known {
    ops: Range<usize>,
    names: Vec<Name>,
    chosen: Chosen,
}

impl Choice {
    /// All in a body that are taken before it binds one of their names.
    pub(super) fn all(code: &Code, body: Range<usize>) -> Vec<Choice> {
        let mut found = Vec::new();
        let mut at = body.start;
        while at < body.end {
            match Choice::at(code, at..body.end) {
                Some(it) => {
                    at = it.ops.end;
                    found.push(it);
                }
                None => at += 1,
            }
        }
        let targets = targets(code);
        found.retain(|it| !targets.iter().any(|at| it.ops.start < *at && *at < it.ops.end));
        // Where it jumps back, what is bound behind a place may be bound before it.
        let jumps_back = code.ops[body.clone()].iter().any(|it| matches!(it, Op::Loop(_)));
        let bound_before = |it: &Choice| {
            let end = if jumps_back { body.end } else { it.ops.start };
            let names = it.names();
            uses(code, body.start..end).into_iter().any(|it| match it {
                Use::Bind(name) | Use::Delete(name) | Use::Inner(name) => names.contains(&name),
                Use::Read(_) => false,
            })
        };
        found.retain(|it| !bound_before(it));
        found
    }

    /// The longest one that begins with the first of these operations.
    fn at(code: &Code, ops: Range<usize>) -> Option<Choice> {
        let (mut steps, mut forms, mut longest) = (Vec::new(), Vec::new(), None);
        for at in ops.clone() {
            let Some(step) = Step::of(code, code.ops[at].unjoined()) else { break };
            let Some(form) = step.form(&mut forms) else { break };
            forms.push(form);
            let is_whole = matches!(step, Step::Item | Step::Count);
            steps.push(step);
            if is_whole && forms.len() == 1 && form.differs {
                longest = Some(steps.len());
            }
        }
        steps.truncate(longest?);
        Some(Choice { ops: ops.start..ops.start + steps.len(), steps, shown: RefCell::default() })
    }

    /// The names that it reads, in order.
    pub(super) fn names(&self) -> Vec<Name> {
        let name = |it: &Step| match it {
            Step::Name(name) | Step::Len(name) => Some(*name),
            Step::Const(_) | Step::Binary(_) | Step::Item | Step::Count => None,
        };
        self.steps.iter().filter_map(name).collect()
    }

    /// Whether it says how many items there are, or takes one with that.
    pub(super) fn has_length(&self) -> bool {
        self.steps.iter().any(|it| matches!(it, Step::Count))
    }

    /// Whether it says how many a container holds that the body also reads in another way (`uses`).
    pub(super) fn has_length_of_one_in(&self, uses: &[Use]) -> bool {
        let is_one = |it: &[Step]| match it {
            [Step::Name(name), Step::Count] => uses.contains(&Use::Read(*name)),
            _ => false,
        };
        self.steps.windows(2).any(is_one)
    }

    pub(super) fn ops(&self) -> Range<usize> {
        self.ops.clone()
    }

    /// What is there now; `None` for no number, tensor or container of tensors that can be an argument.
    pub(super) fn now(&self, stack: &[Value], home: &Home) -> Option<Chosen> {
        let (item, from) = self.value(stack, home)?;
        let pack = match is_argument(&item) {
            true => None,
            false => Some(Pack::of(&item, is_argument)?),
        };
        let chosen = Chosen { item, from, pack };
        self.shows(&chosen);
        Some(chosen)
    }

    /// The item, and the containers that it is taken out of; `None` where that needs more than a look.
    fn value(&self, stack: &[Value], home: &Home) -> Option<(Value, Vec<Value>)> {
        let (mut values, mut from) = (Vec::new(), Vec::new());
        for step in &self.steps {
            let value = match step {
                Step::Name(it) => home.get(stack, *it),
                Step::Len(it) => Some(home.get_or_builtin(stack, *it)).filter(is_len)?,
                Step::Const(it) => it.clone(),
                Step::Binary(op) => {
                    let (b, a) = (values.pop()?, values.pop()?);
                    quick_binary(*op, &a, &b)?
                }
                Step::Item => {
                    let (index, container) = (values.pop()?, values.pop()?);
                    let item = match index {
                        Value::Int(_) | Value::Str(_) => quick_item(&container, &index)?,
                        _ => return None,
                    };
                    from.push(container);
                    item
                }
                Step::Count => {
                    let (container, _) = (values.pop()?, values.pop()?);
                    let count = length(&container)?;
                    from.push(container);
                    Value::Int(count as i64)
                }
            };
            values.push(value);
        }
        Some((values.pop()?, from))
    }

    /// Notes how the tensors are shown that it gave.
    fn shows(&self, chosen: &Chosen) {
        let count = match &chosen.pack {
            Some(it) => it.tensors.len(),
            None => usize::from(chosen.item.as_tensor().is_some()),
        };
        if self.shown.borrow().len() != count {
            let places = chosen.pack.as_ref().map(Pack::places);
            self.shown.replace(places.unwrap_or_else(|| vec![String::new(); count]));
        }
    }

    /// The names of these tensors, as programs would write them.
    pub(super) fn shown(&self, code: &Code) -> Vec<String> {
        let written = self.written(code).unwrap_or_default();
        self.shown.borrow().iter().map(|place| format!("{written}{place}")).collect()
    }

    /// As programs write it.
    fn written(&self, code: &Code) -> Option<String> {
        let mut texts = Vec::new();
        for step in &self.steps {
            let text = match step {
                Step::Name(it) | Step::Len(it) => it.written(code),
                Step::Const(Value::Int(it)) => it.to_string(),
                Step::Const(it) => format!("'{}'", it.as_str()?),
                Step::Binary(op) => {
                    let (b, a) = (texts.pop()?, texts.pop()?);
                    format!("{a} {} {b}", op.sign())
                }
                Step::Item => {
                    let (index, container) = (texts.pop()?, texts.pop()?);
                    format!("{container}[{index}]")
                }
                Step::Count => {
                    let (container, function) = (texts.pop()?, texts.pop()?);
                    format!("{function}({container})")
                }
            };
            texts.push(text);
        }
        texts.pop()
    }
}

impl Step {
    /// What an operation does, if an item may be taken with it.
    fn of(code: &Code, op: Op) -> Option<Step> {
        Some(match op {
            Op::Const(idx) => match &code.consts[idx as usize] {
                it @ (Value::Int(_) | Value::Str(_)) => Step::Const(it.clone()),
                _ => return None,
            },
            Op::Binary(op) if counts(op) => Step::Binary(op),
            Op::Index => Step::Item,
            Op::Call(1) => Step::Count,
            Op::Global(slot)
                if code.globals.slots.borrow()[slot as usize].name.as_str() == "len" =>
            {
                Step::Len(Name::Global(slot))
            }
            op => match use_of(op).filter(|it| !it.is_hidden(code))? {
                // Functions share their cells.
                Use::Read(name @ (Name::Global(_) | Name::Local(_))) => Step::Name(name),
                _ => return None,
            },
        })
    }

    /// What it makes of values of these forms; `None` where it takes others.
    fn form(&self, forms: &mut Vec<Form>) -> Option<Form> {
        Some(match self {
            Step::Name(_) => Form { is_place: true, has_name: true, ..Form::default() },
            Step::Len(_) => Form { is_len: true, ..Form::default() },
            Step::Const(_) => Form::default(),
            Step::Binary(_) => {
                let (b, a) = (forms.pop()?, forms.pop()?);
                Form { has_name: a.has_name || b.has_name, ..Form::default() }
            }
            Step::Item => {
                let (index, container) = (forms.pop()?, forms.pop().filter(|it| it.is_place)?);
                let differs = container.differs || index.has_name;
                Form { is_place: true, has_name: true, differs, is_len: false }
            }
            Step::Count => {
                forms.pop().filter(|it| it.is_place)?;
                forms.pop().filter(|it| it.is_len)?;
                Form { has_name: true, differs: true, ..Form::default() }
            }
        })
    }
}

impl Choices {
    /// Of a body that is called so.
    pub(super) fn of(choices: &[Choice], chosen: &[Chosen]) -> Choices {
        let known = |(choice, chosen): (&Choice, &Chosen)| {
            let chosen = chosen.clone();
            Known { ops: choice.ops(), names: choice.names(), chosen }
        };
        Choices(choices.iter().zip(chosen).map(known).collect())
    }

    /// Item `at` is given as this from here on.
    pub(super) fn gives(&mut self, at: usize, item: Value) {
        self.0[at].chosen.item = item;
    }

    /// The item that is taken where operation `at` of the body is the next one, and where it goes on then; an error if one of its names is among
    /// these that were bound meanwhile.
    pub(super) fn at(&self, at: usize, bound: &[Name]) -> Option<Result<(Value, usize), Rebound>> {
        let known = self.0.iter().find(|it| it.ops.start == at)?;
        let is_bound = known.names.iter().any(|it| bound.contains(it));
        Some(if is_bound { Err(Rebound) } else { Ok((known.chosen.item.clone(), known.ops.end)) })
    }

    /// Whether a body comes by one of the containers in another way.
    pub(super) fn finds(&self, world: &World) -> bool {
        self.0.iter().flat_map(|it| &it.chosen.from).any(|it| world.has(it))
    }
}

/// Whether a value is the function `len`.
pub(super) fn is_len(value: &Value) -> bool {
    matches!(value, Value::Native(row) if row.name == "len")
}

/// How many items a list, tuple or dict has; `None` for others, whose classes may say so.
pub(super) fn length(container: &Value) -> Option<usize> {
    match container {
        Value::List(it) => Some(it.items.borrow().len()),
        Value::Tuple(it) => Some(it.len()),
        Value::Dict(it) if !it.is_of_instance() => Some(it.len()),
        _ => None,
    }
}

/// Where a code jumps to: in the midst of what takes an item, if another expression gives the container.
pub(super) fn targets(code: &Code) -> Vec<usize> {
    let target = |op: &Op| {
        let mut op = *op;
        op.target_mut().map(|it| *it as usize)
    };
    code.ops.iter().filter_map(target).collect()
}

/// Operators on numbers of which places are computed.
fn counts(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::Mod)
}
