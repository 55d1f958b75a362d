//! Named places of an axis.

use super::values::same_length;
use crate::native::*;
use crate::shown::Tick;

/// Places, with a name each where names are given.
pub(super) fn ticks(places: &[f64], names: Option<Vec<String>>) -> Result<Vec<Tick>, Raised> {
    let mut ticks: Vec<Tick> = places.iter().map(|at| Tick { at: *at, name: None }).collect();
    if let Some(names) = names {
        same_length(("ticks", ticks.len()), ("labels", names.len()))?;
        rename(&mut ticks, names);
    }
    Ok(ticks)
}

/// Names at 0, 1, 2 ...
pub(super) fn named_ticks(names: Vec<String>) -> Vec<Tick> {
    let tick = |(at, name)| Tick { at: at as f64, name: Some(name) };
    names.into_iter().enumerate().map(tick).collect()
}

/// Other names for the first places.
pub(super) fn rename(ticks: &mut [Tick], names: Vec<String>) {
    ticks.iter_mut().zip(names).for_each(|(tick, name)| tick.name = Some(name));
}
