//! The methods of `str`.

use crate::memory;
use crate::native::*;
use crate::objects::format::pad;
use crate::objects::quote::is_printable;
use crate::objects::trash::Items;
use crate::objects::{search, template, text};
use crate::patience::{self, Pace, stoppable_if_long};
use crate::value::Str;

/// Methods of `str`.
pub static METHODS: &[NativeFn] = &[
    function("capitalize", "self, /", "First letter in title case, the rest lower.", capitalize)
        .pure(),
    function("casefold", "self, /", "A form for comparison without case.", casefold).pure(),
    function("center", "self, width, fillchar=' ', /", "Centred in `width`.", center).pure(),
    function("count", "self, sub, start=None, end=None, /", "How often `sub` occurs.", count)
        .pure(),
    function("endswith", "self, suffix, start=None, end=None, /", "Whether it ends so.", endswith)
        .pure(),
    function("expandtabs", "self, tabsize=8", "Tabs replaced by spaces.", expandtabs).pure(),
    function("find", "self, sub, start=None, end=None, /", "Lowest index of `sub`, or -1.", find)
        .pure(),
    function("format", "self, /, *args, **kwargs", "Replacement fields filled.", format_method),
    function("format_map", "self, mapping, /", "Fields filled from a mapping.", format_map),
    function("index", "self, sub, start=None, end=None, /", "Lowest index of `sub`.", index).pure(),
    function("isalnum", "self, /", "Whether all are letters or digits.", isalnum).pure(),
    function("isalpha", "self, /", "Whether all are letters.", isalpha).pure(),
    function("isascii", "self, /", "Whether all are ASCII.", isascii).pure(),
    function("isdecimal", "self, /", "Whether all are decimal digits.", isdecimal).pure(),
    function("isdigit", "self, /", "Whether all are digits.", isdigit).pure(),
    function("isidentifier", "self, /", "Whether it can be a name.", isidentifier).pure(),
    function("islower", "self, /", "Whether letters are lower case.", islower).pure(),
    function("isnumeric", "self, /", "Whether all are numeric.", isnumeric).pure(),
    function("isprintable", "self, /", "Whether all can be shown.", isprintable).pure(),
    function("isspace", "self, /", "Whether all are spaces.", isspace).pure(),
    function("istitle", "self, /", "Whether words are in title case.", istitle).pure(),
    function("isupper", "self, /", "Whether letters are upper case.", isupper).pure(),
    function("join", "self, iterable, /", "The strings of `iterable`, with this between.", join),
    function("ljust", "self, width, fillchar=' ', /", "At the left of `width`.", ljust).pure(),
    function("lower", "self, /", "In lower case.", lower).pure(),
    function("lstrip", "self, chars=None, /", "Without leading space or `chars`.", lstrip).pure(),
    function("partition", "self, sep, /", "Before, separator and after.", partition).pure(),
    function("removeprefix", "self, prefix, /", "Without `prefix`.", removeprefix).pure(),
    function("removesuffix", "self, suffix, /", "Without `suffix`.", removesuffix).pure(),
    function("replace", "self, old, new, count=-1, /", "`old` replaced by `new`.", replace).pure(),
    function(
        "rfind",
        "self, sub, start=None, end=None, /",
        "Highest index of `sub`, or -1.",
        rfind,
    )
    .pure(),
    function("rindex", "self, sub, start=None, end=None, /", "Highest index of `sub`.", rindex)
        .pure(),
    function("rjust", "self, width, fillchar=' ', /", "At the right of `width`.", rjust).pure(),
    function("rpartition", "self, sep, /", "As `partition`, from the right.", rpartition).pure(),
    function("rsplit", "self, sep=None, maxsplit=-1", "Parts, split from the right.", rsplit)
        .pure(),
    function("rstrip", "self, chars=None, /", "Without trailing space or `chars`.", rstrip).pure(),
    function("split", "self, sep=None, maxsplit=-1", "The parts between separators.", split).pure(),
    function("splitlines", "self, keepends=False", "The lines.", splitlines).pure(),
    function(
        "startswith",
        "self, prefix, start=None, end=None, /",
        "Whether it starts so.",
        startswith,
    )
    .pure(),
    function("strip", "self, chars=None, /", "Without space or `chars` at both ends.", strip)
        .pure(),
    function("swapcase", "self, /", "Upper and lower case exchanged.", swapcase).pure(),
    function("title", "self, /", "Words in title case.", title).pure(),
    function("translate", "self, table, /", "Characters replaced by a table.", translate),
    function("upper", "self, /", "In upper case.", upper).pure(),
    function("zfill", "self, width, /", "Zeros in front, after the sign.", zfill).pure(),
];

