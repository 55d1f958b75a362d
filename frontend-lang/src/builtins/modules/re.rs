//! `re`: regular expressions; a match object is in `re_match.rs`.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::re_match::{MATCH, Match};
use crate::memory;
use crate::native::*;
use crate::objects::iterator::{Iter, Step};
use crate::objects::pattern::{self, Anchor, Pattern, Spans, flags};
use crate::objects::quote;
use crate::objects::text::byte_at;
use crate::objects::trash::Items;
use crate::patience::Pace;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "re",
    doc: "Regular expressions.",
    members: &[
        Member::Types(&[&PATTERN, &MATCH]),
        Member::Make("error", error_class),
        Member::Make("PatternError", error_class),
        Member::Functions(FUNCTIONS),
        Member::Int("A", flags::ASCII),
        Member::Int("ASCII", flags::ASCII),
        Member::Int("DOTALL", flags::DOTALL),
        Member::Int("I", flags::IGNORECASE),
        Member::Int("IGNORECASE", flags::IGNORECASE),
        Member::Int("M", flags::MULTILINE),
        Member::Int("MULTILINE", flags::MULTILINE),
        Member::Int("NOFLAG", 0),
        Member::Int("S", flags::DOTALL),
        Member::Int("U", flags::UNICODE),
        Member::Int("UNICODE", flags::UNICODE),
        Member::Int("VERBOSE", flags::VERBOSE),
        Member::Int("X", flags::VERBOSE),
    ],
    aliases: &["regex"],
};

static RE_ERROR: NativeType = NativeType {
    module: "re",
    base: Some(&EXCEPTION),
    getters: &[
        Getter {
            name: "msg",
            doc: "What is wrong, without the place.",
            get: |cx, it| Ok(Value::str(said(cx, it)?.0)),
        },
        Getter {
            name: "pos",
            doc: "The place in the pattern, or None.",
            get: |cx, it| Ok(said(cx, it)?.1.map_or(Value::None, Value::from)),
        },
    ],
    ..NativeType::plain("error", "A pattern is not acceptable.")
};

static PATTERN: NativeType = NativeType {
    module: "re",
    methods: &[METHODS],
    getters: &[
        Getter {
            name: "flags",
            doc: "The flags.",
            get: |_, it| Ok(Value::Int(this(it)?.flags | 32)),
        },
        Getter {
            name: "groups",
            doc: "The number of groups.",
            get: |_, it| Ok(Value::from(this(it)?.names.len() - 1)),
        },
        Getter { name: "groupindex", doc: "Numbers of groups by name.", get: group_index },
        Getter {
            name: "pattern",
            doc: "The text of the pattern.",
            get: |_, it| Ok(Value::str(this(it)?.source.as_str())),
        },
    ],
    ..NativeType::plain("Pattern", "A compiled regular expression.")
};

fn error_class(_cx: &mut Cx) -> Res {
    Ok(Value::Class(crate::objects::class::class_of(&RE_ERROR)))
}

/// The message of an error and its place.
fn said(cx: &mut Cx, error: &Value) -> Result<(String, Option<usize>), Raised> {
    let text = cx.str(error)?.to_string();
    Ok(match text.rsplit_once(" at position ") {
        Some((text, at)) => (text.to_owned(), at.parse().ok()),
        None => (text, None),
    })
}

/// A mistake in a pattern or in a replacement: `re.error`.
pub(super) fn failed(message: String) -> Raised {
    Raised::new(&RE_ERROR, message)
}

/// A pattern as an object.
pub struct PatternObject(Rc<Pattern>);

impl NativeObject for PatternObject {
    fn native_type(&self) -> &'static NativeType {
        &PATTERN
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn compare(
        &self,
        _cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let Some(PatternObject(other)) = other.downcast() else { return Ok(None) };
        let same = self.0.source == other.source && self.0.flags == other.flags;
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(same)),
            CompareOp::Ne => Some(Value::Bool(!same)),
            _ => None,
        })
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let shown = quote::repr(&self.0.source);
        let names = [
            (flags::IGNORECASE, "re.IGNORECASE"),
            (flags::MULTILINE, "re.MULTILINE"),
            (flags::DOTALL, "re.DOTALL"),
            (flags::VERBOSE, "re.VERBOSE"),
            (flags::ASCII, "re.ASCII"),
        ];
        let set: Vec<&str> =
            names.iter().filter(|it| self.0.flags & it.0 != 0).map(|it| it.1).collect();
        let comma = if set.is_empty() { "" } else { ", " };
        Ok(format!("re.compile({shown}{comma}{})", set.join("|")))
    }
}

fn this(value: &Value) -> Result<&Rc<Pattern>, Raised> {
    match value.downcast() {
        Some(PatternObject(pattern)) => Ok(pattern),
        None => Err(type_error(format!("expected re.Pattern, got {}", type_name(value)))),
    }
}

