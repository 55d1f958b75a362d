//! Whatever a public function is given, it answers or raises: nothing panics, nothing ends the process.
//!
//! Names come from `dir` of every module and of the objects of `any_arguments/objects.txt`, arguments from a list of odd
//! values, drawn by a generator with a fixed seed. For a longer look:
//! `SEED=7 ANY_ARGUMENTS=200 ONLY=pyplot cargo test --workspace --test any_arguments`: ONLY is a part of the name of a module
//! or of the text of an object. If the process ends, its last call is in the file that `ANY_ARGUMENTS_LAST` names.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use frontend_lang::builtins::{modules, ng_modules};
use frontend_lang::host::{Record, Recording};
use kernel::display::plain;
use magics::from_value::artifact_of;
use magics::notebook::Notebook;

/// What a session has before a call.
const SETUP: &str = include_str!("../any_arguments/setup.ng");

/// What is given.
const VALUES: &str = include_str!("../any_arguments/values.txt");

/// More of what functions that draw take.
const POINTS: &str = include_str!("../any_arguments/points.txt");

/// Objects whose methods are called.
const OBJECTS: &str = include_str!("../any_arguments/objects.txt");

/// Calls that once panicked, hung or ended the process.
const FOUND: &str = include_str!("../any_arguments/found.txt");

/// What drawing functions take by name.
const OPTIONS: &str = include_str!("../../frontend-lang/src/builtins/modules/pyplot/options.txt");

/// What is not to be called: it takes from the session what the next call needs.
const LEFT_ALONE: &[&str] = &["set_memory_limit", "set_threads", "set_num_threads"];

/// Parts of what is called, which threads of their own call.
const PARTS: usize = 2;

/// Calls of each function.
const ROUNDS: u64 = 5;

/// How long a call may take before it is interrupted, and how long until it has then ended.
const PATIENCE: Duration = Duration::from_millis(500);
const LIMIT: Duration = Duration::from_secs(20);

/// Bytes that tensors may take. What cannot be interrupted, as eigenvalues of the largest matrix, ends within a few seconds.
const BUDGET: usize = 64 << 20;

thread_local! {
    /// Panics of this thread that nobody has asked for yet, also of those that the code under test has caught.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Xorshift (Marsaglia 2003): the engine's own generators belong to the calls.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    fn line(&mut self, text: &'static str) -> &'static str {
        let at = self.below(text.lines().count());
        text.lines().nth(at).expect("a line")
    }
}

struct Caller {
    notebook: Notebook,
    record: Rc<Record>,
    draw: Draw,
    calls: u64,
    wrong: Vec<String>,
}

impl Caller {
    fn new() -> Self {
        let (notebook, record) = fresh();
        let draw = Draw(number("SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Self { notebook, record, draw, calls: 0, wrong: Vec::new() }
    }

    /// What a cell prints, or its error.
    fn printed_by(&mut self, code: &str) -> Result<String, String> {
        self.record.stdout.borrow_mut().clear();
        match self.notebook.run(code, &mut |_| {}).error {
            Some(error) => Err(error.plain),
            None => Ok(self.record.stdout.take()),
        }
    }

    /// Runs a call, and draws what it gives and, with `draws`, the figure that it leaves. The name of its error.
    fn call(&mut self, code: &str, draws: bool) -> Option<String> {
        self.calls += 1;
        if let Ok(path) = std::env::var("ANY_ARGUMENTS_LAST") {
            std::fs::write(path, code).expect("the file of the last call");
        }
        let began = Instant::now();
        let error = self.run(code);
        if draws && self.printed_by("last_figure = plt.gcf()").is_ok() {
            let figure = self.notebook.session.global("last_figure");
            plain(&artifact_of(&figure.expect("a figure"), ""));
        }
        for panic in PANICS.take() {
            self.wrong.push(format!("{code}\n    {panic}"));
        }
        if began.elapsed() > LIMIT {
            self.wrong.push(format!("{code}\n    took {} s", began.elapsed().as_secs()));
        }
        error
    }

    /// Runs a cell, which is interrupted when it takes long. The name of its error.
    fn run(&mut self, code: &str) -> Option<String> {
        let (flag, ended) = (self.notebook.interrupt_flag(), AtomicBool::new(false));
        let outcome = thread::scope(|scope| {
            let watch = scope.spawn(|| {
                thread::park_timeout(PATIENCE);
                while !ended.load(Ordering::Relaxed) {
                    flag.store(true, Ordering::Relaxed);
                    thread::park_timeout(Duration::from_millis(20));
                }
            });
            let run = AssertUnwindSafe(|| self.notebook.run(code, &mut |it| drop(plain(&it))));
            let outcome = catch_unwind(run).map_err(|payload| remember_unseen(&*payload)).ok();
            if let Some(result) = outcome.as_ref().and_then(|it| it.result.as_ref()) {
                plain(result);
            }
            ended.store(true, Ordering::Relaxed);
            watch.thread().unpark();
            outcome
        });
        self.notebook.interrupt_flag().store(false, Ordering::Relaxed);
        outcome?.error.map(|it| it.ename)
    }

    /// Calls each name of `of` with drawn arguments.
    fn call_each(&mut self, import: &str, of: &str) {
        (self.notebook, self.record) = fresh();
        let setup = format!("{SETUP}\n{import}");
        let draws = import.contains("pyplot") || of.contains("plt");
        let names = self.printed_by(&format!("{setup}\nprint(*dir({of}), sep='\\n')"));
        for name in names.expect(of).lines().filter(|it| !LEFT_ALONE.contains(it)) {
            let ask = format!("{setup}\nplt.close('all')\nprint(told({of}.{name}))");
            // What a call has done to the session may be too much for it.
            let told = self.printed_by(&ask).or_else(|_| {
                (self.notebook, self.record) = fresh();
                self.printed_by(&ask)
            });
            let keywords = keywords(name, &told.unwrap_or_default());
            for _ in 0..number("ANY_ARGUMENTS").unwrap_or(ROUNDS) {
                let arguments = self.arguments(&keywords, draws);
                self.call(&format!("touch({of}.{name}({arguments}))"), draws);
            }
        }
    }

    fn arguments(&mut self, keywords: &[String], draws: bool) -> String {
        let mut arguments = Vec::new();
        for _ in 0..[0, 1, 1, 1, 2, 2, 2, 3, 3, 4][self.draw.below(10)] {
            arguments.push(self.value(draws).to_owned());
        }
        for _ in 0..[0, 0, 1, 2][self.draw.below(4)] {
            let Some(keyword) = keywords.get(self.draw.below(keywords.len().max(1))) else { break };
            let start = format!("{keyword}=");
            if !arguments.iter().any(|it| it.starts_with(&start)) {
                arguments.push(start + self.value(draws));
            }
        }
        arguments.join(", ")
    }

    fn value(&mut self, draws: bool) -> &'static str {
        let is_point = draws && self.draw.below(3) > 0;
        self.draw.line(if is_point { POINTS } else { VALUES })
    }
}

fn fresh() -> (Notebook, Rc<Record>) {
    let record = Rc::new(Record::default());
    let mut notebook = Notebook::new(Box::new(Recording { record: record.clone() }));
    notebook.session.cx.memory_limit = 64 << 20;
    (notebook, record)
}

/// Names of arguments: the words of a signature, and the options of a function that draws.
fn keywords(name: &str, signature: &str) -> Vec<String> {
    let start = format!("function {name} ");
    let options = OPTIONS.lines().find_map(|it| it.strip_prefix(&start)).unwrap_or("");
    let words = signature.split(|it: char| !it.is_alphanumeric() && it != '_');
    words
        .chain(options.split(' '))
        .filter(|it| it.starts_with(|it: char| it.is_lowercase()))
        .map(str::to_owned)
        .collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What ONLY selects.
fn asked_for(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let only = std::env::var("ONLY").unwrap_or_default();
    names.filter(|it| it.contains(&only)).collect()
}

fn asked_for_modules() -> Vec<&'static str> {
    let native = modules::ALL.iter().map(|it| it.name);
    asked_for(native.chain(ng_modules::ALL.iter().map(|it| it.0)))
}

fn asked_for_objects() -> Vec<&'static str> {
    asked_for(OBJECTS.lines())
}

