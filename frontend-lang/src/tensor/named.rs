//! `torch.Size`: an instance of a built-in subclass of `tuple`, so whatever takes a tuple takes it.

use std::rc::Rc;

use crate::builtins::types::TUPLE;
use crate::native::*;
use crate::objects::class::{Instance, class_of};

/// The type of `x.shape`.
pub static SIZE: NativeType = NativeType {
    module: "torch",
    base: Some(&TUPLE),
    new: Some(function("Size", "cls, iterable=(), /", "A shape of these sizes.", new_size).pure()),
    methods: &[SIZE_METHODS],
    ..NativeType::plain("Size", "The size of each dimension of a tensor.")
};

static SIZE_METHODS: &[NativeFn] = &[
    function("__add__", "self, value, /", "Both, one after the other.", size_add).pure(),
    function("__getitem__", "self, index, /", "A size, or a part as a Size.", size_getitem).pure(),
    function("__mul__", "self, value, /", "The sizes, several times.", size_mul).pure(),
    function("__radd__", "self, value, /", "Both, one after the other.", size_radd).pure(),
    function("__repr__", "self, /", "`torch.Size([2, 3])`.", size_repr).pure(),
    function("numel", "self, /", "The number of elements: the product of the sizes.", size_numel)
        .pure(),
];

fn over(row: &'static NativeType, items: impl Into<Box<[Value]>>) -> Value {
    Value::Instance(Rc::new(Instance::over(class_of(row), Value::tuple(items))))
}

/// A shape as users see it.
pub fn size(items: Vec<Value>) -> Value {
    over(&SIZE, items)
}

fn items(value: &Value) -> &[Value] {
    value.as_tuple().map_or(&[], |it| it)
}

fn new_size(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut sizes = Vec::new();
    for item in cx.collect(&args[1])? {
        let wrong = |_| {
            let name = type_name(&item);
            type_error(format!("torch.Size() takes an iterable of 'int' (item is '{name}')"))
        };
        sizes.push(Value::Int(cx.index(&item).map_err(wrong)?));
    }
    Ok(size(sizes))
}

fn as_size(value: Value) -> Value {
    match &value {
        Value::Tuple(it) if it.iter().all(|it| matches!(it, Value::Int(_))) => size(it.to_vec()),
        _ => value,
    }
}

fn size_add(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.binary(BinaryOp::Add, args[0].core(), args[1].core()).map(as_size)
}

fn size_radd(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.binary(BinaryOp::Add, args[1].core(), args[0].core()).map(as_size)
}

fn size_mul(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.binary(BinaryOp::Mul, args[0].core(), args[1].core()).map(as_size)
}

fn size_getitem(cx: &mut Cx, args: Args<'_>) -> Res {
    cx.getitem(args[0].core(), &args[1]).map(as_size)
}

fn size_numel(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut product = Value::Int(1);
    for item in items(&args[0]) {
        product = cx.binary(BinaryOp::Mul, &product, item)?;
    }
    Ok(product)
}

fn size_repr(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = cx.repr(&Value::list(items(&args[0]).to_vec()))?;
    Ok(Value::str(format!("torch.Size({list})")))
}
