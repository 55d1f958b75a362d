//! Checks of programs and the tile machine.

use smallvec::smallvec;

use super::*;
use crate::{DType, Shape, apply_one, ops};

fn op(name: &str) -> &'static OpDef {
    ops::find(name).unwrap_or_else(|| panic!("no op {name}"))
}

fn call(name: &str, inputs: &[Tensor]) -> Tensor {
    let op = op(name);
    apply_one(op, inputs, &op.default_attrs()).unwrap_or_else(|it| panic!("{name}: {it}"))
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_vec(values, Shape::from([values.len()])).unwrap()
}

fn check(res: &Tensor, expected: &[f64]) {
    assert_eq!(res.to_f64_vec().unwrap(), expected);
}

#[test]
fn adds_tensors_and_numbers() {
    let (x, y) = (floats(&[1.0, 2.0, 3.0]), floats(&[0.5, 0.25, 0.0]));
    check(&call("add", &[x.clone(), y]), &[1.5, 2.25, 3.0]);
    check(&call("mul", &[x.clone(), Tensor::number(2.0)]), &[2.0, 4.0, 6.0]);
    check(&call("lt", &[x.clone(), Tensor::int_number(2)]), &[1.0, 0.0, 0.0]);
    assert_eq!(call("lt", &[x, Tensor::int_number(2)]).dtype(), DType::Bool);
}

#[test]
fn reads_broadcast_and_strided_inputs() {
    let x = Tensor::from_vec(&[1_i64, 2, 3, 4, 5, 6], Shape::from([2, 3])).unwrap();
    let row = Tensor::from_vec(&[10_i64, 20, 30], Shape::from([3])).unwrap();
    let column = Tensor::from_vec(&[100_i64, 200], Shape::from([2, 1])).unwrap();
    check(&call("add", &[x.clone(), row]), &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    check(&call("add", &[x.clone(), column]), &[101.0, 102.0, 103.0, 204.0, 205.0, 206.0]);
    let turned = x.with_layout(x.layout().permute(&[1, 0]));
    check(&call("neg", &[turned]), &[-1.0, -4.0, -2.0, -5.0, -3.0, -6.0]);
}

#[test]
fn few_elements_that_lie_alike_go_the_short_way_and_others_do_not() {
    let (x, y) = (floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.5, 0.25, 0.0, -4.0]));
    let program = cache::program(op("add"), &[&x, &y], &Attrs::new()).unwrap();
    let run = |operands: &[(&Bytes, usize, DType)], len: usize| {
        let make = || Ok(Bytes::zeroed(len * 4)?);
        program.code().run_alike(operands, make, (&Shape::from([len]), DType::F32))
    };
    let bytes = |it: &Tensor| it.storage().unwrap();
    let (x, y) = (bytes(&x), bytes(&y));
    let (x, y) = (x.host().unwrap(), y.host().unwrap());
    let sums = run(&[(x, 1, DType::F32), (y, 0, DType::F32)], 3).unwrap().unwrap();
    assert_eq!(crate::cpu::typed::slice::<f32>(&sums), [2.5, 3.25, 4.0]);
    assert!(run(&[(x, 2, DType::F32), (y, 0, DType::F32)], 3).is_none());
    assert!(run(&[(x, usize::MAX, DType::F32), (y, 0, DType::F32)], 3).is_none());
    assert!(run(&[(x, 0, DType::I32), (y, 0, DType::F32)], 3).is_none());
    assert!(run(&[(x, 0, DType::F32)], 3).is_none());
    assert!(run(&[(x, 0, DType::F32), (y, 0, DType::F32)], 0).is_none());
    let number = Tensor::number(2.0);
    let x = floats(&[1.0, 2.0]);
    assert!(
        alike(&cache::program(op("add"), &[&x, &number], &Attrs::new()).unwrap(), &[&x, &number])
            .is_none()
    );
    let column = x.with_layout(x.layout().broadcast_to(&Shape::from([2, 2])).unwrap());
    let program = cache::program(op("add"), &[&column, &column], &Attrs::new()).unwrap();
    assert!(alike(&program, &[&column, &column]).is_none());
    check(&call("add", &[column.clone(), column]), &[2.0, 4.0, 2.0, 4.0]);
}

