//! `torch`: tensors, ops and settings under PyTorch's names. Layers and optimisers are written in the language, in `std/`.

use engine::apply::autocast;

use super::grad_mode::{self, ENABLE_GRAD, INFERENCE, NO_GRAD};
use super::{anomaly, generator};
use crate::array;
use crate::check::unregistered;
use crate::error::LINALG_ERROR;
use crate::native::*;
use crate::objects::tensor::Look;
use crate::ops_binding;
use crate::tensor::made::Made;
use crate::tensor::{beneath, convert, device, dtype, gradients, lost_part, methods, named, text};

/// The module `torch`.
pub static TORCH: NativeModule = NativeModule {
    name: "torch",
    doc: "Tensors, ops on them, and gradients.",
    members: &[
        // What is written in the language stands first, so that a native row of the same name wins.
        Member::AllOf("torch.elements"),
        Member::AllOf("torch.scattering"),
        Member::AllOf("torch.statistics"),
        Member::AllOf("torch.functions"),
        Member::AllOf("torch.parts"),
        Member::AllOf("torch.typed"),
        Member::AllOf("torch.older"),
        Member::AllOf("torch.settings"),
        Member::Str("__version__", env!("CARGO_PKG_VERSION")),
        Member::Each(ops),
        // These take a dtype, which their ops do not.
        Member::These("torch.draws", &["rand_like", "randn_like"]),
        Member::Functions(FUNCTIONS),
        Member::Functions(anomaly::FUNCTIONS),
        Member::Functions(grad_mode::FUNCTIONS),
        Member::Functions(device::FUNCTIONS),
        Member::Functions(dtype::FUNCTIONS),
        Member::Functions(beneath::FUNCTIONS),
        Member::Functions(unregistered::FUNCTIONS),
        Member::Functions(generator::FUNCTIONS),
        Member::Functions(generator::FOR_SAMPLERS),
        Member::Functions(ops_binding::STORING),
        Member::Types(&[
            &methods::TENSOR,
            &methods::PARAMETER,
            &device::DEVICE,
            &dtype::DTYPE,
            &named::SIZE,
        ]),
        Member::Types(&[&NO_GRAD, &ENABLE_GRAD, &INFERENCE, &generator::GENERATOR]),
        Member::Each(dtypes),
        Member::Float("pi", std::f64::consts::PI),
        Member::Float("e", std::f64::consts::E),
        Member::Float("inf", f64::INFINITY),
        Member::Float("nan", f64::NAN),
        Member::Module("nn", "torch.nn"),
        Member::Module("optim", "torch.optim"),
        Member::Module("autograd", "torch.autograd"),
        Member::Module("random", "torch.random"),
        Member::Module("cuda", "torch.cuda"),
        Member::Module("accelerator", "torch.accelerator"),
        Member::Module("amp", "torch.amp"),
        Member::These(
            "torch.amp",
            &["GradScaler", "autocast", "get_autocast_dtype", "is_autocast_enabled"],
        ),
        Member::Module("func", "torch.func"),
        Member::These("torch.func", &["vmap"]),
        Member::Module("return_types", "torch.return_types"),
        Member::Module("backends", "torch.backends"),
        Member::Module("files", "torch.files"),
        Member::Module("fft", "torch.fft"),
        Member::Module("linalg", "torch.linalg"),
        Member::Module("special", "torch.special"),
        Member::These("torch.special.bessel", &["i0"]),
        Member::These("torch.special.gammas", OF_GAMMAS),
        Member::These("torch.spectrograms", &["istft", "stft"]),
        Member::These("torch.windows", WINDOWS),
        Member::These("torch.draws", &["poisson", "randint_like"]),
        Member::These("torch.strides", &["as_strided"]),
        Member::Module("utils", "torch.utils"),
        Member::These("torch.nn.composed", OF_COMPOSED),
        Member::These("torch.nn.spatial", OF_SPATIAL),
        Member::These("torch.nn.convolution", CONVOLUTIONS),
        Member::These("torch.calls", CALLED_OTHERWISE),
        Member::These("torch.strides", &["empty_strided"]),
    ],
    aliases: &[],
};

/// Functions that `torch.special` has under these names, or others.
const OF_GAMMAS: &[&str] = &["igamma", "igammac", "mvlgamma", "polygamma"];

const WINDOWS: &[&str] =
    &["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"];

