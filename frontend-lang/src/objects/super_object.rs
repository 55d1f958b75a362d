//! `super()`: attributes of the classes above a class, bound to an object.

use std::any::Any;
use std::rc::Rc;

use crate::builtins::types;
use crate::native::*;
use crate::objects::class::Class;
use crate::objects::descriptor::{bind, bind_to_class};
use crate::operate::attribute::operator_method;

/// What `super()` gives.
pub struct Super {
    /// The class to look above.
    pub above: Rc<Class>,
    /// The object, or the class in a class method.
    pub this: Value,
}

impl NativeObject for Super {
    fn native_type(&self) -> &'static NativeType {
        &types::SUPER
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let Some(base) = &self.above.base else { return Ok(None) };
        let attr = base.lookup(name).or_else(|| operator_method(base, name));
        let Some(attr) = attr else {
            return Err(attribute_error(format!("'super' object has no attribute '{name}'")));
        };
        match &self.this {
            Value::Class(class) => Ok(Some(bind_to_class(attr, class))),
            this => {
                let class = crate::objects::class::type_of(this);
                bind(cx, attr, this, &class).map(Some)
            }
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.this);
    }
}

/// `super(class, object)`.
pub fn new_super(_cx: &mut Cx, args: Args<'_>) -> Res {
    match (&args[1], &args[2]) {
        (Value::Class(above), this) => {
            Ok(Value::object(Super { above: above.clone(), this: this.clone() }))
        }
        _ => Err(type_error("super() argument 1 must be a type")),
    }
}
