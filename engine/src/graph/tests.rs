//! Building, printing, parsing and checking graphs.

use super::parse::{parse, parse_compact};
use super::text::{compact, constants};
use super::*;
use crate::test_ops::tensor;
use crate::{DType, Layout, Meta, Shape, oracle};

const LISTING: &str = "\
graph(%0: f32[2, 3], %1: f32[2, 3] strides [1, 2], %2: number f64) {
  %3 = t_t(%1) : f32[3, 2]
  %4 = t_matmul(%0, %3) : f32[2, 2]
  %5 = t_mul(%4, %2) : f32[2, 2]
  %6 = t_scale(%5; by=0.1, mode='odd') : f32[2, 2]
  %7 = const(0) : f32[2]
  %8 = t_add(%6, %7) : f32[2, 2]
  %10 = t_add(%8, -1e-7) : f32[2, 2]
  %11 = t_reshape(%10; shape=[4]) : f32[4]
  return %11, %4
}
";

#[test]
fn listing_prints_and_parses() {
    let consts = [tensor(&[1.0, 2.0])];
    let graph = parse(LISTING, &consts).unwrap();
    assert_eq!(graph.to_string(), LISTING);
    verify::verify(&graph).unwrap();
    let again = parse(&graph.to_string(), &constants(&graph)).unwrap();
    assert_eq!(again.to_string(), LISTING);
}

/// A step of descent: what comes in, the state before, the state after.
const STEP: &str = "\
graph(%0: f32[2], %1: variable f32[2], %2: variable f32[2]) {
  %3 = t_mul(%0, %1) : f32[2]
  %4 = t_add(%2, %3) : f32[2]
  %5 = t_add(%1, %4) : f32[2]
  store %1 = %5
  store %2 = %4
  return %3
}
";

#[test]
fn variables_and_stores_print_parse_and_run() {
    let graph = parse(STEP, &[]).unwrap();
    assert_eq!(graph.to_string(), STEP);
    verify::verify(&graph).unwrap();
    let inputs = [tensor(&[2.0, 3.0]), tensor(&[1.0, -1.0]), tensor(&[10.0, 20.0])];
    let runs = [
        op_by_op::run(&graph, &inputs).unwrap(),
        oracle::evaluate(&graph, &inputs).unwrap(),
        crate::lower::compile(&graph, true).unwrap().run(&inputs).unwrap(),
    ];
    for results in runs {
        let results: Vec<Vec<f64>> = results.iter().map(|it| it.to_f64_vec().unwrap()).collect();
        assert_eq!(results, [[2.0, -3.0], [13.0, 16.0], [12.0, 17.0]]);
    }
    let drawing = describe::describe(&graph);
    let titles: Vec<&str> = drawing.boxes.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles[1..3], ["variable 1", "variable 2"]);
    assert_eq!(titles[6..], ["output 0", "store variable 1", "store variable 2"]);
}

