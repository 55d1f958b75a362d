//! Comparisons, and choices by a condition.

pub mod eq;
pub mod ge;
pub mod gt;
pub mod isclose;
pub mod le;
pub mod lt;
pub mod masked_fill;
pub mod ne;
pub mod where_;

use crate::OpDef;

/// The family, sorted by name.
pub static ALL: &[&OpDef] = &[
    &eq::OP,
    &ge::OP,
    &gt::OP,
    &isclose::OP,
    &le::OP,
    &lt::OP,
    &masked_fill::OP,
    &ne::OP,
    &where_::OP,
];
