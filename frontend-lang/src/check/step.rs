//! What the machine does differently in shadow: global names, attributes of modules, the end of loops, texts, imports.

use std::rc::Rc;

use crate::bytecode::{Code, Op};
use crate::check::STEPS_AFTER;
use crate::check::unknown::{self, Kind, foreign, kind_of, unknown};
use crate::cx::{Cx, Mode};
use crate::error::Raised;
use crate::native::Res;
use crate::objects::function::Func;
use crate::objects::module::{GlobalSlot, Globals, Module};
use crate::operate::compare::simple_compare;
use crate::operate::{BinaryOp, CompareOp};
use crate::source::Source;
use crate::sym::Sym;
use crate::value::Value;
use crate::vm::long::ForStep;
use crate::vm::no_module;

/// Rows of a tensor that a loop goes through.
const MOST_ROWS: usize = 64;

/// Longest text or list that `*` may make.
const LONG: i64 = 20_000;

impl Cx {
    /// Operation `at` is about to run, in a check or in a profile. `Some` where it need not, nor those up to that one.
    #[inline]
    pub(crate) fn watch_op(&mut self, code: &Code, at: usize) -> Result<Option<usize>, Raised> {
        match self.mode {
            Mode::Shadow => self.spend(code, at)?,
            Mode::Follow if self.regions.is_empty() => return self.follow_op(code, at),
            _ => {
                self.note_line(code, at);
                if !self.regions.is_empty() {
                    self.judge_effect(code, at)?;
                }
            }
        }
        Ok(None)
    }

    /// Counts operation `at`, which is about to run; an error when the check has taken enough, or cannot be sure of the way.
    #[inline]
    fn spend(&mut self, code: &Code, at: usize) -> Result<(), Raised> {
        let shadow = self.shadow();
        shadow.steps -= 1;
        if shadow.steps < -STEPS_AFTER || shadow.stopped {
            return Err(self.uncertain());
        }
        self.note_run()?;
        self.judge_branch(code, at)
    }

    /// The value of a global name: as the cell has set it, or a copy of the live one.
    pub(crate) fn shadow_global(&mut self, code: &Code, slot: u32) -> Res {
        let globals = &code.globals;
        let key = (Rc::as_ptr(globals).addr(), slot);
        let known = self.shadow().overlay.get(&key).cloned();
        let (name, value, builtin) = {
            let slots = globals.slots.borrow();
            let slot = &slots[slot as usize];
            (slot.name, slot.value.clone(), slot.builtin.clone())
        };
        let live = known.is_none();
        let value = known.unwrap_or(value);
        let value = if value.is_unbound() { builtin } else { value };
        if value.is_unbound() {
            return Err(self.no_name(code, name));
        }
        if !live {
            return Ok(value);
        }
        let copy = self.adopt(&value)?;
        self.shadow().overlay.insert(key, copy.clone());
        Ok(copy)
    }

    /// Whether a variable of a module has a value, as the cell sees it.
    pub(crate) fn has_global(&mut self, globals: &Rc<Globals>, name: Sym) -> bool {
        if self.mode != Mode::Shadow {
            return globals.get(name).is_some();
        }
        let slot = globals.slots.borrow().iter().position(|it| it.name == name);
        slot.is_some_and(|slot| {
            let key = (Rc::as_ptr(globals).addr(), slot as u32);
            let known = self.shadow().overlay.get(&key).map(|it| !it.is_unbound());
            known.unwrap_or_else(|| globals.get(name).is_some())
        })
    }

    /// Sets a global name for the rest of the check.
    pub(crate) fn shadow_set_global(&mut self, globals: &Rc<Globals>, slot: u32, value: Value) {
        let key = (Rc::as_ptr(globals).addr(), slot);
        let live = globals.slots.borrow()[slot as usize].value.clone();
        let _freed = self.freed(live, key);
        let shadow = self.shadow();
        if !shadow.watches.is_empty() {
            shadow.set_within.insert(key, shadow.watches.len());
        }
        shadow.overlay.insert(key, value);
    }