/// A panic in a thread of the engine's pool goes on in the thread that waits for it, where no hook is called.
fn remember_unseen(payload: &(dyn Any + Send)) {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let why = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("for no reason");
    PANICS.with_borrow_mut(|it| {
        if it.is_empty() {
            it.push(format!("panicked: {why}"));
        }
    });
}

/// Remembers panics of calls instead of telling them.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some("calls") {
                return others(info);
            }
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let why = info.payload_as_str().unwrap_or("for no reason");
            PANICS.with_borrow_mut(|it| it.push(format!("panicked at {place}: {why}")));
        }));
    });
}

/// Makes calls where there is as much stack as in a kernel, of each part of `of` in a thread; none of them may go wrong. With names there
/// are some.
fn check(
    of: Vec<&'static str>,
    calls: impl Fn(&mut Caller, &[&'static str]) + Copy + Send + 'static,
) {
    let asked_for = asked_for_modules().len() + asked_for_objects().len();
    assert!(asked_for > 0, "no module and no object has a name like ONLY");
    listen();
    engine::cpu::memory::HOST.set_budget(BUDGET);
    let run = move |names: Vec<&'static str>| {
        let mut caller = Caller::new();
        let ended = catch_unwind(AssertUnwindSafe(|| calls(&mut caller, &names)));
        if let Err(payload) = ended {
            remember_unseen(&*payload);
            caller.wrong.extend(PANICS.take());
        }
        (caller.wrong, caller.calls)
    };
    let parts = of.chunks(of.len().div_ceil(PARTS).max(1)).map(<[_]>::to_vec);
    let threads = parts.map(|names| {
        let thread = thread::Builder::new().name("calls".into());
        thread.stack_size(kernel::interpreter::STACK).spawn(move || run(names)).expect("a thread")
    });
    let threads: Vec<_> = threads.collect();
    let ended = threads.into_iter().map(|it| it.join().expect("what went wrong"));
    let (wrong, calls): (Vec<_>, Vec<_>) = ended.unzip();
    let (wrong, calls) = (wrong.concat(), calls.into_iter().sum::<u64>());
    assert!(wrong.is_empty(), "{} calls went wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(calls > 0, !of.is_empty(), "{calls} calls");
}

#[test]
fn functions_of_modules() {
    check(asked_for_modules(), |caller, modules| {
        for module in modules {
            caller.call_each(&format!("import {module} as module"), "module");
        }
    });
}

#[test]
fn methods_of_objects() {
    check(asked_for_objects(), |caller, objects| {
        for object in objects {
            caller.call_each("", &format!("({object})"));
        }
    });
}

#[test]
fn calls_that_once_went_wrong() {
    check(FOUND.lines().collect(), |caller, calls| {
        caller.printed_by(SETUP).expect("a session");
        for call in calls {
            let error = caller.call(&format!("touch({call})"), call.starts_with("plt"));
            if let Some("NameError" | "AttributeError") = error.as_deref() {
                caller.wrong.push(format!("{call}\n    is not there any more"));
            }
        }
    });
}
