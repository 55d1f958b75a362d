//! Plans against their graphs: bit for bit what running these op by op gives, and what they mean within rounding.

use super::*;
use crate::cpu::interrupt;
use crate::graph::op_by_op;
use crate::graph::parse::{parse, parse_compact};
use crate::graph::{Graph, NodeId};
use crate::passes;
use crate::rewrite::run::Log;
use crate::test_ops::tensor;
use crate::{
    Attrs, DType, Layout, Meta, Number, Shape, Site, Tensor, apply_one, ops, oracle, random,
};

fn sample(meta: &Meta, seed: usize) -> Tensor {
    let values: Vec<f32> =
        (0..meta.shape.numel()).map(|it| ((it * 7 + seed * 3) % 23) as f32 * 0.37 - 3.1).collect();
    Tensor::from_vec(&values, meta.shape.clone()).unwrap()
}

fn inputs_of(graph: &Graph) -> Vec<Tensor> {
    let one = |(idx, &id): (usize, &NodeId)| match &graph.node(id).kind {
        crate::graph::Kind::Fed => Tensor::from_number(Number::Float(0.75)),
        _ => sample(&graph.node(id).metas[0], idx),
    };
    graph.inputs().iter().enumerate().map(one).collect()
}

fn check(graph: &Graph) -> Plan {
    let optimized = passes::optimize(graph.clone(), 3, &mut Log::default()).unwrap();
    let inputs = inputs_of(graph);
    let expected = op_by_op::run(graph, &inputs).unwrap();
    let meant = oracle::evaluate(graph, &inputs).unwrap();
    assert_eq!(oracle::graphs::differs(&expected, &meant), None, "{graph}");
    let fused = compile(&optimized, true).unwrap();
    for plan in [compile(graph, false).unwrap(), compile(graph, true).unwrap()] {
        for _ in 0..2 {
            same(&plan.run(&inputs).unwrap(), &expected, &plan);
        }
    }
    same(&fused.run(&inputs).unwrap(), &expected, &fused);
    fused
}

fn same(got: &[Tensor], expected: &[Tensor], plan: &Plan) {
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got.meta(), expected.meta());
        let bits = |it: &Tensor| -> Vec<u64> {
            it.to_f64_vec().unwrap().iter().map(|it| it.to_bits()).collect()
        };
        assert_eq!(bits(got), bits(expected), "{plan}");
    }
    assert_eq!(got.len(), expected.len());
}

fn f32(shape: &[usize]) -> Meta {
    Meta::new(Shape::new(shape), DType::F32)
}

#[test]
fn elementwise_chains_are_one_launch() {
    let text = "(tanh (add (mul %0 %1) 0.5)) (neg (add (mul %0 %1) 0.5))";
    let plan = check(&parse_compact(text, &[f32(&[4, 5]), f32(&[5])]).unwrap());
    assert_eq!((plan.n_launches(), plan.memory().peak), (1, 0), "{plan}");
}

#[test]
fn errors_name_where_the_program_applied_the_op() {
    let mut graph = Graph::new();
    let meta = Meta::new(Shape::from([4]), DType::I64);
    let [x, y] = [0, 1].map(|_| graph.input(DType::I64, Layout::contiguous(meta.shape.clone())));
    let applied = Site::new(7);
    graph.origin.site = Site::new(3);
    let sum = graph.apply_one(ops::find("add").unwrap(), &[x, x], &Attrs::new()).unwrap();
    graph.origin.site = applied;
    let op = ops::find("floor_divide").unwrap();
    graph.outputs = vec![graph.apply_one(op, &[sum, y], &Attrs::new()).unwrap()];
    let inputs = [[8_i64, 6, 4, 2], [1, 0, 1, 1]];
    let inputs = inputs.map(|it| Tensor::from_vec(&it, Shape::from([4])).unwrap());
    let alone = apply_one(op, &inputs, &Attrs::new()).unwrap_err();
    let plans = [false, true].map(|fuse| compile(&graph, fuse).unwrap().run(&inputs));
    for got in plans.into_iter().chain([op_by_op::run(&graph, &inputs)]) {
        assert_eq!(got.unwrap_err().apart(), (alone.clone(), Some(applied)));
    }
    assert_eq!(Site::here(), Site::NOWHERE);
}

