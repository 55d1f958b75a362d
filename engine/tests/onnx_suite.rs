//! The test suite of the package `onnx`, which `tests/onnx/cases.py` writes into the folder that NOTEGRAD_ONNX_SUITE names: every case
//! passes, but for those of `tests/onnx/not_passing.txt`.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use engine::Tensor;
use engine::dtype::Format;
use engine::model::onnx_in::tensors::{self, Files, STRING};
use engine::model::onnx_in::{Kind, OnnxModel, Texts, Value};
use engine::onnx::proto::TensorProto;
use prost::Message;

/// A sequence in a file.
#[derive(Clone, PartialEq, Message)]
struct SequenceProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "3")]
    tensors: Vec<TensorProto>,
    #[prost(message, repeated, tag = "5")]
    sequences: Vec<SequenceProto>,
}

/// An optional in a file.
#[derive(Clone, PartialEq, Message)]
struct OptionalProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "3")]
    tensor: Option<TensorProto>,
    #[prost(message, optional, tag = "5")]
    sequence: Option<SequenceProto>,
}

#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

type Outcome = Result<(), String>;

#[test]
fn the_suite_passes() {
    let Some(suite) = std::env::var_os("NOTEGRAD_ONNX_SUITE").map(PathBuf::from) else {
        println!("skipped: NOTEGRAD_ONNX_SUITE names no folder");
        return;
    };
    let listed = manifest();
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    std::panic::set_hook(Box::new(|_| {}));
    for folder in folders(&suite).iter().flat_map(|it| folders(it)) {
        let name = name_of(&suite, &folder);
        let outcome = catch_unwind(|| case(&folder)).unwrap_or_else(|_| Err("panics".into()));
        let count = counts.entry(name.split('/').next().unwrap_or_default().into()).or_default();
        count[1] += 1;
        count[0] += usize::from(outcome.is_ok());
        match (outcome, listed.contains(&name)) {
            (Ok(()), true) => {
                wrong.push(format!("{name}: passes, so the manifest should not list it"))
            }
            (Err(problem), false) => wrong.push(format!("{name}: {problem}")),
            _ => {}
        }
        seen.push(name);
    }
    let _ = std::panic::take_hook();
    wrong.extend(
        listed
            .iter()
            .filter(|it| !seen.contains(it))
            .map(|it| format!("{it}: listed, but no case")),
    );
    for (kind, [passed, all]) in counts {
        println!("{kind}: {passed} of {all} cases pass");
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// The cases that are known not to pass, each with a reason behind it.
fn manifest() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/onnx/not_passing.txt");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|it| !it.starts_with('#') && !it.trim().is_empty());
    lines.map(|it| it.split(':').next().unwrap_or_default().trim().to_owned()).collect()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(of).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir()).collect();
    all.sort();
    all
}

fn name_of(suite: &Path, folder: &Path) -> String {
    folder.strip_prefix(suite).unwrap().to_string_lossy().replace('\\', "/")
}

fn case(folder: &Path) -> Outcome {
    let model = OnnxModel::read(&folder.join("model.onnx")).map_err(|it| it.to_string())?;
    let tolerance = tolerance(folder);
    let data = folders(folder);
    if data.is_empty() {
        return Err("has no data".into());
    }
    for data in data {
        let mut inputs = Vec::new();
        for (at, signature) in model.inputs().iter().enumerate() {
            let path = data.join(format!("input_{at}.pb"));
            inputs.push(value(&path, &signature.kind)?);
        }
        let outputs = model.run(&inputs, &[]).map_err(|it| it.to_string())?;
        for (at, (output, signature)) in outputs.iter().zip(model.outputs()).enumerate() {
            let path = data.join(format!("output_{at}.pb"));
            let expected = value(&path, &signature.kind)?;
            if draws(folder) {
                alike(output, &expected).map_err(|it| format!("output {at}: {it}"))?;
                continue;
            }
            compare(output, &expected, tolerance).map_err(|it| format!("output {at}: {it}"))?;
        }
    }
    Ok(())
}