/// Functions that PyTorch has in `torch` as in `torch.nn.functional`, with the same arguments.
const OF_COMPOSED: &[&str] = &["bilinear", "pairwise_distance", "pdist", "prelu", "rms_norm"];
const OF_SPATIAL: &[&str] = &[
    "adaptive_avg_pool1d",
    "avg_pool1d",
    "channel_shuffle",
    "max_pool1d",
    "max_pool3d",
    "pixel_shuffle",
    "pixel_unshuffle",
];
const CONVOLUTIONS: &[&str] = &["conv3d", "conv_transpose1d", "conv_transpose3d"];

/// Functions that PyTorch has in `torch` with other arguments than in `torch.nn.functional`.
const CALLED_OTHERWISE: &[&str] = &[
    "adaptive_max_pool1d",
    "alpha_dropout",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "dropout",
    "embedding",
    "feature_alpha_dropout",
    "feature_dropout",
    "group_norm",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "layer_norm",
    "margin_ranking_loss",
    "max_pool1d_with_indices",
    "poisson_nll_loss",
    "rrelu",
    "triplet_margin_loss",
];

const UNPOOLING: &[&str] = &["max_unpool1d", "max_unpool2d", "max_unpool3d"];

/// The module `torch.nn.functional`.
pub static FUNCTIONAL: NativeModule = NativeModule {
    name: "torch.nn.functional",
    doc: "Ops for networks, as functions.",
    members: &[
        Member::AllOf("torch.nn.composed"),
        Member::AllOf("torch.nn.losses"),
        Member::These("torch.nn.ctc", &["ctc_loss"]),
        Member::AllOf("torch.nn.spatial"),
        Member::These("torch.nn.convolution", CONVOLUTIONS),
        Member::These("torch.nn.unpooling", UNPOOLING),
        Member::These("torch.nn.sampling", &["affine_grid", "grid_sample"]),
        Member::Each(ops),
        // These do more than their ops: running statistics, a row that is not trained, what one value cannot be, dropout, sizes that stay.
        Member::These("torch.nn.spatial", &["adaptive_avg_pool2d"]),
        Member::These(
            "torch.nn.composed",
            &["batch_norm", "embedding", "group_norm", "scaled_dot_product_attention"],
        ),
    ],
    aliases: &[],
};

/// The rows that `torch.linalg` stands on.
pub static FACTORS: NativeModule = NativeModule {
    name: "torch._linalg",
    doc: "Factors of matrices, and what makes errors of what they tell.",
    members: &[Member::Each(factors), Member::Types(&[&LINALG_ERROR])],
    aliases: &[],
};

/// The rows under their own names, for what is made of them.
pub static ROWS: NativeModule = NativeModule {
    name: "torch._rows",
    doc: "Every op as its row has it.",
    members: &[Member::Each(rows)],
    aliases: &[],
};

/// The module `torch.autograd`.
pub static AUTOGRAD: NativeModule = NativeModule {
    name: "torch.autograd",
    doc: "Gradients as values.",
    members: &[
        Member::Functions(gradients::FUNCTIONS),
        Member::Functions(&[anomaly::WATCH]),
        Member::Functions(grad_mode::FUNCTIONS),
        Member::Types(&[&NO_GRAD, &ENABLE_GRAD, &INFERENCE]),
        Member::AllOf("torch.autograd.functions"),
        Member::These("torch.autograd.checks", &["gradcheck", "gradgradcheck"]),
        Member::Module("functional", "torch.autograd.functional"),
    ],
    aliases: &[],
};

/// The module `torch.random`, which MegEngine calls `megengine.random`.
pub static RANDOM: NativeModule = NativeModule {
    name: "torch.random",
    doc: "The generator behind random ops.",
    members: &[
        Member::Functions(RANDOM_FUNCTIONS),
        Member::Functions(generator::FUNCTIONS),
        Member::These("torch.draws", &["fork_rng"]),
        Member::Each(random_ops),
    ],
    aliases: &["megengine.random"],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "tensor",
        "data, dtype=None, device=None, requires_grad=False, pin_memory=False",
        "A tensor of numbers or nested lists of numbers.",
        tensor,
    ),
    function("as_tensor", "data, dtype=None, device=None", "The data as a tensor.", as_tensor),
    function("from_numpy", "data", "The array as a tensor.", as_tensor_plain),
    function("is_tensor", "obj", "Whether it is a tensor.", is_tensor).pure(),
    function("is_parameter", "obj", "Whether it is an nn.Parameter.", is_parameter).pure(),
    function("_autocast_half", "device", "The dtype that autocast lowers to now, or None.", autocast_half),
    function("_set_autocast_half", "device, dtype", "Sets it, and gives what it was.", set_autocast_half),
    function("manual_seed", "seed", "Restarts the random numbers.", manual_seed).session(),
    function(
        "randint",
        "low=None, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None",
        "Whole numbers from `low` (0 if absent) up to but not including `high`: randint(high, size), randint(low, high, size).",
        randint,
    ),
    function(
        "set_num_threads",
        "count",
        "How many threads take part in an op from now on, the calling one included.",
        set_num_threads,
    )
    .opaque(),
    function("get_num_threads", "", "How many threads take part in an op.", num_threads).opaque(),
    function(
        "set_printoptions",
        "precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None",
        "How tensors print; the profiles are 'default', 'short' and 'full'.",
        set_print_options,
    )
    .opaque(),
    function("numel", "input", "Number of elements.", numel).pure(),
];

