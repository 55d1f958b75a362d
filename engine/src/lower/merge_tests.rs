//! Launches that are one: what they give is what each gives by itself.

use super::onto::WORTH_WRITING_ONTO;
use super::*;
use crate::cpu::pool;
use crate::graph::op_by_op;
use crate::graph::parse::parse_compact;
use crate::test_ops::{bits, sample};
use crate::{DType, Error, Meta, Shape, Tensor};

fn metas(shapes: &[&[usize]], dtype: DType) -> Vec<Meta> {
    shapes.iter().map(|it| Meta::new(Shape::new(it), dtype)).collect()
}

fn plan_of(text: &str, metas: &[Meta]) -> (Plan, Vec<Tensor>, Vec<Tensor>) {
    write_onto_from(WORTH_WRITING_ONTO);
    let graph = parse_compact(text, metas).unwrap();
    let inputs: Vec<Tensor> =
        metas.iter().zip(1..).map(|(it, seed)| sample(&it.shape, it.dtype, seed)).collect();
    let expected = op_by_op::run(&graph, &inputs).unwrap();
    (compile(&graph, true).unwrap(), inputs, expected)
}

#[test]
fn one_program_on_many_tensors_is_one_launch() {
    let shapes: &[&[usize]] = &[&[300, 200], &[7], &[1], &[70_001], &[0], &[], &[200], &[5, 4, 3]];
    let metas = metas(shapes, DType::F32);
    let step = |it: usize| format!("(tanh (add (mul %{it} 0.5) %{it}))");
    let texts: String = (0..shapes.len()).map(step).collect();
    for (more, n_launches) in [
        ("", 2),
        // One waits for another, which cannot be in its launch.
        ("(tanh (add (mul (tanh (add (mul %1 0.5) %1)) 0.5) (tanh (add (mul %1 0.5) %1))))", 3),
        ("(tanh (add (mul %1 0.25) %1))", 2),
        // Operands that lie in another way.
        ("(mul %0 (add %6 1.0)) (mul %3 (add %2 1.0))", 4),
        ("(tanh (sub (mul %0 0.5) %0))", 3),
    ] {
        let text = format!("{texts}{more}");
        let (plan, inputs, expected) = plan_of(&text, &metas);
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
        for threads in [1, 3] {
            pool::set_threads(threads);
            let got = plan.run(&inputs).unwrap();
            pool::set_threads(0);
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(bits(got), bits(expected), "{text}");
            }
        }
    }
}

#[test]
fn what_may_refuse_an_element_stays_a_launch_of_its_own() {
    let metas = metas(&[&[9], &[8]], DType::I64);
    let text = "(add (floor_divide %0 3) 1) (add (floor_divide %1 3) 1)";
    let (plan, inputs, _) = plan_of(text, &metas);
    assert_eq!(plan.n_launches(), 2, "{plan}");
    assert!(plan.run(&inputs).is_ok());
}

#[test]
fn what_is_written_where_variables_lie_stays_a_launch_of_its_own() {
    let n = WORTH_WRITING_ONTO / 4;
    let metas = metas(&[&[n], &[n]], DType::F32);
    let (plan, ..) = plan_of("(tanh (mul %0 0.5)) (tanh (mul %1 0.5))", &metas);
    assert_eq!(plan.n_launches(), 2, "{plan}");
}

#[test]
fn an_interrupt_ends_them() {
    let metas = metas(&[&[90_000], &[80_000]], DType::F32);
    let (plan, inputs, _) = plan_of("(tanh (mul %0 0.5)) (tanh (mul %1 0.5))", &metas);
    assert_eq!(plan.n_launches(), 1, "{plan}");
    pool::set_threads(2);
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let watching = crate::cpu::interrupt::watch(flag);
    assert_eq!(plan.run(&inputs).unwrap_err(), Error::Interrupted);
    drop(watching);
    pool::set_threads(0);
    assert!(plan.run(&inputs).is_ok());
}
