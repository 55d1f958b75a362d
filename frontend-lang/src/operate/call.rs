//! Calling values from Rust, and making objects of classes.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::builtins::exceptions;
use crate::cx::{Cx, Mode};
use crate::error::{Raised, type_error};
use crate::native::{Args, CallArgs, NativeFn, NativeObject, Res};
use crate::objects::class::{Class, Instance, traits, type_name};
use crate::objects::generator::has_abandoned;
use crate::objects::module::Module;
use crate::params::Bound;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// `func(*args)`.
    pub fn call(&mut self, func: &Value, args: &[Value]) -> Res {
        self.call_with(func, CallArgs { positional: args, keywords: &[] })
    }

    /// `value.name(*args)`.
    pub fn call_method(&mut self, value: &Value, name: Sym, args: &[Value]) -> Res {
        let func = self.getattr(value, name)?;
        self.call(&func, args)
    }

    /// `func(*args, **keywords)`.
    pub fn call_with(&mut self, func: &Value, args: CallArgs<'_>) -> Res {
        match func {
            Value::Native(row) if self.profile.is_some() => {
                self.profiled_native(row, SmallVec::from(args.positional), args.keywords)
            }
            Value::Native(row) => {
                self.call_native(row, SmallVec::from(args.positional), args.keywords)
            }
            Value::Func(it) => self.call_func(it, args),
            Value::Method(it) => {
                let mut all = SmallVec::<[Value; 6]>::with_capacity(args.positional.len() + 1);
                all.push(it.this.clone());
                all.extend(args.positional.iter().cloned());
                self.call_with(&it.func, CallArgs { positional: &all, keywords: args.keywords })
            }
            Value::Class(class) => self.instantiate(class, args),
            Value::Instance(it) => match it.class.lookup(Sym::CALL) {
                Some(call) => {
                    let bound = crate::objects::descriptor::bind(self, call, func, &it.class)?;
                    self.within_part(it, |cx| cx.call_with(&bound, args))
                }
                None => match it.base.as_native() {
                    Some(native) if native.is_callable() => native.call(self, &it.base, args),
                    _ => Err(not_callable(func)),
                },
            },
            _ => match func.as_native() {
                Some(native) if native.is_callable() => {
                    self.enter_native()?;
                    let known = self.track_call(func, args);
                    let known = known
                        .as_ref()
                        .map(|(positional, keywords)| CallArgs { positional, keywords });
                    let args = known.unwrap_or(args);
                    let result = if self.mode == Mode::Shadow {
                        self.shadow_call(func, args)
                    } else if self.profile.is_some() {
                        self.profiled_object(func, native, args)
                    } else {
                        native.call(self, func, args)
                    };
                    self.leave_native();
                    result
                }
                _ => Err(not_callable(func)),
            },
        }
    }

    /// Calls a native with arguments as written.
    pub(crate) fn call_native(
        &mut self,
        row: &'static NativeFn,
        args: Bound,
        keywords: &[(Sym, Value)],
    ) -> Res {
        let mut args = if keywords.is_empty() && row.params.fits(args.len()) {
            args
        } else {
            row.params.bind(row.name, args, keywords)?
        };
        if has_abandoned() && self.native_depth == 0 {
            self.close_abandoned();
        }
        self.enter_native()?;
        let result = if self.mode == Mode::Shadow {
            self.shadow_native(row, &args)
        } else if let Err(refused) = self.may_act(row, &mut args) {
            Err(refused)
        } else {
            let known = match self.mode {
                Mode::Follow => self.track_native(row, &mut args),
                _ => None,
            };
            known.map_or_else(|| (row.run)(self, Args::new(&args)), Ok)
        };
        self.leave_native();
        result.map_err(|raised| wrong_self(raised, row, &args))
    }

    /// Whether a native may do now what it does: not where a body or a part of a function is recorded that will not run again.
    #[inline]
    fn may_act(&mut self, row: &'static NativeFn, args: &mut [Value]) -> Result<(), Raised> {
        if self.mode == Mode::Follow {
            self.refuse_outside(row, args)?;
        }
        if self.regions.is_empty() { Ok(()) } else { self.refuse_in_part(row) }
    }

    /// What a class answers itself, by its `__class_protocol__`: an object with methods `call`, `iter`, `len`,
    /// `contains` and `getitem`, whose first argument is the class. Modules of the language use it (`enum`, `abc`).
    pub fn class_protocol(
        &mut self,
        class: &Rc<Class>,
        method: &'static str,
        args: CallArgs<'_>,
    ) -> Result<Option<Value>, Raised> {
        if !class.has(traits::PROTOCOL) {
            return Ok(None);
        }
        let Some(protocol) = class.lookup(Sym::CLASS_PROTOCOL).filter(|it| !it.is_none()) else {
            return Ok(None);
        };
        let Some(method) = self.opt_getattr(&protocol, Sym::of(method))? else { return Ok(None) };
        let mut all = vec![Value::Class(class.clone())];
        all.extend(args.positional.iter().cloned());
        let args = CallArgs { positional: &all, keywords: args.keywords };
        self.call_with(&method, args).map(Some)
    }

    /// `class(*args, **keywords)`.
    pub fn instantiate(&mut self, class: &Rc<Class>, args: CallArgs<'_>) -> Res {
        if class.native.is_some() && !class.has(traits::EXCEPTION) {
            return self.call_new(class, args);
        }
        match self.class_protocol(class, "call", args)? {
            // It is to be made as objects of other classes are.
            Some(Value::NotImplemented) | None => {}
            Some(result) => return Ok(result),
        }
        let instance = self.allocate(class, args)?;
        if let Some(init) = class.lookup(Sym::INIT) {
            // An exception has its arguments already.
            if args.keywords.is_empty()
                && matches!(init, Value::Native(row) if exceptions::keeps_arguments(row))
            {
                return Ok(instance);
            }
            let bound = crate::objects::descriptor::bind(self, init, &instance, class)?;
            let result = self.call_with(&bound, args)?;
            if !result.is_none() {
                return Err(init_result(&result));
            }
        } else if !args.positional.is_empty() || !args.keywords.is_empty() {
            let row = class.native_base();
            if std::ptr::eq(row, &crate::builtins::types::OBJECT) {
                return Err(type_error(format!("{}() takes no arguments", class.name)));
            }
        }
        Ok(instance)
    }

    /// A new object of a class defined in the language, before `__init__`.
    pub(crate) fn allocate(&mut self, class: &Rc<Class>, args: CallArgs<'_>) -> Res {
        if class.has(traits::EXCEPTION) {
            let instance = exceptions::instance(class.clone(), args.positional.to_vec());
            return Ok(Value::Instance(instance));
        }
        let row = class.native_base();
        let Some(new) = &row.new else {
            if std::ptr::eq(row, &crate::builtins::types::OBJECT) {
                return Ok(Value::Instance(Rc::new(Instance::new(class.clone()))));
            }
            return Err(type_error(format!("cannot create '{}' instances", class.name)));
        };
        if let Some(make) = class.lookup(Sym::NEW) {
            let mut all = Bound::with_capacity(args.positional.len() + 1);
            all.push(Value::Class(class.clone()));
            all.extend(args.positional.iter().cloned());
            return self.call_with(&make, CallArgs { positional: &all, keywords: args.keywords });
        }
        // Containers are filled by `__init__`; the others are made from the arguments at once.
        let fills_later = row.methods.iter().copied().flatten().any(|it| it.name == "__init__");
        let none = CallArgs { positional: &[], keywords: &[] };
        let native = crate::objects::class::class_of(row);
        let base = self.call_row(new, &native, if fills_later { none } else { args })?;
        Ok(Value::Instance(Rc::new(Instance::over(class.clone(), base))))
    }

    fn call_new(&mut self, class: &Rc<Class>, args: CallArgs<'_>) -> Res {
        let mut found = Some(class);
        while let Some(it) = found {
            if let Some(new) = it.native.and_then(|row| row.new.as_ref()) {
                return self.call_row(new, class, args);
            }
            found = it.base.as_ref();
        }
        if class.native.is_some_and(|it| std::ptr::eq(it, &crate::builtins::types::OBJECT)) {
            return Ok(Value::Instance(Rc::new(Instance::new(class.clone()))));
        }
        Err(type_error(format!("cannot create '{}' instances", class.name)))
    }

    fn call_row(&mut self, new: &'static NativeFn, class: &Rc<Class>, args: CallArgs<'_>) -> Res {
        let mut all = Bound::with_capacity(args.positional.len() + 1);
        all.push(Value::Class(class.clone()));
        all.extend(args.positional.iter().cloned());
        self.call_native(new, all, args.keywords)
    }

    /// `callable(value)`.
    pub fn is_callable(&mut self, value: &Value) -> bool {
        match value {
            Value::Func(_) | Value::Native(_) | Value::Method(_) | Value::Class(_) => true,
            Value::Instance(it) => it.class.lookup(Sym::CALL).is_some(),
            _ => {
                crate::objects::function::is_plain_function(value)
                    || value.as_native().is_some_and(NativeObject::is_callable)
            }
        }
    }
}

