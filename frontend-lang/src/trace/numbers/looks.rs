//! Where the body of a step looks at numbers that then have to be the same each time.

use super::super::check::is_as;
use crate::source::Span;
use crate::value::Value;

/// An operation of the cell.
#[derive(Clone, Copy)]
pub(in crate::trace) struct Place {
    pub(in crate::trace) at: usize,
    pub(in crate::trace) span: Span,
}

/// What was looked at where in one call, in order; nothing of bodies that are no part of a cell.
#[derive(Default)]
pub(super) struct Looks(Vec<(Place, Value)>);

impl Looks {
    pub(super) fn add(&mut self, place: Place, number: Value) {
        self.0.push((place, number));
    }

    /// Where a number was another one than in an earlier call, first; `None` where that looked elsewhere before.
    pub(super) fn first_other(&self, earlier: &Looks) -> Option<Place> {
        let mut both =
            self.0.iter().zip(&earlier.0).take_while(|(now, then)| now.0.at == then.0.at);
        both.find(|(now, then)| !is_as(&now.1, &then.1)).map(|it| it.0.0)
    }
}
