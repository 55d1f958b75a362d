//! `random`: pseudo-random numbers, the same as CPython's for the same seed.

use std::any::Any;
use std::cell::{Cell, RefCell};

use engine::random::Mersenne;
use sha2::{Digest, Sha512};

use super::random_distributions;
use crate::native::*;
use crate::patience::Pace;

/// A generator of its own.
pub struct Random {
    twister: RefCell<Mersenne>,
    /// The second value of the last pair that `gauss` made.
    pub(super) next_gauss: Cell<Option<f64>>,
}

static RANDOM: NativeType = NativeType {
    module: "random",
    methods: &[METHODS, random_distributions::METHODS],
    new: Some(function("Random", "cls, x=None, /", "A generator seeded with x.", new)),
    ..NativeType::plain("Random", "A generator of random numbers.")
};

thread_local! {
    static SHARED: Value = Value::object(Random::from(Mersenne::from_int(0)));
    static SEEDED: Cell<bool> = const { Cell::new(false) };
}

macro_rules! bound {
    ($($name:literal)*) => { &[Member::Types(&[&RANDOM]), $(Member::Make($name, |cx| shared(cx, $name))),*] };
}

/// The module; its functions are methods of one shared generator.
pub static MODULE: NativeModule = NativeModule {
    name: "random",
    doc: "Pseudo-random numbers.",
    members: bound![
        "betavariate" "choice" "choices" "expovariate" "gammavariate" "gauss" "getrandbits" "getstate"
        "lognormvariate" "normalvariate" "paretovariate" "randint" "random" "randrange" "sample" "seed"
        "setstate" "shuffle" "triangular" "uniform" "vonmisesvariate" "weibullvariate"
    ],
    aliases: &[],
};

/// Seeds the shared generator.
pub fn seed_shared(seed: i64) {
    SEEDED.set(true);
    SHARED.with(|shared| {
        if let Some(random) = shared.downcast::<Random>() {
            random.restart(Mersenne::from_int(seed.unsigned_abs()));
        }
    });
}

/// Seeds the shared generator by the clock before the first cell runs. An import is no place for it: in the check before
/// running there is no clock, and modules are loaded once.
pub(crate) fn begin(cx: &mut Cx) {
    if !SEEDED.replace(true) {
        let clock = cx.host.wall().to_bits() ^ cx.host.monotonic().to_bits().rotate_left(32);
        seed_shared((clock >> 1) as i64);
    }
}

fn shared(cx: &mut Cx, name: &'static str) -> Res {
    let this = SHARED.with(Value::clone);
    cx.getattr(&this, Sym::of(name))
}

impl From<Mersenne> for Random {
    fn from(twister: Mersenne) -> Random {
        Random { twister: RefCell::new(twister), next_gauss: Cell::new(None) }
    }
}

impl Random {
    fn restart(&self, twister: Mersenne) {
        self.twister.replace(twister);
        self.next_gauss.set(None);
    }

    /// A float in `[0, 1)`.
    pub fn float(&self) -> f64 {
        self.twister.borrow_mut().float()
    }

    /// An integer in `[0, n)`.
    pub fn below(&self, n: usize) -> usize {
        self.twister.borrow_mut().below(n as u64) as usize
    }
}

impl NativeObject for Random {
    fn native_type(&self) -> &'static NativeType {
        &RANDOM
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn new(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::object(Random::from(seeded(cx, &args[1])?)))
}

static METHODS: &[NativeFn] = &[
    function("choice", "self, seq", "A random item of a sequence.", choice).opaque(),
    function(
        "choices",
        "self, population, weights=None, *, cum_weights=None, k=1",
        "A list of k items, drawn with replacement.",
        choices,
    )
    .opaque(),
    function("getrandbits", "self, k, /", "An integer of k random bits.", getrandbits).opaque(),
    function("getstate", "self", "The state of the generator.", getstate).opaque(),
    function("randint", "self, a, b", "An integer from a to b, both included.", randint).opaque(),
    function("random", "self", "A float in [0, 1).", random).opaque(),
    function("randrange", "self, start, stop=None, step=1", "An item of a range.", randrange)
        .opaque(),
    function("sample", "self, population, k, *, counts=None", "k different items.", sample)
        .opaque(),
    function("seed", "self, a=None, version=2", "Start again from a seed.", seed).opaque(),
    function("setstate", "self, state", "Restore a state.", setstate).opaque(),
    function("shuffle", "self, x", "Shuffle a list in place.", shuffle).opaque(),
    function("uniform", "self, a, b", "A float between a and b.", uniform).opaque(),
];

