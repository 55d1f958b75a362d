//! The check before running: the cell runs once in shadow, against the live session, and nothing happens.
//!
//! In shadow the same machine runs the same code, with these differences.
//!
//! - **Tensors have shapes and dtypes, no elements.** The engine infers and computes nothing (`set_shapes_only`).
//! - **Nothing live changes.** What the cell reaches of the session is copied on first touch ([`adopt`]); global names are written to
//!   an overlay; classes and modules, which are shared, may not be written. Random numbers are not drawn, the host is nobody (`host.rs`).
//! - **What depends on elements, clocks, files or chance is [`unknown`].** Whatever looks closely at an unknown gives an unknown; a
//!   branch on one ends the check, silently.
//! - **What an unknown does is not known**: after a call of one, other than of a method that changes nothing, values are not trusted.
//! - **Long loops are cut** (`cut.rs`) when the steps allowed are used up: after their first rounds comes the last. What
//!   rounds change is unknown then, and no value is trusted any more (`Trust`): shapes that do not fit are still an error, and what
//!   does not depend on values, a name that nothing defines or an attribute that a module does not have. A branch that may go another
//!   way ends the check (`branch.rs`).
//!
//! A cell that is certain to fail runs up to its error, as in Python, if that is quick (`time.rs`); else it does not run.
//!
//! **Invariant:** an error is reported only if every step before it was certain, so the real run would end with it too.
//! **Invariant:** a cell that the check says nothing about runs as if there were no check.
//!
//! This is no type checker: it looks at the one cell about to run, from the values that are there, along the one path it will take.

pub mod adopt;
mod branch;
mod cut;
pub(crate) mod host;
mod imports;
pub mod lint;
pub mod memory;
pub(crate) mod native;
mod origin;
mod picture;
mod ran;
mod shortened;
pub(crate) mod step;
pub(crate) mod time;
pub(crate) mod training;
pub mod unknown;
pub(crate) mod unregistered;

use std::rc::Rc;

use engine::apply::anomaly;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bytecode::{Code, Op};
use crate::cx::{Cx, Mode};
use crate::diagnostic::Diagnostic;
use crate::error::{
    ATTRIBUTE_ERROR, DTYPE_ERROR, KEYBOARD_INTERRUPT, MODULE_NOT_FOUND_ERROR, NAME_ERROR, Raised,
    SHAPE_ERROR, SYSTEM_EXIT, UNBOUND_LOCAL_ERROR,
};
use crate::native::NativeType;
use crate::objects::{class, finalizer};
use crate::sym::Sym;
use crate::value::Value;

/// Whether cells are checked before they run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Cells run unchecked.
    #[default]
    Off,
    /// Mistakes are shown before anything long runs; what is quick runs up to them, as in Python.
    On,
    /// Mistakes are shown before anything runs.
    Early,
    /// As `Early`, and `raise` and `assert` of the cell itself count as mistakes too.
    Strict,
}

/// An error that a cell is certain to end with.
pub(crate) struct Verdict {
    pub(crate) raised: Raised,
    /// How long the cell would run until then; infinite if nobody knows.
    pub(crate) seconds: f64,
}

impl Verdict {
    /// Whether the cell runs up to its error nevertheless.
    pub(crate) fn lets_run(&self, level: Level) -> bool {
        level == Level::On && self.seconds < time::QUICK
    }
}

/// What the latest check took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub seconds: f64,
    /// Operations of the machine; calls of natives count for several.
    pub steps: i64,
    /// Values copied from the session.
    pub copied: usize,
    /// What the cell will use.
    pub memory: memory::Memory,
}

/// Operations that run exactly; loops are cut after that.
const STEPS: i64 = 6_000;

/// Names and objects that a cell reaches as a rule.
const EXPECTED: usize = 200;

/// Operations after the first loop was cut, before the check gives up.
const STEPS_AFTER: i64 = 6_000;

/// Ends a check that cannot be certain. No handler sees it.
static UNCERTAIN: NativeType = NativeType {
    base: Some(&crate::builtins::types::BASE_EXCEPTION),
    ..NativeType::plain("Uncertain", "The check before running cannot tell what happens.")
};

/// What is certain of all that the cell can reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Trust {
    /// Which names there are.
    Names,
    /// Shapes and dtypes of tensors, too.
    Shapes,
    /// Values, as far as they are known.
    #[default]
    Values,
}

