//! What `load-and-run` says: lines, times, the table of a model, summaries of outputs, JSON.

use std::fmt;
use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};

use engine::graph::text::constants;
use engine::model::{Model, Port};
use engine::{Meta, Result, Tensor};

use super::session::{Run, Test};
use crate::cli::say;

/// Where lines go.
pub(super) struct Printer {
    /// Stands before each line.
    pub(super) prefix: String,
    /// Says nothing.
    pub(super) is_quiet: bool,
}

/// Milliseconds of timed runs.
pub(super) struct Times(pub(super) Vec<f64>);

/// An output without its values, or with them.
pub(super) struct Summary {
    name: String,
    meta: Meta,
    min: f64,
    max: f64,
    mean: f64,
    n_nan: usize,
    values: Option<Vec<f64>>,
}

impl Printer {
    pub(super) fn line(&self, text: &str) {
        if self.is_quiet {
            return;
        }
        let lines: String =
            text.split('\n').map(|line| format!("{}{line}\n", self.prefix)).collect();
        say(&lines);
    }

    /// Tells a remark, which is no part of the report.
    pub(super) fn warn(&self, text: &str) {
        if !self.is_quiet {
            drop(writeln!(std::io::stderr(), "{}warning: {text}", self.prefix));
        }
    }
}

impl Times {
    pub(super) fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    fn average(&self) -> f64 {
        self.total() / self.0.len().max(1) as f64
    }

    /// `sqrt(sum((t - mean)^2) / (n - 1))`; 0 for a single run.
    fn standard_deviation(&self) -> f64 {
        let average = self.average();
        let squares: f64 = self.0.iter().map(|it| (it - average).powi(2)).sum();
        (squares / (self.0.len().max(2) - 1) as f64).sqrt()
    }

    fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn max(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "time={:.3} ms avg_time={:.3} ms standard_deviation={:.3} ms min={:.3} ms max={:.3} ms",
            self.total(),
            self.average(),
            self.standard_deviation(),
            self.min(),
            self.max()
        )
    }
}

impl Summary {
    /// The summary of an output; NaN count for neither minimum, maximum nor mean.
    pub(super) fn of(name: String, tensor: &Tensor, keeps_values: bool) -> Result<Self> {
        let values = tensor.to_f64_vec()?;
        let numbers = || values.iter().copied().filter(|it| !it.is_nan());
        let count = numbers().count();
        Ok(Self {
            name,
            meta: tensor.meta(),
            min: numbers().reduce(f64::min).unwrap_or(f64::NAN),
            max: numbers().reduce(f64::max).unwrap_or(f64::NAN),
            mean: if count > 0 { numbers().sum::<f64>() / count as f64 } else { f64::NAN },
            n_nan: values.len() - count,
            values: keeps_values.then_some(values),
        })
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "dtype": self.meta.dtype.name(),
            "shape": self.meta.shape.to_vec(),
            "min": self.min,
            "max": self.max,
            "mean": self.mean,
            "nan": self.n_nan,
            "values": self.values,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, min, max, mean, .. } = self;
        write!(
            f,
            "output `{name}`: {} min={min:.6} max={max:.6} mean={mean:.6}",
            kind(&self.meta)
        )?;
        if self.n_nan > 0 { write!(f, " nan={}", self.n_nan) } else { Ok(()) }
    }
}

impl Run {
    pub(super) fn json(&self) -> Value {
        json!({
            "load_ms": self.load,
            "prepare_ms": self.prepare,
            "warmup_ms": self.warmup,
            "tests": self.tests.iter().map(Test::json).collect::<Vec<_>>(),
            "total_ms": self.tests.iter().map(|it| it.times.total()).sum::<f64>(),
        })
    }
}

impl Test {
    fn json(&self) -> Value {
        let times = &self.times;
        json!({
            "iter_ms": times.0,
            "total_ms": times.total(),
            "avg_ms": times.average(),
            "standard_deviation_ms": times.standard_deviation(),
            "min_ms": times.min(),
            "max_ms": times.max(),
            "max_error": self.error,
            "ok": self.mismatch.is_none(),
            "outputs": self.outputs.iter().map(Summary::json).collect::<Vec<_>>(),
        })
    }
}

