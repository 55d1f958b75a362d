//! `template % values`: formatting as in C's `printf`.

use crate::memory;
use crate::native::*;
use crate::objects::format::{float_digits, pad};
use crate::objects::number::float_to_int;
use crate::objects::quote;

/// `template % values`; `values` is a tuple, a mapping, or one value.
pub fn format(cx: &mut Cx, template: &str, values: &Value) -> Result<String, Raised> {
    let many = values.as_tuple().map(|it| it.to_vec());
    let mut source = Source { values, many, next: 0, named: false };
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        cx.push_text(&mut out, &rest[..at])?;
        let offset = template.len() - rest.len() + at + 1;
        let used = directive(cx, &mut out, &rest[at + 1..], offset, template, &mut source)?;
        memory::check_text(&out)?;
        rest = &rest[at + 1 + used..];
    }
    cx.push_text(&mut out, rest)?;
    source.check_used()?;
    Ok(out)
}

struct Source<'a> {
    values: &'a Value,
    many: Option<Vec<Value>>,
    next: usize,
    named: bool,
}

impl Source<'_> {
    fn take(&mut self) -> Res {
        let found = match &self.many {
            Some(many) => many.get(self.next).cloned(),
            None if self.next == 0 => Some(self.values.clone()),
            None => None,
        };
        self.next += 1;
        found.ok_or_else(|| type_error("not enough arguments for format string"))
    }

    fn is_mapping(&self) -> bool {
        match self.values {
            Value::Dict(_) | Value::List(_) | Value::Range(_) => true,
            Value::Instance(_) | Value::Object(_) => self.many.is_none(),
            _ => false,
        }
    }

    fn check_used(&self) -> Result<(), Raised> {
        let left = match &self.many {
            Some(many) => self.next < many.len(),
            None => self.next == 0 && !self.is_mapping(),
        };
        if left && !self.named {
            return Err(type_error("not all arguments converted during string formatting"));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Flags {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Result<char, Raised> {
        self.text[self.at..].chars().next().ok_or_else(|| value_error("incomplete format"))
    }

    fn skip(&mut self, it: char) {
        self.at += it.len_utf8();
    }

    fn number(&mut self) -> Result<usize, Raised> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let number = &self.text[self.at..self.at + digits];
        self.at += digits;
        if number.is_empty() { Ok(0) } else { bounded(number.parse().unwrap_or(usize::MAX)) }
    }
}

fn bounded(number: usize) -> Result<usize, Raised> {
    // A code point takes up to four bytes.
    memory::room(number.saturating_mul(4))?;
    Ok(number)
}

/// Adds the text of one directive, which stands after its `%`; returns the directive's length in bytes.
fn directive(
    cx: &mut Cx,
    out: &mut String,
    text: &str,
    offset: usize,
    template: &str,
    source: &mut Source<'_>,
) -> Result<usize, Raised> {
    let mut reader = Reader { text, at: 0 };
    let mut chosen = None;
    if reader.peek()? == '(' {
        chosen = Some(named_value(cx, &mut reader, source)?);
    }
    let flags = flags(&mut reader, source)?;
    if matches!(reader.peek()?, 'h' | 'l' | 'L') {
        reader.at += 1;
    }
    let kind = reader.peek()?;
    let kind_at = offset + reader.at;
    reader.skip(kind);
    if kind == '%' && reader.at == 1 {
        out.push('%');
        return Ok(reader.at);
    }
    let value = match chosen {
        Some(value) => value,
        None => source.take()?,
    };
    let piece = match kind {
        'd' | 'i' | 'u' => integer(cx, &value, kind, &flags)?,
        'o' | 'x' | 'X' => integer(cx, &value, kind, &flags)?,
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => float(cx, &value, kind, &flags)?,
        'c' => one_char(&value, &flags)?,
        's' => match &value {
            Value::Str(text) => {
                push_string(cx, out, text, &flags)?;
                return Ok(reader.at);
            }
            _ => string(&cx.str(&value)?, &flags),
        },
        'r' => string(&cx.repr(&value)?, &flags),
        'a' => string(&quote::ascii_of_repr(&cx.repr(&value)?), &flags),
        _ => {
            let index = template[..kind_at].chars().count();
            let code = kind as u32;
            return Err(value_error(format!(
                "unsupported format character '{kind}' ({code:#x}) at index {index}"
            )));
        }
    };
    cx.push_text(out, &piece)?;
    Ok(reader.at)
}

fn named_value(cx: &mut Cx, reader: &mut Reader<'_>, source: &mut Source<'_>) -> Res {
    if !source.is_mapping() {
        return Err(type_error("format requires a mapping"));
    }
    let rest = &reader.text[1..];
    let mut depth = 1;
    let end = rest.bytes().position(|it| {
        depth += i32::from(it == b'(') - i32::from(it == b')');
        depth == 0
    });
    let end = end.ok_or_else(|| value_error("incomplete format key"))?;
    reader.at = end + 2;
    source.named = true;
    cx.getitem(source.values, &Value::str(&rest[..end]))
}

fn flags(reader: &mut Reader<'_>, source: &mut Source<'_>) -> Result<Flags, Raised> {
    let mut flags = Flags::default();
    loop {
        let it = reader.peek()?;
        match it {
            '-' => flags.left = true,
            '+' => flags.plus = true,
            ' ' => flags.space = true,
            '0' => flags.zero = true,
            '#' => flags.alternate = true,
            _ => break,
        }
        reader.skip(it);
    }
    if reader.peek()? == '*' {
        reader.at += 1;
        let width = star(source)?;
        flags.left |= width < 0;
        flags.width = bounded(width.unsigned_abs() as usize)?;
    } else {
        flags.width = reader.number()?;
    }
    if reader.peek()? == '.' {
        reader.at += 1;
        flags.precision = if reader.peek()? == '*' {
            reader.at += 1;
            Some(bounded(star(source)?.max(0) as usize)?)
        } else {
            Some(reader.number()?)
        };
    }
    Ok(flags)
}

fn star(source: &mut Source<'_>) -> Result<i64, Raised> {
    source.take()?.as_int().ok_or_else(|| type_error("* wants int"))
}

fn integer(cx: &mut Cx, value: &Value, kind: char, flags: &Flags) -> Result<String, Raised> {
    let decimal = matches!(kind, 'd' | 'i' | 'u');
    let int = match value.core() {
        Value::Float(it) if decimal => float_to_int(*it)?,
        _ => match (value.as_int(), value.as_native()) {
            (Some(int), _) => int,
            (None, Some(native)) => native.as_index().ok_or_else(|| not_a_number(kind, value))?,
            (None, None) => user_integer(cx, value).ok_or_else(|| not_a_number(kind, value))??,
        },
    };
    let magnitude = int.unsigned_abs();
    let (prefix, digits) = match kind {
        'o' => ("0o", format!("{magnitude:o}")),
        'x' => ("0x", format!("{magnitude:x}")),
        'X' => ("0X", format!("{magnitude:X}")),
        _ => ("", magnitude.to_string()),
    };
    let digits = pad(&digits, '0', '>', flags.precision.unwrap_or(0));
    let prefix = if flags.alternate { prefix } else { "" };
    Ok(number(int < 0, prefix, &digits, flags))
}

fn user_integer(cx: &mut Cx, value: &Value) -> Option<Result<i64, Raised>> {
    let Value::Instance(instance) = value else { return None };
    let method = instance.class.lookup(Sym::INDEX).or_else(|| instance.class.lookup(Sym::INT))?;
    let result = cx.call(&method, std::slice::from_ref(value));
    Some(result.and_then(|it| it.as_int().ok_or_else(|| type_error("__int__ returned non-int"))))
}

fn not_a_number(kind: char, value: &Value) -> Raised {
    let wanted = match kind {
        'o' | 'x' | 'X' => "an integer",
        _ => "a real number",
    };
    type_error(format!("%{kind} format: {wanted} is required, not {}", type_name(value)))
}

fn float(cx: &mut Cx, value: &Value, kind: char, flags: &Flags) -> Result<String, Raised> {
    let float = real(cx, value)?;
    let digits = float_digits(float.abs(), Some(kind), flags.precision, flags.alternate);
    Ok(number(float.is_sign_negative() && !float.is_nan(), "", &digits, flags))
}

fn real(cx: &mut Cx, value: &Value) -> Result<f64, Raised> {
    if let Some(float) = value.as_float() {
        return Ok(float);
    }
    if let Some(float) = value.as_native().and_then(|it| it.as_float()) {
        return Ok(float);
    }
    if let Value::Instance(instance) = value
        && let Some(method) = instance.class.lookup(Sym::FLOAT)
    {
        let float = cx.call(&method, std::slice::from_ref(value))?;
        return float.as_float().ok_or_else(|| type_error("__float__ returned non-float"));
    }
    Err(type_error(format!("must be real number, not {}", type_name(value))))
}

/// Sign, prefix and digits, filled to the width.
fn number(negative: bool, prefix: &str, digits: &str, flags: &Flags) -> String {
    let sign = match (negative, flags.plus, flags.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    if flags.left {
        pad(&format!("{sign}{prefix}{digits}"), ' ', '<', flags.width)
    } else if flags.zero {
        let width = flags.width.saturating_sub(sign.len() + prefix.len());
        format!("{sign}{prefix}{}", pad(digits, '0', '>', width))
    } else {
        pad(&format!("{sign}{prefix}{digits}"), ' ', '>', flags.width)
    }
}

/// Adds a text under `%s`; one that is neither cut nor filled up is copied once.
fn push_string(cx: &Cx, out: &mut String, text: &str, flags: &Flags) -> Result<(), Raised> {
    if flags.width == 0 && flags.precision.is_none() {
        memory::room(text.len())?;
        return cx.push_text(out, text);
    }
    cx.push_text(out, &string(text, flags))
}

fn string(text: &str, flags: &Flags) -> String {
    let cut = match flags.precision {
        Some(precision) => text.char_indices().nth(precision).map_or(text, |(at, _)| &text[..at]),
        None => text,
    };
    pad(cut, ' ', if flags.left { '<' } else { '>' }, flags.width)
}

fn one_char(value: &Value, flags: &Flags) -> Result<String, Raised> {
    let text = if let Some(text) = value.as_str() {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(one), None) => one,
            _ => return Err(type_error("%c requires int or char")),
        }
    } else {
        let int = value.as_int().ok_or_else(|| type_error("%c requires int or char"))?;
        let one = u32::try_from(int).ok().and_then(char::from_u32);
        one.ok_or_else(|| overflow_error("%c arg not in range(0x110000)"))?
    };
    Ok(pad(&text.to_string(), ' ', if flags.left { '<' } else { '>' }, flags.width))
}