#[test]
fn whole_numbers_wrap_at_their_width() {
    let x = Tensor::from_vec(&[200_u8, 255], Shape::from([2])).unwrap();
    check(&call("add", &[x.clone(), x.clone()]), &[144.0, 254.0]);
    let y = Tensor::from_vec(&[i32::MAX, i32::MIN], Shape::from([2])).unwrap();
    check(&call("add", &[y.clone(), Tensor::int_number(1)]), &[-2147483648.0, -2147483647.0]);
    check(&call("abs", &[y]), &[2147483647.0, -2147483648.0]);
}

#[test]
fn division_of_whole_numbers_by_zero_is_an_error() {
    let x = Tensor::from_vec(&[1_i64, 2], Shape::from([2])).unwrap();
    let zero = Tensor::int_number(0);
    let res = apply_one(op("floor_divide"), &[x.clone(), zero], &Attrs::new());
    assert!(matches!(res, Err(Error::Attr { name: "other", .. })));
    let res = apply_one(op("pow"), &[x.clone(), Tensor::int_number(-1)], &Attrs::new());
    assert!(matches!(res, Err(Error::Attr { name: "exponent", .. })));
    check(&call("pow", &[x, Tensor::int_number(5)]), &[1.0, 32.0]);
}

#[test]
fn empty_tensors_and_scalars() {
    let empty = Tensor::from_vec::<f32>(&[], Shape::from([0, 3])).unwrap();
    let res = call("exp", &[empty]);
    assert_eq!(res.shape(), &Shape::from([0, 3]));
    let scalar = Tensor::from_vec(&[4.0_f64], Shape::default()).unwrap();
    check(&call("sqrt", &[scalar]), &[2.0]);
}

#[test]
fn attributes_do_not_make_new_programs() {
    let x = floats(&[-2.0, 0.5, 3.0]);
    let leaky = |slope: f64| {
        apply_one(op("leaky_relu"), std::slice::from_ref(&x), &smallvec![Attr::Float(slope)])
    };
    check(&leaky(0.5).unwrap(), &[-1.0, 0.5, 3.0]);
    check(&leaky(2.0).unwrap(), &[-4.0, 0.5, 3.0]);
    let clamp = |attrs: Attrs| apply_one(op("clamp"), std::slice::from_ref(&x), &attrs).unwrap();
    check(&clamp(smallvec![Attr::Float(-1.0), Attr::None]), &[-1.0, 0.5, 3.0]);
    check(&clamp(smallvec![Attr::None, Attr::Int(1)]), &[-2.0, 0.5, 1.0]);
    check(&clamp(smallvec![Attr::Float(0.0), Attr::Int(1)]), &[0.0, 0.5, 1.0]);
}

/// Every way in which the elements of a matrix can lie.
fn layouts(rows: usize, columns: usize) -> Vec<Tensor> {
    let values: Vec<f32> =
        (0..rows * columns).map(|it| (it as f32 * 0.37).sin() * 3.0 + 0.01).collect();
    let plain = Tensor::from_vec(&values, Shape::from([rows, columns])).unwrap();
    let turned = Tensor::from_vec(&values, Shape::from([columns, rows])).unwrap();
    let turned = turned.with_layout(turned.layout().permute(&[1, 0]));
    let padded: Vec<f32> = (0..rows * columns * 6).map(|it| (it as f32 * 0.11).cos()).collect();
    let padded = Tensor::from_vec(&padded, Shape::from([rows * 2, columns * 3])).unwrap();
    let slice = padded.layout().slice(0, 1, rows, 1).slice(1, 2, columns, 2);
    let backwards = plain.layout().slice(0, rows - 1, rows, -1);
    let column = Layout { strides: smallvec![1, 0], ..plain.layout().clone() };
    let row = Layout { strides: smallvec![0, 1], ..plain.layout().clone() };
    let one = Layout { strides: smallvec![0, 0], ..plain.layout().clone() };
    let views = [slice].map(|it| padded.with_layout(it));
    let own = [backwards, column, row, one].map(|it| plain.with_layout(it));
    [plain, turned].into_iter().chain(views).chain(own).collect()
}