    /// An attribute of a module as the cell sees it.
    pub(crate) fn shadow_module_attr(
        &mut self,
        module: &Rc<Module>,
        name: Sym,
        live: &Value,
    ) -> Res {
        let slot = module.globals.slot(name, || Value::Unbound);
        let key = (Rc::as_ptr(&module.globals).addr(), slot);
        if let Some(known) = self.shadow().overlay.get(&key)
            && !known.is_unbound()
        {
            return Ok(known.clone());
        }
        self.adopt(live)
    }

    /// A global name that the cell has set or looked at.
    pub(crate) fn shadow_known(&mut self, globals: &Rc<Globals>, name: Sym) -> Option<Value> {
        let key = (Rc::as_ptr(globals).addr(), globals.find(name)?);
        self.shadow().overlay.get(&key).filter(|it| !it.is_unbound()).cloned()
    }

    /// `Attr` in shadow.
    pub(crate) fn shadow_attr(&mut self, code: &Code, name: Sym, cache: u16) -> Res {
        let object = self.machine.stack.last().cloned().unwrap_or_default();
        let found = self.load_attr(code, name, cache)?;
        match &object {
            Value::Module(module) => self.shadow_module_attr(module, name, &found),
            _ => Ok(found),
        }
    }

    /// Whether an attribute may be set in shadow. A tensor that is given something unknown computes in unknown ways.
    pub(crate) fn shadow_set_attr(&mut self, object: &Value, value: &Value) -> Result<(), Raised> {
        if !self.may_change(object) {
            return Err(self.uncertain());
        }
        if matches!(object, Value::Tensor(_)) && kind_of(value).is_some() {
            self.trust_no_values();
        }
        Ok(())
    }

    /// `Method` in shadow.
    fn shadow_method(&mut self, code: &Code, name: Sym, cache: u16) -> Result<(), Raised> {
        if !matches!(self.machine.stack.last(), Some(Value::Module(_))) {
            return self.load_method(code, name, cache);
        }
        let found = self.shadow_attr(code, name, cache)?;
        self.machine.stack.push(Value::Unbound);
        self.machine.stack.push(found);
        Ok(())
    }

    /// The next round of a `for`: none when the steps are used up.
    pub(crate) fn shadow_for(
        &mut self,
        func: &Func,
        ip: usize,
        target: usize,
    ) -> Result<ForStep, Raised> {
        self.lint_next();
        if self.machine.frames.len() == 1
            && let Some(step) = self.watched_round(func, ip, target)?
        {
            return Ok(step);
        }
        // Loops of the cell itself are cut first, so that what they call comes to its end.
        let least = if self.machine.frames.len() == 1 { 0 } else { -STEPS_AFTER / 2 };
        if self.shadow().steps <= least && self.may_cut(func, ip, target) {
            let iterator = self.machine.stack.last().cloned().unwrap_or_default();
            let shadow = self.shadow();
            shadow.leave_rest(&iterator, &func.code.ops[ip..target], ip);
            shadow.cut_at = Some(ip - 1);
            self.trust_no_values();
            return Ok(ForStep::End);
        }
        self.for_iter(ip)
    }

    /// Whether a loop may be left before its end: what follows it is sure to be reached.
    fn may_cut(&self, func: &Func, ip: usize, target: usize) -> bool {
        let body = func.code.ops.get(ip..target).unwrap_or(&[]);
        let leaves = body.iter().any(|it| matches!(it, Op::Return | Op::Yield | Op::YieldFrom));
        !leaves && self.machine.blocks.is_empty()
    }

    /// How many rows of a tensor a loop goes through: in a check not all of many.
    pub(crate) fn rows_to_look_at(&mut self, size: usize) -> usize {
        if self.mode != Mode::Shadow || size <= MOST_ROWS {
            return size;
        }
        self.trust_no_values();
        MOST_ROWS
    }

    /// A jump back to the head of a loop that is no `for`.
    pub(crate) fn shadow_loop(&mut self, func: &Func, target: u32) -> Result<(), Raised> {
        let is_for = matches!(func.code.ops.get(target as usize), Some(Op::ForIter(_)));
        if self.shadow().steps <= 0 && !is_for {
            return Err(self.uncertain());
        }
        Ok(())
    }