pub(super) fn this<'a>(args: Args<'a>) -> Result<&'a Random, Raised> {
    args.object(0)
}

fn seed(cx: &mut Cx, args: Args<'_>) -> Res {
    this(args)?.restart(seeded(cx, &args[1])?);
    Ok(Value::None)
}

fn seeded(cx: &mut Cx, seed: &Value) -> Result<Mersenne, Raised> {
    Ok(match seed.core() {
        Value::None => Mersenne::from_int(cx.host.wall().to_bits() ^ cx.host.monotonic().to_bits()),
        Value::Int(it) => Mersenne::from_int(it.unsigned_abs()),
        Value::Bool(it) => Mersenne::from_int(u64::from(*it)),
        Value::Float(it) => Mersenne::from_int(float_hash(*it) as u64),
        Value::Str(it) => from_text(it),
        _ => {
            return Err(type_error(
                "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.",
            ));
        }
    })
}

/// A generator seeded with text: its bytes and their SHA-512, as one large number.
fn from_text(text: &str) -> Mersenne {
    let mut bytes = text.as_bytes().to_vec();
    let digest = Sha512::digest(&bytes);
    bytes.extend_from_slice(&digest);
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let mut key: Vec<u32> = bytes.rchunks(4).map(word).collect();
    while key.len() > 1 && key.last() == Some(&0) {
        key.pop();
    }
    Mersenne::from_key(&key)
}

/// CPython's hash of a float: its value modulo the Mersenne prime 2**61 - 1.
fn float_hash(float: f64) -> i64 {
    const PRIME: i128 = (1 << 61) - 1;
    if !float.is_finite() {
        return if float.is_nan() { 0 } else { 314_159 * float.signum() as i64 };
    }
    let (mut mantissa, mut exponent) = crate::objects::special::frexp(float.abs());
    let mut x: i128 = 0;
    while mantissa != 0.0 {
        x = x << 28 & PRIME | x >> (61 - 28);
        mantissa *= 268_435_456.0;
        exponent -= 28;
        let digit = mantissa as i128;
        mantissa -= digit as f64;
        x += digit;
        if x >= PRIME {
            x -= PRIME;
        }
    }
    let turn = exponent.rem_euclid(61);
    x = x << turn & PRIME | x >> (61 - turn);
    let signed = if float < 0.0 { -(x as i64) } else { x as i64 };
    if signed == -1 { -2 } else { signed }
}

fn random(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Float(this(args)?.float()))
}

fn uniform(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = (args.float(1)?, args.float(2)?);
    Ok(Value::Float(a + (b - a) * this(args)?.float()))
}

fn getrandbits(_cx: &mut Cx, args: Args<'_>) -> Res {
    match args.int(1)? {
        count @ 0..=63 => {
            Ok(Value::Int(this(args)?.twister.borrow_mut().bits(count as u32) as i64))
        }
        ..0 => Err(value_error("number of bits must be non-negative")),
        _ => Err(overflow_error("integers have 64 bits; ask for at most 63 random ones")),
    }
}

fn getstate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let random = this(args)?;
    let words = random.twister.borrow().state();
    let words: Vec<Value> = words.into_iter().map(|it| Value::Int(it.into())).collect();
    let gauss = random.next_gauss.get().map_or(Value::None, Value::Float);
    Ok(Value::tuple([Value::Int(3), Value::tuple(words), gauss]))
}

fn setstate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let wrong = || value_error("state vector is invalid");
    let [_, words, gauss] = &args.tuple(1)?[..] else { return Err(wrong()) };
    let words = words.as_tuple().ok_or_else(wrong)?;
    let words: Option<Vec<u32>> =
        words.iter().map(|it| it.as_int().and_then(|it| it.try_into().ok())).collect();
    let twister = words.and_then(|it| Mersenne::from_state(&it)).ok_or_else(wrong)?;
    let random = this(args)?;
    random.restart(twister);
    random.next_gauss.set(gauss.as_float());
    Ok(Value::None)
}

