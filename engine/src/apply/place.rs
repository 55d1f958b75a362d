//! Which device an op computes on: that of its operands; what is made of nothing is made where the caller says.

use std::cell::Cell;

use crate::{Device, Error, OpDef, Result, Tensor};

thread_local! {
    static MAKING: Cell<Device> = const { Cell::new(Device::Cpu) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, in which ops without operands make their tensors on `device`.
pub fn making_on<R>(device: Device, body: impl FnOnce() -> R) -> R {
    let before = MAKING.replace(device);
    let res = body();
    MAKING.set(before);
    res
}

/// Runs the ops that another op or a gradient on a device consists of: their constants may lie anywhere.
pub(crate) fn inside<R>(device: Device, body: impl FnOnce() -> R) -> R {
    let before = INSIDE.replace(true);
    let res = making_on(device, body);
    INSIDE.set(before);
    res
}

/// The device that computes an op on these operands, if they go together.
pub(super) fn of(inputs: &[Tensor]) -> Device {
    match inputs {
        [] => MAKING.get(),
        _ if inputs.iter().any(Tensor::is_meta) => Device::Meta,
        _ => Device::Cpu,
    }
}

/// The device of an op on these operands; tensors on two devices are an error, but single elements may be on the CPU.
pub(super) fn device_of(op: &'static OpDef, inputs: &[Tensor]) -> Result<Device> {
    let device = of(inputs);
    if device == Device::Cpu {
        return Ok(device);
    }
    let mut large = inputs.iter().filter(|it| it.rank() > 0).map(Tensor::device);
    if !INSIDE.get()
        && !op.surface.mixes_devices
        && let Some(expected) = large.next()
        && let Some(found) = large.find(|it| *it != expected)
    {
        return Err(Error::Devices { op: op.name, expected, found });
    }
    Ok(device)
}
