//! `check`, which every pass is tested with, and what holds for the driver.

use super::run::{Log, run};
use super::*;
use crate::graph::op_by_op;
use crate::graph::parse::parse_compact;
use crate::graph::text::compact;
use crate::{DType, Meta, Shape, oracle};

/// Kinds of `%0` to `%3`.
pub(crate) fn kinds() -> Vec<Meta> {
    let f32 = |shape: &[usize]| Meta::new(Shape::new(shape), DType::F32);
    vec![f32(&[2, 3]), f32(&[3]), f32(&[2, 3]), f32(&[])]
}

/// Runs the pass, compares the text, and compares both graphs, run and by what they mean, on inputs that hold zeros of both signs,
/// infinities and NaN.
pub(crate) fn check(pass: &Pass, before: &str, after: &str) {
    if let Err(problem) = try_check(pass, before, after) {
        panic!("{}: {problem}", pass.name);
    }
}

fn try_check(pass: &Pass, before: &str, after: &str) -> std::result::Result<(), String> {
    let graph = parse_compact(before, &kinds()).map_err(|it| it.to_string())?;
    let res = run(pass, &graph, &mut Log::default()).map_err(|it| it.to_string())?;
    if compact(&res) != after {
        return Err(format!("{before} became {} instead of {after}", compact(&res)));
    }
    for round in 0..4 {
        let inputs = samples(round);
        let eval = |graph: &Graph| {
            crate::test_ops::seed(7);
            let outputs = op_by_op::run(graph, &inputs).unwrap();
            outputs.iter().map(|it| it.to_f64_vec().unwrap()).collect::<Vec<_>>()
        };
        let (then, now) = (eval(&graph), eval(&res));
        if !same(&then, &now) {
            return Err(format!("{before} is {then:?}, {after} is {now:?}"));
        }
        let meaning = |graph: &Graph| {
            crate::test_ops::seed(7);
            oracle::evaluate(graph, &inputs).unwrap()
        };
        if let Some(problem) = oracle::graphs::differs(&meaning(&res), &meaning(&graph)) {
            return Err(format!("{before} means something else than {after}: {problem}"));
        }
    }
    Ok(())
}

fn samples(round: usize) -> Vec<Tensor> {
    const ODD: [f32; 9] =
        [0.0, -0.0, 1.5, f32::INFINITY, -2.25, f32::NAN, f32::NEG_INFINITY, 1e-40, 3e38];
    let value = |idx: usize| match round {
        0 => idx as f32 - 2.5,
        _ => ODD[(idx * 5 + round * 4) % ODD.len()],
    };
    let make = |(at, meta): (usize, &Meta)| {
        let values: Vec<f32> = (0..meta.shape.numel()).map(|idx| value(idx + 11 * at)).collect();
        Tensor::from_vec(&values, meta.shape.clone()).unwrap()
    };
    kinds().iter().enumerate().map(make).collect()
}

/// Equal bit for bit, but for the bits of NaN.
fn same(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let one = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits();
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|it| one(*it.0, *it.1)))
}

const fn planted(rules: &'static [Rule]) -> Pass {
    Pass { name: "planted", doc: "", level: 0, rules }
}

#[test]
fn applies_rules_to_a_fixpoint() {
    static RULES_1: &[Rule] = &[
        Rule::new("neg-neg", "(t_neg (t_neg ?x))", "?x"),
        Rule::new("mul-one", "(t_mul ?x 1)", "?x"),
    ];
    let pass = planted(RULES_1);
    check(&pass, "(t_neg (t_mul (t_neg (t_neg (t_neg %0))) 1))", "%0");
    check(&pass, "(t_mul %0 1.5)", "(t_mul %0 1.5)");
}

#[test]
fn a_rule_may_not_change_the_kind() {
    static RULES_2: &[Rule] = &[Rule::new("mul-one", "(t_mul ?x ?y)", "?y")];
    let pass = planted(RULES_2);
    check(&pass, "(t_mul %0 %1)", "(t_mul %0 %1)");
}

#[test]
fn an_unsound_rule_is_caught() {
    static RULES_3: &[Rule] = &[Rule::new("add-zero", "(t_add ?x 0)", "?x")];
    let pass = planted(RULES_3);
    let problem = try_check(&pass, "(t_add %0 0)", "%0").unwrap_err();
    assert!(problem.contains("-0.0"), "{problem}");
    static RULES_4: &[Rule] = &[Rule::new("drop-neg", "(t_neg ?x)", "?x")];
    let pass = planted(RULES_4);
    assert!(try_check(&pass, "(t_neg %0)", "%0").is_err());
}

#[test]
fn a_rule_without_end_is_stopped_by_name() {
    static RULES_5: &[Rule] = &[Rule::new("swap", "(t_add ?x ?y)", "(t_add ?y ?x)")];
    let pass = planted(RULES_5);
    let problem = try_check(&pass, "(t_add %0 %2)", "").unwrap_err();
    assert_eq!(problem, "rule swap of pass planted does not end");
}

#[test]
fn the_log_tells_what_each_rule_did() {
    static RULES_6: &[Rule] = &[Rule::new("neg-neg", "(t_neg (t_neg ?x))", "?x")];
    let pass = planted(RULES_6);
    let graph = parse_compact("(t_neg (t_neg (t_scale %0)))", &kinds()).unwrap();
    let mut log = Log { detailed: true, ..Log::default() };
    run(&pass, &graph, &mut log).unwrap();
    let entry = &log.entries[0];
    assert_eq!((entry.rule, entry.before.as_str()), ("neg-neg", "(t_neg (t_neg (t_scale %0)))"));
    assert_eq!(entry.after, "(t_scale %0)");
}
