//! Calls: arguments stay on the stack and become the callee's first locals.

use std::mem::{self, ManuallyDrop};
use std::rc::Rc;

use engine::Site;
use smallvec::SmallVec;

use crate::bytecode::Code;
use crate::cx::{Cx, Mode};
use crate::error::{RECURSION_ERROR, Raised, type_error};
use crate::native::{Args, CallArgs, NativeFn, Res};
use crate::objects::class::{Class, Instance, traits};
use crate::objects::function::Func;
use crate::operate::call::{init_result, wrong_self};
use crate::params::{
    Bound, missing_arguments, multiple_values, too_many_arguments, unexpected_keyword,
};
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;
use crate::value::words::{self, hold};
use crate::vm::blame;
use crate::vm::frame::{Exit, Frame, FrameKind, Machine, RECURSION_LIMIT};
use crate::vm::out;
use crate::vm::stack::Stack;

/// Most arguments that a native takes from the stack without a list of their own.
const DIRECT: usize = 4;

impl Cx {
    /// `Call` and `CallMethod`; true if a frame was pushed, else the result is on the stack.
    #[inline(never)]
    pub(crate) fn call_op(&mut self, count: usize, is_method: bool) -> Result<bool, Raised> {
        let callee_at = self.callee_place(count, is_method);
        let return_to = self.machine.stack.len() - count - 1 - is_method as usize;
        let first_arg = callee_at + 1;
        let count = self.machine.stack.len() - first_arg;
        if let Value::Native(row) = &self.machine.stack[callee_at] {
            return self.native_op(row, first_arg, return_to);
        }
        match words::take(&mut self.machine.stack[callee_at]) {
            Value::Func(func)
                if func.code.takes_plainly(count)
                    || !func.code.is_generator
                        && add_defaults(&mut self.machine.stack, &func, count) =>
            {
                self.push_plain(func, first_arg, return_to, false)?;
                Ok(true)
            }
            callee => self.call_at(callee, first_arg, return_to),
        }
    }

    /// Calls a native, the short way if it has one for these arguments; the result is on the stack.
    #[inline]
    fn native_op(
        &mut self,
        row: &'static NativeFn,
        first_arg: usize,
        return_to: usize,
    ) -> Result<bool, Raised> {
        let quick = row.quick.filter(|_| self.mode == Mode::Eager && self.profile.is_none());
        let known = quick.and_then(|it| words::fresh(it(&self.machine.stack[first_arg..])));
        let result = match known.map(hold) {
            Some(result) => result,
            None => hold(words::fresh(self.call_native_at(row, first_arg))?),
        };
        self.machine.stack.shrink(return_to);
        words::push(&mut self.machine.stack, result);
        Ok(false)
    }

    fn callee_place(&self, count: usize, is_method: bool) -> usize {
        let first = self.machine.stack.len() - count - 1 - is_method as usize;
        first + (is_method && self.machine.stack[first].is_unbound()) as usize
    }

    /// Calls with the arguments from `first_arg` to the top; the place below them is free.
    #[inline]
    fn call_at(
        &mut self,
        callee: Value,
        first_arg: usize,
        return_to: usize,
    ) -> Result<bool, Raised> {
        match callee {
            Value::Func(func) => self.push_func(func, first_arg, return_to, FrameKind::Call),
            Value::Native(row) => self.native_op(row, first_arg, return_to),
            Value::Method(it) => {
                self.machine.stack[first_arg - 1] = it.this.clone();
                self.call_at(it.func.clone(), first_arg - 1, return_to)
            }
            Value::Class(class) if class.native.is_none() => {
                self.construct(class, first_arg, return_to)
            }
            Value::Instance(ref it) => match it.class.lookup(Sym::CALL) {
                Some(Value::Func(func)) => {
                    let part = self.part_of(it);
                    self.machine.stack[first_arg - 1] = callee;
                    let pushed = self.push_func(func, first_arg - 1, return_to, FrameKind::Call);
                    self.enter_part(part, pushed)
                }
                _ => self.call_generally(&callee, first_arg, return_to, &[]),
            },
            Value::Object(ref it) => match it.stands_for(self.mode) {
                Some(func) if func.code.takes_plainly(self.machine.stack.len() - first_arg) => {
                    self.push_plain(func, first_arg, return_to, false)?;
                    Ok(true)
                }
                Some(func) => self.push_func(func, first_arg, return_to, FrameKind::Call),
                None => self.call_generally(&callee, first_arg, return_to, &[]),
            },
            _ => self.call_generally(&callee, first_arg, return_to, &[]),
        }
    }

