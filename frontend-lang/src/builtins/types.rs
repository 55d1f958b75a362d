//! The rows of the built-in types.

use crate::builtins::{
    convert, dict_methods, exceptions, list_methods, set_methods, special_methods, str_methods,
};
use crate::native::*;
use crate::objects::{descriptor, generator, super_object};

const fn plain(name: &'static str, doc: &'static str) -> NativeType {
    NativeType::plain(name, doc)
}

const fn made(name: &'static str, doc: &'static str, new: NativeFn) -> NativeType {
    NativeType { new: Some(new), ..NativeType::plain(name, doc) }
}

pub static OBJECT: NativeType =
    NativeType { methods: &[convert::OBJECT_METHODS], ..plain("object", "The base of all types.") };
pub static NONE_TYPE: NativeType = plain("NoneType", "The type of None.");
pub static ELLIPSIS_TYPE: NativeType = plain("ellipsis", "The type of `...`.");
pub static NOT_IMPLEMENTED_TYPE: NativeType =
    plain("NotImplementedType", "The type of NotImplemented.");
pub static BUILTIN_FUNCTION: NativeType =
    plain("builtin_function_or_method", "A function that is built in.");
pub static FUNCTION: NativeType = plain("function", "A function.");
pub static METHOD: NativeType = NativeType {
    new: Some(function("method", "cls, func, obj, /", "`func` bound to `obj`.", bind_method)),
    ..plain("method", "A function bound to an object.")
};
pub static MODULE: NativeType = plain("module", "A module.");
pub static ITERATOR: NativeType = NativeType {
    methods: &[convert::ITERATOR_METHODS],
    ..plain("iterator", "Gives items one at a time.")
};
pub static GENERATOR: NativeType = NativeType {
    methods: &[convert::ITERATOR_METHODS, generator::METHODS],
    ..plain("generator", "A function that pauses at each `yield`.")
};

pub static BOOL: NativeType = NativeType {
    base: Some(&INT),
    ..made(
        "bool",
        "True or False.",
        function("bool", "cls, x=False, /", "The truth value of x.", convert::new_bool).pure(),
    )
};
pub static INT: NativeType = NativeType {
    methods: &[convert::INT_METHODS],
    getters: convert::NUMBER_GETTERS,
    ..made(
        "int",
        "A whole number of 64 bits.",
        function("int", "cls, x=0, /, base=...", "A whole number from x.", convert::new_int).pure(),
    )
};
pub static FLOAT: NativeType = NativeType {
    methods: &[convert::FLOAT_METHODS],
    getters: convert::NUMBER_GETTERS,
    ..made(
        "float",
        "A floating-point number of 64 bits.",
        function("float", "cls, x=0.0, /", "A float from x.", convert::new_float).pure(),
    )
};
pub static STR: NativeType = NativeType {
    methods: &[str_methods::METHODS, special_methods::TEXT, special_methods::READ],
    statics: str_methods::STATICS,
    ..made(
        "str",
        "Text.",
        function("str", "cls, object=''", "The text of an object.", convert::new_str).pure(),
    )
};
pub static LIST: NativeType = NativeType {
    methods: &[
        convert::LIST_INIT,
        list_methods::METHODS,
        special_methods::CONTAINER,
        special_methods::READ,
        special_methods::WRITE,
    ],
    ..made(
        "list",
        "Items in order, which can change.",
        function("list", "cls, iterable=(), /", "A list of items.", convert::new_list).pure(),
    )
};
pub static TUPLE: NativeType = NativeType {
    methods: &[list_methods::TUPLE_METHODS, special_methods::CONTAINER, special_methods::READ],
    ..made(
        "tuple",
        "Items in order, which never change.",
        function("tuple", "cls, iterable=(), /", "A tuple of items.", convert::new_tuple).pure(),
    )
};
pub static DICT: NativeType = NativeType {
    methods: &[
        convert::DICT_INIT,
        dict_methods::METHODS,
        special_methods::CONTAINER,
        special_methods::READ_KEY,
        special_methods::WRITE,
    ],
    statics: dict_methods::STATICS,
    ..made(
        "dict",
        "Values by key, in order of insertion.",
        function("dict", "cls, source=..., /, **kw", "A dict.", convert::new_dict).pure(),
    )
};
pub static SET: NativeType = NativeType {
    methods: &[
        convert::SET_INIT,
        set_methods::METHODS,
        set_methods::CHANGES,
        special_methods::CONTAINER,
    ],
    ..made(
        "set",
        "Different items.",
        function("set", "cls, iterable=(), /", "A set of items.", convert::new_set).pure(),
    )
};
pub static FROZENSET: NativeType = NativeType {
    methods: &[set_methods::METHODS, special_methods::CONTAINER],
    ..made(
        "frozenset",
        "Different items, which never change.",
        function("frozenset", "cls, iterable=(), /", "A frozen set.", convert::new_frozenset)
            .pure(),
    )
};
pub static RANGE: NativeType = NativeType {
    methods: &[convert::RANGE_METHODS],
    getters: convert::RANGE_GETTERS,
    ..made(
        "range",
        "Evenly spaced whole numbers.",
        function("range", "cls, start, stop=..., step=1, /", "A range.", convert::new_range).pure(),
    )
};
pub static SLICE: NativeType = NativeType {
    methods: &[convert::SLICE_METHODS],
    getters: convert::SLICE_GETTERS,
    ..made(
        "slice",
        "A part of a sequence.",
        function("slice", "cls, start, stop=..., step=None, /", "A slice.", convert::new_slice)
            .pure(),
    )
};
pub static TYPE: NativeType = made(
    "type",
    "The type of types.",
    function(
        "type",
        "cls, object, bases=..., dict=..., /",
        "The type of an object; with a name, a tuple of one base and a dict, a new class.",
        convert::new_type,
    )
    .pure(),
);
pub static PROPERTY: NativeType = NativeType {
    methods: &[descriptor::PROPERTY_METHODS],
    ..made(
        "property",
        "An attribute that functions compute.",
        function(
            "property",
            "cls, fget=None, fset=None, fdel=None, doc=None",
            "A property.",
            descriptor::new_property,
        )
        .pure(),
    )
};
pub static STATICMETHOD: NativeType = made(
    "staticmethod",
    "A function of a class that takes no self.",
    function("staticmethod", "cls, function, /", "A static method.", descriptor::new_staticmethod)
        .pure(),
);
pub static CLASSMETHOD: NativeType = made(
    "classmethod",
    "A function of a class that takes the class.",
    function("classmethod", "cls, function, /", "A class method.", descriptor::new_classmethod)
        .pure(),
);
pub static SUPER: NativeType = made(
    "super",
    "Attributes of the classes above.",
    function("super", "cls, type=..., object=..., /", "Looks above.", super_object::new_super)
        .pure(),
);
pub static BASE_EXCEPTION: NativeType = NativeType {
    methods: &[exceptions::METHODS],
    ..plain("BaseException", "The base of all exceptions.")
};

fn bind_method(cx: &mut Cx, args: Args<'_>) -> Res {
    if !cx.is_callable(&args[1]) {
        return Err(type_error("first argument must be callable"));
    }
    if args[2].is_none() {
        return Err(type_error("instance must not be None"));
    }
    Ok(Value::method(args[1].clone(), args[2].clone()))
}
