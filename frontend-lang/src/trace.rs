//! Traced functions: a function of the language whose tensor ops are recorded once and then replayed from a compiled plan.
//!
//! The body runs on every call, so prints and counters happen; the engine matches its ops against the recording.

mod alone;
pub mod any_sizes;
mod asked;
mod bindings;
mod check;
mod chosen;
mod cuts;
mod exclude;
mod follow;
mod growing;
mod home;
mod lend;
mod names;
mod node;
pub mod notice;
mod numbers;
mod pack;
mod parted;
mod piece;
mod prevented;
mod slots;
mod step;
mod stepped;
mod template;
mod training;
mod under_way;
mod variant;
mod world;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alone::{Alone, Next, Unit, needs_body};
use asked::{Asked, Inputs};
use check::Foreseen;
use engine::Tensor;
use engine::graph::Graph;
use engine::trace::{self, Call, Finished, Options, Pace, Stats, Traced, Turn};
pub use exclude::Exclude;
pub(crate) use follow::Follow;
use notice::Told;
use rustc_hash::FxHashSet;
pub(crate) use step::Cut;
pub use step::{CellStep, Step};
pub(crate) use stepped::Steps;
use variant::Variant;

use crate::check::lint;
use crate::cx::Mode;
use crate::native::*;
use crate::objects::function::Func;
use crate::objects::model::{self, DumpOptions, Format};
use crate::objects::tensor::TensorObj;
use crate::region;
use crate::tensor::journal::{Journal, Writes};

/// The type of what `@trace` makes.
pub static TRACED: NativeType = NativeType {
    module: "notegrad.jit",
    methods: &[METHODS],
    ..NativeType::plain("trace", "A function that is compiled into static graphs.")
};

static METHODS: &[NativeFn] = &[
    function("stats", "self", "What was recorded and replayed so far, as text.", stats_text)
        .opaque(),
    function(
        "dump",
        "self, file, *, arg_names=None, output_names=None, test_case=False, user_info='', dynamic_axes=None, format=None, opset_version=None",
        "Writes the latest call's graph with its weights into a file; gives the bytes written. Dimensions that have a name can have \
         any size: in annotations (`x: Tensor[\"N\", 784]`), or in dynamic_axes={\"x\": {0: \"N\"}}. A file `.onnx`, or format='onnx', is an ONNX model, of opset_version 17 to 23 (20).",
        dump,
    )
    .opaque(),
];

/// A function under trace.
pub struct TracedFn {
    pub(crate) func: Value,
    pub(crate) traced: Traced,
    without_host: WithoutHost,
    /// Arguments of the latest call.
    last_call: RefCell<Option<Recorded>>,
    last: RefCell<Stats>,
    told: Told,
    /// What runs without the body, where that is asked for.
    alone: Alone,
    /// Whether tracing pays; `None` where it is asked for in any case.
    pace: Option<Pace>,
    /// Calls in which the bodies of its loops are steps, as a call is many steps of training; `None` where it is not known to be.
    n_stepped: Cell<Option<usize>>,
}

/// Arguments of a call, kept so that it can be recorded once more.
#[derive(Clone)]
pub struct Recorded {
    positional: Vec<Value>,
    keywords: Vec<(Sym, Value)>,
    /// The tensors among them.
    pub tensors: Vec<Tensor>,
}

impl Recorded {
    /// Names of the tensors: `arg_0` ... for positional ones, their keyword for others.
    pub fn names(&self) -> Vec<String> {
        let is_tensor = |value: &Value| matches!(value, Value::Tensor(_));
        let positional = self.positional.iter().filter(|it| is_tensor(it));
        let keywords = self.keywords.iter().filter(|it| is_tensor(&it.1));
        let numbered = positional.enumerate().map(|(at, _)| format!("arg_{at}"));
        numbered.chain(keywords.map(|it| it.0.as_str().to_string())).collect()
    }
}

/// So many functions of one code, one after the other, are called but once or twice before the next one is not traced for that long.
const FLEETING: u32 = 4;