/// Functions of the class `str`.
pub static STATICS: &[NativeFn] =
    &[function("maketrans", "x, y=None, z=None, /", "A table for `translate`.", maketrans)];

macro_rules! tests {
    ($($name:ident: |$text:ident| $test:expr;)*) => {
        $(fn $name(cx: &mut Cx, args: Args<'_>) -> Res {
            let $text = args.str(0)?;
            stoppable_if_long(cx, $text.len(), || $test).map(Value::Bool)
        })*
    };
}

tests! {
    isalnum: |it| text::all(it, text::is_alnum);
    isalpha: |it| text::all(it, text::is_alpha);
    isascii: |it| it.is_ascii();
    isdecimal: |it| text::all(it, |it| text::digit_value(it).is_some());
    isdigit: |it| text::all(it, text::is_digit);
    isidentifier: |it| text::is_identifier(it);
    islower: |it| text::is_lower(it);
    isnumeric: |it| text::all(it, |it| it.is_numeric() || text::is_digit(it));
    isprintable: |it| patience::chars(it).all(is_printable);
    isspace: |it| text::all(it, text::is_space);
    istitle: |it| text::is_title_case(it);
    isupper: |it| text::is_upper(it);
}

macro_rules! changes {
    ($($name:ident: |$text:ident| $change:expr;)*) => {
        $(fn $name(cx: &mut Cx, args: Args<'_>) -> Res {
            let $text = args.str(0)?;
            stoppable_if_long(cx, $text.len(), || $change).map(Value::str)
        })*
    };
}

changes! {
    capitalize: |it| text::capitalize(it);
    casefold: |it| text::case_fold(it);
    lower: |it| text::lower(it);
    swapcase: |it| text::swap_case(it);
    title: |it| text::title(it);
    upper: |it| text::upper(it);
}

/// The part of a string that `start` and `end` choose, with its offset in code points.
struct Window<'a> {
    text: &'a str,
    offset: usize,
    /// False where `start` lies behind `end`: then not even the empty string is found.
    valid: bool,
}

fn window<'a>(cx: &mut Cx, args: Args<'a>) -> Result<Window<'a>, Raised> {
    let text = args.str(0)?;
    if args.opt(2).is_none() && args.opt(3).is_none() {
        return Ok(Window { text, offset: 0, valid: true });
    }
    let len = match args[0].core() {
        Value::Str(it) => it.chars_len() as i64,
        _ => 0,
    };
    let mut place = |idx: usize, missing: i64| -> Result<i64, Raised> {
        let Some(value) = args.opt(idx) else { return Ok(missing) };
        let at = cx.index(value).map_err(|_| {
            type_error("slice indices must be integers or None or have an __index__ method")
        })?;
        Ok(if at < 0 { (at.saturating_add(len)).max(0) } else { at })
    };
    let (start, end) = (place(2, 0)?, place(3, len)?.min(len));
    if start > end {
        return Ok(Window { text: "", offset: 0, valid: false });
    }
    let (from, to) = (text::byte_at(text, start as usize), text::byte_at(text, end as usize));
    Ok(Window { text: &text[from..to], offset: start as usize, valid: true })
}

impl Window<'_> {
    fn place_of(&self, byte: usize) -> i64 {
        (self.offset + self.text[..byte].chars().count()) as i64
    }
}

fn needle(args: Args<'_>) -> Result<&str, Raised> {
    let value = &args.all()[1];
    value.as_str().ok_or_else(|| type_error(format!("must be str, not {}", type_name(value))))
}

