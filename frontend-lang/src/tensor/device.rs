//! Devices as values, and where tensors are made: `torch.device`, the default device, `with torch.device(...):`.
//!
//! Every name of a device that PyTorch knows is a value; only those that compute here, and `meta`, can be used. GPUs are looked for when the
//! first of them is named.

use std::any::Any;

use engine::apply::place;
use engine::{Device, Tensor, cuda};

use super::dtype::equality;
use crate::native::*;

/// The type of `x.device`.
pub static DEVICE: NativeType = NativeType {
    module: "torch",
    new: Some(
        function("device", "cls, type, index=None", "A place that holds tensors.", new_device)
            .pure(),
    ),
    getters: &[
        Getter { name: "type", doc: "`cpu`.", get: kind },
        Getter { name: "index", doc: "Which of several; None if that is not said.", get: index },
    ],
    ..NativeType::plain(
        "device",
        "A place that holds tensors; in a `with` block tensors are made there.",
    )
};

/// Functions of `torch`.
pub static FUNCTIONS: &[NativeFn] = &[
    function("get_default_device", "", "Where tensors are made.", get_default),
    function(
        "set_default_device",
        "device",
        "Where tensors are made from now on; None: on the CPU.",
        set_default,
    )
    .session(),
];

/// The kinds that PyTorch knows, in its order.
const KINDS: &[&str] = &[
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// A device as a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DeviceObj {
    kind: &'static str,
    index: Option<i64>,
}

/// Where tensors are made.
#[derive(Clone, Default)]
pub(crate) struct Devices {
    /// Until another is set.
    default: Option<DeviceObj>,
    /// Of the `with` blocks under way.
    blocks: Vec<DeviceObj>,
}

impl Devices {
    /// Whether tensors are made on the CPU now.
    pub(crate) fn is_cpu(&self) -> bool {
        self.current().kind == "cpu"
    }

    /// Whether what is made now has elements.
    pub(crate) fn computes(&self) -> bool {
        matches!(self.current().kind, "cpu" | "cuda")
    }

    /// Where tensors are made now.
    pub(crate) fn current(&self) -> DeviceObj {
        let cpu = DeviceObj { kind: "cpu", index: None };
        self.blocks.last().copied().or(self.default).unwrap_or(cpu)
    }
}

/// A device of the engine as a value.
pub fn of(device: Device) -> Value {
    let (kind, index) = match device {
        Device::Cpu => ("cpu", None),
        Device::Meta => ("meta", None),
        Device::Cuda(index) => ("cuda", Some(index.into())),
    };
    Value::object(DeviceObj { kind, index })
}

/// The device that a value names, if it can be used here.
pub fn from_value(value: &Value) -> Result<Device, Raised> {
    named(value, None)?.usable()
}

/// The device that is given, or else the one that tensors are made on.
pub fn or_default(cx: &Cx, given: Option<&Value>) -> Result<Device, Raised> {
    match given {
        Some(value) => from_value(value),
        None if is_of_arrays(cx) => Ok(Device::Cpu),
        None => cx.devices.current().usable(),
    }
}

/// Whether the code that runs is NumPy's, whose arrays are on the CPU whatever holds for tensors.
fn is_of_arrays(cx: &Cx) -> bool {
    let is_cpu = cx.devices.is_cpu();
    let running = cx.machine.frames.last().filter(|_| !is_cpu);
    let source = running.and_then(|it| cx.sources.get(it.func.code.source));
    source.is_some_and(|it| it.name.starts_with("numpy"))
}

/// A tensor on another device; gradients go back to where it was. There is nothing to take from `meta`.
pub fn moved(tensor: Tensor, device: Device) -> Result<Tensor, Raised> {
    Ok(place::to_device(&tensor, device)?)
}

/// What stands for a tensor on another device where only its shape and dtype count: `zeros_like(x, device="cpu")`.
pub fn shaped(tensor: &Tensor, device: Device) -> Result<Tensor, Raised> {
    match (tensor.device(), device) {
        (from, to) if from == to => Ok(tensor.clone()),
        (_, Device::Meta) => Ok(tensor.to_meta()),
        _ => {
            let blank = || engine::functional::full(tensor.shape(), 0.0, tensor.dtype());
            Ok(place::making_on(device, blank)?)
        }
    }
}

