//! Traced calls give what eager calls give.

use super::*;
use crate::test_ops::*;
use crate::{Number, Shape};

fn traced() -> Traced {
    Traced::new(Options::default())
}

/// One call of a body over one argument.
fn run(traced: &Traced, x: &Tensor, body: impl FnOnce(&Tensor) -> Tensor) -> Finished {
    let call = traced.begin(std::slice::from_ref(x)).unwrap();
    let x = call.args()[0].clone();
    let res = body(&x);
    call.finish(&[res]).unwrap()
}

fn result(finished: &Finished) -> Vec<f32> {
    values(&finished.results[0])
}

#[test]
fn replays_what_it_recorded() {
    let traced = traced();
    let w = tensor(&[10.0, 20.0]);
    let body = |x: &Tensor| add_of(&mul_of(x, &w), x);
    let first = run(&traced, &tensor(&[1.0, 2.0]), body);
    assert_eq!(
        (result(&first), first.stats.recorded, first.stats.replayed),
        (vec![11.0, 42.0], 2, 0)
    );
    for _ in 0..3 {
        let next = run(&traced, &tensor(&[3.0, 4.0]), body);
        assert_eq!(
            (result(&next), next.stats.recorded, next.stats.replayed),
            (vec![33.0, 84.0], 0, 2)
        );
        assert_eq!(next.stats.departure, None);
    }
    assert_eq!(traced.stats().branches, 1);
}

/// The example of MegEngine's documentation: a list grows on each call, so each call does one more addition.
#[test]
fn host_effects_happen_on_each_call() {
    let traced = traced();
    let mut counts = Vec::new();
    for _ in 0..3 {
        let res = run(&traced, &tensor(&[1.0]), |x| {
            counts.push(3);
            add_of(x, x)
        });
        assert_eq!(result(&res), [2.0]);
    }
    assert_eq!(counts, [3, 3, 3]);
}

#[test]
fn another_path_is_recorded_and_then_replayed() {
    let traced = traced();
    let body = |x: &Tensor| {
        let total = sum_of(x);
        match total.item().unwrap() {
            Number::Float(it) if it > 0.0 => mul_of(x, &Tensor::number(2.0)),
            _ => neg_of(x),
        }
    };
    let (up, down) = (tensor(&[1.0, 2.0]), tensor(&[-1.0, -2.0]));
    for round in 0..3 {
        let res = run(&traced, &up, body);
        assert_eq!(result(&res), [2.0, 4.0], "round {round}");
        assert_eq!(res.stats.departure, None);
        let res = run(&traced, &down, body);
        assert_eq!(result(&res), [1.0, 2.0], "round {round}");
        assert_eq!(res.stats.departure.is_some(), round == 0);
    }
    assert_eq!(traced.stats().branches, 2);
    let last = run(&traced, &up, body);
    assert_eq!((last.stats.recorded, last.stats.replayed, last.stats.segments), (0, 2, 2));
}

#[test]
fn loop_counts_make_branches() {
    let traced = traced();
    for n in [3, 2, 3, 2, 3] {
        let res =
            run(&traced, &tensor(&[1.0]), |x| (0..n).fold(x.clone(), |acc, _| add_of(&acc, x)));
        assert_eq!(result(&res), [1.0 + n as f32]);
    }
    assert_eq!(traced.stats().branches, 2);
}

#[test]
fn other_shapes_are_recorded_apart() {
    let traced = traced();
    for values in [&[1.0, 2.0][..], &[1.0, 2.0, 3.0], &[4.0, 5.0], &[4.0, 5.0, 6.0]] {
        let res = run(&traced, &tensor(values), neg_of);
        assert_eq!(result(&res), values.iter().map(|it| -it).collect::<Vec<f32>>());
    }
    let stats = traced.stats();
    assert_eq!((stats.branches, stats.recorded, stats.replayed), (2, 2, 2));
}

