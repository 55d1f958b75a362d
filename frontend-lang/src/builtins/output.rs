//! `print`, `input`, and texts of values.

use crate::native::*;
use crate::patience::Pace;

/// Functions of text and output.
pub static FUNCTIONS: &[NativeFn] = &[
    function("ascii", "object, /", "`repr` with only ASCII.", ascii).pure(),
    function("chr", "i, /", "The character of a code point.", chr).pure(),
    function("format", "value, spec='', /", "The value as text, by a specification.", format)
        .pure(),
    function("input", "prompt='', /", "Asks the user for a line.", input).opaque(),
    function("ord", "c, /", "The code point of a character.", ord).pure(),
    function(
        "print",
        "*values, sep=None, end=None, file=None, flush=False",
        "Writes values to the output of the cell.",
        print,
    ),
    function("repr", "object, /", "The object as its source text.", repr).pure(),
];

/// Bytes that `print` collects before it writes them.
const PIECE: usize = 1 << 20;

/// What stands between or behind the values.
fn text_or<'a>(
    args: &'a Args<'_>,
    at: usize,
    name: &str,
    plain: &'a str,
) -> Result<&'a str, Raised> {
    match &args[at] {
        Value::None => Ok(plain),
        value => value.core().as_str().ok_or_else(|| {
            type_error(format!("{name} must be None or a string, not {}", type_name(value)))
        }),
    }
}

fn print(cx: &mut Cx, args: Args<'_>) -> Res {
    let separator = text_or(&args, 1, "sep", " ")?;
    let end = text_or(&args, 2, "end", "\n")?;
    let mut text = String::new();
    let mut pace = Pace::default();
    for (idx, value) in args.rest(0).iter().enumerate() {
        pace.step(cx)?;
        if idx > 0 {
            text.push_str(separator);
        }
        match value {
            Value::Str(it) => cx.push_text(&mut text, it)?,
            other => text.push_str(&cx.str(other)?),
        }
        if text.len() > PIECE && args.opt(3).is_none() {
            cx.host.stdout(&text);
            text.clear();
        }
    }
    text.push_str(end);
    if let Some(file) = args.opt(3) {
        cx.call_method(file, Sym::new("write"), &[Value::str(text)])?;
        return Ok(Value::None);
    }
    cx.host.stdout(&text);
    // Long text that the user has stopped is not shown whole.
    cx.poll()?;
    Ok(Value::None)
}

fn input(cx: &mut Cx, args: Args<'_>) -> Res {
    let prompt = cx.str(&args[0])?;
    match cx.host.input(&prompt, false) {
        Ok(line) => Ok(Value::str(line)),
        Err(message) => {
            cx.poll()?;
            Err(Raised::new(&EOF_ERROR, message))
        }
    }
}

fn repr(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.repr(&args[0]).map(Value::str)
}

fn ascii(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.repr(&args[0])?;
    Ok(Value::str(crate::objects::quote::ascii_of_repr(&text)))
}

fn format(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.format(&args[0], args.str(1)?).map(Value::str)
}

fn chr(cx: &mut Cx, args: Args<'_>) -> Res {
    let code = u32::try_from(cx.index(&args[0])?).ok();
    match code.and_then(char::from_u32) {
        Some(it) => Ok(Value::str(it)),
        None => Err(value_error("chr() arg not in range(0x110000)")),
    }
}

fn ord(_cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(text) = args[0].as_str() else {
        return Err(type_error(format!(
            "ord() expected string of length 1, but {} found",
            type_name(&args[0])
        )));
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(it), None) => Ok(Value::Int(it as i64)),
        _ => Err(type_error(format!(
            "ord() expected a character, but string of length {} found",
            text.chars().count()
        ))),
    }
}
