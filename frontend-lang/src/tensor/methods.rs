//! Methods of tensors that are not ops.

use std::rc::Rc;
use std::sync::LazyLock;

use engine::apply::{default_dtype, place};
use engine::index::Index;
use engine::{DType, Device, Layout, Tensor, functional};

use super::{
    arith, attribute, convert, device, draws, dtype, gradients, hooks, journal, lost_part,
};
use crate::array;
use crate::native::*;
use crate::objects::tensor::{Look, TensorObj};
use crate::tensor::made::memory_format;

/// The type `torch.Tensor`.
pub static TENSOR: NativeType = NativeType {
    module: "torch",
    new: Some(function("Tensor", "cls, *data", "A float32 tensor of the data.", new_tensor)),
    methods: &[METHODS],
    ..NativeType::plain("Tensor", "An n-dimensional array of numbers of one dtype.")
};

/// The type `nn.Parameter`.
pub static PARAMETER: NativeType = NativeType {
    module: "torch.nn.parameter",
    base: Some(&TENSOR),
    new: Some(function(
        "Parameter",
        "cls, data, requires_grad=True",
        "A tensor that modules train.",
        parameter,
    )),
    ..NativeType::plain("Parameter", "A tensor that modules train.")
};

static METHODS: &[NativeFn] = &[
    function("item", "self", "The only element, as a number.", item).opaque(),
    function("tolist", "self", "Nested lists of the elements.", tolist).opaque(),
    function("numpy", "self, *, force=False", "The same elements as an array.", numpy),
    function("detach", "self", "The same elements, off the tape.", detach),
    function("detach_", "self", "Takes the tensor off the tape.", detach_in_place),
    function("clone", "self, memory_format=None", "A copy, on the tape.", clone),
    function("copy", "self, memory_format=None", "A copy, on the tape.", clone),
    function("size", "self, dim=None", "All sizes, or one.", size).pure(),
    function("dim", "self", "Number of dimensions.", dim).pure(),
    function("ndimension", "self", "Number of dimensions.", dim).pure(),
    function("numel", "self", "Number of elements.", numel).pure(),
    function("nelement", "self", "Number of elements.", numel).pure(),
    function("element_size", "self", "Bytes of one element.", element_size).pure(),
    function("is_floating_point", "self", "Whether elements are floats.", is_float).pure(),
    function(
        "is_contiguous",
        "self, memory_format=None",
        "Whether elements lie in row-major order.",
        is_contiguous,
    )
    .pure(),
    function(
        "contiguous",
        "self, memory_format=None",
        "The same elements in row-major order.",
        contiguous,
    ),
    function(
        "stride",
        "self, dim=None",
        "Elements to step per index: of all dimensions, or of one.",
        stride,
    )
    .pure(),
    function("cpu", "self", "The tensor on the CPU.", to_cpu),
    function(
        "to",
        "self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None",
        "Converts dtype or device.",
        to,
    ),
    function("type", "self, dtype=None", "Converts the dtype.", to_type),
    function("astype", "self, dtype", "Converts the dtype.", to_dtype),
    function("float", "self", "As float32.", to_float),
    function("double", "self", "As float64.", to_double),
    function("cfloat", "self", "As complex64.", to_cfloat),
    function("cdouble", "self", "As complex128.", to_cdouble),
    function("int", "self", "As int32.", to_int),
    function("long", "self", "As int64.", to_long),
    function("bool", "self", "As bool.", to_bool),
    function("byte", "self", "As uint8.", to_byte),
    function("half", "self", "As float16.", to_half),
    function("bfloat16", "self", "As bfloat16.", to_bfloat16),
    function("char", "self", "As int8.", to_char),
    function("short", "self", "As int16.", to_short),
    function(
        "type_as",
        "self, other",
        "In the dtype of another tensor, and on its device.",
        type_as,
    ),
    function(
        "requires_grad_",
        "self, requires_grad=True",
        "Starts collecting gradients.",
        requires_grad,
    ),
    gradients::BACKWARD,
    function(
        "retain_grad",
        "self",
        "Keeps the gradient of a tensor that is not a leaf.",
        retain_grad,
    ),
    function("zero_", "self", "Sets every element to 0.", zero),
    function("fill_", "self, value", "Sets every element.", fill),
    function(
        "copy_",
        "self, source, non_blocking=False",
        "Takes over the elements of another tensor.",
        copy_from,
    ),
    function("set_value", "self, source", "Takes over the elements of another tensor.", copy_from),
    function(
        "uniform_",
        "self, from=0.0, to=1.0, *, generator=None",
        "Fills with uniform random numbers.",
        draws::uniform,
    ),
    function(
        "normal_",
        "self, mean=0.0, std=1.0, *, generator=None",
        "Fills with normal random numbers.",
        draws::normal,
    ),
];