fn group_index(cx: &mut Cx, value: &Value) -> Res {
    let dict = Dict::default();
    for (number, name) in this(value)?.names.iter().enumerate() {
        if let Some(name) = name {
            dict.insert(cx, Value::str(name.as_str()), Value::from(number))?;
        }
    }
    Ok(Value::Dict(Rc::new(dict)))
}

thread_local! {
    static CACHE: RefCell<FxHashMap<(String, i64), Rc<Pattern>>> = RefCell::default();
}

/// The compiled form of text, from a cache, or of a pattern object.
fn compiled(value: &Value, flags: i64) -> Result<Rc<Pattern>, Raised> {
    if let Some(PatternObject(pattern)) = value.downcast() {
        if flags != 0 {
            return Err(value_error("cannot process flags argument with a compiled pattern"));
        }
        return Ok(pattern.clone());
    }
    let Some(source) = value.as_str() else {
        return Err(type_error("first argument must be string or compiled pattern"));
    };
    let key = (source.to_owned(), flags);
    if let Some(pattern) = CACHE.with_borrow(|cache| cache.get(&key).cloned()) {
        return Ok(pattern);
    }
    let pattern = Rc::new(Pattern::new(source, flags).map_err(failed)?);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= 256 {
            cache.clear();
        }
        cache.insert(key, pattern.clone());
    });
    Ok(pattern)
}

static FUNCTIONS: &[NativeFn] = &[
    function("compile", "pattern, flags=0", "A compiled pattern.", |_cx, args| {
        Ok(Value::object(PatternObject(compiled(&args[0], args.int(1)?)?)))
    })
    .pure(),
    function("escape", "pattern", "Text with special characters escaped.", |_cx, args| {
        Ok(Value::str(pattern::escape(args.str(0)?)))
    })
    .pure(),
    function("findall", "pattern, string, flags=0", "All matches as text.", |cx, args| {
        findall(cx, &*compiled(&args[0], args.int(2)?)?, &args[1])
    })
    .pure(),
    function("finditer", "pattern, string, flags=0", "All matches.", |_cx, args| {
        finditer(compiled(&args[0], args.int(2)?)?, &args[1])
    })
    .pure(),
    function("fullmatch", "pattern, string, flags=0", "A match of all of it.", |_cx, args| {
        one(&compiled(&args[0], args.int(2)?)?, &args[1], 0, Anchor::Whole)
    })
    .pure(),
    function("match", "pattern, string, flags=0", "A match at the start.", |_cx, args| {
        one(&compiled(&args[0], args.int(2)?)?, &args[1], 0, Anchor::Start)
    })
    .pure(),
    function("purge", "", "Forget compiled patterns.", |_cx, _args| {
        CACHE.take();
        Ok(Value::None)
    }),
    function("search", "pattern, string, flags=0", "The first match.", |_cx, args| {
        one(&compiled(&args[0], args.int(2)?)?, &args[1], 0, Anchor::Anywhere)
    })
    .pure(),
    function(
        "split",
        "pattern, string, maxsplit=0, flags=0",
        "Text between matches.",
        |cx, args| split(cx, &*compiled(&args[0], args.int(3)?)?, &args[1], args.int(2)?),
    )
    .pure(),
    function("sub", "pattern, repl, string, count=0, flags=0", "Matches replaced.", |cx, args| {
        let pattern = compiled(&args[0], args.int(4)?)?;
        Ok(substitute(cx, &pattern, &args[1], &args[2], args.int(3)?)?.0)
    }),
    function(
        "subn",
        "pattern, repl, string, count=0, flags=0",
        "Replaced, and count.",
        |cx, args| {
            let pattern = compiled(&args[0], args.int(4)?)?;
            let (text, count) = substitute(cx, &pattern, &args[1], &args[2], args.int(3)?)?;
            Ok(Value::tuple([text, Value::Int(count)]))
        },
    ),
];

static METHODS: &[NativeFn] = &[
    function("findall", "self, string", "All matches as text.", |cx, args| {
        findall(cx, this(&args[0])?, &args[1])
    })
    .pure(),
    function("finditer", "self, string", "All matches.", |_cx, args| {
        finditer(this(&args[0])?.clone(), &args[1])
    })
    .pure(),
    function("fullmatch", "self, string, pos=0", "A match of all of it.", |_cx, args| {
        one(this(&args[0])?, &args[1], args.int(2)?, Anchor::Whole)
    })
    .pure(),
    function("match", "self, string, pos=0", "A match at the start.", |_cx, args| {
        one(this(&args[0])?, &args[1], args.int(2)?, Anchor::Start)
    })
    .pure(),
    function("search", "self, string, pos=0", "The first match.", |_cx, args| {
        one(this(&args[0])?, &args[1], args.int(2)?, Anchor::Anywhere)
    })
    .pure(),
    function("split", "self, string, maxsplit=0", "Text between matches.", |cx, args| {
        split(cx, this(&args[0])?, &args[1], args.int(2)?)
    })
    .pure(),
    function("sub", "self, repl, string, count=0", "Matches replaced.", |cx, args| {
        Ok(substitute(cx, this(&args[0])?, &args[1], &args[2], args.int(3)?)?.0)
    }),
    function("subn", "self, repl, string, count=0", "Replaced, and count.", |cx, args| {
        let (text, count) = substitute(cx, this(&args[0])?, &args[1], &args[2], args.int(3)?)?;
        Ok(Value::tuple([text, Value::Int(count)]))
    }),
];

