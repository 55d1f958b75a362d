//! The text of a cell through parser, lowering, names and compiler. Nothing runs.

#![no_main]

use frontend_lang::check::Level;
use frontend_lang::host::Recording;
use frontend_lang::session::Session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|code: &str| {
    let mut session = Session::new(Box::new(Recording::default()));
    session.look_at(code, Level::Off);
    session.is_complete(code);
});
