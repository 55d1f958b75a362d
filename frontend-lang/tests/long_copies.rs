//! Copies of much text, of many items and of many elements look at the interrupt flag between pieces.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::Ordering;

use frontend_lang::host::Recording;
use frontend_lang::memory;
use frontend_lang::session::{Options, Session};

/// Long enough for several pieces.
const SETUP: &str = "import torch
s = 'a' * 600_000
w = 'é' * 400_000
x = list(range(60_000))
p = tuple(x)
t = torch.zeros(200_000)
m = torch.zeros(1_000, 300)
b = torch.arange(300_000)
i = torch.zeros(4, dtype=torch.int64)
k = torch.zeros(200_000, dtype=torch.int64)
def grow(text):
    text += s
    return text";

/// Runs a cell while the user's wish to stop is already there; the name of its error.
fn stopped(session: &mut Session, code: &str) -> Option<String> {
    let flag = session.interrupt_handle();
    flag.store(true, Ordering::Relaxed);
    let result = session.run_cell(code, &Options::default());
    flag.store(false, Ordering::Relaxed);
    result.error.map(|it| it.ename)
}

#[test]
fn long_copies_are_stopped() {
    let mut session = Session::new(Box::new(Recording::default()));
    assert!(session.run_cell(SETUP, &Options::default()).error.is_none());
    // Nothing else looks in such cells.
    for code in ["z = 1", "z = 'a' + 'b'", "z = s", "z = [1] + [2]", "z = torch.zeros(0)"] {
        assert_eq!(stopped(&mut session, code), None, "{code}");
    }
    let mut went_on = Vec::new();
    for code in [
        "z = s + s",
        "z = s * 3",
        "z = 'a' * 900_000",
        "z = 'abc' * 300_000",
        "z = f'{s}{s}'",
        "z = ''.join([s, s])",
        "z = '%s%s' % (s, s)",
        "z = '%s' % s",
        "z = s.find('b')",
        "z = s.rfind('ab')",
        "z = 'b' in s",
        "z = s.count('b')",
        "z = s.replace('b', 'c')",
        "z = s.split('b')",
        "z = s.rsplit('b')",
        "z = s[1:]",
        "z = w[1:]",
        "z = w[::-1]",
        "z = x[1:]",
        "z = x[:]",
        "z = x + x",
        "z = p + p",
        "z = x * 2",
        "z = [0] * 100_000",
        "z = list(x)",
        "z = set(x)",
        "z = torch.zeros(200_000)",
        "z = torch.ones(200_000)",
        "z = torch.full((200_000,), 2.5)",
        "z = torch.arange(200_000)",
        "z = torch.linspace(0, 1, 200_000)",
        "z = torch.eye(500)",
        "z = torch.rand(200_000)",
        "z = torch.cat([t, t])",
        "z = torch.tensor(x)",
        "z = b.sort()",
        "z = m[m == 0]",
        "z = t[k]",
        "t[k] = 2.0",
        "t += 1",
        "z = t.double()",
        "z = m.t().contiguous()",
        "z = torch.zeros(1).expand(200_000).contiguous()",
        "z = t.index_put((i,), torch.tensor(2.0))",
        "z = torch.nn.functional.one_hot(i, 200_000)",
    ] {
        if stopped(&mut session, code).as_deref() != Some("KeyboardInterrupt") {
            went_on.push(code);
        }
        let kept = session.run_cell("len(t)", &Options::default());
        assert!(kept.error.is_none(), "{code}");
    }
    assert!(went_on.is_empty(), "{went_on:?}");
}

#[test]
fn text_that_grows_in_place_is_as_it_was_when_that_is_stopped() {
    let mut session = Session::new(Box::new(Recording::default()));
    let code = "text = 'b' * 300_000
for i in range(3):
    text += 'c'
    text += 'a' * 300_000
len(text), text[300_000], text[-1]";
    let grown = session.run_cell(code, &Options::default());
    assert!(grown.error.is_none());
    let value = session.cx.repr(&grown.value.unwrap());
    assert_eq!(value.ok().as_deref(), Some("(1200003, 'c', 'a')"));
}

#[test]
fn repeated_text_is_whole_whatever_its_length() {
    let mut session = Session::new(Box::new(Recording::default()));
    let code = "kept = [('é' * n == ''.join(['é'] * n), len('ab' * n)) for n in (0, 1, 2, 3, 131_072, 300_001)]
long = 'x' * 299_999 + 'y'
kept, (long * 3).count('y'), len(long * 3), (long * 3)[299_999::300_000]";
    let made = session.run_cell(code, &Options::default());
    assert!(made.error.is_none());
    let value = session.cx.repr(&made.value.unwrap());
    let kept = "[(True, 0), (True, 2), (True, 4), (True, 6), (True, 262144), (True, 600002)]";
    assert_eq!(value.ok().unwrap(), format!("({kept}, 3, 900000, 'yyy')"));
}

#[test]
fn what_is_let_go_during_an_interrupt_is_freed_after_the_answer() {
    for contents in ["[str(i) for i in range(60_000)]", "tuple(map(str, range(60_000)))"] {
        let mut session = Session::new(Box::new(Recording::default()));
        assert!(session.run_cell(&format!("x = {contents}"), &Options::default()).error.is_none());
        let full = memory::used();
        assert_eq!(stopped(&mut session, "x = None"), None);
        assert!(memory::used() + 2_000_000 > full, "{contents} was freed at once");
        session.tidy();
        assert!(memory::used() + 3_000_000 < full, "{contents} was not freed");
    }
}