fn subject(value: &Value) -> Result<&str, Raised> {
    value.as_str().ok_or_else(|| {
        type_error(format!("expected string or bytes-like object, got '{}'", type_name(value)))
    })
}

fn one(pattern: &Rc<Pattern>, string: &Value, from: i64, anchor: Anchor) -> Res {
    let text = subject(string)?;
    let from = byte_at(text, from.max(0) as usize);
    let found = pattern.find(text, from, anchor).map_err(failed)?;
    Ok(found.map_or(Value::None, |spans| Match::value(pattern, string, spans)))
}

/// All matches, in order, at most `limit` if that is not 0.
fn matches(cx: &mut Cx, pattern: &Pattern, text: &str, limit: i64) -> Result<Vec<Spans>, Raised> {
    let mut found = Vec::new();
    let mut last = None;
    while limit <= 0 || (found.len() as i64) < limit {
        cx.poll()?;
        let Some(spans) = pattern.find_next(text, last).map_err(failed)? else { break };
        last = spans[0];
        memory::push(&mut found, spans)?;
    }
    Ok(found)
}

fn part(text: &str, span: Option<(usize, usize)>) -> &str {
    span.map_or("", |(start, end)| &text[start..end])
}

fn findall(cx: &mut Cx, pattern: &Pattern, string: &Value) -> Res {
    let text = subject(string)?;
    let mut shown = Items::default();
    let mut pace = Pace::default();
    for spans in matches(cx, pattern, text, 0)? {
        pace.step(cx)?;
        let item = match spans.as_slice() {
            [whole] => Value::str(part(text, *whole)),
            [_, group] => Value::str(part(text, *group)),
            [_, groups @ ..] => {
                let groups = groups.iter().map(|it| Value::str(part(text, *it)));
                Value::tuple(groups.collect::<Vec<_>>())
            }
            [] => Value::None,
        };
        shown.push(item)?;
        memory::check()?;
    }
    Ok(Value::list(shown.take()))
}

struct Finder {
    pattern: Rc<Pattern>,
    string: Value,
    last: Option<(usize, usize)>,
}

impl Step for Finder {
    fn step(&mut self, _cx: &mut Cx) -> Result<Option<Value>, Raised> {
        let text = subject(&self.string)?;
        let Some(spans) = self.pattern.find_next(text, self.last).map_err(failed)? else {
            return Ok(None);
        };
        self.last = spans[0];
        Ok(Some(Match::value(&self.pattern, &self.string, spans)))
    }
}

fn finditer(pattern: Rc<Pattern>, string: &Value) -> Res {
    subject(string)?;
    Ok(Value::iter(Iter::custom(Finder { pattern, string: string.clone(), last: None })))
}

fn split(cx: &mut Cx, pattern: &Pattern, string: &Value, limit: i64) -> Res {
    let text = subject(string)?;
    let mut parts = Vec::new();
    let mut from = 0;
    let mut pace = Pace::default();
    if limit >= 0 {
        for spans in matches(cx, pattern, text, limit)? {
            pace.step(cx)?;
            let Some((start, end)) = spans[0] else { continue };
            parts.push(Value::str(&text[from..start]));
            parts.extend(spans[1..].iter().map(|it| match it {
                Some((start, end)) => Value::str(&text[*start..*end]),
                None => Value::None,
            }));
            from = end;
        }
    }
    parts.push(Value::str(&text[from..]));
    Ok(Value::list(parts))
}

fn substitute(
    cx: &mut Cx,
    pattern: &Rc<Pattern>,
    replacement: &Value,
    string: &Value,
    limit: i64,
) -> Result<(Value, i64), Raised> {
    let text = subject(string)?;
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let found = if limit < 0 { Vec::new() } else { matches(cx, pattern, text, limit)? };
    let count = found.len() as i64;
    for spans in found {
        cx.poll()?;
        let Some((start, end)) = spans[0] else { continue };
        out.push_str(&text[from..start]);
        from = end;
        match replacement.as_str() {
            Some(template) => {
                out.push_str(&super::re_template::expand(pattern, template, text, &spans)?);
            }
            None => {
                let found = Match::value(pattern, string, spans);
                let new = cx.call(replacement, &[found])?;
                let new = new.as_str().ok_or_else(|| {
                    type_error(format!("expected str instance, {} found", type_name(&new)))
                })?;
                out.push_str(new);
            }
        }
        memory::check_text(&out)?;
    }
    out.push_str(&text[from..]);
    Ok((Value::str(out), count))
}
