//! `with exclude_from_trace():`, in a traced body.

use std::any::Any;
use std::cell::RefCell;

use engine::trace::{Excluded, exclude};

use crate::native::*;

/// The type of `exclude_from_trace()`.
static EXCLUDE: NativeType = NativeType {
    module: "notegrad.jit",
    ..NativeType::plain("exclude_from_trace", "Code inside runs eagerly and is not recorded.")
};

/// `with exclude_from_trace():`.
#[derive(Default)]
pub struct Exclude {
    guard: RefCell<Option<Excluded>>,
}

impl NativeObject for Exclude {
    fn native_type(&self) -> &'static NativeType {
        &EXCLUDE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn enter(&self, _cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        if engine::trace::active() {
            self.guard.replace(Some(exclude()?));
        }
        Ok(Some(this.clone()))
    }

    fn exit(&self, _cx: &mut Cx, _this: &Value, _error: &Value) -> Result<bool, Raised> {
        self.guard.replace(None);
        Ok(false)
    }
}