#[test]
fn stores_that_are_none_are_refused() {
    for (from, to, expected) in [
        ("store %1", "store %0", "line 6: %0 is stored to, but is no variable"),
        ("store %2", "store %1", "line 7: %1 is stored to twice"),
        ("%2: variable f32[2]", "%2: variable f32[1]", "%2 is f32[1], but f32[2] is stored to it"),
        ("= %4\n", "= %9\n", "%9 is not defined here"),
        ("store %2 =", "store %2", "`=` is expected"),
    ] {
        let text = STEP.replacen(from, to, 1);
        let error = parse(&text, &[]).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let mut graph = parse(STEP, &[]).unwrap();
    graph.stores[0].variable = 0;
    let error = verify::verify(&graph).unwrap_err().to_string();
    assert_eq!(error, "%0: is stored to, but is no variable");
    let error = crate::model::Model::new(parse(STEP, &[]).unwrap(), &[], &[]).err().unwrap();
    assert!(error.to_string().contains("holds no variables"), "{error}");
}

#[test]
fn compact_form_prints_and_parses() {
    let text = "(t_add (t_scale %0 by=3.0) (t_mul %0 true)) %0 (t_mul %0 nan)";
    let metas = [Meta::new(Shape::from([3]), DType::F32)];
    assert_eq!(compact(&parse_compact(text, &metas).unwrap()), text);
}

#[test]
fn equal_applications_are_one_node() {
    let text = "(t_add (t_neg %0) (t_neg %0)) (t_add (t_draw %0) (t_draw %0))";
    let metas = [Meta::new(Shape::from([3]), DType::F32)];
    let graph = parse_compact(text, &metas).unwrap();
    assert_eq!(graph.n_ops(), 5);
}

#[test]
fn bad_text_is_an_error_that_names_the_line() {
    let consts = [tensor(&[1.0, 2.0])];
    for (from, to, expected) in [
        ("t_t(%1)", "t_t(%9)", "line 2: %9 is not defined here"),
        ("%4 = t_matmul(%0, %3)", "%4 = t_matmul(%0, %0)", "inner sizes"),
        ("t_neg", "t_neg", ""),
        (": f32[4]", ": f32[5]", "line 9: the text says f32[5], the op gives f32[4]"),
        ("const(0)", "const(1)", "no such constant"),
        ("t_mul", "nothing", "unknown op `nothing`"),
        ("f32[2, 3],", "f32[99999999999, 99999999999],", "too large"),
        ("by=", "bye=", "t_scale has no `bye`"),
        ("shape=[4]", "shape=[4", "is not a value"),
        ("return", "retur", "expected"),
    ] {
        let text = LISTING.replacen(from, to, 1);
        match parse(&text, &consts) {
            Ok(_) => assert_eq!(from, to),
            Err(error) => assert!(error.to_string().contains(expected), "{error}"),
        }
    }
    for end in 0..LISTING.len() {
        let _ = parse(&LISTING[..end], &consts);
    }
}

#[test]
fn evaluates_with_eager_kernels() {
    let metas = [Meta::new(Shape::from([2]), DType::F32)];
    let graph = parse_compact("(t_add (t_mul %0 %0) 1) (t_sum %0)", &metas).unwrap();
    let outputs = op_by_op::run(&graph, &[tensor(&[2.0, 3.0])]).unwrap();
    assert_eq!(outputs[0].to_f64_vec().unwrap(), [5.0, 10.0]);
    assert_eq!(outputs[1].to_f64_vec().unwrap(), [5.0]);
    assert!(op_by_op::run(&graph, &[tensor(&[2.0])]).is_err());
    let meant = oracle::evaluate(&graph, &[tensor(&[2.0, 3.0])]).unwrap();
    assert_eq!(oracle::graphs::differs(&outputs, &meant), None);
    assert!(oracle::evaluate(&graph, &[tensor(&[2.0])]).is_err());
}

#[test]
fn unused_work_is_not_needed_but_effects_are() {
    let mut graph = Graph::new();
    let x = graph.input(DType::F32, Layout::contiguous(Shape::from([2])));
    let of = |name| crate::test_ops::find(name);
    let none = crate::Attrs::new();
    let dead = graph.apply(of("t_neg"), &[x], &none).unwrap();
    let effect = graph.apply(of("t_draw"), &[x], &none).unwrap();
    graph.outputs.push(x);
    let needed = graph.needed();
    assert!(!needed[dead as usize] && needed[effect as usize]);
}

#[test]
fn drawings_show_boxes_and_arrows() {
    let metas = [Meta::new(Shape::from([2, 3]), DType::F32)];
    let graph = parse_compact("(sum (mul %0 2.0) dim=[1])", &metas).unwrap();
    let drawing = describe::describe(&graph);
    let titles: Vec<String> =
        drawing.boxes.iter().map(|it| format!("{} {}", it.title, it.detail)).collect();
    assert_eq!(titles, ["input 0 ", "mul 2.0", "sum dim=[1]", "output 0 "]);
    let arrows: Vec<_> =
        drawing.arrows.iter().map(|it| (it.from, it.to, it.label.as_str())).collect();
    assert_eq!(arrows, [(0, 2, "f32[2, 3]"), (2, 3, "f32[2, 3]"), (3, 4, "f32[2]")]);
}

#[test]
fn complex_numbers_print_and_parse() {
    const LISTING: &str = "\
graph(%0: c64[2], %1: number c128) {
  %2 = full(; size=[2], fill_value=complex(1.0, -2.5), dtype=c64) : c64[2]
  %3 = full(; size=[2], fill_value=complex(nan, -inf), dtype=c128) : c128[2]
  %4 = full(; size=[], fill_value=complex(-0.0, 1e-300)) : c64[]
  return %2, %3, %4, %0
}
";
    let graph = parse(LISTING, &[]).unwrap();
    assert_eq!(graph.to_string(), LISTING);
    verify::verify(&graph).unwrap();
    for (from, to, expected) in [
        ("complex(1.0, -2.5)", "complex(1.0)", "`,` is expected"),
        ("complex(1.0, -2.5)", "complex(1.0, true)", "a part of a complex number is a number"),
        ("complex(1.0, -2.5)", "complex", "`(` is expected"),
        ("[2], fill_value=complex", "complex(1.0, 2.0), fill_value=complex", "cannot be"),
    ] {
        let error = parse(&LISTING.replacen(from, to, 1), &[]).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let text = "(full size=[1] fill_value=complex(0.0, 1.0) dtype=c64)";
    assert_eq!(compact(&parse_compact(text, &[]).unwrap()), text);
}

#[test]
fn gradient_ops_print_and_parse() {
    let metas = [Meta::new(Shape::from([3]), DType::F32)];
    let text = "(gelu.grad0 %0 (mul.grad0.grad1 %0 (tanh.grad0 %0 %0)))";
    match parse_compact(text, &metas) {
        Ok(graph) => assert_eq!(compact(&graph), text),
        Err(error) => panic!("{error}"),
    }
}
