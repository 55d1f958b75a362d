//! `notegrad load-and-run` as a user runs it, on a small model written by the engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use engine::graph::parse::parse;
use engine::model::Model;
use engine::{Shape, Tensor};
use serde_json::Value;
use tempfile::TempDir;

const GRAPH: &str = "\
graph(%0: f32[2, 3]) {
  %1 = const(0) : f32[4, 3]
  %2 = permute(%1; dims=[1, 0]) : f32[3, 4]
  %3 = matmul(%0, %2) : f32[2, 4]
  %4 = const(1) : f32[4]
  %5 = add(%3, %4) : f32[2, 4]
  %6 = softmax(%5; dim=-1) : f32[2, 4]
  return %6
}
";

/// `softmax(linear(ones))` by PyTorch, in float64.
const OF_ONES: [f64; 4] = [0.0007847, 0.0082285, 0.086281, 0.9047057];
/// `softmax(linear([[1, 2, 3], [4, 5, 6]]))`.
const OF_COUNTS: [f64; 8] = [1e-6, 1e-4, 0.0099508, 0.9899482, 0.0, 0.0, 1.18e-5, 0.9999882];

/// A linear layer and a softmax.
fn model() -> Model {
    let w: Vec<f32> = (0..12).map(|it| it as f32 * 0.25 - 1.0).collect();
    let w = Tensor::from_vec(&w, Shape::from([4, 3])).unwrap();
    let b = Tensor::from_vec(&[0.1_f32, 0.2, 0.3, 0.4], Shape::from([4])).unwrap();
    let graph = parse(GRAPH, &[w, b]).unwrap();
    Model::new(graph, &["x".into()], &["scores".into()]).unwrap()
}

fn with_case() -> Vec<u8> {
    let mut model = model();
    let x = Tensor::from_vec(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], Shape::from([2, 3])).unwrap();
    model.add_test_case(&[x]).unwrap();
    model.to_bytes().unwrap()
}

fn file(dir: &TempDir, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join("model.ngm");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn run(model: &Path, options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_notegrad"));
    command.arg("load-and-run").arg(model).args(options.split_whitespace());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// A failure: the exit status, and what standard error says.
fn fails(output: &Output, status: i32, expected: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{error}");
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains("panicked"), "{error}");
}

fn near(values: &Value, expected: &[f64]) {
    let values: Vec<f64> =
        values.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    assert_eq!(values.len(), expected.len());
    let off = values.iter().zip(expected).any(|(value, expected)| (value - expected).abs() > 2e-7);
    assert!(!off, "{values:?} {expected:?}");
}

#[test]
fn says_how_long_each_part_took() {
    let dir = tempfile::tempdir().unwrap();
    let model = file(&dir, &model().to_bytes().unwrap());
    let text = stdout(&run(&model, "--iter 3 --warmup-iter 2 --model-info --print-output"));
    for part in [
        "\nload model: ",
        "every input is filled with ones",
        "+Runtime Model Info",
        "| INPUT  |   x    | {2,3} | float32 |",
        "| OUTPUT | scores | {2,4} | float32 |",
        "weights     2 tensors, 64 bytes",
        "run testcase: 0\n=== prepare: ",
        "ms; going to warmup\nwarm up 0  ",
        "\nwarm up 1  ",
        "\niter 0/3: e2e=",
        "\niter 2/3: e2e=",
        "\n=== finished test #0: time=",
        " avg_time=",
        " standard_deviation=",
        "output `scores`: float32 [2, 4] min=0.000785 max=0.904706 mean=0.250000",
        "tensor([[7.8475e-04, 8.2285e-03, 8.6281e-02, 9.0471e-01],",
        "\n=== total time: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("iter 3/3") && !text.contains("warm up 2"));
}

#[test]
fn gives_scripts_one_line_of_json() {
    let dir = tempfile::tempdir().unwrap();
    let model = file(&dir, &model().to_bytes().unwrap());
    let line = json(&run(&model, "--iter 1 --json --print-output"));
    let test = &line["runs"][0]["tests"][0];
    assert_eq!((&line["ok"], &test["standard_deviation_ms"]), (&true.into(), &0.0.into()));
    near(&test["outputs"][0]["values"], &OF_ONES.repeat(2));
    let output = run(&model, "--json --print-output --input x:[[1,2,3],[4,5,6]] --thread 2");
    let line = json(&output);
    assert_eq!(line["runs"].as_array().unwrap().len(), 2);
    near(&line["runs"][1]["tests"][0]["outputs"][0]["values"], &OF_COUNTS);
}

#[test]
fn test_cases_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = with_case();
    let model = file(&dir, &bytes);
    let text = stdout(&run(&model, "--iter 2"));
    assert!(text.contains("test #0: outputs as expected, max error 0e0"), "{text}");
    // The last element of the expected output becomes 0.5.
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let entries: Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let start = entries["case.0.output.0"]["data_offsets"][0].as_u64().unwrap() as usize;
    let mut changed = bytes;
    let at = 8 + header + start + 4 * 7;
    changed[at..at + 4].copy_from_slice(&0.5_f32.to_le_bytes());
    let damaged = run(&file(&dir, &changed), "--iter 1");
    fails(&damaged, 1, "its checksum is wrong");
    engine::model::seal(&mut changed);
    let model = file(&dir, &changed);
    let output = run(&model, "--iter 1");
    fails(&output, 1, "test #0: output `scores` differs at [1, 3]: got 0.9999");
    fails(&output, 1, "expected 0.5, error 4.99");
    let output = run(&model, "--iter 1 --json");
    assert_eq!((output.status.code(), &json(&output)["ok"]), (Some(1), &false.into()));
    stdout(&run(&model, "--iter 1 --maxerr 0.6"));
}

#[test]
fn choices_are_kept_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let model = file(&dir, &model().to_bytes().unwrap());
    let cache = dir.path().join("cache");
    let policy = format!("--iter 1 --fast-run-algo-policy {}", cache.display());
    fails(&run(&model, &policy), 2, "--fast-run or --full-run should be enabled");
    let text = stdout(&run(&model, &format!("{policy} --full-run")));
    assert!(text.contains("fast-run: matmul ") && text.contains(", measured)"), "{text}");
    let text = stdout(&run(&model, &policy));
    assert!(text.contains("fast-run: matmul ") && text.contains(", known)"), "{text}");
    std::fs::write(&cache, "damaged").unwrap();
    fails(&run(&model, &policy), 1, "cannot be used");
    let output = run(&model, &format!("{policy} --fast-run"));
    let remarks = String::from_utf8_lossy(&output.stderr);
    assert!(remarks.contains("it will be replaced"), "{remarks}");
    assert!(!stdout(&output).contains("warning"));
}

#[test]
fn mistakes_end_with_a_message() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = with_case();
    let model = file(&dir, &bytes);
    fails(&run(&model, "--itr 3"), 2, "did you mean `--iter`?");
    fails(&run(&model, "--itr 3"), 2, "usage: notegrad load-and-run MODEL [options]");
    fails(&run(&model, "--fast-run --full-run"), 2, "both fast-run and full-run");
    fails(&run(&model, "--input y:1"), 1, "the model has no input `y`");
    fails(&run(&model, "--input x:1,2"), 1, "input `x`: expected float32 [2, 3], got int32 [2]");
    fails(&run(Path::new("/no/such.ngm"), ""), 1, "failed to open /no/such.ngm");
    for end in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        let model = file(&dir, &bytes[..end]);
        fails(&run(&model, ""), 1, "this model file cannot be used");
    }
}
