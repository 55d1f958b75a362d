//! `exit` and `quit`, which need no import: they end the cell, and the console that sent it.

use crate::error::SYSTEM_EXIT;
use crate::native::*;

/// Functions that end the program.
pub static FUNCTIONS: &[NativeFn] = &[
    function("exit", "code=None, /", "Ends the cell, and a console.", exit),
    function("quit", "code=None, /", "Ends the cell, and a console.", exit),
];

/// Raises `SystemExit`; what that ends is for the frontend to say.
pub(crate) fn exit(_cx: &mut Cx, args: Args<'_>) -> Res {
    let status = args.opt(0).cloned().into_iter().collect();
    Err(Raised::with_args(&SYSTEM_EXIT, status))
}