#[test]
fn structured_ops_split_chains() {
    let text = "(add (t_matmul (relu %0) (t_t (exp %1))) (t_sum (mul %0 %0)))";
    let plan = check(&parse_compact(text, &[f32(&[4, 5]), f32(&[3, 5])]).unwrap());
    assert_eq!(plan.n_launches(), 6, "{plan}");
    assert!(plan.memory().peak <= plan.memory().total);
}

#[test]
fn no_group_waits_for_itself() {
    // The sum depends on one member of what would be a group and feeds another.
    let text = "(add (exp %0) (mul (t_sum (exp %0)) (neg (exp %0))))";
    check(&parse_compact(text, &[f32(&[4, 5])]).unwrap());
    let text = "(sub (t_t (neg (t_t (exp %0)))) (exp %0))";
    check(&parse_compact(text, &[f32(&[4, 5])]).unwrap());
}

#[test]
fn views_are_layouts_or_copies() {
    let text = "(t_reshape (t_t (neg %0)) shape=[20]) (t_t %0) (t_reshape %0 shape=[2, 10]) %0 (t_t (neg %0))";
    let plan = check(&parse_compact(text, &[f32(&[4, 5])]).unwrap());
    assert!(plan.to_string().contains("copy"), "{plan}");
}

#[test]
fn updates_take_the_place_of_what_nobody_reads_later() {
    let in_place = |text: &str| {
        let plan = check(&parse_compact(text, &[f32(&[4, 5]), f32(&[1, 5])]).unwrap());
        (plan.to_string().matches(" in place").count(), plan.memory().peak)
    };
    let put = |x: &str, at: usize| {
        format!("(slice_scatter {x} (neg %1) dim=0 start={at} stop={})", at + 1)
    };
    let chain = format!("(tanh {})", put(&put("(exp %0)", 2), 0));
    assert_eq!(in_place(&chain), (2, 128 + 64));
    assert_eq!(in_place(&put("(exp %0)", 3)), (1, 64), "the result outlives the run");
    let whole = put("(t_reshape (t_reshape (exp %0) shape=[20]) shape=[4, 5])", 1);
    assert_eq!(in_place(&whole).0, 1);
    assert_eq!(in_place(&put("%0", 1)).0, 0, "an input is not written");
    assert_eq!(
        in_place(&format!("(add {} (exp %0))", put("(exp %0)", 1))).0,
        0,
        "it is read later"
    );
    assert_eq!(in_place(&format!("(exp %0) {}", put("(exp %0)", 1))).0, 0, "it outlives the run");
    let own = "(slice_scatter (exp %0) (t_reshape (exp %0) shape=[4, 5]) dim=0)";
    assert_eq!(in_place(own).0, 0, "it is read by the same launch");
}

#[test]
fn inputs_keep_their_strides() {
    let text = "graph(%0: f32[2, 3] strides [1, 2], %1: number f64) {
        %2 = mul(%0, %1) : f32[2, 3] %3 = t_t(%0) : f32[3, 2] %4 = t_neg(%3) : f32[3, 2] return %2, %4, %0, %1 }";
    let graph = parse(text, &[]).unwrap();
    let plan = compile(&graph, true).unwrap();
    let base = sample(&f32(&[7]), 1);
    let layout =
        Layout { shape: Shape::from([2, 3]), strides: [1, 2].into_iter().collect(), offset: 1 };
    let x = base.with_layout(layout);
    let inputs = [x, Tensor::number(0.3)];
    same(&plan.run(&inputs).unwrap(), &op_by_op::run(&graph, &inputs).unwrap(), &plan);
    assert!(plan.run(&[sample(&f32(&[2, 3]), 0), Tensor::number(1.0)]).is_err());
    assert!(plan.run(&[sample(&f32(&[2, 2]), 0), Tensor::number(1.0)]).is_err());
    assert!(plan.run(&[]).is_err());
}

