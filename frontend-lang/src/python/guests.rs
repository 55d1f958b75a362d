//! Objects of the session that Python holds, and what it asks of them.

use rustc_hash::FxHashMap;

use super::wire::{Datum, parts};
use crate::native::*;

/// How an object looks from Python; the numbers are the worker's.
const FUNCTION: i64 = 0;
const ITERATOR: i64 = 1;
const OBJECT: i64 = 2;

/// Kinds of answers; the numbers are the worker's.
const ANSWERED: i64 = 0;
const RAISED: i64 = 1;

/// Exceptions that are kept, in case they come back.
const KEPT: usize = 16;

/// The key of the session itself, which has the function `input`.
const SESSION: i64 = 0;

/// What Python holds.
#[derive(Default)]
pub(super) struct Guests {
    /// Objects by key, and how often each was passed.
    objects: FxHashMap<i64, (Value, i64)>,
    /// Keys by address.
    keys: FxHashMap<usize, i64>,
    /// Exceptions that went to Python, by key.
    raised: Vec<(i64, Raised)>,
    latest: i64,
}

impl Guests {
    /// The key of an object, which is passed once more.
    pub(super) fn add(&mut self, value: Value) -> i64 {
        let known = value.address().and_then(|it| self.keys.get(&it).copied());
        if let Some((_, count)) = known.and_then(|it| self.objects.get_mut(&it)) {
            *count += 1;
            return known.unwrap_or_default();
        }
        self.latest += 1;
        if let Some(address) = value.address() {
            self.keys.insert(address, self.latest);
        }
        self.objects.insert(self.latest, (value, 1));
        self.latest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Takes back what was to be passed in a frame that was not sent.
    pub(super) fn unsend(&mut self, keys: &[i64]) {
        let pair = |it: &i64| Datum::Tuple(vec![Datum::Int(*it), Datum::Int(1)]);
        self.give_back(Datum::List(keys.iter().map(pair).collect()));
    }

    /// The object of a key.
    pub(super) fn get(&self, key: i64) -> Option<Value> {
        self.objects.get(&key).map(|it| it.0.clone())
    }

    /// Keys that Python does not need any more, as it tells them.
    pub(super) fn give_back(&mut self, gone: Datum) {
        for pair in gone.items().unwrap_or_default() {
            let Ok([Datum::Int(key), Datum::Int(times)]) = pair.items().and_then(parts) else {
                continue;
            };
            let Some((value, count)) = self.objects.get_mut(&key) else { continue };
            *count -= times;
            if *count <= 0 {
                let address = value.address();
                address.map(|it| self.keys.remove(&it));
                let gone = self.objects.remove(&key);
                drop(gone);
            }
        }
    }

    /// The exception that has gone to Python under this key.
    pub(super) fn raised(&self, key: i64) -> Option<Raised> {
        self.raised.iter().find(|it| it.0 == key).map(|it| it.1.clone())
    }

    fn keep_raised(&mut self, raised: Raised) -> i64 {
        self.latest += 1;
        if self.raised.len() == KEPT {
            self.raised.remove(0);
        }
        self.raised.push((self.latest, raised));
        self.latest
    }
}

/// How a value looks from Python.
pub(super) fn kind_of(cx: &mut Cx, value: &Value) -> i64 {
    let is_iterator = match value {
        Value::Iter(_) | Value::Generator(_) => true,
        other => other.as_native().is_some_and(|it| it.is_iterator()),
    };
    match value {
        _ if is_iterator => ITERATOR,
        Value::Instance(_) | Value::Module(_) => OBJECT,
        _ if cx.is_callable(value) => FUNCTION,
        _ => OBJECT,
    }
}

/// Special methods that objects of the session have in Python, too, where their class has them.
const SPECIAL: &[&str] = &[
    "__abs__",
    "__add__",
    "__bool__",
    "__call__",
    "__complex__",
    "__contains__",
    "__delitem__",
    "__enter__",
    "__eq__",
    "__exit__",
    "__float__",
    "__floordiv__",
    "__format__",
    "__fspath__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__index__",
    "__int__",
    "__iter__",
    "__le__",
    "__len__",
    "__lt__",
    "__matmul__",
    "__mod__",
    "__mul__",
    "__ne__",
    "__neg__",
    "__next__",
    "__pow__",
    "__radd__",
    "__rmul__",
    "__rsub__",
    "__rtruediv__",
    "__setitem__",
    "__sub__",
    "__truediv__",
];

/// The special methods of an object's own class.
pub(super) fn specials_of(value: &Value) -> Vec<Datum> {
    let Value::Instance(it) = value else { return Vec::new() };
    let has = |name: &&&'static str| it.class.lookup(Sym::of(name)).is_some();
    SPECIAL.iter().filter(has).map(|it| Datum::str(*it)).collect()
}

/// What the object is called there.
pub(super) fn name_of(value: &Value) -> &str {
    match value {
        Value::Func(it) => it.code.name.as_str(),
        Value::Native(it) => it.name,
        Value::Class(it) => it.name.as_str(),
        Value::Module(it) => &it.name,
        Value::Method(it) => name_of(&it.func),
        other => type_name(other),
    }
}

impl Cx {
    /// The answer to what Python asks of an object: key, question, arguments, pairs of names and values.
    pub(super) fn answer_python(&mut self, items: Vec<Datum>) -> Result<Datum, Raised> {
        let [key, what, args, keywords] = self.understood(parts(items))?;
        let key = self.understood(key.int())?;
        let what = self.understood(what.text())?;
        let args = self.understood(args.items())?;
        let keywords = self.understood(keywords.items())?;
        // Whatever goes wrong from here on, Python waits for an answer.
        let answer = self.answer_of_guest(key, &what, args, keywords);
        if self.python.link.is_none() {
            return Err(answer.err().unwrap_or_else(super::ended));
        }
        Ok(match answer {
            Ok(datum) => Datum::Tuple(vec![Datum::Int(ANSWERED), datum]),
            Err(raised) => {
                let class = raised.class();
                let message = self.str(raised.value()).unwrap_or_default();
                let name = shared_name(&class).to_owned();
                let key = self.python.guests.keep_raised(raised);
                let parts = [Datum::Int(RAISED), Datum::Int(key), Datum::Str(name)];
                Datum::Tuple([parts.to_vec(), vec![Datum::Str(message)]].concat())
            }
        })
    }

