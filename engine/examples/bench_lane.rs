//! Times elementwise ops: one element through `apply_one`, and large tensors alone and fused.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use std::hint::black_box;
use std::time::Instant;

use engine::lane::{Ref, Source, Step, build, run};
use engine::{Attrs, OpDef, Shape, Tensor, apply_one, ops};

fn op(name: &str) -> &'static OpDef {
    ops::find(name).unwrap()
}

/// Nanoseconds per call: the best of several rounds.
fn time(calls: usize, mut body: impl FnMut()) -> f64 {
    body();
    (0..40)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| body());
            start.elapsed().as_nanos() as f64 / calls as f64
        })
        .fold(f64::INFINITY, f64::min)
}

fn ramp(n: usize) -> Tensor {
    let values: Vec<f32> = (0..n).map(|it| (it % 1000) as f32 * 0.008 - 4.0).collect();
    Tensor::from_vec(&values, Shape::from([n])).unwrap()
}

fn main() {
    let none = Attrs::new();
    let one = ramp(1);
    for name in ["add", "mul", "lt"] {
        let row = op(name);
        let inputs = [one.clone(), one.clone()];
        let ns = time(500, || drop(black_box(apply_one(row, &inputs, &none))));
        println!("{name:12} 1 element          {ns:8.1} ns");
    }
    let (mul, inputs) = (op("mul"), [one.clone(), Tensor::number(2.0)]);
    let ns = time(500, || drop(black_box(apply_one(mul, &inputs, &none))));
    println!("mul number   1 element          {ns:8.1} ns");
    if std::env::args().nth(1).as_deref() == Some("small") {
        return;
    }
    let threads: usize = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1);
    engine::cpu::pool::set_threads(threads);
    for n in [1 << 16, 1 << 20] {
        let (x, y) = (ramp(n), ramp(n));
        for name in [
            "add", "exp", "log", "tanh", "sigmoid", "erf", "sin", "gelu", "silu", "relu", "pow",
            "log1p",
        ] {
            let row = op(name);
            let attrs = row.default_attrs();
            let inputs =
                if row.n_tensors() == 2 { vec![x.clone(), y.clone()] } else { vec![x.clone()] };
            let ns = time(2, || drop(black_box(apply_one(row, &inputs, &attrs))));
            println!("{name:12} {n:8} elements  {:8.3} ns/element", ns / n as f64);
        }
        heavy(n, &x, &y);
    }
}

/// `tanh(a * x + b) * sigmoid(y) + z` as one program into a given buffer.
fn heavy(n: usize, x: &Tensor, y: &Tensor) {
    let none = Attrs::new();
    let two = [x.clone(), y.clone()];
    let step =
        |name: &str, refs: &[Ref]| Step::new(op(name), &none, refs, &two[..refs.len()]).unwrap();
    let steps = [
        step("mul", &[Ref::Input(0), Ref::Input(1)]),
        step("add", &[Ref::Step(0), Ref::Input(2)]),
        step("tanh", &[Ref::Step(1)]),
        step("sigmoid", &[Ref::Input(3)]),
        step("mul", &[Ref::Step(2), Ref::Step(3)]),
        step("add", &[Ref::Step(4), Ref::Input(4)]),
    ];
    let dtypes = [x.dtype(); 5];
    let program = build(&dtypes, &steps, &[Ref::Step(5)]).unwrap();
    let shape = Shape::from([n]);
    let mut bytes = engine::cpu::alloc::Bytes::uninit(n * 4).unwrap();
    let storage: Vec<_> = [x, x, y, y, x].iter().map(|it| it.storage().unwrap()).collect();
    let ns = time(2, || {
        let sources: Vec<Source<'_>> = storage
            .iter()
            .map(|it| {
                engine::cpu::view::View::new(it.host().unwrap(), x.layout(), x.dtype()).unwrap()
            })
            .map(Source::View)
            .collect();
        let out = engine::cpu::view::OutView::new(&mut bytes, &shape, x.dtype()).unwrap();
        run(&program, &sources, &mut [out], &[]).unwrap();
    });
    println!("heavy        {n:8} elements  {:8.3} ns/element", ns / n as f64);
}