fn locate(cx: &mut Cx, args: Args<'_>, last: bool) -> Result<i64, Raised> {
    let sub = needle(args)?;
    let window = window(cx, args)?;
    let search = || match last {
        true => search::places_from_end(window.text, sub).next(),
        false => search::places(window.text, sub).next(),
    };
    let at = stoppable_if_long(cx, window.text.len(), search)?;
    Ok(at.filter(|_| window.valid).map_or(-1, |at| window.place_of(at)))
}

fn find(cx: &mut Cx, args: Args<'_>) -> Res {
    locate(cx, args, false).map(Value::Int)
}

fn rfind(cx: &mut Cx, args: Args<'_>) -> Res {
    locate(cx, args, true).map(Value::Int)
}

fn index(cx: &mut Cx, args: Args<'_>) -> Res {
    found(locate(cx, args, false)?)
}

fn rindex(cx: &mut Cx, args: Args<'_>) -> Res {
    found(locate(cx, args, true)?)
}

fn found(at: i64) -> Res {
    if at < 0 { Err(value_error("substring not found")) } else { Ok(Value::Int(at)) }
}

fn count(cx: &mut Cx, args: Args<'_>) -> Res {
    let sub = needle(args)?;
    let window = window(cx, args)?;
    if !window.valid {
        return Ok(Value::Int(0));
    }
    stoppable_if_long(cx, window.text.len(), || search::places(window.text, sub).count())
        .map(Value::from)
}

fn startswith(cx: &mut Cx, args: Args<'_>) -> Res {
    affix(cx, args, "startswith", |text, it| text.starts_with(it))
}

fn endswith(cx: &mut Cx, args: Args<'_>) -> Res {
    affix(cx, args, "endswith", |text, it| text.ends_with(it))
}

fn affix(cx: &mut Cx, args: Args<'_>, name: &str, test: fn(&str, &str) -> bool) -> Res {
    let window = window(cx, args)?;
    let wrong = |kind: &str, value: &Value| type_error(format!("{kind}, not {}", type_name(value)));
    if let Some(many) = args[1].as_tuple() {
        for one in many.iter() {
            let kind = format!("tuple for {name} must only contain str");
            let one = one.as_str().ok_or_else(|| wrong(&kind, one))?;
            if window.valid && test(window.text, one) {
                return Ok(Value::Bool(true));
            }
        }
        return Ok(Value::Bool(false));
    }
    let kind = format!("{name} first arg must be str or a tuple of str");
    let one = args[1].as_str().ok_or_else(|| wrong(&kind, &args[1]))?;
    Ok(Value::Bool(window.valid && test(window.text, one)))
}

fn width(cx: &mut Cx, args: Args<'_>) -> Result<usize, Raised> {
    let width = cx.index(&args[1])?.max(0) as usize;
    // A code point takes up to four bytes.
    memory::room(width.saturating_mul(4))?;
    Ok(width)
}

fn fill_char(args: Args<'_>) -> Result<char, Raised> {
    let Some(text) = args[2].as_str() else {
        let name = type_name(&args[2]);
        return Err(type_error(format!(
            "The fill character must be a unicode character, not {name}"
        )));
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(fill), None) => Ok(fill),
        _ => Err(type_error("The fill character must be exactly one character long")),
    }
}

fn center(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, fill, width) = (args.str(0)?, fill_char(args)?, width(cx, args)?);
    stoppable_if_long(cx, width, || text::center(text, width, fill)).map(Value::str)
}

fn ljust(cx: &mut Cx, args: Args<'_>) -> Res {
    padded(cx, args, '<')
}

fn rjust(cx: &mut Cx, args: Args<'_>) -> Res {
    padded(cx, args, '>')
}

fn padded(cx: &mut Cx, args: Args<'_>, align: char) -> Res {
    let (text, fill, width) = (args.str(0)?, fill_char(args)?, width(cx, args)?);
    stoppable_if_long(cx, width, || pad(text, fill, align, width)).map(Value::str)
}

fn zfill(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, width) = (args.str(0)?, width(cx, args)?);
    stoppable_if_long(cx, width, || text::zero_fill(text, width)).map(Value::str)
}

fn expandtabs(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::str(text::expand_tabs(args.str(0)?, width(cx, args)?)))
}

fn format_method(cx: &mut Cx, args: Args<'_>) -> Res {
    template::fill(cx, args.str(0)?, args.rest(1), args.dict(2)?).map(Value::str)
}

