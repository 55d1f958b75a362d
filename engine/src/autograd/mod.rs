//! Reverse mode: the walk over gradient rules that the tape leads to, and what programs see of the tape.

mod backward;
mod elementwise;
#[cfg(test)]
mod elementwise_tests;
mod reach;
mod retained;
#[cfg(test)]
mod tests;

pub use crate::tape::{Again, Edge, Kept, StepCx, enabled, no_grad, set_enabled};
pub use backward::{Place, Root, backward, grad};
pub use reach::{reaches, reaches_kept};
pub use retained::{retain, retain_only};
