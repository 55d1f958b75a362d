//! The memory below a tensor: what views of it, and of what it is a view of, count in.

use std::rc::Rc;

use engine::Tensor;

use crate::native::*;
use crate::objects::tensor::{TensorObj, View};
use crate::tensor::convert;

/// Functions of `torch`.
pub static FUNCTIONS: &[NativeFn] = &[
    function(
        "_beneath",
        "input",
        "The variable that lies lowest below a tensor with its elements and history; and where in memory it and the tensor begin.",
        beneath,
    )
    .opaque(),
    function(
        "_is_apart",
        "input, other",
        "Whether what is written to one of two tensors leaves the other one as it is.",
        is_apart,
    )
    .pure(),
];

fn is_apart(_cx: &mut Cx, args: Args<'_>) -> Res {
    let root = |at: usize| Ok::<_, Raised>(TensorObj::root(convert::variable(&args[at])?));
    Ok(Value::Bool(!Rc::ptr_eq(&root(0)?, &root(1)?)))
}

fn beneath(_cx: &mut Cx, args: Args<'_>) -> Res {
    let object = convert::variable(&args[0])?;
    let value = object.get();
    let memory = lowest(object, &value);
    let seen = memory.get();
    if !seen.layout().is_contiguous() {
        return Err(runtime_error(
            "the elements of this tensor do not lie in a row in memory; write `x.contiguous()` first",
        ));
    }
    let root = TensorObj::root(object).get();
    let start =
        if value.shares_buffer(&root) { root.layout().offset } else { seen.layout().offset };
    let place = |it: &Tensor| Value::Int(it.layout().offset as i64 - start as i64);
    let (begins, first) = (place(&seen), place(&value));
    let memory = match seen.requires_grad() && !value.requires_grad() {
        true => TensorObj::view_of(&memory, View::Same, seen.detach()),
        false => memory,
    };
    Ok(Value::tuple([Value::Tensor(memory), begins, first]))
}

/// The lowest variable that a tensor is a view of, in its dtype and its buffer, and where it has a history with one.
fn lowest(object: &Rc<TensorObj>, value: &Tensor) -> Rc<TensorObj> {
    let mut found = object.clone();
    while let Some((base, _)) = found.base_object() {
        let below = base.get();
        let loses_history = value.requires_grad() && !below.requires_grad();
        if !value.shares_buffer(&below) || value.dtype() != below.dtype() || loses_history {
            break;
        }
        found = base;
    }
    found
}