fn format_map(cx: &mut Cx, args: Args<'_>) -> Res {
    template::fill_from(cx, args.str(0)?, &args[1]).map(Value::str)
}

fn join(cx: &mut Cx, args: Args<'_>) -> Res {
    let between = args.str(0)?;
    let items = match args[1].core() {
        Value::List(it) => it.copied()?,
        Value::Tuple(it) => it.to_vec(),
        _ => cx.collect(&args[1]).map_err(|raised| {
            let not_iterable = raised.message().ends_with("object is not iterable");
            if not_iterable { type_error("can only join an iterable") } else { raised }
        })?,
    };
    let parts: usize = items.iter().filter_map(Value::as_str).map(str::len).sum();
    let bytes = parts.saturating_add(between.len().saturating_mul(items.len().saturating_sub(1)));
    let mut out = memory::string(bytes)?;
    let mut pace = Pace::default();
    for (idx, item) in items.iter().enumerate() {
        pace.step(cx)?;
        let Some(part) = item.as_str() else {
            return Err(type_error(format!(
                "sequence item {idx}: expected str instance, {} found",
                type_name(item)
            )));
        };
        if idx > 0 {
            cx.push_text(&mut out, between)?;
        }
        cx.push_text(&mut out, part)?;
    }
    Ok(Value::str(out))
}

fn stripped(args: Args<'_>, name: &str, left: bool, right: bool) -> Res {
    let mut text = args.str(0)?;
    let chars = match args.opt(1) {
        None => None,
        Some(it) => {
            Some(it.as_str().ok_or_else(|| type_error(format!("{name} arg must be None or str")))?)
        }
    };
    let test = |it: char| chars.map_or_else(|| text::is_space(it), |chars| chars.contains(it));
    if left {
        text = text.trim_start_matches(test);
    }
    if right {
        text = text.trim_end_matches(test);
    }
    Ok(Value::str(text))
}

fn strip(_cx: &mut Cx, args: Args<'_>) -> Res {
    stripped(args, "strip", true, true)
}

fn lstrip(_cx: &mut Cx, args: Args<'_>) -> Res {
    stripped(args, "lstrip", true, false)
}

fn rstrip(_cx: &mut Cx, args: Args<'_>) -> Res {
    stripped(args, "rstrip", false, true)
}

fn removeprefix(_cx: &mut Cx, args: Args<'_>) -> Res {
    let text = args.str(0)?;
    Ok(Value::str(text.strip_prefix(args.str(1)?).unwrap_or(text)))
}

fn removesuffix(_cx: &mut Cx, args: Args<'_>) -> Res {
    let text = args.str(0)?;
    Ok(Value::str(text.strip_suffix(args.str(1)?).unwrap_or(text)))
}

fn replace(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, count) = (args.str(0)?, args.int(3)?);
    let old = argument(args, 1, "replace")?;
    let new = argument(args, 2, "replace")?;
    if new.len() > old.len() {
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        let found = || search::places(text, old).take(most).count();
        let places = stoppable_if_long(cx, text.len(), found)?;
        memory::room(text.len().saturating_add(places.saturating_mul(new.len() - old.len())))?;
    }
    stoppable_if_long(cx, text.len(), || text::replace(text, old, new, count)).map(Value::str)
}

fn argument<'a>(args: Args<'a>, idx: usize, name: &str) -> Result<&'a str, Raised> {
    let value = &args.all()[idx];
    value.as_str().ok_or_else(|| {
        let got = if value.is_none() { "None" } else { type_name(value) };
        type_error(format!("{name}() argument {idx} must be str, not {got}"))
    })
}

fn separator(args: Args<'_>) -> Result<Option<&str>, Raised> {
    let Some(value) = args.opt(1) else { return Ok(None) };
    match value.as_str() {
        Some("") => Err(value_error("empty separator")),
        Some(it) => Ok(Some(it)),
        None => Err(type_error(format!("must be str or None, not {}", type_name(value)))),
    }
}