fn named(value: &Value, index: Option<i64>) -> Result<DeviceObj, Raised> {
    if let Some(device) = value.downcast::<DeviceObj>() {
        return Ok(*device);
    }
    if let Some(number) = value.as_int() {
        return Ok(DeviceObj { kind: "cuda", index: Some(number) });
    }
    let Some(text) = value.as_str() else {
        return Err(type_error(format!(
            "a device is a torch.device or its name, such as 'cpu', not {}",
            type_name(value)
        )));
    };
    parse(text, index).ok_or_else(|| {
        runtime_error(format!(
            "Expected one of {} device type at start of device string: {text}",
            KINDS.join(", ")
        ))
    })
}

/// The device of a name: `cuda:1`, or in MegEngine's words `cpux`, `gpu0`.
fn parse(text: &str, index: Option<i64>) -> Option<DeviceObj> {
    if text != "meta" && !text.contains(':') && Device::parse(text) == Some(Device::Cpu) {
        return Some(DeviceObj { kind: "cpu", index });
    }
    if let Some(rest) = text.strip_prefix("gpu").filter(|it| *it == "x" || it.parse::<u8>().is_ok())
    {
        return Some(DeviceObj { kind: "cuda", index: rest.parse().ok().or(index) });
    }
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number.parse().ok()?)),
        None => (text, index),
    };
    let kind = KINDS.iter().find(|it| **it == name)?;
    Some(DeviceObj { kind, index: number })
}

impl DeviceObj {
    fn usable(self) -> Result<Device, Raised> {
        let found = match Device::parse(self.kind) {
            Some(Device::Cuda(_)) => {
                let number = self.index.unwrap_or(0);
                let device = u8::try_from(number).map(Device::Cuda);
                let Ok(device) = device else {
                    return Err(runtime_error(format!("there is no GPU of number {number}")));
                };
                match cuda::check(device) {
                    Ok(()) => return Ok(device),
                    Err(engine::Error::NoGpu { missing: Some(missing), .. }) => missing,
                    Err(error) => return Err(error.into()),
                }
            }
            Some(device) => return Ok(device),
            None => format!("there are no kernels for '{}' here", self.kind),
        };
        let help = "write `device = torch.device(\"cuda\" if torch.cuda.is_available() else \"cpu\")`, and \
                    `device=device` or `.to(device)`, so that the program runs with and without a GPU";
        let devices: Vec<String> =
            cuda::available().iter().chain(&[Device::Meta]).map(Device::to_string).collect();
        let text = format!(
            "cannot use device '{}': {found}; devices here: {}",
            self.name(),
            devices.join(", ")
        );
        Err(runtime_error(text).with_help(Some(help.into())))
    }

    fn name(self) -> String {
        match self.index {
            Some(index) => format!("{}:{index}", self.kind),
            None => self.kind.to_owned(),
        }
    }
}

fn this(value: &Value) -> Result<DeviceObj, Raised> {
    value.downcast::<DeviceObj>().copied().ok_or_else(|| type_error("expected a device"))
}

fn new_device(_cx: &mut Cx, args: Args<'_>) -> Res {
    named(&args[1], args.opt_int(2)?).map(Value::object)
}

fn kind(_cx: &mut Cx, it: &Value) -> Res {
    Ok(Value::str(this(it)?.kind))
}

fn index(_cx: &mut Cx, it: &Value) -> Res {
    Ok(this(it)?.index.map_or(Value::None, Value::Int))
}

fn get_default(cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::object(cx.devices.current()))
}

fn set_default(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.devices.default = args.opt(0).map(|it| named(it, None)).transpose()?;
    Ok(Value::None)
}

impl NativeObject for DeviceObj {
    fn native_type(&self) -> &'static NativeType {
        &DEVICE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn enter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        cx.devices.blocks.push(*self);
        Ok(Some(this.clone()))
    }

    fn exit(&self, cx: &mut Cx, _this: &Value, _error: &Value) -> Result<bool, Raised> {
        cx.devices.blocks.pop();
        Ok(false)
    }

    fn compare(
        &self,
        _: &mut Cx,
        op: CompareOp,
        _: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(equality(op, other.downcast::<DeviceObj>() == Some(self)))
    }

    fn hash(&self, _cx: &mut Cx) -> Result<Option<i64>, Raised> {
        let kind = KINDS.iter().position(|it| *it == self.kind).unwrap_or_default() as i64;
        Ok(Some(kind * 1000 + self.index.unwrap_or(-1)))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(match self.index {
            Some(index) => format!("device(type='{}', index={index})", self.kind),
            None => format!("device(type='{}')", self.kind),
        })
    }

    fn str(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(self.name())
    }
}
