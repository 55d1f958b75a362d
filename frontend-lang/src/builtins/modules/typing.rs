//! `typing`: names for annotations, and what annotations mean. The names are inert classes; square brackets make
//! generic types of them (`objects/generic.rs`).

use std::rc::Rc;

use crate::annotated::Names;
use crate::builtins::types;
use crate::native::*;
use crate::objects::class::{AttrMap, Class, class_of, type_of};
use crate::objects::generic::{Alias, TYPE_VAR, types_of_none};
use crate::objects::module::{Globals, Module};
use crate::objects::union::Union;

macro_rules! inert {
    ($($id:ident = $name:literal,)*) => {
        $(pub(crate) static $id: NativeType = NativeType {
            module: "typing",
            ..NativeType::plain($name, "A name for annotations.")
        };)*
        static NAMES: &[&NativeType] = &[$(&$id),*];
    };
}

inert! {
    ANNOTATED = "Annotated", ANY = "Any", ANY_STR = "AnyStr", CLASS_VAR = "ClassVar",
    CONCATENATE = "Concatenate", FINAL = "Final", LITERAL = "Literal", NEVER = "Never",
    NO_RETURN = "NoReturn", NUMBER = "SupportsFloat", OPTIONAL = "Optional",
    REQUIRED = "Required", SELF = "Self", SUPPORTS_INDEX = "SupportsIndex",
    SUPPORTS_INT = "SupportsInt", TYPE_ALIAS = "TypeAlias", TYPE_GUARD = "TypeGuard",
    UNION = "Union", UNPACK = "Unpack",
}

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "typing",
    doc: "Names for annotations.",
    members: &[
        Member::Types(NAMES),
        Member::Types(&[&TYPE_VAR]),
        Member::Make("Generic", |_cx| Ok(generic("Generic"))),
        Member::Make("Protocol", |_cx| Ok(generic("Protocol"))),
        Member::Make("Counter", |cx| of_collections(cx, "Counter", "Counter")),
        Member::Make("DefaultDict", |cx| of_collections(cx, "DefaultDict", "defaultdict")),
        Member::Make("Deque", |cx| of_collections(cx, "Deque", "deque")),
        Member::Make("Dict", |_cx| Ok(of_builtin("Dict", &types::DICT))),
        Member::Make("FrozenSet", |_cx| Ok(of_builtin("FrozenSet", &types::FROZENSET))),
        Member::Make("List", |_cx| Ok(of_builtin("List", &types::LIST))),
        Member::These("typing.named", &["NamedTuple", "NewType"]),
        Member::Make("OrderedDict", |cx| of_collections(cx, "OrderedDict", "OrderedDict")),
        Member::Make("Set", |_cx| Ok(of_builtin("Set", &types::SET))),
        Member::Make("AbstractSet", |cx| of_abc(cx, "AbstractSet", "Set")),
        Member::Make("Callable", |cx| of_abc(cx, "Callable", "Callable")),
        Member::Make("Collection", |cx| of_abc(cx, "Collection", "Collection")),
        Member::Make("Container", |cx| of_abc(cx, "Container", "Container")),
        Member::Make("Generator", |cx| of_abc(cx, "Generator", "Generator")),
        Member::Make("Hashable", |cx| of_abc(cx, "Hashable", "Hashable")),
        Member::Make("ItemsView", |cx| of_abc(cx, "ItemsView", "ItemsView")),
        Member::Make("Iterable", |cx| of_abc(cx, "Iterable", "Iterable")),
        Member::Make("Iterator", |cx| of_abc(cx, "Iterator", "Iterator")),
        Member::Make("KeysView", |cx| of_abc(cx, "KeysView", "KeysView")),
        Member::Make("Mapping", |cx| of_abc(cx, "Mapping", "Mapping")),
        Member::Make("MappingView", |cx| of_abc(cx, "MappingView", "MappingView")),
        Member::Make("MutableMapping", |cx| of_abc(cx, "MutableMapping", "MutableMapping")),
        Member::Make("MutableSequence", |cx| of_abc(cx, "MutableSequence", "MutableSequence")),
        Member::Make("MutableSet", |cx| of_abc(cx, "MutableSet", "MutableSet")),
        Member::Make("Reversible", |cx| of_abc(cx, "Reversible", "Reversible")),
        Member::Make("Sequence", |cx| of_abc(cx, "Sequence", "Sequence")),
        Member::Make("Sized", |cx| of_abc(cx, "Sized", "Sized")),
        Member::Make("ValuesView", |cx| of_abc(cx, "ValuesView", "ValuesView")),
        Member::Make("Text", |_cx| Ok(Value::Class(class_of(&types::STR)))),
        Member::Make("Tuple", |_cx| Ok(of_builtin("Tuple", &types::TUPLE))),
        Member::Make("Type", |_cx| Ok(of_builtin("Type", &types::TYPE))),
        Member::These("typing.named", &["TypedDict"]),
        Member::Make("TYPE_CHECKING", |_cx| Ok(Value::Bool(false))),
        Member::Functions(FUNCTIONS),
    ],
    aliases: &["typing_extensions"],
};

fn of_builtin(name: &'static str, row: &'static NativeType) -> Value {
    Alias::bare(name, Value::Class(class_of(row)))
}

fn of_abc(cx: &mut Cx, name: &'static str, there: &'static str) -> Res {
    let module = cx.import("collections.abc")?;
    Ok(Alias::bare(name, cx.import_name(&module, Sym::of(there))?))
}

fn of_collections(cx: &mut Cx, name: &'static str, there: &'static str) -> Res {
    let module = cx.import("collections")?;
    Ok(Alias::bare(name, cx.import_name(&module, Sym::of(there))?))
}

