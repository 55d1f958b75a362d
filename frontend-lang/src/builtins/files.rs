//! `open`, which needs no import.

use crate::native::*;

/// Functions of files.
pub static FUNCTIONS: &[NativeFn] = &[function(
    "open",
    "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None",
    "A file of text in UTF-8: \"r\" reads, \"w\" writes it anew, \"a\" adds at its end, \"x\" makes it.",
    open,
)
.opaque()];

fn open(cx: &mut Cx, args: Args<'_>) -> Res {
    let module = cx.import("io")?;
    let open = cx.getattr(&module, Sym::new("open"))?;
    cx.call_with(&open, CallArgs { positional: args.all(), keywords: &[] })
}