    /// Calls a native with the arguments from `first_arg` to the top, which are taken.
    fn call_native_at(&mut self, row: &'static NativeFn, first_arg: usize) -> Res {
        if self.profile.is_some() {
            let args: Bound = self.machine.stack.drain(first_arg..).collect();
            return self.profiled_native(row, args, &[]);
        }
        let stack = &mut self.machine.stack;
        let count = stack.len() - first_arg;
        let wanted = row.params.filled(count).filter(|it| *it <= DIRECT);
        let is_plain = self.mode == Mode::Eager && self.regions.is_empty();
        let Some(wanted) = wanted.filter(|_| is_plain) else {
            let args: Bound = stack.drain(first_arg..).collect();
            return self.call_native(row, args, &[]);
        };

        let mut args = [const { Value::Unbound }; DIRECT];
        for place in args[..count].iter_mut().rev() {
            words::put(place, hold(stack.pop()));
        }
        for (at, place) in args.iter_mut().enumerate().take(wanted).skip(count) {
            words::put(place, hold(words::fresh(row.params.default_of(at))));
        }
        self.enter_native()?;
        let result = words::fresh((row.run)(self, Args::new(&args[..wanted])));
        self.leave_native();
        result.map_err(|raised| wrong_self(raised, row, &args[..wanted]))
    }

    fn call_generally(
        &mut self,
        callee: &Value,
        first_arg: usize,
        return_to: usize,
        keywords: &[(Sym, Value)],
    ) -> Result<bool, Raised> {
        let args: Bound = self.machine.stack.drain(first_arg..).collect();
        self.machine.stack.truncate(return_to);
        let result = self.call_with(callee, CallArgs { positional: &args, keywords })?;
        self.machine.stack.push(result);
        Ok(false)
    }

    /// Makes an object and runs `__init__` in a frame if it is written in the language.
    fn construct(
        &mut self,
        class: Rc<Class>,
        first_arg: usize,
        return_to: usize,
    ) -> Result<bool, Raised> {
        let init = match class.lookup(Sym::INIT) {
            Some(Value::Func(init)) if class.has(traits::PLAIN) && !init.code.is_generator => {
                let instance = Rc::new(Instance::new(class));
                self.machine.stack[first_arg - 1] = Value::Instance(instance.clone());
                self.push_func(init, first_arg - 1, return_to, FrameKind::Call)?;
                if let Some(frame) = self.machine.frames.last_mut() {
                    frame.kind = FrameKind::Init(Value::Instance(instance));
                }
                return Ok(true);
            }
            Some(Value::Func(init)) if !class.has(traits::PROTOCOL) => init,
            _ => return self.call_generally(&Value::Class(class), first_arg, return_to, &[]),
        };
        let args: Bound = if class.has(traits::EXCEPTION) || class.native_base().new.is_some() {
            self.machine.stack[first_arg..].iter().cloned().collect()
        } else {
            Bound::new()
        };
        let instance = self.allocate(&class, CallArgs { positional: &args, keywords: &[] })?;
        self.machine.stack[first_arg - 1] = instance.clone();
        if init.code.is_generator {
            return Err(type_error("__init__() should return None, not 'generator'"));
        }
        self.push_func(init, first_arg - 1, return_to, FrameKind::Init(instance))
    }

