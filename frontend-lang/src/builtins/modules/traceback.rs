//! `traceback`: the exception that is being handled, as text.

use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "traceback",
    doc: "The exception that is being handled, as text.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("format_exc", "limit=None, chain=True", "The traceback as text.", format_exc).opaque(),
    function("print_exc", "limit=None, file=None, chain=True", "Shows the traceback.", print_exc)
        .session(),
];

fn text(cx: &mut Cx) -> String {
    let handled = cx.machine.handled.last().cloned();
    match handled {
        Some(raised) => crate::traceback::render(cx, &raised).1.join("\n") + "\n",
        None => "NoneType: None\n".to_owned(),
    }
}

fn format_exc(cx: &mut Cx, _args: Args<'_>) -> Res {
    let text = text(cx);
    Ok(Value::str(text))
}

fn print_exc(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = text(cx);
    match args.opt(1) {
        Some(file) => cx.call_method(file, Sym::of("write"), &[Value::str(text)]).map(drop)?,
        None => cx.host.stderr(&text),
    }
    Ok(Value::None)
}
