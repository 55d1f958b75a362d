//! Whether ops are recorded for gradients: `torch.no_grad()` and its relatives, as blocks and as decorators.

use std::any::Any;
use std::cell::Cell;

use engine::autograd;

use crate::native::*;

/// What `torch` has of it, but for the blocks.
pub static FUNCTIONS: &[NativeFn] = &[
    function("is_grad_enabled", "", "Whether ops are recorded for gradients.", is_grad_enabled),
    function("set_grad_enabled", "mode", "Switches recording for gradients.", set_grad_enabled),
];

/// `with torch.no_grad():`, also as a decorator.
pub static NO_GRAD: NativeType = NativeType {
    module: "torch.autograd.grad_mode",
    new: Some(function(
        "no_grad",
        "cls, func=None",
        "Ops inside are not recorded for gradients.",
        no_grad,
    )),
    ..NativeType::plain("no_grad", "Ops inside are not recorded for gradients.")
};

/// `with torch.enable_grad():`, also as a decorator.
pub static ENABLE_GRAD: NativeType = NativeType {
    module: "torch.autograd.grad_mode",
    new: Some(function(
        "enable_grad",
        "cls, func=None",
        "Ops inside are recorded for gradients.",
        enable_grad,
    )),
    ..NativeType::plain("enable_grad", "Ops inside are recorded for gradients.")
};

/// `with torch.inference_mode():`, also as a decorator.
pub static INFERENCE: NativeType = NativeType {
    module: "torch",
    new: Some(function(
        "inference_mode",
        "cls, mode=True",
        "As no_grad; with mode False, nothing changes.",
        inference_mode,
    )),
    ..NativeType::plain("inference_mode", "Ops inside are not recorded for gradients.")
};

fn is_grad_enabled(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Bool(autograd::enabled()))
}

fn set_grad_enabled(cx: &mut Cx, args: Args<'_>) -> Res {
    let on = cx.truth(&args[0])?;
    let before = autograd::set_enabled(on);
    Ok(Value::object(GradMode { on, before: Cell::new(Some(before)) }))
}

fn no_grad(_cx: &mut Cx, args: Args<'_>) -> Res {
    grad_mode(false, args.opt(1))
}

fn enable_grad(_cx: &mut Cx, args: Args<'_>) -> Res {
    grad_mode(true, args.opt(1))
}

fn inference_mode(_cx: &mut Cx, args: Args<'_>) -> Res {
    match &args[1] {
        Value::Bool(true) => grad_mode(false, None),
        Value::Bool(false) => grad_mode(autograd::enabled(), None),
        func => grad_mode(false, Some(func)),
    }
}

fn grad_mode(on: bool, func: Option<&Value>) -> Res {
    Ok(match func {
        None => Value::object(GradMode { on, before: Cell::new(None) }),
        Some(func) => Value::object(InGradMode { on, func: func.clone() }),
    })
}

/// A block in which recording for gradients is on or off.
struct GradMode {
    on: bool,
    before: Cell<Option<bool>>,
}

impl NativeObject for GradMode {
    fn native_type(&self) -> &'static NativeType {
        if self.on { &ENABLE_GRAD } else { &NO_GRAD }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn enter(&self, _cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let before = autograd::set_enabled(self.on);
        if self.before.get().is_none() {
            self.before.set(Some(before));
        }
        Ok(Some(this.clone()))
    }

    fn exit(&self, _cx: &mut Cx, _this: &Value, _error: &Value) -> Result<bool, Raised> {
        if let Some(before) = self.before.take() {
            autograd::set_enabled(before);
        }
        Ok(false)
    }

    fn is_callable(&self) -> bool {
        true
    }

    /// As a decorator: `@torch.no_grad()`.
    fn call(&self, _cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        match args.positional {
            [func] => Ok(Value::object(InGradMode { on: self.on, func: func.clone() })),
            _ => Err(type_error("as a decorator it takes one function")),
        }
    }
}

/// A function that runs with recording on or off.
struct InGradMode {
    on: bool,
    func: Value,
}

impl NativeObject for InGradMode {
    fn native_type(&self) -> &'static NativeType {
        if self.on { &ENABLE_GRAD } else { &NO_GRAD }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let func = cx.adopt(&self.func)?;
        Ok(Some(Value::object(InGradMode { on: self.on, func })))
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn binds_self(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let before = autograd::set_enabled(self.on);
        let res = cx.call_with(&self.func, args);
        autograd::set_enabled(before);
        res
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.func);
    }
}
