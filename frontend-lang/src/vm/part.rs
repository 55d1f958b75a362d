//! Parts of a program that graphs are shown by: the call of an object whose class is written in the language, such as a module. They are
//! noted while a trace listens.

use std::rc::Rc;

use engine::{Scope, trace};

use crate::cx::Cx;
use crate::error::Raised;
use crate::native::Res;
use crate::objects::class::Instance;
use crate::value::Value;
use crate::vm::frame::FrameKind;
use crate::vm::layer::name_in;

impl Cx {
    /// The part that the call of an object is, if somebody listens.
    #[inline]
    pub(super) fn part_of(&self, callee: &Rc<Instance>) -> Option<Scope> {
        trace::active().then(|| self.new_part(callee))
    }

    /// The newest frame runs a part, unless it was not pushed.
    #[inline]
    pub(super) fn enter_part(
        &mut self,
        part: Option<Scope>,
        pushed: Result<bool, Raised>,
    ) -> Result<bool, Raised> {
        if let (Some(part), Ok(true), Some(frame)) = (part, &pushed, self.machine.frames.last_mut())
        {
            frame.kind = FrameKind::Part(part.enter());
        }
        pushed
    }

    /// Runs the call of an object from Rust.
    pub(crate) fn within_part(
        &mut self,
        callee: &Rc<Instance>,
        body: impl FnOnce(&mut Self) -> Res,
    ) -> Res {
        let Some(part) = self.part_of(callee) else { return body(self) };
        let before = part.enter();
        let result = body(self);
        before.enter();
        result
    }

    #[inline(never)]
    fn new_part(&self, callee: &Rc<Instance>) -> Scope {
        let here = Scope::here();
        let name = match here.part() {
            Some(_) => self.running_layer().and_then(|outer| name_in(&outer, callee)),
            None => {
                let is_callee =
                    |it: &Value| matches!(it, Value::Instance(it) if Rc::ptr_eq(it, callee));
                self.globals.name_of(is_callee).map(|it| it.as_str().into())
            }
        };
        here.inside(name.unwrap_or_default(), callee.class.name.as_str())
    }
}
