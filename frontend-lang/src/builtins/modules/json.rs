//! `json`: text to values; see `json_dump.rs` for the other way.

use std::rc::Rc;

use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "json",
    doc: "JSON text and values.",
    members: &[
        Member::Types(&[&JSON_DECODE_ERROR]),
        Member::These("json.encoder", &["JSONEncoder"]),
        Member::Functions(FUNCTIONS),
        Member::Functions(super::json_dump::FUNCTIONS),
    ],
    aliases: &[],
};

/// `json.JSONDecodeError`.
pub static JSON_DECODE_ERROR: NativeType = NativeType {
    module: "json.decoder",
    base: Some(&VALUE_ERROR),
    ..NativeType::plain("JSONDecodeError", "Text is not JSON.")
};

static FUNCTIONS: &[NativeFn] = &[
    function("load", HOOKS_FP, "The value that a file holds.", load),
    function("loads", HOOKS, "The value of JSON text.", loads),
];

const HOOKS: &str = "s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, \
                     parse_constant=None, object_pairs_hook=None";
const HOOKS_FP: &str = "fp, *, cls=None, object_hook=None, parse_float=None, parse_int=None, \
                        parse_constant=None, object_pairs_hook=None";

fn load(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.call_method(&args[0], Sym::new("read"), &[])?;
    let text = text.as_str().ok_or_else(|| type_error("read() must give a str"))?;
    decode(cx, text, args)
}

fn loads(cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(text) = args[0].as_str() else {
        return Err(type_error(format!(
            "the JSON object must be str, bytes or bytearray, not {}",
            type_name(&args[0])
        )));
    };
    decode(cx, text, args)
}

