//! Model files: what is written is read back, and damaged files are errors.

use super::*;
use crate::graph::parse::parse;
use crate::graph::sizes::Template;
use crate::test_ops::tensor;
use crate::{DType, Shape};

const GRAPH: &str = "\
graph(%0: f32[2, 3]) {
  %1 = const(0) : f32[4, 3]
  %2 = permute(%1; dims=[1, 0]) : f32[3, 4]
  %3 = matmul(%0, %2) : f32[2, 4]
  %4 = const(1) : f32[4]
  %5 = add(%3, %4) : f32[2, 4]
  %6 = gelu(%5) : f32[2, 4]
  %7 = sum(%6; dim=[1], keepdim=true) : f32[2, 1]
  %9 = gt(%6, 0.5) : bool[2, 4]
  return %7, %9
}
";

fn model() -> Model {
    let w: Vec<f32> = (0..12).map(|it| it as f32 * 0.25 - 1.0).collect();
    let w = Tensor::from_vec(&w, Shape::from([4, 3])).unwrap();
    let graph = parse(GRAPH, &[w, tensor(&[0.1, 0.2, 0.3, 0.4])]).unwrap();
    let mut model = Model::new(graph, &["x".into()], &["total".into(), "large".into()]).unwrap();
    model.info = "a \"small\" model".into();
    let x: Vec<f32> = (0..6).map(|it| it as f32 * 0.3).collect();
    model.add_test_case(&[Tensor::from_vec(&x, Shape::from([2, 3])).unwrap()]).unwrap();
    model
}

fn bits(tensors: &[Tensor]) -> Vec<Vec<u64>> {
    tensors
        .iter()
        .map(|it| it.to_f64_vec().unwrap().iter().map(|it| it.to_bits()).collect())
        .collect()
}

#[test]
fn a_model_survives_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.ngm");
    let model = model();
    let summary = model.write(&path).unwrap();
    assert_eq!(
        (summary.n_ops, summary.n_weights, summary.weight_bytes, summary.n_cases),
        (6, 2, 64, 1)
    );
    assert_eq!(summary.total_bytes, std::fs::metadata(&path).unwrap().len() as usize);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    let read = Model::read(&path).unwrap();
    assert_eq!(read.graph().to_string(), GRAPH);
    assert_eq!(
        (read.inputs(), read.outputs(), &read.info),
        (model.inputs(), model.outputs(), &model.info)
    );
    assert_eq!(read.check().unwrap(), [0.0]);
    let case = &read.test_cases()[0];
    assert_eq!(bits(&read.run(&case.inputs).unwrap()), bits(&case.outputs));
    assert_eq!(read.to_bytes().unwrap(), model.to_bytes().unwrap());
}

#[test]
fn complex_numbers_survive_as_far_as_the_format_has_them() {
    const TEXT: &str = "\
graph(%0: c64[2]) {
  %1 = const(0) : c64[2]
  %2 = full(; size=[1], fill_value=complex(0.5, -2.0), dtype=c64) : c64[1]
  return %1, %2
}
";
    let pairs = [(1.0, -0.0), (f64::INFINITY, 0.1)];
    let of = |dtype| Tensor::from_pairs(&pairs, Shape::from([2]), dtype).unwrap();
    let model = Model::new(parse(TEXT, &[of(DType::C64)]).unwrap(), &[], &[]).unwrap();
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.graph().to_string(), TEXT);
    let results = read.run(&[of(DType::C64)]).unwrap();
    let parts: Vec<_> = results.iter().map(|it| it.to_parts().unwrap()).collect();
    let bits = |it: &[f64]| it.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
    assert_eq!(parts[0][0], [1.0, f64::INFINITY]);
    assert_eq!(bits(&parts[0][1]), bits(&[-0.0, f64::from(0.1_f32)]));
    assert_eq!(parts[1], [[0.5], [-2.0]]);
    let wide = TEXT.replace("c64", "c128");
    let model = Model::new(parse(&wide, &[of(DType::C128)]).unwrap(), &[], &[]).unwrap();
    let refused = model.to_bytes().err().unwrap().to_string();
    assert!(refused.contains("no complex128; convert it to complex64"), "{refused}");
}

#[test]
fn any_safetensors_reader_opens_it() {
    let bytes = model().to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names().into_iter().map(ToString::to_string).collect::<Vec<_>>();
    names.sort_unstable();
    assert_eq!(
        names,
        ["case.0.input.0", "case.0.output.0", "case.0.output.1", "weight.0", "weight.1"]
    );
    assert_eq!(file.tensor("weight.0").unwrap().shape(), [4, 3]);
}

/// Reads damaged bytes: an error, or a model that can be run or refuses.
fn survives(bytes: &[u8]) -> bool {
    let Ok(model) = Model::from_bytes(bytes) else { return false };
    if let Ok(plan) = model.plan() {
        let kinds: Vec<Meta> = plan.inputs().collect();
        if kinds.iter().all(|it| it.bytes() < 1 << 20) {
            let _ = model.check();
        }
    }
    true
}

