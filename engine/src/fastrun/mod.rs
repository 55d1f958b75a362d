//! Which algorithm an op uses: a strategy, measurements where it asks for them, and what was measured before.

mod cache;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::time::Instant;

use smallvec::SmallVec;

use crate::attr::AttrText;
use crate::cpu::alloc::Bytes;
use crate::cpu::{features, pool, typed};
use crate::cuda::settings;
use crate::op::{Case, Kernel, Prepared};
use crate::random::Stream;
use crate::storage::{bits_of, from_slice};
use crate::tensor::Data;
use crate::{DType, Number, Result, Shape, Tensor, launch};

pub use cache::{check, clear, load, save};

/// How algorithms are chosen, for all ops on this thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// Times every usable algorithm once and takes the fastest; otherwise the first usable one in the row.
    pub profile: bool,
    /// Leaves plain algorithms out, unless there is no other.
    pub optimized: bool,
    /// Only algorithms that give the same bits on every run and thread count.
    pub reproducible: bool,
    /// Where nothing was measured before, takes the first usable algorithm instead of measuring (with `profile`).
    pub cache_only: bool,
    /// Leaves algorithms out that need more scratch, in bytes.
    pub workspace_limit: Option<usize>,
    /// Measures with this size of dimension 0 of the first operand, and shares the choice between batch sizes.
    pub shared_batch: Option<usize>,
}

impl Strategy {
    /// The first usable algorithm; measures nothing.
    pub const HEURISTIC: Self = Self {
        profile: false,
        optimized: false,
        reproducible: false,
        cache_only: false,
        workspace_limit: None,
        shared_batch: None,
    };
    /// All algorithms are timed.
    pub const PROFILE: Self = Self { profile: true, ..Self::HEURISTIC };
    /// All but plain algorithms are timed.
    pub const FAST: Self = Self { profile: true, optimized: true, ..Self::HEURISTIC };

    /// From words joined by `_` or `|`: `HEURISTIC`, `PROFILE`, `REPRODUCIBLE`, `OPTIMIZED`; `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut res = Self::HEURISTIC;
        let mut heuristic = false;
        for word in text.split(['_', '|']) {
            match word.trim().to_ascii_uppercase().as_str() {
                "HEURISTIC" => heuristic = true,
                "PROFILE" => res.profile = true,
                "REPRODUCIBLE" => res.reproducible = true,
                "OPTIMIZED" => res.optimized = true,
                _ => return None,
            }
        }
        res.cache_only = res.profile && heuristic;
        Some(res)
    }
}

/// What became of one algorithm in a choice.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Median seconds of a run.
    Seconds(f64),
    /// Why it was not timed.
    Skipped(String),
}

/// One choice, as a row for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The op.
    pub op: &'static str,
    /// Dtypes, shapes and strides of the operands, and attributes: `f32[64, 128] f32[128, 10]`.
    pub signature: String,
    /// (algorithm, what became of it), in the order of the row.
    pub candidates: Vec<(String, Outcome)>,
    /// The algorithm taken.
    pub chosen: &'static str,
    /// Time of the first usable algorithm divided by the time of the chosen one; 1 when nothing was gained.
    pub gain: f64,
    /// Whether it was known before.
    pub from_cache: bool,
}

thread_local! {
    static STRATEGY: Cell<Strategy> = const { Cell::new(Strategy::HEURISTIC) };
    static REPORT: RefCell<Vec<Choice>> = const { RefCell::new(Vec::new()) };
    static MEASURED: Cell<usize> = const { Cell::new(0) };
}

/// Rows that the report keeps; later ones are dropped.
const REPORT_ROWS: usize = 4096;

/// The strategy of this thread.
pub fn strategy() -> Strategy {
    STRATEGY.get()
}

/// Sets the strategy of this thread; returns the former.
pub fn set_strategy(strategy: Strategy) -> Strategy {
    STRATEGY.replace(strategy)
}

/// The choices made since the last call, without repetitions.
pub fn take_report() -> Vec<Choice> {
    REPORT.take()
}

/// Number of algorithms timed on this thread so far.
pub fn n_measured() -> usize {
    MEASURED.get()
}

/// Whether libraries of a GPU measure their algorithms: where the strategy of this thread measures, or the program has asked for it.
pub(crate) fn measures_libraries() -> bool {
    let Strategy { profile, cache_only, .. } = STRATEGY.get();
    profile && !cache_only || settings::MEASURED.is_on()
}