#[test]
fn flipped_inputs_are_read_from_their_first_element() {
    let layout = Layout { shape: Shape::from([4]), strides: [-1].into_iter().collect(), offset: 3 };
    let mut graph = Graph::new();
    let x = graph.input(DType::F32, layout.clone());
    let neg =
        graph.apply_one(crate::ops::find("neg").unwrap(), &[x], &crate::Attrs::new()).unwrap();
    graph.outputs = vec![neg];
    let plan = compile(&graph, true).unwrap();
    let base = tensor(&[9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0]);
    let flipped = base.with_layout(Layout { offset: 5, ..layout });
    assert_eq!(plan.run(&[flipped]).unwrap()[0].to_f64_vec().unwrap(), [-4.0, -3.0, -2.0, -1.0]);
}

#[test]
fn long_chains_are_split_into_programs_that_fit() {
    let mut text = String::from("%0");
    for _ in 0..150 {
        text = format!("(add (mul {text} %1) %2)");
    }
    let plan = check(&parse_compact(&text, &[f32(&[9]), f32(&[9]), f32(&[9])]).unwrap());
    assert!(plan.n_launches() >= 7, "{plan}");
}

#[test]
fn random_graphs_agree_with_running_them_op_by_op() {
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..40 {
        let mut terms = vec!["%0".to_owned(), "%1".to_owned(), "0.5".to_owned(), "3".to_owned()];
        for _ in 0..12 {
            let (a, b) = (terms[next(terms.len())].clone(), terms[next(terms.len())].clone());
            terms.push(match next(11) {
                0 => format!("(neg {a})"),
                1 | 2 => format!("(mul {a} {b})"),
                3 => format!("(add {a} {b})"),
                4 => format!("(sigmoid {a})"),
                5 => format!("(add %0 (t_sum (mul {a} %0)))"),
                6 => format!("(t_t (t_t (sub {a} %0)))"),
                7 => format!("(sub %0 (mean (mul {a} %1) dim=[1] keepdim=true))"),
                8 => format!("(mul %0 (softmax (mul {a} %0) dim=1))"),
                9 => format!("(add %1 (amax (add {a} %1) dim=[0]))"),
                _ => format!("(mul %0 (maximum {a} {b}))"),
            });
        }
        let text =
            format!("(add %0 {}) (mul %1 {})", terms[terms.len() - 1], terms[terms.len() - 2]);
        if text.len() < 20_000 {
            check(&parse_compact(&text, &[f32(&[3, 4]), f32(&[3, 4])]).unwrap());
        }
    }
}

/// Every elementwise op, and its gradients, alone and between others.
#[test]
fn every_elementwise_op_compiles() {
    let mut count = 0;
    for op in crate::ops::all().filter(|op| op.body.is_elementwise()) {
        let operands = &["%0", "%1", "%2"][..op.n_tensors()];
        let (list, scaled) = (operands.join(" "), operands.join(" (mul %3 2) "));
        let grads = (0..op.n_tensors()).map(|at| format!("({}.grad{at} %3 {list})", op.name));
        let mut texts: Vec<String> = grads.collect();
        texts.push(format!("({} {list}) (neg ({} {list}))", op.name, op.name));
        if op.n_tensors() == 2 {
            texts.push(format!(
                "(add ({} {} (sin %3)) {})",
                op.name,
                operands[0],
                scaled.split_at(2).0
            ));
        }
        for text in texts {
            let kinds = [f32(&[2, 3]), f32(&[3]), f32(&[2, 1]), f32(&[2, 3])];
            // Attributes that have no default, other dtypes, and gradients of another form are not for this test.
            let Ok(graph) = parse_compact(&text, &kinds) else { continue };
            if op_by_op::run(&graph, &inputs_of(&graph)).is_ok() {
                check(&graph);
                count += 1;
            }
        }
    }
    assert!(count > 60, "only {count} graphs were checked");
}

#[test]
fn launches_are_timed_by_name() {
    let graph = parse_compact("(t_matmul (exp %0) (neg %0))", &[f32(&[4, 4])]).unwrap();
    let rows = compile(&graph, true).unwrap().profile(&inputs_of(&graph)).unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|it| it.1 >= 0.0) && rows[2].0.starts_with("t_matmul by naive"));
}