#[test]
fn every_layout_gives_what_a_contiguous_copy_gives() {
    for (rows, columns) in [(1, 1), (3, 5), (7, 300), (260, 3)] {
        let all = layouts(rows, columns);
        for (x, y) in all.iter().flat_map(|x| all.iter().map(move |y| (x, y))) {
            let copies = [x, y].map(|it| crate::launch::contiguous(it).unwrap());
            let expected = call("atan2", &copies).to_f64_vec().unwrap();
            assert_eq!(call("atan2", &[x.clone(), y.clone()]).to_f64_vec().unwrap(), expected);
        }
    }
}

/// Few elements go another way than many: each layout of some rows against the same rows over and over, in each dtype, beside a row that is
/// broadcast, one element, and a number.
#[test]
fn few_elements_give_what_they_give_among_many() {
    let (few, columns, times) = (4, 5, 60);
    let many = |x: &Tensor| {
        let copies: SmallVec<[Tensor; 4]> = (0..times).map(|_| x.clone()).collect();
        crate::functional::cat(&copies, 0).unwrap()
    };
    let row = floats(&[0.5, -1.5, 2.0, 0.25, 3.0]);
    let one = Tensor::from_vec(&[1.25_f32], Shape::from([1])).unwrap();
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I64, DType::U8] {
        let as_dtype: Attrs = smallvec![Attr::DType(dtype)];
        let to = |it: &Tensor| apply_one(op("to"), std::slice::from_ref(it), &as_dtype).unwrap();
        let others = [to(&row), to(&one), Tensor::number(0.75), Tensor::int_number(3)];
        for (x, other) in
            layouts(few, columns).iter().flat_map(|x| others.iter().map(move |y| (x, y)))
        {
            let x = &to(x);
            for name in ["add", "mul", "atan2", "maximum", "lt", "div"] {
                let whole = call(name, &[many(x), other.clone()]);
                let part = call(name, &[x.clone(), other.clone()]);
                assert_eq!(bits(&many(&part)), bits(&whole), "{name} of {dtype}");
            }
        }
    }
}

#[test]
fn large_tensors_are_split_without_a_seam() {
    let n = 300_001;
    let values: Vec<f32> = (0..n).map(|it| it as f32 * 1e-4 - 15.0).collect();
    let x = Tensor::from_vec(&values, Shape::from([n])).unwrap();
    let whole = call("gelu", std::slice::from_ref(&x)).to_vec::<f32>().unwrap();
    for start in [0, 32_760, 65_530, 299_990] {
        let part = x.with_layout(x.layout().slice(0, start, 11, 1));
        assert_eq!(call("gelu", &[part]).to_vec::<f32>().unwrap(), whole[start..start + 11]);
    }
}

