//! Parameters of natives: their signature text, parsed when compiled, and binding of arguments.

mod words;

use smallvec::SmallVec;

use crate::error::{Raised, type_error};
use crate::native::CallArgs;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;

const MAX: usize = 24;

/// Bound arguments on the way to a native.
pub type Bound = SmallVec<[Value; 6]>;

/// The parameters of a native, in order.
pub struct Params {
    /// The text they came from.
    pub signature: &'static str,
    list: [Param; MAX],
    len: u8,
    positional: u8,
    required: u8,
    has_rest: bool,
    has_keywords: bool,
    simple: bool,
}

/// One parameter.
#[derive(Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    /// The text of the default, if there is one.
    pub default: Option<&'static str>,
    known: Known,
}

/// What a default is, as far as that is plain from its text.
#[derive(Clone, Copy)]
enum Known {
    Unbound,
    None,
    Bool(bool),
    Int(i64),
    /// It is to be read.
    Text(&'static str),
}

/// How a parameter takes its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    PositionalOnly,
    Both,
    Rest,
    KeywordOnly,
    Keywords,
}

impl Params {
    /// Parses `a, b=1, /, c=None, *rest, d=..., **kw`; mistakes stop compilation.
    pub const fn parse(signature: &'static str) -> Params {
        let empty = Param { name: "", kind: Kind::Both, default: None, known: Known::Unbound };
        let mut params = Params {
            signature,
            list: [empty; MAX],
            len: 0,
            positional: 0,
            required: 0,
            has_rest: false,
            has_keywords: false,
            simple: true,
        };
        let mut rest = signature;
        let mut kind = Kind::Both;
        while !rest.is_empty() {
            let (part, after) = split_comma(rest);
            rest = after;
            let part = part.trim_ascii();
            if part.is_empty() {
                continue;
            }
            kind = params.add(part, kind);
        }
        params
    }

    const fn add(&mut self, part: &'static str, kind: Kind) -> Kind {
        let bytes = part.as_bytes();
        if bytes[0] == b'/' {
            let mut idx = 0;
            while idx < self.len as usize {
                self.list[idx].kind = Kind::PositionalOnly;
                idx += 1;
            }
            return kind;
        }
        if bytes[0] == b'*' && bytes.len() == 1 {
            self.simple = false;
            return Kind::KeywordOnly;
        }
        let (stars, kind_here, kind_after) = if bytes[0] != b'*' {
            (0, kind, kind)
        } else if bytes[1] == b'*' {
            (2, Kind::Keywords, kind)
        } else {
            (1, Kind::Rest, Kind::KeywordOnly)
        };
        let (name, default) = split_equals(part.split_at(stars).1);
        match kind_here {
            Kind::Both => {
                self.positional += 1;
                self.required += default.is_none() as u8;
            }
            Kind::Rest => self.has_rest = true,
            Kind::Keywords => self.has_keywords = true,
            _ => {}
        }
        self.simple = self.simple && matches!(kind_here, Kind::Both);
        self.list[self.len as usize] =
            Param { name, kind: kind_here, default, known: known(default) };
        self.len += 1;
        kind_after
    }

    /// All parameters.
    pub fn list(&self) -> &[Param] {
        &self.list[..self.len as usize]
    }

    /// True if these positional arguments need no binding at all.
    pub fn fits(&self, positional: usize) -> bool {
        self.simple && positional == self.len as usize
    }

    /// The number of parameters if these positional arguments need at most defaults behind them.
    #[inline]
    pub fn filled(&self, positional: usize) -> Option<usize> {
        let len = self.len as usize;
        let enough = positional >= self.required as usize && positional <= len;
        (self.simple && enough).then_some(len)
    }

    /// How many positional arguments a call needs at least.
    fn required_positional(&self) -> usize {
        self.required as usize
    }

    /// The default of parameter `at`; `Unbound` if it has none.
    pub(crate) fn default_of(&self, at: usize) -> Value {
        default_value(&self.list[at])
    }

    /// Puts arguments in parameter order, fills defaults, or raises CPython's `TypeError`.
    pub fn bind(&self, name: &str, mut args: Bound, kw: &[(Sym, Value)]) -> Result<Bound, Raised> {
        if self.simple && kw.is_empty() && args.len() <= self.len as usize {
            if args.len() >= self.required as usize {
                for param in &self.list()[args.len()..] {
                    args.push(default_value(param));
                }
                return Ok(args);
            }
            return Err(self.missing(name, &args));
        }
        self.bind_slowly(name, args, kw)
    }

