//! Hostile files, and names in errors.

use prost::Message;

use super::OnnxModel;
use crate::onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto,
    ValueInfoProto,
};
use crate::{Shape, Tensor};

fn named(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: name.into(), ..ValueInfoProto::default() }
}

fn node(op_type: &str, input: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: op_type.into(),
        name: format!("the {output}"),
        input: input.iter().map(|it| (*it).into()).collect(),
        output: vec![output.into()],
        ..NodeProto::default()
    }
}

fn model(node: Vec<NodeProto>, initializer: Vec<TensorProto>) -> Vec<u8> {
    let (input, output) = (vec![named("x")], vec![named("y")]);
    let graph = GraphProto { node, initializer, input, output, ..GraphProto::default() };
    let opset_import = vec![OperatorSetIdProto { version: 17, ..OperatorSetIdProto::default() }];
    ModelProto { graph: Some(graph), opset_import, ..ModelProto::default() }.encode_to_vec()
}

fn read(bytes: &[u8]) -> Result<OnnxModel, String> {
    OnnxModel::from_bytes(bytes, &mut |_| Ok(vec![0; 8])).map_err(|it| it.to_string())
}

fn refused(bytes: &[u8], words: &str) {
    let problem = read(bytes).err().unwrap();
    assert!(problem.contains(words), "{problem}");
}

#[test]
fn nodes_are_computed_in_order() {
    let nodes = vec![node("Neg", &["x"], "z"), node("Add", &["z", "z"], "y")];
    let x = Tensor::from_vec(&[1.0_f32, 2.0], Shape::from([2])).unwrap();
    let outputs = read(&model(nodes, Vec::new())).unwrap().run(&[x.into()], &[]).unwrap();
    let [super::Value::Tensor(y)] = &outputs[..] else { panic!("one tensor") };
    assert_eq!(y.to_vec::<f32>().unwrap(), [-2.0, -4.0]);
}

#[test]
fn truncated_files_are_errors() {
    let bytes = model(vec![node("Neg", &["x"], "y")], Vec::new());
    for len in 0..bytes.len() {
        let _ = read(&bytes[..len]);
    }
    assert!(read(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn cycles_and_unknown_operators_name_their_node() {
    let cycle = vec![node("Neg", &["y"], "z"), node("Neg", &["z"], "y")];
    refused(&model(cycle, Vec::new()), "the node 'the z' (Neg, opset 17): it takes 'y'");
    let unknown = vec![node("Frobnicate", &["x"], "y")];
    refused(&model(unknown, Vec::new()), "the node 'the y' (Frobnicate, opset 17): the operator");
}

#[test]
fn sizes_are_held_against_the_bytes() {
    let huge = TensorProto {
        name: "w".into(),
        data_type: 1,
        dims: vec![1 << 40, 1 << 40],
        raw_data: vec![0; 4],
        ..TensorProto::default()
    };
    for dims in [vec![1 << 40, 1 << 40], vec![1 << 40], vec![-1], vec![2]] {
        let bytes = model(Vec::new(), vec![TensorProto { dims, ..huge.clone() }]);
        refused(&bytes, "the tensor 'w'");
    }
}

#[test]
fn external_data_lies_below_the_folder() {
    let entry =
        |key: &str, value: &str| StringStringEntryProto { key: key.into(), value: value.into() };
    let at = |location: &str, length: &str| TensorProto {
        name: "y".into(),
        data_type: 1,
        dims: vec![2],
        data_location: 1,
        external_data: vec![entry("location", location), entry("length", length)],
        ..TensorProto::default()
    };
    assert!(read(&model(Vec::new(), vec![at("weights.bin", "8")])).is_ok());
    for outside in ["../weights.bin", "/weights.bin", "a/../../b", "C:\\w", ""] {
        refused(&model(Vec::new(), vec![at(outside, "8")]), "below the folder");
    }
    refused(&model(Vec::new(), vec![at("weights.bin", "9")]), "reach outside");
}
