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

/// Runs cells with so many bytes beside those that are in use; the error of each.
fn errors_within<'a>(
    session: &mut Session,
    bytes: usize,
    cells: &[&'a str],
) -> Vec<(&'a str, String)> {
    use engine::cpu::memory::HOST;
    HOST.set_budget(HOST.stats().live + bytes);
    let errors = cells.iter().map(|&it| (it, error(session, it))).collect();
    HOST.set_budget(0);
    errors
}

#[test]
fn ops_in_place_take_no_second_buffer() {
    let (_alone, mut session) = alone();
    let made =
        "import torch\nx = torch.ones(8_000_000)\nw = torch.nn.Parameter(torch.ones(8_000_000))";
    assert_eq!(error(&mut session, made), "");
    let cells = [
        "x + 1",
        "x += 1",
        "x *= torch.tensor(2.0)",
        "x[3] = 7",
        "x[x > 8] = 2",
        "x[torch.tensor([1, -2])] = torch.tensor([1.0, 2.0])",
        "x.view(-1)[torch.arange(3)] = 4",
        "x.relu_()",
        "x.clamp_(max=4.0).add_(x.sum(), alpha=0.5)",
        "torch.nn.functional.relu(x, inplace=True)",
        "x.index_fill_(0, torch.tensor([5, -1]), 4.0).index_copy_(0, torch.tensor([7]), x[:1] + 1)",
        "x.index_add_(0, torch.tensor([1, 1]), torch.ones(2)).scatter_(0, torch.tensor([2]), 6.0)",
        "x.scatter_add_(0, torch.tensor([3]), torch.ones(1)).index_put_((torch.tensor([4]),), torch.tensor(1.0), True)",
        "x.view(2, -1)[torch.tensor([0, 1]), torch.tensor([9, 9])] = torch.tensor([8.0, 9.0])",
        "half = x.view(2, -1)[1].index_add_(0, torch.tensor([0]), torch.ones(1))\nhalf = None",
        "part = x.view(2, -1).T\npart += 1\npart -= torch.tensor([1.0, 1.0])\npart = None",
        "part = x.view(2, -1)[1]\npart *= 1\npart = None",
        "a = x.numpy()\na += 1\na -= a[0] - 2\na = None",
        "x.view(2, -1)[:, 1:].mul_(2.0)",
        "x.view(1000, -1)[:, 1:].clamp_(0, 1)",
        "x.view(1000, -1).T[1:].add_(torch.ones(1000))",
        "x.view(10, 100, -1)[:, 1:, 1:].mul_(torch.ones(99, 1))",
        "x.fill_(3)",
        "x.zero_()",
        "with torch.no_grad():\n    w += 1\n    w.sub_(x, alpha=0.1)",
        "y = x\nwith torch.no_grad():\n    y += w",
    ];
    for (cell, error) in errors_within(&mut session, 24 << 20, &cells) {
        assert_eq!(error, if cell == "x + 1" { "OutOfMemoryError" } else { "" }, "{cell}");
    }
    assert_eq!(error(&mut session, "assert (x == 2).all() and w[5] == 2"), "");
}

