//! Times of compiled plans: reductions, softmax and norms behind elementwise ops. Not a test: it prints the fastest of many runs.
//!
//! `cargo run --release -p engine --example bench_plans [RUNS] [NAME]`; with `UNFUSED=1` each op is a launch of its own.
#![allow(clippy::print_stdout, reason = "a program to be read")]

use std::time::Instant;

use engine::graph::parse::parse_compact;
use engine::rewrite::run::Log;
use engine::{DType, Meta, Result, Shape, Tensor, lower, passes};

/// Name, graph, and the shapes of its inputs.
const CASES: &[(&str, &str, &[&[usize]])] = &[
    ("softmax(x*s+m)", "(softmax (add (mul %0 0.125) %1) dim=1)", &[&[1024, 1024], &[1024, 1024]]),
    ("softmax(x*s+row)", "(softmax (add (mul %0 0.125) %1) dim=1)", &[&[1024, 1024], &[1024]]),
    ("log_softmax(x+row)", "(log_softmax (add %0 %1) dim=1)", &[&[4096, 64], &[64]]),
    ("softmax dim 0", "(softmax (mul %0 %1) dim=0)", &[&[1024, 1024], &[1024]]),
    ("(x*y).sum(-1)", "(sum (mul %0 %1) dim=[-1])", &[&[1024, 1024], &[1024, 1024]]),
    ("(x*y).sum(-1) narrow", "(sum (mul %0 %1) dim=[-1])", &[&[65536, 16], &[65536, 16]]),
    ("(x*y).sum(-1) small", "(sum (mul %0 %1) dim=[-1])", &[&[64, 64], &[64, 64]]),
    ("relu(x).sum(0)", "(sum (relu %0) dim=[0])", &[&[1024, 1024]]),
    ("relu(x).sum(0) narrow", "(sum (relu %0) dim=[0])", &[&[65536, 16]]),
    ("(x+row).sum(0)", "(sum (add %0 %1) dim=[0])", &[&[4096, 256], &[256]]),
    ("sum over 0 and 2", "(sum (mul %0 %1) dim=[0, 2])", &[&[32, 64, 512], &[32, 64, 512]]),
    ("((a-b)**2).mean()", "(mean (pow (sub %0 %1) 2))", &[&[1 << 20], &[1 << 20]]),
    ("exp(x).amax(1)", "(amax (exp %0) dim=[1])", &[&[1024, 1024]]),
    ("argmax(x+y)", "(argmax (add %0 %1) dim=1)", &[&[1024, 1024], &[1024, 1024]]),
    ("var(x+y)", "(var (add %0 %1) dim=[1])", &[&[1024, 1024], &[1024, 1024]]),
    ("logsumexp(x+y)", "(logsumexp (add %0 %1) dim=[1])", &[&[1024, 1024], &[1024, 1024]]),
    ("standardize(x+y)", "(standardize (add %0 %1) dim=[1])", &[&[1024, 1024], &[1024, 1024]]),
    (
        "x+y standardized, kept",
        "(add %0 %1) (standardize (add %0 %1) dim=[1])",
        &[&[1024, 1024], &[1024, 1024]],
    ),
    ("standardize 0", "(standardize (mul %0 2.0) dim=[0])", &[&[1024, 1024]]),
    ("any(x > y)", "(any (gt %0 %1))", &[&[1 << 20], &[1 << 20]]),
    ("count(x > 0)", "(sum (gt %0 0.0))", &[&[1 << 20]]),
    ("norm(x-y)", "(norm (sub %0 %1))", &[&[1 << 20], &[1 << 20]]),
    ("sin(x).sum()", "(sum (sin %0))", &[&[1 << 20]]),
    (
        "(x*y).sum(-1), kept",
        "(mul %0 %1) (sum (mul %0 %1) dim=[-1])",
        &[&[1024, 1024], &[1024, 1024]],
    ),
    ("(x*y).sum(-1), 64 MB", "(sum (mul %0 %1) dim=[-1])", &[&[4096, 4096], &[4096, 4096]]),
    (
        "softmax(x*s+m), 64 MB",
        "(softmax (add (mul %0 0.125) %1) dim=1)",
        &[&[4096, 4096], &[4096, 4096]],
    ),
    ("((a-b)*(a-b)).mean(), 64 MB", "(mean (square (sub %0 %1)))", &[&[1 << 24], &[1 << 24]]),
    (
        "softmax dim 0, long",
        "(softmax (add (mul %0 2.0) %1) dim=0)",
        &[&[4096, 1024], &[4096, 1024]],
    ),
    (
        "log_softmax dim 1 of 3",
        "(log_softmax (add (mul %0 2.0) %1) dim=1)",
        &[&[16, 512, 784], &[16, 512, 784]],
    ),
    (
        "logsumexp dim 0, long",
        "(logsumexp (add (mul %0 2.0) %1) dim=[0])",
        &[&[4096, 1024], &[4096, 1024]],
    ),
    (
        "batch norm 28",
        "(native_batch_norm (add (relu %0) %1))",
        &[&[32, 64, 28, 28], &[32, 64, 28, 28]],
    ),
    (
        "batch norm 14",
        "(native_batch_norm (add (relu %0) %1))",
        &[&[32, 256, 14, 14], &[32, 256, 14, 14]],
    ),
    (
        "batch norm 7",
        "(native_batch_norm (add (relu %0) %1))",
        &[&[32, 512, 7, 7], &[32, 512, 7, 7]],
    ),
    ("batch norm columns", "(native_batch_norm (add (relu %0) %1))", &[&[4096, 512], &[4096, 512]]),
    (
        "batch norm, kept",
        "(add (relu %0) %1) (native_batch_norm (add (relu %0) %1))",
        &[&[32, 64, 28, 28], &[32, 64, 28, 28]],
    ),
    (
        "batch norm 56, kept",
        "(add (relu %0) %1) (native_batch_norm (add (relu %0) %1))",
        &[&[16, 64, 56, 56], &[16, 64, 56, 56]],
    ),
    ("standardize 0, long", "(standardize (mul %0 %1) dim=[0])", &[&[4096, 1024], &[4096, 1024]]),
    ("var(x*y), long", "(var (mul %0 %1) dim=[1])", &[&[8, 1_000_000], &[8, 1_000_000]]),
    ("var(x*y), 2 dims", "(var (mul %0 %1) dim=[0, 2])", &[&[32, 64, 784], &[32, 64, 784]]),
    ("var(x*y) dim 0", "(var (mul %0 %1) dim=[0])", &[&[4096, 1024], &[4096, 1024]]),
    ("argmax(x*y), long", "(argmax (mul %0 %1) dim=1)", &[&[8, 1_000_000], &[8, 1_000_000]]),
    ("argmax(x*y) of all", "(argmax (mul %0 %1))", &[&[4096, 1024], &[4096, 1024]]),
    ("argmax(x*y) dim 0", "(argmax (mul %0 %1) dim=0)", &[&[4096, 1024], &[4096, 1024]]),
    ("argmax(x*y) dim 0, narrow", "(argmax (mul %0 %1) dim=0)", &[&[65536, 16], &[65536, 16]]),
    ("x.sum(-1)", "(sum %0 dim=[-1])", &[&[1024, 1024]]),
    ("softmax(x)", "(softmax %0 dim=1)", &[&[1024, 1024]]),
    ("x + row*s", "(add %0 (mul %1 (add %2 1.0)))", &[&[256, 256], &[256], &[]]),
    ("x * 1/(s+1)", "(mul %0 (div 1.0 (add (sqrt %1) 0.001)))", &[&[64, 64], &[]]),
];

