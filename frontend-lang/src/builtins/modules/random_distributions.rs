//! The continuous distributions of `random`, by CPython's algorithms, so that draws agree.

use std::f64::consts::{E, PI, TAU};

use super::random::{Random, this};
use crate::native::*;
use crate::objects::number::float_pow;

pub(super) static METHODS: &[NativeFn] = &[
    function("betavariate", "self, alpha, beta", "Beta distribution.", betavariate).opaque(),
    function("expovariate", "self, lambd", "Exponential distribution.", expovariate).opaque(),
    function("gammavariate", "self, alpha, beta", "Gamma distribution.", gammavariate).opaque(),
    function("gauss", "self, mu=0.0, sigma=1.0", "Normal distribution, faster.", gauss).opaque(),
    function("lognormvariate", "self, mu, sigma", "Log normal distribution.", lognormvariate)
        .opaque(),
    function("normalvariate", "self, mu=0.0, sigma=1.0", "Normal distribution.", normalvariate)
        .opaque(),
    function("paretovariate", "self, alpha", "Pareto distribution.", paretovariate).opaque(),
    function("triangular", "self, low=0.0, high=1.0, mode=None", "Triangular.", triangular)
        .opaque(),
    function("vonmisesvariate", "self, mu, kappa", "Circular distribution.", vonmisesvariate)
        .opaque(),
    function("weibullvariate", "self, alpha, beta", "Weibull distribution.", weibullvariate)
        .opaque(),
];

fn normal(cx: &mut Cx, random: &Random) -> Result<f64, Raised> {
    // 4 * exp(-0.5) / sqrt(2)
    let magic = 4.0 * (-0.5f64).exp() / 2f64.sqrt();
    loop {
        cx.poll()?;
        let u1 = random.float();
        let u2 = 1.0 - random.float();
        let z = magic * (u1 - 0.5) / u2;
        if z * z / 4.0 <= -u2.ln() {
            return Ok(z);
        }
    }
}

fn normalvariate(cx: &mut Cx, args: Args<'_>) -> Res {
    let (mu, sigma) = (args.float(1)?, args.float(2)?);
    Ok(Value::Float(mu + normal(cx, this(args)?)? * sigma))
}

fn lognormvariate(cx: &mut Cx, args: Args<'_>) -> Res {
    let (mu, sigma) = (args.float(1)?, args.float(2)?);
    Ok(Value::Float((mu + normal(cx, this(args)?)? * sigma).exp()))
}

fn gauss(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (mu, sigma) = (args.float(1)?, args.float(2)?);
    let random = this(args)?;
    let z = random.next_gauss.take().unwrap_or_else(|| {
        let angle = random.float() * TAU;
        let radius = (-2.0 * (1.0 - random.float()).ln()).sqrt();
        random.next_gauss.set(Some(angle.sin() * radius));
        angle.cos() * radius
    });
    Ok(Value::Float(mu + z * sigma))
}

fn expovariate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let rate = args.float(1)?;
    let x = -(1.0 - this(args)?.float()).ln();
    if rate == 0.0 {
        return Err(zero_division("float division by zero"));
    }
    Ok(Value::Float(x / rate))
}

fn triangular(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (mut low, mut high) = (args.float(1)?, args.float(2)?);
    let mut u = this(args)?.float();
    let mut c = 0.5;
    if args.opt(3).is_some() {
        if high == low {
            return Ok(args[1].clone());
        }
        c = (args.float(3)? - low) / (high - low);
    }
    if u > c {
        (u, c) = (1.0 - u, 1.0 - c);
        (low, high) = (high, low);
    }
    Ok(Value::Float(low + (high - low) * (u * c).sqrt()))
}

