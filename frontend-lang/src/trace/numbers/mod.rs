//! Numbers that differ from call to call: counts of steps, rates, what is computed of them.
//!
//! A body that changes numbers which it finds is followed with [`Tracked`] objects in their places. Each knows its value and what it is
//! computed from; operators make more of them, and what else looks at one gets the plain number, which is then noted as one that must be
//! the same. What comes out is a [`Slice`]: a run without the body computes the numbers anew, compares what decided the way, gives them
//! to ops and puts them into their places. The design is that of `Variable` and `Store` in graphs, for numbers of the language.
//!
//! **Invariant:** no tracked object is left behind when the call ends, and none is seen by code that does not know them: tuples, lists,
//! texts and functions of the library are given plain numbers.

mod looks;
mod meet;
mod part;
mod slice;
mod spot;
mod tracked;
mod tracks;

pub(in crate::trace) use looks::Place;
pub(in crate::trace) use part::{Parts, view_of_rows};
pub(in crate::trace) use slice::Operand;
pub(super) use tracked::{bare, can_stand_in_tuple, holds_tracked, is_tracked, kind_of, plain_by};
pub(crate) use tracks::Tracking;
pub(super) use tracks::{Found, Tracks};