/// The state of a check.
#[derive(Default)]
pub(crate) struct Shadow {
    /// Operations left.
    steps: i64,
    /// Python was given something that may run code of the session.
    has_given: bool,
    /// What is still certain.
    trust: Trust,
    /// The `ForIter` of the loop that was left before its end.
    cut_at: Option<usize>,
    /// Loops of the cell that are under way, outermost first.
    watches: Vec<cut::Watch>,
    /// Copies made while a loop was under way, as they were.
    fresh: FxHashMap<usize, (Value, Vec<u64>)>,
    /// Global names that were set, and how many loops were under way.
    set_within: FxHashMap<(usize, u32), usize>,
    /// Which operations have run.
    ran: ran::Ran,
    /// Objects in pictures so far.
    n_pictured: usize,
    /// The check is over without a verdict.
    stopped: bool,
    /// Global names as the cell sees them, by globals and slot.
    overlay: FxHashMap<(usize, u32), Value>,
    /// Copies of live objects, by address.
    copies: FxHashMap<usize, Value>,
    /// Functions and classes that the cell has made, which it may change.
    own: FxHashSet<usize>,
    /// Leaves that stand for tensors whose history is not followed.
    cut_leaves: FxHashSet<u64>,
    /// Values copied so far.
    n_copied: usize,
    depth: usize,
    /// The exception of a `raise` or `assert` that the user wrote.
    written: Option<Value>,
    /// Silent mistakes.
    findings: Vec<Diagnostic>,
    /// The latest result of an op, and how many frames there were.
    latest: Option<(usize, usize)>,
    /// Names in its imports that name no module, and what is to be said of them.
    absent: FxHashMap<String, String>,
    /// Whether it has come past a call whose effects are not followed.
    had_effect: bool,
    /// Where tensors come from, as far as lints ask.
    origins: origin::Origins,
    /// What training has come to.
    pub(crate) training: training::Training,
    /// Modules in which it has looked for what is not registered.
    looked_into: FxHashSet<usize>,
    /// Loops over lists that got shorter.
    shortened: shortened::Shortened,
    /// Versions of leaves when they got a gradient.
    grad_versions: FxHashMap<u64, lint::GradVersions>,
    /// What it will use.
    pub(crate) memory: memory::Notes,
    /// Seconds of what is not seen.
    left_out: f64,
    /// The code of the cell.
    code: Option<Rc<Code>>,
}

impl Cx {
    /// Runs the code of a cell in shadow: the error it is certain to end with, with the places it passes.
    pub(crate) fn check_before(&mut self, code: &Rc<Code>, level: Level) -> Option<Verdict> {
        if level == Level::Off || engine::trace::active() || self.mode != Mode::Eager {
            return None;
        }
        let begin = self.host.monotonic();
        self.close_abandoned();
        let _copies = finalizer::Pause::begin();
        let memory = memory::Notes::begin();
        let code_of_cell = Some(code.clone());
        let absent = self.absent_modules(code);
        let mut shadow =
            Shadow { steps: STEPS, code: code_of_cell, memory, absent, ..Shadow::default() };
        shadow.copies.reserve(EXPECTED);
        shadow.overlay.reserve(EXPECTED);
        let heights = (self.machine.stack.len(), self.machine.frames.len());
        let more = (self.machine.blocks.len(), self.machine.handled.len(), self.native_depth);
        let host = std::mem::replace(&mut self.host, Box::new(host::Nobody));
        let (random, recording) = (engine::random::state(), engine::autograd::enabled());
        let autocast = engine::apply::autocast::halves();
        let default_dtype = engine::apply::default_dtype::get();
        let classes = class::changes();
        let (watch, devices) = (anomaly::watch(), self.devices.clone());
        let before = engine::apply::set_shapes_only(true);
        self.check = Some(Box::new(shadow));
        self.mode = Mode::Shadow;
        unknown::touched(false);
        unknown::made(false);
        // Whatever happens, the session gets its host and its state back.
        let run = std::panic::AssertUnwindSafe(|| self.run_code(code.clone()));
        let result = std::panic::catch_unwind(run);
        self.lint_end();
        self.mode = Mode::Eager;
        let mut shadow = self.check.take().unwrap_or_default();
        let seconds = shadow.seconds();
        self.findings = std::mem::take(&mut shadow.findings);
        let (memory, reading) = shadow.memory.end(shadow.stopped || shadow.trust == Trust::Names);
        engine::apply::set_shapes_only(before);
        engine::apply::autocast::set_halves(autocast);
        engine::apply::default_dtype::set(default_dtype);
        engine::autograd::set_enabled(recording);
        anomaly::set_watch(watch);
        self.devices = devices;
        engine::random::set_state(random);
        class::set_changes(classes);
        self.host = host;
        self.machine.stack.truncate(heights.0);
        self.machine.frames.truncate(heights.1);
        self.machine.blocks.truncate(more.0);
        self.machine.handled.truncate(more.1);
        self.native_depth = more.2;
        self.showing.clear();
        self.check_cost = Cost {
            seconds: self.host.monotonic() - begin,
            steps: STEPS - shadow.steps,
            copied: shadow.n_copied,
            memory,
        };
        self.judge_memory(&shadow.memory, &memory, &reading);
        let raised = result.ok()?.err()?;
        if raised.is(&KEYBOARD_INTERRUPT) && !shadow.stopped {
            self.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
            return None;
        }
        let written = shadow.written.as_ref().is_some_and(|it| it.is(raised.value()));
        let silent = shadow.stopped
            || raised.is(&UNCERTAIN)
            || raised.is(&SYSTEM_EXIT)
            || (written && level != Level::Strict);
        (!silent).then_some(Verdict { raised, seconds })
    }