static RANDOM_FUNCTIONS: &[NativeFn] = &[
    function("manual_seed", "seed", "Restarts the random numbers.", manual_seed),
    function("seed", "seed", "Restarts the random numbers.", manual_seed),
];

fn ops(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let own = engine::ops::public().map(|op| (op.name, op));
    let others = ops_binding::named("torch.").chain(ops_binding::named("torch.nn.functional."));
    let value = |(name, op)| (Sym::of(name), ops_binding::function_of(op));
    Ok(ops_binding::in_place().chain(others.chain(own).map(value)).collect())
}

fn factors(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let value = |op: &&'static engine::OpDef| (Sym::of(op.name), ops_binding::function_of(op));
    Ok(engine::ops::linalg::ALL.iter().map(value).collect())
}

fn rows(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let value = |op: &'static engine::OpDef| (Sym::of(op.name), ops_binding::function_of(op));
    Ok(engine::ops::all().map(value).collect())
}

fn random_ops(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let random = engine::ops::all().filter(|op| !op.pure);
    Ok(random.map(|op| (Sym::of(op.name), ops_binding::function_of(op))).collect())
}

fn dtypes(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    let value = |(name, it): &(&'static str, engine::DType)| (Sym::of(name), dtype::value_of(*it));
    Ok(dtype::NAMES.iter().map(value).collect())
}

fn tensor(cx: &mut Cx, args: Args<'_>) -> Res {
    let wanted = args.opt(1).map(dtype::from_value).transpose()?;
    let device = device::or_default(cx, args.opt(2))?;
    let res = device::moved(convert::from_data(cx, &args[0], wanted)?, device)?;
    let made = Made { requires_grad: cx.truth(&args[3])?, pinned: cx.truth(&args[4])? };
    made.variable(res)
}

fn as_tensor(cx: &mut Cx, args: Args<'_>) -> Res {
    let wanted = args.opt(1).map(dtype::from_value).transpose()?;
    let of_data = args[0].as_tensor().map(|it| it.get().device());
    let device = match (args.opt(2), of_data) {
        (None, Some(device)) => device,
        (given, _) => device::or_default(cx, given)?,
    };
    if of_data.is_none_or(|it| it != device) {
        let data = convert::from_data(cx, &args[0], wanted)?;
        return device::moved(data, device).map(Value::tensor);
    }
    match &args[0] {
        Value::Tensor(it) if wanted.is_none_or(|dtype| dtype == it.get().dtype()) => {
            match it.look() {
                Look::Array => Ok(array::seen_as(it, Look::Tensor)),
                _ => Ok(args[0].clone()),
            }
        }
        Value::Tensor(it) => lost_part::cast(cx, &it.get(), wanted).map(Value::tensor),
        other => convert::from_data(cx, other, wanted).map(Value::tensor),
    }
}

fn as_tensor_plain(cx: &mut Cx, args: Args<'_>) -> Res {
    match &args[0] {
        Value::Tensor(it) if it.look() == Look::Array => Ok(array::seen_as(it, Look::Tensor)),
        Value::Tensor(_) => Ok(args[0].clone()),
        other => convert::from_data(cx, other, None).map(Value::tensor),
    }
}

fn is_tensor(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(args[0].as_tensor().is_some_and(|it| it.look() != Look::Array)))
}

fn is_parameter(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(args[0].as_tensor().is_some_and(|it| it.is_parameter())))
}

/// The kind of device that a word names.
fn autocast_on(value: &Value) -> autocast::On {
    if value.as_str() == Some("cuda") { autocast::On::Gpu } else { autocast::On::Cpu }
}

fn autocast_half(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(dtype_or_none(autocast::half(autocast_on(&args[0]))))
}

fn set_autocast_half(_cx: &mut Cx, args: Args<'_>) -> Res {
    let half = if args[1].is_none() { None } else { Some(dtype::from_value(&args[1])?) };
    Ok(dtype_or_none(autocast::set_half(autocast_on(&args[0]), half)))
}

