//! What launches of plans take, by the places in the program of what they run: noted on a thread for as long as somebody asks.
//!
//! On a GPU a launch is waited for then, and nothing runs as a recording, as it is not known what each of its launches takes.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::plan::Plan;
use super::shares::Shares;
use crate::Site;

/// What the launches of one place took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// Seconds.
    pub seconds: f64,
    /// Runs of plans with the place, of those where no body ran beside ([`without_body`]).
    pub times: usize,
}

/// For as long as it lives, launches of plans on this thread are noted. There is one at a time.
#[derive(Debug)]
pub struct Noting(());

#[derive(Default)]
struct Noted {
    by_site: FxHashMap<Site, Taken>,
    /// Seconds of all launches since the beginning.
    all: f64,
    /// Whether plans run in place of a body.
    alone: bool,
}

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<Noted> = RefCell::default();
}

impl Noting {
    /// Begins with nothing noted.
    pub fn begin() -> Self {
        NOTED.take();
        IS_ON.set(true);
        Self(())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        IS_ON.set(false);
        NOTED.take();
    }
}

/// Whether somebody asks.
#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.with(Cell::get)
}

/// What was noted since the last time, in no order.
pub fn take() -> impl Iterator<Item = (Site, Taken)> {
    NOTED.with_borrow_mut(|it| std::mem::take(&mut it.by_site)).into_iter()
}

/// Runs plans in place of a body: how often their places came is told, too.
pub fn without_body<R>(run: impl FnOnce() -> R) -> R {
    if !is_on() {
        return run();
    }
    NOTED.with_borrow_mut(|it| it.alone = true);
    let res = run();
    NOTED.with_borrow_mut(|it| it.alone = false);
    res
}

/// Runs a launch and notes what it takes; launches that it runs itself are noted by themselves.
pub(super) fn noted<R>(shares: &Shares, launch: impl FnOnce() -> R) -> R {
    let before = NOTED.with_borrow(|it| it.all);
    let clock = Instant::now();
    let res = launch();
    let seconds = clock.elapsed().as_secs_f64();
    NOTED.with_borrow_mut(|it| {
        let own = (seconds - (it.all - before)).max(0.0);
        it.all += own;
        for (site, share) in shares.iter() {
            it.by_site.entry(site).or_default().seconds += own * f64::from(share);
        }
    });
    res
}

impl Plan {
    /// Notes that the plan has run.
    pub(super) fn note_run(&self) {
        NOTED.with_borrow_mut(|noted| {
            if !noted.alone {
                return;
            }
            let mut sites: Vec<Site> =
                self.launches.iter().flat_map(|it| it.shares.iter()).map(|it| it.0).collect();
            sites.sort_unstable();
            sites.dedup();
            for site in sites {
                noted.by_site.entry(site).or_default().times += 1;
            }
        });
    }
}
