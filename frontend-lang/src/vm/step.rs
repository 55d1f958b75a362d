//! The operations that the loop leaves to a function of their own, because they are rarer.

use std::rc::Rc;

use crate::annotation::Signature;
use crate::bytecode::{Capture, Code, Op, flags};
use crate::cx::Cx;
use crate::error::{ASSERTION_ERROR, Raised, name_error, runtime_error, type_error};
use crate::objects::class::type_name;
use crate::objects::function::{CellVar, Func};
use crate::objects::super_object::Super;
use crate::patience::{Pace, stoppable_if_long, tick};
use crate::python::proxy;
use crate::suggest::nearest;
use crate::sym::Sym;
use crate::table::{Dict, Set};
use crate::value::Value;
use crate::value::words::fresh;
use crate::vm::long::{unbound_free, unbound_local};

impl Cx {
    fn pop(&mut self) -> Value {
        self.machine.stack.pop()
    }

    fn push(&mut self, value: Value) {
        self.machine.stack.push(fresh(value));
    }

    fn below(&self, depth: u32) -> Value {
        let at = self.machine.stack.len() - 1 - depth as usize;
        self.machine.stack[at].clone()
    }

    /// Runs one operation; the result is where to go on, if it jumps.
    pub(crate) fn step(
        &mut self,
        func: &Rc<Func>,
        op: Op,
        base: usize,
    ) -> Result<Option<usize>, Raised> {
        match op {
            Op::JumpIfFalseKeep(target) | Op::JumpIfTrueKeep(target) => {
                let value = self.below(0);
                if self.is_unknown(&value) {
                    return Err(crate::region::no_connective());
                }
                let wanted = matches!(op, Op::JumpIfTrueKeep(_));
                if self.truth(&value)? == wanted {
                    return Ok(Some(target as usize));
                }
                self.pop();
            }
            Op::PopHandled => drop(self.machine.handled.pop()),
            Op::MakeFunction { child, flags } => self.make_function(func, child, flags, base),
            Op::Raise
            | Op::RaiseFrom
            | Op::RaiseAgain
            | Op::Reraise
            | Op::MatchException
            | Op::AssertFail
            | Op::AssertMessage
            | Op::AssertCompare(_)
            | Op::WithEnter(_)
            | Op::WithExit(_)
            | Op::WithExitError(_) => self.error_op(op, base)?,
            op if op.is_matching() => self.match_op(op)?,
            Op::Set(_)
            | Op::Dict(_)
            | Op::SetAdd(_)
            | Op::DictAdd(_)
            | Op::ListExtend
            | Op::SetUpdate
            | Op::ListToTuple
            | Op::DictUpdate
            | Op::DictMerge
            | Op::Unpack(_)
            | Op::UnpackStar(..) => self.container_step(op)?,
            Op::Import(_) | Op::ImportLeaf(_) | Op::ImportFrom(_) | Op::ImportStar => {
                self.import_op(&func.code, op)?
            }
            _ => self.plain_step(&func.code, func, op, base)?,
        }
        Ok(None)
    }

