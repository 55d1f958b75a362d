//! `json.dumps`: values to JSON text.

use std::fmt::Write;

use engine::DType;

use crate::array::scalar;
use crate::native::*;
use crate::objects::number::float_repr;
use crate::patience::stoppable_if_long;

pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("dump", OPTIONS_FP, "Writes a value to a file as JSON.", dump),
    function("dumps", OPTIONS, "A value as JSON text.", dumps),
];

const OPTIONS: &str = "obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, \
                       allow_nan=True, cls=None, indent=None, separators=None, default=None, \
                       sort_keys=False";
const OPTIONS_FP: &str = "obj, fp, *, skipkeys=False, ensure_ascii=True, check_circular=True, \
                          allow_nan=True, cls=None, indent=None, separators=None, default=None, \
                          sort_keys=False";

fn dumps(cx: &mut Cx, args: Args<'_>) -> Res {
    encode(cx, args, 1).map(Value::str)
}

fn dump(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = encode(cx, args, 2)?;
    cx.call_method(&args[1], Sym::new("write"), &[Value::str(text)])?;
    Ok(Value::None)
}

struct Encoder {
    out: String,
    skip_keys: bool,
    ascii: bool,
    allow_nan: bool,
    sort_keys: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    default: Option<Value>,
    level: usize,
    /// Addresses of the containers around the current value.
    open: Vec<usize>,
}

fn encode(cx: &mut Cx, args: Args<'_>, first: usize) -> Result<String, Raised> {
    let indent = match args.opt(first + 5) {
        None => None,
        Some(it) => Some(match it.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(cx.index(it)?.clamp(0, 1000) as usize),
        }),
    };
    let (mut item, key) = (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned());
    let mut key_separator = key;
    if let Some(separators) = args.opt(first + 6) {
        let parts = cx.collect(separators)?;
        let [a, b] = parts.as_slice() else {
            return Err(value_error("separators must be a pair of strings"));
        };
        let text = |it: &Value| it.as_str().map(str::to_owned);
        let wrong = || type_error("separators must be strings");
        item = text(a).ok_or_else(wrong)?;
        key_separator = text(b).ok_or_else(wrong)?;
    }
    let default = match args.opt(first + 4) {
        // A class such as `JSONEncoder`, whose method `default` says what becomes of other objects.
        Some(class) => {
            let encoder = cx.call(class, &[])?;
            Some(cx.getattr(&encoder, Sym::new("default"))?)
        }
        None => args.opt(first + 7).cloned(),
    };
    let mut encoder = Encoder {
        out: String::new(),
        skip_keys: cx.truth(&args[first])?,
        ascii: cx.truth(&args[first + 1])?,
        allow_nan: cx.truth(&args[first + 3])?,
        sort_keys: cx.truth(&args[first + 8])?,
        indent,
        item_separator: item,
        key_separator,
        default,
        level: 0,
        open: Vec::new(),
    };
    encoder.value(cx, &args[0])?;
    Ok(encoder.out)
}

impl Encoder {
    fn value(&mut self, cx: &mut Cx, value: &Value) -> Result<(), Raised> {
        if scalar::dtype_of(value).is_some_and(|it| it != DType::F64) {
            return self.other(cx, value);
        }
        match value.core() {
            Value::None => self.out.push_str("null"),
            Value::Bool(it) => self.out.push_str(if *it { "true" } else { "false" }),
            Value::Int(it) => self.out.push_str(&it.to_string()),
            Value::Float(it) => {
                let text = self.float(*it)?;
                self.out.push_str(&text);
            }
            Value::Str(it) => stoppable_if_long(cx, it.len(), || self.string(it))?,
            Value::List(it) => {
                let items = it.items.borrow().clone();
                return self.inside(cx, value, |this, cx| this.array(cx, &items));
            }
            Value::Tuple(it) => {
                let items = it.to_vec();
                return self.inside(cx, value, |this, cx| this.array(cx, &items));
            }
            Value::Dict(it) => {
                let pairs = it.items();
                return self.inside(cx, value, |this, cx| this.object(cx, pairs));
            }
            _ => return self.other(cx, value),
        }
        Ok(())
    }

