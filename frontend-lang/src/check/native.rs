//! Natives in shadow: opaque ones give unknowns; the others run on the copies, and give an unknown if they looked at one.

use rustc_hash::FxHashSet;

use crate::builtins::MODULES;
use crate::check::unknown::{self, Kind, kind_of, unknown};
use crate::cx::Cx;
use crate::error::Raised;
use crate::native::{Args, CallArgs, Effect, Member, NativeFn, Res};
use crate::ops_binding::OpFunction;
use crate::params::Bound;
use crate::value::Value;

/// Items that a native may go through without being asked whether it can stop.
const LONG: usize = 4_000;

/// Natives that only make an iterator of what they get, or ask for its size.
const LAZY: &[&str] =
    &["enumerate", "filter", "islice", "iter", "len", "map", "range", "reversed", "zip", "__new__"];

/// Natives whose answers depend on what a check does not have.
const NOT_KNOWN: &[&str] = &[
    "data_ptr",
    "getrefcount",
    "getsizeof",
    "globals",
    "id",
    "is_contiguous",
    "locals",
    "stats",
    "stride",
];

/// Natives that change nothing in the session.
const ONLY_SHOWS: &[&str] = &["display", "flush", "print", "write"];

impl Cx {
    /// Runs a native with bound arguments in shadow.
    pub(crate) fn shadow_native(&mut self, row: &'static NativeFn, args: &Bound) -> Res {
        let shadow = self.shadow();
        shadow.steps -= 4;
        shadow.latest = None;
        let hidden = is_hidden(row);
        let not_known = NOT_KNOWN.contains(&row.name) && !self.tells_objects_apart(row);
        if row.effect == Effect::Opaque || hidden || not_known {
            let kind = match row.name {
                "item" => number_kind(&args[0]),
                "random" | "uniform" | "time" | "perf_counter" | "monotonic" => Kind::Float,
                _ => Kind::Any,
            };
            if row.name == "item" && self.item_is_known(&args[0]) {
                return (row.run)(self, Args::new(args));
            }
            if row.name == "tolist"
                && let Some(list) = unknown_list(&args[0])
            {
                return Ok(list);
            }
            // Magics may change anything.
            if matches!(row.name, "shuffle" | "get_ipython") {
                return Err(self.uncertain());
            }
            if row.name == "sleep" {
                self.shadow().pause(args[0].as_float().unwrap_or_default());
            }
            self.shadow().had_effect |= row.effect == Effect::Opaque;
            return Ok(unknown(kind));
        }
        if matches!(row.name, "setattr" | "delattr") && !self.may_change(&args[0]) {
            return Err(self.uncertain());
        }
        if let Some(long) = args.iter().find(|it| is_long(it))
            && !LAZY.contains(&row.name)
        {
            self.shadow().go_through(items(long));
            return Ok(unknown(Kind::Any));
        }
        let before = unknown::touched(false);
        let result = (row.run)(self, Args::new(args));
        let touched = unknown::touched(before);
        if self.shadow().stopped {
            return Err(self.uncertain());
        }
        match result {
            Ok(value) if !touched => match &args[..] {
                [Value::Module(_), ..] => self.adopt(&value),
                [from, ..] => {
                    self.lint_converted(row.name, from, &value);
                    Ok(value)
                }
                _ => Ok(value),
            },
            Err(raised) if !touched && !args.iter().any(|it| kind_of(it).is_some()) => Err(raised),
            _ if row.effect != Effect::Pure && args.first().is_some_and(is_container) => {
                Err(self.uncertain())
            }
            _ => {
                let changes = row.effect != Effect::Pure && !ONLY_SHOWS.contains(&row.name);
                if changes || args.iter().any(runs_code) {
                    self.trust_no_values();
                }
                Ok(unknown(Kind::Any))
            }
        }
    }

    /// Calls an object of a native type in shadow.
    pub(crate) fn shadow_call(&mut self, func: &Value, args: CallArgs<'_>) -> Res {
        let Some(native) = func.as_native() else { return Err(self.uncertain()) };
        self.shadow().steps -= 4;
        self.lint_call(func, args);
        let before = unknown::touched(false);
        let result = native.call(self, func, args);
        let touched = unknown::touched(before);
        if self.shadow().stopped {
            return Err(self.uncertain());
        }
        let is_unknown = |it: &Value| kind_of(it).is_some();
        match result {
            Ok(value) if !touched => {
                let is_op = func.downcast::<OpFunction>().is_some();
                self.lint_called(func, args, &value);
                let given = || args.positional.iter().chain(args.keywords.iter().map(|it| &it.1));
                let same = given().any(|it| it.is(&value));
                let from_tensors = given().any(holds_tensor);
                self.lint_result(&value, is_op && from_tensors && !same);
                Ok(value)
            }
            Err(raised) if !touched && !args.positional.iter().any(is_unknown) => Err(raised),
            _ => {
                if args.positional.iter().any(runs_code) {
                    self.trust_no_values();
                }
                Ok(unknown(Kind::Any))
            }
        }
    }