#[test]
fn what_follows_a_product_runs_on_its_parts() {
    let metas = [f32(&[40, 30]), f32(&[50, 30]), f32(&[50]), f32(&[40, 50]), f32(&[30, 50])];
    for (text, n_launches) in [
        ("(relu (linear %0 %1 %2))", 1),
        ("(mul (tanh (linear %0 %1 %2)) (add %3 1.5))", 1),
        ("(linear %0 %1 %2) (relu (linear %0 %1 %2))", 1),
        ("(gt (linear %0 %1 %2) 0.0)", 1),
        ("(gt (linear %0 %1 %2) 0.0) (relu (linear %0 %1 %2)) (tanh (linear %0 %1 %2))", 1),
        // One of the two waits for the other.
        ("(add (linear %0 %1 %2) (matmul %0 %4))", 2),
        // Another shape is another launch.
        ("(add (linear %0 %1 %2) (t_sum (linear %0 %1 %2)))", 3),
        ("(relu (matmul (relu (linear %0 %1 %2)) (t_t %3)))", 2),
    ] {
        let plan = check(&parse_compact(text, &metas).unwrap());
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
    }
}

/// The launches, and whether the operand of a kernel is made in pieces in one of them.
#[test]
fn what_makes_the_operand_of_a_kernel_runs_on_its_pieces() {
    let metas = [f32(&[40, 30]), f32(&[30]), f32(&[40, 1]), f32(&[]), f32(&[30, 50])];
    for (text, n_launches, in_pieces) in [
        ("(sum (mul %0 %1) dim=[1])", 1, true),
        ("(softmax (add (mul %0 %3) %2) dim=1)", 1, true),
        ("(log_softmax (mul %0 0.5) dim=0)", 1, true),
        ("(mean (pow (sub %0 %1) 2))", 1, true),
        ("(sum (relu %0) dim=[0] keepdim=true)", 1, true),
        ("(standardize (add %0 %1) dim=[1])", 1, true),
        ("(any (gt %0 %1))", 1, true),
        ("(sum (gt %0 %1))", 1, true),
        ("(sum (gt %0 %1) dtype=float32)", 1, true),
        ("(mul (sum (mul %0 %3)) 2.0)", 1, true),
        ("(neg (softmax (exp %0) dim=1))", 1, true),
        // What others need of it is kept.
        ("(mul %0 %1) (sum (mul %0 %1) dim=[1])", 1, true),
        ("(sum (exp (neg %0)) dim=[0]) (neg %0)", 1, true),
        ("(mul (neg %0) %1) (amax (exp (neg %0)))", 1, true),
        ("(sum (gt %0 %1) dtype=float32) (gt %0 %1)", 1, true),
        // One kernel of two: the other reads what is kept.
        ("(sum (exp %0) dim=[1]) (amax (exp %0) dim=[1])", 2, true),
        // Behind the kernel runs what reads its output and what only that needs.
        ("(mul (softmax (exp %0) dim=1) (add %0 %1))", 1, true),
        // What both sides read is there before.
        ("(mul (softmax (exp %0) dim=1) (exp %0))", 2, false),
        ("(mul (softmax (exp %0) dim=1) (neg (exp %0)))", 2, false),
        ("(sub %0 (mean (neg %0) dim=[1] keepdim=true))", 2, true),
        // What a product runs on its parts is there when the sum begins.
        ("(sum (relu (matmul %0 %4)))", 2, false),
        // Weights and biases are there before.
        ("(native_layer_norm (neg %0) %1 %1 normalized_shape=[30])", 1, true),
        ("(native_layer_norm (neg %0) (neg %1) %1 normalized_shape=[30])", 3, false),
        ("(argmax (neg %0) dim=1)", 1, true),
        ("(max (neg %0) dim=1)", 1, true),
        ("(argmin (neg %0))", 1, true),
        ("(max (neg %0))", 1, true),
        ("(standardize (neg %0) dim=[0])", 1, true),
        // These read their operands as a whole.
        ("(cumsum (neg %0) dim=0)", 2, false),
        // Another shape is another launch.
        ("(sum (neg %1))", 1, true),
        ("(sum (t_reshape (mul %0 %1) shape=[1200]))", 2, false),
        // A view in between goes before what has single numbers beside it.
        ("(sum (t_reshape (mul (neg %0) 2.0) shape=[1200]))", 1, true),
    ] {
        let plan = check(&parse_compact(text, &metas).unwrap());
        let got = (plan.n_launches(), plan.to_string().contains("] into "));
        assert_eq!(got, (n_launches, in_pieces), "{text}: {plan}");
    }
    let plan = check(&parse_compact("(neg (softmax (exp %0) dim=1))", &metas).unwrap());
    assert!(plan.to_string().contains("[exp] into softmax by softmax.rows, then [neg]"), "{plan}");
    assert_eq!(plan.memory().peak, 0, "{plan}");
}