/// The parts that `split` finds, as a list.
fn strings<'a>(cx: &mut Cx, text: &str, split: impl FnOnce() -> Vec<&'a str>) -> Res {
    let mut items = Items::default();
    let mut pace = Pace::default();
    for part in stoppable_if_long(cx, text.len(), split)? {
        pace.step(cx)?;
        items.push(Value::str(part))?;
        memory::check()?;
    }
    Ok(Value::list(items.take()))
}

fn split(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, limit) = (args.str(0)?, args.int(2)?);
    let separator = separator(args)?;
    strings(cx, text, || match separator {
        Some(separator) => text::split(text, separator, limit),
        None => text::split_space(text, limit),
    })
}

fn rsplit(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, limit) = (args.str(0)?, args.int(2)?);
    let separator = separator(args)?;
    strings(cx, text, || match separator {
        Some(separator) => text::rsplit(text, separator, limit),
        None => text::rsplit_space(text, limit),
    })
}

fn splitlines(cx: &mut Cx, args: Args<'_>) -> Res {
    let keep = cx.truth(&args[1])?;
    let text = args.str(0)?;
    strings(cx, text, || text::split_lines(text, keep))
}

fn partition(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, separator) = (args.str(0)?, needle(args)?);
    if separator.is_empty() {
        return Err(value_error("empty separator"));
    }
    let parts = match text.split_once(separator) {
        Some((before, after)) => [before, separator, after],
        None => [text, "", ""],
    };
    Ok(Value::tuple(parts.map(Value::str)))
}

fn rpartition(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, separator) = (args.str(0)?, needle(args)?);
    if separator.is_empty() {
        return Err(value_error("empty separator"));
    }
    let parts = match text.rsplit_once(separator) {
        Some((before, after)) => [before, separator, after],
        None => ["", "", text],
    };
    Ok(Value::tuple(parts.map(Value::str)))
}

fn translate(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut out = String::new();
    let mut pace = Pace::default();
    for it in args.str(0)?.chars() {
        pace.step(cx)?;
        let new = match cx.getitem(&args[1], &Value::Int(it as i64)) {
            Ok(new) => new,
            Err(raised) if raised.is(&LOOKUP_ERROR) => {
                out.push(it);
                continue;
            }
            Err(raised) => return Err(raised),
        };
        match (&new, new.as_str(), new.as_int()) {
            (Value::None, ..) => {}
            (_, Some(text), _) => {
                out.push_str(text);
                memory::check_text(&out)?;
            }
            (_, _, Some(code)) => out.push(code_point(code)?),
            _ => return Err(type_error("character mapping must return integer, None or str")),
        }
    }
    Ok(Value::str(out))
}

fn code_point(code: i64) -> Result<char, Raised> {
    let found = u32::try_from(code).ok().and_then(char::from_u32);
    found.ok_or_else(|| value_error("character mapping must be in range(0x110000)"))
}

fn maketrans(cx: &mut Cx, args: Args<'_>) -> Res {
    let table = Dict::default();
    let Some(to) = args.opt_str(1)? else {
        let Some(source) = args[0].as_dict() else {
            let message = "if you give only one argument to maketrans it must be a dict";
            return Err(type_error(message));
        };
        for (key, value) in source.items() {
            table.insert(cx, translation_key(key)?, value)?;
        }
        return Ok(Value::Dict(table.into()));
    };
    let from = args.str(0)?;
    if from.chars().count() != to.chars().count() {
        let message = "the first two maketrans arguments must have equal length";
        return Err(value_error(message));
    }
    for (from, to) in from.chars().zip(to.chars()) {
        table.insert(cx, Value::Int(from as i64), Value::Int(to as i64))?;
    }
    for gone in args.opt_str(2)?.unwrap_or_default().chars() {
        table.insert(cx, Value::Int(gone as i64), Value::None)?;
    }
    Ok(Value::Dict(table.into()))
}

fn translation_key(key: Value) -> Res {
    match key.core() {
        Value::Int(_) => Ok(key),
        Value::Str(text) => single(text).map(|it| Value::Int(it as i64)),
        _ => Err(type_error("keys in translate table must be strings or integers")),
    }
}

fn single(text: &Str) -> Result<char, Raised> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(it), None) => Ok(it),
        _ => Err(value_error("string keys in translate table must be of length 1")),
    }
}