/// `where(x < y, tanh(x * y + 1), (x as int32 + 1) as float)` and the product it contains.
#[test]
fn a_fused_program_gives_the_bits_of_single_ops() {
    let x = floats(&(0..1000).map(|it| it as f32 * 0.013 - 6.0).collect::<Vec<_>>());
    let y = floats(&(0..1000).map(|it| (it as f32).sin() * 4.0).collect::<Vec<_>>());
    let one = Tensor::number(1.0);
    let as_int: Attrs = smallvec![Attr::DType(DType::I32)];
    let as_float: Attrs = smallvec![Attr::DType(DType::F32)];
    let product = call("mul", &[x.clone(), y.clone()]);
    let sum = call("add", &[product.clone(), one.clone()]);
    let whole = apply_one(op("to"), std::slice::from_ref(&x), &as_int).unwrap();
    let next = call("add", &[whole.clone(), Tensor::int_number(1)]);
    let back = apply_one(op("to"), std::slice::from_ref(&next), &as_float).unwrap();
    let less = call("lt", &[x.clone(), y.clone()]);
    let bent = call("tanh", std::slice::from_ref(&sum));
    let expected = call("where", &[less.clone(), bent.clone(), back.clone()]);

    let none = Attrs::new();
    let (a, b) = (Ref::Input(0), Ref::Input(1));
    let (x2, y2) = (x.clone(), y.clone());
    let steps = [
        Step::new(op("mul"), &none, &[a, b], &[x2.clone(), y2.clone()]).unwrap(),
        Step::new(op("add"), &none, &[Ref::Step(0), Ref::Input(2)], &[product.clone(), one])
            .unwrap(),
        Step::new(op("to"), &as_int, &[a], std::slice::from_ref(&x2)).unwrap(),
        Step::new(
            op("add"),
            &none,
            &[Ref::Step(2), Ref::Input(3)],
            &[whole, Tensor::int_number(1)],
        )
        .unwrap(),
        Step::new(op("to"), &as_float, &[Ref::Step(3)], &[next]).unwrap(),
        Step::new(op("lt"), &none, &[a, b], &[x2, y2]).unwrap(),
        Step::new(op("tanh"), &none, &[Ref::Step(1)], &[sum]).unwrap(),
        Step::new(
            op("where"),
            &none,
            &[Ref::Step(5), Ref::Step(6), Ref::Step(4)],
            &[less, bent, back],
        )
        .unwrap(),
    ];
    let dtypes = [DType::F32, DType::F32, DType::F64, DType::I64];
    let program = build(&dtypes, &steps, &[Ref::Step(7), Ref::Step(0), Ref::Step(0)]).unwrap();
    let shape = Shape::from([1000]);
    let mut buffers = [0; 3].map(|_| Bytes::uninit(4000).unwrap());
    let mut outs = buffers.each_mut().map(|it| OutView::new(it, &shape, DType::F32).unwrap());
    let sources = [
        source(&x).unwrap(),
        source(&y).unwrap(),
        Source::Number(Number::Float(1.0)),
        Source::Number(Number::Int(1)),
    ];
    run(&program, &sources, &mut outs, &program.param_values()).unwrap();
    assert_eq!(*outs[0].as_mut_slice::<f32>(), expected.to_vec::<f32>().unwrap());
    assert_eq!(*outs[1].as_mut_slice::<f32>(), product.to_vec::<f32>().unwrap());
    assert_eq!(*outs[2].as_mut_slice::<f32>(), product.to_vec::<f32>().unwrap());
}

/// `(x + y).to(wide) * x.to(wide)` from every dtype through every other.
#[test]
fn fused_chains_round_and_wrap_as_single_ops_in_every_dtype() {
    let shape = Shape::from([300]);
    let values =
        |seed: f64| (0..300).map(|at| (f64::from(at) * seed).sin() * 200.0).collect::<Vec<_>>();
    for (own, wide) in DType::REAL.into_iter().flat_map(|a| DType::REAL.map(|b| (a, b))) {
        let of = |seed| Tensor::from_converted(&values(seed), shape.clone(), own).unwrap();
        let (x, y) = (of(1.7), of(0.3));
        let as_wide: Attrs = smallvec![Attr::DType(wide)];
        let to = |it: &Tensor| apply_one(op("to"), std::slice::from_ref(it), &as_wide).unwrap();
        let sum = call("add", &[x.clone(), y.clone()]);
        let expected = call("mul", &[to(&sum), to(&x)]);

        let none = Attrs::new();
        let (a, b) = (Ref::Input(0), Ref::Input(1));
        let steps = [
            Step::new(op("add"), &none, &[a, b], &[x.clone(), y.clone()]).unwrap(),
            Step::new(op("to"), &as_wide, &[Ref::Step(0)], std::slice::from_ref(&sum)).unwrap(),
            Step::new(op("to"), &as_wide, &[a], std::slice::from_ref(&x)).unwrap(),
            Step::new(op("mul"), &none, &[Ref::Step(1), Ref::Step(2)], &[to(&sum), to(&x)])
                .unwrap(),
        ];
        let program = build(&[own, own], &steps, &[Ref::Step(3), Ref::Step(1)]).unwrap();
        let mut buffers = [0; 2].map(|_| Bytes::uninit(300 * wide.size()).unwrap());
        let mut outs = buffers.each_mut().map(|it| OutView::new(it, &shape, wide).unwrap());
        let sources = [source(&x).unwrap(), source(&y).unwrap()];
        run(&program, &sources, &mut outs, &program.param_values()).unwrap();
        for (bytes, expected) in buffers.into_iter().zip([expected, to(&sum)]) {
            let got = Tensor::stored(bytes, Layout::contiguous(shape.clone()), wide);
            assert_eq!(bits(&got), bits(&expected), "{own} through {wide}");
        }
    }
}

