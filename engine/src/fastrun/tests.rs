//! What strategies choose, and what the cache keeps.

use std::sync::Arc;

use super::*;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, KernelCx, Onnx, Param, Ready, Surface};
use crate::test_ops::tensor;
use crate::{Attrs, OpDef, apply_one, rules};

static KERNELS: &[Kernel] = &[
    Kernel { naive: true, ..Kernel::new("slow", |cx| neg(cx, 300)) },
    Kernel { reproducible: false, ..Kernel::new("quick", |cx| neg(cx, 1)) },
    Kernel::prepared("large", |_| Some(Arc::new(Large))),
    Kernel::prepared("never", |_| None),
];

/// A kernel that needs a megabyte.
struct Large;

impl Ready for Large {
    fn workspace(&self) -> usize {
        1 << 20
    }

    fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        neg(cx, 60)
    }
}

static OP: OpDef = OpDef {
    name: "t_choice",
    doc: "",
    meaning: Meaning::of(|cx| cx.input(0).floats().mapv(|x| -x).into()),
    params: &[Param::tensor("x")],
    dtypes: DTypeRule::Any,
    infer: rules::same_as_input,
    body: Body::Kernels(KERNELS),
    grad: Grad::Stops("test op"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[],
};

fn neg(cx: &mut KernelCx<'_, '_>, times: usize) -> Result<()> {
    let input = cx.inputs[0].to_slice::<f32>();
    for _ in 0..times {
        for (out, it) in cx.outputs[0].as_mut_slice::<f32>().iter_mut().zip(input.iter()) {
            *out = std::hint::black_box(-it);
        }
    }
    Ok(())
}

fn chosen(strategy: Strategy, x: &Tensor) -> &'static str {
    let before = set_strategy(strategy);
    let attrs = Attrs::new();
    let case = Case::new(&OP, std::slice::from_ref(x), &attrs);
    let res = choose(KERNELS, &case).unwrap().kernel.name;
    set_strategy(before);
    res
}

#[test]
fn strategies_choose_among_what_they_allow() {
    let x = tensor(&[1.0; 1000]);
    let reproducible = Strategy { reproducible: true, ..Strategy::HEURISTIC };
    assert_eq!(chosen(Strategy::HEURISTIC, &x), "slow");
    assert_eq!(chosen(reproducible, &x), "slow");
    assert_eq!(chosen(Strategy { optimized: true, ..Strategy::HEURISTIC }, &x), "quick");
    assert_eq!(chosen(Strategy { optimized: true, ..reproducible }, &x), "large");
    let limited = Strategy { optimized: true, workspace_limit: Some(10), ..reproducible };
    assert_eq!(chosen(limited, &x), "slow", "better a plain kernel than none");
    assert_eq!(chosen(Strategy::PROFILE, &x), "quick");
    assert_eq!(chosen(Strategy { reproducible: true, ..Strategy::PROFILE }, &x), "large");
}

#[test]
fn the_second_run_measures_nothing() {
    let x = tensor(&[1.0; 1001]);
    assert_eq!(chosen(Strategy::FAST, &x), "quick");
    let measured = n_measured();
    assert_eq!(measured, 2);
    let report = take_report();
    assert_eq!(
        (report.len(), report[0].from_cache, report[0].signature.as_str()),
        (1, false, "f32[1001]")
    );
    assert_eq!(report[0].candidates[0], ("slow".to_owned(), Outcome::Skipped("plain".into())));
    assert!(matches!(report[0].candidates[1].1, Outcome::Seconds(it) if it > 0.0));
    assert!(report[0].gain >= 1.0);
    assert_eq!(chosen(Strategy::FAST, &x), "quick");
    assert_eq!(n_measured(), measured);
    assert!(take_report()[0].from_cache);
}

#[test]
fn measurements_survive_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fastrun.jsonl");
    assert!(load(&path).is_err());
    chosen(Strategy::FAST, &tensor(&[1.0; 1002]));
    let saved = save(&path).unwrap();
    assert!(saved >= 1);
    clear();
    assert_eq!(load(&path).unwrap(), saved);
    let measured = n_measured();
    assert_eq!(chosen(Strategy::FAST, &tensor(&[1.0; 1002])), "quick");
    assert_eq!(n_measured(), measured);
    assert_eq!(
        chosen(Strategy { cache_only: true, ..Strategy::FAST }, &tensor(&[1.0; 999])),
        "quick"
    );
    assert_eq!(n_measured(), measured, "cache_only measures nothing");

    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("t_choice f32[1002]"));
    std::fs::write(&path, text.replace("quick", "quack")).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    std::fs::write(&path, text.replace("\"version\":1", "\"version\":9")).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("it has version 9, 1 is known"), "{error}");
    assert!(save(&path).unwrap() >= 1, "a damaged file is replaced");
    load(&path).unwrap();
}

#[test]
fn words_name_strategies() {
    assert_eq!(Strategy::parse("PROFILE"), Some(Strategy::PROFILE));
    assert_eq!(Strategy::parse("PROFILE_OPTIMIZED"), Some(Strategy::FAST));
    assert_eq!(Strategy::parse("heuristic"), Some(Strategy::HEURISTIC));
    assert!(Strategy::parse("PROFILE|HEURISTIC").unwrap().cache_only);
    assert_eq!(Strategy::parse("QUICK"), None);
}

#[test]
fn eager_ops_follow_the_strategy() {
    let x = tensor(&[2.0; 1003]);
    let before = set_strategy(Strategy::FAST);
    let y = apply_one(&OP, std::slice::from_ref(&x), &Attrs::new()).unwrap();
    set_strategy(before);
    assert_eq!(y.to_vec::<f32>().unwrap()[1002], -2.0);
    assert_eq!(take_report()[0].chosen, "quick");
}