    fn bind_slowly(&self, name: &str, args: Bound, kw: &[(Sym, Value)]) -> Result<Bound, Raised> {
        let positional = self.positional as usize;
        if args.len() > positional && !self.has_rest {
            return Err(self.too_many(name, args.len()));
        }
        let mut slots: Bound = SmallVec::from_elem(Value::Unbound, self.len as usize);
        let mut filled = [false; MAX];
        let mut rest = Vec::new();
        for (idx, value) in args.into_iter().enumerate() {
            if idx < positional {
                slots[idx] = value;
                filled[idx] = true;
            } else {
                rest.push(value);
            }
        }
        let extra = Dict::default();
        for (key, value) in kw {
            self.bind_keyword(name, *key, value, &mut slots, &mut filled, &extra)?;
        }
        for (idx, param) in self.list().iter().enumerate() {
            match param.kind {
                Kind::Rest => slots[idx] = Value::tuple(std::mem::take(&mut rest)),
                Kind::Keywords => slots[idx] = Value::Dict(std::rc::Rc::new(extra.copy()?)),
                _ if filled[idx] => {}
                _ if param.default.is_some() => slots[idx] = default_value(param),
                _ => {}
            }
        }
        self.check_missing(name, &filled)?;
        Ok(slots)
    }

    fn bind_keyword(
        &self,
        name: &str,
        key: Sym,
        value: &Value,
        slots: &mut Bound,
        filled: &mut [bool; MAX],
        extra: &Dict,
    ) -> Result<(), Raised> {
        let text = key.as_str();
        let found = self
            .list()
            .iter()
            .position(|it| it.name == text && matches!(it.kind, Kind::Both | Kind::KeywordOnly));
        match found {
            Some(idx) if filled[idx] => Err(multiple_values(name, text)),
            Some(idx) => {
                slots[idx] = value.clone();
                filled[idx] = true;
                Ok(())
            }
            None if self.has_keywords => {
                extra.insert_name(key, value.clone());
                Ok(())
            }
            None => Err(self.unexpected(name, text)),
        }
    }

    fn check_missing(&self, name: &str, filled: &[bool; MAX]) -> Result<(), Raised> {
        let names = |wanted: &[Kind]| -> Vec<&str> {
            let open = self.list().iter().enumerate().filter(|(idx, it)| {
                !filled[*idx] && it.default.is_none() && wanted.contains(&it.kind)
            });
            open.map(|(_, it)| it.name).collect()
        };
        let positional = names(&[Kind::PositionalOnly, Kind::Both]);
        if self.makes()
            && names(&[Kind::PositionalOnly]).len() == positional.len()
            && !positional.is_empty()
        {
            let least = self.required - 1;
            let plural = if least == 1 { "" } else { "s" };
            let given = filled.iter().filter(|it| **it).count() - 1;
            let range = if self.required == self.positional { "" } else { "at least " };
            let message = format!("{name} expected {range}{least} argument{plural}, got {given}");
            return Err(type_error(message));
        }
        if !positional.is_empty() {
            let given = self.list().iter().zip(filled).take_while(|it| *it.1).count();
            let told = words::wrong_count(self, name, given);
            return Err(told.unwrap_or_else(|| missing_arguments(name, "positional", &positional)));
        }
        let keywords = names(&[Kind::KeywordOnly]);
        if !keywords.is_empty() {
            return Err(missing_arguments(name, "keyword-only", &keywords));
        }
        Ok(())
    }

    fn missing(&self, name: &str, args: &Bound) -> Raised {
        let mut filled = [false; MAX];
        filled[..args.len()].fill(true);
        match self.check_missing(name, &filled) {
            Err(raised) => raised,
            Ok(()) => type_error(format!("{name}() cannot bind its arguments")),
        }
    }

    fn too_many(&self, name: &str, given: usize) -> Raised {
        if self.makes() {
            let (most, given) = (self.positional as usize - 1, given - 1);
            let plural = if most == 1 { "" } else { "s" };
            return type_error(match self.list().iter().any(|it| it.kind == Kind::Both) {
                true => format!("{name}() takes at most {most} argument{plural} ({given} given)"),
                false if self.required == self.positional => {
                    format!("{name} expected {most} argument{plural}, got {given}")
                }
                false => format!("{name} expected at most {most} argument{plural}, got {given}"),
            });
        }
        if let Some(told) = words::wrong_count(self, name, given) {
            return told;
        }
        too_many_arguments(name, self.required as usize, self.positional as usize, given)
    }

    /// Whether this makes objects of a type: the class, which no program writes, is the first argument.
    fn makes(&self) -> bool {
        self.list().first().is_some_and(|it| it.name == "cls")
    }

    fn unexpected(&self, name: &str, key: &str) -> Raised {
        if let Some(told) = words::unknown_keyword(self, name, key) {
            return told;
        }
        let names: Vec<&str> = self.list().iter().map(|it| it.name).collect();
        unexpected_keyword(name, key, &names)
    }

    /// Binds arguments as written.
    pub fn bind_call(&self, name: &str, args: CallArgs<'_>) -> Result<Bound, Raised> {
        self.bind(name, SmallVec::from(args.positional), args.keywords)
    }
}