#[test]
fn long_lines_are_not_made_for_kernels_that_read_them_twice_as_a_whole() {
    for (text, n_launches) in [
        ("(softmax (neg %0) dim=0)", 2),
        ("(logsumexp (neg %0) dim=[0])", 2),
        ("(var (neg %0))", 1),
        ("(argmax (neg %0))", 1),
        ("(sum (neg %0))", 1),
        ("(norm (neg %0))", 1),
        ("(norm (neg %0) p=inf)", 2),
    ] {
        let plan = check(&parse_compact(text, &[f32(&[70_000])]).unwrap());
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
    }
}

/// Faults in the pieces of an operand: the error and the place are those of the launch that would have made it.
#[test]
fn a_prologue_fails_as_a_launch_of_its_own_does() {
    let mut graph = Graph::new();
    let meta = Meta::new(Shape::from([90_000]), DType::I64);
    let [x, y] = [0, 1].map(|_| graph.input(DType::I64, Layout::contiguous(meta.shape.clone())));
    let applied = Site::new(7);
    graph.origin.site = applied;
    let op = ops::find("floor_divide").unwrap();
    let quotient = graph.apply_one(op, &[x, y], &Attrs::new()).unwrap();
    graph.origin.site = Site::new(9);
    let sum = graph.apply_one(ops::find("sum").unwrap(), &[quotient], &Attrs::new()).unwrap();
    graph.origin.site = Site::new(11);
    graph.outputs =
        vec![graph.apply_one(ops::find("neg").unwrap(), &[sum], &Attrs::new()).unwrap()];
    let plan = compile(&graph, true).unwrap();
    assert_eq!(plan.n_launches(), 1, "{plan}");
    for at in [0, 70_001, 89_999] {
        let mut divisors = vec![1_i64; 90_000];
        divisors[at] = 0;
        let inputs = [vec![8_i64; 90_000], divisors]
            .map(|it| Tensor::from_vec(&it, meta.shape.clone()).unwrap());
        let alone = apply_one(op, &inputs, &Attrs::new()).unwrap_err();
        for got in [plan.run(&inputs), compile(&graph, false).unwrap().run(&inputs)] {
            assert_eq!(got.unwrap_err().apart(), (alone.clone(), Some(applied)));
        }
    }
    let inputs =
        [(); 2].map(|()| Tensor::from_vec(&vec![1_i64; 90_000], meta.shape.clone()).unwrap());
    assert_eq!(plan.run(&inputs).unwrap()[0].to_f64_vec().unwrap(), [-90_000.0]);
}

#[test]
fn an_interrupt_ends_a_prologue() {
    let text = "(sum (exp %0) dim=[0]) (softmax (neg %0) dim=1)";
    let graph = parse_compact(text, &[f32(&[3000, 300])]).unwrap();
    let (plan, inputs) = (compile(&graph, true).unwrap(), inputs_of(&graph));
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let watching = interrupt::watch(flag.clone());
    assert_eq!(plan.run(&inputs).unwrap_err(), crate::Error::Interrupted);
    assert!(!flag.load(std::sync::atomic::Ordering::Relaxed));
    same(&plan.run(&inputs).unwrap(), &op_by_op::run(&graph, &inputs).unwrap(), &plan);
    drop(watching);
}