fn dtype_or_none(it: Option<engine::DType>) -> Value {
    it.map_or(Value::None, dtype::value_of)
}

/// A seed, as `int()` reads it.
fn seed_of(value: &Value) -> Result<i64, Raised> {
    let whole = match value {
        Value::Float(it) if it.is_finite() => Some(it.trunc() as i64),
        other => other.as_int(),
    };
    let read = || value.as_str().and_then(|it| it.trim().parse().ok());
    whole.or_else(read).ok_or_else(|| match value.as_str() {
        Some(text) => value_error(format!(
            "invalid literal for int() with base 10: '{text}'; a seed is a whole number"
        )),
        None => type_error(format!("a seed is a whole number, not {}", type_name(value))),
    })
}

pub(super) fn manual_seed(_cx: &mut Cx, args: Args<'_>) -> Res {
    let seed = seed_of(&args[0])? as u64;
    engine::random::seed(seed);
    engine::cuda::seed(seed);
    Ok(generator::of_session())
}

fn set_num_threads(_cx: &mut Cx, args: Args<'_>) -> Res {
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let count = usize::try_from(args.int(0)?).ok().filter(|it| *it > 0);
    let count = count.ok_or_else(|| {
        runtime_error(format!(
            "set_num_threads expects a positive integer, not {}; `torch.set_num_threads({cores})` takes all cores of this machine",
            args[0].as_int().unwrap_or_default(),
        ))
    })?;
    engine::cpu::pool::set_threads(count);
    Ok(Value::None)
}

fn num_threads(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::from(engine::cpu::pool::threads()))
}

/// `low` may be left out, so the second argument is the size when it is no number.
fn randint(cx: &mut Cx, args: Args<'_>) -> Res {
    let is_short = args[0].is_none() || args[1].as_int().is_none() || args[2].is_none();
    let (low, high, size) = match (is_short, &args[1]) {
        (false, high) => (args[0].clone(), high.clone(), args[2].clone()),
        (true, high) if args[0].is_none() => (Value::Int(0), high.clone(), args[2].clone()),
        (true, Value::None) => (Value::Int(0), args[0].clone(), args[2].clone()),
        (true, size) => (Value::Int(0), args[0].clone(), size.clone()),
    };
    if size.is_none() {
        return Err(type_error(
            "randint() needs a size: randint(high, size) or randint(low, high, size), such as randint(10, (3,))",
        ));
    }
    let op =
        engine::ops::find("randint").ok_or_else(|| runtime_error("the op randint is missing"))?;
    let func = ops_binding::function_of(op);
    let generator = args.opt(3).cloned();
    let options = [("dtype", 4), ("device", 5), ("requires_grad", 6), ("out", 7)];
    let given = options.iter().filter_map(|it| Some((Sym::of(it.0), args.opt(it.1)?.clone())));
    let (given, positional): (Vec<_>, _) = (given.collect(), [low, high, size]);
    let call = CallArgs { positional: &positional, keywords: &given };
    generator::with(generator.as_ref(), || cx.call_with(&func, call))?
}

fn numel(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::from(convert::variable(&args[0])?.get().numel()))
}

fn set_print_options(_cx: &mut Cx, args: Args<'_>) -> Res {
    let mut options = match args.opt_str(4)? {
        None => text::options(),
        Some("default") => text::DEFAULT_OPTIONS,
        Some("short") => text::PrintOptions { precision: 2, edge: 2, ..text::DEFAULT_OPTIONS },
        Some("full") => text::PrintOptions { threshold: usize::MAX, ..text::DEFAULT_OPTIONS },
        Some(other) => return Err(value_error(format!("there is no profile '{other}'"))),
    };
    let size = |at: usize, most: i64| -> Result<Option<usize>, Raised> {
        match args.opt(at).and_then(Value::as_float) {
            Some(all) if all.is_infinite() => Ok(Some(usize::MAX)),
            _ => Ok(args.opt_int(at)?.map(|it| it.clamp(0, most) as usize)),
        }
    };
    options.precision = size(0, 40)?.map_or(options.precision, |it| it.min(40));
    options.threshold = size(1, i64::MAX)?.unwrap_or(options.threshold);
    options.edge = size(2, 1 << 20)?.map_or(options.edge, |it| it.min(1 << 20));
    options.line = size(3, 1 << 20)?.map_or(options.line, |it| it.min(1 << 20));
    options.scientific = match &args[5] {
        Value::Bool(it) => Some(*it),
        _ => None,
    };
    text::set_options(options);
    Ok(Value::None)
}
