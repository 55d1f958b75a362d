//! The functions of `math` on integers.

use super::math::too_large;
use crate::native::*;
use crate::patience::Pace;

pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("comb", "n, k, /", "Ways to choose k of n.", comb).pure(),
    function("factorial", "x, /", "1 * 2 * ... * x.", factorial).pure(),
    function("gcd", "*integers", "Greatest common divisor.", gcd).pure(),
    function("isqrt", "n, /", "Whole part of the square root.", isqrt).pure(),
    function("lcm", "*integers", "Least common multiple.", lcm).pure(),
    function("perm", "n, k=None, /", "Ways to choose k of n in order.", perm).pure(),
    function("prod", "iterable, /, *, start=1", "The product of all items.", prod),
];

fn factorial(cx: &mut Cx, args: Args<'_>) -> Res {
    let n = cx.index(&args[0])?;
    if n < 0 {
        return Err(value_error("factorial() not defined for negative values"));
    }
    product_down(n, n)
}

/// `n * (n-1) * ...`, `count` factors.
fn product_down(n: i64, count: i64) -> Res {
    let mut product = 1i64;
    for factor in (n - count + 1..=n).take(70) {
        if factor == 0 {
            return Ok(Value::Int(0));
        }
        product = product.checked_mul(factor).ok_or_else(too_large)?;
    }
    Ok(Value::Int(product))
}

fn not_negative(n: i64, name: &str) -> Result<(), Raised> {
    if n < 0 {
        return Err(value_error(format!("{name} must be a non-negative integer")));
    }
    Ok(())
}

fn comb(cx: &mut Cx, args: Args<'_>) -> Res {
    let (n, k) = (cx.index(&args[0])?, cx.index(&args[1])?);
    not_negative(n, "n")?;
    not_negative(k, "k")?;
    if k > n {
        return Ok(Value::Int(0));
    }
    let k = k.min(n - k);
    // Above 64 choices of at least 2 kinds the result is beyond 64 bits.
    let mut result = 1i128;
    for step in 0..i128::from(k) {
        result = result * (i128::from(n) - step) / (step + 1);
        if result > i128::from(i64::MAX) {
            return Err(too_large());
        }
    }
    Ok(Value::Int(result as i64))
}

fn perm(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.opt(1).is_none() {
        return factorial(cx, args);
    }
    let (n, k) = (cx.index(&args[0])?, cx.index(&args[1])?);
    not_negative(n, "n")?;
    not_negative(k, "k")?;
    if k > n { Ok(Value::Int(0)) } else { product_down(n, k) }
}

fn isqrt(cx: &mut Cx, args: Args<'_>) -> Res {
    let n = cx.index(&args[0])?;
    if n < 0 {
        return Err(value_error("isqrt() argument must be nonnegative"));
    }
    Ok(Value::Int(n.isqrt()))
}

pub(super) fn gcd_of(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn to_int(n: u64) -> Res {
    i64::try_from(n).map(Value::Int).map_err(|_| too_large())
}

fn gcd(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut result = 0;
    let mut pace = Pace::default();
    for it in args.rest(0) {
        pace.step(cx)?;
        result = gcd_of(result, cx.index(it)?.unsigned_abs());
    }
    to_int(result)
}

fn lcm(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut result = 1u64;
    let mut pace = Pace::default();
    for it in args.rest(0) {
        pace.step(cx)?;
        let n = cx.index(it)?.unsigned_abs();
        result = match gcd_of(result, n) {
            0 => 0,
            gcd => (result / gcd).checked_mul(n).ok_or_else(too_large)?,
        };
    }
    to_int(result)
}

fn prod(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut result = args[1].clone();
    let iter = cx.iter(&args[0])?;
    while let Some(item) = cx.next(&iter)? {
        result = cx.binary(BinaryOp::Mul, &result, &item)?;
        cx.poll()?;
    }
    Ok(result)
}
