//! Steps of a session, and functions whose loops are steps while a traced cell calls them.
//!
//! A cell often trains in a function: `for epoch in range(5): train(epoch)`. While it is looked for where the steps of training are, a
//! function of the program runs in a second version of its code, in which the body of each loop is a step. It is compiled from the same text
//! when it is called so for the first time, and is gone when the next traced cell begins; the steps stay.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use engine::trace::Options;
use rustc_hash::FxHashMap;

use super::step::{CellStep, Step};
use super::training::{self, Training};
use crate::ast::Module;
use crate::bytecode::{Code, CodeKind, Op};
use crate::cx::Mode;
use crate::native::*;
use crate::objects::function::Func;
use crate::objects::module::Globals;
use crate::site::cell_of;
use crate::source::{SourceId, Span};
use crate::trace_cell::{self, StepOf};

/// Sources whose functions are kept; of more, all are forgotten.
const MOST_SOURCES: usize = 64;

/// The steps of a session.
#[derive(Default)]
pub(crate) struct Steps {
    /// So that what runs again replays.
    known: FxHashMap<Key, (Value, Rc<Globals>)>,
    running: Running,
    functions: Functions,
}

/// Which step: the globals that its code has, which are kept, its text and what it is traced with, its number in the text, and whether it is one
/// of a function.
type Key = (usize, u64, usize, bool);

/// The steps of the cell that runs.
#[derive(Default)]
pub(crate) struct Running {
    /// The steps that run, the innermost last.
    steps: Vec<Value>,
    /// Whether functions that are called now have steps.
    are_sought: bool,
    options: Options,
    /// What the names of its steps were bound to before.
    before: Vec<(Sym, Value)>,
}

/// The second versions of functions.
#[derive(Default)]
struct Functions {
    /// What steps of them are traced with.
    options: Options,
    /// Of those that were called, by where the code without steps lies, which is kept; `None` where none of its loops trains.
    called: FxHashMap<*const Code, (Rc<Code>, Option<Rc<Code>>)>,
    /// Of sources that were compiled with steps.
    of_sources: FxHashMap<SourceId, FxHashMap<Span, Code>>,
}

impl Steps {
    /// A cell begins to run, perhaps inside of another one; gives what [`Steps::end_cell`] takes.
    pub(crate) fn begin_cell(&mut self, options: Option<&Options>) -> Running {
        let options = options.cloned().unwrap_or_default();
        if self.functions.options != options || self.functions.of_sources.len() > MOST_SOURCES {
            self.functions = Functions { options: options.clone(), ..Functions::default() };
        }
        std::mem::replace(&mut self.running, Running { options, ..Running::default() })
    }

    /// Binds the names that a cell has for its steps.
    pub(crate) fn bind(&mut self, globals: &Globals, steps: Vec<Value>) {
        for (at, step) in steps.into_iter().enumerate() {
            let name = Sym::new(&trace_cell::step_name(at));
            let before = globals.get(name).unwrap_or(Value::Unbound);
            globals.set(name, step);
            self.running.before.push((name, before));
        }
    }

    /// It has ended; what the names of its steps are to be bound to again.
    pub(crate) fn end_cell(&mut self, outer: Running) -> Vec<(Sym, Value)> {
        std::mem::replace(&mut self.running, outer).before
    }

    /// Whether functions that are called now have steps.
    #[inline(always)]
    pub(crate) fn are_sought(&self) -> bool {
        self.running.are_sought
    }

    /// The innermost step that runs.
    pub(super) fn innermost(&self) -> Option<&Value> {
        self.running.steps.last()
    }

    /// A step begins to run its body.
    pub(super) fn enter(&mut self, step: Value) {
        self.running.steps.push(step);
    }

    /// From here on functions have steps, or not; whether they had.
    pub(super) fn seek(&mut self, are_sought: bool) -> bool {
        std::mem::replace(&mut self.running.are_sought, are_sought)
    }

    /// The innermost of those that run has ended; functions had steps before it, or not.
    pub(super) fn leave(&mut self, were_sought: bool) {
        self.running.steps.pop();
        self.running.are_sought = were_sought;
    }

    /// The steps that have run, by cell and line.
    pub(crate) fn seen(&self) -> Vec<CellStep> {
        let steps = self.known.values().filter_map(|it| it.0.downcast::<Step>()?.seen());
        let mut steps: Vec<CellStep> = steps.collect();
        let number = |it: &CellStep| cell_of(&it.source).and_then(|it| it.parse::<usize>().ok());
        steps.sort_by_cached_key(|it| {
            (number(it).is_none(), number(it), it.source.clone(), it.line)
        });
        steps
    }
}

