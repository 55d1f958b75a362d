//! `get_ipython` and `help`, which need no import, and `_shell`, by which `std/IPython` reaches magics.

use std::rc::Rc;

use crate::editor::Snapshot;
use crate::editor::describe::Describer;
use crate::editor::help::{Help, help as help_of};
use crate::editor::inspect::help_on_text;
use crate::native::*;
use crate::objects::class::type_of;
use crate::session::Session;
use crate::shell::Shell;

/// Functions that need no import.
pub static FUNCTIONS: &[NativeFn] = &[
    function("get_ipython", "", "The session as an object, which runs magics.", get_ipython)
        .opaque(),
    function(
        "help",
        "object=..., /",
        "Shows what an object is; without one, how to get help.",
        help,
    )
    .opaque(),
];

/// `_shell`.
pub static MODULE: NativeModule = NativeModule {
    name: "_shell",
    doc: "How code runs magics.",
    members: &[Member::Functions(DOORS)],
    aliases: &[],
};

static DOORS: &[NativeFn] = &[
    function("magic", "name, line, body=None, /", "Runs `%name line`.", |cx, args| {
        let (name, line, body) = (args.str(0)?, args.str(1)?, args.opt_str(2)?);
        ask(cx, |shell, session| shell.magic(session, name, line, body))?;
        Ok(Value::None)
    })
    .opaque(),
    function("output", "names, command, /", "What `names = !command` would be.", |cx, args| {
        let (names, command) = (args.str(0)?, args.str(1)?);
        ask(cx, |shell, _| Err(shell.output(names, command)))
    })
    .opaque(),
    function("set_next_input", "text, replace, /", "Offers the text of a cell.", |cx, args| {
        let replace = cx.truth(&args[1])?;
        cx.host.set_next_input(args.str(0)?, replace);
        Ok(Value::None)
    })
    .opaque(),
    function("system", "command, /", "Does for `!command`.", |cx, args| {
        let command = args.str(0)?;
        ask(cx, |shell, session| shell.system(session, command))?;
        Ok(Value::None)
    })
    .opaque(),
    function("value", "names, name, line, /", "The value of `names = %name line`.", |cx, args| {
        let (names, name, line) = (args.str(0)?, args.str(1)?, args.str(2)?);
        ask(cx, |shell, session| shell.value(session, names, name, line))
    })
    .opaque(),
];

fn ask<T>(
    cx: &mut Cx,
    run: impl FnOnce(&Rc<dyn Shell>, &mut Session) -> Result<T, String>,
) -> Result<T, Raised> {
    let Some(shell) = cx.shell.clone() else {
        return Err(runtime_error("there are no magics in this session"));
    };
    cx.write_all()?;
    cx.with_session(|session| run(&shell, session)).map_err(runtime_error)
}

fn get_ipython(cx: &mut Cx, _args: Args<'_>) -> Res {
    let module = cx.import("IPython.core.interactiveshell")?;
    cx.getattr(&module, Sym::of("shell"))
}

/// What `help()` says alone.
const HOW: &str = "help(thing) shows what a thing is: help(print), help(torch.nn.Linear), help('torch.optim').
In a notebook, `thing?` does the same and `thing??` shows its source; Tab completes names, Shift+Tab explains a call.
`%lsmagic` lists magics, `%name?` explains one, `%explain` lists what errors mean.";

fn help(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = match args.opt(0) {
        None => HOW.to_owned(),
        Some(asked) => match asked.core().as_str() {
            Some(path) => on_path(cx, path)?.plain(),
            None => {
                let name = name_of(cx, asked);
                on_value(cx, &name, asked).plain()
            }
        },
    };
    cx.host.stdout(&format!("{}\n", text.trim_end()));
    Ok(Value::None)
}

fn on_path(cx: &mut Cx, path: &str) -> Result<Help, Raised> {
    if let Some(found) = cx.with_session(|session| session.lookup(path)) {
        return Ok(on_value(cx, path.rsplit('.').next().unwrap_or(path), &found));
    }
    help_on_text(path, 0, &Snapshot::default()).ok_or_else(|| {
        value_error(format!(
            "nothing is known about '{path}'; help(thing) without quotes asks about a value"
        ))
    })
}

fn on_value(cx: &mut Cx, name: &str, value: &Value) -> Help {
    let subject = cx.with_session(|session| Describer::default().one(session, name, value));
    help_of(&subject, name, 0)
}

/// The name of a function, class or module; that of its class for anything else.
fn name_of(cx: &mut Cx, value: &Value) -> String {
    match cx.opt_getattr(value, Sym::of("__name__")) {
        Ok(Some(name)) if name.as_str().is_some() => name.as_str().unwrap_or_default().to_owned(),
        _ => type_of(value).name.to_string(),
    }
}
