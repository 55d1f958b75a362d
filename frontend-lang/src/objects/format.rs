//! Python's format mini-language: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
//!
//! Words of errors follow CPython 3.11.

use crate::cx::Cx;
use crate::error::{Raised, overflow_error, type_error, type_name, value_error};
use crate::memory;
use crate::objects::class::full_type_name;
use crate::objects::complex::Complex;
use crate::objects::number::float_repr;
use crate::sym::Sym;
use crate::tensor::arith::several;
use crate::value::Value;

pub use crate::objects::percent::format as percent;

/// The longest precision, as in CPython.
pub const LONGEST: usize = i32::MAX as usize;

/// A parsed format specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    pub fill: Option<char>,
    pub align: Option<char>,
    pub sign: Option<char>,
    pub no_negative_zero: bool,
    pub alternate: bool,
    pub zero: bool,
    pub width: usize,
    pub grouping: Option<char>,
    pub precision: Option<usize>,
    pub kind: Option<char>,
}

impl Spec {
    /// Parses `text`; `type_name` is only used in messages.
    pub fn parse(text: &str, type_name: &str) -> Result<Spec, Raised> {
        let mut spec = Spec::default();
        let mut rest = Rest(text);
        rest.take_align(&mut spec);
        spec.sign = rest.take_any("+- ");
        spec.no_negative_zero = rest.take_any("z").is_some();
        spec.alternate = rest.take_any("#").is_some();
        spec.zero = rest.take_any("0").is_some();
        spec.width = rest.take_number()?.unwrap_or(0);
        // A code point takes up to four bytes.
        memory::room(spec.width.saturating_mul(4))?;
        spec.grouping = rest.take_any(",_");
        if let Some(first) = spec.grouping
            && let Some(second) = rest.take_any(",_")
        {
            return Err(two_groupings(first, second));
        }
        if rest.take_any(".").is_some() {
            let precision = rest.take_number()?;
            spec.precision =
                Some(precision.ok_or_else(|| value_error("Format specifier missing precision"))?);
            check_precision(spec.precision)?;
        }
        let mut kinds = rest.0.chars();
        spec.kind = kinds.next();
        if kinds.next().is_some() {
            return Err(value_error(format!(
                "Invalid format specifier '{text}' for object of type '{type_name}'"
            )));
        }
        spec.check_grouping()?;
        Ok(spec)
    }

    fn check_grouping(&self) -> Result<(), Raised> {
        let Some(grouping) = self.grouping else { return Ok(()) };
        match self.kind {
            None | Some('d' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F') => Ok(()),
            Some('b' | 'o' | 'x' | 'X') if grouping == '_' => Ok(()),
            Some(kind) => Err(cannot_group(grouping, kind)),
        }
    }

    fn unknown_code(&self, type_name: &str) -> Raised {
        let kind = self.kind.unwrap_or(' ');
        value_error(format!("Unknown format code '{kind}' for object of type '{type_name}'"))
    }

    /// Fill and alignment of a number, where `0` before the width means zeros after the sign.
    fn number_layout(&self) -> (char, char) {
        match (self.fill, self.align) {
            (fill, None) if self.zero => (fill.unwrap_or('0'), '='),
            (None, Some(align)) if self.zero => ('0', align),
            (fill, align) => (fill.unwrap_or(' '), align.unwrap_or('>')),
        }
    }
}

struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn take_align(&mut self, spec: &mut Spec) {
        let mut chars = self.0.chars();
        let (first, second) = (chars.next(), chars.next());
        if let (Some(fill), Some(align @ ('<' | '>' | '=' | '^'))) = (first, second) {
            (spec.fill, spec.align) = (Some(fill), Some(align));
            self.0 = chars.as_str();
        } else {
            spec.align = self.take_any("<>=^");
        }
    }

    /// The next character, if it is one of `set`, which is ASCII.
    fn take_any(&mut self, set: &str) -> Option<char> {
        let first = *self.0.as_bytes().first().filter(|it| set.as_bytes().contains(it))?;
        self.0 = &self.0[1..];
        Some(first as char)
    }