fn bits(x: &Tensor) -> Vec<u64> {
    x.to_f64_vec()
        .unwrap()
        .into_iter()
        .map(|it| if it.is_nan() { 1 } else { it.to_bits() })
        .collect()
}

/// What a number gives is computed for the first tile and holds for all of them, the short last one included.
#[test]
fn numbers_hold_in_every_tile() {
    let x: Vec<f32> = (0..1000).map(|it| it as f32).collect();
    let alpha = Tensor::number(0.5);
    let res = call("axpy", &[floats(&x), floats(&x), alpha.clone()]);
    let expected: Vec<f64> = x.iter().map(|&it| f64::from(it) * 1.5).collect();
    check(&res, &expected);
    let one = Tensor::from_vec(&[0.5_f64], Shape::from([1])).unwrap();
    let wide = call("axpy", &[floats(&x), one, Tensor::int_number(4)]);
    check(&wide, &x.iter().map(|&it| f64::from(it) + 2.0).collect::<Vec<_>>());
}

/// `(x - c) * (d + 1) + r` of a matrix, two columns and a row: what is the same along a line is brought, and `d + 1` is computed, once for
/// each, also where threads begin within one. Against single ops on copies that lie side by side.
#[test]
fn what_is_the_same_along_a_line_holds_to_its_end() {
    let none = Attrs::new();
    let sizes = [(3, 127), (3, 128), (3, 257), (5, 300), (131, 1000)];
    for ((rows, columns), dtype) in
        sizes.into_iter().flat_map(|it| [DType::F32, DType::F16, DType::I64].map(|own| (it, own)))
    {
        let of = |seed: f64, shape: [usize; 2]| {
            let value = |at: usize| (at as f64 * seed).sin() * 9.0;
            let values: Vec<f64> = (0..shape[0] * shape[1]).map(value).collect();
            Tensor::from_converted(&values, Shape::from(shape), dtype).unwrap()
        };
        let x = of(1.7, [rows, columns]);
        let all = [x.clone(), of(0.3, [rows, 1]), of(2.9, [rows, 1]), of(0.7, [1, columns])];
        let copies = all.each_ref().map(|it| {
            let whole = it.layout().broadcast_to(x.shape()).unwrap();
            crate::launch::contiguous(&it.with_layout(whole)).unwrap()
        });
        let one = Tensor::int_number(1);
        let lowered = call("sub", &[copies[0].clone(), copies[1].clone()]);
        let factor = call("add", &[copies[2].clone(), one.clone()]);
        let scaled = call("mul", &[lowered.clone(), factor.clone()]);
        let expected = call("add", &[scaled.clone(), copies[3].clone()]);
        let step = |name: &str, refs: [Ref; 2], inputs: [&Tensor; 2]| {
            Step::new(op(name), &none, &refs, &inputs.map(Tensor::clone)).unwrap()
        };
        let steps = [
            step("sub", [Ref::Input(0), Ref::Input(1)], [&copies[0], &copies[1]]),
            step("add", [Ref::Input(2), Ref::Input(4)], [&copies[2], &one]),
            step("mul", [Ref::Step(0), Ref::Step(1)], [&lowered, &factor]),
            step("add", [Ref::Step(2), Ref::Input(3)], [&scaled, &copies[3]]),
        ];
        let dtypes = [dtype, dtype, dtype, dtype, DType::I64];
        let program = build(&dtypes, &steps, &[Ref::Step(3)]).unwrap();
        let mut bytes = Bytes::uninit(rows * columns * dtype.size()).unwrap();
        let mut outs = [OutView::new(&mut bytes, x.shape(), dtype).unwrap()];
        let views = all.each_ref().map(|it| source(it).unwrap());
        let [a, b, c, d] = views;
        let sources = [a, b, c, d, Source::Number(Number::Int(1))];
        run(&program, &sources, &mut outs, &program.param_values()).unwrap();
        let got = Tensor::stored(bytes, Layout::contiguous(x.shape().clone()), dtype);
        assert_eq!(bits(&got), bits(&expected), "{rows} x {columns} of {dtype}");
    }
}

