//! A cell is checked after the cells before it, parted by `# ---`, were checked too. Nothing runs, so nothing may be written.

#![no_main]

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::Session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|code: &str| {
    engine::cpu::memory::HOST.set_budget(256 << 20);
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    session.cx.memory_limit = 64 << 20;
    let before = engine::random::state();
    for cell in code.split("# ---\n") {
        session.look_at(cell, Level::Strict);
    }
    assert!(session.cx.mode == frontend_lang::cx::Mode::Eager);
    assert!(engine::random::state() == before, "a random number was drawn");
    assert!(record.stdout.borrow().is_empty() && record.files.borrow().is_empty());
});
