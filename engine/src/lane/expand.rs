//! The expansion of a lane program into steps of arithmetic: the mathematics of [`crate::math`] on numbers that write down what is
//! done to them.

use super::ssa::{Node, Ssa};
use crate::DType;
use crate::cpu::lane::{Expansion, Lane, Mem};
use crate::expr::{BinOp, UnOp};
use crate::math::binary::{float32_binary, float64_binary, whole_binary};
use crate::math::recorded::{Recorder, Sym, Type};
use crate::math::unary::{float32_unary, float64_unary, whole_unary};
use crate::math::{
    Float32, Float64, Library, Library2, Scalar, Whole64, bessel, circular64, float, float32,
    float64, gamma, halves, whole,
};

/// The type that elements of memory have once they are loaded. Halves are bits then.
pub(crate) fn loaded(mem: Mem) -> Type {
    match mem {
        Mem::U8 | Mem::I8 | Mem::I16 | Mem::U16 | Mem::I32 | Mem::F16 | Mem::BF16 => Type::I32,
        Mem::I64 => Type::I64,
        Mem::F32 => Type::F32,
        Mem::F64 => Type::F64,
    }
}

/// Expands a program; `None` where an operation has no meaning in its type.
pub(crate) fn expand(ssa: &Ssa) -> Option<Expansion> {
    let recorder = Recorder::default();
    let needed = ssa.last_uses();
    let mut values: Vec<Option<Any<'_>>> = Vec::with_capacity(ssa.nodes.len());
    let mut res = Expansion {
        ops: Vec::new(),
        inputs: ssa.inputs.iter().map(|&it| Mem::of(it)).collect(),
        params: Vec::new(),
        outputs: Vec::new(),
        faults: Vec::new(),
    };
    for (node, needed) in ssa.nodes.iter().zip(needed) {
        let value = match needed {
            None => None,
            Some(_) => Some(value_of(&recorder, node, &values, &mut res)?),
        };
        values.push(value);
    }
    for &(node, dtype) in &ssa.outputs {
        res.outputs.push((values[node as usize]?.step(&recorder), Mem::of(dtype)));
    }
    res.ops = recorder.ops();
    Some(res)
}

