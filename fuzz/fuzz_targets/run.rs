//! A cell runs, with little time, little memory and a host that is not there.

#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use frontend_lang::check::Level;
use frontend_lang::host::Recording;
use frontend_lang::session::{Options, Session};
use libfuzzer_sys::{Corpus, fuzz_target};

/// How long a cell may run; it is asked to stop again and again after that, in case it goes on.
const PATIENCE: Duration = Duration::from_millis(300);

fuzz_target!(|code: &str| -> Corpus {
    // A loop that catches being stopped is the user's own wish, and no hang.
    let goes_on = ["except", "finally", "suppress", "__exit__", "with"];
    if code.contains("while") && goes_on.iter().any(|it| code.contains(it)) {
        return Corpus::Reject;
    }
    engine::cpu::memory::HOST.set_budget(256 << 20);
    let mut session = Session::new(Box::new(Recording::default()));
    session.cx.memory_limit = 64 << 20;
    let done = Arc::new(AtomicBool::new(false));
    let (interrupt, ended) = (session.interrupt_handle(), done.clone());
    let watch = std::thread::spawn(move || {
        std::thread::park_timeout(PATIENCE);
        while !ended.load(Ordering::Relaxed) {
            interrupt.store(true, Ordering::Relaxed);
            std::thread::park_timeout(Duration::from_millis(20));
        }
    });
    let options = Options { check: Level::On, ..Options::default() };
    for cell in code.split("# ---\n") {
        session.run_cell(cell, &options);
    }
    done.store(true, Ordering::Relaxed);
    watch.thread().unpark();
    let _ = watch.join();
    Corpus::Keep
});