impl Cx {
    /// The steps of a source in which names are these.
    pub(crate) fn provide_steps(
        &mut self,
        source: SourceId,
        globals: &Rc<Globals>,
        steps: &[StepOf],
    ) -> Vec<Value> {
        let options = self.steps.running.options.clone();
        let Some(held) = self.sources.get(source) else { return Vec::new() };
        let mut text = DefaultHasher::new();
        (format!("{options:?}"), &held.text).hash(&mut text);
        let text = text.finish();
        let mut made: Vec<Value> = Vec::with_capacity(steps.len());
        for (at, StepOf { of_loop, outer, of_function }) in steps.iter().enumerate() {
            let outer = outer.and_then(|it| made.get(it).cloned());
            let make = || (Value::object(Step::new(options.clone(), outer)), globals.clone());
            let key = (Rc::as_ptr(globals).addr(), text, at, *of_function);
            let step = self.steps.known.entry(key).or_insert_with(make).0.clone();
            if let Some(step) = step.downcast::<Step>() {
                let line = of_loop.as_ref().map(|it| held.line_column(it.start).0);
                step.stands_at(&held.name, line);
            }
            made.push(step);
        }
        made
    }

    /// What runs in place of a function that is called where steps are sought.
    #[cold]
    #[inline(never)]
    pub(crate) fn stepped(&mut self, func: Rc<Func>) -> Rc<Func> {
        // The library's own functions have no sites.
        let is_program = func.code.kind == CodeKind::Function && func.code.sites != 0;
        if self.mode != Mode::Eager
            || !is_program
            || func.code.is_generator
            || !func.code.has_loop()
        {
            return func;
        }
        match self.stepped_code(&func.code) {
            Some(code) => Rc::new(func.with_code(code)),
            None => func,
        }
    }

    fn stepped_code(&mut self, code: &Rc<Code>) -> Option<Rc<Code>> {
        let key = Rc::as_ptr(code);
        if let Some((_, known)) = self.steps.functions.called.get(&key) {
            return known.clone();
        }
        if !self.steps.functions.of_sources.contains_key(&code.source) {
            let compiled = self.compile_stepped(code).unwrap_or_default();
            self.steps.functions.of_sources.insert(code.source, compiled);
        }
        let functions = &mut self.steps.functions;
        let found = functions.of_sources.get_mut(&code.source)?.remove(&code.span);
        let found = found.map(|it| Rc::new(Code { children: code.children.clone(), ..it }));
        functions.called.insert(key, (code.clone(), found.clone()));
        found
    }

    /// The functions of a source that have steps, without those that they make.
    fn compile_stepped(&mut self, code: &Code) -> Option<FxHashMap<Span, Code>> {
        let (source, globals) = (code.source, code.globals.clone());
        let plain = self.compile_source(source, &globals, false).ok()?;
        let mut steps = Vec::new();
        let mut rewrite = |module: &mut Module| {
            let training = Training::of(&plain, &training::functions_of(module));
            let trains = |range| training.is_in(range);
            steps = trace_cell::add_to_functions(module, source, &trains);
        };
        let compiled = self.compile_rewritten(source, &globals, false, &mut rewrite).ok()?;
        let made = self.provide_steps(source, &globals, &steps).into_iter().enumerate();
        let slot = |at| {
            let name = Sym::new(&trace_cell::function_step_name(source, at));
            globals.slot(name, Value::default)
        };
        let by_slot = made.map(|(at, step)| (slot(at), step)).collect();
        let mut functions = FxHashMap::default();
        take_functions(compiled, &by_slot, &mut functions);
        Some(functions)
    }
}

/// Takes code apart that nobody else has; the names of steps, by their slots, become the steps themselves.
fn take_functions(
    code: Rc<Code>,
    steps: &FxHashMap<u32, Value>,
    functions: &mut FxHashMap<Span, Code>,
) {
    let Ok(mut code) = Rc::try_unwrap(code) else { return };
    for child in std::mem::take(&mut code.children) {
        take_functions(child, steps, functions);
    }
    if code.kind != CodeKind::Function || !code.has_steps() {
        return;
    }
    for at in 1..code.ops.len() {
        if let (Op::Global(slot), Op::EnterStep(..)) = (code.ops[at - 1], code.ops[at])
            && let Some(step) = steps.get(&slot)
        {
            code.ops[at - 1] = Op::Const(code.consts.len() as u32);
            code.consts.push(step.clone());
        }
    }
    functions.insert(code.span, code);
}