/// `'int' object is not callable`.
pub(crate) fn not_callable(func: &Value) -> Raised {
    let hint = match func {
        Value::Module(it) => {
            namesake(it).map(|name| format!(". Did you mean '{}.{name}'?", it.name))
        }
        _ => None,
    };
    type_error(format!("'{}' object is not callable{}", type_name(func), hint.unwrap_or_default()))
}

/// What a module holds that has its own name, such as `Adam` in `torch.optim.adam`.
fn namesake(module: &Module) -> Option<Sym> {
    let own = module.name.rsplit('.').next().unwrap_or(&module.name).to_lowercase();
    let names = module.globals.entries().into_iter().map(|it| it.0);
    names.into_iter().find(|it| it.as_str().to_lowercase() == own)
}

/// `__init__() should return None, not 'int'`.
pub(crate) fn init_result(result: &Value) -> Raised {
    type_error(format!("__init__() should return None, not '{}'", type_name(result)))
}

/// The words of CPython where a method is taken from its class and called with an object of another type.
#[cold]
pub(crate) fn wrong_self(raised: Raised, row: &NativeFn, args: &[Value]) -> Raised {
    let Some(this) = args.first().filter(|_| row.params.signature.starts_with("self")) else {
        return raised;
    };
    let message = raised.message();
    let Some(wanted) = message.strip_prefix("expected ") else { return raised };
    let got = type_name(this);
    match wanted.strip_suffix(&format!(", got {got}")) {
        Some(wanted) if raised.marks().is_empty() => type_error(format!(
            "descriptor '{}' for '{wanted}' objects doesn't apply to a '{got}' object",
            row.name
        )),
        _ => raised,
    }
}