fn sample(shape: &[usize], seed: usize) -> Result<Tensor> {
    let value = |at: usize| ((at * 7919 + seed * 31) % 997) as f32 / 331.0 - 1.5;
    Tensor::from_vec(
        &(0..shape.iter().product()).map(value).collect::<Vec<f32>>(),
        Shape::new(shape),
    )
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let n_runs: usize = args.next().and_then(|it| it.parse().ok()).unwrap_or(60);
    let only = args.next();
    for (name, text, shapes) in CASES {
        if only.as_ref().is_some_and(|it| it != name) {
            continue;
        }
        let metas: Vec<Meta> =
            shapes.iter().map(|it| Meta::new(Shape::new(it), DType::F32)).collect();
        let inputs =
            shapes.iter().enumerate().map(|(at, it)| sample(it, at)).collect::<Result<Vec<_>>>()?;
        let graph = passes::optimize(parse_compact(text, &metas)?, 3, &mut Log::default())?;
        let plan = lower::compile(&graph, std::env::var_os("UNFUSED").is_none())?;
        let mut best = f64::INFINITY;
        for _ in 0..n_runs {
            let clock = Instant::now();
            let res = plan.run(&inputs)?;
            best = best.min(clock.elapsed().as_secs_f64());
            drop(res);
        }
        println!("{name:24} {:9.1} us, {} launches", best * 1e6, plan.n_launches());
    }
    Ok(())
}
