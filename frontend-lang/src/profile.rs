//! Which function a program spends its time in: noted whenever another frame begins to run, so every call counts.
//!
//! Natives and ops that are called by name have rows of their own, as in CPython; operators, attributes and built-in types belong to
//! the function that uses them. A generator counts a call each time that the program goes on with it, and one in all where a
//! native goes through it.

mod lines;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bytecode::Code;
use crate::cx::Cx;
use crate::native::{CallArgs, NativeFn, NativeObject, Res};
use crate::objects::class::type_name;
use crate::objects::function;
use crate::ops_binding::OpFunction;
use crate::params::Bound;
use crate::session::{CellResult, Options, Session};
use crate::site::Place;
use crate::source::Source;
use crate::sym::Sym;
use crate::value::Value;

/// What one function took.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The name of the function; `<module>` for the code of a cell or module itself.
    pub name: String,
    /// Where it is defined: `In[3]:12`, or `built-in`.
    pub place: String,
    pub calls: usize,
    /// Seconds in its own code.
    pub own: f64,
    /// Seconds from call to return, with all that it calls; what calls itself counts once.
    pub total: f64,
}

/// What one line of a cell, or of a module beside it, took.
#[derive(Clone, Debug, PartialEq)]
pub struct LineTaken {
    pub place: Place,
    /// Whether it is what compiled calls compute the gradients of the line's ops with.
    pub is_gradient: bool,
    /// How often it was begun, or a graph ran that holds it in place of a function's body.
    pub times: usize,
    /// Seconds that it took, with what it calls; functions of the user's have lines of their own, also in compiled calls.
    pub seconds: f64,
}

/// What a profile has found, most first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiled {
    pub functions: Vec<Taken>,
    pub lines: Vec<LineTaken>,
}

/// A profile under way.
#[derive(Default)]
pub(crate) struct Profile {
    lines: lines::Lines,
    rows: Vec<Row>,
    /// Rows by the address of their code.
    known: FxHashMap<usize, usize>,
    /// What runs: row, when it was entered, and whether it has a frame.
    stack: Vec<(usize, f64, bool)>,
    /// How many of `stack` have a frame.
    n_frames: usize,
    /// Frames below the profiled code.
    below: usize,
    since: f64,
}

struct Row {
    what: What,
    calls: usize,
    own: f64,
    total: f64,
    /// How many of its calls run.
    active: usize,
}

enum What {
    Code(Rc<Code>),
    /// The name of a native.
    Native(String),
}

impl Profile {
    fn pass(&mut self, now: f64) {
        if let Some((row, ..)) = self.stack.last() {
            self.rows[*row].own += now - self.since;
        }
        self.since = now;
    }

    fn enter_frame(&mut self, code: &Rc<Code>, now: f64) {
        self.n_frames += 1;
        self.enter(Rc::as_ptr(code).addr(), true, now, || What::Code(code.clone()));
    }

    fn enter(&mut self, key: usize, has_frame: bool, now: f64, what: impl FnOnce() -> What) {
        let next = self.rows.len();
        let at = *self.known.entry(key).or_insert(next);
        if at == next {
            self.rows.push(Row { what: what(), calls: 0, own: 0.0, total: 0.0, active: 0 });
        }
        self.rows[at].calls += 1;
        self.rows[at].active += 1;
        self.stack.push((at, now, has_frame));
    }

    fn leave(&mut self, now: f64) {
        let Some((at, entered, has_frame)) = self.stack.pop() else { return };
        self.n_frames -= usize::from(has_frame);
        let row = &mut self.rows[at];
        row.active -= 1;
        if row.active == 0 {
            row.total += now - entered;
        }
    }
}

impl Cx {
    /// Another frame begins to run, or one goes on.
    #[cold]
    pub(crate) fn note_frame(&mut self) {
        let frames = &self.machine.frames;
        let Some(profile) = self.profile.as_deref_mut() else { return };
        let now = self.host.monotonic();
        profile.pass(now);
        let depth = frames.len().saturating_sub(profile.below);
        while profile.n_frames > depth {
            profile.leave(now);
        }
        // The frame before it at this place has returned to a native.
        let is_new = frames.last().is_some_and(|it| it.ip == 0);
        if is_new && depth > 0 && profile.n_frames == depth {
            profile.leave(now);
        }
        for frame in &frames[(profile.below + profile.n_frames).min(frames.len())..] {
            profile.enter_frame(&frame.func.code, now);
        }
    }
}