    /// Goes on with no more trust than that.
    pub(crate) fn trust_only(&mut self, trust: Trust) {
        let shadow = self.shadow();
        shadow.trust = shadow.trust.min(trust);
    }

    /// Something unknown may have changed whatever the cell can reach.
    pub(crate) fn trust_no_values(&mut self) {
        self.trust_only(Trust::Names);
    }

    /// The state of the check; only while one runs.
    pub(crate) fn shadow(&mut self) -> &mut Shadow {
        self.check.get_or_insert_with(Box::default)
    }

    /// Ends the check without a verdict.
    pub(crate) fn uncertain(&mut self) -> Raised {
        self.shadow().stopped = true;
        Raised::new(&UNCERTAIN, "the check before running cannot tell what happens")
    }

    /// Looks at an exception on its way up in shadow: true if the check is over.
    pub(crate) fn judge(&mut self, raised: &Raised) -> bool {
        if unknown::touched(false) || raised.is(&UNCERTAIN) || !self.is_trusted(raised) {
            self.shadow().stopped = true;
        }
        self.shadow().stopped
    }

    /// Whether an error follows from what is certain.
    fn is_trusted(&mut self, raised: &Raised) -> bool {
        let of_shapes = || raised.is(&SHAPE_ERROR) || raised.is(&DTYPE_ERROR);
        match self.shadow().trust {
            Trust::Values => true,
            Trust::Shapes if of_shapes() => true,
            _ => self.holds_anyway(raised),
        }
    }

    /// Whether an error holds no matter what values names have.
    fn holds_anyway(&mut self, raised: &Raised) -> bool {
        if raised.is(&MODULE_NOT_FOUND_ERROR) || raised.message().starts_with("cannot import name")
        {
            return true;
        }
        if raised.is(&ATTRIBUTE_ERROR) {
            return raised.message().starts_with("module '");
        }
        if !raised.is(&NAME_ERROR) || raised.is(&UNBOUND_LOCAL_ERROR) {
            return false;
        }
        let name = raised.instance().and_then(|it| it.get(Sym::of("name")));
        let Some(name) = name.as_ref().and_then(Value::as_str).map(Sym::new) else { return false };
        let code = self.shadow().code.clone();
        let global = format!("global {name}");
        !code.is_some_and(|it| assigns(&it, name)) && !self.sources.contains(&global)
    }
}

/// Whether code, or code inside it, may bind the global `name`.
fn assigns(code: &Code, name: Sym) -> bool {
    let slots = code.globals.slots.borrow();
    let binds = |op: &Op| match op {
        Op::SetGlobal(slot) => slots[*slot as usize].name == name,
        Op::ImportStar => true,
        _ => false,
    };
    code.ops.iter().any(binds) || code.children.iter().any(|it| assigns(it, name))
}