    fn take_number(&mut self) -> Result<Option<usize>, Raised> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        let number: usize =
            number.parse().map_err(|_| value_error("Too many decimal digits in format string"))?;
        if i64::try_from(number).is_err() {
            return Err(value_error("Too many decimal digits in format string"));
        }
        Ok(Some(number))
    }
}

/// Refuses a precision whose digits would not fit in memory.
pub(crate) fn check_precision(precision: Option<usize>) -> Result<(), Raised> {
    let Some(precision) = precision else { return Ok(()) };
    if precision > LONGEST {
        return Err(value_error("precision too big"));
    }
    memory::room(precision.saturating_mul(4))
}

fn two_groupings(first: char, second: char) -> Raised {
    if first == second {
        cannot_group(first, second)
    } else {
        value_error("Cannot specify both ',' and '_'.")
    }
}

fn cannot_group(grouping: char, kind: char) -> Raised {
    value_error(format!("Cannot specify '{grouping}' with '{kind}'."))
}

/// `format(text, spec)` for a string.
pub fn format_str(text: &str, spec: &str) -> Result<String, Raised> {
    if spec.is_empty() {
        return Ok(text.to_owned());
    }
    let spec = Spec::parse(spec, "str")?;
    if !matches!(spec.kind, None | Some('s')) {
        return Err(spec.unknown_code("str"));
    }
    if let Some(grouping) = spec.grouping {
        return Err(cannot_group(grouping, 's'));
    }
    match spec.sign {
        Some(' ') => return Err(value_error("Space not allowed in string format specifier")),
        Some(_) => return Err(value_error("Sign not allowed in string format specifier")),
        None => {}
    }
    let refused = [
        (spec.no_negative_zero, "Negative zero coercion (z) not allowed"),
        (spec.alternate, "Alternate form (#) not allowed"),
        (spec.align == Some('='), "'=' alignment not allowed"),
    ];
    if let Some((_, what)) = refused.iter().find(|it| it.0) {
        return Err(value_error(format!("{what} in string format specifier")));
    }
    let cut = match spec.precision {
        Some(precision) => text.char_indices().nth(precision).map_or(text, |(at, _)| &text[..at]),
        None => text,
    };
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    Ok(pad(cut, fill, spec.align.unwrap_or('<'), spec.width))
}

/// `text` filled up to `width` code points; `align` is `<`, `>` or `^`.
pub fn pad(text: &str, fill: char, align: char, width: usize) -> String {
    let len = text.chars().count();
    if len >= width {
        return text.to_owned();
    }
    let total = width - len;
    let left = match align {
        '<' => 0,
        '^' => total / 2,
        _ => total,
    };
    let mut out = String::with_capacity(text.len() + total * fill.len_utf8());
    out.extend(crate::patience::repeated(fill, left));
    out.push_str(text);
    out.extend(crate::patience::repeated(fill, total - left));
    out
}

/// `format(int, spec)`; `type_name` is `int` or `bool`.
pub fn format_int(int: i64, spec: &str, type_name: &str) -> Result<String, Raised> {
    if spec.is_empty() {
        return Ok(int.to_string());
    }
    let parsed = Spec::parse(spec, type_name)?;
    match parsed.kind {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => number_float(int as f64, &parsed),
        None | Some('b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X') => number_int(int, &parsed),
        _ => Err(parsed.unknown_code(type_name)),
    }
}

fn number_int(int: i64, spec: &Spec) -> Result<String, Raised> {
    if spec.precision.is_some() {
        return Err(value_error("Precision not allowed in integer format specifier"));
    }
    if spec.no_negative_zero {
        return Err(value_error(
            "Negative zero coercion (z) not allowed in integer format specifier",
        ));
    }
    if spec.kind == Some('c') {
        return one_char(int, spec);
    }
    let magnitude = int.unsigned_abs();
    let (prefix, digits) = match spec.kind {
        Some('b') => ("0b", format!("{magnitude:b}")),
        Some('o') => ("0o", format!("{magnitude:o}")),
        Some('x') => ("0x", format!("{magnitude:x}")),
        Some('X') => ("0X", format!("{magnitude:X}")),
        _ => ("", magnitude.to_string()),
    };
    let prefix = if spec.alternate { prefix } else { "" };
    Ok(lay_out(sign_of(int < 0, spec), prefix, &digits, "", spec))
}

