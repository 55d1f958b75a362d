//! `display` and `clear_output`, which need no import, and the module `IPython.display`.

use std::hash::{BuildHasher, RandomState};

use crate::native::*;
use crate::objects::shown::Shown;
use crate::python::proxy;

/// Functions that show values.
pub static FUNCTIONS: &[NativeFn] = &[
    function(
        "display",
        "*values, display_id=None, clear=False",
        "Shows each value as the end of a cell would. With a display_id (True: a new one) it gives a handle, whose update() replaces what was shown.",
        display,
    ),
    function(
        "update_display",
        "value, *, display_id",
        "Replaces what was shown under this id.",
        update,
    )
    .session(),
    function(
        "clear_output",
        "wait=False",
        "Clears what the cell has shown; with wait, when the next output comes.",
        clear,
    )
    .session(),
];

/// The module `IPython.display`.
pub static MODULE: NativeModule = NativeModule {
    name: "IPython.display",
    doc: "Showing values.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::Functions(FORMS),
        Member::These(HANDLES, &["DisplayHandle"]),
    ],
    aliases: &[],
};

/// What the modules of IPython that are written in the language need.
pub static PRIVATE: NativeModule = NativeModule {
    name: "_IPython",
    doc: "What `IPython` is made of.",
    members: &[Member::Functions(&[function(
        "new_id",
        "",
        "A display_id that no other display has.",
        |_cx, _args| Ok(Value::str(new_id())),
    )
    .opaque()])],
    aliases: &[],
};

/// Where handles of displays are written.
const HANDLES: &str = "IPython.core.display_functions";

/// The module `IPython`.
pub static PACKAGE: NativeModule = NativeModule {
    name: "IPython",
    doc: "What notebooks import of IPython: `IPython.display`, `get_ipython`.",
    members: &[
        Member::Module("display", "IPython.display"),
        Member::Make("get_ipython", |_| Ok(Value::Native(&super::shell::FUNCTIONS[0]))),
    ],
    aliases: &[],
};

static FORMS: &[NativeFn] = &[
    function("HTML", "data", "Text to be shown as HTML.", html),
    function("Markdown", "data", "Text to be shown as Markdown.", markdown),
];

/// What a text becomes.
type Form = fn(String) -> Shown;

/// Methods by which objects say how they want to be shown, best first.
const FORMS_OF_OBJECTS: &[(&str, Form)] = &[
    ("_repr_html_", Shown::Html),
    ("_repr_svg_", Shown::Html),
    ("_repr_markdown_", Shown::Markdown),
];

impl Cx {
    /// What an object's `_repr_html_` or another such method gives; one that fails is passed over.
    pub fn rich_form(&mut self, value: &Value) -> Option<Value> {
        if let Some(proxy) = proxy::of(value) {
            return self.python_form(proxy);
        }
        let Value::Instance(it) = value else { return None };
        for (name, make) in FORMS_OF_OBJECTS {
            let name = Sym::of(name);
            if it.class.lookup(name).is_none() {
                continue;
            }
            if let Ok(found) = self.call_method(value, name, &[])
                && let Some(text) = found.as_str()
            {
                return Some(Value::object(make(text.to_owned())));
            }
        }
        None
    }
}

fn show(cx: &mut Cx, value: &Value, id: Option<&str>, update: bool) -> Result<(), Raised> {
    let text = cx.repr(value)?;
    let rich = cx.rich_form(value);
    cx.host.display(rich.as_ref().unwrap_or(value), &text, id, update);
    Ok(())
}

fn display(cx: &mut Cx, args: Args<'_>) -> Res {
    let id = match &args[1] {
        Value::Bool(true) => Some(new_id()),
        Value::Bool(false) => None,
        _ => args.opt_str(1)?.map(str::to_string),
    };
    if cx.truth(&args[2])? {
        cx.host.clear_output(true);
    }
    for value in args.rest(0) {
        show(cx, value, id.as_deref(), false)?;
    }
    let Some(id) = id else { return Ok(Value::None) };
    if args.rest(0).is_empty() {
        // A place that is to be filled later.
        let empty = Value::object(Shown::Html(String::new()));
        cx.host.display(&empty, "", Some(&id), false);
    }
    let module = cx.import(HANDLES)?;
    let class = cx.import_name(&module, Sym::of("DisplayHandle"))?;
    cx.call(&class, &[Value::str(id)])
}

/// Displays outlive the session that made them, so numbers in order would meet again.
fn new_id() -> String {
    let half = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", half(), half())
}

fn update(cx: &mut Cx, args: Args<'_>) -> Res {
    let id = args.str(1)?.to_string();
    show(cx, &args[0], Some(&id), true)?;
    Ok(Value::None)
}

fn clear(cx: &mut Cx, args: Args<'_>) -> Res {
    let wait = cx.truth(&args[0])?;
    cx.host.clear_output(wait);
    Ok(Value::None)
}

fn html(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::object(Shown::Html(args.str(0)?.to_string())))
}

fn markdown(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::object(Shown::Markdown(args.str(0)?.to_string())))
}
