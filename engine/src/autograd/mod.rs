//! Reverse mode: the walk over gradient rules that the tape leads to, and what programs see of the tape.

mod backward;
mod elementwise;
#[cfg(test)]
mod elementwise_tests;
mod reach;
mod rules;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::tape::{Again, Edge, Kept, StepCx, enabled, no_grad, set_enabled};
pub use backward::{How, Place, Root, backward, backward_with, grad, gradient_at, places_of};
pub use reach::reaches;
pub use walk::Stop;
