//! Every form of `--input`, against values that NumPy wrote.

use std::path::{Path, PathBuf};

use engine::{DType, Meta, Shape};
use serde_json::{Value, json};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/load_and_run")
}

/// What NumPy reads; `tests/expected/generate_load_and_run.py` makes it.
fn expected() -> Value {
    let text = fs::read_to_string(folder().join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn port(name: &str, shape: &[usize], dtype: DType) -> Port {
    Port::new(name, Meta::new(Shape::new(shape), dtype))
}

fn read_one(text: &str, port: Port) -> Result<(Tensor, Vec<String>), String> {
    let mut notes = Vec::new();
    let mut tensors = read(&[text.to_owned()], &[port], &mut notes)?;
    Ok((tensors.remove(0), notes))
}

fn numbers(text: &str, shape: &[usize], dtype: DType) -> Vec<f64> {
    let (tensor, _) =
        read_one(text, port("x", shape, dtype)).unwrap_or_else(|it| panic!("{text}: {it}"));
    assert_eq!(tensor.dtype(), dtype);
    tensor.to_f64_vec().unwrap()
}

fn refused(text: &str, shape: &[usize], dtype: DType, expected: &str) {
    let error = read_one(text, port("x", shape, dtype)).err().unwrap_or_default();
    assert!(error.contains(expected), "{text}: `{error}`");
}

/// Compares data with what NumPy has; whole numbers exactly.
fn same(what: &str, data: &Data, numpy: &Value) {
    assert_eq!(json!(data.shape), numpy["shape"], "{what}");
    let values = match &data.values {
        Values::Ints(values) if numpy["dtype"] == "bool" => {
            json!(values.iter().map(|&it| it != 0).collect::<Vec<_>>())
        }
        Values::Ints(values) => json!(values),
        Values::Floats(values) => json!(values),
        Values::Ones => panic!("{what}: no values"),
    };
    let is_empty = numpy["values"] == json!([]);
    assert!(is_empty || values == numpy["values"], "{what}: {values} {}", numpy["values"]);
}

#[test]
fn arrays_are_what_numpy_reads() {
    let expected = expected();
    let files = expected["files"].as_object().unwrap();
    assert_eq!(files.len(), 12);
    for (name, numpy) in files {
        let data = npy::decode(&fs::read(folder().join(name)).unwrap()).unwrap();
        assert_eq!(data.dtype, numpy["dtype"], "{name}");
        same(name, &data, numpy);
    }
}

#[test]
fn brackets_mean_what_they_mean_to_numpy() {
    for (text, numpy) in expected()["texts"].as_object().unwrap() {
        same(text, &inline::parse(text).unwrap(), numpy);
    }
}

#[test]
fn damaged_arrays_are_errors() {
    let bytes = fs::read(folder().join("f4.npy")).unwrap();
    for end in 0..bytes.len() {
        assert!(npy::decode(&bytes[..end]).is_err(), "{end}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let _ = npy::decode(&changed);
        }
    }
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 9), }";
    let mut huge = b"\x93NUMPY\x01\x00".to_vec();
    huge.extend((header.len() as u16).to_le_bytes());
    huge.extend(header.as_bytes());
    assert!(npy::decode(&huge).unwrap_err().contains("too large"));
}

