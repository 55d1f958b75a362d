//! Machine code that is written for programs, against the tile machine: all rows, derivatives and groups, and every way in which operands lie.

use super::cases::{self, difference, on_tile_machine};
use super::program::{Program, build};
use super::{Ref, Source, Step, run, source};
use crate::cpu::alloc::Bytes;
use crate::cpu::view::OutView;
use crate::cpu::{Isa, isa, typed};
use crate::{Attrs, DType, Meta, Number, Shape, Tensor, functional, ops};

/// Whether code is written for this machine at all.
fn is_written_here() -> bool {
    cfg!(target_arch = "x86_64") && isa() > Isa::Portable
}

#[test]
fn written_code_gives_the_bits_of_the_tile_machine() {
    let mut cases = cases::rows();
    cases.extend(cases::gradients());
    cases.extend(cases::groups());
    let mut problems = Vec::new();
    let (mut n_written, mut n_left) = (0, 0);
    for case in &mut cases {
        case.program.write_at_once();
        let (got, _) = cases::run(case);
        let (written, left) = case.program.code().n_forms();
        n_written += written;
        n_left += left;
        let (want, _) = on_tile_machine(case);
        let outputs = got.iter().zip(&want).zip(case.program.outputs());
        let found = outputs.filter_map(|((got, want), dtype)| difference(got, want, *dtype));
        problems.extend(found.map(|it| format!("{}: {it}", case.title)));
    }
    println!("{} programs: {n_written} written, {n_left} that could not be", cases.len());
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
    assert!(n_written > 100 || !is_written_here(), "only {n_written} were written");
}

/// `max(((x * row + column) * one - number), x)` and what is in the brackets.
fn layered() -> Program {
    let f32 = DType::F32;
    let dtypes = [f32, f32, f32, f32, DType::F64];
    let stand_in = |dtype| Tensor::abstract_of(Meta::new(Shape::from([4]), dtype));
    let number = Tensor::number(0.5);
    let step = |name: &str, refs: [Ref; 2]| {
        let kind = |it: &Ref| if *it == Ref::Input(4) { number.clone() } else { stand_in(f32) };
        let tensors: Vec<Tensor> = refs.iter().map(kind).collect();
        Step::new(ops::find(name).unwrap(), &Attrs::new(), &refs, &tensors).unwrap()
    };
    let steps = [
        step("mul", [Ref::Input(0), Ref::Input(1)]),
        step("add", [Ref::Step(0), Ref::Input(2)]),
        step("mul", [Ref::Step(1), Ref::Input(3)]),
        step("sub", [Ref::Step(2), Ref::Input(4)]),
        step("maximum", [Ref::Step(3), Ref::Input(0)]),
    ];
    build(&dtypes, &steps, &[Ref::Step(4), Ref::Step(3)]).unwrap()
}

/// Runs it on these; where `x` is `None` on what the first output holds before.
fn two_outputs(
    program: &Program,
    x: Option<&Tensor>,
    held: &[f32],
    others: [&Tensor; 3],
    shape: &Shape,
) -> [Vec<f32>; 2] {
    let n = shape.numel();
    let mut buffers = [0; 2].map(|_| Bytes::zeroed(n * 4).unwrap());
    typed::slice_mut::<f32>(&mut buffers[0]).copy_from_slice(held);
    let mut outputs: Vec<OutView<'_>> =
        buffers.iter_mut().map(|it| OutView::new(it, shape, DType::F32).unwrap()).collect();
    let first = x.map_or(Source::Replaced(0), |it| source(it).unwrap());
    let others = others.map(|it| source(it).unwrap());
    let number = Source::Number(Number::Float(0.3));
    let [row, column, one] = others;
    run(program, &[first, row, column, one, number], &mut outputs, &[]).unwrap();
    drop(outputs);
    buffers.map(|it| typed::slice::<f32>(&it).to_vec())
}

#[test]
fn written_code_reads_operands_however_they_lie() {
    let (mut written, mut tiles) = (layered(), layered());
    written.write_at_once();
    tiles.stay_with_instructions();
    let values = |n: usize, by: f64| -> Vec<f64> {
        (0..n).map(|it| ((it as f64 + 0.5) * by).sin() * 3.0).collect()
    };
    let tensor = |shape: [usize; 2], by: f64| {
        let values = values(shape[0] * shape[1], by);
        Tensor::from_converted(&values, Shape::from(shape), DType::F32).unwrap()
    };
    for (rows, columns) in
        [(1, 1), (1, 7), (3, 5), (2, 8), (33, 1), (5, 130), (4, 1000), (20, 257), (300, 211)]
    {
        let shape = Shape::from([rows, columns]);
        let (row, column, one) =
            (tensor([1, columns], 0.7), tensor([rows, 1], 1.1), tensor([1, 1], 2.3));
        let turned = functional::permute(&tensor([columns, rows], 0.37), &[1, 0]).unwrap();
        let wide = tensor([rows, 2 * columns + 1], 0.51);
        let part = wide.with_layout(wide.layout().slice(1, 1, columns, 2));
        let whole = tensor([rows, columns], 0.37);
        let held: Vec<f32> = whole.to_f64_vec().unwrap().iter().map(|it| *it as f32).collect();
        for (name, x) in [
            ("whole", Some(&whole)),
            ("turned", Some(&turned)),
            ("part", Some(&part)),
            ("replaced", None),
        ] {
            for others in [[&row, &column, &one], [&whole, &one, &column], [&turned, &part, &row]] {
                let got = two_outputs(&written, x, &held, others, &shape);
                let want = two_outputs(&tiles, x, &held, others, &shape);
                assert!(got == want, "{rows} x {columns}, {name}");
            }
        }
    }
    let (n_written, n_left) = written.code().n_forms();
    assert!(n_written > 2 && n_left == 0 || !is_written_here(), "{n_written} and {n_left}");
}
