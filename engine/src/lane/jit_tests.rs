//! Machine code that is written for programs, against the tile machine: all rows, derivatives and groups, and every way in which operands lie.

use super::cases::{self, difference};
use super::program::{Program, build};
use super::{Ref, Source, Step, run, source};
use crate::cpu::alloc::Bytes;
use crate::cpu::jit::Vectors;
use crate::cpu::view::OutView;
use crate::cpu::{Isa, typed};
use crate::storage::Element;
use crate::{Attrs, DType, Meta, Number, Shape, Tensor, functional, ops};

/// The vectors that code is written with on this machine.
fn vectors() -> Vec<Vectors> {
    let all = Isa::available().into_iter().filter_map(Vectors::of);
    if cfg!(target_arch = "x86_64") { all.collect() } else { Vec::new() }
}

#[test]
fn written_code_gives_the_bits_of_the_tile_machine() {
    let mut cases = cases::rows();
    cases.extend(cases::gradients());
    cases.extend(cases::groups());
    let mut problems = Vec::new();
    let mut counts: Vec<(Vectors, usize, usize)> =
        vectors().into_iter().map(|it| (it, 0, 0)).collect();
    for case in &mut cases {
        let (want, _) = cases::on_tile_machine(case);
        for (vectors, n_written, n_left) in &mut counts {
            case.program.write_at_once(*vectors);
            let (got, _) = cases::run(case);
            let (written, left) = case.program.code().n_forms();
            *n_written += written;
            *n_left += left;
            let outputs = got.iter().zip(&want).zip(case.program.outputs());
            let found = outputs.filter_map(|((got, want), dtype)| difference(got, want, *dtype));
            problems.extend(found.map(|it| format!("{}, {vectors:?}: {it}", case.title)));
        }
    }
    for (vectors, n_written, n_left) in counts {
        println!("{} programs, {vectors:?}: {n_written} written, {n_left} not", cases.len());
        assert!(n_written > 100, "only {n_written} were written");
    }
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
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
    let mut tiles = layered();
    tiles.stay_with_instructions();
    for vectors in vectors() {
        let mut written = layered();
        written.write_at_once(vectors);
        compare_layouts(&written, &tiles);
        let (n_written, n_left) = written.code().n_forms();
        assert!(n_written > 2 && n_left == 0, "{vectors:?}: {n_written} and {n_left}");
    }
}

/// Runs both on operands of many shapes that lie in many ways.
fn compare_layouts(written: &Program, tiles: &Program) {
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
                let got = two_outputs(written, x, &held, others, &shape);
                let want = two_outputs(tiles, x, &held, others, &shape);
                assert!(got == want, "{rows} x {columns}, {name}");
            }
        }
    }
}

/// The floats that are divided: bits of an element and back.
trait Bits: Element {
    /// Numbers of all exponents, special ones among them.
    fn of_all_exponents() -> Vec<Self>;
    /// A number with an exponent near that of 1.
    fn near_one(drawn: u64) -> Self;
    /// Its bits, but for those of NaN.
    fn bits(self) -> Option<u64>;
}

impl Bits for f32 {
    fn of_all_exponents() -> Vec<Self> {
        (0..=u32::MAX).step_by(65_537).map(Self::from_bits).collect()
    }

    fn near_one(drawn: u64) -> Self {
        Self::from_bits(((97 + drawn % 61) << 23 | drawn >> 7 & 0x7f_ffff) as u32)
    }

    fn bits(self) -> Option<u64> {
        (!self.is_nan()).then(|| u64::from(self.to_bits()))
    }
}

impl Bits for f64 {
    fn of_all_exponents() -> Vec<Self> {
        (0..=u64::MAX).step_by((1 << 48) + 12_345).map(Self::from_bits).collect()
    }

    fn near_one(drawn: u64) -> Self {
        Self::from_bits((993 + drawn % 61) << 52 | drawn >> 3 & ((1 << 52) - 1))
    }

    fn bits(self) -> Option<u64> {
        (!self.is_nan()).then(|| self.to_bits())
    }
}

/// Numbers of all exponents, then many near 1.
fn dividends<T: Bits>() -> Tensor {
    let mut state = 11_u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 9
    };
    let mut all = T::of_all_exponents();
    all.extend((0..100_003).map(|_| T::near_one(draw())));
    Tensor::from_vec(&all, Shape::from([all.len()])).unwrap()
}

/// The bits of `x / number`.
fn quotients<T: Bits>(program: &Program, x: &Tensor, number: &Tensor) -> Vec<Option<u64>> {
    let (n, dtype) = (x.numel(), x.dtype());
    let mut buffer = Bytes::zeroed(n * dtype.size()).unwrap();
    let sources = [source(x).unwrap(), source(number).unwrap()];
    run(program, &sources, &mut [OutView::new(&mut buffer, x.shape(), dtype).unwrap()], &[])
        .unwrap();
    typed::slice::<T>(&buffer).iter().map(|it| it.bits()).collect()
}

/// Written code against the tile machine, where a dtype is divided by one number.
fn divided_by_one_number<T: Bits>(numbers: &[f64]) {
    let x = dividends::<T>();
    let dtype = x.dtype();
    let refs = [Ref::Input(0), Ref::Input(1)];
    let row = ops::find("div").unwrap();
    let step = Step::new(row, &Attrs::new(), &refs, &[x.clone(), x.clone()]).unwrap();
    let program = || build(&[dtype; 2], std::slice::from_ref(&step), &[Ref::Step(0)]).unwrap();
    let mut tiles = program();
    tiles.stay_with_instructions();
    for number in numbers {
        let by = Tensor::from_converted(&[*number], Shape::from([1]), dtype).unwrap();
        let want = quotients::<T>(&tiles, &x, &by);
        for vectors in vectors() {
            let mut written = program();
            written.write_at_once(vectors);
            let got = quotients::<T>(&written, &x, &by);
            assert_eq!(written.code().n_forms(), (1, 0));
            let first = got.iter().zip(&want).position(|(got, want)| got != want);
            assert!(first.is_none(), "{dtype}, {vectors:?}: element {first:?} by {number:e}");
        }
    }
}

#[test]
fn division_by_one_number_rounds_as_every_division() {
    let all_ones = 2.0 - f64::from(f32::EPSILON);
    let numbers = [
        3.0,
        7.0,
        0.1,
        -2.5,
        1e-5,
        0.999,
        0.031_622_776,
        1.0,
        all_ones,
        1e17,
        1e19,
        1e-19,
        1e30,
        1e-30,
        3e-39,
        0.0,
        -0.0,
        1e300,
        1e-310,
        f64::INFINITY,
        f64::NAN,
    ];
    divided_by_one_number::<f32>(&numbers);
    divided_by_one_number::<f64>(&numbers);
}