    /// An operator in shadow; products that would fill the memory are not known.
    pub(crate) fn shadow_binary(
        &mut self,
        op: BinaryOp,
        a: &Value,
        b: &Value,
        inplace: bool,
    ) -> Res {
        let is_sequence =
            |it: &Value| matches!(it, Value::Str(_) | Value::List(_) | Value::Tuple(_));
        let count = match (op, a, b) {
            (BinaryOp::Mul, Value::Int(count), it) | (BinaryOp::Mul, it, Value::Int(count))
                if is_sequence(it) =>
            {
                *count
            }
            _ => 0,
        };
        if count > LONG {
            return Ok(unknown(Kind::Any));
        }
        if inplace {
            self.lint_sum(op, b);
        }
        let before = unknown::touched(false);
        let result = if inplace { self.inplace(op, a, b) } else { self.binary(op, a, b) };
        let result = self.or_unknown(result);
        if inplace && is_changeable(a) && result.as_ref().is_ok_and(|it| kind_of(it).is_some()) {
            self.trust_no_values();
        }
        unknown::touched(before);
        if let Ok(value) = &result
            && !inplace
        {
            self.lint_binary(op, a, b, value);
            self.lint_result(value, true);
        }
        result
    }

    /// A comparison in shadow.
    pub(crate) fn shadow_compare(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        self.lint_compare(op, a, b);
        if let Some(known) = simple_compare(op, a, b) {
            return Ok(Value::Bool(known));
        }
        let res = self.compare(op, a, b);
        let res = self.or_unknown(res);
        if let Ok(value) = &res {
            self.lint_compared(op, a, b, value);
        }
        res
    }

    /// The operations that `step` knows, where they differ in shadow.
    pub(crate) fn shadow_step(
        &mut self,
        func: &Rc<Func>,
        op: Op,
        base: usize,
    ) -> Result<Option<usize>, Raised> {
        let height = self.machine.stack.len();
        match op {
            Op::Global(slot) => {
                let value = self.shadow_global(&func.code, slot)?;
                self.machine.stack.push(value);
                Ok(None)
            }
            Op::SetGlobal(slot) => {
                let value = self.machine.stack.pop();
                self.shadow_set_global(&func.code.globals, slot, value);
                Ok(None)
            }
            Op::Method { name, cache } => {
                self.shadow_method(&func.code, name, cache)?;
                Ok(None)
            }
            Op::Pop => {
                let value = self.machine.stack.pop();
                self.lint_drop(&value);
                Ok(None)
            }
            Op::Format(_) => self.text_step(func, op, base, height - 1),
            Op::FormatSpec(_) => self.text_step(func, op, base, height - 2),
            Op::Concat(count) => {
                let at = height - count as usize;
                let known = |it: &Value| matches!(it, Value::Str(_) | Value::Int(_));
                if self.machine.stack[at..].iter().all(known) {
                    return self.step(func, op, base);
                }
                self.machine.stack.truncate(at);
                self.machine.stack.push(unknown(Kind::Any));
                Ok(None)
            }
            Op::Is | Op::IsNot => {
                let pair = &self.machine.stack[height - 2..];
                if pair.iter().any(|it| kind_of(it) == Some(Kind::Any)) {
                    self.machine.stack.truncate(height - 2);
                    self.machine.stack.push(unknown(Kind::Any));
                    return Ok(None);
                }
                self.step(func, op, base)
            }
            Op::Raise
            | Op::RaiseFrom
            | Op::AssertFail
            | Op::AssertMessage
            | Op::AssertCompare(_) => self.raise_step(func, op, base),
            Op::DelGlobal(slot) => {
                self.shadow_global(&func.code, slot)?;
                self.shadow_set_global(&func.code.globals, slot, Value::Unbound);
                Ok(None)
            }
            Op::ClassName(name) => {
                if self.namespace().is_some_and(|it| it.contains_key(&name)) {
                    return self.step(func, op, base);
                }
                let builtin = self.builtins.get(&name).cloned().unwrap_or_default();
                let slot = func.code.globals.slot(name, || builtin);
                let value = self.shadow_global(&func.code, slot)?;
                self.machine.stack.push(value);
                Ok(None)
            }
            Op::DelAttr(_) => {
                let object = self.machine.stack[height - 1].clone();
                if !self.may_change(&object) {
                    return Err(self.uncertain());
                }
                self.step(func, op, base)
            }
            Op::MakeFunction { .. } => {
                let res = self.step(func, op, base);
                if let Some(at) = self.machine.stack.last().and_then(Value::address) {
                    self.shadow().own.insert(at);
                }
                res
            }
            Op::Import(_) | Op::ImportLeaf(_) | Op::ImportFrom(_) | Op::ImportStar => {
                self.import_step(func, op, base)
            }
            op if op.is_matching() => {
                let from = height.saturating_sub(3);
                if self.machine.stack[from..].iter().any(|it| kind_of(it).is_some()) {
                    return Err(self.uncertain());
                }
                self.step(func, op, base)
            }
            _ => self.step(func, op, base),
        }
    }

