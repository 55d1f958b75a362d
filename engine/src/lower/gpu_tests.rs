//! Plans on a GPU: launch by launch and as recordings they give what their graphs give op by op.

use super::{Plan, compile};
use crate::functional::{add, gt, mul, num};
use crate::graph::{Graph, op_by_op};
use crate::oracle::graphs::{differs, graph_of, inputs_of, rows};
use crate::passes;
use crate::rewrite::run::Log;
use crate::test_draws::Draws;
use crate::{Attr, Attrs, DType, Device, Error, Layout, Number, Shape, Tensor, cuda, ops};

const GPU: Device = Device::Cuda(0);

fn fetched(tensors: Vec<Tensor>) -> Vec<Tensor> {
    tensors.iter().map(|it| it.moved_to(Device::Cpu).unwrap()).collect()
}

fn plan(mut graph: Graph) -> crate::Result<Plan> {
    graph.device = GPU;
    compile(&passes::optimize(graph, 3, &mut Log::default())?, true)
}

/// A graph of one input of `n` floats: `op(x * x) + number`, whose number is fed if there is none.
fn chain(n: usize, number: Option<Number>) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input(DType::F32, Layout::contiguous(Shape::from([n])));
    let number = match number {
        Some(it) => graph.number(it),
        None => graph.fed(DType::F64),
    };
    let mut apply = |op: &'static crate::OpDef, inputs: &[crate::graph::Value], attrs: Attrs| {
        graph.apply_one(op, inputs, &attrs).unwrap()
    };
    let square = apply(&ops::binary::mul::OP, &[x, x], Attrs::new());
    let sorted =
        apply(ops::find("cumsum").unwrap(), &[square], [Attr::Int(0)].into_iter().collect());
    let moved = apply(&ops::binary::add::OP, &[sorted, number], Attrs::new());
    let again = apply(ops::find("cumsum").unwrap(), &[moved], [Attr::Int(0)].into_iter().collect());
    graph.outputs = vec![again];
    graph
}

fn values(n: usize, seed: usize) -> Tensor {
    let values: Vec<f32> = (0..n).map(|it| ((it * 7 + seed) % 5) as f32).collect();
    Tensor::from_vec(&values, Shape::from([n])).unwrap()
}