    /// Pushes the frame of a function whose arguments lie from `first_arg` to the top.
    pub(crate) fn push_func(
        &mut self,
        func: Rc<Func>,
        first_arg: usize,
        return_to: usize,
        kind: FrameKind,
    ) -> Result<bool, Raised> {
        let count = self.machine.stack.len() - first_arg;
        if !add_defaults(&mut self.machine.stack, &func, count) {
            let args: Bound = self.machine.stack.drain(first_arg..).collect();
            bind(&mut self.machine.stack, &func, args, &[])?;
        }
        self.push_bound(func, first_arg, return_to, kind)
    }

    /// Pushes the frame of a plain call, whose arguments are the parameters.
    #[inline(always)]
    fn push_plain(
        &mut self,
        mut func: Rc<Func>,
        base: usize,
        return_to: usize,
        is_entry: bool,
    ) -> Result<(), Raised> {
        if self.steps.are_sought() {
            func = self.stepped(func);
        }
        self.make_room(&func, base)?;
        let kind = if is_entry { FrameKind::Entry } else { FrameKind::Call };
        self.enter(func, base, return_to, kind);
        Ok(())
    }

    /// Makes places for the locals behind the parameters, which lie from `base` to the top. Here a call is interrupted.
    #[inline(always)]
    fn make_room(&mut self, func: &Func, base: usize) -> Result<(), Raised> {
        if self.machine.frames.len() >= RECURSION_LIMIT {
            return Err(too_deep());
        }
        self.poll()?;
        for _ in self.machine.stack.len()..base + func.code.locals.len() {
            self.machine.stack.push(Value::Unbound);
        }
        Ok(())
    }

    /// Pushes a frame for which room has been made.
    #[inline(always)]
    fn enter(&mut self, func: Rc<Func>, base: usize, return_to: usize, kind: FrameKind) {
        let machine = &mut self.machine;
        let (blocks, handled) = (machine.blocks.len(), machine.handled.len());
        let kind = words::fresh(kind);
        let frame = Frame { func, ip: 0, base, return_to, blocks, handled, kind };
        words::push(&mut machine.frames, ManuallyDrop::new(frame));
    }

    /// Pushes the frame of a function whose parameters lie from `base` to the top.
    fn push_bound(
        &mut self,
        mut func: Rc<Func>,
        base: usize,
        return_to: usize,
        kind: FrameKind,
    ) -> Result<bool, Raised> {
        if self.steps.are_sought() {
            func = self.stepped(func);
        }
        self.make_room(&func, base)?;
        if func.code.is_generator {
            let generator = self.new_generator(func, base);
            self.machine.stack.truncate(return_to);
            self.machine.stack.push(generator);
            return Ok(false);
        }
        self.enter(func, base, return_to, kind);
        Ok(true)
    }

    /// `CallKw` and `CallMethodKw`.
    pub(crate) fn call_kw_op(
        &mut self,
        code: &Code,
        count: usize,
        names: u32,
        is_method: bool,
    ) -> Result<bool, Raised> {
        let names = &code.keywords[names as usize];
        let from = self.machine.stack.len() - names.len();
        let callee_at = self.callee_place(count + names.len(), is_method);
        let return_to = from - count - 1 - is_method as usize;
        let callee = words::take(&mut self.machine.stack[callee_at]);
        if let Value::Func(func) = &callee
            && place_keywords(&mut self.machine.stack, func, callee_at + 1, names)
        {
            let func = func.clone();
            return self.push_bound(func, callee_at + 1, return_to, FrameKind::Call);
        }
        let keywords: SmallVec<[(Sym, Value); 6]> =
            names.iter().copied().zip(self.machine.stack.drain(from..)).collect();
        self.call_kw_at(callee, callee_at + 1, return_to, &keywords)
    }

