//! The iterators of `itertools` that pick from pools: product, permutations, combinations.

use crate::native::*;
use crate::objects::iterator::{Iter, Step};

pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("combinations", "iterable, r", "r items in order, none twice.", combinations),
    function(
        "combinations_with_replacement",
        "iterable, r",
        "r items in order, also twice.",
        combinations_with_replacement,
    ),
    function("permutations", "iterable, r=None", "r items in every order.", permutations),
    function("product", "*iterables, repeat=1", "One item of each, in every way.", product),
];

/// Tuples of `pools[n][places[n]]`, with a rule for the next places.
struct Picks {
    pools: Vec<Vec<Value>>,
    places: Vec<usize>,
    started: bool,
    rule: Rule,
}

enum Rule {
    Product,
    Combinations,
    WithReplacement,
    Permutations,
}

impl Step for Picks {
    fn step(&mut self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        cx.poll()?;
        if self.started && !self.advance() {
            return Ok(None);
        }
        self.started = true;
        let items = self.places.iter().enumerate().map(|(n, place)| self.pool(n)[*place].clone());
        Ok(Some(Value::tuple(items.collect::<Vec<_>>())))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.pools.iter().flatten().for_each(visit);
    }
}

impl Picks {
    fn pool(&self, n: usize) -> &[Value] {
        match self.rule {
            Rule::Product => &self.pools[n],
            _ => &self.pools[0],
        }
    }

    /// Moves to the next places in lexicographic order; false at the end.
    fn advance(&mut self) -> bool {
        let r = self.places.len();
        for at in (0..r).rev() {
            let n = self.pool(at).len();
            match self.rule {
                Rule::Product if self.places[at] + 1 < n => {
                    self.places[at] += 1;
                    self.places[at + 1..].fill(0);
                    return true;
                }
                Rule::Combinations if self.places[at] < n + at - r => {
                    let first = self.places[at] + 1;
                    for (offset, place) in self.places[at..].iter_mut().enumerate() {
                        *place = first + offset;
                    }
                    return true;
                }
                Rule::WithReplacement if self.places[at] + 1 < n => {
                    let next = self.places[at] + 1;
                    self.places[at..].fill(next);
                    return true;
                }
                Rule::Permutations => {
                    let used = &self.places[..at];
                    let next = (self.places[at] + 1..n).find(|it| !used.contains(it));
                    if let Some(next) = next {
                        self.places[at] = next;
                        self.fill_after(at, n);
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// The lowest free places after position `at`.
    fn fill_after(&mut self, at: usize, n: usize) {
        for idx in at + 1..self.places.len() {
            let used = &self.places[..idx];
            if let Some(free) = (0..n).find(|it| !used.contains(it)) {
                self.places[idx] = free;
            }
        }
    }
}

fn none() -> Res {
    Ok(Value::iter(Iter::items(Vec::new())))
}

fn picks(pools: Vec<Vec<Value>>, places: Vec<usize>, rule: Rule) -> Res {
    Ok(Value::iter(Iter::custom(Picks { pools, places, started: false, rule })))
}

fn length(cx: &mut Cx, value: &Value) -> Result<usize, Raised> {
    let r = cx.index(value)?;
    let r = usize::try_from(r).map_err(|_| value_error("r must be non-negative"))?;
    cx.check_size(r)
}

fn product(cx: &mut Cx, args: Args<'_>) -> Res {
    let repeat = args.int(1)?;
    if repeat < 0 {
        return Err(value_error("repeat argument cannot be negative"));
    }
    let mut once = Vec::new();
    for iterable in args.rest(0) {
        once.push(cx.collect(iterable)?);
    }
    let count = cx.check_size((repeat as usize).saturating_mul(once.len()))?;
    let pools: Vec<Vec<Value>> = once.iter().cycle().take(count).cloned().collect();
    if pools.iter().any(Vec::is_empty) {
        return none();
    }
    let places = vec![0; pools.len()];
    picks(pools, places, Rule::Product)
}

fn combinations(cx: &mut Cx, args: Args<'_>) -> Res {
    let (pool, r) = (cx.collect(&args[0])?, length(cx, &args[1])?);
    if r > pool.len() {
        return none();
    }
    picks(vec![pool], (0..r).collect(), Rule::Combinations)
}

fn combinations_with_replacement(cx: &mut Cx, args: Args<'_>) -> Res {
    let (pool, r) = (cx.collect(&args[0])?, length(cx, &args[1])?);
    if r > 0 && pool.is_empty() {
        return none();
    }
    picks(vec![pool], vec![0; r], Rule::WithReplacement)
}

fn permutations(cx: &mut Cx, args: Args<'_>) -> Res {
    let pool = cx.collect(&args[0])?;
    let r = match args.opt(1) {
        Some(r) => length(cx, r)?,
        None => pool.len(),
    };
    if r > pool.len() {
        return none();
    }
    picks(vec![pool], (0..r).collect(), Rule::Permutations)
}