fn one_char(int: i64, spec: &Spec) -> Result<String, Raised> {
    if spec.sign.is_some() {
        return Err(value_error("Sign not allowed with integer format specifier 'c'"));
    }
    if spec.alternate {
        let message = "Alternate form (#) not allowed with integer format specifier 'c'";
        return Err(value_error(message));
    }
    let found = u32::try_from(int).ok().and_then(char::from_u32);
    let found = found.ok_or_else(|| overflow_error("%c arg not in range(0x110000)"))?;
    let (fill, align) = spec.number_layout();
    Ok(pad(&found.to_string(), fill, align, spec.width))
}

/// `format(float, spec)`.
pub fn format_float(float: f64, spec: &str) -> Result<String, Raised> {
    if spec.is_empty() {
        return Ok(float_repr(float));
    }
    let parsed = Spec::parse(spec, "float")?;
    match parsed.kind {
        None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') => number_float(float, &parsed),
        _ => Err(parsed.unknown_code("float")),
    }
}

/// `format(complex, spec)`: both parts by the specification, padded as one text.
pub fn format_complex(number: Complex, spec: &str) -> Result<String, Raised> {
    let whole = Spec::parse(spec, "complex")?;
    match whole.kind {
        None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n') => {}
        _ => return Err(whole.unknown_code("complex")),
    }
    if whole.zero {
        return Err(value_error("Zero padding is not allowed in complex format specifier"));
    }
    if whole.align == Some('=') {
        return Err(value_error("'=' alignment flag is not allowed in complex format specifier"));
    }
    let bare = Spec { width: 0, fill: None, align: None, ..whole };
    let part = |float: f64, sign: Option<char>| match (bare.kind, bare.precision) {
        (None, None) => {
            let text = float_repr(float.abs());
            let digits = text.strip_suffix(".0").unwrap_or(&text);
            let negative = float.is_sign_negative() && !float.is_nan();
            Ok(format!("{}{digits}", sign_of(negative, &Spec { sign, ..bare })))
        }
        _ => number_float(float, &Spec { sign, ..bare }),
    };
    let imag = part(number.imag, Some('+'))?;
    let text = match number.real == 0.0 && number.real.is_sign_positive() && whole.kind.is_none() {
        true => format!("{}j", part(number.imag, whole.sign)?),
        false if whole.kind.is_none() => format!("({}{imag}j)", part(number.real, whole.sign)?),
        false => format!("{}{imag}j", part(number.real, whole.sign)?),
    };
    Ok(pad(&text, whole.fill.unwrap_or(' '), whole.align.unwrap_or('>'), whole.width))
}

fn number_float(float: f64, spec: &Spec) -> Result<String, Raised> {
    let text = float_digits(float.abs(), spec.kind, spec.precision, spec.alternate);
    let is_zero = !text.bytes().any(|it| (b'1'..=b'9').contains(&it)) && float.is_finite();
    let negative = float.is_sign_negative() && !float.is_nan();
    let negative = negative && !(spec.no_negative_zero && is_zero);
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, tail) = text.split_at(whole);
    Ok(lay_out(sign_of(negative, spec), "", whole, tail, spec))
}

fn sign_of(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    }
}

