//! Numbers as formulas of sizes: whole ones are polynomials, of degree 2 at most in each size, and others quotients such as `1.0/N`.

use std::fmt;

use super::{MOST, refused};
use crate::Result;

/// Sizes at which a program is recorded: all combinations of three per dimension, and one apart from these for the proof.
pub(super) struct Grid<'a> {
    names: &'a [String],
    points: Vec<Vec<usize>>,
}

/// Three primes per dimension.
const SIDES: [[usize; 3]; MOST] = [[101, 103, 107], [109, 113, 127], [131, 137, 139]];
/// And one more.
const APART: [usize; MOST] = [163, 167, 173];

impl<'a> Grid<'a> {
    pub(super) fn new(names: &'a [String]) -> Self {
        let n_dims = names.len().min(MOST);
        let mut points = vec![Vec::new()];
        for side in &SIDES[..n_dims] {
            let longer = |it: &Vec<usize>| side.map(|size| [&it[..], &[size]].concat());
            points = points.iter().flat_map(longer).collect();
        }
        points.push(APART[..n_dims].to_vec());
        Self { names, points }
    }

    pub(super) fn names(&self) -> &[String] {
        self.names
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn points(&self) -> &[Vec<usize>] {
        &self.points
    }
}

/// A number that depends on sizes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula<'a> {
    /// Products of sizes, each with its factor.
    Sum(Vec<(i64, Vec<&'a str>)>),
    /// A factor times the sizes `over`, divided by a whole number times the sizes `under`.
    Quotient { factor: f64, over: Vec<&'a str>, divisor: u32, under: Vec<&'a str> },
}

impl<'a> Formula<'a> {
    /// The formula for what was seen at the points of the grid, if there is one.
    pub(super) fn fit(grid: &Grid<'a>, seen: &[&str]) -> Option<Self> {
        let whole: Option<Vec<i64>> = seen.iter().map(|it| it.parse().ok()).collect();
        let found = match whole {
            Some(values) => polynomial(grid, &values),
            None => {
                let values: Option<Vec<f64>> = seen.iter().map(|it| it.parse().ok()).collect();
                quotient(grid, &values?)
            }
        }?;
        let text = found.to_string();
        let holds = |(sizes, seen): (&Vec<usize>, &&str)| {
            evaluated(&text, grid.names, sizes).is_ok_and(|it| it == **seen)
        };
        grid.points.iter().zip(seen).all(holds).then_some(found)
    }
}

/// Newton's interpolation along one dimension after the other; the coefficients must be whole.
fn polynomial<'a>(grid: &Grid<'a>, values: &[i64]) -> Option<Formula<'a>> {
    let n_dims = grid.names.len();
    let mut table: Vec<i128> =
        values[..values.len() - 1].iter().map(|it| i128::from(*it)).collect();
    for (dim, side) in SIDES[..n_dims].iter().enumerate() {
        let stride = 3_usize.pow((n_dims - 1 - dim) as u32);
        for first in (0..table.len()).filter(|it| (it / stride).is_multiple_of(3)) {
            let at = |step: usize| first + step * stride;
            let coefficients = parabola(side, [0, 1, 2].map(|it| table[at(it)]))?;
            (0..3).for_each(|it| table[at(it)] = coefficients[it]);
        }
    }
    let term = |(at, factor): (usize, &i128)| {
        let power = |dim: usize| at / 3_usize.pow((n_dims - 1 - dim) as u32) % 3;
        let sizes = (0..n_dims).flat_map(|dim| vec![grid.names[dim].as_str(); power(dim)]);
        Some((i64::try_from(*factor).ok()?, sizes.collect::<Vec<_>>()))
    };
    let terms = table.iter().enumerate().rev().filter(|it| *it.1 != 0).map(term);
    Some(Formula::Sum(terms.collect::<Option<_>>()?))
}

/// The whole coefficients, from the constant on, of the parabola through three points.
fn parabola(x: &[usize; 3], y: [i128; 3]) -> Option<[i128; 3]> {
    let x = x.map(|it| it as i128);
    let exact = |a: i128, b: i128| (a % b == 0).then(|| a / b);
    let first = (y[1] - y[0], x[1] - x[0]);
    let second = (y[2] - y[1], x[2] - x[1]);
    let square =
        exact(second.0 * first.1 - first.0 * second.1, first.1 * second.1 * (x[2] - x[0]))?;
    let slope = exact(first.0 - square * (x[1] * x[1] - x[0] * x[0]), first.1)?;
    Some([y[0] - slope * x[0] - square * x[0] * x[0], slope, square])
}