    fn other(&mut self, cx: &mut Cx, value: &Value) -> Result<(), Raised> {
        let Some(default) = self.default.clone() else {
            let name = type_name(value);
            return Err(type_error(format!("Object of type {name} is not JSON serializable")));
        };
        self.inside(cx, value, |this, cx| {
            let replaced = cx.call(&default, std::slice::from_ref(value))?;
            this.value(cx, &replaced)
        })
    }

    fn inside(
        &mut self,
        cx: &mut Cx,
        value: &Value,
        write: impl FnOnce(&mut Self, &mut Cx) -> Result<(), Raised>,
    ) -> Result<(), Raised> {
        let address = value.address().unwrap_or(0);
        if self.open.contains(&address) {
            return Err(value_error("Circular reference detected"));
        }
        cx.enter_native()?;
        self.open.push(address);
        let done = write(self, cx);
        self.open.pop();
        cx.leave_native();
        done
    }

    fn float(&self, float: f64) -> Result<String, Raised> {
        if float.is_finite() {
            return Ok(float_repr(float));
        }
        if !self.allow_nan {
            return Err(value_error("Out of range float values are not JSON compliant"));
        }
        Ok(match float {
            _ if float.is_nan() => "NaN",
            _ if float > 0.0 => "Infinity",
            _ => "-Infinity",
        }
        .to_owned())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for it in crate::patience::chars(text) {
            match it {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                _ if it < ' ' || (self.ascii && it > '~') => {
                    for unit in it.encode_utf16(&mut [0; 2]) {
                        // Writing to a string cannot fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                _ => self.out.push(it),
            }
        }
        self.out.push('"');
    }

    fn new_line(&mut self) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            for _ in 0..self.level {
                self.out.push_str(indent);
            }
        }
    }

    fn array(&mut self, cx: &mut Cx, items: &[Value]) -> Result<(), Raised> {
        if items.is_empty() {
            self.out.push_str("[]");
            return Ok(());
        }
        self.out.push('[');
        self.level += 1;
        for (idx, item) in items.iter().enumerate() {
            if idx > 0 {
                self.out.push_str(&self.item_separator);
            }
            self.new_line();
            self.value(cx, item)?;
            crate::memory::check_text(&self.out)?;
            cx.poll()?;
        }
        self.level -= 1;
        self.new_line();
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, cx: &mut Cx, mut pairs: Vec<(Value, Value)>) -> Result<(), Raised> {
        if pairs.is_empty() {
            self.out.push_str("{}");
            return Ok(());
        }
        if self.sort_keys {
            let keys = pairs.iter().map(|(key, value)| Value::tuple([key.clone(), value.clone()]));
            let mut keys: Vec<Value> = keys.collect();
            let first = super::operator::item_getter(0);
            crate::builtins::list_methods::sort_values(cx, &mut keys, Some(&first), false)?;
            pairs.clear();
            for pair in &keys {
                pairs.extend(pair.as_tuple().map(|it| (it[0].clone(), it[1].clone())));
            }
        }
        self.out.push('{');
        self.level += 1;
        let mut is_first = true;
        for (key, value) in &pairs {
            let Some(key) = self.key(key)? else { continue };
            if !is_first {
                self.out.push_str(&self.item_separator);
            }
            is_first = false;
            self.new_line();
            self.string(&key);
            self.out.push_str(&self.key_separator);
            self.value(cx, value)?;
            crate::memory::check_text(&self.out)?;
            cx.poll()?;
        }
        self.level -= 1;
        if !is_first {
            self.new_line();
        }
        self.out.push('}');
        Ok(())
    }

    /// The text of a key; `None` if it is to be skipped.
    fn key(&self, key: &Value) -> Result<Option<String>, Raised> {
        Ok(Some(match key.core() {
            Value::Str(it) => it.to_string(),
            Value::None => "null".into(),
            Value::Bool(it) => if *it { "true" } else { "false" }.into(),
            Value::Int(it) => it.to_string(),
            Value::Float(it) => self.float(*it)?,
            _ if self.skip_keys => return Ok(None),
            _ => {
                return Err(type_error(format!(
                    "keys must be str, int, float, bool or None, not {}",
                    type_name(key)
                )));
            }
        }))
    }
}