/// How many functions under trace of the same code were dropped after a call or two, without another one between them.
fn short_lived(func: &Value) -> Option<&Cell<u32>> {
    match func {
        Value::Func(it) => Some(&it.code.short_lived),
        _ => None,
    }
}

impl Drop for TracedFn {
    fn drop(&mut self) {
        let (Some(count), Some(pace)) = (short_lived(&self.func), &self.pace) else { return };
        count.set(if pace.was_fleeting() { count.get().saturating_add(1) } else { 0 });
    }
}

/// How calls go under these options: `None` where they ask for a trace in any case.
fn pace_of(options: &Options, is_fleeting: bool) -> Option<Pace> {
    (!asks_for_body(options) && !options.always && !options.check).then(|| Pace::new(is_fleeting))
}

/// Reverse walks of a long call, or round, that make it many steps of training: each of those would have to be traced.
const MOST_WALKS: usize = 32;

/// What is recorded with: where tracing may be given up, not many steps of training at once.
fn paced(options: Options, pace: Option<&Pace>) -> Options {
    let max_walks = if pace.is_some() { MOST_WALKS } else { Options::default().max_walks };
    Options { max_walks, ..options }
}

/// A graph that is built before anything is computed looks at no values; constants are compared by the engine in each call.
fn asks_for_body(options: &Options) -> bool {
    options.symbolic || options.record_only || options.capture_as_const
}

/// How the next call goes; `None` where there is no choice.
fn next_turn(pace: Option<&Pace>, cx: &Cx) -> Option<Turn> {
    let may_choose = cx.mode == Mode::Eager && cx.profile.is_none() && !trace::active();
    pace.filter(|_| may_choose).map(Pace::turn)
}

/// In words why calls run as written, if they do.
fn why_eager(pace: &Pace) -> Option<String> {
    if pace.is_held() {
        return Some("runs as written: it is made anew for each call or two".to_owned());
    }
    let verdict = pace.verdict().filter(|it| it.is_eager())?;
    let ratio = verdict.traced / verdict.eager;
    Some(format!("runs as written: traced, a call takes {ratio:.2} times as long"))
}

/// Whether a function runs without its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutHost {
    Never,
    /// Where that is known to be the same.
    IfPossible,
    /// And what prevents it is an error.
    Always,
}

impl TracedFn {
    /// `func`, to be traced from its next call on.
    pub fn new(func: Value, options: Options, without_host: WithoutHost) -> TracedFn {
        let without_host = match without_host {
            WithoutHost::IfPossible if asks_for_body(&options) => WithoutHost::Never,
            other => other,
        };
        let is_fleeting = short_lived(&func).is_some_and(|it| it.get() >= FLEETING);
        let pace = pace_of(&options, is_fleeting).filter(|_| without_host != WithoutHost::Always);
        TracedFn {
            func,
            traced: Traced::new(paced(options, pace.as_ref())),
            without_host,
            pace,
            n_stepped: Cell::default(),
            last_call: RefCell::default(),
            last: RefCell::default(),
            told: Told::default(),
            alone: Alone::default(),
        }
    }

    /// What prevents runs without the body, with its line; empty where nothing is known to.
    pub fn prevented(&self) -> String {
        match self.without_host {
            _ if self.traced.is_checked() => check::WORDS.to_owned(),
            WithoutHost::Never => "its options ask for the body".to_owned(),
            WithoutHost::IfPossible | WithoutHost::Always => self.alone.prevented(),
        }
    }

    /// Why calls run as written, which is quicker; `None` while they are traced.
    pub fn runs_eagerly(&self) -> Option<String> {
        if self.n_stepped.get().is_some() {
            return Some(
                "a call is many steps of training: the bodies of its loops are traced".to_owned(),
            );
        }
        self.pace.as_ref().and_then(why_eager)
    }

    /// Calls that ran as written.
    pub fn n_eager(&self) -> usize {
        self.pace.as_ref().map_or(0, Pace::n_eager) + self.n_stepped.get().unwrap_or(0)
    }

    /// The function as written.
    pub fn func(&self) -> &Value {
        &self.func
    }

    /// What was recorded, with the latest call as one that can be looked at.
    pub fn settled(&self) -> Traced {
        self.alone.settle();
        self.traced.clone()
    }