    fn plain_step(&mut self, code: &Code, func: &Func, op: Op, base: usize) -> Result<(), Raised> {
        match op {
            Op::Is | Op::IsNot => {
                let b = self.pop();
                let a = self.pop();
                self.push(Value::Bool(a.is(&b) == (op == Op::Is)));
            }
            Op::In | Op::NotIn => {
                let container = self.pop();
                let item = self.pop();
                let found = self.contains(&container, &item)?;
                self.push(Value::Bool(found == (op == Op::In)));
            }
            Op::Unary(op) => {
                let value = self.pop();
                let result = self.unary(op, &value)?;
                self.push(result);
            }
            Op::Iter => {
                let value = self.pop();
                let iter = self.iter(&value)?;
                self.push(iter);
            }
            Op::DelIndex => {
                let index = self.pop();
                let container = self.pop();
                self.delitem(&container, &index)?;
            }
            Op::DelAttr(name) => {
                let object = self.pop();
                self.delattr(&object, name)?;
            }
            Op::MakeCell(slot) => {
                let slot = &mut self.machine.stack[base + slot as usize];
                let value = std::mem::take(slot);
                *slot = Value::Cell(Rc::new(CellVar::new(value)));
            }
            Op::ClearLocal(slot) => {
                let old = std::mem::take(&mut self.machine.stack[base + slot as usize]);
                drop(old);
            }
            Op::DelLocal(slot) => {
                let old = std::mem::take(&mut self.machine.stack[base + slot as usize]);
                if old.is_unbound() {
                    return Err(unbound_local(code, slot));
                }
            }
            Op::DelCell(slot) => {
                if let Value::Cell(cell) = &self.machine.stack[base + slot as usize] {
                    let old = cell.take();
                    if old.is_unbound() {
                        return Err(unbound_local(code, slot));
                    }
                }
            }
            Op::DelFree(idx) => {
                let old = func.closure[idx as usize].take();
                if old.is_unbound() {
                    return Err(unbound_free(code, idx));
                }
            }
            Op::DelGlobal(slot) => {
                let mut slots = code.globals.slots.borrow_mut();
                let slot = &mut slots[slot as usize];
                let name = slot.name;
                let old = std::mem::take(&mut slot.value);
                drop(slots);
                if old.is_unbound() {
                    return Err(self.no_name(code, name));
                }
            }
            Op::ClassName(name) => {
                let found = self.namespace().and_then(|it| it.get(&name).cloned());
                let found = found.or_else(|| code.globals.get(name));
                match found.or_else(|| self.builtins.get(&name).cloned()) {
                    Some(value) => self.push(value),
                    None => return Err(self.no_name(code, name)),
                }
            }
            Op::SetClassName(name) => {
                let value = self.pop();
                if let Some(namespace) = self.namespace() {
                    let old = namespace.insert(name, value);
                    drop(old);
                }
            }
            Op::DelClassName(name) => {
                let old = self.namespace().and_then(|it| it.shift_remove(&name));
                check_bound(&old.unwrap_or_default(), name)?;
            }
            Op::CheckParams(idx, slot) => {
                let signature = code.consts[idx as usize].clone();
                if let Some(it) = signature.downcast::<Signature>() {
                    let checked = it.check_params(&self.machine.stack[base..]);
                    let sizes = checked.map_err(|it| self.at_parameter(it, code))?;
                    self.machine.stack[base + slot as usize] = sizes;
                }
            }
            Op::CheckResult(idx, slot) => {
                let signature = code.consts[idx as usize].clone();
                if let Some(it) = signature.downcast::<Signature>() {
                    it.check_result(&self.below(0), &self.machine.stack[base + slot as usize])?;
                }
            }
            Op::CheckValue(idx) => {
                let signature = code.consts[idx as usize].clone();
                if let Some(it) = signature.downcast::<Signature>() {
                    it.check_result(&self.below(0), &Value::None)?;
                }
            }
            Op::EndPart(gives) => self.end_part(code, base, gives),
            Op::Annotate(idx) => self.annotate(&code.consts[idx as usize].clone()),
            Op::Super | Op::SuperAttr(_) | Op::SuperMethod(_) => self.super_op(op)?,
            Op::Format(_) | Op::FormatSpec(_) | Op::Concat(_) => self.text_op(op)?,
            _ => return Err(runtime_error(format!("unknown operation {op:?}"))),
        }
        Ok(())
    }

    fn make_function(&mut self, maker: &Func, child: u32, bits: u16, base: usize) {
        let code = maker.code.children[child as usize].clone();
        let items = |value: Value| value.as_tuple().map(|it| it.to_vec()).unwrap_or_default();
        let keyword_defaults =
            if bits & flags::KEYWORD_DEFAULTS != 0 { items(self.pop()) } else { Vec::new() };
        let defaults = if bits & flags::DEFAULTS != 0 { items(self.pop()) } else { Vec::new() };
        let closure = code.captures.iter().map(|capture| match capture {
            Capture::Free(idx) => maker.closure[*idx as usize].clone(),
            Capture::Local(slot) => match &self.machine.stack[base + *slot as usize] {
                Value::Cell(cell) => cell.clone(),
                other => Rc::new(CellVar::new(other.clone())),
            },
        });
        let closure = closure.collect();
        let (attrs, _memory) = Default::default();
        let func = Func { code, defaults, keyword_defaults, closure, attrs, _memory };
        self.push(Value::Func(Rc::new(func)));
    }

