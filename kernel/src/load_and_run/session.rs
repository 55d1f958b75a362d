//! One thread of `load-and-run`: load, prepare, warm up, run, check.

use std::time::Instant;

use engine::fastrun::{self, Choice, Outcome};
use engine::model::Model;
use engine::{Tensor, atomic_file, fastrun::Strategy};
use frontend_lang::tensor::text;

use super::inputs;
use super::options::Options;
use super::report::{self, Printer, Summary, Times};

/// What one thread did. Times are in milliseconds.
pub(super) struct Run {
    pub(super) load: f64,
    pub(super) prepare: f64,
    pub(super) warmup: Vec<f64>,
    pub(super) tests: Vec<Test>,
}

/// One test case, or the inputs of the command line.
pub(super) struct Test {
    pub(super) times: Times,
    /// The largest error of an output; `None` when there is nothing to compare with.
    pub(super) error: Option<f64>,
    /// The output that is off by more than is allowed.
    pub(super) mismatch: Option<String>,
    pub(super) outputs: Vec<Summary>,
}

/// Inputs, with the outputs to expect if they are known.
struct Case {
    inputs: Vec<Tensor>,
    expected: Option<Vec<Tensor>>,
}

/// An output that is off the most.
struct Worst {
    error: f64,
    text: String,
}

impl Run {
    /// Timed runs per second.
    pub(super) fn throughput(&self) -> f64 {
        let runs: usize = self.tests.iter().map(|it| it.times.0.len()).sum();
        let total: f64 = self.tests.iter().map(|it| it.times.total()).sum();
        runs as f64 * 1e3 / total.max(1e-9)
    }
}

/// Loads and runs the model as the options say.
pub(super) fn run(options: &Options, printer: &Printer) -> Result<Run, String> {
    fastrun::set_strategy(options.strategy());
    let clock = Instant::now();
    let model = load(options)?;
    let load = ms(clock);
    printer.line(&format!("load model: {load:.3}ms\n"));
    let clock = Instant::now();
    let cases = cases(&model, options, printer)?;
    model.plan().map_err(|error| format!("the model cannot be compiled: {error}"))?;
    let prepare = ms(clock);
    if options.strategy() != Strategy::HEURISTIC {
        fastrun::take_report().iter().for_each(|it| printer.line(&choice_line(it)));
    }
    if options.model_info {
        printer.line(&report::model_info(&model)?);
    }
    let mut run = Run { load, prepare, warmup: Vec::new(), tests: Vec::new() };
    for (idx, case) in cases.iter().enumerate() {
        printer.line(&format!("run testcase: {idx}"));
        if idx == 0 {
            run.warmup = warm_up(&model, case, options, prepare, printer)?;
        }
        run.tests.push(test(&model, idx, case, options, printer)?);
    }
    let total: f64 = run.tests.iter().map(|it| it.times.total()).sum();
    printer.line(&format!("=== total time: {total:.3}ms"));
    Ok(run)
}

fn load(options: &Options) -> Result<Model, String> {
    let path = options.model.display();
    let bytes = atomic_file::read(&options.model)
        .map_err(|error| format!("failed to open {path}: {error}"))?;
    Model::from_bytes(&bytes).map_err(|error| format!("{path}: {error}"))
}

fn cases(model: &Model, options: &Options, printer: &Printer) -> Result<Vec<Case>, String> {
    let ports = model.inputs();
    let n_cases = model.test_cases().len();
    if !options.inputs.is_empty() {
        if n_cases > 0 {
            printer.line(&format!(
                "--input is given: the {n_cases} test case(s) of the file are not run"
            ));
        }
        let mut notes = Vec::new();
        let inputs = inputs::read(&options.inputs, &ports, &mut notes)?;
        notes.iter().for_each(|it| printer.line(it));
        return Ok(vec![Case { inputs, expected: None }]);
    }
    if n_cases > 0 {
        let case = |it: &engine::model::TestCase| Case {
            inputs: it.inputs.clone(),
            expected: Some(it.outputs.clone()),
        };
        return Ok(model.test_cases().iter().map(case).collect());
    }
    if !ports.is_empty() {
        printer.line("no --input and no test cases: every input is filled with ones");
    }
    let inputs = ports.iter().map(inputs::ones).collect::<Result<_, _>>()?;
    Ok(vec![Case { inputs, expected: None }])
}

