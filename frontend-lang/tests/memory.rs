//! A program that wants more memory than it may use gets a `MemoryError`, and the session goes on with all names.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use frontend_lang::host::{Record, Recording};
use frontend_lang::memory;
use frontend_lang::session::{Options, Session};

const LIMIT: usize = 32 << 20;

/// The budget of tensors is that of the whole process: what one session holds counts for all.
static BUDGET: RwLock<()> = RwLock::new(());

/// A session beside others. No test sets the budget meanwhile, so that none counts what this one gives back.
struct Shared {
    session: Session,
    _budget: RwLockReadGuard<'static, ()>,
}

impl Deref for Shared {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

fn session() -> Shared {
    let budget = BUDGET.read().unwrap_or_else(PoisonError::into_inner);
    Shared { session: limited(), _budget: budget }
}

fn limited() -> Session {
    let mut session = Session::new(Box::new(Recording { record: Rc::new(Record::default()) }));
    session.cx.memory_limit = LIMIT;
    session
}

/// A session of a test that sets the budget, with no other session meanwhile.
fn alone() -> (RwLockWriteGuard<'static, ()>, Session) {
    let budget = BUDGET.write().unwrap_or_else(PoisonError::into_inner);
    (budget, limited())
}

fn error(session: &mut Session, code: &str) -> String {
    session.run_cell(code, &Options::default()).error.map_or_else(String::new, |it| it.ename)
}

/// The cell runs out of memory; what was there before is still there, and cells go on.
fn check(code: &str) {
    let mut session = session();
    assert_eq!(error(&mut session, "kept = [1, 2, 3]"), "");
    assert_eq!(error(&mut session, code), "MemoryError", "{code}");
    assert!(memory::used() < LIMIT + LIMIT / 8, "{code}: {} bytes", memory::used());
    let res = session.run_cell("assert sum(kept) == 6", &Options::default());
    assert!(res.error.is_none(), "{code}: {:?}", res.error.map(|it| it.plain));
    assert_eq!(error(&mut session, "x = y = z = None"), "", "{code}");
    assert_eq!(error(&mut session, "assert sum(list(range(1000))) == 499500"), "", "{code}");
}

#[test]
fn one_large_thing_is_refused_before_it_is_made() {
    for code in [
        "list(range(10**12))",
        "x = [*range(10**12)]",
        "tuple(range(10**12))",
        "'a' * 10**12",
        "'a' * 10**12 * 10**6",
        "[0] * 10**12",
        "(0,) * 10**12",
        "import random\nrandom.sample(range(10**12), 10**10)",
        "import random\nrandom.choices([1, 2], k=10**12)",
        "'{:>1000000000000}'.format(1)",
        "'%1000000000000d' % 1",
        "f'{1:>1000000000000}'",
        "f'{1.5:.1000000000f}'",
        "'a'.center(10**12)",
        "'a'.zfill(10**12)",
        "'\\t'.expandtabs(10**12)",
        "('a' * 10**6).replace('a', 'b' * 10**6)",
        "('a' * 10**6).join(['x'] * 10**6)",
        "from collections import deque\ndeque([1]) * 10**12",
        "from collections import deque\ndeque(range(10**12))",
        "import itertools\nlist(itertools.repeat(None, 10**12))",
        "import itertools\nitertools.combinations_with_replacement([1], 10**12)",
        "sorted(range(10**12))",
        "set(range(10**12))",
        "dict.fromkeys(range(10**12))",
        "import json\nx = [0]\nfor _ in range(60):\n    x = [x, x]\njson.dumps(x)",
        "x = [0]\nfor _ in range(60):\n    x = [x, x]\nrepr(x)",
        "import re\nre.sub('a', 'b' * 10**6, 'a' * 10**6)",
        "import re\nre.findall('a', 'a' * 10**6)",
        "('a ' * 10**6).split()",
        "('a\\n' * 10**6).splitlines()",
        "x = 'ab' * 10**6\nx.translate({97: x})",
        "x = 'ab' * 10**7\nf'{x}{x}{x}{x}'",
        "x = 'ab' * 10**6\n'{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}'.format(x)",
    ] {
        check(code);
    }
}

#[test]
fn growth_in_a_loop_ends_at_the_limit() {
    for code in [
        "x = [0]\nwhile True:\n    x = x + x",
        "x = [0]\nwhile True:\n    x += x",
        "x = (0,)\nwhile True:\n    x = x + x",
        "x = 'a'\nwhile True:\n    x = x + x",
        "x = []\nwhile True:\n    x.append(1)",
        "x = []\nwhile True:\n    x.insert(0, x)\n    x.extend([1] * 10_000)",
        "x = []\nwhile True:\n    x[1:1] = [1, 2, 3] * 1000",
        "x = [y for y in iter(int, 1)]",
        "x = {}\nn = 0\nwhile True:\n    x[n] = n\n    n += 1",
        "x = set()\nn = 0\nwhile True:\n    x.add(n)\n    n += 1",
        "x = {n: str(n) for n in range(10**12)}",
        "x = {n for n in range(10**12)}",
        "x = None\nwhile True:\n    x = (x, x)",
        "class Node:\n    pass\nx = None\nwhile True:\n    y = Node()\n    y.next = x\n    x = y",
        "x = None\nwhile True:\n    x = lambda y=x: y",
        "class A:\n    pass\nx = A()\nn = 0\nwhile True:\n    setattr(x, 'a' + str(n), n)\n    n += 1",
        "x = iter([])\nwhile True:\n    x = map(abs, x)",
        "from collections import deque\nx = deque()\nwhile True:\n    x.append(1)",
        "x = []\nwhile True:\n    x.append('text %d' % len(x))",
        "import torch\nx = []\nwhile True:\n    x.append(torch.tensor(1.0))",
    ] {
        check(code);
    }
}

#[test]
fn an_error_can_be_caught_and_work_goes_on() {
    let mut session = session();
    let code = "
found = []
for n in range(20):
    try:
        [0] * 10**12
    except MemoryError as error:
        found.append(str(error))
x = []
try:
    while True:
        x.append('abc' * 100)
except MemoryError:
    n = len(x)
    del x
x = list(range(1000))
assert n > 1000 and len(found) == 20
assert 'set_memory_limit' in found[0]
";
    let res = session.run_cell(code, &Options::default());
    assert!(res.error.is_none(), "{}", res.error.unwrap().plain);
}

#[test]
fn what_is_dropped_is_given_back() {
    let mut session = session();
    let code =
        "x = [str(n) * 10 for n in range(1000)]\nx = {n: (n, [n], {n}) for n in range(1000)}\n";
    error(&mut session, "x = y = None");
    let before = memory::used();
    for _ in 0..3 {
        assert_eq!(error(&mut session, code), "");
        assert!(memory::used() > before + 100_000);
        assert_eq!(error(&mut session, "x = None"), "");
    }
    let after = memory::used();
    assert!(after < before + 4000, "{before} then {after}");
}

#[test]
fn the_limit_can_be_set() {
    let mut session = session();
    let code = "import notegrad\nnotegrad.set_memory_limit(10**6)\nx = [0] * 10**6";
    assert_eq!(error(&mut session, code), "MemoryError");
    assert_eq!(error(&mut session, "notegrad.set_memory_limit(10**9)\nx = [0] * 10**6"), "");
    let limits = "assert notegrad.memory_limit() == 10**9 and notegrad.memory_used() > 16 * 10**6";
    assert_eq!(error(&mut session, limits), "");
    assert_eq!(error(&mut session, "notegrad.set_memory_limit()\nx = None"), "");
}

#[test]
fn deep_structures_go_without_deep_recursion() {
    let mut session = session();
    session.cx.memory_limit = 1 << 30;
    for step in [
        "[x]",
        "(x,)",
        "(x, x)",
        "{'x': x}",
        "{1: [x]}",
        "lambda y=x: y",
        "map(abs, x) if n else iter([])",
        "slice(x)",
        "box(x)",
        "closure(x)",
        "generator(x)",
        "deque([x])",
        "partial(print, x)",
        "zip(x) if n else iter([])",
        "bound(x)",
        "{1: x}.values()",
        "x.T if n else torch.zeros(2, 2)",
    ] {
        let code = format!(
            "from collections import deque
from functools import partial
import torch
class box:
    def __init__(self, x):
        self.x = x
    def method(self):
        pass
def closure(x):
    def inner():
        return x
    return inner
def generator(x):
    y = x
    yield y
def bound(x):
    return box(x).method
x = None
for n in range(100_000):
    x = {step}
x = None
"
        );
        assert_eq!(error(&mut session, &code), "", "{step}");
    }
}

#[test]
fn a_tape_that_grows_without_end_is_stopped() {
    use engine::cpu::memory::HOST;
    let (_alone, mut session) = alone();
    assert_eq!(error(&mut session, "import torch\nw = torch.ones(1, requires_grad=True)"), "");
    HOST.set_budget(HOST.stats().live + (64 << 20));
    let grows = error(&mut session, "x = w\nwhile True:\n    x = x + 1");
    let before = HOST.stats().live;
    let goes_on = error(&mut session, "x = None\n(w * 2).backward()\nassert w.grad.item() == 2");
    let after = HOST.stats().live;
    HOST.set_budget(0);
    assert_eq!((grows.as_str(), goes_on.as_str()), ("OutOfMemoryError", ""));
    assert!(after + (32 << 20) < before, "{before} bytes, then {after}");
}

#[test]
fn a_session_that_ends_leaves_nothing_behind() {
    let code = "import torch.nn as nn, numpy, datetime\ndef f(): return g\ndef g(): return f\nm = nn.Linear(2, 2)";
    let left = [(); 3].map(|()| {
        let mut session = session();
        assert_eq!(error(&mut session, code), "");
        drop(session);
        memory::used()
    });
    assert!(left[2] < left[1] + 1000, "{left:?} bytes");
}

#[test]
fn a_session_that_ends_leaves_no_code_to_the_next() {
    let code = "class A:\n    def __del__(self): print('late')\na = A()\ndef g():\n    try: yield 1\n    finally: print('later')\n\
                it = g(); n = next(it)\nb = A(); b.b = b";
    let mut ended = session();
    assert_eq!(error(&mut ended, code), "");
    drop(ended);
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    assert_eq!(error(&mut session, "x = [n for n in range(3)]; len(x)"), "");
    assert_eq!(record.stdout.take(), "");
}

#[test]
fn running_out_of_memory_names_the_largest_tensors_and_their_lines() {
    use engine::cpu::memory::HOST;
    let (_alone, mut session) = alone();
    let before =
        "import torch\nfrom torch import nn\n\ndef noise(n):\n    return torch.ones(n, 1000)\n";
    assert_eq!(error(&mut session, before), "");
    HOST.set_budget(HOST.stats().live + (64 << 20));
    let made = "w = noise(3000).requires_grad_()\nm = nn.Linear(1000,\n              1500)\n((w * 2)\n .exp().sum().backward())";
    let made = error(&mut session, made);
    let cell = "kept = []\nfor i in range(100):\n    kept.append(noise(2000))";
    let result = session.run_cell(cell, &Options::default());
    HOST.set_budget(0);
    assert_eq!(made, "");
    let text = result.error.expect("no memory").plain;
    for part in [
        "OutOfMemoryError: out of memory: 8.0 MB asked for, ",
        "; the largest of what is in use: 4 x float32[2000, 1000] 32.0 MB, made by cell 1, line 5; ",
        "float32[3000, 1000] 12.0 MB, made by cell 1, line 5",
        "float32[3000, 1000] 12.0 MB, a gradient of cell 2, line 4",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let rows = frontend_lang::tensor::in_use::largest(10);
    let layer = rows.iter().find(|it| it.what == "float32[1500, 1000]");
    // What nn.Linear makes is made by the line that calls it.
    assert_eq!(layer.map(|it| it.made.as_str()), Some("made by cell 2, line 2"));
    assert_eq!(error(&mut session, "kept = w = m = None"), "");
}

#[test]
fn running_out_of_memory_in_a_compiled_step_names_the_line_of_its_op() {
    use engine::cpu::memory::HOST;
    let (_alone, mut session) = alone();
    let cell = "import torch\nfrom notegrad.jit import trace\n\n@trace\ndef step(x, n):\n    y = x @ x\n    \
                z = torch.tanh(y) @ y\n    wide = torch.stack([z] * n)\n    return y, (wide @ y).sum()\n\n\
                x = torch.eye(200)\nfor i in range(3):\n    step(x, 40)\nkept = torch.ones(2000, 1000)";
    assert_eq!(error(&mut session, cell), "");
    for (budget, line) in [(8 << 20, 9), (100 << 10, 6)] {
        HOST.set_budget(HOST.stats().live + budget);
        let result = session.run_cell("step(x, 40)", &Options::default());
        HOST.set_budget(0);
        let text = result.error.expect("no memory").plain;
        let place = format!(" in use by tensors; the op stands in cell 1, line {line}; ");
        for part in [
            "OutOfMemoryError: out of memory: ",
            &place,
            "the largest of what is in use: float32[2000, 1000] 8.0 MB, made by cell 1, line 14; ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert_eq!(error(&mut session, "kept = None; step(x, 40)"), "");
}

#[test]
fn what_a_compiled_step_keeps_is_made_by_the_line_of_its_op() {
    let mut session = session();
    let cell = "import torch\nfrom notegrad.jit import trace\n\n@trace\ndef step(x):\n    y = x * 2\n    return y + 1\n\n\
                for i in range(4):\n    y = step(torch.ones(123, 4567))\nprint(y.sum().item())";
    assert_eq!(error(&mut session, cell), "");
    let rows = frontend_lang::tensor::in_use::largest(usize::MAX);
    let made: Vec<&str> = rows
        .iter()
        .filter(|it| it.what == "float32[123, 4567]" && it.made.ends_with(", line 7"))
        .map(|it| it.made.as_str())
        .collect();
    assert_eq!(made, ["made by cell 1, line 7"]);
}