fn below(random: &Random, n: i128) -> Result<i64, Raised> {
    let n = u64::try_from(n).map_err(|_| value_error("empty range for randrange()"))?;
    Ok(random.twister.borrow_mut().below(n) as i64)
}

fn randint(cx: &mut Cx, args: Args<'_>) -> Res {
    let (a, b) = (cx.index(&args[1])?, cx.index(&args[2])?);
    let width = i128::from(b) - i128::from(a) + 1;
    if width <= 0 {
        return Err(value_error(format!(
            "empty range for randrange() ({a}, {}, {width})",
            i128::from(b) + 1
        )));
    }
    Ok(Value::Int(a.wrapping_add(below(this(args)?, width)?)))
}

fn randrange(cx: &mut Cx, args: Args<'_>) -> Res {
    let random = this(args)?;
    let start = cx.index(&args[1])?;
    let Some(stop) = args.opt(2) else {
        if start <= 0 {
            return Err(value_error("empty range for randrange()"));
        }
        return below(random, start.into()).map(Value::Int);
    };
    let (stop, step) = (cx.index(stop)?, cx.index(&args[3])?);
    let width = i128::from(stop) - i128::from(start);
    let count = match i128::from(step) {
        1 if width > 0 => width,
        1 => {
            return Err(value_error(format!(
                "empty range for randrange() ({start}, {stop}, {width})"
            )));
        }
        0 => return Err(value_error("zero step for randrange()")),
        step if step > 0 => (width + step - 1).div_euclid(step),
        step => (-width - step - 1).div_euclid(-step),
    };
    if count <= 0 {
        return Err(value_error("empty range for randrange()"));
    }
    let chosen = below(random, count)?;
    Ok(Value::Int(start.wrapping_add(step.wrapping_mul(chosen))))
}

fn choice(cx: &mut Cx, args: Args<'_>) -> Res {
    let len = cx.len(&args[1])?;
    if len == 0 {
        return Err(index_error("Cannot choose from an empty sequence"));
    }
    let at = this(args)?.below(len);
    cx.getitem(&args[1], &Value::from(at))
}

fn shuffle(cx: &mut Cx, args: Args<'_>) -> Res {
    let random = this(args)?;
    let mut pace = Pace::default();
    for i in (1..cx.len(&args[1])?).rev() {
        pace.step(cx)?;
        let j = random.below(i + 1);
        if let Value::List(list) = &args[1] {
            list.items.borrow_mut().swap(i, j);
            continue;
        }
        let (i, j) = (Value::from(i), Value::from(j));
        let (a, b) = (cx.getitem(&args[1], &i)?, cx.getitem(&args[1], &j)?);
        cx.setitem(&args[1], &i, b)?;
        cx.setitem(&args[1], &j, a)?;
    }
    Ok(Value::None)
}

fn sample(cx: &mut Cx, args: Args<'_>) -> Res {
    let population = &args[1];
    let is_sequence = matches!(
        population.core(),
        Value::List(_) | Value::Tuple(_) | Value::Str(_) | Value::Range(_)
    );
    let object = matches!(population.core(), Value::Instance(_) | Value::Object(_));
    if !(is_sequence || object && cx.opt_getattr(population, Sym::GETITEM)?.is_some()) {
        return Err(type_error(
            "Population must be a sequence.  For dicts or sets, use sorted(d).",
        ));
    }
    let n = cx.len(population)?;
    let k = cx.index(&args[2])?;
    let random = this(args)?;
    let picked = match args.opt(3) {
        None => places(cx, random, n, k)?,
        Some(counts) => {
            let sums = running_counts(cx, counts, n)?;
            let total = sums.last().copied().unwrap_or(0);
            let places = places(cx, random, total, k)?;
            places.into_iter().map(|place| sums.partition_point(|sum| *sum <= place)).collect()
        }
    };
    let items: Result<Vec<Value>, Raised> =
        picked.into_iter().map(|at| cx.getitem(population, &Value::from(at))).collect();
    items.map(Value::list)
}