    /// A text made of a value: unknown if the value is.
    fn text_step(
        &mut self,
        func: &Rc<Func>,
        op: Op,
        base: usize,
        height: usize,
    ) -> Result<Option<usize>, Raised> {
        let before = unknown::touched(false);
        let res = self.step(func, op, base);
        let touched = unknown::touched(before);
        if !touched || self.shadow().stopped {
            return res;
        }
        self.machine.stack.truncate(height);
        self.machine.stack.push(unknown(Kind::Any));
        Ok(None)
    }

    /// Notes an exception that a cell raises on purpose; those of the library count as mistakes.
    fn raise_step(
        &mut self,
        func: &Rc<Func>,
        op: Op,
        base: usize,
    ) -> Result<Option<usize>, Raised> {
        let res = self.step(func, op, base);
        let of_cell = self.sources.get(func.code.source).is_some_and(Source::is_cell);
        if let (Err(raised), true) = (&res, of_cell) {
            self.shadow().written = Some(raised.value().clone());
        }
        res
    }

    /// Imports happen once and for all, so modules that come with the language are loaded in earnest.
    pub(crate) fn import_in_earnest(&mut self, name: &str) -> Res {
        if !crate::vm::import::is_built_in(name) {
            // A cell may make the module that it imports.
            let shadow = self.shadow();
            if let Some(words) = shadow.absent.get(name)
                && !shadow.had_effect
            {
                return Err(no_module::error(name, words));
            }
            let package = name.split('.').next().unwrap_or(name);
            return if self.python.has(package) { Ok(foreign()) } else { Err(self.uncertain()) };
        }
        let before = engine::apply::set_shapes_only(false);
        self.mode = Mode::Eager;
        let module = self.import(name);
        self.mode = Mode::Shadow;
        engine::apply::set_shapes_only(before);
        module
    }

    /// The names that code sees as global, builtins aside.
    pub(crate) fn global_names(&mut self, globals: &Rc<Globals>) -> Vec<Sym> {
        let slots = globals.slots.borrow();
        let check = self.check.as_deref();
        let here = Rc::as_ptr(globals).addr();
        let is_bound = |(at, live): (usize, &GlobalSlot)| {
            let value = check.and_then(|it| it.overlay.get(&(here, at as u32)));
            (!value.unwrap_or(&live.value).is_unbound()).then_some(live.name)
        };
        slots.iter().enumerate().filter_map(is_bound).collect()
    }

    /// What an import gives is copied like globals.
    fn import_step(
        &mut self,
        func: &Rc<Func>,
        op: Op,
        base: usize,
    ) -> Result<Option<usize>, Raised> {
        if op == Op::ImportStar {
            return Err(self.uncertain());
        }
        self.step(func, op, base)?;
        if let Some(top) = self.machine.stack.last().cloned() {
            let copy = self.adopt(&top)?;
            if let Some(place) = self.machine.stack.last_mut() {
                *place = copy;
            }
        }
        Ok(None)
    }
}

/// Whether an operator in place changes the object itself.
fn is_changeable(value: &Value) -> bool {
    !matches!(
        value,
        Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Str(_) | Value::Tuple(_)
    ) && kind_of(value).is_none()
}
