//! `operator`: operators as functions, and functions that fetch items and attributes.

use std::any::Any;

use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "operator",
    doc: "Operators as functions.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::Functions(OTHERS),
        Member::Types(&[&ITEMGETTER, &ATTRGETTER, &METHODCALLER]),
    ],
    aliases: &[],
};

macro_rules! operators {
    ($($name:literal, $sign:literal, $kind:ident :: $op:ident, $method:ident;)*) => {
        static FUNCTIONS: &[NativeFn] = &[$(
            function($name, "a, b, /", concat!("`a ", $sign, " b`."), |cx, args| {
                cx.$method($kind::$op, &args[0], &args[1])
            })
            .pure()
        ),*];
    };
}

operators! {
    "add", "+", BinaryOp::Add, binary;
    "and_", "&", BinaryOp::And, binary;
    "concat", "+", BinaryOp::Add, binary;
    "eq", "==", CompareOp::Eq, compare;
    "floordiv", "//", BinaryOp::FloorDiv, binary;
    "ge", ">=", CompareOp::Ge, compare;
    "gt", ">", CompareOp::Gt, compare;
    "iadd", "+=", BinaryOp::Add, inplace;
    "iand", "&=", BinaryOp::And, inplace;
    "ifloordiv", "//=", BinaryOp::FloorDiv, inplace;
    "imod", "%=", BinaryOp::Mod, inplace;
    "imul", "*=", BinaryOp::Mul, inplace;
    "ior", "|=", BinaryOp::Or, inplace;
    "ipow", "**=", BinaryOp::Pow, inplace;
    "isub", "-=", BinaryOp::Sub, inplace;
    "itruediv", "/=", BinaryOp::TrueDiv, inplace;
    "ixor", "^=", BinaryOp::Xor, inplace;
    "le", "<=", CompareOp::Le, compare;
    "lshift", "<<", BinaryOp::LShift, binary;
    "lt", "<", CompareOp::Lt, compare;
    "matmul", "@", BinaryOp::MatMul, binary;
    "mod", "%", BinaryOp::Mod, binary;
    "mul", "*", BinaryOp::Mul, binary;
    "ne", "!=", CompareOp::Ne, compare;
    "or_", "|", BinaryOp::Or, binary;
    "pow", "**", BinaryOp::Pow, binary;
    "rshift", ">>", BinaryOp::RShift, binary;
    "sub", "-", BinaryOp::Sub, binary;
    "truediv", "/", BinaryOp::TrueDiv, binary;
    "xor", "^", BinaryOp::Xor, binary;
}

static OTHERS: &[NativeFn] = &[
    function("abs", "a, /", "`abs(a)`.", |cx, args| crate::operate::binary::abs(cx, &args[0]))
        .pure(),
    function("call", "obj, /, *args, **kwargs", "`obj(*args, **kwargs)`.", call),
    function("contains", "a, b, /", "`b in a`.", |cx, args| {
        cx.contains(&args[0], &args[1]).map(Value::Bool)
    })
    .pure(),
    function("countOf", "a, b, /", "How often b is in a.", count_of),
    function("delitem", "a, b, /", "`del a[b]`.", |cx, args| {
        cx.delitem(&args[0], &args[1]).map(Value::from)
    }),
    function("getitem", "a, b, /", "`a[b]`.", |cx, args| cx.getitem(&args[0], &args[1])).pure(),
    function("index", "a, /", "a as an index.", |cx, args| cx.index(&args[0]).map(Value::Int))
        .pure(),
    function("indexOf", "a, b, /", "The first place of b in a.", index_of),
    function("inv", "a, /", "`~a`.", |cx, args| cx.unary(UnaryOp::Invert, &args[0])).pure(),
    function("invert", "a, /", "`~a`.", |cx, args| cx.unary(UnaryOp::Invert, &args[0])).pure(),
    function("is_", "a, b, /", "`a is b`.", |_cx, args| Ok(Value::Bool(args[0].is(&args[1]))))
        .pure(),
    function("is_not", "a, b, /", "`a is not b`.", |_cx, args| {
        Ok(Value::Bool(!args[0].is(&args[1])))
    })
    .pure(),
    function("neg", "a, /", "`-a`.", |cx, args| cx.unary(UnaryOp::Neg, &args[0])).pure(),
    function("not_", "a, /", "`not a`.", |cx, args| Ok(Value::Bool(!cx.truth(&args[0])?))).pure(),
    function("pos", "a, /", "`+a`.", |cx, args| cx.unary(UnaryOp::Pos, &args[0])).pure(),
    function("setitem", "a, b, c, /", "`a[b] = c`.", |cx, args| {
        cx.setitem(&args[0], &args[1], args[2].clone()).map(Value::from)
    }),
    function("truth", "a, /", "`bool(a)`.", |cx, args| cx.truth(&args[0]).map(Value::Bool)).pure(),
];