/// Results that go past the caches, in lines that end at a border of the cache's and in lines that do not.
#[test]
fn large_results_with_columns_give_what_their_copies_give() {
    for columns in [3001, 3008] {
        let values: Vec<f32> = (0..2900 * columns).map(|it| (it % 1013) as f32).collect();
        let x = Tensor::from_vec(&values, Shape::from([2900, columns])).unwrap();
        let column = x.with_layout(x.layout().slice(1, 0, 1, 1));
        let res = call("add", &[x.clone(), column]).to_vec::<f32>().unwrap();
        let first = values.chunks_exact(columns).flat_map(|it| std::iter::repeat_n(it[0], columns));
        assert!(values.iter().zip(first).map(|(a, b)| a + b).eq(res));
    }
}

#[test]
fn numbers_are_converted_once_for_all_tiles() {
    let (x, number) = (floats(&[1.0]), Tensor::number(2.0));
    let step = |name: &str, of: Ref, by: Ref| {
        Step::new(op(name), &op(name).default_attrs(), &[of, by], &[x.clone(), number.clone()])
    };
    let steps = [
        step("mul", Ref::Input(0), Ref::Input(1)).unwrap(),
        step("add", Ref::Step(0), Ref::Input(2)).unwrap(),
    ];
    let program = build(&[DType::F32, DType::F64, DType::F64], &steps, &[Ref::Step(1)]).unwrap();
    // Each conversion has a slot of its own, so that its result stays; the sum computes the product itself.
    assert_eq!((program.code().len(), program.code().n_staying()), (3, 2));
}

/// Numbers, and what is computed of numbers alone, are the same in all tiles, whichever steps read them: such a result that only another one of its
/// kind reads, one that a step on elements reads, and one that both do.
#[test]
fn what_is_the_same_everywhere_reaches_all_tiles() {
    for n in [1, 255, 257, 1025, 2600, 9000] {
        let x = floats(&(0..n).map(|at| (at % 97) as f32 * 0.25).collect::<Vec<_>>());
        let numbers =
            [Tensor::number(1.1), floats(&[2.3]).with_layout(Layout::contiguous(Shape::default()))];
        let step = |name: &str, of: [Ref; 2], operands: [&Tensor; 2]| {
            let operands = operands.map(Clone::clone);
            Step::new(op(name), &op(name).default_attrs(), &of, &operands).unwrap()
        };
        let [a, b] = &numbers;
        let product = call("mul", &[b.clone(), a.clone()]);
        let power = call("pow", &[product.clone(), b.clone()]);
        let scaled = call("mul", &[x.clone(), power.clone()]);
        let moved = call("sub", &[scaled.clone(), product.clone()]);
        let expected = call("div", &[moved.clone(), b.clone()]);
        let steps = [
            step("mul", [Ref::Input(2), Ref::Input(1)], [b, a]),
            step("pow", [Ref::Step(0), Ref::Input(2)], [&product, b]),
            step("mul", [Ref::Input(0), Ref::Step(1)], [&x, &power]),
            step("sub", [Ref::Step(2), Ref::Step(0)], [&scaled, &product]),
            step("div", [Ref::Step(3), Ref::Input(2)], [&moved, b]),
        ];
        let dtypes = [DType::F32, DType::F64, DType::F32];
        let program = build(&dtypes, &steps, &[Ref::Step(4)]).unwrap();
        let mut bytes = Bytes::of(x.shape(), DType::F32).unwrap();
        let out = OutView::new(&mut bytes, x.shape(), DType::F32).unwrap();
        let sources = [source(&x).unwrap(), Source::Number(Number::Float(1.1)), source(b).unwrap()];
        run(&program, &sources, &mut [out], &program.param_values()).unwrap();
        let got = Tensor::stored(bytes, Layout::contiguous(x.shape().clone()), DType::F32);
        assert_eq!(bits(&got), bits(&expected), "{n} elements");
    }
}

