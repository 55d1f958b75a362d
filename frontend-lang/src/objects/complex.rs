//! `complex`: CPython's complex numbers, of two floats.

use std::any::Any;

use crate::native::*;
use crate::objects::class::type_name;
use crate::objects::format;
use crate::objects::number::float_repr;
use crate::tensor::convert;

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub real: f64,
    pub imag: f64,
}

/// The type.
pub static COMPLEX: NativeType = NativeType {
    new: Some(
        function(
            "complex",
            "cls, real=0, imag=...",
            "A complex number from its parts, or from text such as '1+2j'.",
            new_complex,
        )
        .pure(),
    ),
    methods: &[METHODS],
    getters: &[
        Getter { name: "real", doc: "The real part.", get: |_, it| part(it, |it| it.real) },
        Getter { name: "imag", doc: "The imaginary part.", get: |_, it| part(it, |it| it.imag) },
    ],
    ..NativeType::plain("complex", "A complex number of two floats.")
};

static METHODS: &[NativeFn] = &[
    function("conjugate", "self, /", "The number mirrored at the real axis.", conjugate).pure(),
    function("__abs__", "self, /", "The distance from 0.", absolute).pure(),
    function("__complex__", "self, /", "The number itself.", |_, args| Ok(args[0].clone())).pure(),
];

fn part(value: &Value, of: fn(&Complex) -> f64) -> Res {
    let number = value.core().downcast::<Complex>();
    number.map(|it| Value::Float(of(it))).ok_or_else(|| type_error("a complex number is needed"))
}

fn conjugate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let it = args.object::<Complex>(0)?;
    Ok(Complex { imag: -it.imag, ..*it }.into())
}

fn absolute(_cx: &mut Cx, args: Args<'_>) -> Res {
    let it = args.object::<Complex>(0)?;
    it.abs().map(Value::Float)
}

impl From<Complex> for Value {
    fn from(number: Complex) -> Value {
        Value::object(number)
    }
}

impl Complex {
    /// The number that a value is, if it is one.
    pub fn of(value: &Value) -> Option<Self> {
        let core = value.core();
        match core.downcast::<Self>() {
            Some(it) => Some(*it),
            None => core.as_float().map(|real| Self { real, imag: 0.0 }),
        }
    }

    /// The distance from 0.
    pub fn abs(self) -> Result<f64, Raised> {
        let res = self.real.hypot(self.imag);
        match res.is_infinite() && self.real.is_finite() && self.imag.is_finite() {
            true => Err(overflow_error("absolute value too large")),
            false => Ok(res),
        }
    }

    fn times(self, other: Self) -> Self {
        let Self { real: a, imag: b } = self;
        let Self { real: c, imag: d } = other;
        Self { real: a * c - b * d, imag: a * d + b * c }
    }

    /// By the larger part of the divisor first (Smith, 1962).
    pub(crate) fn over(self, other: Self) -> Result<Self, Raised> {
        let Self { real: a, imag: b } = self;
        let Self { real: c, imag: d } = other;
        if c.abs() >= d.abs() {
            if c == 0.0 {
                return Err(zero_division("complex division by zero"));
            }
            let ratio = d / c;
            let below = c + d * ratio;
            return Ok(Self { real: (a + b * ratio) / below, imag: (b - a * ratio) / below });
        }
        if d.is_nan() || c.is_nan() {
            return Ok(Self { real: f64::NAN, imag: f64::NAN });
        }
        let ratio = c / d;
        let below = c * ratio + d;
        Ok(Self { real: (a * ratio + b) / below, imag: (b * ratio - a) / below })
    }