    /// What was recorded.
    pub fn traced(&self) -> Traced {
        self.traced.clone()
    }

    /// Calls that ran without the body.
    pub fn n_runs_alone(&self) -> usize {
        self.alone.n_runs()
    }

    /// What happened in all calls, as text.
    pub fn stats(&self) -> String {
        let stats = self.traced.stats();
        match self.without_host {
            WithoutHost::Always => {
                format!("{stats}, {} calls without the body", self.alone.n_runs())
            }
            WithoutHost::Never | WithoutHost::IfPossible => stats.to_string(),
        }
    }

    /// The latest call; `None` before the first.
    pub fn last_call(&self) -> Option<Recorded> {
        self.last_call.borrow().clone()
    }

    /// Names of the tensors among the arguments of the latest call: the function's parameters.
    pub fn arg_names(&self) -> Vec<String> {
        let Some(call) = self.last_call() else { return Vec::new() };
        let Value::Func(func) = &self.func else { return call.names() };
        let params = &func.code.params.names;
        let is_tensor = |value: &Value| matches!(value, Value::Tensor(_));
        let numbers = (0..).zip(&call.positional).filter(|it| is_tensor(it.1)).map(|it| it.0);
        let name = |at: usize| params.get(at).map_or(format!("arg_{at}"), |it| it.to_string());
        let keywords = call.keywords.iter().filter(|it| is_tensor(&it.1));
        numbers.map(name).chain(keywords.map(|it| it.0.to_string())).collect()
    }

    /// The graph of the latest call with every captured tensor as a constant: recorded anew, without running ops.
    pub fn frozen_graph(&self, cx: &mut Cx) -> Result<Graph, Raised> {
        self.frozen_graph_of(cx, &self.recorded()?, Options::default().max_ops)
    }

    fn recorded(&self) -> Result<Recorded, Raised> {
        let nothing = "nothing is recorded yet; call the function once, then dump it";
        self.last_call().ok_or_else(|| Raised::new(&TRACE_ERROR, nothing))
    }

    fn frozen_graph_of(
        &self,
        cx: &mut Cx,
        call: &Recorded,
        max_ops: usize,
    ) -> Result<Graph, Raised> {
        let recorded = self.traced.options();
        let options = Options { record_only: true, capture_as_const: true, max_ops, ..recorded };
        let frozen = TracedFn::new(self.func.clone(), options, WithoutHost::Never);
        let args = CallArgs { positional: &call.positional, keywords: &call.keywords };
        // Nothing is computed, so what the body stores must not stay.
        let _undone = Journal::begin();
        let before = engine::autograd::set_enabled(false);
        let res = frozen.run(cx, args);
        engine::autograd::set_enabled(before);
        res?;
        Ok(frozen.traced.graph(0)?)
    }

    /// What happened in the latest call.
    pub fn last_stats(&self) -> Stats {
        self.last.borrow().clone()
    }

    fn run(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        if cx.mode == Mode::Shadow {
            cx.shadow().memory.compiled = true;
            return cx.call_with(&self.func, args);
        }
        if self.n_stepped.get().is_some() && !trace::active() {
            return self.run_stepped(cx, args);
        }
        let turn = next_turn(self.pace.as_ref(), cx);
        let res = match turn.is_some_and(Turn::is_eager) {
            true => cx.call_with(&self.func, args),
            false => self.run_traced(cx, args),
        };
        if let (Some(pace), Some(turn)) = (&self.pace, turn) {
            pace.ends(turn, res.is_ok());
        }
        res
    }

    /// Runs the function as written, where the bodies of its loops, and of the functions that it calls, are steps.
    fn run_stepped(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        self.n_stepped.set(self.n_stepped.get().map(|it| it + 1));
        let were_sought = cx.steps.seek(true);
        let res = cx.call_with(&self.func, args);
        cx.steps.seek(were_sought);
        res
    }