    /// Notes an object that the cell has made.
    pub(crate) fn may_change_from_now(&mut self, object: &Value) {
        if let Some(at) = object.address() {
            self.shadow().own.insert(at);
        }
    }

    /// Whether attributes of an object may be set: not of what the session shares with the check.
    pub(crate) fn may_change(&mut self, object: &Value) -> bool {
        match object {
            Value::Class(_) | Value::Func(_) | Value::Method(_) => {
                object.address().is_some_and(|it| self.shadow().own.contains(&it))
            }
            Value::Module(_) => false,
            _ => true,
        }
    }

    /// Whether `id` is asked by the library, which only tells objects apart by it.
    fn tells_objects_apart(&self, row: &NativeFn) -> bool {
        let source = self.machine.frames.last().map(|it| it.func.code.source);
        let source = source.and_then(|it| self.sources.get(it));
        row.name == "id" && source.is_some_and(|it| it.name.starts_with("torch."))
    }

    fn item_is_known(&self, value: &Value) -> bool {
        value.as_tensor().is_some_and(|it| {
            let value = it.get();
            !value.is_abstract() || value.numel() != 1
        })
    }

    /// What an operation gave, or an unknown if it looked at one.
    pub(crate) fn or_unknown(&mut self, result: Res) -> Result<Value, Raised> {
        let touched = unknown::touched(false);
        if self.shadow().stopped {
            return Err(self.uncertain());
        }
        if touched { Ok(unknown(Kind::Any)) } else { result }
    }
}

/// Modules whose functions change or tell what lies outside the session's values.
const OUTSIDE: &[&str] =
    &["matplotlib.pyplot", "notegrad", "os", "random", "sys", "time", "torch.random"];

/// Whether a function acts outside of the program, or depends on what is there.
pub(crate) fn acts_outside(row: &'static NativeFn) -> bool {
    acts_on_session(row)
        || ONLY_SHOWS.contains(&row.name)
        || matches!(row.name, "globals" | "locals")
}

/// The same, but for what only shows something. Of what reads a tensor's value, the engine knows better.
pub(crate) fn acts_on_session(row: &'static NativeFn) -> bool {
    let acts = matches!(row.effect, Effect::Session | Effect::Opaque) || is_hidden(row);
    acts && !matches!(row.name, "item" | "tolist")
}

fn is_hidden(row: &'static NativeFn) -> bool {
    thread_local! {
        static ROWS: FxHashSet<usize> = MODULES
            .iter()
            .filter(|it| OUTSIDE.contains(&it.name))
            .flat_map(|it| it.members)
            .flat_map(|it| match it {
                Member::Functions(rows) => *rows,
                _ => &[],
            })
            .map(|it| std::ptr::from_ref(it).addr())
            .collect();
    }
    ROWS.with(|it| it.contains(&std::ptr::from_ref(row).addr()))
}

/// As many unknown numbers as a vector has elements.
fn unknown_list(value: &Value) -> Option<Value> {
    let shape = value.as_tensor()?.get().shape().clone();
    let size = shape.first().copied().filter(|it| shape.len() == 1 && *it <= LONG)?;
    let kind = number_kind(value);
    Some(Value::list((0..size).map(|_| unknown(kind)).collect()))
}

fn number_kind(value: &Value) -> Kind {
    match value.as_tensor().map(|it| it.get().dtype()) {
        Some(dtype) if dtype.is_float() => Kind::Float,
        Some(dtype) if dtype.is_int() => Kind::Int,
        _ => Kind::Any,
    }
}

/// Whether a value is a tensor or begins with one.
fn holds_tensor(value: &Value) -> bool {
    match value {
        Value::Tensor(_) => true,
        Value::List(it) => it.items.borrow().first().is_some_and(|it| it.as_tensor().is_some()),
        Value::Tuple(it) => it.first().is_some_and(|it| it.as_tensor().is_some()),
        _ => false,
    }
}

fn is_long(value: &Value) -> bool {
    let most = match value {
        Value::Range(_) => LONG,
        Value::Str(_) => 1 << 20,
        _ => LONG * 4,
    };
    items(value) > most
}

/// How much a native goes through.
fn items(value: &Value) -> usize {
    match value {
        Value::Range(it) => it.len(),
        Value::List(it) => it.items.borrow().len(),
        Value::Tuple(it) => it.len(),
        Value::Str(it) => it.len(),
        _ => 0,
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Instance(_))
        || matches!(value, Value::Object(_) | Value::Iter(_) if kind_of(value).is_none())
}

/// Whether a native may run code of the user by what it gets: a callback, a generator, an object with methods of its own.
fn runs_code(value: &Value) -> bool {
    match value {
        Value::Func(_) | Value::Method(_) | Value::Generator(_) | Value::Iter(_) => true,
        Value::Instance(it) => it.class.native.is_none(),
        Value::Tuple(it) => it.iter().any(runs_code),
        other => unknown::is_running(other),
    }
}