impl Cx {
    /// Calls a native or native object, with a row of its own; `key` tells it from others.
    #[cold]
    pub(crate) fn profiled(
        &mut self,
        key: usize,
        name: impl FnOnce() -> String,
        call: impl FnOnce(&mut Cx) -> Res,
    ) -> Res {
        let now = self.host.monotonic();
        // What a native calls belongs to it.
        let from_frame = |it: &&mut Profile| it.stack.last().is_some_and(|top| top.2);
        let Some(profile) = self.profile.as_deref_mut().filter(from_frame) else {
            return call(self);
        };
        profile.pass(now);
        let height = profile.stack.len();
        profile.enter(key, false, now, || What::Native(name()));
        let result = call(self);
        let now = self.host.monotonic();
        if let Some(profile) = self.profile.as_deref_mut() {
            profile.pass(now);
            while profile.stack.len() > height {
                profile.leave(now);
            }
        }
        result
    }

    /// Calls a native of which a profile is made.
    #[cold]
    pub(crate) fn profiled_native(
        &mut self,
        row: &'static NativeFn,
        args: Bound,
        keywords: &[(Sym, Value)],
    ) -> Res {
        let is_method = row.params.list().first().is_some_and(|it| it.name == "self");
        let owner = args.first().filter(|_| is_method).map(type_name);
        let name = || match (owner, function::module_of(row)) {
            (Some(owner), _) => format!("{owner}.{}", row.name),
            (None, "builtins") => row.name.to_owned(),
            (None, module) => format!("{}.{}", module.trim_start_matches('_'), row.name),
        };
        self.profiled(std::ptr::from_ref(row).addr(), name, |cx| {
            cx.call_native(row, args, keywords)
        })
    }

    /// Calls a native object of which a profile is made, such as an op.
    #[cold]
    pub(crate) fn profiled_object(
        &mut self,
        func: &Value,
        native: &dyn NativeObject,
        args: CallArgs<'_>,
    ) -> Res {
        let (key, name) = match func.downcast::<OpFunction>() {
            Some(it) => (std::ptr::from_ref(it.op).addr(), it.op.name),
            None => (std::ptr::from_ref(native.native_type()).addr(), native.native_type().name),
        };
        self.profiled(key, || name.to_owned(), |cx| native.call(cx, func, args))
    }
}

impl Session {
    /// Runs a cell and says what each function and each line took.
    pub fn run_profiled(&mut self, code: &str, options: &Options) -> (CellResult, Profiled) {
        let below = self.cx.machine.frames.len();
        let since = self.cx.host.monotonic();
        self.cx.profile = Some(Box::new(Profile { below, since, ..Profile::default() }));
        let result = self.run_cell(code, options);
        let now = self.cx.host.monotonic();
        let mut profile = self.cx.profile.take().unwrap_or_default();
        profile.pass(now);
        while !profile.stack.is_empty() {
            profile.leave(now);
        }
        let mut functions: Vec<Taken> = profile.rows.iter().map(|it| self.taken(it)).collect();
        functions.sort_by(|a, b| b.own.total_cmp(&a.own).then(b.calls.cmp(&a.calls)));
        (result, Profiled { functions, lines: profile.lines.taken(now) })
    }

    /// The text of a line, if its source is still there.
    pub fn line(&self, place: &Place) -> Option<String> {
        self.cx.sources.line(&place.source, place.line).map(str::to_owned)
    }

    fn taken(&self, row: &Row) -> Taken {
        let (name, place) = match &row.what {
            What::Native(name) => (name.clone(), "built-in".to_owned()),
            What::Code(code) => {
                let source = self.cx.sources.get(code.span.source);
                let line =
                    |it: &Source| format!("{}:{}", it.name, it.line_column(code.span.start).0);
                (code.qualname.to_string(), source.map_or_else(String::new, line))
            }
        };
        let Row { calls, own, total, .. } = *row;
        Taken { name, place, calls, own, total }
    }
}
