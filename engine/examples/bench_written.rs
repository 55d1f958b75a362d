//! Times lane programs of several steps: nanoseconds an element, the least of many runs on one thread. Not a test.
//!
//! `cargo run --release -p engine --example bench_written [NAME]`; `NOTEGRAD_JIT=0` is the tile machine, `NOTEGRAD_JIT=1` code of their own,
//! with `NOTEGRAD_JIT_BITS=256` by vectors of 256 bits.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use std::time::Instant;

use engine::cpu::alloc::Bytes;
use engine::cpu::view::{OutView, View};
use engine::lane::{Program, Ref, Source, Step, build, run};
use engine::{DType, Number, Shape, Tensor, ops};

/// Elements of each operand.
const SIZES: [usize; 5] = [1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24];

/// Steps by the names of ops, on inputs (`x`, `y`, `z`, `w`), a number (`n`), and earlier results (`0` is the first step's); after `->` what
/// is kept. Inputs are of this dtype.
const CASES: [(&str, DType, &str); 19] = [
    ("2 cheap", DType::F32, "add x y; mul 0 z -> 1"),
    ("3 cheap", DType::F32, "add x y; mul 0 z; maximum 1 x -> 2"),
    ("5 cheap", DType::F32, "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x -> 4"),
    (
        "10 cheap",
        DType::F32,
        "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x; add 4 n; abs 5; minimum 6 z; mul 7 n; add 8 x -> 9",
    ),
    (
        "20 cheap",
        DType::F32,
        "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x; add 4 n; abs 5; minimum 6 z; mul 7 n; add 8 x; \
         add 9 y; mul 10 z; maximum 11 x; sub 12 y; mul 13 x; add 14 n; abs 15; minimum 16 z; mul 17 n; add 18 x -> 19",
    ),
    ("sgd", DType::F32, "mul y n; sub x 0 -> 1"),
    ("momentum", DType::F32, "mul z n; add 0 y; mul 1 n; sub x 2 -> 3 1"),
    (
        "adam",
        DType::F32,
        "mul z n; mul y n; add 0 1; mul w n; square y; mul 4 n; add 3 5; sqrt 6; div 7 n; add 8 n; div 2 9; mul 10 n; sub x 11 -> 12 2 6",
    ),
    ("batch norm", DType::F32, "sub x y; mul 0 z; mul 1 w; add 2 y -> 3"),
    ("relu grad", DType::F32, "gt x n; where 0 y z -> 1"),
    ("exp(x - max)", DType::F32, "sub x n; exp 0 -> 1"),
    ("tanh, mul, add", DType::F32, "tanh x; mul 0 y; add 1 z -> 2"),
    ("chain", DType::F32, "mul x n; add 0 n; tanh 1; sigmoid y; mul 2 3; add 4 z -> 5"),
    ("gelu", DType::F32, "gelu x -> 0"),
    ("silu, log1p", DType::F32, "silu x; square 0; log1p 1 -> 2"),
    ("5 cheap, f16", DType::F16, "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x -> 4"),
    ("5 cheap, bf16", DType::BF16, "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x -> 4"),
    ("5 cheap, f64", DType::F64, "add x y; mul 0 z; maximum 1 x; sub 2 y; mul 3 x -> 4"),
    ("exp, add, f64", DType::F64, "exp x; add 0 y -> 1"),
];

fn main() {
    engine::cpu::pool::set_threads(1);
    let only = std::env::args().nth(1);
    println!("{:16}{}", "", SIZES.map(|it| format!("{it:>10}")).concat());
    for (name, dtype, text) in CASES {
        if only.as_ref().is_none_or(|it| name.contains(it.as_str())) {
            let program = program(dtype, text);
            let times = SIZES.map(|it| format!("{:10.4}", time(&program, dtype, it)));
            println!("{name:16}{}", times.concat());
        }
    }
}

/// The program of a text; inputs 0 to 3 are tensors and input 4 is the number.
fn program(dtype: DType, text: &str) -> Program {
    let (steps, kept) = text.split_once(" -> ").unwrap();
    let inputs = [dtype, dtype, dtype, dtype, DType::F64];
    let mut kinds: Vec<Tensor> = (0..4)
        .map(|_| Tensor::from_converted(&[0.5; 2], Shape::from([2]), dtype).unwrap())
        .collect();
    kinds.push(Tensor::number(0.5));
    let operand = |it: &str| match "xyzwn".find(it) {
        Some(input) => Ref::Input(input),
        None => Ref::Step(it.parse().unwrap()),
    };
    let mut res: Vec<Step> = Vec::new();
    for step in steps.split("; ") {
        let mut words = step.split_whitespace();
        let op = ops::find(words.next().unwrap()).unwrap();
        let refs: Vec<Ref> = words.map(operand).collect();
        let tensors: Vec<Tensor> = refs
            .iter()
            .map(|it| match it {
                Ref::Input(input) => kinds[*input].clone(),
                Ref::Step(step) => kinds[5 + step].clone(),
            })
            .collect();
        let step = Step::new(op, &op.default_attrs(), &refs, &tensors).unwrap();
        kinds.push(Tensor::from_converted(&[0.5; 2], Shape::from([2]), step.out).unwrap());
        res.push(step);
    }
    let kept: Vec<Ref> = kept.split_whitespace().map(operand).collect();
    build(&inputs, &res, &kept).unwrap()
}

/// Nanoseconds an element.
fn time(program: &Program, dtype: DType, n: usize) -> f64 {
    let shape = Shape::from([n]);
    let values: Vec<f64> = (0..n).map(|it| (it % 1000) as f64 * 0.004 + 0.1).collect();
    let inputs = [0; 4].map(|_| Tensor::from_converted(&values, shape.clone(), dtype).unwrap());
    let held = inputs.each_ref().map(|it| it.storage().unwrap());
    let mut buffers: Vec<Bytes> =
        program.outputs().iter().map(|it| Bytes::zeroed(n * it.size()).unwrap()).collect();
    let mut once = || {
        let view = |at: usize| {
            View::new(held[at].host().unwrap(), inputs[at].layout(), dtype).map(Source::View)
        };
        let mut sources: Vec<Source<'_>> = (0..4).map(|it| view(it).unwrap()).collect();
        sources.push(Source::Number(Number::Float(0.9)));
        let mut outputs: Vec<OutView<'_>> = buffers
            .iter_mut()
            .zip(program.outputs())
            .map(|(it, dtype)| OutView::new(it, &shape, *dtype).unwrap())
            .collect();
        run(program, &sources, &mut outputs, &program.param_values()).unwrap();
    };
    let calls = ((1 << 18) / n).max(1);
    (0..4 * calls).for_each(|_| once());
    let sample = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| once());
        start.elapsed().as_nanos() as f64 / (calls * n) as f64
    };
    let samples = if n > 1 << 20 { 12 } else { 40 };
    (0..samples).map(sample).fold(f64::INFINITY, f64::min)
}