/// What only the expression has gives its place to the results; what anyone else can name keeps its elements.
#[test]
fn temporaries_give_their_place_to_results() {
    let (_alone, mut session) = alone();
    let made = "import torch
x = torch.ones(1_000_000)
w = torch.ones(1_000_000, requires_grad=True)
held = []
def hold(t):
    held.append(t)
    return t
def last(): return held[-1]
class Box: pass
box = Box()
def numbers():
    own = x * 3
    yield own
    yield own";
    assert_eq!(error(&mut session, made), "");
    let in_one = [
        "y = x * 2 + 1\nassert (y == 3).all()\ny = None",
        "y = 1 + (x + x) * x - 0.5\nassert (y == 2.5).all()\ny = None",
        "y = (x - 3) / 2 * 4\nassert (y == -4).all()\ny = None",
        "y = x + (x * 2)\nassert (y == 3).all()\ny = None",
        "y = (x.view(1000, 1000) * 2) * torch.ones(1000, 1) + torch.ones(1000)\nassert (y == 3).all()\ny = None",
    ];
    for (cell, error) in errors_within(&mut session, 7 << 20, &in_one) {
        assert_eq!(error, "", "{cell}");
    }
    for apart in [
        "y = hold(x * 2) + 1\nassert (y == 3).all() and (held[0] == 2).all()",
        "y = last() + 1\nassert (held[-1] == 2).all()",
        "a = b = x * 2\nc = a + 1\nassert (b == 2).all() and (c == 3).all()",
        "t = x * 2\ny = t[:] + 1\nassert (t == 2).all()",
        "y = (t := x * 2) + 1\nassert (t == 2).all() and (y == 3).all()",
        "box.t = x * 2\ny = box.t + 1\nassert (box.t == 2).all()",
        "y = (x * 2).view(-1, 10)\nz = y + 1\nassert (y == 2).all() and (z == 3).all()",
        "y = sum(own + 1 for own in numbers())\nassert (y == 8).all()",
        "n = (x * 2).numpy()\ny = torch.from_numpy(n) + 1\nassert (n == 2).all() and (y == 3).all()",
        "y = (x * 2) + torch.ones(1_000_000, dtype=torch.float64)\nassert y.dtype == torch.float64 and (y == 3).all()",
        "y = (x * 2) + torch.ones(2, 1)\nassert y.shape == (2, 1_000_000)",
        "y = (x * 2).long() / 4\nassert (y == 0.5).all()",
        "y = ((w * 2) * (w * 3)).sum()\ny.backward()\nassert (w.grad == 12).all()",
        "y = lambda: (x * 2)\nz = y() + y()\nassert (z == 4).all()",
        "t = (x * 2)\nt = t + (t + 1) * t\nassert (t == 8).all()",
        "try:\n    (x * 2) + torch.ones(3)\nexcept RuntimeError as it:\n    assert '1000000' in str(it)\nelse:\n    assert False",
    ] {
        assert_eq!(error(&mut session, apart), "", "{apart}");
    }
}

/// Somebody may still hold the losses.
#[test]
fn walks_through_functions_and_hooks_free_what_steps_saved() {
    let (_alone, mut session) = alone();
    let made = "import torch
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * 1)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
x = torch.zeros(1_000_000, requires_grad=True)
losses = []
def walk(step):
    y = step(x.exp())
    losses.append(y.exp().mean())
    losses[-1].backward()";
    assert_eq!(error(&mut session, made), "");
    let hook = "def hooked(x):\n    x.register_hook(lambda grad: grad)\n    return x";
    let cells = [hook, "for _ in range(20): walk(Twice.apply)", "for _ in range(20): walk(hooked)"];
    for (cell, error) in errors_within(&mut session, 64 << 20, &cells) {
        assert_eq!(error, "", "{cell}");
    }
}

/// What is copied within a variable, cast, drawn or conjugated on its way to where it goes is so a piece at a time.
#[test]
fn writes_to_parts_take_no_second_buffer() {
    let (_alone, mut session) = alone();
    let made = "import torch
x = torch.arange(2_000_000.0)
m = x.view(1000, 2000)
d = torch.ones(1000, 2000, dtype=torch.float64)
q = torch.ones(1_000_000, dtype=torch.complex64)
c = q.conj()";
    assert_eq!(error(&mut session, made), "");
    let cells = [
        "x[:1_000_000].copy_(x[1_000_000:])",
        "x[1_000_000:] = x[:1_000_000]",
        "x[:-1].copy_(x[1:])",
        "x[1:].copy_(x[:-1])",
        "m[:, :1000].copy_(m[:, 1000:])",
        "m[:500].T.copy_(m[500:].T)",
        "m.copy_(d)",
        "m[:, 1:] = d[:, 1:]",
        "m.T.copy_(d.T)",
        "d.copy_(m)",
        "m[:, 1:].uniform_()",
        "m.T.uniform_()",
        "m[:, 1:].normal_()",
        "c[5] = 2j",
        "c[7:9] = torch.tensor([1j, 2j])",
        "m[:, 1:].masked_fill_(m[:, :1] > 0, 3)",
        "m.fill_diagonal_(4)",
        "x.put_(torch.tensor([3, 4]), torch.ones(2))",
    ];
    for (cell, error) in errors_within(&mut session, 2 << 20, &cells) {
        assert_eq!(error, "", "{cell}");
    }
    let left = "assert q[5] == -2j and q[7] == -1j and c[8] == 2j and m[7, 7] == 4 and x[4] == 1";
    assert_eq!(error(&mut session, left), "");
}