    /// Whole exponents up to 100 multiply; others go through length and angle.
    fn power(self, other: Self) -> Result<Self, Raised> {
        let one = Self { real: 1.0, imag: 0.0 };
        let res = if other.real == 0.0 && other.imag == 0.0 {
            one
        } else if self.real == 0.0 && self.imag == 0.0 {
            if other.imag != 0.0 || other.real < 0.0 {
                return Err(zero_division("0.0 to a negative or complex power"));
            }
            Self { real: 0.0, imag: 0.0 }
        } else if other.imag == 0.0 && other.real.fract() == 0.0 && other.real.abs() <= 100.0 {
            match other.real > 0.0 {
                true => self.multiplied(other.real as u32),
                false => one.over(self.multiplied(-other.real as u32))?,
            }
        } else {
            self.by_angle(other)
        };
        if [res.real, res.imag].into_iter().any(f64::is_infinite) {
            return Err(overflow_error("complex exponentiation"));
        }
        Ok(res)
    }

    fn multiplied(self, exponent: u32) -> Self {
        let (mut res, mut square) = (Self { real: 1.0, imag: 0.0 }, self);
        let mut bit = 1;
        while bit > 0 && exponent >= bit {
            if exponent & bit > 0 {
                res = res.times(square);
            }
            bit <<= 1;
            square = square.times(square);
        }
        res
    }

    fn by_angle(self, other: Self) -> Self {
        let size = self.real.hypot(self.imag);
        let mut length = size.powf(other.real);
        let angle = self.imag.atan2(self.real);
        let mut turned = angle * other.real;
        if other.imag != 0.0 {
            length *= (-angle * other.imag).exp();
            turned += other.imag * size.ln();
        }
        Self { real: length * turned.cos(), imag: length * turned.sin() }
    }

    /// `repr(self)`: without the real part where that is +0.0.
    pub fn text(self) -> String {
        let imag = float_repr(self.imag);
        let short = |text: String| text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
        if self.real == 0.0 && self.real.is_sign_positive() {
            return format!("{}j", short(imag));
        }
        let sign = if imag.starts_with('-') { "" } else { "+" };
        format!("({}{sign}{}j)", short(float_repr(self.real)), short(imag))
    }

    /// `complex(text)`.
    fn parse(text: &str) -> Result<Self, Raised> {
        let malformed = || value_error("complex() arg is a malformed string");
        let trimmed = text.trim();
        let inner = trimmed.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let inner = inner.map_or(trimmed, str::trim);
        let float = |text: &str| -> Option<f64> {
            let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
            if misplaced || text.chars().any(char::is_whitespace) {
                return None;
            }
            text.replace('_', "").parse().ok()
        };
        let Some(rest) = inner.strip_suffix(['j', 'J']) else {
            let real = float(inner).ok_or_else(malformed)?;
            return Ok(Self { real, imag: 0.0 });
        };
        let is_exponent = |at: usize| {
            at > 1
                && matches!(rest.as_bytes()[at - 1], b'e' | b'E')
                && (rest.as_bytes()[at - 2].is_ascii_digit() || rest.as_bytes()[at - 2] == b'.')
        };
        let signs =
            rest.char_indices().filter(|(at, it)| matches!(it, '+' | '-') && !is_exponent(*at));
        let split = signs.map(|it| it.0).next_back().unwrap_or(0);
        let (real, imag) = rest.split_at(split);
        let imag = match imag {
            "" | "+" => Some(1.0),
            "-" => Some(-1.0),
            text => float(text),
        };
        let real = if real.is_empty() { Some(0.0) } else { float(real) };
        match (real, imag) {
            (Some(real), Some(imag)) => Ok(Self { real, imag }),
            _ => Err(malformed()),
        }
    }
}

/// `base ** exponent` of floats, where that is no real number.
pub fn power_of_floats(base: f64, exponent: f64) -> Res {
    let number = |real| Complex { real, imag: 0.0 };
    number(base).power(number(exponent)).map(Value::from)
}