    fn run_traced(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        if self.without_host != WithoutHost::Never && !trace::active() {
            if self.without_host == WithoutHost::Always {
                return self.run_strict(cx, args);
            }
            let ask = || Asked::new(vec![self.func.clone()], args);
            match self.alone.next(cx, self, ask) {
                (Next::Given(res), _) => return res,
                (Next::Follow(variant), Some(asked)) => {
                    return self.run_followed(cx, &asked, variant, false);
                }
                (Next::Compare(foreseen), Some(asked)) => {
                    return self.run_compared(cx, &asked, *foreseen);
                }
                _ => {}
            }
        }
        self.run_body(cx, args)
    }

    /// Runs the body under the trace.
    fn run_body(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        let options = self.traced.options();
        let inputs = Inputs::of(args);
        if options.capture_as_const && inputs.others > 0 {
            return Err(type_error(
                "with capture_as_const=True every positional argument is a tensor; pass other things by keyword",
            ));
        }
        let call = self.traced.begin(&inputs.tensors)?;
        if !call.is_inline() {
            cx.failed_region = None;
        }
        let writes = (call.asks_for_stores() && !options.record_only).then(Writes::begin);
        let replaced = options.symbolic && !call.is_inline();
        let (positional, keywords) = inputs.replaced(args, &call, replaced);
        let res =
            cx.call_with(&self.func, CallArgs { positional: &positional, keywords: &keywords });
        if !call.is_inline() {
            self.keep_args(args, inputs.tensors);
        }
        let value = match res {
            Ok(value) => value,
            Err(raised) => {
                call.abort();
                return Err(raised);
            }
        };
        if !call.is_inline() {
            // A handler of the body may have caught it, but the way that it took is the way of no branch.
            if let Some(raised) = cx.failed_region.take() {
                call.abort();
                return Err(raised);
            }
            region::settle(&value);
        }
        let finished = finish(call, &collect_tensors(&value), writes)?;
        self.tell(cx, finished.stats)?;
        Ok(value)
    }
}

impl TracedFn {
    /// A call that is to run without the body.
    fn run_strict(&self, cx: &mut Cx, args: CallArgs<'_>) -> Res {
        if needs_body(cx) {
            return cx.call_with(&self.func, args);
        }
        let asked = Asked::new(vec![self.func.clone()], args)?;
        match self.alone.next_of_strict(cx, self, &asked)? {
            Next::Given(res) => res,
            Next::Follow(variant) => self.run_followed(cx, &asked, variant, true),
            Next::Compare(foreseen) => self.run_compared(cx, &asked, *foreseen),
            Next::Body => cx.call_with(&self.func, args),
        }
    }

    fn run_followed(
        &self,
        cx: &mut Cx,
        asked: &Asked<'_>,
        variant: Box<Variant>,
        strict: bool,
    ) -> Res {
        let under_way = self.alone.begin(cx, self, asked, asked.args, (variant, None, strict))?;
        let args = CallArgs { positional: &under_way.tracked, keywords: &under_way.named };
        let res = cx.call_with(&self.func, args);
        self.alone.end(cx, self, asked, under_way, res)
    }

    /// A call that was answered without the body, which runs all the same: both have to come to the same.
    fn run_compared(&self, cx: &mut Cx, asked: &Asked<'_>, foreseen: Foreseen) -> Res {
        match self.run_body(cx, asked.args) {
            Ok(value) => {
                self.alone.compare(cx, asked, foreseen, |_, _| value.clone())?;
                Ok(value)
            }
            Err(raised) => {
                self.alone.keep(foreseen.variant);
                Err(raised)
            }
        }
    }

    fn keep_args(&self, args: CallArgs<'_>, tensors: Vec<Tensor>) {
        let (positional, keywords) = (args.positional.to_vec(), args.keywords.to_vec());
        self.last_call.replace(Some(Recorded { positional, keywords, tensors }));
    }
}

impl Unit for TracedFn {
    fn traced(&self) -> &Traced {
        &self.traced
    }

    fn keep_call(&self, asked: &Asked<'_>) {
        self.keep_args(asked.args, asked.tensors().clone());
    }