/// A number of any type.
#[derive(Clone, Copy)]
enum Any<'a> {
    I32(Sym<'a, i32>),
    I64(Sym<'a, i64>),
    F32(Sym<'a, f32>),
    F64(Sym<'a, f64>),
}

impl<'a> Any<'a> {
    fn given(recorder: &'a Recorder, number: u32, ty: Type) -> Self {
        match ty {
            Type::Bool | Type::I32 => Self::I32(recorder.given(number)),
            Type::I64 => Self::I64(recorder.given(number)),
            Type::F32 => Self::F32(recorder.given(number)),
            Type::F64 => Self::F64(recorder.given(number)),
        }
    }

    fn step(self, recorder: &Recorder) -> u32 {
        match self {
            Self::I32(it) => recorder.step(it),
            Self::I64(it) => recorder.step(it),
            Self::F32(it) => recorder.step(it),
            Self::F64(it) => recorder.step(it),
        }
    }

    /// Whether it is not 0.
    fn is_true(self) -> Sym<'a, bool> {
        match self {
            Self::I32(x) => !x.equals(Sym::of(0)),
            Self::I64(x) => whole::is_true(x),
            Self::F32(x) => float::is_true(x),
            Self::F64(x) => float::is_true(x),
        }
    }
}

fn value_of<'a>(
    recorder: &'a Recorder,
    node: &Node,
    values: &[Option<Any<'a>>],
    res: &mut Expansion,
) -> Option<Any<'a>> {
    let at = |idx: u32| values[idx as usize];
    Some(match *node {
        Node::Input(idx) => Any::given(recorder, idx as u32, loaded(res.inputs[idx])),
        Node::Param(lane, idx) => {
            let ty = loaded(Mem::from(lane));
            res.params.resize(res.params.len().max(idx + 1), None);
            res.params[idx] = Some(ty);
            Any::given(recorder, (res.inputs.len() + idx) as u32, ty)
        }
        Node::Const(lane, bits) => constant(lane, f64::from_bits(bits)),
        Node::Convert { from, to, x } => convert(at(x)?, from, to)?,
        Node::Truth(_, x) => Any::I64(whole::truth(at(x)?.is_true())),
        Node::Flag(_, x) => Any::I32(Sym::select(at(x)?.is_true(), Sym::of(1), Sym::of(0))),
        Node::Wrap(dtype, x) => wrapped(at(x)?, dtype)?,
        Node::Unary(op, _, x) => unary(op, at(x)?)?,
        Node::Binary(op, _, x, y) => {
            let y = at(y)?;
            if let (Some(fault), Any::I64(second)) = (node.fault(), y) {
                res.faults.push((fault, recorder.step(second)));
            }
            binary(op, at(x)?, y)?
        }
        Node::Select(_, cond, x, y) => select(at(cond)?.is_true(), at(x)?, at(y)?)?,
        Node::SelectCompare(op, _, [a, b, x, y]) => {
            select(compared(op, at(a)?, at(b)?)?, at(x)?, at(y)?)?
        }
    })
}

fn constant<'a>(lane: Lane, value: f64) -> Any<'a> {
    match lane {
        Lane::I64 => Any::I64(Sym::of(value as i64)),
        Lane::F32 => Any::F32(Sym::of(value as f32)),
        Lane::F64 => Any::F64(Sym::of(value)),
    }
}

/// Whether a comparison holds; `None` unless `op` is one.
fn compared<'a>(op: BinOp, x: Any<'a>, y: Any<'a>) -> Option<Sym<'a, bool>> {
    fn holds<S: Scalar>(op: BinOp, x: S, y: S) -> Option<S::Truth> {
        Some(match op {
            BinOp::Eq => x.equals(y),
            BinOp::Ne => !x.equals(y),
            BinOp::Lt => x.less(y),
            BinOp::Le => x.at_most(y),
            _ => return None,
        })
    }
    match (x, y) {
        (Any::I64(x), Any::I64(y)) => holds(op, x, y),
        (Any::F32(x), Any::F32(y)) => holds(op, x, y),
        (Any::F64(x), Any::F64(y)) => holds(op, x, y),
        _ => None,
    }
}

fn select<'a>(cond: Sym<'a, bool>, yes: Any<'a>, no: Any<'a>) -> Option<Any<'a>> {
    Some(match (yes, no) {
        (Any::I32(x), Any::I32(y)) => Any::I32(Sym::select(cond, x, y)),
        (Any::I64(x), Any::I64(y)) => Any::I64(Sym::select(cond, x, y)),
        (Any::F32(x), Any::F32(y)) => Any::F32(Sym::select(cond, x, y)),
        (Any::F64(x), Any::F64(y)) => Any::F64(Sym::select(cond, x, y)),
        _ => return None,
    })
}

/// The element of another type of memory, as [`crate::cpu::lane::convert`] does with one or several kernels.
fn convert<'a>(x: Any<'a>, from: Mem, to: Mem) -> Option<Any<'a>> {
    if from == to {
        return Some(x);
    }
    let x = match x {
        Any::I32(bits) if from == Mem::F16 => Any::F32(bits.as_half()),
        Any::I32(bits) if from == Mem::BF16 => Any::F32(halves::from_bf16(bits)),
        Any::I32(_) | Any::I64(_) | Any::F32(_) | Any::F64(_) => x,
    };
    Some(match to {
        Mem::F32 => Any::F32(match x {
            Any::I32(x) => x.convert(|it| it as f32),
            Any::I64(x) => x.convert(|it| it as f32),
            Any::F32(x) => x,
            Any::F64(x) => Sym::narrow(x),
        }),
        Mem::F64 => Any::F64(match x {
            Any::I32(x) => x.convert(f64::from),
            Any::I64(x) => x.convert(|it| it as f64),
            Any::F32(x) => x.widen(),
            Any::F64(x) => x,
        }),
        Mem::F16 | Mem::BF16 => {
            let Any::F32(x) = convert(x, from, Mem::F32)? else { return None };
            Any::I32(if to == Mem::F16 { x.to_half() } else { halves::to_bf16(x) })
        }
        Mem::U8 | Mem::I8 | Mem::I16 | Mem::U16 | Mem::I32 | Mem::I64 => {
            let x = match x {
                Any::I32(x) => x.convert(i64::from),
                Any::I64(x) => x,
                Any::F32(x) => x.convert(|it| it as i64),
                Any::F64(x) => x.convert(|it| it as i64),
            };
            low_bits(x, to)
        }
    })
}