fn call(cx: &mut Cx, args: Args<'_>) -> Res {
    let keywords = keywords(args.dict(2)?);
    cx.call_with(&args[0], CallArgs { positional: args.rest(1), keywords: &keywords })
}

/// The entries of `**kwargs` as keywords of a call.
pub(super) fn keywords(dict: &Dict) -> Vec<(Sym, Value)> {
    let named = dict.items().into_iter();
    named.filter_map(|(key, value)| Some((Sym::new(key.as_str()?), value))).collect()
}

fn count_of(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut count = 0;
    for item in cx.collect(&args[0])? {
        count += i64::from(cx.eq(&item, &args[1])?);
    }
    Ok(Value::Int(count))
}

fn index_of(cx: &mut Cx, args: Args<'_>) -> Res {
    for (at, item) in cx.collect(&args[0])?.iter().enumerate() {
        if cx.eq(item, &args[1])? {
            return Ok(Value::from(at));
        }
    }
    Err(value_error("sequence.index(x): x not in sequence"))
}

/// A function that fetches from its argument.
pub struct Fetch {
    kind: Kind,
    keys: Vec<Value>,
    keywords: Vec<(Sym, Value)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Item,
    Attribute,
    Method,
}

static ITEMGETTER: NativeType = NativeType {
    module: "operator",
    new: Some(
        function("itemgetter", "cls, item, /, *items", "Fetches items.", |_cx, args| {
            fetch(Kind::Item, args)
        })
        .pure(),
    ),
    ..NativeType::plain("itemgetter", "A function that fetches items.")
};

static ATTRGETTER: NativeType = NativeType {
    module: "operator",
    new: Some(
        function("attrgetter", "cls, attr, /, *attrs", "Fetches attributes.", |_cx, args| {
            fetch(Kind::Attribute, args)
        })
        .pure(),
    ),
    ..NativeType::plain("attrgetter", "A function that fetches attributes.")
};

static METHODCALLER: NativeType = NativeType {
    module: "operator",
    new: Some(
        function(
            "methodcaller",
            "cls, name, /, *args, **kwargs",
            "Calls a method.",
            |_cx, args| {
                let mut caller = new_fetch(Kind::Method, args)?;
                caller.keywords = keywords(args.dict(3)?);
                Ok(Value::object(caller))
            },
        )
        .pure(),
    ),
    ..NativeType::plain("methodcaller", "A function that calls a method.")
};

fn new_fetch(kind: Kind, args: Args<'_>) -> Result<Fetch, Raised> {
    let mut keys = vec![args[1].clone()];
    keys.extend(args.rest(2).iter().cloned());
    let names = if kind == Kind::Attribute { &keys[..] } else { &keys[..1] };
    if kind != Kind::Item && names.iter().any(|it| it.as_str().is_none()) {
        let what = if kind == Kind::Method { "method" } else { "attribute" };
        return Err(type_error(format!("{what} name must be a string")));
    }
    Ok(Fetch { kind, keys, keywords: Vec::new() })
}

fn fetch(kind: Kind, args: Args<'_>) -> Res {
    new_fetch(kind, args).map(Value::object)
}

/// A function that fetches item `at`, for fields of named tuples.
pub fn item_getter(at: usize) -> Value {
    Value::object(Fetch { kind: Kind::Item, keys: vec![Value::from(at)], keywords: Vec::new() })
}

impl Fetch {
    fn one(&self, cx: &mut Cx, object: &Value, key: &Value) -> Res {
        if self.kind == Kind::Item {
            return cx.getitem(object.core(), key);
        }
        let mut value = object.clone();
        for name in key.as_str().unwrap_or_default().split('.') {
            value = cx.getattr(&value, Sym::new(name))?;
        }
        Ok(value)
    }
}

impl NativeObject for Fetch {
    fn native_type(&self) -> &'static NativeType {
        match self.kind {
            Kind::Item => &ITEMGETTER,
            Kind::Attribute => &ATTRGETTER,
            Kind::Method => &METHODCALLER,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let ([object], []) = (args.positional, args.keywords) else {
            let name = self.native_type().name;
            let count = args.positional.len();
            return Err(type_error(format!("{name} expected 1 argument, got {count}")));
        };
        if self.kind == Kind::Method {
            let method = cx.getattr(object, Sym::new(self.keys[0].as_str().unwrap_or_default()))?;
            let args = CallArgs { positional: &self.keys[1..], keywords: &self.keywords };
            return cx.call_with(&method, args);
        }
        if let [key] = self.keys.as_slice() {
            return self.one(cx, object, key);
        }
        let items: Result<Vec<Value>, Raised> =
            self.keys.iter().map(|key| self.one(cx, object, key)).collect();
        items.map(Value::tuple)
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let keys: Result<Vec<String>, Raised> = self.keys.iter().map(|it| cx.repr(it)).collect();
        Ok(format!("operator.{}({})", self.native_type().name, keys?.join(", ")))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.keys.iter().for_each(&mut *visit);
        self.keywords.iter().for_each(|it| visit(&it.1));
    }
}