    fn super_op(&mut self, op: Op) -> Result<(), Raised> {
        let this = self.pop();
        let Value::Class(above) = self.pop() else {
            return Err(runtime_error("super(): the class is not made yet"));
        };
        if let Op::SuperMethod(name) = op
            && let (Some(base), Value::Instance(_)) = (&above.base, &this)
            && let Some(found @ (Value::Func(_) | Value::Native(_))) = base.lookup(name)
        {
            self.push(found);
            self.push(this);
            return Ok(());
        }
        let object = Value::object(Super { above, this });
        match op {
            Op::SuperMethod(name) => {
                // `object` has an `__init__` that does nothing.
                let found = match self.opt_getattr(&object, name) {
                    Err(_) if name == Sym::INIT => {
                        Value::Native(&crate::builtins::convert::OBJECT_INIT)
                    }
                    other => other?.unwrap_or_default(),
                };
                self.push(Value::Unbound);
                self.push(found);
            }
            Op::SuperAttr(name) => {
                let found = self.getattr(&object, name)?;
                self.push(found);
            }
            _ => self.push(object),
        }
        Ok(())
    }

    fn error_op(&mut self, op: Op, base: usize) -> Result<(), Raised> {
        match op {
            Op::Raise => {
                let value = self.pop();
                Err(self.raised_from(&value)?)
            }
            Op::RaiseFrom => {
                let cause = self.pop();
                let value = self.pop();
                Err(self.raise_from(&value, &cause)?)
            }
            Op::RaiseAgain => match self.machine.handled.last().cloned() {
                Some(mut raised) => {
                    raised.set_rethrown();
                    Err(raised)
                }
                None => Err(runtime_error("No active exception to reraise")),
            },
            Op::Reraise => match self.machine.handled.pop() {
                Some(mut raised) => {
                    raised.set_rethrown();
                    Err(raised)
                }
                None => Err(runtime_error("No active exception to reraise")),
            },
            Op::MatchException => {
                let class = self.pop();
                let exception = self.below(0);
                let fits = self.exception_matches(&exception, &class)?;
                self.push(Value::Bool(fits));
                Ok(())
            }
            Op::AssertFail => Err(Raised::with_args(&ASSERTION_ERROR, Vec::new())),
            Op::AssertMessage => {
                let message = self.pop();
                Err(Raised::with_args(&ASSERTION_ERROR, vec![message]))
            }
            Op::AssertCompare(op) => {
                let b = self.pop();
                let a = self.pop();
                let message = self.comparison_message(op, &a, &b)?;
                Err(Raised::with_args(&ASSERTION_ERROR, vec![message]))
            }
            Op::WithEnter(slot) => {
                let context = self.pop();
                let entered = self.enter_context(&context)?;
                self.machine.stack[base + slot as usize] = context;
                self.push(entered);
                Ok(())
            }
            Op::WithExit(slot) => {
                let context = std::mem::take(&mut self.machine.stack[base + slot as usize]);
                self.exit_context(&context, &Value::None).map(drop)
            }
            Op::WithExitError(slot) => {
                let exception = self.pop();
                let context = std::mem::take(&mut self.machine.stack[base + slot as usize]);
                let swallowed = self.exit_context(&context, &exception)?;
                self.push(Value::Bool(swallowed));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn enter_context(&mut self, context: &Value) -> Result<Value, Raised> {
        let entered = match context.as_native() {
            Some(native) => native.enter(self, context)?,
            None => None,
        };
        if let Some(entered) = entered {
            return Ok(entered);
        }
        if !self.has_special(context, Sym::EXIT) {
            return Err(no_context(context));
        }
        match self.call_special(context, Sym::ENTER, &[])? {
            Some(entered) => Ok(entered),
            None => Err(no_context(context)),
        }
    }

    fn exit_context(&mut self, context: &Value, exception: &Value) -> Result<bool, Raised> {
        if let Some(native) = context.as_native()
            && (proxy::of(context).is_some() || !self.has_special(context, Sym::EXIT))
        {
            return native.exit(self, context, exception);
        }
        let class = match exception {
            Value::None => Value::None,
            other => Value::Class(crate::objects::class::type_of(other)),
        };
        let args = [class, exception.clone(), Value::None];
        match self.call_special(context, Sym::EXIT, &args)? {
            Some(answer) => self.truth(&answer),
            None => Ok(false),
        }
    }

    fn container_step(&mut self, op: Op) -> Result<(), Raised> {
        match op {
            Op::Set(count) => {
                let at = self.machine.stack.len() - count as usize;
                let items: Vec<Value> = self.machine.stack.drain(at..).collect();
                let set = Set::from_items(self, items, false)?;
                self.push(Value::Set(Rc::new(set)));
            }
            Op::Dict(count) => {
                let at = self.machine.stack.len() - 2 * count as usize;
                let dict = Dict::default();
                if count > 0 {
                    let mut items: Vec<Value> = self.machine.stack.drain(at..).collect();
                    for pair in items.chunks_exact_mut(2) {
                        let (key, value) =
                            (std::mem::take(&mut pair[0]), std::mem::take(&mut pair[1]));
                        dict.insert(self, key, value)?;
                    }
                }
                self.push(Value::Dict(Rc::new(dict)));
            }
            Op::SetAdd(depth) => {
                let item = self.pop();
                if let Value::Set(set) = self.below(depth) {
                    set.add(self, item)?;
                }
            }
            Op::DictAdd(depth) => {
                let value = self.pop();
                let key = self.pop();
                if let Value::Dict(dict) = self.below(depth) {
                    dict.insert(self, key, value)?;
                }
            }
            Op::ListExtend => {
                let source = self.pop();
                let items = self.collect(&source).map_err(|raised| after_star(raised, &source))?;
                self.poll()?;
                if let Value::List(list) = self.below(0) {
                    let count = items.len();
                    stoppable_if_long(self, count, || {
                        list.extend(items.into_iter().inspect(|_| tick()))
                    })??;
                }
            }
            Op::SetUpdate => {
                let source = self.pop();
                let items = self.collect(&source)?;
                if let Value::Set(set) = self.below(0) {
                    let mut pace = Pace::default();
                    for item in items {
                        pace.step(self)?;
                        set.add(self, item)?;
                    }
                }
            }
            Op::ListToTuple => {
                if let Value::List(list) = self.pop() {
                    let items = list.replace(Vec::new());
                    self.push(Value::tuple(items));
                }
            }
            Op::DictUpdate | Op::DictMerge => {
                let source = self.pop();
                let target = self.below(0);
                if let Value::Dict(dict) = &target {
                    self.merge(dict, &source, op == Op::DictMerge)?;
                }
            }
            Op::Unpack(count) => {
                let value = self.pop();
                self.unpack_here(&value, count as usize)?;
            }
            Op::UnpackStar(before, after) => {
                let value = self.pop();
                self.unpack_star(&value, before as usize, after as usize)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn unpack_star(&mut self, value: &Value, before: usize, after: usize) -> Result<(), Raised> {
        let mut items = self.collect(value).map_err(|raised| {
            if !raised.marks().is_empty() {
                return raised;
            }
            type_error(format!("cannot unpack non-iterable {} object", type_name(value)))
        })?;
        if items.len() < before + after {
            return Err(crate::error::value_error(format!(
                "not enough values to unpack (expected at least {}, got {})",
                before + after,
                items.len()
            )));
        }
        let tail = items.split_off(items.len() - after);
        let middle = items.split_off(before);
        self.machine.stack.extend(tail.into_iter().rev());
        self.push(Value::list(middle));
        self.machine.stack.extend(items.into_iter().rev());
        Ok(())
    }

    fn merge(&mut self, dict: &Dict, source: &Value, is_call: bool) -> Result<(), Raised> {
        if !is_call {
            if source.as_dict().is_none() && !self.has_special(source, Sym::new("keys")) {
                return Err(type_error(format!("'{}' object is not a mapping", type_name(source))));
            }
            return crate::builtins::convert::update_dict(self, dict, source);
        }
        let read = Rc::new(Dict::default());
        let entries = match source.as_dict() {
            Some(entries) => entries,
            None if self.has_special(source, Sym::new("keys")) => {
                crate::builtins::convert::update_dict(self, &read, source)?;
                &read
            }
            None => {
                return Err(type_error(format!(
                    "argument after ** must be a mapping, not {}",
                    type_name(source)
                )));
            }
        };
        let mut pace = Pace::default();
        for (key, value) in entries.items() {
            pace.step(self)?;
            let Some(name) = key.as_str() else {
                return Err(type_error("keywords must be strings"));
            };
            if dict.insert(self, key.clone(), value)?.is_some() {
                return Err(type_error(format!(
                    "got multiple values for keyword argument '{name}'"
                )));
            }
        }
        Ok(())
    }

    fn import_op(&mut self, code: &Code, op: Op) -> Result<(), Raised> {
        match op {
            Op::Import(idx) | Op::ImportLeaf(idx) => {
                let name = code.consts[idx as usize].as_str().unwrap_or_default();
                let name = self.full_name(name, &code.globals)?;
                let first = self.import_first(&name)?;
                let module = if matches!(op, Op::Import(_)) { first } else { self.import(&name)? };
                self.push(module);
            }
            Op::ImportFrom(name) => {
                let module = self.below(0);
                let value = self.import_name(&module, name)?;
                self.push(value);
            }
            _ => {
                let module = self.pop();
                for (name, value) in self.star_names(&module)? {
                    code.globals.set(name, value);
                }
            }
        }
        Ok(())
    }

    /// `NameError`, with the nearest name if one is near.
    pub(crate) fn no_name(&mut self, code: &Code, name: Sym) -> Raised {
        let message = format!("name '{name}' is not defined");
        if let Some(way_out) = crate::absent::name(name.as_str()) {
            let words = format!("It is not in this language: {way_out}");
            return name_error(message).with_name(name).with_words(Some(words));
        }
        if let Some(words) = self.unmade.words(name, &self.sources)
            && std::rc::Rc::ptr_eq(&code.globals, &self.globals)
        {
            return name_error(message).with_name(name).with_words(Some(words));
        }
        let globals = self.global_names(&code.globals);
        let known = globals.iter().map(|it| it.as_str());
        // Short names are near to many; those of the session alone are likely.
        let is_long = name.as_str().chars().count() > 3;
        let builtins = self.builtins.keys().filter(|_| is_long).map(|it| it.as_str());
        let known = known.chain(builtins);
        let local = code.locals.iter().map(|it| it.as_str());
        let near = nearest(name.as_str(), known.chain(local));
        name_error(message).with_name(name).with_hint(near)
    }
}

fn no_context(value: &Value) -> Raised {
    let message =
        format!("'{}' object does not support the context manager protocol", type_name(value));
    type_error(message).with_words(crate::objects::function::call_it(value))
}

fn check_bound(old: &Value, name: Sym) -> Result<(), Raised> {
    if old.is_unbound() {
        return Err(name_error(format!("name '{name}' is not defined")).with_name(name));
    }
    Ok(())
}

fn after_star(raised: Raised, source: &Value) -> Raised {
    if raised.is(&crate::error::TYPE_ERROR) && raised.marks().is_empty() {
        return type_error(format!("Value after * must be an iterable, not {}", type_name(source)));
    }
    raised
}
