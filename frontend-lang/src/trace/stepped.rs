//! Steps of a session, and functions whose loops are steps while a traced cell calls them.
//!
//! A cell often trains in a function: `for epoch in range(5): train(epoch)`. While it is looked for where the steps of training are, a
//! function of the program runs in a second version of its code, in which the body of each loop is a step. It is compiled from the same text
//! when it is called so for the first time, and is gone when the next traced cell begins; the steps stay.

use std::rc::Rc;

use engine::trace::Options;
use rustc_hash::FxHashMap;

use super::step::{CellStep, Step};
use crate::bytecode::{Code, CodeKind};
use crate::cx::Mode;
use crate::native::*;
use crate::objects::function::Func;
use crate::site::cell_of;
use crate::source::{SourceId, Span};
use crate::trace_cell::{self, StepOf};

/// The steps of a session.
#[derive(Default)]
pub(crate) struct Steps {
    /// By the text that has them and their number in it, so that what runs again replays.
    known: FxHashMap<(String, usize), Value>,
    /// Those that run, the innermost last.
    pub(super) running: Vec<Value>,
    /// Whether functions that are called now have steps.
    pub(crate) are_sought: bool,
    /// What the running cell is traced with.
    options: Options,
    functions: Functions,
}

/// The second versions of functions.
#[derive(Default)]
struct Functions {
    /// Of those that were called, by where the code without steps lies, which is kept; `None` where there is no loop.
    called: FxHashMap<*const Code, (Rc<Code>, Option<Rc<Code>>)>,
    /// Of sources that were compiled with steps.
    of_sources: FxHashMap<SourceId, FxHashMap<Span, Code>>,
}

impl Steps {
    /// A cell begins to run.
    pub(crate) fn begin_cell(&mut self, options: Option<&Options>) {
        self.running.clear();
        self.are_sought = false;
        self.functions = Functions::default();
        self.options = options.cloned().unwrap_or_default();
    }

    /// The innermost of those that run has ended; functions had steps before it, or not.
    pub(super) fn leave(&mut self, were_sought: bool) {
        self.running.pop();
        self.are_sought = were_sought;
    }

    /// The steps that have run, by cell and line.
    pub(crate) fn seen(&self) -> Vec<CellStep> {
        let steps = self.known.values().filter_map(|it| it.downcast::<Step>()?.seen());
        let mut steps: Vec<CellStep> = steps.collect();
        let number = |it: &CellStep| cell_of(&it.source).and_then(|it| it.parse::<usize>().ok());
        steps.sort_by_cached_key(|it| {
            (number(it).is_none(), number(it), it.source.clone(), it.line)
        });
        steps
    }
}

impl Cx {
    /// The steps of a source whose text that is: one of a cell has the cell's number, others their lines and the name of their file.
    pub(crate) fn provide_steps(&mut self, source: SourceId, steps: &[StepOf]) -> Vec<Value> {
        let options = self.steps.options.clone();
        let Some(held) = self.sources.get(source) else { return Vec::new() };
        let text = format!("{options:?} {}", held.text);
        let mut made: Vec<Value> = Vec::with_capacity(steps.len());
        for (at, StepOf { of_loop, outer, of_function }) in steps.iter().enumerate() {
            let outer = outer.and_then(|it| made.get(it).cloned());
            let make = || Value::object(Step::new(options.clone(), outer));
            let at = at << 1 | usize::from(*of_function);
            let step = self.steps.known.entry((text.clone(), at)).or_insert_with(make).clone();
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
        if self.mode != Mode::Eager || !is_program || func.code.is_generator {
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
        let mut steps = Vec::new();
        let mut rewrite = |module: &mut _| steps = trace_cell::add_to_functions(module, source);
        let compiled = self.compile_rewritten(source, &globals, false, &mut rewrite).ok()?;
        for (at, step) in self.provide_steps(source, &steps).into_iter().enumerate() {
            globals.set(Sym::new(&trace_cell::function_step_name(source, at)), step);
        }
        let mut functions = FxHashMap::default();
        take_functions(compiled, &mut functions);
        Some(functions)
    }
}

/// Takes code apart that nobody else has.
fn take_functions(code: Rc<Code>, functions: &mut FxHashMap<Span, Code>) {
    let Ok(mut code) = Rc::try_unwrap(code) else { return };
    for child in std::mem::take(&mut code.children) {
        take_functions(child, functions);
    }
    if code.kind == CodeKind::Function && code.has_steps() {
        functions.insert(code.span, code);
    }
}