/// The kernel for this case, prepared; `None` when no kernel takes it.
pub fn choose(kernels: &'static [Kernel], case: &Case<'_>) -> Option<Prepared> {
    let strategy = STRATEGY.get();
    let first_taken = || kernels.iter().find_map(|it| it.prepare(case));
    if strategy == Strategy::HEURISTIC {
        return first_taken();
    }
    let mut allowed: SmallVec<[&'static Kernel; 8]> = SmallVec::new();
    allowed.extend(kernels.iter().filter(|it| refusal(it, case, strategy).is_none()));
    // Better a kernel that the strategy does not like than none.
    let Some(&first) = allowed.first() else { return first_taken() };
    if !strategy.profile || allowed.len() == 1 || !case.op.pure {
        return first.prepare(case);
    }
    profiled(kernels, &allowed, case, strategy).unwrap_or(first).prepare(case)
}

/// Why a kernel is left out.
fn refusal(kernel: &'static Kernel, case: &Case<'_>, strategy: Strategy) -> Option<String> {
    let Some(prepared) = kernel.prepare(case) else {
        return Some("does not take this case".into());
    };
    if strategy.optimized && kernel.naive {
        return Some("plain".into());
    }
    if strategy.reproducible && !kernel.reproducible {
        return Some("not reproducible".into());
    }
    let bytes = prepared.workspace();
    let over = strategy.workspace_limit.is_some_and(|limit| bytes > limit);
    over.then(|| format!("needs {bytes} bytes of scratch"))
}

fn profiled(
    kernels: &'static [Kernel],
    allowed: &[&'static Kernel],
    case: &Case<'_>,
    strategy: Strategy,
) -> Option<&'static Kernel> {
    let signature = signature(case, strategy.shared_batch);
    let key = format!("{} {signature}", case.op.name);
    let known = cache::find(&key);
    let from_cache = known.is_some();
    if known.is_none() && strategy.cache_only {
        return None;
    }
    let mut times = known.unwrap_or_default();
    let missing = allowed.iter().any(|kernel| times.iter().all(|it| it.0 != kernel.name));
    if missing && !strategy.cache_only {
        measure(allowed, case, strategy.shared_batch, &mut times)?;
        cache::put(&key, &times);
    }
    let time_of = |kernel: &Kernel| times.iter().find(|it| it.0 == kernel.name).map(|it| it.1);
    let timed = allowed.iter().filter_map(|kernel| Some((time_of(kernel)?, *kernel)));
    let (best, chosen) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let outcome = |kernel: &'static Kernel| match (refusal(kernel, case, strategy), time_of(kernel))
    {
        (Some(why), _) => Outcome::Skipped(why),
        (None, Some(seconds)) => Outcome::Seconds(seconds),
        (None, None) => Outcome::Skipped("failed".into()),
    };
    report(Choice {
        op: case.op.name,
        signature,
        candidates: kernels.iter().map(|it| (it.name.to_owned(), outcome(it))).collect(),
        chosen: chosen.name,
        gain: time_of(allowed[0]).map_or(1.0, |first| first / best.max(1e-12)),
        from_cache: from_cache && !missing,
    });
    Some(chosen)
}

fn report(choice: Choice) {
    REPORT.with_borrow_mut(|rows| {
        let known = |it: &Choice| it.op == choice.op && it.signature == choice.signature;
        if rows.len() < REPORT_ROWS && !rows.iter().any(known) {
            rows.push(choice);
        }
    });
}

/// Times the kernels that have no time yet.
fn measure(
    kernels: &[&'static Kernel],
    case: &Case<'_>,
    shared_batch: Option<usize>,
    times: &mut Vec<(String, f64)>,
) -> Option<()> {
    let inputs = sample_inputs(case, shared_batch).ok()?;
    let mut best = times.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    for kernel in kernels {
        if times.iter().any(|it| it.0 == kernel.name) {
            continue;
        }
        if let Ok(seconds) = time(kernel, case, &inputs, best) {
            best = best.min(seconds);
            times.push((kernel.name.to_owned(), seconds));
        }
    }
    Some(())
}

/// Median seconds of a run, after one to warm up. A kernel that is far slower than the best is not run again.
fn time(kernel: &'static Kernel, case: &Case<'_>, inputs: &[Tensor], best: f64) -> Result<f64> {
    const BUDGET: f64 = 0.02;
    let sample = case.on(inputs);
    let prepared = kernel.prepare(&sample).ok_or_else(|| sample.refused())?;
    let own = Stream::new(0);
    let once = || -> Result<f64> {
        let metas = (case.op.infer)(&sample.seen())?;
        let clock = Instant::now();
        launch::run_kernel(case.op, &prepared, inputs, case.attrs, metas, &own)?;
        Ok(clock.elapsed().as_secs_f64())
    };
    MEASURED.set(MEASURED.get() + 1);
    let first = once()?;
    if first > 10.0 * best && first > BUDGET {
        return Ok(first);
    }
    let mut runs: SmallVec<[f64; 32]> = SmallVec::new();
    let clock = Instant::now();
    while runs.len() < 3 || (runs.len() < 31 && clock.elapsed().as_secs_f64() < BUDGET) {
        runs.push(once()?);
    }
    runs.sort_by(f64::total_cmp);
    Ok(runs[runs.len() / 2])
}

/// Operands to time with: copies, beside which kernels keep what they would keep beside the tensors, or others of the same layout where
/// there are no elements.
fn sample_inputs(case: &Case<'_>, shared_batch: Option<usize>) -> Result<SmallVec<[Tensor; 3]>> {
    let one = |(idx, tensor): (usize, &Tensor)| {
        if let (0, Some(batch)) = (idx, shared_batch) {
            let mut shape = tensor.shape().clone();
            if let Some(size) = shape.dims_mut().first_mut() {
                *size = batch;
            }
            return filled(&crate::Layout::contiguous(shape), tensor.dtype());
        }
        match tensor.data() {
            Data::Abstract(..) | Data::Meta | Data::Pending(_) => {
                filled(tensor.layout(), tensor.dtype())
            }
            Data::Stored(buffer) => {
                let bytes = from_slice(typed::slice::<u8>(buffer.host()?))?;
                Ok(Tensor::stored(bytes, tensor.layout().clone(), tensor.dtype()))
            }
            Data::Number(_) => Ok(tensor.clone()),
        }
    };
    let inputs = case.inputs.iter().enumerate().map(one);
    let mut inputs = inputs.collect::<Result<SmallVec<[Tensor; 3]>>>()?;
    for (idx, input) in inputs.iter_mut().enumerate() {
        if let (true, Data::Stored(buffer)) = (case.is_constant(idx), input.data()) {
            buffer.packs().expect_reuse();
            *input = input.leaf();
        }
    }
    Ok(inputs)
}

/// Ones for floats, zeros for integers, which are valid indices.
fn filled(layout: &crate::Layout, dtype: DType) -> Result<Tensor> {
    let shape = Shape::from([layout.end()]);
    let mut bytes = Bytes::uninit(shape.numel() * dtype.size())?;
    let bits = bits_of(Number::Float(f64::from(u8::from(dtype.is_float()))), dtype);
    crate::with_size!(dtype, T => typed::slice_mut::<T>(&mut bytes).fill(bits as T));
    let flat = Tensor::stored(bytes, crate::Layout::contiguous(shape), dtype);
    Ok(flat.with_layout(layout.clone()))
}

/// The operands and attributes as text; a shared batch stands in place of the first operand's.
fn signature(case: &Case<'_>, shared_batch: Option<usize>) -> String {
    let mut res = String::new();
    for (idx, tensor) in case.inputs.iter().enumerate() {
        let mut meta = tensor.meta();
        if let (0, Some(batch), Some(size)) = (idx, shared_batch, meta.shape.dims_mut().first_mut())
        {
            *size = batch;
        }
        // Writing to a string cannot fail.
        let _ = write!(res, "{}{meta}", if idx > 0 { " " } else { "" });
        if !tensor.layout().is_contiguous() {
            let _ = write!(res, "/{:?}", tensor.layout().strides.as_slice());
        }
        if case.is_constant(idx) {
            res.push_str("=constant");
        }
    }
    for (name, attr) in case.op.named_attrs(case.attrs) {
        let _ = write!(res, " {name}={}", AttrText(attr));
    }
    res
}

/// What measured times depend on besides the application: processor, instruction set, threads.
pub fn machine() -> String {
    format!("{}, {}, {} threads", processor(), features::isa().name(), pool::threads())
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|it| it.starts_with("model name"));
    let name = line.and_then(|it| it.split_once(':')).map(|it| it.1.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