/// Whether a method of this name stands here.
pub fn defines(name: Sym) -> bool {
    thread_local! {
        static NAMES: rustc_hash::FxHashSet<Sym> = METHODS.iter().map(|it| Sym::of(it.name)).collect();
    }
    NAMES.with(|it| it.contains(&name))
}

fn this(args: &Args<'_>) -> Result<Rc<TensorObj>, Raised> {
    convert::variable(&args[0]).cloned()
}

fn new_tensor(cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.rest(1);
    if !data.is_empty() && data.iter().all(|it| matches!(it, Value::Int(_))) {
        let sizes = data.iter().filter_map(Value::as_int).map(|it| it.max(0) as usize);
        // Each element is one of its own.
        let zeros = engine::functional::full(&sizes.collect(), 0.0, default_dtype::get())?;
        return Ok(Value::tensor(in_order(&zeros)?));
    }
    let list = Value::list(Vec::new());
    convert::from_data(cx, data.first().unwrap_or(&list), Some(default_dtype::get()))
        .map(Value::tensor)
}

fn parameter(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = convert::variable(&args[1])?.get();
    let on = !matches!(args[2], Value::Bool(false));
    if on && !data.dtype().is_differentiable() {
        return Err(dtype_error(format!(
            "a parameter holds floats or complex numbers, this tensor holds {}",
            data.dtype()
        )));
    }
    Ok(Value::Tensor(TensorObj::parameter(&data, on)))
}

fn item(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(convert::number(this(&args)?.get().item()?))
}

fn tolist(cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    convert::to_list(cx, &value)
}

fn detach(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(attribute::detached(&this(&args)?))
}

fn numpy(cx: &mut Cx, args: Args<'_>) -> Res {
    let this = this(&args)?;
    let device = this.seen().device();
    if device != Device::Cpu {
        return Err(type_error(format!(
            "can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )));
    }
    array::holdable(&this.get())?;
    if !cx.truth(&args[1])? {
        array::readable(cx, &this)?;
    }
    Ok(array::seen_as(&this, Look::Array))
}

fn detach_in_place(_cx: &mut Cx, args: Args<'_>) -> Res {
    this(&args)?.drop_edge();
    Ok(args[0].clone())
}

fn clone(_cx: &mut Cx, args: Args<'_>) -> Res {
    if let Some(format) = args.opt(1) {
        memory_format(format)?;
    }
    let value = this(&args)?.get();
    if !value.requires_grad() || !engine::autograd::enabled() {
        // Elements never change, so a copy is another name; where there are gaps or repetitions, it is put in order. A part of something
        // gets a buffer of its own: it would hold the whole, and keep that from being written in place.
        let is_whole = value.layout().dense_order().is_some() && !value.is_part();
        let value = if is_whole { value } else { in_order(&value)? };
        return Ok(Value::tensor(value.detach()));
    }
    in_order(&value).map(Value::tensor)
}

fn size(_cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    match args.opt_int(1)? {
        None => Ok(convert::sizes(value.shape())),
        Some(dim) => Ok(Value::from(value.shape()[value.shape().dim("size", dim)?])),
    }
}

fn dim(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::from(this(&args)?.get().rank()))
}

fn numel(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::from(this(&args)?.get().numel()))
}

fn element_size(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::from(this(&args)?.get().dtype().size()))
}

fn is_float(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(this(&args)?.get().dtype().is_float()))
}

fn is_contiguous(_cx: &mut Cx, args: Args<'_>) -> Res {
    memory_format(&args[1])?;
    Ok(Value::Bool(this(&args)?.get().layout().is_contiguous()))
}

fn stride(_cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    if let Some(dim) = args.opt_int(1)? {
        let step = value.layout().strides[value.shape().dim("stride", dim)?];
        return Ok(Value::Int(step as i64));
    }
    let strides = value.layout().strides.iter().map(|&it| Value::Int(it as i64));
    Ok(Value::tuple(strides.collect::<Vec<_>>()))
}

/// The tensor itself if it lies in row-major order, else a copy that does.
fn contiguous(_cx: &mut Cx, args: Args<'_>) -> Res {
    memory_format(&args[1])?;
    let value = this(&args)?.get();
    if value.layout().is_contiguous() {
        return Ok(args[0].clone());
    }
    in_order(&value).map(Value::tensor)
}

