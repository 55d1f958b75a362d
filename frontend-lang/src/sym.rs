//! Interned names: attribute, variable and keyword names are compared as one number.
//!
//! A name lives as long as its thread: programs have few of them, and `as_str` is then free.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::value::Value;

/// An interned name; equal names on one thread are equal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(u32);

struct Interner {
    names: Vec<&'static str>,
    values: Vec<Value>,
    index: FxHashMap<&'static str, u32>,
}

thread_local! {
    static INTERNER: RefCell<Interner> = RefCell::new(Interner::with_known());
}

macro_rules! known {
    ($($id:ident = $text:literal,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Known { $($id,)* }
        const KNOWN: &[&str] = &[$($text,)*];
        impl Sym {
            $(
                #[doc = concat!("The name `", $text, "`.")]
                pub const $id: Sym = Sym(Known::$id as u32);
            )*
        }
    };
}

known! {
    EMPTY = "", INIT = "__init__", CALL = "__call__", REPR = "__repr__", STR = "__str__",
    LEN = "__len__", GETITEM = "__getitem__", SETITEM = "__setitem__", DELITEM = "__delitem__",
    CONTAINS = "__contains__", ITER = "__iter__", NEXT = "__next__", ENTER = "__enter__",
    EXIT = "__exit__", EQ = "__eq__", NE = "__ne__", LT = "__lt__", LE = "__le__", GT = "__gt__",
    GE = "__ge__", HASH = "__hash__", BOOL = "__bool__", GETATTR = "__getattr__",
    SETATTR = "__setattr__", DELATTR = "__delattr__", NEG = "__neg__", POS = "__pos__",
    INVERT = "__invert__", ABS = "__abs__", INT = "__int__", FLOAT = "__float__",
    INDEX = "__index__", ROUND = "__round__", FORMAT = "__format__", REVERSED = "__reversed__",
    ADD = "__add__", SUB = "__sub__", MUL = "__mul__", TRUEDIV = "__truediv__",
    FLOORDIV = "__floordiv__", MOD = "__mod__", POW = "__pow__", MATMUL = "__matmul__",
    LSHIFT = "__lshift__", RSHIFT = "__rshift__", AND = "__and__", OR = "__or__", XOR = "__xor__",
    RADD = "__radd__", RSUB = "__rsub__", RMUL = "__rmul__", RTRUEDIV = "__rtruediv__",
    RFLOORDIV = "__rfloordiv__", RMOD = "__rmod__", RPOW = "__rpow__", RMATMUL = "__rmatmul__",
    RLSHIFT = "__rlshift__", RRSHIFT = "__rrshift__", RAND = "__rand__", ROR = "__ror__",
    RXOR = "__rxor__", IADD = "__iadd__", ISUB = "__isub__", IMUL = "__imul__",
    ITRUEDIV = "__itruediv__", IFLOORDIV = "__ifloordiv__", IMOD = "__imod__", IPOW = "__ipow__",
    IMATMUL = "__imatmul__", ILSHIFT = "__ilshift__", IRSHIFT = "__irshift__", IAND = "__iand__",
    IOR = "__ior__", IXOR = "__ixor__", NAME = "__name__", QUALNAME = "__qualname__",
    DOC = "__doc__", OUT = "out", MODULE = "__module__", CLASS = "__class__", DICT = "__dict__",
    ANNOTATIONS = "__annotations__", BASES = "__bases__", BASE = "__base__", MRO = "__mro__",
    CAUSE = "__cause__", CONTEXT = "__context__", TRACEBACK = "__traceback__", ARGS = "args",
    VALUE = "value", SELF_CLASS = "__self_class__", WRAPPED = "__wrapped__", FUNC = "__func__",
    SELF = "__self__", ITEMS = "_items", DEFAULTS = "__defaults__", MATCH_ARGS = "__match_args__",
    INIT_SUBCLASS = "__init_subclass__", SUPPRESS = "__suppress_context__", NOTES = "__notes__",
    CLASS_GETITEM = "__class_getitem__", SET_NAME = "__set_name__", MISSING = "__missing__",
    FILE = "__file__", ALL = "__all__", UNDERSCORE = "_", NEW = "__new__",
    BOOL_NAME = "bool", PRINT = "print", CODE = "__code__", KWDEFAULTS = "__kwdefaults__",
    TYPE_PARAMS = "__type_params__", SLOTS = "__slots__", POST_INIT = "__post_init__",
    HINT = "__hint__", GET = "__get__", SET = "__set__", DELETE = "__delete__",
    CLASS_PROTOCOL = "__class_protocol__", THROW = "throw", CLOSE = "close", SEND = "send",
}

impl Interner {
    fn with_known() -> Interner {
        let mut interner =
            Interner { names: Vec::new(), values: Vec::new(), index: FxHashMap::default() };
        for name in KNOWN {
            interner.add(name);
        }
        interner
    }

    fn add(&mut self, name: &'static str) -> u32 {
        let id = self.names.len() as u32;
        self.names.push(name);
        self.values.push(Value::str(name));
        self.index.insert(name, id);
        id
    }
}

impl Sym {
    /// Interns `name`.
    pub fn new(name: &str) -> Sym {
        INTERNER.with_borrow_mut(|interner| match interner.index.get(name) {
            Some(id) => Sym(*id),
            None => {
                // Names stay for ever.
                crate::memory::charge(name.len() + 64);
                Sym(interner.add(Box::leak(name.to_owned().into_boxed_str())))
            }
        })
    }

    /// Interns a name that is already static, without copying it.
    pub fn of(name: &'static str) -> Sym {
        INTERNER.with_borrow_mut(|interner| match interner.index.get(name) {
            Some(id) => Sym(*id),
            None => Sym(interner.add(name)),
        })
    }

    /// The text of the name.
    pub fn as_str(self) -> &'static str {
        INTERNER.with_borrow(|interner| interner.names[self.0 as usize])
    }

    /// The name as a string value, shared.
    pub fn value(self) -> Value {
        INTERNER.with_borrow(|interner| interner.values[self.0 as usize].clone())
    }
}

impl std::fmt::Display for Sym {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Sym {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`", self.as_str())
    }
}