/// Joins the parts of a number, which are ASCII: grouping in `digits`, fill, alignment.
fn lay_out(sign: &str, prefix: &str, digits: &str, tail: &str, spec: &Spec) -> String {
    let (fill, align) = spec.number_layout();
    let around = sign.len() + prefix.len() + tail.len();
    let zeros_to = if fill == '0' && align == '=' { spec.width.saturating_sub(around) } else { 0 };
    let grouped = spec.grouping.filter(|_| !digits.is_empty()).map(|separator| {
        let every = if matches!(spec.kind, Some('b' | 'o' | 'x' | 'X')) { 4 } else { 3 };
        group(digits, separator, every, zeros_to)
    });
    let digits = grouped.as_deref().unwrap_or(digits);
    let filled = spec.width.saturating_sub(around + digits.len());
    let (before, between, after) = match align {
        '<' => (0, 0, filled),
        '^' => (filled / 2, 0, filled - filled / 2),
        '=' => (0, filled, 0),
        _ => (filled, 0, 0),
    };
    let mut out = String::with_capacity(around + digits.len() + filled * fill.len_utf8());
    out.extend(std::iter::repeat_n(fill, before));
    out.extend([sign, prefix]);
    out.extend(std::iter::repeat_n(fill, between));
    out.extend([digits, tail]);
    out.extend(std::iter::repeat_n(fill, after));
    out
}

/// `digits` with `separator` before every group, and zeros in front up to `width` code points.
fn group(digits: &str, separator: char, every: usize, width: usize) -> String {
    let digits = digits.as_bytes();
    let mut reversed = String::with_capacity(digits.len() * 4 / 3);
    let mut count = 0;
    while count < digits.len() || reversed.len() < width {
        if count > 0 && count % every == 0 {
            reversed.push(separator);
        }
        let next = if count < digits.len() { digits[digits.len() - 1 - count] } else { b'0' };
        reversed.push(next as char);
        count += 1;
    }
    reversed.chars().rev().collect()
}

/// The text of a float that is not negative, as C's `printf` and Python's own forms write it.
/// `kind` is one of `e E f F g G n %`, or `None` for the form of `str` with a precision.
pub fn float_digits(
    float: f64,
    kind: Option<char>,
    precision: Option<usize>,
    alternate: bool,
) -> String {
    let upper = matches!(kind, Some('E' | 'F' | 'G'));
    let text = if float.is_nan() {
        "nan".into()
    } else if float.is_infinite() {
        "inf".into()
    } else {
        match kind {
            Some('f' | 'F') => fixed(float, precision.unwrap_or(6), alternate),
            Some('%') => fixed(float * 100.0, precision.unwrap_or(6), alternate),
            Some('e' | 'E') => scientific(float, precision.unwrap_or(6), alternate),
            None if precision.is_none() => shortest(float, alternate),
            None => general(float, precision.unwrap_or(6), alternate, true),
            Some(_) => general(float, precision.unwrap_or(6), alternate, false),
        }
    };
    let text = if upper { text.to_uppercase() } else { text };
    if kind == Some('%') { text + "%" } else { text }
}

fn fixed(float: f64, precision: usize, alternate: bool) -> String {
    if precision > 0
        && let Some(text) = short_fixed(float, precision)
    {
        return text;
    }
    // Past this many decimals every double is exact, so the rest are zeros.
    let exact = precision.min(1100);
    let mut text = format!("{float:.exact$}");
    text.extend(std::iter::repeat_n('0', precision - exact));
    if alternate && precision == 0 {
        text.push('.');
    }
    text
}

/// `float` with few decimals, where 64 bits are enough to be exact.
///
/// The product with the power of ten and the error of its rounding, which a fused multiply-add
/// gives, are together the exact number: so it is known which integer is nearest, but for ties.
fn short_fixed(float: f64, precision: usize) -> Option<String> {
    const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    let scale = *POWERS.get(precision)?;
    let product = float * scale;
    if !(0.0..1e15).contains(&product) || (product < 1e-250 && product != 0.0) {
        return None;
    }
    let error = float.mul_add(scale, -product);
    let nearest = product.round();
    let off = (product - nearest) + error;
    if off.abs() >= 0.499_999 {
        return None;
    }
    let (nearest, scale) = (nearest as u64, scale as u64);
    let mut text = String::with_capacity(24);
    push_digits(&mut text, nearest / scale, 1);
    text.push('.');
    push_digits(&mut text, nearest % scale, precision);
    Some(text)
}