/// A copy in row-major order, on the tape.
pub(crate) fn in_order(value: &Tensor) -> Result<Tensor, Raised> {
    static CLONE: LazyLock<Option<arith::Ready>> = LazyLock::new(|| arith::Ready::named("clone"));
    let clone = CLONE.as_ref().ok_or_else(|| runtime_error("the op clone is missing"))?;
    clone.apply(std::slice::from_ref(value))
}

/// The value of a variable whose elements lay so: where they had no gaps, they go on lying in the same order.
pub(crate) fn lying_as(value: Tensor, layout: &Layout) -> Result<Tensor, Raised> {
    if layout.is_contiguous() && value.layout().is_contiguous() {
        return Ok(value);
    }
    match layout.dense_order() {
        Some(order) if !value.layout().permute(&order).is_contiguous() => lying_in(&value, &order),
        _ => Ok(value),
    }
}

/// A copy whose elements lie row-major with the dimensions in this order.
fn lying_in(value: &Tensor, order: &[usize]) -> Result<Tensor, Raised> {
    let turn: Vec<i64> = order.iter().map(|&it| it as i64).collect();
    if turn.is_sorted() {
        return in_order(value);
    }
    let mut back = vec![0; turn.len()];
    turn.iter().zip(0..).for_each(|(&dim, at)| back[dim as usize] = at);
    let turned = in_order(&functional::permute(value, &turn)?)?;
    Ok(functional::permute(&turned, &back)?)
}

fn to_cpu(_cx: &mut Cx, args: Args<'_>) -> Res {
    on_device(args[0].clone(), Device::Cpu)
}

fn on_device(tensor: Value, target: Device) -> Res {
    let value = convert::variable(&tensor)?.get();
    if value.device() == target {
        return Ok(tensor);
    }
    device::moved(value, target).map(Value::tensor)
}

/// `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`.
fn to(cx: &mut Cx, args: Args<'_>) -> Res {
    memory_format(&args[6])?;
    let mut target = args.opt(2).map(dtype::from_value).transpose()?;
    let mut place = args.opt(3).map(device::from_value).transpose()?;
    for arg in args.rest(1) {
        if let Value::Tensor(other) = arg {
            let other = other.get();
            (target, place) = (Some(other.dtype()), Some(other.device()));
        } else if arg.downcast::<dtype::DTypeObj>().is_some()
            || arg.downcast::<array::dtype::ArrayDType>().is_some()
            || matches!(arg, Value::Class(_))
        {
            target = Some(dtype::from_value(arg)?);
        } else if let Some(name) = arg.as_str().and_then(DType::parse) {
            target = Some(name);
        } else if !matches!(arg, Value::Bool(_) | Value::None) {
            place = Some(device::from_value(arg)?);
        }
    }
    // By position, `copy` is the truth value after `non_blocking`.
    let switches = args.rest(1).iter().filter(|it| matches!(it, Value::Bool(_)));
    let copies = cx.truth(&args[4])? || switches.skip(1).any(|it| matches!(it, Value::Bool(true)));
    let found = converted(cx, &args, target)?;
    let found = place.map_or(Ok(found.clone()), |it| on_device(found, it))?;
    if copies && found.is(&args[0]) {
        in_order(&this(&args)?.get()).map(Value::tensor)
    } else {
        Ok(found)
    }
}

fn converted(cx: &mut Cx, args: &Args<'_>, target: Option<DType>) -> Res {
    let value = this(args)?.get();
    match target {
        Some(dtype) if dtype != value.dtype() => {
            lost_part::casting(cx, &value, dtype)?;
            Ok(Value::tensor(convert::cast(&value, Some(dtype))?))
        }
        _ => Ok(args[0].clone()),
    }
}

/// `type(dtype)`, which takes no types of the language.
fn to_type(cx: &mut Cx, args: Args<'_>) -> Res {
    match args.opt(1) {
        Some(Value::Class(it)) => Err(invalid_type(it.name.as_str())),
        _ => to_dtype(cx, args),
    }
}

fn invalid_type(name: &str) -> Raised {
    value_error(format!(
        "invalid type: '{name}'; write a dtype such as torch.float64, or 'torch.DoubleTensor'"
    ))
}

/// `astype(dtype)` and `type(dtype)`; without a dtype, the name of the tensor's type.
fn to_dtype(cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(target) = args.opt(1) else {
        return Ok(Value::str(dtype::tensor_type(this(&args)?.get().dtype())));
    };
    let target = match (dtype::from_value(target), target.as_str()) {
        (Err(_), Some(name)) => return Err(invalid_type(name)),
        (found, _) => found?,
    };
    converted(cx, &args, Some(target))
}

fn to_float(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::F32))
}

fn to_double(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::F64))
}