/// `float32 [2, 3]`.
pub(super) fn kind(meta: &Meta) -> String {
    format!("{} {}", meta.dtype, meta.shape)
}

/// The index of an element counted in row-major order: `[1, 0]`.
pub(super) fn index(mut at: usize, shape: &[usize]) -> String {
    let mut res: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let here = at % size.max(1);
            at /= size.max(1);
            here
        })
        .collect();
    res.reverse();
    format!("{res:?}")
}

/// The table of inputs and outputs, then what the model holds and needs.
pub(super) fn model_info(model: &Model) -> std::result::Result<String, String> {
    let plan = model.plan().map_err(|error| error.to_string())?;
    let mut res = table("Runtime Model Info", &rows(model));
    let weights = constants(model.graph());
    let weight_bytes: usize = weights.iter().map(|it| it.meta().bytes()).sum();
    let memory = plan.memory();
    let mut line = |name: &str, text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(res, "{name:<12}{text}");
    };
    line("ops", model.graph().n_ops().to_string());
    line("weights", format!("{} tensors, {weight_bytes} bytes", weights.len()));
    line("launches", plan.n_launches().to_string());
    line("arena", format!("{} bytes (lower bound {})", memory.peak, memory.lower_bound));
    line("outputs", format!("{} bytes", plan.output_bytes()));
    line("test cases", model.test_cases().len().to_string());
    if !model.info.is_empty() {
        line("info", model.info.clone());
    }
    Ok(res)
}

fn rows(model: &Model) -> Vec<[String; 4]> {
    let row = |role: &str, port: Port| {
        let sizes: Vec<String> = port.meta.shape.iter().map(ToString::to_string).collect();
        let shape = format!("{{{}}}", sizes.join(","));
        [role.to_owned(), port.name, shape, port.meta.dtype.name().to_owned()]
    };
    let mut res = vec![["type", "name", "shape", "dtype"].map(str::to_owned)];
    res.extend(model.inputs().into_iter().map(|it| row("INPUT", it)));
    res.extend(model.outputs().into_iter().map(|it| row("OUTPUT", it)));
    res
}

/// A table with the title in its upper rule; the first row is the head.
fn table(title: &str, rows: &[[String; 4]]) -> String {
    let width = |at: usize| rows.iter().map(|it| it[at].chars().count()).max().unwrap_or(0) + 2;
    let widths: [usize; 4] = std::array::from_fn(width);
    let rule: String = widths.iter().map(|&it| format!("+{}", "-".repeat(it))).collect();
    let rest: String = rule.chars().skip(1 + title.len()).collect();
    let mut res = format!("+{title}{rest}+\n");
    for (idx, row) in rows.iter().enumerate() {
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(res, "|{cell:^width$}");
        }
        res.push_str("|\n");
        if idx == 0 {
            let _ = writeln!(res, "{rule}+");
        }
    }
    let _ = writeln!(res, "{rule}+");
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_numpy() {
        // numpy.std([1, 2, 4, 5.5], ddof=1)
        let times = Times(vec![1.0, 2.0, 4.0, 5.5]);
        assert!((times.standard_deviation() - 2.015_564_437_074_637).abs() < 1e-12);
        assert_eq!((times.total(), times.average()), (12.5, 3.125));
        assert!(Times(vec![3.0]).to_string().contains("standard_deviation=0.000 ms"));
    }

    #[test]
    fn an_index_counts_rows_first() {
        assert_eq!(index(5, &[2, 3]), "[1, 2]");
        assert_eq!(index(0, &[]), "[]");
    }

    #[test]
    fn the_table_is_as_wide_as_its_cells() {
        let rows = [["type", "name", "shape", "dtype"], ["INPUT", "x", "{2,3}", "float32"]];
        let text = table("Info", &rows.map(|it| it.map(str::to_owned)));
        assert!(text.starts_with(
            "+Info---+------+-------+---------+\n| type  | name | shape |  dtype  |\n"
        ));
    }
}