fn new_complex(cx: &mut Cx, args: Args<'_>) -> Res {
    if let Some(text) = args[1].as_str() {
        if args.given(2) {
            return Err(type_error("complex() can't take second arg if first is a string"));
        }
        return Complex::parse(text).map(Value::from);
    }
    let real = argument(cx, &args[1], "first argument must be a string or a number")?;
    if !args.given(2) {
        return Ok(real.into());
    }
    if args[2].as_str().is_some() {
        return Err(type_error("complex() second arg can't be a string"));
    }
    let imag = argument(cx, &args[2], "second argument must be a number")?;
    let is_complex = |it: &Value| it.core().downcast::<Complex>().is_some();
    Ok(Complex {
        real: if is_complex(&args[2]) { real.real - imag.imag } else { real.real },
        imag: if is_complex(&args[1]) { real.imag + imag.real } else { imag.real },
    }
    .into())
}

/// The number that a value is or becomes, also through `__complex__`, `__float__` or `__index__`; texts are none.
pub(crate) fn converted(cx: &mut Cx, value: &Value) -> Result<Option<Complex>, Raised> {
    if let Some(known) = Complex::of(value) {
        return Ok(Some(known));
    }
    if let Value::Tensor(it) = value {
        let number = convert::number(it.get().item()?);
        return Ok(Complex::of(&number));
    }
    if let Some(real) = value.as_native().and_then(|it| it.as_float()) {
        return Ok(Some(Complex { real, imag: 0.0 }));
    }
    for name in ["__complex__", "__float__"] {
        if let Some(found) = cx.call_special(value, Sym::of(name), &[])?
            && let Some(known) = Complex::of(&found)
        {
            return Ok(Some(known));
        }
    }
    match cx.has_special(value, Sym::INDEX) {
        true => Ok(Some(Complex { real: cx.index(value)? as f64, imag: 0.0 })),
        false => Ok(None),
    }
}

/// The same, for an argument of `complex`.
fn argument(cx: &mut Cx, value: &Value, which: &str) -> Result<Complex, Raised> {
    let told = || type_error(format!("complex() {which}, not '{}'", type_name(value)));
    converted(cx, value)?.ok_or_else(told)
}

impl NativeObject for Complex {
    fn native_type(&self) -> &'static NativeType {
        &COMPLEX
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        let Some(other) = Complex::of(other) else { return Ok(None) };
        let (a, b) = if reflected { (other, *self) } else { (*self, other) };
        let res = match op {
            BinaryOp::Add => Complex { real: a.real + b.real, imag: a.imag + b.imag },
            BinaryOp::Sub => Complex { real: a.real - b.real, imag: a.imag - b.imag },
            BinaryOp::Mul => a.times(b),
            BinaryOp::TrueDiv => a.over(b)?,
            BinaryOp::Pow => a.power(b)?,
            _ => return Ok(None),
        };
        Ok(Some(res.into()))
    }

    fn unary(&self, _cx: &mut Cx, op: UnaryOp, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(match op {
            UnaryOp::Neg => Some(Complex { real: -self.real, imag: -self.imag }.into()),
            UnaryOp::Pos => Some(this.clone()),
            _ => None,
        })
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let same = match other.core().downcast::<Complex>() {
            Some(other) => self == other,
            None if other.core().as_float().is_some() => {
                self.imag == 0.0 && cx.eq(&Value::Float(self.real), other.core())?
            }
            None => return Ok(None),
        };
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(same)),
            CompareOp::Ne => Some(Value::Bool(!same)),
            _ => None,
        })
    }

    fn truth(&self, _cx: &mut Cx) -> Result<bool, Raised> {
        Ok(self.real != 0.0 || self.imag != 0.0)
    }

    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        let [real, imag] = [self.real, self.imag].map(Value::Float);
        let (real, imag) = (cx.hash(&real)?, cx.hash(&imag)?);
        Ok(Some(real.wrapping_add(imag.wrapping_mul(1_000_003))))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(self.text())
    }

    fn format(&self, _cx: &mut Cx, spec: &str) -> Result<Option<String>, Raised> {
        match spec {
            "" => Ok(Some(self.text())),
            spec => format::format_complex(*self, spec).map(Some),
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
