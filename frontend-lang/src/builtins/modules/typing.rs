//! `typing`: names for annotations. They evaluate to inert objects; square brackets keep them.

use std::rc::Rc;

use crate::builtins::types;
use crate::native::*;
use crate::objects::class::{AttrMap, Class, class_of};

macro_rules! inert {
    ($($id:ident = $name:literal,)*) => {
        $(static $id: NativeType = NativeType {
            module: "typing",
            ..NativeType::plain($name, "A name for annotations.")
        };)*
        static NAMES: &[&NativeType] = &[$(&$id),*];
    };
}

inert! {
    ANNOTATED = "Annotated", ANY = "Any", ANY_STR = "AnyStr", CALLABLE = "Callable",
    CLASS_VAR = "ClassVar", COLLECTION = "Collection", CONCATENATE = "Concatenate",
    CONTAINER = "Container", FINAL = "Final", GENERATOR = "Generator", HASHABLE = "Hashable",
    ITERABLE = "Iterable", ITERATOR = "Iterator", LITERAL = "Literal", MAPPING = "Mapping",
    MUTABLE_MAPPING = "MutableMapping", MUTABLE_SEQUENCE = "MutableSequence",
    MUTABLE_SET = "MutableSet", NEVER = "Never", NO_RETURN = "NoReturn", NUMBER = "SupportsFloat",
    OPTIONAL = "Optional", REQUIRED = "Required", REVERSIBLE = "Reversible", SELF = "Self",
    SEQUENCE = "Sequence", SIZED = "Sized", SUPPORTS_INDEX = "SupportsIndex",
    SUPPORTS_INT = "SupportsInt", TYPE_ALIAS = "TypeAlias", TYPE_GUARD = "TypeGuard",
    UNION = "Union", UNPACK = "Unpack",
}

static TYPE_VAR: NativeType = NativeType {
    module: "typing",
    new: Some(
        function(
            "TypeVar",
            "cls, name, *constraints, bound=None, covariant=False",
            "",
            |_cx, _| Ok(Value::Class(class_of(&ANY))),
        )
        .pure(),
    ),
    ..NativeType::plain("TypeVar", "A variable for types.")
};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "typing",
    doc: "Names for annotations.",
    members: &[
        Member::Types(NAMES),
        Member::Types(&[&TYPE_VAR]),
        Member::Make("Generic", |_cx| Ok(generic("Generic"))),
        Member::Make("Protocol", |_cx| Ok(generic("Protocol"))),
        Member::Make("Dict", |_cx| Ok(Value::Class(class_of(&types::DICT)))),
        Member::Make("FrozenSet", |_cx| Ok(Value::Class(class_of(&types::FROZENSET)))),
        Member::From("NamedTuple", "typing.named", "NamedTuple"),
        Member::Make("List", |_cx| Ok(Value::Class(class_of(&types::LIST)))),
        Member::Make("Set", |_cx| Ok(Value::Class(class_of(&types::SET)))),
        Member::Make("Text", |_cx| Ok(Value::Class(class_of(&types::STR)))),
        Member::Make("Tuple", |_cx| Ok(Value::Class(class_of(&types::TUPLE)))),
        Member::Make("Type", |_cx| Ok(Value::Class(class_of(&types::TYPE)))),
        Member::Make("TYPE_CHECKING", |_cx| Ok(Value::Bool(false))),
        Member::Functions(FUNCTIONS),
    ],
    aliases: &["collections.abc", "typing_extensions"],
};

/// A class whose subclasses may be written with square brackets.
fn generic(name: &'static str) -> Value {
    let mut attrs = AttrMap::default();
    attrs.insert(Sym::TYPE_PARAMS, Value::tuple(Vec::new()));
    let name = Sym::of(name);
    let mut class = Class::new(name, name, class_of(&types::OBJECT), attrs);
    class.module = "typing";
    Value::Class(Rc::new(class))
}

static FUNCTIONS: &[NativeFn] = &[
    function("NewType", "name, tp", "The type itself.", |_cx, args| Ok(args[1].clone())).pure(),
    function("cast", "typ, val", "The value itself.", |_cx, args| Ok(args[1].clone())).pure(),
    function("final", "f", "The function itself.", same).pure(),
    function("no_type_check", "arg", "The function itself.", same).pure(),
    function("overload", "func", "The function itself.", same).pure(),
    function("override", "func", "The function itself.", same).pure(),
    function("runtime_checkable", "cls", "The class itself.", same).pure(),
];

fn same(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(args[0].clone())
}