#[test]
fn unfinished_texts_are_errors() {
    for (text, expected) in [
        ("[[1,2],[3,4]", "braces not closed"),
        ("1,2]", "braces not closed"),
        ("{2,3", "braces not closed"),
        ("[[1,2],[3]]", "same length"),
        ("[1,[2]]", "same depth"),
        ("[1 2]", "neither a number"),
        ("[1][2]", "`,` is missing"),
        ("[1],[2]", "after the last `]`"),
        ("[,1]", "nothing before"),
        ("x.bin", "neither a number nor a file"),
        ("{2,a}", "`a` is no size"),
        ("", "empty"),
    ] {
        let error = inline::parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(inline::parse(&"[".repeat(100_000)).unwrap_err().contains("deep"));
}

#[test]
fn data_is_converted_to_what_the_model_takes() {
    assert_eq!(numbers("x:1,2", &[2], DType::F32), [1.0, 2.0]);
    assert_eq!(numbers("1.0,2.", &[2], DType::I64), [1.0, 2.0]);
    assert_eq!(numbers("0,1", &[2], DType::Bool), [0.0, 1.0]);
    assert_eq!(numbers("7", &[1, 1], DType::U8), [7.0]);
    assert_eq!(numbers("{2,2}", &[2, 2], DType::F32), [1.0; 4]);
    assert_eq!(numbers("{2}", &[2], DType::Bool), [1.0; 2]);
    assert_eq!(numbers("9007199254740993", &[1], DType::I64), [9_007_199_254_740_992.0 + 1.0]);
    refused("1.5", &[1], DType::I32, "input `x` takes int32, which cannot hold 1.5");
    refused("300", &[1], DType::U8, "cannot hold 300");
    refused("-1", &[1], DType::U8, "cannot hold -1");
    refused("2", &[1], DType::Bool, "which 2 is not");
    refused("{2}", &[3], DType::F32, "expected float32 [3], got ones [2]");
    refused("[1,2]", &[1, 2], DType::F32, "expected float32 [1, 2], got int32 [2]");
    refused("{1000000000,1000000000}", &[1_000_000_000, 1_000_000_000], DType::F32, "does not fit");
}

#[test]
fn names_are_looked_up() {
    let ports = [port("image", &[1], DType::F32), port("mask", &[1], DType::F32)];
    let read = |text: &str| read(&[text.to_owned()], &ports, &mut Vec::new());
    assert_eq!(read("mask:2;image:3").unwrap()[0].to_f64_vec().unwrap(), [3.0]);
    for (text, expected) in [
        ("imag:1;mask:1", "no input `imag`; did you mean `image`? its inputs are: image, mask"),
        ("1", "needs NAME:DATA"),
        ("image:1", "input `mask` (float32 [1]) has no data; `mask:{1}`"),
        ("image:1;image:1;mask:1", "`image` is given twice"),
        ("image:/no/such.npy;mask:1", "input `image`: failed to open /no/such.npy"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn images_start_after_the_largest_value() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ppm");
    let mut bytes = b"P6\n# made by hand\n2 1\n255\n".to_vec();
    bytes.extend([1, 2, 3, 4, 5, 6]);
    fs::write(&path, &bytes).unwrap();
    let text = format!("x:{}", path.display());
    assert_eq!(numbers(&text, &[1, 1, 2, 3], DType::U8), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(numbers(&text, &[1, 3, 1, 2], DType::F32), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let (_, notes) = read_one(&text, port("x", &[1, 3, 1, 2], DType::F32)).unwrap();
    assert!(notes[0].contains("channels are put first"), "{notes:?}");
    for (bytes, expected) in [
        (&b"P6\n2 1\n65535\n123456789012"[..], "16 bits"),
        (b"P3\n2 1\n255\n1 2 3 4 5 6", "only binary"),
        (b"P6\n2 1\n255\n12345", "need 6 bytes, 5 are there"),
        (b"P5\n99999999999999999999 1\n255\n1", "not a formal ppm/pgm"),
        (b"P5\n4294967296 4294967296\n255\n1", "too large"),
        (b"GIF89a", "not a formal ppm/pgm"),
        (b"P5\n# no end", "cut off"),
    ] {
        assert!(image::decode(bytes).unwrap_err().contains(expected), "{expected}");
    }
    let gray = image::decode(b"P5 1 2 255\n\x07\x08").unwrap();
    assert_eq!((gray.shape, gray.values), (vec![1, 2, 1, 1], Values::Ints(vec![7, 8])));
}

#[test]
fn a_json_file_holds_several_inputs() {
    let text = r#"{"a": {"shape": [2], "type": "float32", "raw": [0.1, 2]},
                   "b": {"shape": [1, 2], "type": "int", "raw": [1.6, -3]}}"#;
    let inputs = json::decode(text.as_bytes()).unwrap();
    assert_eq!(inputs[0].1.values, Values::Floats(vec![f64::from(0.1_f32), 2.0]));
    assert_eq!((&*inputs[1].0, &inputs[1].1.values), ("b", &Values::Ints(vec![2, -3])));
    for (text, expected) in [
        ("[1]", "not an object"),
        (r#"{"a": 1}"#, "input `a`: `shape` must be a list"),
        (r#"{"a": {"shape": [3], "type": "int", "raw": [1]}}"#, "does not fit 1 values"),
        (r#"{"a": {"shape": [1], "type": "half", "raw": [1]}}"#, "unknown json data type"),
        (r#"{"a": {"shape": [1], "type": "uint8", "raw": [256]}}"#, "not between 0 and 255"),
        (r#"{"a": {"shape": [1], "type": "float", "raw": ["x"]}}"#, "is not a number"),
    ] {
        assert!(json::decode(text.as_bytes()).unwrap_err().contains(expected), "{text}");
    }
}
