//! Speed of the CPU kernels, in GFLOP/s of the plain sum. Each line is one shape with every usable algorithm.
//!
//! `cargo run --release -p engine --example bench_kernels [gemm|conv|fold|alloc] [threads]`

#![allow(clippy::print_stdout)]

use std::time::Instant;

use engine::cpu::conv::{self, ConvPass, ConvProblem};
use engine::cpu::gemm::{self, Epilogue, GemmProblem};
use engine::cpu::lane::{Part, Pieces};
use engine::cpu::order::Lines;
use engine::cpu::softmax::{self, Form};
use engine::cpu::{Bytes, extremes, pool, reduce, scan, variances};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let threads = std::env::args().nth(2).and_then(|text| text.parse().ok());
    pool::set_threads(threads.unwrap_or(0));
    if matches!(what.as_str(), "" | "gemm") {
        gemms();
    }
    if matches!(what.as_str(), "" | "conv") {
        convs();
    }
    if matches!(what.as_str(), "" | "fold") {
        folds();
    }
    if matches!(what.as_str(), "" | "alloc") {
        allocations();
    }
}

/// The shortest time of one call, in seconds; short calls are timed in runs.
fn time(mut f: impl FnMut()) -> f64 {
    f();
    let start = Instant::now();
    f();
    let once = start.elapsed().as_secs_f64().max(1e-9);
    let run = (2e-4 / once).clamp(1.0, 1e5) as usize;
    let samples = (0.15 / (once * run as f64)).clamp(3.0, 300.0) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..samples {
        let start = Instant::now();
        (0..run).for_each(|_| f());
        best = best.min(start.elapsed().as_secs_f64() / run as f64);
    }
    best
}

fn gemms() {
    let shapes = [
        (8, 8, 8),
        (32, 32, 32),
        (8, 128, 64),
        (64, 10, 128),
        (64, 128, 784),
        (128, 128, 64),
        (1, 4096, 4096),
        (256, 256, 256),
        (512, 512, 512),
        (1024, 1024, 1024),
        (2048, 2048, 2048),
        (64, 3136, 576),
        (3136, 64, 576),
    ];
    for (m, n, k) in shapes {
        let p = GemmProblem::contiguous::<f32>(m, n, k);
        for (layout, p) in [("nn", p), ("nt", p.with_b_transposed()), ("tn", p.with_a_transposed())]
        {
            let (a, b) = (vec![1.0f32; m * k], vec![1.0f32; k * n]);
            let mut c = vec![0.0f32; m * n];
            print!("{m}x{n}x{k} {layout}:");
            for algo in gemm::ALL.iter().filter(|algo| !algo.naive && (algo.usable)(&p)) {
                let seconds = time(|| gemm::run(algo, &p, &a, &b, &mut c, Epilogue::NONE));
                let mark = if std::ptr::eq(*algo, gemm::heuristic(&p)) { "*" } else { "" };
                let speed = p.flops() as f64 / seconds / 1e9;
                print!("  {mark}{} {speed:.0} ({:.2} us)", algo.name, seconds * 1e6);
            }
            println!();
        }
    }
}