    fn answer_of_guest(
        &mut self,
        key: i64,
        what: &str,
        args: Vec<Datum>,
        keywords: Vec<Datum>,
    ) -> Result<Datum, Raised> {
        let mut values = Vec::new();
        for datum in args {
            values.push(self.python_value(datum)?);
        }
        let mut named = Vec::new();
        for pair in keywords {
            let [name, value] = self.understood(pair.items().and_then(parts))?;
            let name = self.understood(name.text())?;
            named.push((Sym::new(&name), self.python_value(value)?));
        }
        self.poll()?;
        let args = CallArgs { positional: &values, keywords: &named };
        let value = self.asked_of_guest(key, what, args)?;
        self.python_datum(&value)
    }

    fn asked_of_guest(&mut self, key: i64, what: &str, args: CallArgs<'_>) -> Res {
        let given = |at: usize| args.positional.get(at).cloned().unwrap_or(Value::None);
        let name = || Sym::new(given(0).as_str().unwrap_or_default());
        if key == SESSION {
            let prompt = given(0);
            let answer = self.host.input(prompt.as_str().unwrap_or_default(), false);
            return answer.map(Value::str).map_err(|it| Raised::new(&EOF_ERROR, it));
        }
        let missing = || runtime_error("Python asks for an object that it has given back");
        let object = self.python.guests.get(key).ok_or_else(missing)?;
        match what {
            "call" => self.call_with(&object, args),
            "next" => self.next(&object)?.ok_or_else(stop_iteration),
            "getattr" => self.getattr(&object, name()),
            "setattr" => self.setattr(&object, name(), given(1)).map(|()| Value::None),
            "special" => {
                let positional = args.positional.get(1..).unwrap_or_default();
                if name() == Sym::CALL {
                    return self.call_with(&object, CallArgs { positional, ..args });
                }
                let rest = positional;
                let special = self.call_special(&object, name(), rest)?;
                Ok(special.unwrap_or(Value::NotImplemented))
            }
            "signature" => match &object {
                Value::Func(it) => it.clone().signature(self).map(Value::str),
                Value::Method(it) if let Value::Func(func) = &it.func => {
                    // The object itself is given.
                    let text = func.clone().signature(self)?;
                    let rest = text.split_once(", ").map_or(")", |it| it.1);
                    Ok(Value::str(format!("({rest}")))
                }
                _ => Err(attribute_error("__signature__")),
            },
            "repr" => self.repr(&object).map(Value::str),
            "str" => self.str(&object).map(Value::str),
            other => Err(runtime_error(format!("Python asks an object for '{other}'"))),
        }
    }
}

/// The nearest class of an exception that Python has too, or else its own.
fn shared_name(class: &std::rc::Rc<crate::objects::class::Class>) -> &'static str {
    let of_both =
        |it: &&'static NativeType| !super::values::OWN.iter().any(|own| std::ptr::eq(*own, *it));
    let nearest = class.chain().filter_map(|it| it.native).find(of_both);
    nearest.filter(|it| it.name != "Exception").map_or(class.name.as_str(), |it| it.name)
}