/// A whole number as memory of a type of integers holds it.
fn low_bits<'a>(x: Sym<'a, i64>, to: Mem) -> Any<'a> {
    let x = match to {
        Mem::U8 => whole::unsigned::<_, 8>(x),
        Mem::I8 => whole::signed::<_, 8>(x),
        Mem::I16 => whole::signed::<_, 16>(x),
        Mem::U16 => whole::unsigned::<_, 16>(x),
        Mem::I32 | Mem::I64 | Mem::F16 | Mem::BF16 | Mem::F32 | Mem::F64 => x,
    };
    if to == Mem::I64 { Any::I64(x) } else { Any::I32(x.convert(|it| it as i32)) }
}

/// As [`crate::cpu::lane::wrap`].
fn wrapped<'a>(x: Any<'a>, dtype: DType) -> Option<Any<'a>> {
    let int = |wrap: fn(Sym<'a, i64>) -> Sym<'a, i64>| match x {
        Any::I64(x) => Some(Any::I64(wrap(x))),
        Any::I32(_) | Any::F32(_) | Any::F64(_) => None,
    };
    let float = |round: fn(Sym<'a, f32>) -> Sym<'a, f32>| match x {
        Any::F32(x) => Some(Any::F32(round(x))),
        Any::I32(_) | Any::I64(_) | Any::F64(_) => None,
    };
    match dtype {
        DType::Bool => int(|x| whole::truth(whole::is_true(x))),
        DType::U8 => int(whole::unsigned::<_, 8>),
        DType::I8 => int(whole::signed::<_, 8>),
        DType::I16 => int(whole::signed::<_, 16>),
        DType::U16 => int(whole::unsigned::<_, 16>),
        DType::I32 => int(whole::signed::<_, 32>),
        DType::F16 => float(|x| x.to_half().as_half()),
        DType::BF16 => float(|x| halves::from_bf16(halves::to_bf16(x))),
        DType::I64 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => None,
    }
}

/// What a row of a table says on a number of any make.
macro_rules! expansions {
    ([$kind:ident $which:ident $given:tt]
        $($op:ident $sets:ident |$($x:ident),+| $body:expr;)*) => {
        Some(match $which {
            $($kind::$op => {
                let ($($x,)+) = $given;
                expansions!(@$sets $op ($($x)+) $body)
            })*
            _ => return None,
        })
    };
    (@trig $op:ident ($x:ident) $body:expr) => {
        float32::reduced($x, $body, Library::$op)
    };
    (@trig64 $op:ident ($x:ident) $body:expr) => {
        circular64::reduced($x, $body, Library::$op)
    };
    (@$sets:ident $op:ident $given:tt $body:expr) => { $body };
}

fn unary<'a>(op: UnOp, x: Any<'a>) -> Option<Any<'a>> {
    fn float32<F: Float32>(op: UnOp, given: F) -> Option<F> {
        float32_unary!(expansions UnOp op (given,))
    }
    fn float64<F: Float64>(op: UnOp, given: F) -> Option<F> {
        float64_unary!(expansions UnOp op (given,))
    }
    fn whole<I: Whole64>(op: UnOp, given: I) -> Option<I> {
        whole_unary!(expansions UnOp op (given,))
    }
    Some(match x {
        Any::I32(_) => return None,
        Any::I64(x) => Any::I64(whole(op, x)?),
        Any::F32(x) => Any::F32(float32(op, x)?),
        Any::F64(x) => Any::F64(float64(op, x)?),
    })
}

fn binary<'a>(op: BinOp, x: Any<'a>, y: Any<'a>) -> Option<Any<'a>> {
    fn float32<F: Float32>(op: BinOp, first: F, second: F) -> Option<F> {
        float32_binary!(expansions BinOp op (first, second,))
    }
    fn float64<F: Float64>(op: BinOp, first: F, second: F) -> Option<F> {
        float64_binary!(expansions BinOp op (first, second,))
    }
    fn whole<I: Whole64>(op: BinOp, first: I, second: I) -> Option<I> {
        whole_binary!(expansions BinOp op (first, second,))
    }
    Some(match (x, y) {
        (Any::I64(x), Any::I64(y)) => Any::I64(whole(op, x, y)?),
        (Any::F32(x), Any::F32(y)) => Any::F32(float32(op, x, y)?),
        (Any::F64(x), Any::F64(y)) => Any::F64(float64(op, x, y)?),
        _ => return None,
    })
}