#[test]
fn plans_of_random_graphs_give_what_the_ops_give() {
    let rows = rows();
    let (mut draws, mut n_graphs, mut n_replayed, mut problems) = (Draws(3), 0, 0, Vec::new());
    while n_graphs < 30 {
        let mut graph = graph_of(&mut draws, &rows, 7);
        // Ops refuse some elements. On a GPU whoever waits next would be told of it, another test perhaps.
        let inputs = inputs_of(&graph);
        if op_by_op::run(&graph, &inputs).is_err() {
            continue;
        }
        let inputs: Vec<Tensor> = inputs.iter().map(|it| it.moved_to(GPU).unwrap()).collect();
        graph.device = GPU;
        // A few have no kernel.
        let Ok(want) = op_by_op::run(&graph, &inputs) else { continue };
        let want = fetched(want);
        n_graphs += 1;
        let plan = plan(graph.clone()).unwrap();
        // Other tests take memory in between, so addresses change at first.
        for run in 0..16 {
            let got = plan.run(&inputs).map(fetched);
            let problem = got.map_or_else(|it| Some(it.to_string()), |it| differs(&it, &want));
            problems.extend(problem.map(|it| format!("run {run}: {it}\n{graph}{plan}")));
        }
        n_replayed += plan.n_replayed().unwrap();
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(n_replayed > 8, "{n_replayed} runs by a recording");
}

#[test]
fn recordings_follow_inputs_numbers_and_results() {
    let plan = plan(chain(40, None)).unwrap();
    let mut kept = Vec::new();
    for run in 0..48 {
        let (x, number) = (values(40, run), 0.25 * run as f64);
        let inputs = [x.moved_to(GPU).unwrap(), Tensor::number(number)];
        let got = plan.run(&inputs).unwrap();
        let along = |it: &Tensor| {
            let op = ops::find("cumsum").unwrap();
            crate::apply_one(op, std::slice::from_ref(it), &[Attr::Int(0)].into_iter().collect())
                .unwrap()
        };
        let want = along(&add(&along(&mul(&x, &x).unwrap()), &num(number)).unwrap());
        // Every third result stays, so that the next one lies somewhere else.
        kept.push((got, want));
        if run % 3 != 0 {
            kept.swap_remove(kept.len() / 2);
        }
        for (got, want) in &kept {
            assert_eq!(
                differs(&fetched(got.clone()), std::slice::from_ref(want)),
                None,
                "run {run}"
            );
        }
    }
    let n = plan.n_replayed().unwrap();
    assert!((4..48).contains(&n), "{n} runs by a recording");
}

#[test]
fn what_waits_or_sends_is_not_recorded() {
    let gpu = cuda::gpu(0).unwrap();
    let x = values(4, 0).moved_to(GPU).unwrap();
    let mut n = 0;
    let recorded = gpu.recorded(&gpu.pool(), 0, || {
        n += 1;
        x.to_vec::<f32>().map(|_| ())
    });
    assert!(recorded.unwrap().is_none());
    assert_eq!(n, 2);
    assert_eq!(mul(&x, &num(2.0)).unwrap().to_vec::<f32>().unwrap(), [0.0, 4.0, 8.0, 2.0]);
}

/// What an optimizer does, for tensors of all sizes, some of which begin at odd places; each is computed just before. One launch does not
/// take all of them.
#[test]
fn the_same_for_many_tensors_is_one_launch() {
    let mut sizes = vec![2, 3, 4, 16, 1000, 4096, 5001, 20_000];
    sizes.extend([5; 140]);
    let mut graph = Graph::new();
    let rate = graph.input(DType::F32, Layout::contiguous(Shape::from([1])));
    let number = graph.fed(DType::F64);
    let along: Attrs = [Attr::Int(0)].into_iter().collect();
    let mut all = Vec::new();
    for &n in &sizes {
        let x = graph.input(DType::F32, Layout::contiguous(Shape::from([n])));
        let mut apply =
            |op: &'static crate::OpDef, inputs: &[crate::graph::Value], attrs: &Attrs| {
                graph.apply_one(op, inputs, attrs).unwrap()
            };
        let plain = Attrs::new();
        let slope = apply(ops::find("cumsum").unwrap(), &[x], &along);
        let step = apply(&ops::binary::mul::OP, &[slope, rate], &plain);
        let moved = apply(&ops::binary::add::OP, &[x, step], &plain);
        let scaled = apply(&ops::binary::mul::OP, &[moved, number], &plain);
        graph.outputs.push(moved);
        all.push(scaled);
    }
    // Who reads the results comes behind.
    let together = graph.apply_one(ops::find("cat").unwrap(), &all, &along).unwrap();
    graph.outputs.push(together);
    // So few ones that all sums are exact.
    let sparse = |n: usize| {
        let (odd, whole) = (n % 2, n + n % 2);
        let values: Vec<f32> = (0..whole).map(|it| f32::from(u8::from(it % 512 == 1))).collect();
        let all = Tensor::from_vec(&values, Shape::from([whole])).unwrap();
        all.with_layout(Layout { offset: odd, ..Layout::contiguous(Shape::from([n])) })
    };
    let numbers = [values(1, 2), Tensor::number(0.5)];
    let inputs: Vec<Tensor> =
        numbers.into_iter().chain(sizes.iter().map(|&it| sparse(it))).collect();
    let want = op_by_op::run(&graph, &inputs).unwrap();
    let plan = plan(graph).unwrap();
    assert_eq!(plan.n_launches(), sizes.len() + 4, "{plan}");
    let sent = |it: &Tensor| match it.as_number() {
        Some(_) => it.clone(),
        // As it lies.
        None => ops::tests::sent(it),
    };
    let inputs: Vec<Tensor> = inputs.iter().map(sent).collect();
    let mut kept = Vec::new();
    for run in 0..12 {
        let got = plan.run(&inputs).unwrap();
        assert_eq!(differs(&fetched(got.clone()), &want), None, "run {run}");
        // Results lie somewhere else all the time, so recordings copy them.
        kept.push(got);
    }
    assert!(plan.n_replayed().unwrap() > 0);
}

