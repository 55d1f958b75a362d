//! `sys`: what programs ask about the language, and the output streams.

use std::any::Any;

use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "sys",
    doc: "The language and its output streams.",
    members: &[
        Member::Int("maxsize", i64::MAX),
        Member::Int("maxunicode", 0x10_ffff),
        Member::Str("byteorder", "little"),
        Member::Str("platform", "linux"),
        Member::Str("version", "3.12.0 (Notegrad)"),
        Member::Str("executable", ""),
        Member::Make("argv", |_cx| Ok(Value::list(vec![Value::str("")]))),
        Member::Make("stderr", |_cx| Ok(Value::object(Stream { to_stderr: true }))),
        Member::Make("stdout", |_cx| Ok(Value::object(Stream { to_stderr: false }))),
        Member::Make("version_info", version_info),
        Member::Make("float_info", float_info),
        Member::Make("modules", |_cx| Ok(Value::dict())),
        Member::Functions(FUNCTIONS),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("exit", "status=None, /", "Raises SystemExit.", super::super::leave::exit),
    function("getrecursionlimit", "", "How deeply calls may nest.", |_cx, _args| {
        Ok(Value::Int(1000))
    }),
    function("getsizeof", "object, default=0, /", "A rough size in bytes.", getsizeof).opaque(),
    function("intern", "string, /", "The same string.", |_cx, args| {
        Ok(Sym::new(args.str(0)?).value())
    }),
    function("setrecursionlimit", "limit, /", "Accepted; the limit is fixed.", |_cx, args| {
        args.int(0).map(|_| Value::None)
    }),
];

fn record(cx: &mut Cx, name: &str, fields: &[(&str, Value)]) -> Res {
    let names = fields.iter().map(|it| Value::str(it.0)).collect();
    let factory = super::collections::named(cx, name, Value::list(names))?;
    let values: Vec<Value> = fields.iter().map(|it| it.1.clone()).collect();
    cx.call(&factory, &values)
}

fn version_info(cx: &mut Cx) -> Res {
    let numbers = [("major", 3), ("minor", 12), ("micro", 0)];
    let mut fields: Vec<(&str, Value)> =
        numbers.iter().map(|it| (it.0, Value::Int(it.1))).collect();
    fields.extend([("releaselevel", Value::str("final")), ("serial", Value::Int(0))]);
    record(cx, "version_info", &fields)
}

fn float_info(cx: &mut Cx) -> Res {
    record(
        cx,
        "float_info",
        &[
            ("max", Value::Float(f64::MAX)),
            ("max_exp", Value::Int(1024)),
            ("max_10_exp", Value::Int(308)),
            ("min", Value::Float(f64::MIN_POSITIVE)),
            ("min_exp", Value::Int(-1021)),
            ("min_10_exp", Value::Int(-307)),
            ("dig", Value::Int(15)),
            ("mant_dig", Value::Int(53)),
            ("epsilon", Value::Float(f64::EPSILON)),
            ("radix", Value::Int(2)),
            ("rounds", Value::Int(1)),
        ],
    )
}

fn getsizeof(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::from(match args[0].core() {
        Value::Str(it) => 49 + it.len(),
        Value::List(it) => 56 + 8 * it.items.borrow().len(),
        Value::Tuple(it) => 40 + 8 * it.len(),
        Value::Dict(it) => 64 + 104 * it.len(),
        Value::Set(it) => 216 + 32 * it.len(),
        Value::Float(_) => 24,
        Value::Int(_) | Value::Bool(_) => 28,
        _ => 48,
    }))
}

/// `sys.stdout` or `sys.stderr`.
pub struct Stream {
    to_stderr: bool,
}

static STREAM: NativeType = NativeType {
    module: "io",
    methods: &[METHODS],
    ..NativeType::plain("TextIOWrapper", "An output stream.")
};

static METHODS: &[NativeFn] = &[
    function("flush", "self, /", "Does nothing: output streams as it is made.", |_cx, _args| {
        Ok(Value::None)
    }),
    function("isatty", "self, /", "False.", |_cx, _args| Ok(Value::Bool(false))),
    function("write", "self, s, /", "Writes text; returns its length.", write),
];

fn write(cx: &mut Cx, args: Args<'_>) -> Res {
    let stream: &Stream = args.object(0)?;
    let Some(text) = args[1].as_str() else {
        let name = type_name(&args[1]);
        return Err(type_error(format!("write() argument must be str, not {name}")));
    };
    if stream.to_stderr {
        cx.host.stderr(text);
    } else {
        cx.host.stdout(text);
    }
    Ok(Value::from(text.chars().count()))
}

impl NativeObject for Stream {
    fn native_type(&self) -> &'static NativeType {
        &STREAM
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn shows_state(&self) -> bool {
        true
    }
}