#[test]
fn what_follows_a_reduction_runs_on_its_parts() {
    let metas = [f32(&[40, 30]), f32(&[30]), f32(&[40]), f32(&[40, 1])];
    for (text, n_launches) in [
        ("(mul (softmax %0 dim=1) %1)", 1),
        ("(mul (sum %0) 0.5)", 1),
        ("(sqrt (add (mean %0 dim=[1]) %2))", 1),
        ("(exp (amax %0 dim=[0])) (amax %0 dim=[0])", 1),
        ("(add (argmax %0 dim=1) 1)", 1),
        ("(sub (log_softmax %0 dim=0) (log_softmax %0 dim=0))", 1),
        ("(add (mul (standardize %0 dim=[1]) %1) %1)", 1),
        // Only the first output comes in parts.
        ("(tanh (standardize %3 dim=[1])) (neg (standardize %3 dim=[1]):1)", 2),
        ("(mul (standardize %3 dim=[1]) (standardize %3 dim=[1]):1)", 2),
        // It waits for what the others need.
        ("(mul (softmax %0 dim=1) (add %1 1.5))", 2),
        ("(mul (neg (softmax %0 dim=1)) (sum %0))", 2),
        // Another shape is another launch.
        ("(sub %0 (mean %0 dim=[1] keepdim=true))", 2),
        // One of the two waits for the other.
        ("(add (sum %0 dim=[1]) (amax %0 dim=[1]))", 2),
    ] {
        let plan = check(&parse_compact(text, &metas).unwrap());
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
    }
}

#[test]
fn what_follows_a_draw_runs_on_its_parts_and_draws_keep_their_order() {
    let first = "%3 = dropout_mask(%0; p=0.5) : f32[70, 90]";
    let second = "%4 = dropout_mask(%1; p=0.2) : f32[70, 90]";
    for (ops, n_launches) in [
        ("%4 = mul(%0, %3) : f32[70, 90] return %4", 1),
        ("%4 = mul(%0, %3) : f32[70, 90] return %3, %4", 1),
        ("%4 = mul(%0, %3) : f32[70, 90] %5 = add(%4, %2) : f32[70, 90] return %5", 1),
        // What follows on the first draw comes behind the second in the graph.
        ("<second> %5 = mul(%1, %4) : f32[70, 90] %6 = neg(%3) : f32[70, 90] return %5, %6", 2),
        // The first draw may not wait for the second.
        ("<second> %5 = mul(%1, %4) : f32[70, 90] %6 = add(%5, %3) : f32[70, 90] return %6", 2),
        ("%4 = softmax(%0; dim=1) : f32[70, 90] %5 = mul(%3, %4) : f32[70, 90] return %5", 2),
    ] {
        let ops = ops.replace("<second>", second);
        let text =
            format!("graph(%0: f32[70, 90], %1: f32[70, 90], %2: f32[90]) {{ {first} {ops} }}");
        let graph = parse(&text, &[]).unwrap();
        let inputs = inputs_of(&graph);
        random::seed(3);
        let expected = op_by_op::run(&graph, &inputs).unwrap();
        let left = random::state();
        let plan = compile(&graph, true).unwrap();
        random::seed(3);
        same(&plan.run(&inputs).unwrap(), &expected, &plan);
        assert!(random::state() == left, "{text}");
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
    }
}

#[test]
fn what_follows_picked_rows_runs_on_them() {
    let index = Meta::new(Shape::new(&[4, 6]), DType::I64);
    let metas = [index, f32(&[9, 20]), f32(&[6, 20]), f32(&[20])];
    let rows = Tensor::from_vec(&[2_i64, 0, 8, 8].repeat(6), Shape::new(&[4, 6])).unwrap();
    for (text, n_launches) in [
        ("(add (embedding %0 %1) %2)", 1),
        ("(mul (add (embedding %0 %1 padding_idx=1) %3) 2.0)", 1),
        ("(relu (add (embedding %0 %1) %2)) (embedding %0 %1)", 1),
        ("(embedding %0 %1)", 1),
    ] {
        let graph = parse_compact(text, &metas).unwrap();
        let mut inputs = inputs_of(&graph);
        inputs[0] = rows.clone();
        let expected = op_by_op::run(&graph, &inputs).unwrap();
        let plan = compile(&graph, true).unwrap();
        same(&plan.run(&inputs).unwrap(), &expected, &plan);
        assert_eq!(plan.n_launches(), n_launches, "{text}: {plan}");
    }
}
