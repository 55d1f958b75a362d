//! Reading and writing by index, against PyTorch and NumPy (`tests/expected/generate_index.py`).

use engine::index::{Index, get, set};
use engine::{Shape, Tensor};
use serde_json::Value;

fn sizes(value: &Value) -> Shape {
    value
        .as_array()
        .expect("sizes")
        .iter()
        .map(|it| it.as_u64().expect("a size") as usize)
        .collect()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("numbers").iter().map(|it| it.as_f64().expect("a number")).collect()
}

fn entry(value: &Value) -> Index {
    if let Some(parts) = value.get("slice").and_then(Value::as_array) {
        let (start, stop, step) = (parts[0].as_i64(), parts[1].as_i64(), parts[2].as_i64());
        return Index::Slice { start, stop, step };
    }
    if let Some(at) = value.get("int").and_then(Value::as_i64) {
        return Index::Int(at);
    }
    if let Some(take) = value.get("take") {
        let values: Vec<i64> = floats(take).into_iter().map(|it| it as i64).collect();
        return Index::Tensor(Tensor::from_vec(&values, sizes(&value["shape"])).expect("an index"));
    }
    if let Some(mask) = value.get("mask") {
        let values: Vec<bool> = floats(mask).into_iter().map(|it| it != 0.0).collect();
        return Index::Tensor(Tensor::from_bools(&values, sizes(&value["shape"])).expect("a mask"));
    }
    if value == "new" { Index::NewAxis } else { Index::Ellipsis }
}

fn cases(kind: &str) -> Vec<Value> {
    let data: Value = serde_json::from_str(include_str!("../testdata/index.json")).expect("cases");
    data[kind].as_array().expect("a list").clone()
}

fn numbers(shape: Shape) -> Tensor {
    let values: Vec<f64> = (0..shape.numel()).map(|it| it as f64).collect();
    Tensor::from_vec(&values, shape).expect("numbers")
}

fn index_of(case: &Value) -> Vec<Index> {
    case["index"].as_array().expect("an index").iter().map(entry).collect()
}

#[test]
fn reads_as_pytorch() {
    for case in cases("reads") {
        let res = get(&numbers(sizes(&case["shape"])), &index_of(&case)).expect("a result");
        assert_eq!(res.shape(), &sizes(&case["result_shape"]), "{case}");
        assert_eq!(res.to_f64_vec().expect("values"), floats(&case["result"]), "{case}");
    }
}

#[test]
fn writes_as_numpy() {
    for case in cases("writes") {
        let value = Tensor::from_vec(&floats(&case["value"]), sizes(&case["value_shape"]))
            .expect("a value");
        let res = set(&numbers(sizes(&case["shape"])), &index_of(&case), &value).expect("a result");
        assert_eq!(res.to_f64_vec().expect("values"), floats(&case["result"]), "{case}");
    }
}

#[test]
fn refuses_what_is_out_of_range() {
    let x = numbers(Shape::from([2, 3]));
    assert!(get(&x, &[Index::Int(2)]).is_err());
    assert!(get(&x, &[Index::Int(0), Index::Int(0), Index::Int(0)]).is_err());
    assert!(get(&x, &[Index::Slice { start: None, stop: None, step: Some(0) }]).is_err());
}
