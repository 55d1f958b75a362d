//! Copies that kernels keep beside weights: what is computed with them, and that they go with the weights. What is counted is of the whole
//! process, so this is one test.

use std::rc::Rc;

use engine::cpu::packs::kept_bytes;
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
fn kept_copies_give_the_same_bits_and_go_with_the_weights() {
    let inputs = [sample(&[64, 200], 1), sample(&[2, 32, 14, 14], 2)];
    let weights = [sample(&[160, 200], 3), sample(&[160, 90], 4), sample(&[40, 32, 3, 3], 5)];
    let before = kept_bytes();
    let want = eager(&inputs, &weights);
    assert_eq!(kept_bytes(), before, "what is used once is not kept");
    let graph = parse(GRAPH, &weights).expect("a graph");

    let live = engine::cpu::memory::HOST.stats().live;
    let plan = lower::compile(&graph, true).expect("a plan");
    same(&plan.run(&inputs).expect("a run"), &want);
    let one = kept_bytes() - before;
    let packed = 4 * (160 * 200 + 160 * 90 + 40 * 32 * 9);
    assert!(one >= packed, "{one} bytes are kept of {packed}");
    let counted = engine::cpu::memory::HOST.stats().live - live;
    assert!(counted >= one, "{counted} bytes are counted of {one}");
    let second = lower::compile(&graph, true).expect("a plan");
    for plan in [&plan, &second] {
        same(&plan.run(&inputs).expect("a run"), &want);
    }
    same(&eager(&inputs, &weights), &want);
    assert_eq!(kept_bytes() - before, one, "one copy for all who read these weights");
    drop((plan, second));

    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("model.ngm");
    let names = |all: [&str; 2]| all.map(String::from);
    let model = Model::new(graph, &names(["x", "image"]), &names(["y", "z"])).expect("a model");
    model.write(&path).expect("a file");
    drop((model, weights));
    assert_eq!(kept_bytes(), before, "they go with the weights");
    let model = Model::read(&path).expect("a model");
    same(&model.run(&inputs).expect("a run"), &want);
    assert_eq!(kept_bytes() - before, one);
    let plan: Rc<lower::Plan> = model.plan().expect("a plan");
    drop(model);
    assert_eq!(kept_bytes() - before, one, "the plan is held");
    drop(plan);
    assert_eq!(kept_bytes(), before);

    let weights = [sample(&[160, 200], 3), sample(&[160, 90], 4), sample(&[40, 32, 3, 3], 5)];
    let weights = weights.map(|it| it.leaf());
    let traced = Traced::new(Options::default());
    for _ in 0..4 {
        let call = traced.begin(&inputs).expect("a call");
        let args = [call.args()[0].clone(), call.args()[1].clone()];
        let done = call.finish(&eager(&args, &weights)).expect("results");
        same(&done.results, &want);
    }
    assert_eq!(kept_bytes() - before, one, "weights that a plan reads as its inputs");
    drop((traced, weights));
    assert_eq!(kept_bytes(), before);
}