/// An input in main memory whose elements do not lie side by side is sent as it lies.
#[test]
fn inputs_in_main_memory_are_sent_as_they_lie() {
    let whole = values(12, 1);
    let column = Layout { shape: Shape::from([4]), strides: [3].into_iter().collect(), offset: 1 };
    let x = whole.with_layout(column.clone());
    let mut graph = Graph::new();
    let input = graph.input(DType::F32, Layout { offset: 0, ..column });
    let double = graph.apply_one(&ops::binary::add::OP, &[input, input], &Attrs::new()).unwrap();
    graph.outputs.push(double);
    let got = plan(graph).unwrap().run(std::slice::from_ref(&x)).unwrap();
    let want = add(&x, &x).unwrap().to_f64_vec().unwrap();
    assert_eq!(fetched(got)[0].to_f64_vec().unwrap(), want);
}

/// A part of one complex number is seen where a copy of the number lies, which has no dimension.
#[test]
fn one_complex_number_is_copied_for_a_part_of_it() {
    let mut graph = Graph::new();
    let x = graph.input(DType::C64, Layout::contiguous(Shape::from([3])));
    let attrs = |all: &[i64]| all.iter().map(|&it| Attr::Int(it)).collect::<Attrs>();
    let one = graph.apply_one(ops::find("select").unwrap(), &[x], &attrs(&[0, 1])).unwrap();
    let part = graph.apply_one(&ops::complex::part::OP, &[one], &attrs(&[1])).unwrap();
    let half = graph.number(Number::Float(0.5));
    let moved = graph.apply_one(&ops::binary::add::OP, &[part, half], &Attrs::new()).unwrap();
    graph.outputs.push(moved);
    let turned = Tensor::from_number(Number::Complex(0.0, 2.0));
    let values = Tensor::from_vec(&[1.0_f32, 2.0, 3.0], Shape::from([3])).unwrap();
    let x = mul(&values, &turned).unwrap();
    let got = plan(graph).unwrap().run(&[x.moved_to(GPU).unwrap()]).unwrap();
    assert_eq!(fetched(got)[0].to_f64_vec().unwrap(), [4.5]);
}

/// Launches of one program that need each other, by way of others.
#[test]
fn launches_that_need_each_other_stay_in_order() {
    let mut graph = Graph::new();
    let along: Attrs = [Attr::Int(0)].into_iter().collect();
    for n in [3, 5, 8, 2, 6] {
        let mut x = graph.input(DType::F32, Layout::contiguous(Shape::from([n])));
        for _ in 0..4 {
            let op = |it| ops::find(it).unwrap();
            x = graph.apply_one(op("tanh"), &[x], &Attrs::new()).unwrap();
            x = graph.apply_one(op("cumsum"), &[x], &along).unwrap();
        }
        graph.outputs.push(x);
    }
    let inputs: Vec<Tensor> = [3, 5, 8, 2, 6].map(|n| values(n, n)).into();
    let want = op_by_op::run(&graph, &inputs).unwrap();
    let plan = plan(graph).unwrap();
    assert!(plan.to_string().contains("tanh x5]"), "{plan}");
    let inputs: Vec<Tensor> = inputs.iter().map(|it| it.moved_to(GPU).unwrap()).collect();
    for run in 0..6 {
        assert_eq!(differs(&fetched(plan.run(&inputs).unwrap()), &want), None, "run {run}");
    }
}

#[test]
fn a_gpu_that_is_not_there_has_no_plans() {
    let text = "graph(%0: f32[2]) { %1 = exp(%0) : f32[2] return %1 }";
    let mut graph = crate::graph::parse::parse(text, &[]).unwrap();
    graph.device = Device::Cuda(40);
    assert!(matches!(compile(&graph, true), Err(Error::NoGpu { index: 40, .. })));
}

