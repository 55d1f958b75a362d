//! Profiles: every call counts once, and the time is the host's.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::profile::{LineTaken, Profiled};
use frontend_lang::session::{Options, Session};

fn profiled(cells: &[&str]) -> Profiled {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record }));
    let (last, before) = cells.split_last().expect("a cell");
    for cell in before {
        assert!(session.run_cell(cell, &Options::default()).error.is_none());
    }
    session.run_profiled(last, &Options::default()).1
}

/// Name, calls, own and total seconds of each function, by name.
fn profile(cells: &[&str]) -> Vec<(String, usize, f64, f64)> {
    let functions = profiled(cells).functions;
    let mut rows: Vec<_> =
        functions.into_iter().map(|it| (it.name, it.calls, it.own, it.total)).collect();
    rows.retain(|it| it.0 != "<module>" && it.0 != "<cell>");
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// The clock of this host moves only by `sleep`.
const SLEEPERS: &str = "
import time
def inner():
    time.sleep(1)
def outer(n):
    time.sleep(2)
    inner()
    return outer(n - 1) if n > 0 else inner()
def count(n):
    for i in range(n):
        time.sleep(1)
        yield i
def fail():
    try:
        raise ValueError
    except ValueError:
        time.sleep(1)
";

#[test]
fn calls_and_times_are_those_of_the_program() {
    let rows = profile(&[SLEEPERS, "outer(2)"]);
    let sleep = ("time.sleep".into(), 7, 10.0, 10.0);
    assert_eq!(rows, [("inner".into(), 4, 0.0, 4.0), ("outer".into(), 3, 0.0, 10.0), sleep]);
}

#[test]
fn natives_that_call_back_and_exceptions_do_not_confuse_it() {
    let rows = profile(&[SLEEPERS, "list(map(outer, [0, 0]))\nfail()\nfail()"]);
    let expected: &[(&str, usize, f64, f64)] = &[
        ("fail", 2, 0.0, 2.0),
        ("inner", 4, 0.0, 4.0),
        ("map", 1, 0.0, 0.0),
        ("outer", 2, 0.0, 8.0),
        ("time.sleep", 8, 10.0, 10.0),
    ];
    let rows: Vec<_> = rows.iter().map(|it| (it.0.as_str(), it.1, it.2, it.3)).collect();
    assert_eq!(rows, expected);
}

#[test]
fn generators_take_their_time_wherever_they_go_on() {
    let rows = profile(&[SLEEPERS, "total = sum(count(3))\nfor i in count(2):\n    pass"]);
    let (name, calls, own, total) = &rows[0];
    assert_eq!((name.as_str(), *own, *total), ("count", 0.0, 5.0));
    assert!(*calls >= 2, "{calls}");
    let (name, calls, own, total) = &rows[1];
    assert_eq!((name.as_str(), *calls, *own, *total), ("sum", 1, 0.0, 3.0));
}

/// The names and counts are those of cProfile: types and operators are no functions.
#[test]
fn natives_have_rows_of_their_own() {
    let setup = "import math, time\ndef key(x):\n    time.sleep(1)\n    return -x\nitems = []";
    let cell = "for i in range(3):\n    items.append(abs(i))\nsorted(items, key=key)\nint(math.sqrt(16)) + len('abc')";
    let rows = profile(&[setup, cell]);
    let rows: Vec<_> = rows.iter().map(|it| (it.0.as_str(), it.1, it.2, it.3)).collect();
    let expected: &[(&str, usize, f64, f64)] = &[
        ("abs", 3, 0.0, 0.0),
        ("key", 3, 0.0, 3.0),
        ("len", 1, 0.0, 0.0),
        ("list.append", 3, 0.0, 0.0),
        ("math.sqrt", 1, 0.0, 0.0),
        ("sorted", 1, 0.0, 3.0),
        ("time.sleep", 3, 3.0, 3.0),
    ];
    assert_eq!(rows, expected);
}

/// Lines of functions have rows of their own; what natives and code of the language take counts for the line that calls them.
#[test]
fn lines_take_the_time_of_what_they_call() {
    let cell = "for i in range(3):\n    time.sleep(2)\nx = [inner() for i in range(2)]\nlist(map(outer, [0]))";
    let lines = profiled(&[SLEEPERS, cell]).lines;
    let mut rows: Vec<_> =
        lines.iter().map(|it| (it.place.to_string(), it.times, it.seconds)).collect();
    rows.retain(|it| it.2 > 0.0);
    let expected = [
        ("cell 2, line 2".to_owned(), 3, 6.0),
        ("cell 1, line 4".to_owned(), 4, 4.0),
        ("cell 1, line 6".to_owned(), 1, 2.0),
    ];
    assert_eq!(rows, expected);
    assert!(lines.iter().any(|it| it.place.to_string() == "cell 2, line 3" && it.times == 1));
}

/// A step whose products are of the 8 MFLOP and 0.5 MFLOP kinds, in functions of their own.
const STEP: &str = "
import torch
from megengine.jit import trace
x, large, small = torch.ones(128, 256), torch.ones(256, 128), torch.ones(128, 8)
large.requires_grad = True
def first(x):
    return x @ large
@trace(always=True)
def step(x):
    h = first(x)
    y = h @ small
    (y * y).sum().backward()
    with torch.no_grad():
        large.sub_(large.grad, alpha=1e-6)
    large.grad = None
    return y.detach() * 2
for i in range(12):
    step(x)
";

/// What a compiled call computes counts for the lines of its ops, however deep they stand; what waits for it is left with the rest.
#[test]
fn compiled_calls_count_for_the_lines_that_they_compute() {
    let lines = profiled(&[STEP, "for i in range(20):\n    step(x)"]).lines;
    let all: f64 = lines.iter().map(|it| it.seconds).sum();
    let line = |place: &str, is_gradient: bool| {
        let is_it =
            |it: &&LineTaken| it.place.to_string() == place && it.is_gradient == is_gradient;
        lines.iter().find(is_it).unwrap_or_else(|| panic!("{place} in {lines:?}"))
    };
    let (large, small) = (line("cell 1, line 7", false), line("cell 1, line 11", false));
    assert!(large.times == 20 && small.times == 20, "{lines:?}");
    assert!(large.seconds > 0.0 && small.seconds > 0.0, "{lines:?}");
    assert!(line("cell 1, line 7", true).seconds > 0.0, "{lines:?}");
    assert_eq!(line("cell 2, line 2", false).times, 20);
    // The clock of this host stands still, so no line has anything but launches.
    assert_eq!(line("cell 2, line 2", false).seconds, 0.0);
    assert!(large.seconds < all);
}

/// Where nobody asks, nothing is noted.
#[test]
fn a_profile_begins_with_nothing() {
    profiled(&[STEP, "step(x)"]);
    assert_eq!(engine::lower::timing::take().count(), 0);
    let lines = profiled(&["y = 1"]).lines;
    assert!(lines.iter().all(|it| it.seconds == 0.0), "{lines:?}");
}