/// A factor times or over sizes, each once at most.
fn quotient<'a>(grid: &Grid<'a>, values: &[f64]) -> Option<Formula<'a>> {
    let n_dims = grid.names.len();
    let product = |sizes: &[usize], powers: &[i32], sign: i32| -> f64 {
        let of = |it: (&usize, &i32)| if *it.1 == sign { *it.0 as f64 } else { 1.0 };
        sizes.iter().zip(powers).map(of).product()
    };
    (0..3_usize.pow(n_dims as u32)).find_map(|code| {
        let powers: Vec<i32> =
            (0..n_dims).map(|dim| (code / 3_usize.pow(dim as u32) % 3) as i32 - 1).collect();
        let factor = |(sizes, value): (&Vec<usize>, &f64)| {
            value * product(sizes, &powers, -1) / product(sizes, &powers, 1)
        };
        let first = factor((&grid.points[0], &values[0]));
        let close = |it| (factor(it) - first).abs() <= 1e-9 * first.abs();
        grid.points.iter().zip(values).all(close).then(|| {
            let names = |sign: i32| {
                let of = (0..n_dims).filter(|&dim| powers[dim] == sign);
                of.map(|dim| grid.names[dim].as_str()).collect()
            };
            let (factor, divisor) = ratio(first);
            Formula::Quotient { factor, over: names(1), divisor, under: names(-1) }
        })
    })
}

/// A number as a quotient of whole ones, the second as small as possible; itself over 1 if there is none.
///
/// The convergents of its continued fraction (Khinchin 1935).
fn ratio(number: f64) -> (f64, u32) {
    let (mut rest, mut before, mut last) = (number.abs(), (0.0, 1.0), (1.0, 0.0));
    for _ in 0..20 {
        let whole = (rest + 1e-7 * rest.min(1.0)).floor();
        (before, last) = (last, (whole * last.0 + before.0, whole * last.1 + before.1));
        if last.1 > 1e6 || last.0 > 1e15 {
            break;
        }
        if (last.0 / last.1 - number.abs()).abs() <= 1e-12 * number.abs() {
            return (last.0.copysign(number), last.1 as u32);
        }
        rest = 1.0 / (rest - whole);
    }
    (number, 1)
}

/// `4*N+-3`, `1.0/N/T`, `2.0*N/5`.
impl fmt::Display for Formula<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sum(terms) => {
                let text = |(factor, sizes): &(i64, Vec<&str>)| {
                    let factor = (*factor != 1 || sizes.is_empty()).then(|| factor.to_string());
                    let factors = factor.into_iter().chain(sizes.iter().map(|it| it.to_string()));
                    factors.collect::<Vec<_>>().join("*")
                };
                f.write_str(&terms.iter().map(text).collect::<Vec<_>>().join("+"))
            }
            Self::Quotient { factor, over, divisor, under } => {
                write!(f, "{factor:?}")?;
                over.iter().try_for_each(|it| write!(f, "*{it}"))?;
                if *divisor != 1 {
                    write!(f, "/{divisor}")?;
                }
                under.iter().try_for_each(|it| write!(f, "/{it}"))
            }
        }
    }
}

/// The number that a formula gives, as it stands in the text of a graph.
pub(super) fn evaluated(formula: &str, names: &[String], sizes: &[usize]) -> Result<String> {
    let size = |name: &str| {
        if let Ok(it) = name.parse() {
            return Ok(it);
        }
        let at = names.iter().position(|it| it == name);
        at.map(|it| sizes[it])
            .ok_or_else(|| refused(&format!("`{name}` in `{formula}` is no dimension")))
    };
    let (head, under) = formula.split_once('/').map_or((formula, None), |it| (it.0, Some(it.1)));
    let factor = head.split('*').next().unwrap_or_default();
    if let Some(factor) = factor.parse::<f64>().ok().filter(|_| factor.contains(['.', 'e', 'i'])) {
        let product = |names: Vec<&str>| {
            names.into_iter().try_fold(1.0, |so_far, it| Result::Ok(so_far * size(it)? as f64))
        };
        let over = product(head.split('*').skip(1).collect())?;
        let under = under.map_or(Ok(1.0), |it| product(it.split('/').collect()))?;
        return Ok(format!("{:?}", factor * over / under));
    }
    let too_large = || refused(&format!("`{formula}` is too large"));
    let mut sum = 0_i64;
    for term in formula.split('+') {
        let mut product = 1_i64;
        for factor in term.split('*') {
            let factor = match factor.parse::<i64>() {
                Ok(it) => it,
                Err(_) => i64::try_from(size(factor)?).map_err(|_| too_large())?,
            };
            product = product.checked_mul(factor).ok_or_else(too_large)?;
        }
        sum = sum.checked_add(product).ok_or_else(too_large)?;
    }
    Ok(sum.to_string())
}