fn decode(cx: &mut Cx, text: &str, args: Args<'_>) -> Res {
    let mut decoder = Decoder { text, at: 0, hooks: args };
    if text.starts_with('\u{feff}') {
        return Err(decoder.error("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
    }
    decoder.skip_space();
    let value = decoder.value(cx)?;
    decoder.skip_space();
    if decoder.at < text.len() {
        return Err(decoder.error("Extra data", decoder.at));
    }
    Ok(value)
}

struct Decoder<'a> {
    text: &'a str,
    at: usize,
    hooks: Args<'a>,
}

impl Decoder<'_> {
    fn error(&self, message: &str, at: usize) -> Raised {
        let before = &self.text[..at];
        let pos = before.chars().count();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        let full = format!("{message}: line {line} column {column} (char {pos})");
        let raised = Raised::new(&JSON_DECODE_ERROR, full);
        if let Some(instance) = raised.instance() {
            instance.set(Sym::of("msg"), Value::str(message));
            instance.set(Sym::of("doc"), Value::str(self.text));
            instance.set(Sym::of("pos"), Value::from(pos));
            instance.set(Sym::of("lineno"), Value::from(line));
            instance.set(Sym::of("colno"), Value::from(column));
        }
        raised
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, cx: &mut Cx) -> Res {
        match self.peek() {
            Some(b'"') => self.string().map(Value::str),
            Some(b'{') => self.nested(cx, Decoder::object),
            Some(b'[') => self.nested(cx, Decoder::array),
            _ => self.word(cx),
        }
    }

    fn nested(&mut self, cx: &mut Cx, read: fn(&mut Self, &mut Cx) -> Res) -> Res {
        cx.enter_native()?;
        self.at += 1;
        self.skip_space();
        let value = read(self, cx);
        cx.leave_native();
        value
    }

    fn word(&mut self, cx: &mut Cx) -> Res {
        let constants = [
            ("null", Value::None),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        for (name, value) in constants {
            if self.rest().starts_with(name) {
                self.at += name.len();
                return match (&value, self.hooks.opt(5)) {
                    (Value::Float(_), Some(hook)) => cx.call(hook, &[Value::str(name)]),
                    _ => Ok(value),
                };
            }
        }
        self.number(cx)
    }

    fn number(&mut self, cx: &mut Cx) -> Res {
        let bytes = self.rest().as_bytes();
        let digits =
            |from: usize| bytes[from..].iter().take_while(|it| it.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let whole = match bytes.get(sign) {
            Some(b'0') => 1,
            _ => digits(sign),
        };
        if whole == 0 {
            return Err(self.error("Expecting value", self.at));
        }
        let mut end = sign + whole;
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            is_float = true;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if end + 1 + signed <= bytes.len() && digits(end + 1 + signed) > 0 {
                end += 1 + signed + digits(end + 1 + signed);
                is_float = true;
            }
        }
        let text = self.rest()[..end].to_owned();
        self.at += end;
        if let Some(hook) = self.hooks.opt(if is_float { 3 } else { 4 }) {
            return cx.call(hook, &[Value::str(text)]);
        }
        if is_float {
            return Ok(Value::Float(text.parse().unwrap_or(f64::NAN)));
        }
        text.parse().map(Value::Int).map_err(|_| crate::objects::number::overflow())
    }

    fn array(&mut self, cx: &mut Cx) -> Res {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(cx)?);
            crate::memory::check_items(&items)?;
            self.skip_space();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::list(items));
                }
                Some(b',') => self.at += 1,
                _ => return Err(self.error("Expecting ',' delimiter", self.at)),
            }
            self.skip_space();
        }
    }

    fn object(&mut self, cx: &mut Cx) -> Res {
        const NAME: &str = "Expecting property name enclosed in double quotes";
        let mut pairs = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.finish_object(cx, pairs);
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error(NAME, self.at));
            }
            let key = Value::str(self.string()?);
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.error("Expecting ':' delimiter", self.at));
            }
            self.at += 1;
            self.skip_space();
            pairs.push((key, self.value(cx)?));
            crate::memory::check_items(&pairs)?;
            self.skip_space();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return self.finish_object(cx, pairs);
                }
                Some(b',') => self.at += 1,
                _ => return Err(self.error("Expecting ',' delimiter", self.at)),
            }
            self.skip_space();
        }
    }

    fn finish_object(&self, cx: &mut Cx, pairs: Vec<(Value, Value)>) -> Res {
        if let Some(hook) = self.hooks.opt(6) {
            let pairs = pairs.into_iter().map(|(key, value)| Value::tuple([key, value])).collect();
            return cx.call(hook, &[Value::list(pairs)]);
        }
        let dict = Value::Dict(Rc::new(Dict::from_pairs(cx, pairs)?));
        match self.hooks.opt(2) {
            Some(hook) => cx.call(hook, &[dict]),
            None => Ok(dict),
        }
    }

    /// A string, from its opening quote.
    fn string(&mut self) -> Result<String, Raised> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let plain = self.rest().find(|it: char| it == '"' || it == '\\' || it < ' ');
            let Some(plain) = plain else {
                return Err(self.error("Unterminated string starting at", start));
            };
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(start, &mut out)?,
                _ => return Err(self.error("Invalid control character at", self.at)),
            }
        }
    }

    fn escape(&mut self, start: usize, out: &mut String) -> Result<(), Raised> {
        let backslash = self.at;
        self.at += 1;
        let Some(it) = self.peek() else {
            return Err(self.error("Unterminated string starting at", start));
        };
        self.at += 1;
        out.push(match it {
            b'"' | b'\\' | b'/' => it as char,
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode(backslash)?,
            _ => return Err(self.error("Invalid \\escape", backslash)),
        });
        Ok(())
    }

    fn unicode(&mut self, backslash: usize) -> Result<char, Raised> {
        let invalid = |this: &Self| this.error("Invalid \\uXXXX escape", backslash + 1);
        let high = self.hex().ok_or_else(|| invalid(self))?;
        if !(0xd800..0xdc00).contains(&high) || !self.rest().starts_with("\\u") {
            // A half of a pair stands alone; strings here hold no such halves.
            return Ok(char::from_u32(high).unwrap_or('\u{fffd}'));
        }
        let after = self.at;
        self.at += 2;
        let low = self.hex().ok_or_else(|| self.error("Invalid \\uXXXX escape", after + 1))?;
        if !(0xdc00..0xe000).contains(&low) {
            self.at = after;
            return Ok('\u{fffd}');
        }
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        Ok(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
