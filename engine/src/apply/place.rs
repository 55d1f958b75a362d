//! Which device an op computes on: that of its operands; what is made of nothing is made where the caller says.

use std::cell::Cell;

use smallvec::smallvec;

use super::record::record;
use crate::tape::Mark;
use crate::{Attrs, Device, Error, OpDef, Result, Tensor, interpreter, ops};

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

/// The same elements on another device. Gradients go back to where the value came from.
pub fn to_device(x: &Tensor, device: Device) -> Result<Tensor> {
    if x.device() == device {
        return Ok(x.clone());
    }
    if x.is_meta() || device == Device::Meta {
        return x.moved_to(device);
    }
    let op = &ops::unary::to_device::OP;
    if let Some(heard) = interpreter::current() {
        heard.moves(device)?;
    }
    let moved = smallvec![x.moved_to(device)?];
    let mut moved = record(op, std::slice::from_ref(x), &Attrs::new(), moved, Mark::NONE)?;
    moved.pop().ok_or(Error::NoData)
}

/// The device that computes an op on these operands, if they go together: that of the first that is not on the CPU.
pub(super) fn of(inputs: &[Tensor]) -> Device {
    match inputs {
        [] => MAKING.get(),
        _ => inputs.iter().map(Tensor::device).find(|it| *it != Device::Cpu).unwrap_or_default(),
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