    fn call_kw_at(
        &mut self,
        callee: Value,
        first_arg: usize,
        return_to: usize,
        keywords: &[(Sym, Value)],
    ) -> Result<bool, Raised> {
        match callee {
            Value::Func(func) if out::is_asked(&func, keywords) => {
                self.machine.stack.insert(first_arg, Value::Func(func));
                let answer = out::answer(self)?;
                self.push_func_kw(answer, first_arg, return_to, FrameKind::Call, keywords)
            }
            Value::Func(func) => {
                self.push_func_kw(func, first_arg, return_to, FrameKind::Call, keywords)
            }
            Value::Method(it) => {
                self.machine.stack[first_arg - 1] = it.this.clone();
                self.call_kw_at(it.func.clone(), first_arg - 1, return_to, keywords)
            }
            Value::Class(ref class)
                if class.native.is_none() && !class.has(traits::EXCEPTION | traits::PROTOCOL) =>
            {
                match class.lookup(Sym::INIT) {
                    Some(Value::Func(init)) if class.native_base().new.is_none() => {
                        let none = CallArgs { positional: &[], keywords: &[] };
                        let instance = self.allocate(class, none)?;
                        self.machine.stack[first_arg - 1] = instance.clone();
                        let kind = FrameKind::Init(instance);
                        self.push_func_kw(init, first_arg - 1, return_to, kind, keywords)
                    }
                    _ => self.call_generally(&callee, first_arg, return_to, keywords),
                }
            }
            Value::Instance(ref it) => match it.class.lookup(Sym::CALL) {
                Some(Value::Func(func)) => {
                    let part = self.part_of(it);
                    self.machine.stack[first_arg - 1] = callee;
                    let (at, kind) = (first_arg - 1, FrameKind::Call);
                    let pushed = self.push_func_kw(func, at, return_to, kind, keywords);
                    self.enter_part(part, pushed)
                }
                _ => self.call_generally(&callee, first_arg, return_to, keywords),
            },
            _ => self.call_generally(&callee, first_arg, return_to, keywords),
        }
    }

    fn push_func_kw(
        &mut self,
        func: Rc<Func>,
        first_arg: usize,
        return_to: usize,
        kind: FrameKind,
        keywords: &[(Sym, Value)],
    ) -> Result<bool, Raised> {
        let args: Bound = self.machine.stack.drain(first_arg..).collect();
        bind(&mut self.machine.stack, &func, args, keywords)?;
        self.push_bound(func, first_arg, return_to, kind)
    }

    /// `CallStar`.
    pub(crate) fn call_star_op(&mut self, has_keywords: bool) -> Result<bool, Raised> {
        let mut keywords: SmallVec<[(Sym, Value); 6]> = SmallVec::new();
        if has_keywords && let Value::Dict(dict) = self.machine.stack.pop() {
            for (key, value) in dict.items() {
                keywords.push((Sym::new(key.as_str().unwrap_or_default()), value));
            }
        }
        let list = self.machine.stack.pop();
        let callee_at = self.machine.stack.len() - 1;
        if let Value::List(items) = &list {
            self.machine.stack.extend(items.items.borrow().iter().cloned());
        }
        let callee = std::mem::take(&mut self.machine.stack[callee_at]);
        if keywords.is_empty() {
            return self.call_at(callee, callee_at + 1, callee_at);
        }
        self.call_kw_at(callee, callee_at + 1, callee_at, &keywords)
    }

    /// Calls a function from Rust.
    pub(crate) fn call_func(&mut self, func: &Rc<Func>, args: CallArgs<'_>) -> Res {
        self.enter_native()?;
        let base = self.machine.stack.len();
        let site = Site::here();
        let result = self.call_func_inner(func, args, base);
        site.enter();
        self.leave_native();
        if result.is_err() {
            self.machine.stack.truncate(base);
        }
        result
    }

