//! What the engine takes beside tensors is counted while it is used and nobody's afterwards. The counters are those of the whole
//! process, so this is one test.

use engine::cpu::memory::HOST;
use engine::functional::{add, linear, mul, num, reshape, sum, transpose, unsqueeze};
use engine::graph::parse::parse_compact;
use engine::lower::compile;
use engine::ops::find;
use engine::trace::{Options, Traced};
use engine::{Attr, Error, Shape, Tensor, apply_one};

const MB: usize = 1 << 20;

fn floats(shape: [usize; 2]) -> Tensor {
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|it| (it % 7) as f32).collect();
    Tensor::from_vec(&values, Shape::from(shape)).expect("memory")
}

/// The most that is in use during `run`, beyond what was there before.
fn peak(run: impl FnOnce()) -> usize {
    HOST.reset_peak();
    let before = HOST.stats().live;
    run();
    HOST.stats().peak - before
}

/// A plan with 16 MB of values between its launches, products that pack their operands, and a convolution.
fn work() {
    let x = floats([1024, 1024]);
    let function = Traced::new(Options::default());
    for _ in 0..3 {
        let call = function.begin(std::slice::from_ref(&x)).expect("a call");
        let x = call.args()[0].clone();
        let y = linear(&x, &linear(&x, &x, None).expect("a product"), None).expect("a product");
        let z = sum(&add(&mul(&y, &y).expect("a sum"), &y).expect("a sum"), &[1], false);
        call.finish(&[z.expect("a sum")]).expect("a plan");
    }
    let image = Tensor::from_vec(&vec![1.0_f32; 64 * 32 * 32], Shape::from([1, 64, 32, 32]));
    let weight = Tensor::from_vec(&vec![1.0_f32; 64 * 64 * 9], Shape::from([64, 64, 3, 3]));
    let conv = find("conv2d").expect("a row");
    let inputs = [image.expect("memory"), weight.expect("memory")];
    apply_one(conv, &inputs, &conv.default_attrs()).expect("a convolution");
}

#[test]
fn memory_beside_tensors_is_counted_and_given_back() {
    drop(num(0.0));
    let before = HOST.stats().live;
    work();
    assert!(HOST.stats().live <= before + MB, "{} bytes, then {:?}", before, HOST.stats());
    assert!(HOST.stats().cached > 16 * MB);
    HOST.trim();
    assert!(HOST.stats().cached <= MB, "{:?}", HOST.stats());

    // The kernel reads lines, and copies all 64 MB of what lies turned.
    let wide = floats([4096, 4096]);
    let turned = transpose(&wide, 0, 1).and_then(|it| unsqueeze(&it, 0)).expect("a view");
    let pool = find("adaptive_avg_pool2d").expect("a row");
    let attrs = [Attr::ints(&[64, 64])].into_iter().collect();
    let means = || apply_one(pool, std::slice::from_ref(&turned), &attrs);
    assert!(peak(|| drop(means().expect("means"))) > 60 * MB);
    // Positions are read as int64: a converted copy of 128 MB.
    let whole = apply_one(
        find("to").expect("a row"),
        std::slice::from_ref(&wide),
        &[Attr::DType(engine::DType::I32)].into_iter().collect(),
    );
    let (whole, bins) = (whole.expect("numbers"), find("bincount").expect("a row"));
    let flat = reshape(&whole, &Shape::from([4096 * 4096])).expect("a view");
    let count = || apply_one(bins, std::slice::from_ref(&flat), &bins.default_attrs());
    assert!(peak(|| drop(count().expect("counts"))) > 120 * MB);

    HOST.set_budget(HOST.stats().live + 8 * MB);
    let refused = means().map(drop);
    HOST.set_budget(0);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { bytes, .. }) if bytes == 64 * MB),
        "{refused:?}"
    );
    let fine = means().expect("means").to_vec::<f32>().expect("values");
    assert_eq!(fine.len(), 4096);
    // Lines that a prologue makes are a buffer as well: 256 KB for each thread, beside the result.
    let graph = parse_compact("(softmax (neg %0) dim=1)", &[lines().meta()]).expect("a graph");
    let plan = compile(&graph, true).expect("a plan");
    assert_eq!(plan.n_launches(), 1);
    let inputs = [lines()];
    drop(plan.run(&inputs).expect("a run"));
    HOST.trim();
    let before = HOST.stats().live;
    // The result takes 16 MB.
    HOST.set_budget(before + 16 * MB + 1000);
    let refused = plan.run(&inputs).map(drop);
    HOST.set_budget(0);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { bytes, .. }) if bytes > 200_000),
        "{refused:?}"
    );
    assert!(HOST.stats().live <= before + MB, "{before} bytes, then {:?}", HOST.stats());
    assert_eq!(plan.run(&inputs).expect("a run").len(), 1);
}

fn lines() -> Tensor {
    floats([64, 65_536])
}