fn running_counts(cx: &mut Cx, counts: &Value, n: usize) -> Result<Vec<usize>, Raised> {
    let counts = cx.collect(counts)?;
    if counts.len() != n {
        return Err(value_error("The number of counts does not match the population"));
    }
    let mut sums = Vec::with_capacity(n);
    let mut total = 0usize;
    for count in &counts {
        let count = count.as_int().ok_or_else(|| type_error("Counts must be integers"))?;
        total = total.saturating_add_signed(count as isize);
        sums.push(total);
    }
    if total == 0 {
        return Err(value_error("Total of counts must be greater than zero"));
    }
    Ok(sums)
}

/// `k` different places among `n`, by the two methods CPython chooses between.
fn places(cx: &mut Cx, random: &Random, n: usize, k: i64) -> Result<Vec<usize>, Raised> {
    let k = usize::try_from(k).ok().filter(|k| *k <= n);
    let k = k.ok_or_else(|| value_error("Sample larger than population or is negative"))?;
    // Room for the places, for the set of them and for the items.
    cx.check_size(k.saturating_mul(4))?;
    let mut small = 21.0;
    if k > 5 {
        small += 4f64.powf(((k as f64 * 3.0).ln() / 4f64.ln()).ceil());
    }
    if n as f64 <= small {
        let mut pool: Vec<usize> = (0..n).collect();
        return Ok((0..k)
            .map(|i| {
                let j = random.below(n - i);
                let chosen = pool[j];
                pool[j] = pool[n - i - 1];
                chosen
            })
            .collect());
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let mut chosen = Vec::with_capacity(k);
    while chosen.len() < k {
        cx.poll()?;
        let at = random.below(n);
        if seen.insert(at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

fn choices(cx: &mut Cx, args: Args<'_>) -> Res {
    let (population, random) = (&args[1], this(args)?);
    let n = cx.len(population)?;
    let k = cx.index(&args[4])?.max(0) as usize;
    cx.check_size(k)?;
    let sums = match (args.opt(2), args.opt(3)) {
        (Some(_), Some(_)) => {
            return Err(type_error("Cannot specify both weights and cumulative weights"));
        }
        (Some(weights), None) => Some(running_weights(cx, weights, true)?),
        (None, Some(sums)) => Some(running_weights(cx, sums, false)?),
        (None, None) => None,
    };
    if let Some(sums) = &sums {
        check_weights(sums, n)?;
    } else if n == 0 && k > 0 {
        return Err(index_error("list index out of range"));
    }
    let mut items = Vec::with_capacity(k);
    for _ in 0..k {
        let at = match &sums {
            None => (random.float() * n as f64) as usize,
            Some(sums) => {
                let wanted = random.float() * sums[n - 1];
                sums[..n - 1].partition_point(|sum| *sum <= wanted)
            }
        };
        items.push(cx.getitem(population, &Value::from(at))?);
    }
    Ok(Value::list(items))
}

fn running_weights(cx: &mut Cx, weights: &Value, add: bool) -> Result<Vec<f64>, Raised> {
    if let Some(k) = weights.as_int() {
        let message = "The number of choices must be a keyword argument";
        return Err(type_error(format!("{message}: k={k}")));
    }
    let mut total = 0.0;
    let mut sums = Vec::new();
    for weight in cx.collect(weights)? {
        let weight = weight.as_float().ok_or_else(|| {
            type_error(format!("weights must be numbers, not {}", type_name(&weight)))
        })?;
        total = if add { total + weight } else { weight };
        sums.push(total);
    }
    Ok(sums)
}

fn check_weights(sums: &[f64], n: usize) -> Result<(), Raised> {
    if sums.len() != n {
        return Err(value_error("The number of weights does not match the population"));
    }
    match sums.last() {
        Some(total) if *total <= 0.0 => {
            Err(value_error("Total of weights must be greater than zero"))
        }
        Some(total) if !total.is_finite() => Err(value_error("Total of weights must be finite")),
        Some(_) => Ok(()),
        None => Err(index_error("list index out of range")),
    }
}
