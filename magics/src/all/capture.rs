//! `%%capture`: runs the cell and keeps what it would have shown.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use frontend_lang::builtins::modules::pyplot;
use frontend_lang::host::{Host, Recording};
use frontend_lang::session::{CellError, Options, Session};
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::captured::{Captured, Keeping, Shared};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "capture",
    summary: "As %%capture: run the cell and keep what it would have shown. NAME.stdout, NAME.stderr and NAME.outputs have it, NAME.show() \
              shows it.",
    args: &[
        Arg::Optional {
            name: "NAME",
            help: "the name for what is kept; without one it is thrown away",
        },
        Arg::Switch { name: "--no-stdout", help: "show what is printed" },
        Arg::Switch { name: "--no-stderr", help: "show what is written to sys.stderr" },
        Arg::Switch { name: "--no-display", help: "show values, plots and tables" },
    ],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[
        Example {
            setup: "%%capture kept\nprint('hello')\n1 + 1",
            cell: "kept.stdout, kept.outputs",
            shows: "('hello\\n', [2])",
        },
        Example { setup: "%%capture kept\nprint('hello')", cell: "kept.show()", shows: "hello" },
        Example { setup: "", cell: "%%capture --no-stdout\nprint('hello')", shows: "hello" },
        Example { setup: "", cell: "%%capture kept\n1 / 0", shows: "error: ZeroDivisionError" },
        Example { setup: "", cell: "%capture kept", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    if cx.body.is_none() {
        let message = "write %%capture on the first line of the cell to be captured".into();
        return Err(MagicError::usage(&MAGIC, message));
    }
    let body = cx.code(args);
    let kept = Rc::new(Captured::default());
    let session = &mut *cx.session;
    let nobody = Box::new(Recording::default());
    let real =
        Rc::new(RefCell::new(std::mem::replace(&mut session.cx.host, nobody) as Box<dyn Host>));
    session.cx.host = Box::new(Keeping {
        real: real.clone(),
        kept: kept.clone(),
        stdout: !args.switch("--no-stdout"),
        stderr: !args.switch("--no-stderr"),
        outputs: !args.switch("--no-display"),
    });
    let ran = catch_unwind(AssertUnwindSafe(|| run_kept(session, &body, cx.options)));
    // Whatever happens, the session gets its host back.
    session.cx.host = Box::new(Recording::default());
    if let Ok(real) = Rc::try_unwrap(real) {
        session.cx.host = real.into_inner();
    }
    if let Some(name) = args.word(0) {
        session.set_global(name, Value::object(Shared(kept)));
    }
    match ran.unwrap_or_else(|panic| resume_unwind(panic)) {
        Some(error) => Err(MagicError::Raised(Box::new(error))),
        None => Ok(Vec::new()),
    }
}

/// Runs the cell and displays its value, as far as it comes.
fn run_kept(session: &mut Session, body: &str, options: &Options) -> Option<CellError> {
    let result = session.run_cell(body, options);
    let value = result.value.filter(|it| !it.is_none());
    let shown = value.map(|it| session.repr(&it).map(|text| (it, text)));
    if let Some(Ok((value, text))) = &shown {
        session.cx.host.display(value, text, None, false);
    }
    pyplot::show_pending(&mut session.cx);
    result.error.or(shown.and_then(Result::err))
}
