//! `numpy`: what its names are. Classes and universal functions are in Rust; what is made of them is written in the language, in modules
//! below `numpy._core`, whose `__all__` says which of their names are NumPy's. The names that these need are in `numpy._core.native`.

use super::array_files;
use crate::array::text::{self, Options};
use crate::array::{self, dtype, make, object, scalar, ufunc, ufunc_rows};
use crate::native::*;
use crate::objects::tensor::Look;

/// The module `numpy`.
pub static NUMPY: NativeModule = NativeModule {
    name: "numpy",
    doc: "Arrays of numbers. An array holds its elements as a tensor does, and shares them with tensors without a copy.",
    members: &[
        Member::Each(ufuncs),
        Member::Functions(PUBLIC),
        Member::Types(CLASSES),
        Member::Types(NUMBERS),
        Member::Make("True_", |_cx| Ok(scalar::truth(true))),
        Member::Make("False_", |_cx| Ok(scalar::truth(false))),
        Member::AllOf("numpy._core.creation"),
        Member::AllOf("numpy._core.elements"),
        Member::AllOf("numpy._core.files"),
        Member::AllOf("numpy._core.grids"),
        Member::AllOf("numpy._core.kinds"),
        Member::AllOf("numpy._core.orders"),
        Member::AllOf("numpy._core.printing"),
        Member::AllOf("numpy._core.products"),
        Member::AllOf("numpy._core.reductions"),
        Member::AllOf("numpy._core.series"),
        Member::AllOf("numpy._core.shapes"),
        Member::AllOf("numpy._core.tables"),
        Member::Module("exceptions", "numpy.exceptions"),
        Member::Module("linalg", "numpy.linalg"),
        Member::Module("random", "numpy.random"),
        Member::Module("testing", "numpy.testing"),
        Member::Str("__version__", "2.4.6"),
    ],
    aliases: &[],
};

/// Where the modules stand that `numpy` is made of.
pub static CORE: NativeModule =
    NativeModule { name: "numpy._core", doc: "What numpy is made of.", members: &[], aliases: &[] };

/// The module `numpy.linalg`.
pub static LINALG: NativeModule = NativeModule {
    name: "numpy.linalg",
    doc: "Lengths, determinants, inverses, solutions and decompositions of matrices.",
    members: &[
        Member::AllOf("numpy._core.linalg"),
        Member::These("numpy._core.arrays", &["LinAlgError"]),
        Member::These("numpy._core.products", &["cross"]),
        Member::These("numpy._core.native", &["matmul"]),
        Member::These("numpy._core.products", &["tensordot", "vecdot"]),
    ],
    aliases: &[],
};

/// The module `numpy.random`.
pub static RANDOM: NativeModule = NativeModule {
    name: "numpy.random",
    doc: "Random arrays. The numbers are those of this program's generator, not NumPy's.",
    members: &[Member::AllOf("numpy._core.random")],
    aliases: &[],
};

/// The module `numpy.testing`.
pub static TESTING: NativeModule = NativeModule {
    name: "numpy.testing",
    doc: "Comparisons that raise AssertionError.",
    members: &[Member::AllOf("numpy._core.testing")],
    aliases: &[],
};

/// The module `numpy.exceptions`.
pub static EXCEPTIONS: NativeModule = NativeModule {
    name: "numpy.exceptions",
    doc: "Errors of arrays.",
    members: &[Member::From("AxisError", "numpy._core.arrays", "AxisError")],
    aliases: &[],
};

/// The module `numpy._core.native`.
pub static NATIVE: NativeModule = NativeModule {
    name: "numpy._core.native",
    doc: "Arrays, their numbers and dtypes, functions of each element, and what the other modules need of Rust.",
    members: &[
        Member::Each(ufuncs),
        Member::Functions(PUBLIC),
        Member::Functions(INNER),
        Member::Functions(array_files::FUNCTIONS),
        Member::Types(CLASSES),
        Member::Types(NUMBERS),
    ],
    aliases: &[],
};

static CLASSES: &[&NativeType] = &[&object::NDARRAY, &dtype::DTYPE, &ufunc::UFUNC];

static NUMBERS: &[&NativeType] = &[
    &scalar::BOOL,
    &scalar::UINT8,
    &scalar::INT8,
    &scalar::INT16,
    &scalar::UINT16,
    &scalar::INT32,
    &scalar::INT64,
    &scalar::FLOAT16,
    &scalar::FLOAT32,
    &scalar::FLOAT64,
];

static PUBLIC: &[NativeFn] = &[
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
];

static INNER: &[NativeFn] = &[
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
    )
    .session(),
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
        Value::Tensor(it) => array::readable(cx, it).map(|()| args[0].clone()),
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