#[test]
fn damaged_files_are_errors() {
    let bytes = model().to_bytes().unwrap();
    assert!(survives(&bytes));
    for end in (0..bytes.len()).step_by(97).chain(0..40) {
        assert!(!survives(&bytes[..end]), "cut at {end}");
    }
    for at in 0..bytes.len() {
        for bit in [0, 3, 6] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(!survives(&changed), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn absurd_headers_are_errors() {
    let bytes = model().to_bytes().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for (from, to) in [
        ("\"shape\":[4,3]", "\"shape\":[4294967296,4294967296]"),
        ("\"shape\":[4,3]", "\"shape\":[18446744073709551615]"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[0,4800000]"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[48,0]"),
        ("graph(%0: f32[2, 3])", "graph(%0: f32[2000000000, 3000000000])"),
        ("%3 = matmul(%0, %2)", "%3 = matmul(%0, %3)"),
        ("dim=[1]", "dim=[9]"),
        ("dim=[1]", "dim=[-9223372036854775808]"),
        ("\"cases\":\"1\"", "\"cases\":\"2\""),
        ("\"version\":\"1\"", "\"version\":\"9\""),
        ("gelu(%5)", "dropout(%5)"),
        ("return %7, %9", "return"),
    ] {
        let header = text[8..8 + length].replacen(from, to, 1);
        assert_ne!(header, text[8..8 + length], "{from}");
        let mut changed = (header.len() as u64).to_le_bytes().to_vec();
        changed.extend_from_slice(header.as_bytes());
        changed.extend_from_slice(&bytes[8 + length..]);
        let error = Model::from_bytes(&changed).err().unwrap().to_string();
        assert!(!error.contains("checksum"), "{to}: {error}");
    }
    let mut huge = bytes;
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Model::from_bytes(&huge).is_err());
    assert!(Model::read(std::path::Path::new("/nonexistent/model.ngm")).is_err());
}

#[test]
fn names_must_fit() {
    let graph = || parse("graph(%0: f32[2]) { %1 = neg(%0) : f32[2] return %1 }", &[]).unwrap();
    let model = Model::new(graph(), &[], &[]).unwrap();
    let meta = Meta::new(Shape::from([2]), DType::F32);
    assert_eq!(model.inputs(), [Port::new("arg_0", meta.clone())]);
    assert_eq!(model.outputs(), [Port::new("out_0", meta)]);
    let error = Model::new(graph(), &["a".into(), "b".into()], &[]).err().unwrap();
    assert!(error.to_string().contains("wrong number of input names"), "{error}");
}

/// `GRAPH` for any number of rows.
fn any_rows() -> Model {
    let fixed = model();
    let weights = constants(fixed.graph());
    let at = |sizes: &[usize]| {
        let text = GRAPH.replace("[2, ", &format!("[{}, ", sizes[0]));
        parse(&text, &weights)
    };
    let template =
        Template::of(&["N".into()], &[2], &mut |it| at(it), crate::region::region_of).unwrap();
    let any = vec![AnySize { name: "N".into(), places: vec![(0, 0)], lowest: 0 }];
    fixed.with_any_sizes(template, any).unwrap()
}

#[test]
fn a_model_takes_any_number_of_rows() {
    let model = Model::from_bytes(&any_rows().to_bytes().unwrap()).unwrap();
    let (inputs, outputs) = (model.inputs(), model.outputs());
    assert_eq!(inputs[0].to_string(), "f32[N, 3]");
    assert_eq!(
        (outputs[0].to_string(), outputs[1].to_string()),
        ("f32[N, 1]".into(), "bool[N, 4]".into())
    );
    assert!(inputs[0].takes_sizes(&[9, 3]) && !inputs[0].takes_sizes(&[9, 4]));
    assert_eq!(model.check().unwrap(), [0.0]);
    let x: Vec<f32> = (0..15).map(|it| it as f32 * 0.3).collect();
    let x = Tensor::from_vec(&x, Shape::from([5, 3])).unwrap();
    let all = model.run(std::slice::from_ref(&x)).unwrap();
    assert_eq!(all[1].shape().to_vec(), [5, 4]);
    for row in 0..5_i64 {
        let one = crate::functional::slice(&x, 0, row, row + 1, 1).unwrap();
        let alone = model.run(&[one]).unwrap();
        // A product of one row may add up in another order.
        let (alone, among) = (alone[0].to_f64_vec().unwrap(), all[0].to_f64_vec().unwrap());
        let among = among[row as usize];
        assert!((alone[0] - among).abs() <= 4e-7 * among.abs(), "{} and {among}", alone[0]);
    }
    assert!(model.run(&[Tensor::from_vec(&[1.0_f32; 8], Shape::from([2, 4])).unwrap()]).is_err());
}

#[test]
fn damaged_sizes_are_errors() {
    let bytes = any_rows().to_bytes().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    for (from, to) in [
        ("<N>", "<M>"),
        ("<N>", "<2*"),
        ("[[0,0]]", "[[0,7]]"),
        ("[[0,0]]", "[[4,0]]"),
        ("[[0,0]]", "[     ]"),
    ] {
        assert!(text.contains(from), "{from}");
        let at = bytes.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
        let mut broken = bytes.clone();
        broken[at..at + to.len()].copy_from_slice(to.as_bytes());
        seal(&mut broken);
        assert!(Model::from_bytes(&broken).is_err(), "{to}");
    }
}

/// A file says from which size on it takes inputs; the sizes that name its shapes are above that, however large it is.
#[test]
fn the_lowest_size_may_be_any_number() {
    let huge = usize::MAX / 211 + 1;
    let text = |size: &str, kind: &str| {
        format!(
            "graph(%0: f32[{huge}], %1: f32[{size}]) {{\n  %2 = slice(%1; start=1, stop={size}) : {kind}\n  return %2\n}}"
        )
    };
    let fixed = Model::new(parse(&text("3", "_"), &[]).unwrap(), &[], &[]).unwrap();
    let names = vec!["N".into(), "T".into()];
    let template = Template::stored(text("<T>", "_"), names, crate::region::region_of).unwrap();
    let any =
        |name: &str, input, lowest| AnySize { name: name.into(), places: vec![(input, 0)], lowest };
    let any = vec![any("N", 0, huge), any("T", 1, 1)];
    let model = fixed.with_any_sizes(template, any).unwrap();
    assert_eq!(model.outputs()[0].to_string(), "f32[T-1]");
}
