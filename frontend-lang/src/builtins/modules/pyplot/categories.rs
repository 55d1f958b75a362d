//! Names along an axis: each stands at a whole number, in the order in which they come.

use rustc_hash::FxHashMap;

use super::canvas::{Pane, keep, on_pane};
use super::values::{number, numbers};
use crate::native::*;
use crate::shown::{Plot, Scale, Tick};

/// One of the two axes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Along {
    X,
    Y,
}

impl Along {
    /// How this axis of a plot counts.
    pub(super) fn scale(self, plot: &mut Plot) -> &mut Scale {
        match self {
            Along::X => &mut plot.x,
            Along::Y => &mut plot.y,
        }
    }
}

/// Where the names of an axis stand.
pub(super) type Names = FxHashMap<String, usize>;

/// Where things stand along an axis: numbers, or the places of names.
pub(super) fn positions(cx: &mut Cx, value: &Value, along: Along) -> Result<Vec<f64>, Raised> {
    if value.as_tensor().is_some() || number(value).is_some() {
        return numbers(cx, value);
    }
    // What gives its items only once is asked once.
    let items = match value.as_str() {
        Some(_) => vec![value.clone()],
        None => cx.collect(value)?,
    };
    let names: Vec<&str> = items.iter().map_while(Value::as_str).collect();
    if names.is_empty() || names.len() < items.len() {
        return numbers(cx, &Value::list(items));
    }
    keep(names.iter().map(|it| it.len() + size_of::<Tick>()).sum())?;
    Ok(on_pane(|it| it.places_of(&names, along)))
}

/// Whether a value is a sequence of names.
pub(super) fn are_names(value: &Value) -> bool {
    match value {
        Value::List(items) => items.items.borrow().first().is_some_and(|it| it.as_str().is_some()),
        Value::Tuple(items) => items.first().is_some_and(|it| it.as_str().is_some()),
        _ => false,
    }
}

impl Pane {
    /// Where names stand; new ones come after all others, and are told on the axis.
    fn places_of(&mut self, names: &[&str], along: Along) -> Vec<f64> {
        let known = &mut self.names[along as usize];
        let scale = along.scale(&mut self.plot);
        if known.is_empty() {
            scale.ticks = Some(Vec::new());
        }
        let ticks = scale.ticks.get_or_insert_default();
        let place = |name: &&str| {
            let next = known.len();
            let at = *known.entry((*name).to_owned()).or_insert(next);
            if at == next {
                ticks.push(Tick { at: at as f64, name: Some((*name).to_owned()) });
            }
            at as f64
        };
        names.iter().map(place).collect()
    }
}