    fn call_func_inner(&mut self, func: &Rc<Func>, args: CallArgs<'_>, base: usize) -> Res {
        let pushed = if args.keywords.is_empty() && func.code.takes_plainly(args.positional.len()) {
            args.positional.iter().for_each(|it| self.machine.stack.push(it.clone()));
            self.push_plain(func.clone(), base, base, true)?;
            true
        } else if args.keywords.is_empty() {
            self.machine.stack.extend(args.positional.iter().cloned());
            self.push_func(func.clone(), base, base, FrameKind::Entry)?
        } else if out::is_asked(func, args.keywords) {
            let answer = out::answer(self)?;
            let this = std::iter::once(Value::Func(func.clone()));
            let given = this.chain(args.positional.iter().cloned()).collect();
            bind(&mut self.machine.stack, &answer, given, args.keywords)?;
            self.push_bound(answer, base, base, FrameKind::Entry)?
        } else {
            bind(&mut self.machine.stack, func, args.positional.into(), args.keywords)?;
            self.push_bound(func.clone(), base, base, FrameKind::Entry)?
        };
        if !pushed {
            return Ok(self.machine.stack.pop());
        }
        let floor = self.machine.frames.len() - 1;
        match self.run(floor)? {
            Exit::Return(value) | Exit::Yield(value) => Ok(words::fresh(value)),
        }
    }

    /// `Return`: gives the value to whoever waits for it.
    pub(crate) fn return_op(&mut self, value: Value) -> Result<Option<Exit>, Raised> {
        let Machine { stack, frames, blocks, handled } = &mut self.machine;
        let Some(frame) = frames.last_mut() else { return Ok(Some(Exit::Return(value))) };
        if matches!(frame.kind, FrameKind::Class(_)) {
            return self.return_class();
        }
        let kind = mem::replace(&mut frame.kind, FrameKind::Call);
        stack.shrink(frame.return_to);
        blocks.truncate(frame.blocks);
        handled.truncate(frame.handled);
        frames.truncate(frames.len() - 1);
        match kind {
            FrameKind::Call | FrameKind::Class(_) => self.machine.stack.push(value),
            FrameKind::Part(before) => {
                before.enter();
                self.machine.stack.push(value);
            }
            FrameKind::Entry => return Ok(Some(Exit::Return(value))),
            FrameKind::Init(instance) => {
                if !value.is_none() {
                    return Err(init_result(&value));
                }
                self.machine.stack.push(instance);
            }
            FrameKind::ForLoop(generator) => {
                generator.finish();
                self.leave_for_loop();
            }
            FrameKind::Resumed(generator) => {
                generator.finish();
                return Ok(Some(Exit::Return(value)));
            }
        }
        Ok(None)
    }

    /// The end of a class body.
    fn return_class(&mut self) -> Result<Option<Exit>, Raised> {
        let Some(Frame { func, base, return_to, blocks, handled, kind, .. }) =
            self.machine.frames.pop()
        else {
            return Ok(None);
        };
        let class_cell = match func.code.class_cell {
            Some(slot) => self.machine.stack[base + slot as usize].clone(),
            None => Value::None,
        };
        self.machine.stack.shrink(return_to);
        self.machine.blocks.truncate(blocks);
        self.machine.handled.truncate(handled);
        if let FrameKind::Class(build) = kind {
            let class = self.finish_class(*build, &func.code, class_cell)?;
            self.machine.stack.push(class);
        }
        Ok(None)
    }
}

fn too_deep() -> Raised {
    Raised::new(&RECURSION_ERROR, "maximum recursion depth exceeded")
}

/// Puts defaults behind the `count` topmost arguments; false, with nothing done, if that does not make it a plain call.
fn add_defaults(stack: &mut Stack, func: &Func, count: usize) -> bool {
    let params = &func.code.params;
    if !params.is_simple() || count > params.positional {
        return false;
    }
    let Some(first) = (func.defaults.len() + count).checked_sub(params.positional) else {
        return false;
    };
    func.defaults[first..].iter().for_each(|it| stack.push(it.clone()));
    true
}

