//! Plans whose kernels keep copies of constant operands: what they compute, and that the copies go with them. The shelf is that of the
//! whole process, so this is one test.

use std::rc::Rc;

use engine::cpu::kept::HOST;
use engine::functional::linear;
use engine::graph::parse::parse;
use engine::model::Model;
use engine::trace::{Options, Traced};
use engine::{Attr, Attrs, Shape, Tensor, apply_one, lower, ops};

fn sample(shape: &[usize], seed: usize) -> Tensor {
    let value = |at: usize| ((at * 7919 + seed * 31) % 997) as f32 / 331.0 - 1.5;
    let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
    Tensor::from_vec(&values, Shape::new(shape)).expect("memory")
}

fn bits(it: &Tensor) -> Vec<u32> {
    it.to_vec::<f32>().expect("values").iter().map(|it| it.to_bits()).collect()
}

const GRAPH: &str = "graph(%0: f32[64, 200], %1: f32[2, 32, 14, 14]) {
  %2 = const(0) : f32[160, 200]
  %3 = linear(%0, %2) : f32[64, 160]
  %4 = const(1) : f32[160, 90]
  %5 = matmul(%3, %4) : f32[64, 90]
  %6 = const(2) : f32[40, 32, 3, 3]
  %7 = convolution(%1, %6; stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1) : f32[2, 40, 14, 14]
  return %5, %7
}
";

fn eager(inputs: &[Tensor; 2], weights: &[Tensor; 3]) -> [Tensor; 2] {
    let hidden = linear(&inputs[0], &weights[0], None).expect("a product");
    let find = |name: &str| ops::find(name).expect("a row");
    let product = apply_one(find("matmul"), &[hidden, weights[1].clone()], &Attrs::new());
    let pair = Attr::Ints(vec![1, 1].into());
    let attrs: Attrs = [pair.clone(), pair.clone(), pair, Attr::Int(1)].into_iter().collect();
    let image = [inputs[1].clone(), weights[2].clone()];
    let convolved = apply_one(find("convolution"), &image, &attrs);
    [product.expect("a product"), convolved.expect("a convolution")]
}

fn same(got: &[Tensor], want: &[Tensor; 2]) {
    assert_eq!(got.len(), 2);
    for (got, want) in got.iter().zip(want) {
        assert!(got.meta() == want.meta() && bits(got) == bits(want), "{}", want.meta());
    }
}

#[test]
fn kept_copies_give_the_same_bits_and_go_with_the_plan() {
    let inputs = [sample(&[64, 200], 1), sample(&[2, 32, 14, 14], 2)];
    let weights = [sample(&[160, 200], 3), sample(&[160, 90], 4), sample(&[40, 32, 3, 3], 5)];
    let want = eager(&inputs, &weights);
    let graph = parse(GRAPH, &weights).expect("a graph");
    let before = HOST.taken();

    let live = engine::cpu::memory::HOST.stats().live;
    let plan = lower::compile(&graph, true).expect("a plan");
    let one = HOST.taken() - before;
    let packed = 4 * (160 * 200 + 160 * 90 + 40 * 32 * 9);
    assert!(one >= packed, "{one} bytes are kept of {packed}");
    let counted = engine::cpu::memory::HOST.stats().live - live;
    assert!(counted >= one, "{counted} bytes are counted of {one}");
    for _ in 0..2 {
        same(&plan.run(&inputs).expect("a run"), &want);
    }
    let second = lower::compile(&graph, true).expect("a plan");
    assert_eq!(HOST.taken() - before, 2 * one);
    drop(plan);
    assert_eq!(HOST.taken() - before, one);
    same(&second.run(&inputs).expect("a run"), &want);
    drop(second);
    assert_eq!(HOST.taken(), before);

    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("model.ngm");
    let names = |all: [&str; 2]| all.map(String::from);
    let model = Model::new(graph, &names(["x", "image"]), &names(["y", "z"])).expect("a model");
    model.write(&path).expect("a file");
    drop(model);
    let model = Model::read(&path).expect("a model");
    same(&model.run(&inputs).expect("a run"), &want);
    assert_eq!(HOST.taken() - before, one);
    let plan: Rc<lower::Plan> = model.plan().expect("a plan");
    drop(model);
    assert_eq!(HOST.taken() - before, one, "the plan is held");
    drop(plan);
    assert_eq!(HOST.taken(), before);

    let traced = Traced::new(Options { capture_as_const: true, ..Options::default() });
    for _ in 0..4 {
        let call = traced.begin(&inputs).expect("a call");
        let args = [call.args()[0].clone(), call.args()[1].clone()];
        let done = call.finish(&eager(&args, &weights)).expect("results");
        same(&done.results, &want);
    }
    assert_eq!(HOST.taken() - before, one);
    drop(traced);
    assert_eq!(HOST.taken(), before);
}