    fn tell(&self, cx: &mut Cx, stats: Stats) -> Result<(), Raised> {
        if stats.departure.is_some() {
            let name = cx.getattr(&self.func, Sym::NAME)?;
            let name = format!("`{}`", cx.str(&name)?);
            self.told.tell(cx, &name, &stats);
        }
        if stats.is_many_steps() {
            self.n_stepped.set(Some(0));
        }
        self.last.replace(stats);
        Ok(())
    }
}

/// Ends a call with what its body left in variables, if that was noted.
fn finish(call: Call, results: &[Tensor], writes: Option<Writes>) -> engine::Result<Finished> {
    let stores = writes.map(|it| it.so_far());
    call.finish_storing(results, stores.as_deref())
}

/// Every tensor in a result, in order: a tensor, or lists, tuples and dicts of them.
fn collect_tensors(value: &Value) -> Vec<Tensor> {
    let mut found = Vec::new();
    each_tensor(value, &mut |it| found.push(it.get()));
    found
}

/// Shows every tensor in a result; a container that stands there twice is gone through once.
pub(crate) fn each_tensor(value: &Value, visit: &mut dyn FnMut(&TensorObj)) {
    let mut seen = FxHashSet::default();
    let mut waiting = vec![value.clone()];
    while let Some(value) = waiting.pop() {
        let first = waiting.len();
        match value.core() {
            Value::Tensor(it) => visit(it),
            it if it.address().is_some_and(|it| !seen.insert(it)) => {}
            Value::List(it) => waiting.extend(it.items.borrow().iter().cloned()),
            Value::Tuple(it) => waiting.extend(it.iter().cloned()),
            Value::Dict(it) => waiting.extend(it.values()),
            _ => {}
        }
        waiting[first..].reverse();
    }
}

/// A name, a list of names, or nothing.
fn names(cx: &mut Cx, value: Option<&Value>) -> Result<Vec<String>, Raised> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Str(one)) => Ok(vec![one.to_string()]),
        Some(list) => cx.collect(list)?.iter().map(|it| cx.str(it)).collect(),
    }
}

fn dump(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(1)?;
    let opset = args.opt_int(8)?;
    let options = DumpOptions {
        format: Format::of(path, args.opt(7).map(|it| cx.str(it)).transpose()?.as_deref(), opset)?,
        arg_names: names(cx, args.opt(2))?,
        output_names: names(cx, args.opt(3))?,
        test_case: cx.truth(&args[4])?,
        info: cx.str(&args[5])?,
        any_sizes: args.opt(6).map(|it| any_sizes::dynamic_axes(cx, it)).transpose()?,
    };
    let traced = args.object::<TracedFn>(0)?;
    if lint::trains(&traced.func) {
        cx.note(&lint::EVAL_DUMP);
    }
    let bytes = model::dump(cx, traced, path, &options)?;
    Ok(Value::from(bytes))
}

fn stats_text(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::str(args.object::<TracedFn>(0)?.stats()))
}

impl NativeObject for TracedFn {
    fn native_type(&self) -> &'static NativeType {
        &TRACED
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let same = cx.adopt(&self.func)?.is(&self.func);
        Ok(same.then(|| this.clone()))
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        match name.as_str() {
            "__wrapped__" => Ok(Some(self.func.clone())),
            "__name__" | "__doc__" | "__qualname__" => cx.getattr(&self.func, name).map(Some),
            _ => Ok(None),
        }
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn binds_self(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        self.run(cx, args)
    }

    fn stands_for(&self, mode: Mode) -> Option<Rc<Func>> {
        let Value::Func(func) = &self.func else { return None };
        let is_plain = mode == Mode::Eager && !trace::active();
        (is_plain && self.pace.as_ref()?.goes_plainly()).then(|| func.clone())
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let name = cx.getattr(&self.func, Sym::NAME)?;
        Ok(format!("<traced function {}: {}>", cx.str(&name)?, self.stats()))
    }

    fn keeps_values(&self) -> bool {
        true
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.func);
        if let Some(call) = &*self.last_call.borrow() {
            let named = call.keywords.iter().map(|it| &it.1);
            call.positional.iter().chain(named).for_each(&mut *visit);
        }
    }

    fn clear(&self) {
        self.last_call.replace(None);
        self.alone.clear();
    }
}