/// A class whose subclasses may be written with square brackets.
fn generic(name: &'static str) -> Value {
    let mut attrs = AttrMap::default();
    attrs.insert(Sym::TYPE_PARAMS, Value::tuple(Vec::new()));
    let name = Sym::of(name);
    let class = Class::new(name, name, Sym::of("typing"), class_of(&types::OBJECT), attrs);
    Value::Class(Rc::new(class))
}

static FUNCTIONS: &[NativeFn] = &[
    function("cast", "typ, val", "The value itself.", |_cx, args| Ok(args[1].clone())).pure(),
    function("final", "f", "The function itself.", same).pure(),
    function("get_args", "tp", "The types in the square brackets.", get_args).pure(),
    function("get_origin", "tp", "What stands before the square brackets, or None.", get_origin)
        .pure(),
    function(
        "get_type_hints",
        "obj",
        "The annotations, with what their texts mean.",
        get_type_hints,
    )
    .pure(),
    function("no_type_check", "arg", "The function itself.", same).pure(),
    function("overload", "func", "The function itself.", same).pure(),
    function("override", "func", "The function itself.", same).pure(),
    function(
        "runtime_checkable",
        "cls",
        "Lets isinstance() look for the methods of a protocol.",
        runtime_checkable,
    ),
];

fn same(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(args[0].clone())
}

fn runtime_checkable(_cx: &mut Cx, args: Args<'_>) -> Res {
    if let Value::Class(class) = &args[0] {
        class.set(Sym::of(CHECKABLE), Value::Bool(true));
    }
    Ok(args[0].clone())
}

/// The attribute of protocols under `@runtime_checkable`.
const CHECKABLE: &str = "_is_runtime_protocol";

/// Whether an object has all that a protocol names; `None` if the class is no protocol to be checked.
pub(crate) fn fits_protocol(cx: &mut Cx, value: &Value, class: &Class) -> Option<bool> {
    let own = |name: Sym| class.attrs.borrow().get(&name).cloned();
    own(Sym::of(CHECKABLE))?;
    let mut names: Vec<Sym> = class.attrs.borrow().keys().copied().collect();
    if let Some(Value::Dict(it)) = own(Sym::ANNOTATIONS) {
        names.extend(it.items().iter().filter_map(|it| it.0.as_str()).map(Sym::new));
    }
    let known = [CHECKABLE, "__doc__", "__annotations__", "__type_params__", "__init__"];
    names.retain(|it| !known.contains(&it.as_str()));
    Some(names.into_iter().all(|it| matches!(cx.opt_getattr(value, it), Ok(Some(_)))))
}

fn get_args(_cx: &mut Cx, args: Args<'_>) -> Res {
    let found = match (args[0].downcast::<Alias>(), args[0].downcast::<Union>()) {
        (Some(it), _) => it.call_args(),
        (_, Some(it)) => it.parts().to_vec(),
        _ => Vec::new(),
    };
    Ok(Value::tuple(found))
}

fn get_origin(cx: &mut Cx, args: Args<'_>) -> Res {
    let is_generic = args[0].downcast::<Alias>().is_some() || args[0].downcast::<Union>().is_some();
    if !is_generic {
        return Ok(Value::None);
    }
    match cx.opt_getattr(&args[0], Sym::new("__origin__"))? {
        Some(found) => Ok(found),
        None => Ok(Value::Class(type_of(&args[0]))),
    }
}

fn get_type_hints(cx: &mut Cx, args: Args<'_>) -> Res {
    let dict = Dict::default();
    match &args[0] {
        Value::Class(class) => {
            let chain: Vec<_> = class.chain().cloned().collect();
            for class in chain.iter().rev() {
                let own = class.attrs.borrow().get(&Sym::ANNOTATIONS).cloned();
                let globals = globals_of(cx, class.module());
                add_hints(cx, &dict, own.as_ref(), &globals)?;
            }
        }
        Value::Module(it) => {
            let own = it.globals.get(Sym::ANNOTATIONS);
            add_hints(cx, &dict, own.as_ref(), &it.globals)?;
        }
        other => {
            let globals = match other {
                Value::Func(it) => it.code.globals.clone(),
                Value::Method(it) => match &it.func {
                    Value::Func(it) => it.code.globals.clone(),
                    _ => cx.globals.clone(),
                },
                _ => cx.globals.clone(),
            };
            let Some(own) = cx.opt_getattr(other, Sym::ANNOTATIONS)? else {
                let shown = cx.repr(other)?;
                return Err(type_error(format!(
                    "{shown} is not a module, class, method, or function."
                )));
            };
            add_hints(cx, &dict, Some(&own), &globals)?;
        }
    }
    Ok(Value::Dict(Rc::new(dict)))
}

fn globals_of(cx: &Cx, module: Sym) -> Rc<Globals> {
    match cx.modules.get(module.as_str()) {
        Some(Value::Module(it)) => {
            let it: &Module = it;
            it.globals.clone()
        }
        _ => cx.globals.clone(),
    }
}

fn add_hints(
    cx: &mut Cx,
    dict: &Dict,
    own: Option<&Value>,
    globals: &Rc<Globals>,
) -> Result<(), Raised> {
    let Some(own) = own.and_then(Value::as_dict) else { return Ok(()) };
    for (name, value) in own.items() {
        let names = Names { near: &|_| None, globals };
        let meant = match value.as_str() {
            Some(text) => match cx.opt_annotation(text, &names) {
                Some(meant) => meant,
                None => return Err(name_error(format!("name '{text}' is not defined"))),
            },
            None => value,
        };
        dict.insert(cx, name, types_of_none(&meant))?;
    }
    Ok(())
}
