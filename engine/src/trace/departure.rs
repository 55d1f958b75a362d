//! Why a call did not follow what was recorded, as data; whoever knows the user's program puts it in words.

use std::cell::Cell;
use std::fmt;

use super::call::State;
use super::tree::{ArgSpec, Ref, Step};
use crate::{Attrs, Device, Meta, OpDef, Tensor};

/// Why a call did not follow what was recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Departure {
    /// No earlier call had arguments of these kinds; `recorded` are those of the call before.
    Arguments { recorded: Vec<Meta>, now: Vec<Meta> },
    /// An argument is on another device than in the call before.
    Moved { recorded: Device, now: Device },
    /// A tensor from outside, an operand of `op`, is of another kind.
    Operand { op: &'static str, recorded: Meta, now: Meta },
    /// The same op has other attributes: a size, a position, a dimension.
    Settings { op: &'static str },
    /// Another op follows than in the recorded calls, or the same on other values.
    Path { op: &'static str },
    /// There is no room for another path: the call runs eagerly.
    Full { paths: usize },
    /// The recording got too long: the call runs eagerly.
    TooLong { ops: usize },
    /// It is many steps of training in one, so much that they are not recorded: the call runs eagerly.
    ManySteps { walks: usize },
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds =
            |metas: &[Meta]| metas.iter().map(Meta::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Arguments { recorded, now } => {
                write!(
                    f,
                    "arguments of another kind: {} instead of {}",
                    kinds(now),
                    kinds(recorded)
                )
            }
            Self::Moved { recorded, now } => {
                write!(f, "an argument on {now} instead of {recorded}")
            }
            Self::Operand { op, recorded, now } => {
                write!(f, "another kind of operand of {op}: {now} instead of {recorded}")
            }
            Self::Settings { op } => write!(f, "other attributes of {op}"),
            Self::Path { op } => write!(f, "another path from {op} on"),
            Self::Full { paths } => write!(f, "no room for more than {paths} paths"),
            Self::TooLong { ops } => write!(f, "more than {ops} ops"),
            Self::ManySteps { walks } => write!(f, "{walks} steps of training and more"),
        }
    }
}

thread_local! {
    static JUST: Cell<bool> = const { Cell::new(false) };
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the running call has left what was recorded since this was last asked.
#[inline]
pub fn just_departed() -> bool {
    JUST.get() && JUST.replace(false)
}

/// Whether the running call has done what prevents a run without the body, since this was last asked.
#[inline]
pub fn just_refused() -> bool {
    REFUSED.get() && REFUSED.replace(false)
}

/// Notes that the running call has done it, or that a new call begins.
pub(super) fn note_refusal(now: bool) {
    REFUSED.set(now);
}

/// Notes that the running call leaves what was recorded, or that a new call begins.
pub(super) fn depart(now: bool) {
    JUST.set(now);
}

/// How arguments differ from those of the call before.
pub(super) fn of_arguments(recorded: &[ArgSpec], now: &[ArgSpec]) -> Departure {
    let alike = recorded.len() == now.len() && metas(recorded) == metas(now);
    match recorded.iter().zip(now).find(|(a, b)| a.device != b.device) {
        Some((a, b)) if alike => Departure::Moved { recorded: a.device, now: b.device },
        _ => Departure::Arguments { recorded: metas(recorded), now: metas(now) },
    }
}

/// The kinds of arguments.
fn metas(signature: &[ArgSpec]) -> Vec<Meta> {
    signature.iter().map(|it| Meta::new(it.layout.shape.clone(), it.dtype)).collect()
}

impl State {
    /// Why none of the recorded steps is this application.
    pub(super) fn departure(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> Departure {
        let children = self.tree.step(self.cursor).children.iter().map(|&id| self.tree.step(id));
        let alike = children.filter(|it| it.op == Some(op) && it.inputs.len() == inputs.len());
        let alike: Vec<&Step> = alike.collect();
        match alike.iter().find_map(|step| self.other_operand(step, inputs)) {
            Some((recorded, now)) => Departure::Operand { op: op.name, recorded, now },
            None if alike.iter().any(|it| &it.attrs != attrs) => {
                Departure::Settings { op: op.name }
            }
            None => Departure::Path { op: op.name },
        }
    }

    /// The first captured operand whose shape or dtype is not as recorded.
    fn other_operand(&self, step: &Step, inputs: &[Tensor]) -> Option<(Meta, Meta)> {
        step.inputs.iter().zip(inputs).find_map(|(it, tensor)| {
            let Ref::Capture(at) = *it else { return None };
            let recorded = match self.captures.get(at as usize) {
                Some(slot) => Meta::new(slot.layout.shape.clone(), slot.dtype),
                None => {
                    let captured = step.captures.get(at as usize - self.captures.len())?;
                    Meta::new(captured.layout.shape.clone(), captured.dtype)
                }
            };
            let now = tensor.meta();
            (tensor.as_number().is_none() && recorded != now).then_some((recorded, now))
        })
    }
}