/// What is made of products, or of several ops, goes part by part to where it is wanted.
#[test]
fn results_that_go_where_a_tensor_lies_take_no_second_buffer() {
    let (_alone, mut session) = alone();
    let made = "import numpy as np, torch
x = torch.ones(1000, 2000)
y = torch.ones(1000, 2000)
a = torch.ones(1000, 8)
b = torch.ones(8, 2000)
batch = torch.ones(10, 100, 4), torch.ones(10, 4, 2000)
p = np.ones((1000, 2000), dtype=np.float32)
z = np.zeros((1000, 2000), dtype=np.float32)";
    assert_eq!(error(&mut session, made), "");
    let cells = [
        "torch.mm(a, b)",
        "x.addmm_(a, b)",
        "x.addmm_(a, b, beta=0.5, alpha=2)",
        "x.addmm_(a, b, beta=0)",
        "assert (x == 8).all()",
        "x[:, 1:].addmm_(a, b[:, 1:], beta=0.5)",
        "assert x[3, 0] == 8 and (x[:, 1:] == 12).all()",
        "x.view(10, 100, 2000).baddbmm_(*batch, beta=0)",
        "x.view(1, 1000, 2000).baddbmm_(a[None], b[None], beta=2)",
        "assert (x == 16).all()",
        "x.addbmm_(torch.ones(3, 1000, 4), torch.ones(3, 4, 2000))",
        "x.addr_(torch.ones(1000), torch.ones(2000), beta=0.5)",
        "assert (x == 15).all()",
        "x.view(-1).addmv_(torch.ones(1, 1).expand(2_000_000, 1), torch.ones(1))",
        "x.index_reduce_(0, torch.tensor([0, 3]), torch.full((2, 2000), 2.0), 'prod')",
        "assert x[0, 7] == 32 and x[3, 1999] == 32 and x[1, 0] == 16",
        "x.renorm_(2, 0, 1.0)",
        "torch.mm(a, b, out=x)",
        "assert (x == 8).all()",
        "torch.addmm(b[0], a, b, out=x)",
        "torch.bmm(*batch, out=x.view(10, 100, 2000))",
        "assert (x == 4).all()",
        "torch.mv(torch.ones(1, 1).expand(2_000_000, 1), torch.ones(1), out=x.view(-1))",
        "torch.outer(torch.ones(1000), torch.ones(2000), out=x)",
        "assert (x == 1).all()",
        "torch.softmax(y, -1, out=x)",
        "torch.log_softmax(y, 0, out=x)",
        "np.add(p, 1, out=z)",
        "np.multiply(p, z, out=z)",
        "np.multiply(z, p, out=z)",
        "np.exp(p, out=z)",
        "np.sqrt(z, out=z)",
        "np.maximum(z, p, z)",
        "assert abs(z[5, 7] - 1.6487213) < 1e-5 and abs(z[-1, -1] - 1.6487213) < 1e-5",
    ];
    for (cell, error) in errors_within(&mut session, 6 << 20, &cells) {
        assert_eq!(error, if cell == cells[0] { "OutOfMemoryError" } else { "" }, "{cell}");
    }
    let overlapping = "w = torch.arange(360_000.0).view(600, 600).sin()
for left, right in ((w[:, :20], w[:20]), (w, w), (w.T, w), (torch.eye(600), w)):
    wanted = w * 0.5 + left @ right
    w.addmm_(left, right, beta=0.5)
    assert (w - wanted).abs().max() <= 1e-5 * wanted.abs().max()
wanted = w @ torch.eye(600)[1].diag()
assert torch.mm(w, torch.eye(600)[1].diag(), out=w) is w and torch.allclose(w, wanted)
wanted = w.T @ w
assert torch.mm(w.T, w, out=w) is w and torch.allclose(w, wanted)
wanted = p + z
np.add(p, z, out=z)
assert (z == wanted).all()
wanted = z[:-1] - z[1:]
np.subtract(z[:-1], z[1:], out=z[1:])
assert (z[1:] == wanted).all()
np.subtract(z, z, out=z)
assert (z == 0).all()";
    assert_eq!(error(&mut session, overlapping), "");
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
