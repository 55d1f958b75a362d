//! `numpy.native`: what NumPy's names have in Rust: classes, universal functions, and how arrays and tensors become each other. The
//! module `numpy` itself stands in `std/numpy.ng`.

use crate::array::text::{self, Options};
use crate::array::{self, dtype, make, object, scalar, ufunc, ufunc_rows};
use crate::native::*;
use crate::objects::tensor::Look;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "numpy.native",
    doc: "Arrays, their numbers and dtypes, and functions of each element.",
    members: &[
        Member::Each(ufuncs),
        Member::Functions(FUNCTIONS),
        Member::Types(&[&object::NDARRAY, &dtype::DTYPE, &ufunc::UFUNC]),
        Member::Types(&[
            &scalar::BOOL,
            &scalar::UINT8,
            &scalar::INT32,
            &scalar::INT64,
            &scalar::FLOAT32,
            &scalar::FLOAT64,
        ]),
        Member::Make("True_", |_cx| Ok(scalar::truth(true))),
        Member::Make("False_", |_cx| Ok(scalar::truth(false))),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "array",
        "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0",
        "A new array of numbers, nested lists of numbers, arrays or tensors.",
        make::array,
    ),
    function(
        "asarray",
        "a, dtype=None, order=None, *, copy=None",
        "The array itself, a tensor seen as an array, or a new array.",
        asarray,
    ),
    function(
        "made",
        "result",
        "What functions of tensors gave, as arrays and NumPy's numbers.",
        |_cx, args| make::made(&args[0]),
    ),
    function(
        "tensor_of",
        "array",
        "The same elements as a tensor: what is written to one is seen in the other.",
        tensor_of,
    ),
    function("get_options", "", "How arrays print.", get_options).opaque(),
    function(
        "set_options",
        "precision, threshold, edgeitems, linewidth, suppress, fixed, plus",
        "Sets how arrays print.",
        set_options,
    ),
    function(
        "text",
        "array, separator, prefix",
        "The brackets and elements of an array.",
        |_cx, args| {
            let value = crate::tensor::convert::variable(&args[0])?.get();
            Ok(Value::str(text::array_text(&value, &text::options(), args.str(1)?, args.str(2)?)?))
        },
    ),
];

fn ufuncs(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let value = |row| Value::object(ufunc::Ufunc(row));
    Ok(ufunc_rows::ALL.iter().map(|row| (Sym::of(row.name), value(row))).collect())
}

fn asarray(cx: &mut Cx, args: Args<'_>) -> Res {
    let wanted = dtype::optional(&args[1])?;
    match args[3] {
        Value::Bool(true) => make::tensor(cx, &args[0], wanted).map(array::array),
        _ => make::asarray(cx, &args[0], wanted),
    }
}

fn tensor_of(cx: &mut Cx, args: Args<'_>) -> Res {
    match &args[0] {
        Value::Tensor(it) if it.look() == Look::Array => Ok(array::seen_as(it, Look::Tensor)),
        Value::Tensor(_) => Ok(args[0].clone()),
        other => make::tensor(cx, other, None).map(Value::tensor),
    }
}

fn get_options(_cx: &mut Cx, _args: Args<'_>) -> Res {
    let it = text::options();
    let sizes = [it.precision, it.threshold, it.edge, it.line].map(Value::from);
    let truths = [it.suppress, it.fixed, it.plus].map(Value::Bool);
    Ok(Value::tuple(sizes.into_iter().chain(truths).collect::<Vec<_>>()))
}

fn set_options(cx: &mut Cx, args: Args<'_>) -> Res {
    let size = |at: usize| -> Result<usize, Raised> {
        // `sys.maxsize` and infinity stand for no limit.
        let number = args.float(at)?;
        Ok(if number > 1e15 { usize::MAX } else { number.max(0.0) as usize })
    };
    text::set_options(Options {
        precision: size(0)?.min(40),
        threshold: size(1)?,
        edge: size(2)?,
        line: size(3)?,
        suppress: cx.truth(&args[4])?,
        fixed: cx.truth(&args[5])?,
        plus: cx.truth(&args[6])?,
    });
    Ok(Value::None)
}