fn warm_up(
    model: &Model,
    case: &Case,
    options: &Options,
    prepare: f64,
    printer: &Printer,
) -> Result<Vec<f64>, String> {
    let next = if options.warmup > 0 { "; going to warmup" } else { "" };
    printer.line(&format!("=== prepare: {prepare:.3}ms{next}"));
    let mut times = Vec::new();
    for idx in 0..options.warmup {
        let clock = Instant::now();
        model.run(&case.inputs).map_err(failed)?;
        times.push(ms(clock));
        printer.line(&format!("warm up {idx}  {:.3}ms", times[idx]));
    }
    Ok(times)
}

fn test(
    model: &Model,
    idx: usize,
    case: &Case,
    options: &Options,
    printer: &Printer,
) -> Result<Test, String> {
    let mut times = Times(Vec::new());
    let mut worst: Option<Worst> = None;
    let mut outputs = Vec::new();
    for iter in 0..options.iter {
        let clock = Instant::now();
        outputs = model.run(&case.inputs).map_err(failed)?;
        times.0.push(ms(clock));
        printer.line(&format!("iter {iter}/{}: e2e={:.3} ms", options.iter, times.0[iter]));
        let Some(expected) = &case.expected else { continue };
        let here = compare(model, &outputs, expected)?;
        if worst.as_ref().is_none_or(|it| here.error > it.error) {
            worst = Some(here);
        }
    }
    printer.line(&format!("=== finished test #{idx}: {times}"));
    let mismatch = worst.as_ref().filter(|it| it.error > options.maxerr).map(|it| {
        let allowed = options.maxerr;
        format!("test #{idx}: {} (--maxerr is {allowed:e})", it.text)
    });
    match (&worst, &mismatch) {
        (_, Some(text)) => printer.line(&format!("FAILED {text}")),
        (Some(worst), None) => {
            printer.line(&format!("test #{idx}: outputs as expected, max error {:e}", worst.error));
        }
        (None, None) => {}
    }
    let outputs = summaries(model, &outputs, options, printer)?;
    Ok(Test { times, error: worst.map(|it| it.error), mismatch, outputs })
}

fn summaries(
    model: &Model,
    outputs: &[Tensor],
    options: &Options,
    printer: &Printer,
) -> Result<Vec<Summary>, String> {
    let mut res = Vec::new();
    for (port, tensor) in model.outputs().into_iter().zip(outputs) {
        let summary = Summary::of(port.name, tensor, options.print_output).map_err(failed)?;
        printer.line(&summary.to_string());
        if options.print_output && !printer.is_quiet {
            printer.line(&text::repr(tensor).map_err(failed)?);
        }
        res.push(summary);
    }
    Ok(res)
}

/// The element that is off the most. Equal infinities and NaN are equal, other differences of them are infinite.
fn compare(model: &Model, got: &[Tensor], expected: &[Tensor]) -> Result<Worst, String> {
    let mut worst = Worst { error: 0.0, text: String::new() };
    for (port, (got, expected)) in model.outputs().iter().zip(got.iter().zip(expected)) {
        let (values, wanted) =
            (got.to_f64_vec().map_err(failed)?, expected.to_f64_vec().map_err(failed)?);
        for (at, (&value, &want)) in values.iter().zip(&wanted).enumerate() {
            let error = error(value, want);
            if error > worst.error {
                let (name, index) = (&port.name, report::index(at, got.shape()));
                let text = format!(
                    "output `{name}` differs at {index}: got {value}, expected {want}, error {error:e}"
                );
                worst = Worst { error, text };
            }
        }
    }
    Ok(worst)
}

/// `|got - expected| / max(1, |expected|)`.
fn error(got: f64, expected: f64) -> f64 {
    if got == expected || (got.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let error = (got - expected).abs() / expected.abs().max(1.0);
    if error.is_finite() { error } else { f64::INFINITY }
}

/// `fast-run: matmul f32[2, 3] f32[3, 4]: gemm.packed (gain 3.10, measured); gemm.packed 1.2us; gemm.naive: plain`.
fn choice_line(choice: &Choice) -> String {
    let Choice { op, signature, chosen, gain, .. } = choice;
    let origin = if choice.from_cache { "known" } else { "measured" };
    let mut line = format!("fast-run: {op} {signature}: {chosen} (gain {gain:.2}, {origin})");
    for (name, outcome) in &choice.candidates {
        line.push_str(&match outcome {
            Outcome::Seconds(seconds) => format!("; {name} {:.1}us", seconds * 1e6),
            Outcome::Skipped(why) => format!("; {name}: {why}"),
        });
    }
    line
}

fn failed(error: engine::Error) -> String {
    format!("the model failed: {error}")
}

fn ms(clock: Instant) -> f64 {
    clock.elapsed().as_secs_f64() * 1e3
}