/// Brings arguments, of which the last have `names`, into the order of the parameters, with defaults for those not given.
/// False, with nothing moved, if that is not the whole matter: something is missing, twice, unknown, or goes to `**`.
fn place_keywords(stack: &mut Stack, func: &Func, first_arg: usize, names: &[Sym]) -> bool {
    let params = &func.code.params;
    let given = stack.len() - first_arg - names.len();
    if given > params.positional || params.has_rest || params.has_keywords {
        return false;
    }
    let open = &params.names[given..];
    if names != open || given < params.positional_only {
        let source = |name: &Sym| names.iter().position(|it| it == name);
        let known = |(at, name): (usize, &Sym)| match source(name) {
            Some(_) => given + at >= params.positional_only,
            None => func.default_of(given + at).is_some(),
        };
        let asked = open.iter().filter(|it| source(it).is_some()).count();
        if asked != names.len() || !open.iter().enumerate().all(known) {
            return false;
        }
        let mut values: Bound = stack.drain(first_arg + given..).collect();
        for (at, name) in open.iter().enumerate() {
            stack.push(match source(name) {
                Some(idx) => std::mem::take(&mut values[idx]),
                None => func.default_of(given + at).unwrap_or_default(),
            });
        }
    }
    true
}

/// Puts arguments in parameter order onto the stack, or raises CPython's `TypeError`.
fn bind(
    stack: &mut Vec<Value>,
    func: &Func,
    mut args: Bound,
    keywords: &[(Sym, Value)],
) -> Result<(), Raised> {
    let params = &func.code.params;
    let name = &func.code.qualname;
    if args.len() > params.positional && !params.has_rest {
        let required = params.positional - func.defaults.len();
        let raised = too_many_arguments(name, required, params.positional, args.len());
        return Err(blame::without_self(raised, &func.code, &args));
    }
    let rest: Vec<Value> = args.drain(params.positional.min(args.len())..).collect();
    let count = args.len();
    let base = stack.len();
    stack.extend(args);
    stack.resize(base + params.names.len(), Value::Unbound);
    let extra = params.has_keywords.then(Dict::default);
    for (key, value) in keywords {
        let found = params.names.iter().position(|it| it == key);
        match found.filter(|at| *at >= params.positional_only) {
            Some(at) if at < count || !stack[base + at].is_unbound() => {
                return Err(multiple_values(name, key.as_str()));
            }
            Some(at) => stack[base + at] = value.clone(),
            None if found.is_some() && !params.has_keywords => {
                return Err(type_error(format!(
                    "{name}() got some positional-only arguments passed as keyword arguments: '{key}'"
                )));
            }
            None => {
                if let Some(extra) = &extra {
                    extra.insert_name(*key, value.clone());
                    continue;
                }
                let names: Vec<&str> = params.names.iter().map(|it| it.as_str()).collect();
                return Err(unexpected_keyword(name, key.as_str(), &names));
            }
        }
    }
    for at in count..params.names.len() {
        if stack[base + at].is_unbound()
            && let Some(default) = func.default_of(at)
        {
            stack[base + at] = default;
        }
    }
    check_missing(&stack[base..], func)?;
    if params.has_rest {
        stack.push(Value::tuple(rest));
    }
    if let Some(extra) = extra {
        stack.push(Value::Dict(Rc::new(extra)));
    }
    Ok(())
}

fn check_missing(slots: &[Value], func: &Func) -> Result<(), Raised> {
    let params = &func.code.params;
    let open = |from: usize, to: usize| -> Vec<&str> {
        let names = params.names[from..to].iter().zip(&slots[from..to]);
        names.filter(|(_, value)| value.is_unbound()).map(|(name, _)| name.as_str()).collect()
    };
    let positional = open(0, params.positional);
    if !positional.is_empty() {
        return Err(missing_arguments(&func.code.qualname, "positional", &positional));
    }
    let keyword_only = open(params.positional, params.names.len());
    if !keyword_only.is_empty() {
        return Err(missing_arguments(&func.code.qualname, "keyword-only", &keyword_only));
    }
    Ok(())
}