/// A product that one sum or difference needs is computed with it, and rounded by itself: numbers are such that a fused product would show.
#[test]
fn products_are_rounded_before_they_are_added() {
    let n = 700;
    let values =
        |seed: f64| (0..n).map(|at| (f64::from(at) * seed).sin() + 1.0).collect::<Vec<_>>();
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I64] {
        let of =
            |seed| Tensor::from_converted(&values(seed), Shape::from([n as usize]), dtype).unwrap();
        let (x, y, z) = (of(1.7), of(0.3), of(2.9));
        let product = call("mul", &[x.clone(), y.clone()]);
        let none = op("add").default_attrs();
        let mul = Step::new(
            op("mul"),
            &Attrs::new(),
            &[Ref::Input(0), Ref::Input(1)],
            &[x.clone(), y.clone()],
        )
        .unwrap();
        for (name, swapped) in [("add", false), ("add", true), ("sub", false), ("sub", true)] {
            let (refs, operands) = match swapped {
                false => ([Ref::Step(0), Ref::Input(2)], [product.clone(), z.clone()]),
                true => ([Ref::Input(2), Ref::Step(0)], [z.clone(), product.clone()]),
            };
            let expected = call(name, &operands);
            let last = Step::new(op(name), &none, &refs, &operands).unwrap();
            let program = build(&[dtype; 3], &[mul.clone(), last], &[Ref::Step(1)]).unwrap();
            let shape = Shape::from([n as usize]);
            let mut bytes = Bytes::of(&shape, dtype).unwrap();
            let sources = [source(&x).unwrap(), source(&y).unwrap(), source(&z).unwrap()];
            let out = OutView::new(&mut bytes, &shape, dtype).unwrap();
            run(&program, &sources, &mut [out], &program.param_values()).unwrap();
            let got = Tensor::stored(bytes, Layout::contiguous(shape), dtype);
            assert_eq!(bits(&got), bits(&expected), "{name} {swapped} of {dtype}");
        }
    }
}

#[test]
fn equal_steps_are_computed_once() {
    let none = Attrs::new();
    let x = floats(&[1.0]);
    let exp = Step::new(op("exp"), &none, &[Ref::Input(0)], std::slice::from_ref(&x)).unwrap();
    let add = Step::new(op("add"), &none, &[Ref::Step(0), Ref::Step(1)], &[x.clone(), x]).unwrap();
    let unused = exp.clone();
    let program = build(&[DType::F32], &[exp.clone(), exp, add, unused], &[Ref::Step(2)]).unwrap();
    assert_eq!(program.n_instructions(), 2);
}

#[test]
fn wrong_operands_are_an_error() {
    let none = Attrs::new();
    let x = floats(&[1.0]);
    let step = Step::new(op("exp"), &none, &[Ref::Input(0)], std::slice::from_ref(&x)).unwrap();
    let program = build(&[DType::F32], std::slice::from_ref(&step), &[Ref::Step(0)]).unwrap();
    assert!(build(&[DType::F32], &[step], &[Ref::Step(1)]).is_err());
    let shape = Shape::from([1]);
    let mut bytes = Bytes::uninit(8).unwrap();
    let mut out = [OutView::new(&mut bytes, &shape, DType::F32).unwrap()];
    assert!(run(&program, &[Source::Number(Number::Float(1.0))], &mut out, &[]).is_err());
    assert!(run(&program, &[], &mut out, &[]).is_err());
}

/// Elements of a result that is stored past the caches, with an end that fills no tile.
const FAR: usize = (8 << 20) + 77;

#[test]
fn results_that_go_past_the_caches_are_those_that_do_not() {
    let values: Vec<f32> = (0..FAR).map(|at| (at % 1013) as f32 - 500.0).collect();
    let x = floats(&values);
    let expected: Vec<f32> = values.iter().map(|it| it * 0.5).collect();
    let halved = call("mul", &[x.clone(), Tensor::number(0.5)]);
    assert!(halved.to_vec::<f32>().unwrap() == expected);
    // An operand that is broadcast along rows, and one that is read in steps.
    let rows = Tensor::from_vec(&values[..FAR - 77], Shape::from([8192, 1024])).unwrap();
    let turned = rows.with_layout(rows.layout().permute(&[1, 0]));
    let row = floats(&values[..8192]);
    let sums = call("add", &[turned, row]).to_vec::<f32>().unwrap();
    let at = |row: usize, column: usize| values[column * 1024 + row] + values[column];
    assert!((0..FAR - 77).all(|it| sums[it] == at(it / 8192, it % 8192)));
}
