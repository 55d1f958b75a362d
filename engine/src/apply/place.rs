//! Which device an op computes on: that of its operands; what is made of nothing is made where the caller says.

use std::cell::Cell;

use smallvec::smallvec;

use super::default_dtype;
use super::record::record;
use crate::error::{Devices, Placed};
use crate::op::ParamKind;
use crate::tape::{self, Mark};
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

/// Runs what an op on a device consists of, which is no step of its own for tape and trace.
pub(crate) fn as_one_step<R>(device: Device, body: impl FnOnce() -> R) -> R {
    default_dtype::left_alone(|| tape::no_grad(|| inside(device, || interpreter::silenced(body))))
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

/// The same elements in page-locked memory, from which copies to a GPU go while the program goes on. What a trace records, and what has no
/// elements or lies there, stays where it is.
pub fn pinned(x: &Tensor) -> Result<Tensor> {
    if interpreter::active() || !x.has_elements() || x.is_pinned() {
        return Ok(x.clone());
    }
    let made = record(
        &ops::unary::to_device::OP,
        std::slice::from_ref(x),
        &Attrs::new(),
        smallvec![x.pinned()?],
        Mark::NONE,
    )?;
    made.into_iter().next().ok_or(Error::NoData)
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
    checked(op, inputs, |at| operand(op, inputs, at))
}

/// As [`device_of`], of an op whose optional tensors may be absent; `given` are those that are not.
pub(super) fn device_of_given(
    op: &'static OpDef,
    inputs: &[Option<Tensor>],
    given: &[Tensor],
) -> Result<Device> {
    checked(op, given, |at| {
        let place = (0..inputs.len()).filter(|it| inputs[*it].is_some()).nth(at);
        place.map_or((None, at + 1), |it| parameter(op, it))
    })
}

fn checked(
    op: &'static OpDef,
    inputs: &[Tensor],
    name: impl Fn(usize) -> (Option<String>, usize),
) -> Result<Device> {
    let device = of(inputs);
    if device == Device::Cpu {
        return Ok(device);
    }
    let mut large = inputs.iter().enumerate().filter(|it| it.1.rank() > 0);
    if !INSIDE.get()
        && !op.surface.mixes_devices
        && let Some((first, expected)) = large.next()
        && let Some((other, found)) = large.find(|it| it.1.device() != expected.device())
    {
        return Err(mixed(op.name, (name(first), expected), (name(other), found)));
    }
    Ok(device)
}

/// A name that an op has for an operand, with its place from 1.
pub type Name = (Option<String>, usize);

/// The error of an op on tensors of two devices; that of the first is expected.
#[cold]
pub fn mixed(op: &'static str, expected: (Name, &Tensor), found: (Name, &Tensor)) -> Error {
    let [expected, found] = [expected, found].map(|((name, position), it)| Placed {
        name,
        position,
        dtype: it.dtype(),
        shape: it.shape().clone(),
        device: it.device(),
        site: it.site(),
    });
    Error::Devices(Box::new(Devices { op, expected, found }))
}

/// The name of the operand `at` of these, where no optional tensor before it may be absent.
fn operand(op: &'static OpDef, inputs: &[Tensor], at: usize) -> Name {
    let mut kinds = op.params.iter().map(|it| it.kind).filter(|it| it.is_tensor());
    let is_list = op.params.iter().any(|it| it.kind == ParamKind::Tensors);
    let are_all = is_list || inputs.len() == op.n_tensors();
    match are_all || kinds.by_ref().take(at + 1).all(|it| it == ParamKind::Tensor) {
        true => parameter(op, at),
        false => (None, at + 1),
    }
}

/// The name of the tensor `at` among those that an op takes.
fn parameter(op: &'static OpDef, at: usize) -> Name {
    let params = || op.params.iter().enumerate();
    if let Some((place, list)) = params().find(|it| it.1.kind == ParamKind::Tensors) {
        return (Some(format!("{}[{at}]", list.name)), place + 1);
    }
    match params().filter(|it| it.1.kind.is_tensor()).nth(at) {
        Some((place, param)) => (Some(param.name.to_owned()), place + 1),
        None => (None, at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functional::full;
    use crate::{DType, Shape, Site, apply};

    /// Four ones made at a place.
    fn ones(device: Device, site: u32) -> Tensor {
        let make = || full(&Shape::from([4]), 1.0, DType::F32).unwrap();
        Site::new(site).within(|| making_on(device, make))
    }

    fn problem(op: &'static OpDef, inputs: &[Option<Tensor>]) -> Devices {
        match apply::apply_optional(op, inputs, &op.default_attrs()) {
            Err(Error::Devices(it)) => *it,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_names_both_operands_and_where_they_were_made() {
        let [far, near] = [(Device::Cuda(0), 7), (Device::Cpu, 8)].map(|it| ones(it.0, it.1));
        let found = problem(&ops::binary::mul::OP, &[Some(near), Some(far)]);
        assert_eq!(
            found.text(|it| Some(format!("place {}", it.number()))),
            "Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!\nmul: `input` (argument 1) is \
             float32[4] on cpu, place 8; `other` (argument 2) is float32[4] on cuda:0, place 7. Bring `input` to cuda:0 with \
             .to('cuda:0')"
        );
        assert!(found.to_string().contains("`other` (argument 2) is float32[4] on cuda:0. Bring"));
    }

    #[test]
    fn what_a_view_shows_was_made_with_its_buffer() {
        let far = ones(Device::Cuda(0), 7);
        let view =
            Site::new(9).within(|| crate::functional::reshape(&far, &Shape::from([2, 2])).unwrap());
        assert_eq!((view.site(), view.detach().site()), (Site::new(7), Site::new(7)));
        let there = Site::new(10).within(|| to_device(&view, Device::Cpu).unwrap());
        assert_eq!(there.site(), Site::new(10));
    }

    #[test]
    fn absent_operands_are_not_counted() {
        let [far, near] = [(Device::Cuda(0), 7), (Device::Cpu, 8)].map(|it| ones(it.0, it.1));
        let rows = crate::functional::reshape(&far, &Shape::from([1, 4])).unwrap();
        let op = ops::find("batch_norm").unwrap();
        let given = [Some(rows), None, None, Some(far), Some(near)];
        let found = problem(op, &given);
        let names = [found.expected, found.found].map(|it| it.name.unwrap());
        assert_eq!(names, ["input", "bias"]);
    }
}
