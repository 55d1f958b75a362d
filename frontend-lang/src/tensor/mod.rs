//! Tensors in the language: operators, methods, indexing, printing and conversion. Ops themselves come from `ops_binding`.

pub mod arith;
pub mod attribute;
pub mod beneath;
pub mod convert;
pub mod device;
mod draws;
pub mod dtype;
pub(crate) mod fused;
mod grad_fn;
pub mod gradients;
mod hooks;
pub mod in_use;
pub mod index;
pub mod journal;
pub(crate) mod lost_part;
pub mod made;
pub mod methods;
pub mod named;
pub mod steps;
pub mod text;

use crate::error::*;
use crate::patience::interrupted;
use crate::{explain, site};

impl From<engine::Error> for Raised {
    fn from(error: engine::Error) -> Raised {
        use engine::Error as E;
        use engine::index::OP as INDEX;
        if matches!(error, E::Abstract) {
            crate::check::unknown::touch();
        }
        let (error, applied) = error.apart();
        let row = match &error {
            E::Shapes { op: INDEX, .. } | E::DType { op: INDEX, .. } => &INDEX_ERROR,
            E::Shapes { .. } => &SHAPE_ERROR,
            E::NoElements { .. } => &INDEX_ERROR,
            E::NotComplex { .. } => &TYPE_ERROR,
            E::NoTensors { op: "cat" } => &VALUE_ERROR,
            E::Attr { name: "mode", .. } => &NOT_IMPLEMENTED_ERROR,
            // An element that names a place is no index of the program.
            E::IndexRange { op, .. } if of_places(op) => &RUNTIME_ERROR,
            E::DType { .. } | E::DTypes { .. } => &DTYPE_ERROR,
            E::DimRange { .. } | E::IndexRange { .. } | E::Class { .. } | E::TableRow { .. } => {
                &INDEX_ERROR
            }
            // PyTorch looks at these in Python, or as Python does.
            E::Unequal { .. }
            | E::Attr { name: "p" | "reduction", .. }
            | E::Attr { op: INDEX, .. } => &VALUE_ERROR,
            E::Attr { .. } => &RUNTIME_ERROR,
            E::Told { error, .. } => class_named(error),
            E::Arity { .. } => &TYPE_ERROR,
            E::TooLarge { .. } | E::OutOfMemory { .. } => &OUT_OF_MEMORY_ERROR,
            E::Trace { .. } | E::Abstract => &TRACE_ERROR,
            E::File { .. } => &OS_ERROR,
            E::NoData => &NOT_IMPLEMENTED_ERROR,
            E::Interrupted => return interrupted(),
            _ => &RUNTIME_ERROR,
        };
        let (applied, largest) = match &error {
            E::OutOfMemory { .. } => (applied, in_use::sentence()),
            E::Anomaly(it) => (Some(it.site), None),
            E::NotInOnnx { site, .. } => (Some(*site), None),
            _ => (applied, None),
        };
        let place = applied.and_then(site::sentence);
        let text = match &error {
            E::Devices(it) => it.text(in_use::made),
            _ => error.to_string(),
        };
        let earlier = match &error {
            E::Anomaly(it) => it.earlier.as_deref().map(site::before_that),
            _ => None,
        };
        let parts = [Some(text), place, largest, earlier];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let raised = Raised::new(row, text);
        let raised = raised.with_help(explain::next_of(&error));
        match explain::code_of(&error) {
            Some(code) => raised.with_code(code),
            None => raised,
        }
    }
}

/// Whether elements of an operand of this op name places one by one.
fn of_places(op: &str) -> bool {
    engine::ops::find(op).is_some_and(|it| it.surface.by_places)
}