/// Each turn of a loop and each branch is a plan of its own, whose launches are recorded.
#[test]
fn plans_run_branches_and_loops() {
    let [step, test] = ["%2 = mul(%0, %1) : f32[2] %3 = cumsum(%2; dim=0) : f32[2] %4 = add(%3, 1) : f32[2] return %4", "%2 = sum(%0; dim=[], keepdim=false) : f32[] %3 = lt(%2, 100) : bool[] return %3"]
        .map(|it| format!("graph(%0: f32[2], %1: f32[2]) {{ {it} }}"));
    let text = format!(
        "graph(%0: f32[2], %1: f32[2], %2: bool[]) {{ \
         %3 = exp(%0) : f32[2] \
         %4 = while_loop(%3, %1; condition={test}, body={step}, n_state=1) : f32[2] \
         %5 = cond(%2, %4; then=graph(%0: f32[2]) {{ %1 = neg(%0) : f32[2] return %1 }}, orelse=graph(%0: f32[2]) {{ return %0 }}) : f32[2] \
         %6 = add(%5, %1) : f32[2] return %6 }}"
    );
    let graph = crate::region::parse(&text, &[]).unwrap();
    let plan = plan(graph.clone()).unwrap();
    for run in 0..12 {
        let truth = gt(&Tensor::number((run % 3) as f64), &Tensor::number(0.0)).unwrap();
        let inputs = [values(2, run), values(2, run + 1), truth];
        let want = op_by_op::run(&graph, &inputs).unwrap();
        let inputs: Vec<Tensor> = inputs.iter().map(|it| it.moved_to(GPU).unwrap()).collect();
        let got = plan.run(&inputs).unwrap();
        assert_eq!(got[0].device(), GPU);
        assert_eq!(differs(&fetched(got), &want), None, "run {run}");
    }
}

/// Without index tensors all of the operand is one row; what the row numbers held before was read then.
#[test]
fn an_index_of_nothing_takes_all() {
    let x = values(6, 1).moved_to(GPU).unwrap();
    let index = |x: &Tensor| {
        crate::apply_one(ops::find("index").unwrap(), std::slice::from_ref(x), &Attrs::new())
    };
    assert_eq!(index(&x).unwrap().to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
}

/// Batch norm with what follows on it, elements and channels that are loaded together or not.
#[test]
fn programs_follow_on_kernels() {
    for (dtype, shape) in [
        (DType::F32, [3, 4, 16]),
        (DType::BF16, [3, 4, 16]),
        (DType::F16, [2, 3, 49]),
        (DType::F64, [2, 5, 6]),
        (DType::F32, [40, 3, 1]),
    ] {
        for keeps in [false, true] {
            let mut graph = Graph::new();
            let input = |graph: &mut Graph, shape: &[usize]| {
                graph.input(dtype, Layout::contiguous(Shape::new(shape)))
            };
            let [x, other] = [(); 2].map(|()| input(&mut graph, &shape));
            let [weight, bias] = [(); 2].map(|()| input(&mut graph, &shape[1..2]));
            let scale = graph.fed(DType::F64);
            let op = |name: &str| ops::find(name).unwrap();
            let eps: Attrs = [Attr::Float(1e-5)].into_iter().collect();
            let node = graph.apply(op("native_batch_norm"), &[x, weight, bias], &eps).unwrap();
            let y = crate::graph::Value { node, output: 0 };
            let mut apply = |name: &str, inputs: &[crate::graph::Value]| {
                graph.apply_one(op(name), inputs, &Attrs::new()).unwrap()
            };
            let scaled = apply("mul", &[y, scale]);
            let sum = apply("add", &[scaled, other]);
            let positive = apply("relu", &[sum]);
            let is_one = apply("gt", &[positive, scale]);
            graph.outputs = vec![positive, is_one, crate::graph::Value { node, output: 1 }];
            graph.outputs.extend(keeps.then_some(y));
            graph.device = GPU;
            let drawn = |seed: usize, n: usize| {
                let x = values(n, seed).with_layout(Layout::contiguous(Shape::from([n])));
                crate::functional::to(&x, dtype).unwrap()
            };
            let shaped = |seed, shape: &[usize]| {
                let x = drawn(seed, shape.iter().product());
                crate::functional::reshape(&x, &Shape::new(shape)).unwrap().moved_to(GPU).unwrap()
            };
            let inputs = [
                shaped(1, &shape),
                shaped(2, &shape),
                shaped(3, &shape[1..2]),
                shaped(4, &shape[1..2]),
                Tensor::number(0.75),
            ];
            let want = fetched(op_by_op::run(&graph, &inputs).unwrap());
            let plan = plan(graph).unwrap();
            let text = plan.to_string();
            assert!(text.contains("native_batch_norm, then [mul add relu gt]"), "{text}");
            for run in 0..6 {
                let got = fetched(plan.run(&inputs).unwrap());
                for (got, want) in got.iter().zip(&want) {
                    assert_eq!(got.dtype(), want.dtype());
                    let bits = |it: &Tensor| {
                        it.to_f64_vec().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>()
                    };
                    assert_eq!(bits(got), bits(want), "{dtype} {shape:?} run {run}");
                }
            }
        }
    }
}