/// `f() missing 2 required positional arguments: 'x' and 'y'`.
pub fn missing_arguments(name: &str, kind: &str, names: &[&str]) -> Raised {
    let quoted: Vec<String> = names.iter().map(|it| format!("'{it}'")).collect();
    let list = match quoted.as_slice() {
        [one] => one.clone(),
        [a, b] => format!("{a} and {b}"),
        [head @ .., last] => format!("{}, and {last}", head.join(", ")),
        [] => String::new(),
    };
    let plural = if names.len() == 1 { "" } else { "s" };
    type_error(format!("{name}() missing {} required {kind} argument{plural}: {list}", names.len()))
}

/// `f() takes from 1 to 2 positional arguments but 3 were given`.
pub fn too_many_arguments(name: &str, required: usize, most: usize, given: usize) -> Raised {
    let takes =
        if required == most { format!("{most}") } else { format!("from {required} to {most}") };
    let plural = if takes == "1" { "" } else { "s" };
    let were = if given == 1 { "was" } else { "were" };
    type_error(format!(
        "{name}() takes {takes} positional argument{plural} but {given} {were} given"
    ))
}

/// `f() got multiple values for argument 'x'`.
pub fn multiple_values(name: &str, key: &str) -> Raised {
    type_error(format!("{name}() got multiple values for argument '{key}'"))
}

/// `f() got an unexpected keyword argument 'k'`, with the nearest name if one is near.
pub fn unexpected_keyword(name: &str, key: &str, names: &[&str]) -> Raised {
    let message = format!("{name}() got an unexpected keyword argument '{key}'");
    type_error(message).with_hint(crate::suggest::nearest(key, names.iter().copied()))
}

#[inline]
fn default_value(param: &Param) -> Value {
    match param.known {
        Known::Unbound => Value::Unbound,
        Known::None => Value::None,
        Known::Bool(it) => Value::Bool(it),
        Known::Int(it) => Value::Int(it),
        Known::Text(text) => read_default(text),
    }
}

fn read_default(text: &'static str) -> Value {
    match text {
        "()" => Value::tuple(Vec::new()),
        _ if text.starts_with(['\'', '"']) => Sym::of(&text[1..text.len() - 1]).value(),
        _ => text.parse::<f64>().map_or(Value::Unbound, Value::Float),
    }
}

/// What the text of a default says at once.
const fn known(text: Option<&'static str>) -> Known {
    let Some(text) = text else { return Known::Unbound };
    match text.as_bytes() {
        b"..." => Known::Unbound,
        b"None" => Known::None,
        b"True" => Known::Bool(true),
        b"False" => Known::Bool(false),
        _ => match i64::from_str_radix(text, 10) {
            Ok(int) => Known::Int(int),
            Err(_) => Known::Text(text),
        },
    }
}

const fn split_comma(text: &'static str) -> (&'static str, &'static str) {
    let bytes = text.as_bytes();
    let mut quote = 0;
    let mut idx = 0;
    while idx < bytes.len() {
        let byte = bytes[idx];
        if quote != 0 {
            if byte == quote {
                quote = 0;
            }
        } else if byte == b'\'' || byte == b'"' {
            quote = byte;
        } else if byte == b',' {
            let (head, tail) = text.split_at(idx);
            return (head, tail.split_at(1).1);
        }
        idx += 1;
    }
    (text, "")
}

const fn split_equals(text: &'static str) -> (&'static str, Option<&'static str>) {
    let bytes = text.as_bytes();
    let mut idx = 0;
    while idx < bytes.len() {
        if bytes[idx] == b'=' {
            let (name, rest) = text.split_at(idx);
            return (name.trim_ascii(), Some(rest.split_at(1).1.trim_ascii()));
        }
        idx += 1;
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params::parse("a, b=2, /, c=', ', *rest, key, other=..., **kw");

    #[test]
    fn parses_every_kind() {
        let kinds: Vec<_> = PARAMS.list().iter().map(|it| (it.name, it.kind, it.default)).collect();
        assert_eq!(
            kinds,
            [
                ("a", Kind::PositionalOnly, None),
                ("b", Kind::PositionalOnly, Some("2")),
                ("c", Kind::Both, Some("', '")),
                ("rest", Kind::Rest, None),
                ("key", Kind::KeywordOnly, None),
                ("other", Kind::KeywordOnly, Some("...")),
                ("kw", Kind::Keywords, None),
            ]
        );
    }

    #[test]
    fn words_errors_like_cpython() {
        let args = |n: i64| -> Bound { (0..n).map(Value::Int).collect() };
        let one = Params::parse("x, y=1");
        let text = |res: Result<Bound, Raised>| res.err().map(|it| it.message());
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(
            text(one.bind("f", args(0), &[])),
            says("f() missing 1 required positional argument: 'x'")
        );
        assert_eq!(
            text(one.bind("f", args(3), &[])),
            says("f() takes from 1 to 2 positional arguments but 3 were given")
        );
        assert_eq!(
            text(one.bind("f", args(1), &[(Sym::new("x"), Value::None)])),
            says("f() got multiple values for argument 'x'")
        );
        assert_eq!(
            text(PARAMS.bind("g", args(1), &[])),
            says("g() missing 1 required keyword-only argument: 'key'")
        );
    }
}