/// Whether the numbers of a case are drawn at random, so that only shapes and dtypes can be compared.
fn draws(folder: &Path) -> bool {
    folder.file_name().is_some_and(|it| it.to_string_lossy().starts_with("test_bernoulli"))
}

fn alike(got: &Value, expected: &Value) -> Outcome {
    match got.words() == expected.words() {
        true => Ok(()),
        false => Err(format!("{} instead of {}", got.words(), expected.words())),
    }
}

fn tolerance(folder: &Path) -> Tolerance {
    let text = fs::read_to_string(folder.join("tolerance")).unwrap_or_default();
    let numbers: Vec<f64> = text.split_whitespace().map(|it| it.parse().unwrap()).collect();
    match numbers[..] {
        [relative, absolute] => Tolerance { relative, absolute },
        _ => Tolerance { relative: 1e-3, absolute: 1e-7 },
    }
}

fn value(path: &Path, kind: &Kind) -> Result<Value, String> {
    let bytes = fs::read(path).map_err(|it| format!("{}: {it}", path.display()))?;
    let text = |it: &dyn std::fmt::Display| it.to_string();
    match kind {
        Kind::Sequence(_) => sequence(&SequenceProto::decode(&bytes[..]).map_err(|it| text(&it))?),
        Kind::Optional(_) => {
            let proto = OptionalProto::decode(&bytes[..]).map_err(|it| text(&it))?;
            match (&proto.tensor, &proto.sequence) {
                (Some(it), _) => tensor(it),
                (None, Some(it)) => sequence(it),
                (None, None) => Ok(Value::Nothing),
            }
        }
        _ => tensor(&TensorProto::decode(&bytes[..]).map_err(|it| text(&it))?),
    }
}

fn sequence(proto: &SequenceProto) -> Result<Value, String> {
    let tensors = proto.tensors.iter().map(tensor);
    let sequences = proto.sequences.iter().map(sequence);
    tensors.chain(sequences).collect::<Result<_, _>>().map(Value::Sequence)
}

fn tensor(proto: &TensorProto) -> Result<Value, String> {
    if proto.data_type == STRING {
        let (texts, shape) = tensors::read_texts(proto).map_err(|it| it.to_string())?;
        return Ok(Value::Texts(Texts { shape, texts: texts.into() }));
    }
    let mut none = |_: &str| Ok(Vec::new());
    let tensor = tensors::read(proto, &mut Files::new(&mut none));
    tensor.map(Value::Tensor).map_err(|it| it.to_string())
}

fn compare(got: &Value, expected: &Value, tolerance: Tolerance) -> Outcome {
    match (got, expected) {
        (Value::Tensor(got), Value::Tensor(expected)) => close(got, expected, tolerance),
        (Value::Texts(got), Value::Texts(expected)) if got == expected => Ok(()),
        (Value::Nothing, Value::Nothing) => Ok(()),
        (Value::Sequence(got), Value::Sequence(expected)) if got.len() == expected.len() => {
            got.iter().zip(expected).try_for_each(|it| compare(it.0, it.1, tolerance))
        }
        _ => Err(format!("{} instead of {}", got.words(), expected.words())),
    }
}

fn close(got: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Outcome {
    if got.meta() != expected.meta() {
        return Err(format!("{} instead of {}", got.meta(), expected.meta()));
    }
    // As far apart as neighbours of bfloat16 are, twice.
    let relative = match got.dtype().format() {
        Some(Format::BF16) => tolerance.relative.max(1.0 / 64.0),
        Some(Format::F16 | Format::F32 | Format::F64) | None => tolerance.relative,
    };
    let (got, expected) = (got.to_parts().unwrap(), expected.to_parts().unwrap());
    for (got, expected) in got.concat().iter().zip(expected.concat()) {
        let equal = *got == expected || (got.is_nan() && expected.is_nan());
        let near = (got - expected).abs() <= tolerance.absolute + relative * expected.abs();
        if !(equal || near && expected.is_finite()) {
            return Err(format!("{got} instead of {expected}"));
        }
    }
    Ok(())
}