fn vonmisesvariate(cx: &mut Cx, args: Args<'_>) -> Res {
    let (mu, kappa) = (args.float(1)?, args.float(2)?);
    let random = this(args)?;
    if kappa <= 1e-6 {
        return Ok(Value::Float(TAU * random.float()));
    }
    if kappa.is_nan() {
        return Err(value_error("vonmisesvariate: kappa must be a number"));
    }
    let s = 0.5 / kappa;
    let r = s + (1.0 + s * s).sqrt();
    let z = loop {
        cx.poll()?;
        let z = (PI * random.float()).cos();
        let d = z / (r + z);
        let u2 = random.float();
        if u2 < 1.0 - d * d || u2 <= (1.0 - d) * d.exp() {
            break z;
        }
    };
    let q = 1.0 / r;
    let f = (q + z) / (1.0 + q * z);
    let angle = if random.float() > 0.5 { mu + f.acos() } else { mu - f.acos() };
    Ok(Value::Float(crate::objects::number::float_divmod(angle, TAU)?.1))
}

/// A draw from the gamma distribution (Cheng 1977; Ahrens and Dieter 1974 below 1).
fn gamma(cx: &mut Cx, random: &Random, alpha: f64, beta: f64) -> Result<f64, Raised> {
    if alpha <= 0.0 || beta <= 0.0 {
        return Err(value_error("gammavariate: alpha and beta must be > 0.0"));
    }
    // No draw would ever be accepted.
    if !(2.0 * alpha - 1.0).is_finite() {
        return Err(value_error("gammavariate: alpha and 2 * alpha must be finite"));
    }
    if alpha == 1.0 {
        return Ok(-(1.0 - random.float()).ln() * beta);
    }
    if alpha > 1.0 {
        return Ok(gamma_above_one(cx, random, alpha)? * beta);
    }
    loop {
        cx.poll()?;
        let b = (E + alpha) / E;
        let p = b * random.float();
        let x = if p <= 1.0 { float_pow(p, 1.0 / alpha)? } else { -((b - p) / alpha).ln() };
        let u = random.float();
        let accepted = if p > 1.0 { u <= float_pow(x, alpha - 1.0)? } else { u <= (-x).exp() };
        if accepted {
            return Ok(x * beta);
        }
    }
}

fn gamma_above_one(cx: &mut Cx, random: &Random, alpha: f64) -> Result<f64, Raised> {
    let root = (2.0 * alpha - 1.0).sqrt();
    let b = alpha - 4f64.ln();
    let c = alpha + root;
    let magic = 1.0 + 4.5f64.ln();
    loop {
        cx.poll()?;
        let u1 = random.float();
        if !(1e-7 < u1 && u1 < 0.9999999) {
            continue;
        }
        let u2 = 1.0 - random.float();
        let v = (u1 / (1.0 - u1)).ln() / root;
        let x = alpha * v.exp();
        let z = u1 * u1 * u2;
        let r = b + c * v - x;
        if r + magic - 4.5 * z >= 0.0 || r >= z.ln() {
            return Ok(x);
        }
    }
}

fn gammavariate(cx: &mut Cx, args: Args<'_>) -> Res {
    gamma(cx, this(args)?, args.float(1)?, args.float(2)?).map(Value::Float)
}

fn betavariate(cx: &mut Cx, args: Args<'_>) -> Res {
    let random = this(args)?;
    let y = gamma(cx, random, args.float(1)?, 1.0)?;
    if y == 0.0 {
        return Ok(Value::Float(0.0));
    }
    let other = gamma(cx, random, args.float(2)?, 1.0)?;
    Ok(Value::Float(y / (y + other)))
}

fn paretovariate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let alpha = args.float(1)?;
    let u = 1.0 - this(args)?.float();
    Ok(Value::Float(float_pow(u, -1.0 / alpha)?))
}

fn weibullvariate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (alpha, beta) = (args.float(1)?, args.float(2)?);
    let u = 1.0 - this(args)?.float();
    Ok(Value::Float(alpha * float_pow(-u.ln(), 1.0 / beta)?))
}
