//! `str.format`: templates with replacement fields.
//!
//! `{0.name[key]!r:spec}`: an argument, a path into it, a conversion, a specification that may
//! hold fields itself.

use crate::native::*;
use crate::objects::quote;

/// Fills `template` with positional and named arguments.
pub fn fill(
    cx: &mut Cx,
    template: &str,
    positional: &[Value],
    named: &Dict,
) -> Result<String, Raised> {
    let mut filler = Filler { positional, named: Some(named), mapping: None, numbering: None };
    filler.fill(cx, template, 2)
}

/// `str.format_map`: names are looked up in `mapping`.
pub fn fill_from(cx: &mut Cx, template: &str, mapping: &Value) -> Result<String, Raised> {
    let mut filler =
        Filler { positional: &[], named: None, mapping: Some(mapping), numbering: None };
    filler.fill(cx, template, 2)
}

struct Filler<'a> {
    positional: &'a [Value],
    named: Option<&'a Dict>,
    mapping: Option<&'a Value>,
    numbering: Option<Numbering>,
}

enum Numbering {
    Automatic(usize),
    Manual,
}

/// One replacement field as written.
#[derive(Debug, PartialEq)]
struct Field<'a> {
    name: &'a str,
    conversion: Option<char>,
    spec: &'a str,
}

impl Filler<'_> {
    fn fill(&mut self, cx: &mut Cx, template: &str, depth: u32) -> Result<String, Raised> {
        if depth == 0 {
            return Err(value_error("Max string recursion exceeded"));
        }
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            let after = &rest[at + 1..];
            if after.starts_with(brace) {
                out.push_str(brace);
                rest = &after[1..];
            } else if brace == "}" {
                return Err(value_error("Single '}' encountered in format string"));
            } else if after.is_empty() {
                return Err(value_error("Single '{' encountered in format string"));
            } else {
                let (field, tail) = parse_field(after)?;
                out.push_str(&self.field(cx, &field, depth)?);
                crate::memory::check_text(&out)?;
                rest = tail;
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    fn field(&mut self, cx: &mut Cx, field: &Field<'_>, depth: u32) -> Result<String, Raised> {
        let value = self.value(cx, field.name)?;
        let value = match field.conversion {
            None => value,
            Some('r') => Value::str(cx.repr(&value)?),
            Some('s') => Value::str(cx.str(&value)?),
            Some('a') => Value::str(quote::ascii_of_repr(&cx.repr(&value)?)),
            Some(other) => {
                return Err(value_error(format!("Unknown conversion specifier {other}")));
            }
        };
        if field.spec.contains(['{', '}']) {
            let spec = self.fill(cx, field.spec, depth - 1)?;
            return Ok(cx.format(&value, &spec)?.to_string());
        }
        Ok(cx.format(&value, field.spec)?.to_string())
    }

    fn value(&mut self, cx: &mut Cx, name: &str) -> Res {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut path) = name.split_at(end);
        let mut value = self.argument(cx, first)?;
        while !path.is_empty() {
            if let Some(rest) = path.strip_prefix('.') {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (attr, rest) = rest.split_at(end);
                not_empty(attr)?;
                value = cx.getattr(&value, Sym::new(attr))?;
                path = rest;
            } else if let Some(rest) = path.strip_prefix('[') {
                let (key, rest) = rest
                    .split_once(']')
                    .ok_or_else(|| value_error("Missing ']' in format string"))?;
                not_empty(key)?;
                value = cx.getitem(&value, &key_of(key))?;
                path = rest;
            } else {
                let message = "Only '.' or '[' may follow ']' in format field specifier";
                return Err(value_error(message));
            }
        }
        Ok(value)
    }

    fn argument(&mut self, cx: &mut Cx, name: &str) -> Res {
        let number = self.number(name)?;
        match (number, self.mapping, self.named) {
            (Some(_), Some(_), _) => Err(value_error("Format string contains positional fields")),
            (Some(number), ..) => self.positional.get(number).cloned().ok_or_else(|| {
                index_error(format!(
                    "Replacement index {number} out of range for positional args tuple"
                ))
            }),
            (None, Some(mapping), _) => cx.getitem(mapping, &Value::str(name)),
            (None, _, named) => {
                named.and_then(|it| it.get_str(name)).ok_or_else(|| key_error(Value::str(name)))
            }
        }
    }

    fn number(&mut self, name: &str) -> Result<Option<usize>, Raised> {
        if name.is_empty() {
            return match &mut self.numbering {
                None => {
                    self.numbering = Some(Numbering::Automatic(1));
                    Ok(Some(0))
                }
                Some(Numbering::Automatic(next)) => {
                    *next += 1;
                    Ok(Some(*next - 1))
                }
                Some(Numbering::Manual) => Err(value_error(
                    "cannot switch from manual field specification to automatic field numbering",
                )),
            };
        }
        if !name.bytes().all(|it| it.is_ascii_digit()) {
            return Ok(None);
        }
        if let Some(Numbering::Automatic(_)) = self.numbering {
            return Err(value_error(
                "cannot switch from automatic field numbering to manual field specification",
            ));
        }
        self.numbering = Some(Numbering::Manual);
        let number = name.parse();
        number.map(Some).map_err(|_| value_error("Too many decimal digits in format string"))
    }
}

fn not_empty(part: &str) -> Result<(), Raised> {
    if part.is_empty() {
        return Err(value_error("Empty attribute in format string"));
    }
    Ok(())
}

fn key_of(text: &str) -> Value {
    if text.bytes().all(|it| it.is_ascii_digit())
        && let Ok(number) = text.parse::<i64>()
    {
        return Value::Int(number);
    }
    Value::str(text)
}

/// Reads a field after its `{`; returns it and what follows its `}`.
fn parse_field(text: &str) -> Result<(Field<'_>, &str), Raised> {
    let name_len = name_len(text)?;
    let (name, rest) = text.split_at(name_len);
    let (conversion, rest) = match rest.strip_prefix('!') {
        None => (None, rest),
        Some(rest) => {
            let mut chars = rest.chars();
            let conversion = chars.next().ok_or_else(unmatched)?;
            let rest = chars.as_str();
            if rest.is_empty() {
                return Err(unmatched());
            }
            if !rest.starts_with([':', '}']) {
                return Err(value_error("expected ':' after conversion specifier"));
            }
            (Some(conversion), rest)
        }
    };
    if let Some(tail) = rest.strip_prefix('}') {
        return Ok((Field { name, conversion, spec: "" }, tail));
    }
    let rest = &rest[1..];
    let end = closing_brace(rest).ok_or_else(unmatched)?;
    Ok((Field { name, conversion, spec: &rest[..end] }, &rest[end + 1..]))
}

fn name_len(text: &str) -> Result<usize, Raised> {
    let mut in_brackets = false;
    for (at, it) in text.char_indices() {
        match it {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            '{' if !in_brackets => {
                return Err(value_error("unexpected '{' in field name"));
            }
            '}' | ':' | '!' if !in_brackets => return Ok(at),
            _ => {}
        }
    }
    Err(value_error("expected '}' before end of string"))
}

fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn unmatched() -> Raised {
    value_error("unmatched '{' in format spec")
}