fn convs() {
    // Batch, channels in and out, size of the image, kernel, stride, padding.
    let shapes = [
        (64, 1, 8, 8, 3, 1, 1),
        (64, 8, 16, 8, 3, 1, 1),
        (64, 16, 32, 28, 3, 1, 1),
        (64, 1, 6, 28, 5, 1, 0),
        (1, 64, 64, 56, 3, 1, 1),
        (1, 128, 128, 28, 3, 1, 1),
        (1, 256, 256, 14, 3, 1, 1),
        (1, 512, 512, 7, 3, 1, 1),
        (8, 64, 64, 56, 3, 1, 1),
        (1, 128, 128, 56, 3, 2, 1),
        (1, 3, 64, 224, 7, 2, 3),
        (1, 256, 64, 56, 1, 1, 0),
    ];
    for (batch, c, k, size, kernel, stride, padding) in shapes {
        let p = ConvProblem::new::<f32>([batch, c, size, size], [k, c, kernel, kernel]);
        let p = ConvProblem { stride: [stride; 2], padding: [padding; 2], ..p };
        for pass in [ConvPass::Forward, ConvPass::InputGrad, ConvPass::WeightGrad] {
            let p = ConvProblem { pass, ..p };
            let [x, w, y] = p.lens();
            let (lhs, rhs, out) = match pass {
                ConvPass::Forward => (x, w, y),
                ConvPass::InputGrad => (y, w, x),
                ConvPass::WeightGrad => (x, y, w),
            };
            let (lhs, rhs, mut out) = (vec![1.0f32; lhs], vec![1.0f32; rhs], vec![0.0f32; out]);
            print!("{batch}x{c}x{size} {kernel}x{kernel}/{stride} -> {k} {pass:?}:");
            for algo in conv::ALL.iter().filter(|algo| !algo.naive && (algo.usable)(&p)) {
                let seconds =
                    time(|| conv::run(algo, &p, &lhs, &rhs, &mut out, &conv::Epilogue::NONE));
                let mark = if std::ptr::eq(*algo, conv::heuristic(&p)) { "*" } else { "" };
                let speed = p.flops() as f64 / seconds / 1e9;
                print!("  {mark}{} {speed:.0} ({:.1} us)", algo.name, seconds * 1e6);
            }
            println!();
        }
    }
}

/// Elements per second of what goes along one axis of `[outer, n, inner]`.
fn folds() {
    let shapes = [
        (1, 1 << 22, 1),
        (1 << 12, 1 << 10, 1),
        (1, 1 << 12, 1 << 10),
        (64, 1 << 10, 64),
        (1 << 19, 8, 1),
    ];
    for (outer, n, inner) in shapes {
        let x: Vec<f32> = (0..outer * n * inner).map(|it| (it % 17) as f32).collect();
        let (mut out, mut y) = (vec![0.0_f32; outer * inner], vec![0.0_f32; x.len()]);
        let mut places = vec![0_i64; outer * inner];
        print!("[{outer}, {n}, {inner}]:");
        let row = |name: &str, f: &mut dyn FnMut()| {
            print!("  {name} {:.2} G/s", (outer * n * inner) as f64 / time(f) / 1e9);
        };
        let pieces = Pieces::from(&x[..]);
        row("sum", &mut || {
            reduce::fold(reduce::Sum, &pieces, (n, inner), &mut out, |it| it as f32, Part::NONE)
        });
        row("max", &mut || {
            reduce::fold(reduce::Max, &pieces, (n, inner), &mut out, |it| it, Part::NONE)
        });
        row("argmax", &mut || {
            extremes::best(true, &pieces, (n, inner), &mut out, &mut places, Part::NONE)
        });
        row("variance", &mut || {
            variances::squares(&pieces, (n, inner), &mut out, &|it| it as f32, Part::NONE)
        });
        row("softmax", &mut || {
            softmax::softmax(Form::Plain, &pieces, (n, inner), &mut y, Part::NONE)
        });
        row("cumsum", &mut || scan::float_scan(&x, (n, inner), &mut y, 0.0, |sum, x| sum + x));
        println!();
    }
    let x: Vec<f32> = (0..1 << 20).map(|it| ((it * 7919) % 1_000_003) as f32).collect();
    let mut places = vec![0_i64; x.len()];
    let lines = Lines { n: x.len(), inner: 1, k: x.len(), descending: false };
    println!("sort of 2^20: {:.1} ms", time(|| lines.places(&x, &mut places)) * 1e3);
}

fn allocations() {
    for len in [64, 256, 4096, 1 << 20, 16 << 20] {
        let seconds = time(|| drop(Bytes::uninit(len)));
        println!("{len} bytes: {:.1} ns", seconds * 1e9);
    }
    let seconds = time(|| pool::for_each_chunk(8, &|_| {}));
    println!("empty job: {:.0} ns", seconds * 1e9);
}