#[test]
fn captured_values_may_change() {
    let traced = traced();
    let mut w = tensor(&[1.0]);
    for step in 0..4 {
        let res = run(&traced, &tensor(&[5.0]), |x| mul_of(x, &w));
        assert_eq!(result(&res), [5.0 * (step + 1) as f32]);
        w = tensor(&[(step + 2) as f32]);
    }
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn captures_that_were_one_tensor_must_stay_one() {
    let traced = traced();
    let (a, b) = (tensor(&[2.0]), tensor(&[3.0]));
    let both = |p: &Tensor, q: &Tensor| {
        let (p, q) = (p.clone(), q.clone());
        move |x: &Tensor| add_of(&mul_of(x, &p), &mul_of(x, &q))
    };
    let x = tensor(&[1.0]);
    assert_eq!(result(&run(&traced, &x, both(&a, &a))), [4.0]);
    assert_eq!(result(&run(&traced, &x, both(&a, &b))), [5.0]);
    assert_eq!(result(&run(&traced, &x, both(&b, &b))), [6.0]);
    assert_eq!(result(&run(&traced, &x, both(&b, &a))), [5.0]);
    assert_eq!(traced.stats().branches, 2);
}

#[test]
fn numbers_that_change_become_inputs() {
    let traced = traced();
    for step in 1..6 {
        let res = run(&traced, &tensor(&[1.0]), |x| {
            add_of(&mul_of(x, &Tensor::int_number(step)), &Tensor::number(0.5))
        });
        assert_eq!(result(&res), [step as f32 + 0.5]);
    }
    assert_eq!((traced.stats().branches, traced.stats().recorded), (1, 2));
}

#[test]
fn parameters_updated_in_the_body_carry_over() {
    let traced = traced();
    let mut w = tensor(&[1.0, 1.0]);
    let mut expected = w.clone();
    for _ in 0..5 {
        let res = run(&traced, &tensor(&[2.0, 3.0]), |x| {
            w = add_of(&w, &mul_of(x, &Tensor::number(0.1)));
            sum_of(&w)
        });
        expected = add_of(&expected, &mul_of(&tensor(&[2.0, 3.0]), &Tensor::number(0.1)));
        assert_eq!(values(&w), values(&expected));
        assert_eq!(result(&res), values(&sum_of(&expected)));
    }
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn views_share_storage_as_in_eager_code() {
    let traced = traced();
    let x = Tensor::from_vec(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], Shape::from([2, 3])).unwrap();
    let body = |x: &Tensor| {
        let y = neg_of(x);
        let same = reshape(&y, &[2, 3]);
        let copied = reshape(&t(&y), &[6]);
        add_of(&add_of(&copied, &reshape(&same, &[6])), &reshape(&y, &[6]))
    };
    let eager = values(&body(&x));
    for _ in 0..4 {
        assert_eq!(result(&run(&traced, &x, body)), eager);
        let res = run(&traced, &x, |x| t(&neg_of(x)));
        assert_eq!(result(&res), [-1.0, -4.0, -2.0, -5.0, -3.0, -6.0]);
        assert_eq!(res.results[0].layout(), t(&neg_of(&x)).layout());
        assert_eq!(result(&run(&traced, &x, t)), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
    assert_eq!(traced.stats().branches, 3);
}

#[test]
fn results_are_not_overwritten_by_later_calls() {
    let traced = traced();
    let mut kept = Vec::new();
    for step in 0..6 {
        let x = tensor(&[step as f32; 64]);
        kept.push(run(&traced, &x, |x| add_of(&mul_of(x, x), &neg_of(x))));
    }
    for (step, res) in kept.iter().enumerate() {
        let step = step as f32;
        assert_eq!(result(res), [step * step - step; 64]);
    }
}

#[test]
fn values_that_come_alive_later_are_delivered() {
    let traced = traced();
    let mut kept = Vec::new();
    for step in 0..5 {
        let res = run(&traced, &tensor(&[step as f32]), |x| {
            let middle = mul_of(x, &Tensor::number(3.0));
            if step >= 3 {
                kept.push(middle.clone());
            }
            neg_of(&middle)
        });
        assert_eq!(result(&res), [-3.0 * step as f32]);
    }
    assert_eq!(kept.iter().map(values).collect::<Vec<_>>(), [[9.0], [12.0]]);
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn exclusion_runs_eagerly_and_comes_back_as_capture() {
    let traced = traced();
    for step in 0..4 {
        let res = run(&traced, &tensor(&[step as f32]), |x| {
            let y = neg_of(x);
            let outside = {
                let _guard = exclude().unwrap();
                mul_of(&y, &Tensor::number(f64::from(step)))
            };
            add_of(&outside, &y)
        });
        assert_eq!(result(&res), [-(step as f32) * (step as f32) - step as f32]);
    }
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn random_ops_draw_in_order() {
    let body = |x: &Tensor| {
        let (a, b) = (draw_of(x), draw_of(x));
        draw_of(x);
        add_of(&a, &mul_of(&b, &Tensor::number(100.0)))
    };
    seed(0);
    let eager: Vec<_> = (0..4).map(|_| values(&body(&tensor(&[0.0, 0.0])))).collect();
    seed(0);
    let traced = traced();
    for expected in eager {
        assert_eq!(result(&run(&traced, &tensor(&[0.0, 0.0]), body)), expected);
    }
}

#[test]
fn a_failed_body_leaves_the_trace_usable() {
    let traced = traced();
    let x = tensor(&[1.0]);
    let call = traced.begin(std::slice::from_ref(&x)).unwrap();
    neg_of(&x);
    call.abort();
    assert_eq!(traced.stats().branches, 0);
    for _ in 0..2 {
        assert_eq!(result(&run(&traced, &x, |x| neg_of(&neg_of(x)))), [1.0]);
    }
    let call = traced.begin(std::slice::from_ref(&x)).unwrap();
    let kept = neg_of(&x);
    call.abort();
    assert_eq!(values(&kept), [-1.0]);
    let call = traced.begin(std::slice::from_ref(&x)).unwrap();
    let kept = mul_of(&neg_of(&x), &x);
    drop(call);
    assert_eq!(values(&kept), [-1.0]);
    assert_eq!(result(&run(&traced, &x, |x| neg_of(&neg_of(x)))), [1.0]);
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn nested_calls_run_inline() {
    let (outer, inner) = (traced(), traced());
    for _ in 0..3 {
        let res = run(&outer, &tensor(&[2.0]), |x| {
            let inside = run(&inner, &neg_of(x), neg_of).results[0].clone();
            add_of(&inside, x)
        });
        assert_eq!(result(&res), [4.0]);
    }
    assert_eq!((outer.stats().branches, inner.stats().calls), (1, 0));
}

#[test]
fn constants_must_stay_the_same_tensor() {
    let traced = Traced::new(Options { capture_as_const: true, ..Options::default() });
    let w = tensor(&[3.0]);
    for _ in 0..3 {
        assert_eq!(result(&run(&traced, &tensor(&[2.0]), |x| mul_of(x, &w))), [6.0]);
    }
    let call = traced.begin(&[tensor(&[2.0])]).unwrap();
    let args = [call.args()[0].clone(), tensor(&[4.0])];
    let error = crate::apply_one(find("t_mul"), &args, &Attrs::new()).unwrap_err();
    assert!(error.to_string().contains("captured tensor 0 (f32[1], used by t_mul)"), "{error}");
    call.abort();
    assert_eq!(traced.graph(0).unwrap().inputs().len(), 1);
}

#[test]
fn symbolic_calls_compute_nothing_until_the_end() {
    let traced = Traced::new(Options { symbolic: true, ..Options::default() });
    for step in 0..3 {
        seed(10 * step);
        let res = run(&traced, &tensor(&[1.0, 2.0]), |x| {
            let y = draw_of(x);
            assert!(y.to_f64_vec().is_err(), "the value must not be known");
            seed(100);
            add_of(&reshape(&reshape(x, &[2, 1]), &[2]), &y)
        });
        assert_eq!(result(&res), [102.0, 104.0]);
    }
    assert_eq!(traced.stats().branches, 1);
}

#[test]
fn record_only_builds_a_graph() {
    let traced = Traced::new(Options { record_only: true, ..Options::default() });
    let w = tensor(&[1.0, 2.0]);
    let res = run(&traced, &tensor(&[1.0, 2.0]), |x| mul_of(x, &w));
    assert!(res.results[0].to_f64_vec().is_err());
    let graph = traced.graph(0).unwrap();
    assert_eq!((graph.inputs().len(), graph.n_ops(), graph.outputs.len()), (1, 1, 1));
}

#[test]
fn too_many_paths_run_eagerly() {
    let traced = Traced::new(Options { max_branches: 3, ..Options::default() });
    for n in 0..10 {
        let res = run(&traced, &tensor(&[1.0]), |x| (0..n).fold(neg_of(x), |acc, _| neg_of(&acc)));
        assert_eq!(result(&res), [if n % 2 == 0 { -1.0 } else { 1.0 }]);
    }
    assert_eq!(traced.stats().branches, 3);
    assert!(matches!(traced.stats().departure, Some(Departure::Full { paths: 3 })));
}

#[test]
fn signatures_that_are_not_used_make_room() {
    let traced = Traced::new(Options { max_signatures: 2, ..Options::default() });
    for n in [1, 2, 3, 1, 2, 3, 3] {
        assert_eq!(result(&run(&traced, &tensor(&vec![2.0; n]), neg_of)), vec![-2.0; n]);
    }
    let stats = traced.stats();
    assert_eq!((stats.branches, stats.recorded, stats.replayed), (2, 6, 1));
}

#[test]
fn seeds_set_in_the_body_keep_their_place() {
    let rand = |x: &Tensor| {
        let op = crate::ops::find("rand_like").unwrap();
        crate::apply_one(op, std::slice::from_ref(x), &op.default_attrs()).unwrap()
    };
    let traced = traced();
    let mut seen = Vec::new();
    for _ in 0..3 {
        crate::random::seed(1);
        let res = run(&traced, &tensor(&[0.0, 0.0]), |x| {
            let first = rand(x);
            crate::random::seed(2);
            let other = rand(x);
            crate::random::seed(3);
            add_of(&first, &mul_of(&other, &Tensor::number(10.0)))
        });
        seen.push(result(&res));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[1], seen[2]);
}