/// Adds a number with at least so many digits.
fn push_digits(text: &mut String, mut number: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 || digits.len() - at < least {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.extend(digits[at..].iter().map(|it| *it as char));
}

fn scientific(float: f64, precision: usize, alternate: bool) -> String {
    let (mut mantissa, exponent) = mantissa_exponent(float, precision);
    if alternate && precision == 0 {
        mantissa.push('.');
    }
    mantissa + &exponent_text(exponent)
}

fn mantissa_exponent(float: f64, precision: usize) -> (String, i32) {
    let exact = precision.min(1100);
    let text = format!("{float:.exact$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut mantissa = mantissa.to_owned();
    mantissa.extend(std::iter::repeat_n('0', precision - exact));
    (mantissa, exponent.parse().unwrap_or(0))
}

fn exponent_text(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.abs())
}

/// `%g`; with `keep_point` a whole number keeps `.0`, as when a precision stands without a type.
fn general(float: f64, precision: usize, alternate: bool, keep_point: bool) -> String {
    let precision = precision.max(1);
    let (mantissa, exponent) = mantissa_exponent(float, precision - 1);
    let most = precision as i64 - i64::from(keep_point);
    if exponent < -4 || i64::from(exponent) >= most {
        let mut mantissa = if alternate { mantissa } else { without_zeros(mantissa) };
        if alternate && precision == 1 {
            mantissa.push('.');
        }
        return mantissa + &exponent_text(exponent);
    }
    let decimals = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
    let text = fixed(float, decimals, alternate);
    let text = if alternate { text } else { without_zeros(text) };
    if keep_point && !text.contains('.') { text + ".0" } else { text }
}

fn without_zeros(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn shortest(float: f64, alternate: bool) -> String {
    let text = float_repr(float);
    match text.split_once('e') {
        Some((mantissa, exponent)) if alternate && !mantissa.contains('.') => {
            format!("{mantissa}.e{exponent}")
        }
        _ => text,
    }
}

impl Cx {
    /// `format(value, spec)`.
    pub fn format(&mut self, value: &Value, spec: &str) -> Result<String, Raised> {
        match value {
            Value::Str(it) => format_str(it, spec),
            Value::Int(it) => format_int(*it, spec, "int"),
            Value::Float(it) => format_float(*it, spec),
            Value::Bool(_) if spec.is_empty() => self.str(value),
            Value::Bool(it) => format_int(i64::from(*it), spec, "bool"),
            Value::Instance(_) => self.format_instance(value, spec),
            _ => match value.as_native() {
                Some(native) => match native.format(self, spec)? {
                    Some(text) => Ok(text),
                    None => self.format_plainly(value, spec),
                },
                None => self.format_plainly(value, spec),
            },
        }
    }

    fn format_instance(&mut self, value: &Value, spec: &str) -> Result<String, Raised> {
        if crate::array::scalar::dtype_of(value).is_some() {
            // NumPy formats its numbers as plain ones.
            let core = value.core().clone();
            return self.format(&core, spec);
        }
        if let Some(text) = self.call_special(value, Sym::FORMAT, &[Value::str(spec)])? {
            return match text.as_str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(type_error(format!(
                    "__format__ must return a str, not {}",
                    type_name(&text)
                ))),
            };
        }
        match value.core() {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_)
                if !spec.is_empty() =>
            {
                let core = value.core().clone();
                self.format(&core, spec)
            }
            _ => self.format_plainly(value, spec),
        }
    }

    /// `object.__format__`: the text of the value, which takes no specification.
    pub fn format_plainly(&mut self, value: &Value, spec: &str) -> Result<String, Raised> {
        if spec.is_empty() {
            return self.str(value);
        }
        let name = full_type_name(value);
        let raised = type_error(format!("unsupported format string passed to {name}.__format__"));
        Err(match value.as_tensor().map(|it| it.get().numel()) {
            Some(n) if n != 1 => raised.with_help(Some(several(n))),
            _ => raised,
        })
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