fn to_cfloat(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::C64))
}

fn to_cdouble(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::C128))
}

fn to_int(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::I32))
}

fn to_half(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::F16))
}

fn to_bfloat16(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::BF16))
}

fn to_char(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::I8))
}

fn to_short(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::I16))
}

fn to_long(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::I64))
}

fn to_bool(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::Bool))
}

fn to_byte(cx: &mut Cx, args: Args<'_>) -> Res {
    converted(cx, &args, Some(DType::U8))
}

fn type_as(cx: &mut Cx, args: Args<'_>) -> Res {
    let (dtype, device) = {
        let other = convert::variable(&args[1])?;
        let seen = other.seen();
        (seen.dtype(), seen.device())
    };
    let found = converted(cx, &args, Some(dtype))?;
    let value = convert::variable(&found)?.get();
    match value.device() == device {
        true => Ok(found),
        false => Ok(Value::tensor(super::device::moved(value, device)?)),
    }
}

fn requires_grad(cx: &mut Cx, args: Args<'_>) -> Res {
    let on = cx.truth(&args[1])?;
    attribute::requires_grad(&this(&args)?, on)?;
    Ok(args[0].clone())
}

fn retain_grad(_cx: &mut Cx, args: Args<'_>) -> Res {
    let object = this(&args)?;
    if !object.get().requires_grad() {
        return Err(runtime_error(
            "can't retain_grad on Tensor that has requires_grad=False; compute it from one that has it, with gradients recorded",
        ));
    }
    hooks::retain_grad(&object);
    Ok(Value::None)
}

/// Gives a variable other elements. A value of its dtype and shape becomes its own, without a copy; another one is spread over its
/// shape, where its elements are if nobody else sees them there.
pub(super) fn filled(this: &Value, mut value: Tensor) -> Res {
    let object = convert::variable(this)?;
    object.look_again();
    let before = object.seen().meta();
    if object.seen().is_meta() {
        let value = engine::functional::expand(&value.to_meta(), &before.shape)?;
        arith::assign(this, convert::cast(&value, Some(before.dtype))?.detach())?;
        return Ok(this.clone());
    }
    if value.is_meta() {
        return Err(engine::Error::NoData.into());
    }
    let device = object.seen().device();
    if value.as_number().is_none() && value.device() != device {
        value = place::to_device(&value, device)?;
    }
    if let Some(number) = value.as_number().filter(|it| !it.fits(before.dtype)) {
        let (op, name, dtype) = ("fill_", "value", before.dtype);
        return Err(engine::Error::Range { op, name, number, dtype }.into());
    }
    let fits = value.as_number().is_none() && value.meta() == before;
    if !fits && object.refuses_in_place().is_none() {
        journal::value_changes(object);
        match object.write_in_place(&[Index::Ellipsis], value)? {
            Some(left) => value = left,
            None => return Ok(this.clone()),
        }
    }
    let value = match value.as_number() {
        Some(number) if !before.dtype.is_complex() => {
            let full = || engine::functional::full(&before.shape, number.as_f64(), before.dtype);
            place::making_on(device, full)?
        }
        _ if value.dtype() == before.dtype => value,
        _ => convert::cast(&value, Some(before.dtype))?,
    };
    let value = match *value.shape() == before.shape {
        true => value,
        false => engine::functional::expand(&value, &before.shape)?,
    };
    arith::assign(this, value)?;
    Ok(this.clone())
}

fn zero(_cx: &mut Cx, args: Args<'_>) -> Res {
    filled(&args[0], Tensor::number(0.0))
}

fn fill(_cx: &mut Cx, args: Args<'_>) -> Res {
    match convert::operand(&args[1]) {
        Some(value) if value.rank() == 0 => filled(&args[0], value),
        Some(value) => Err(runtime_error(format!(
            "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions: write x.copy_(value)",
            value.rank()
        ))),
        None => Err(type_error(format!("fill_() takes one number, not {:?}", args[1]))),
    }
}

fn copy_from(cx: &mut Cx, args: Args<'_>) -> Res {
    let source = match convert::operand(&args[1]) {
        Some(source) => source,
        None => convert::from_data(cx, &args[1], None)?,
    };
    let target = this(&args)?.seen().meta();
    if source.shape().broadcast(&target.shape).as_ref() != Some(&target.shape) {
        let shapes = vec![target.shape, source.shape().clone()];
        let rule = "what is copied must broadcast to where it goes".into();
        return Err(engine::Error::Shapes { op: "copy_", shapes, rule }.into());
    }
    lost_part::casting(cx, &source, target.dtype)?;
    filled(&args[0], source)
}
