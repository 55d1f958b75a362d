//! Results go where operands or variables are, where nobody else can see these: the cells run with less memory than a second buffer needs.

use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::cpu::memory::HOST;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// The budget is that of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn session() -> Session {
    Session::new(Box::new(Recording { record: Rc::new(Record::default()) }))
}

fn error(session: &mut Session, code: &str) -> String {
    session.run_cell(code, &Options::default()).error.map_or_else(String::new, |it| it.ename)
}

/// Runs cells with so many bytes beside those that are in use; the error of each.
fn errors_within<'a>(
    session: &mut Session,
    bytes: usize,
    cells: &[&'a str],
) -> Vec<(&'a str, String)> {
    HOST.set_budget(HOST.stats().live + bytes);
    let errors = cells.iter().map(|&it| (it, error(session, it))).collect();
    HOST.set_budget(0);
    errors
}

#[test]
fn ops_in_place_take_no_second_buffer() {
    let _alone = alone();
    let mut session = session();
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

/// An update reads and writes its parameter and what it keeps of it once, a large one's too.
#[test]
fn steps_of_optimizers_take_no_second_buffer() {
    let _alone = alone();
    let mut session = session();
    let made = "import torch
w = torch.nn.Parameter(torch.ones(2_000_000))
w.grad = torch.ones(2_000_000)
def stepped(make, *args, **options):
    optimizer = make([w], *args, **options)
    yield
    optimizer.step()
    optimizer.step()
    yield
O = torch.optim";
    assert_eq!(error(&mut session, made), "");
    let optimizers = [
        "O.SGD, 0.1, momentum=0.9, nesterov=True, weight_decay=0.1",
        "O.Adam, amsgrad=True, weight_decay=0.1",
        "O.AdamW",
        "O.Adamax",
        "O.NAdam",
        "O.RAdam",
        "O.Adagrad",
        "O.Adadelta",
        "O.RMSprop, centered=True, momentum=0.9",
        "O.Rprop",
        "O.ASGD",
    ];
    for optimizer in optimizers {
        let made = format!("steps = stepped({optimizer})\nnext(steps)");
        assert_eq!(error(&mut session, &made), "", "{optimizer}");
        for (cell, error) in errors_within(&mut session, 1 << 20, &["next(steps)"]) {
            assert_eq!(error, "", "{cell} of {optimizer}");
        }
    }
}

/// What only the expression has gives its place to the results; what anyone else can name keeps its elements.
#[test]
fn temporaries_give_their_place_to_results() {
    let _alone = alone();
    let mut session = session();
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
        "def f():\n    with torch.enable_grad():\n        return w * 2\nwith torch.no_grad():\n    z = f() * 100 + 1\nassert not z.requires_grad and (z == 201).all()",
        "outs = [w * 2]\nwith torch.no_grad():\n    z = outs.pop() * 100\nassert z.grad_fn is None and (z == 200).all()",
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
    let _alone = alone();
    let mut session = session();
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
    let _alone = alone();
    let mut session = session();
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
    let _alone = alone();
    let mut session = session();
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

/// A step that is recorded holds what was and what is; a rehearsal of its graph writes over what was.
#[test]
fn first_calls_of_a_traced_step_take_a_copy_of_each_variable() {
    let _alone = alone();
    let mut session = session();
    let made = "import torch\nfrom notegrad.jit import trace\nw = torch.nn.Parameter(torch.ones(4_000_000))\n\
                opt = torch.optim.Adam([w], lr=0.01)\ndef step():\n    opt.zero_grad()\n    loss = (w * w).sum()\n    loss.backward()\n    opt.step()\n    return loss\n\
                step()\nf = trace(step, without_host=True)";
    assert_eq!(error(&mut session, made), "");
    // Parameter, gradient and two means are there: eager steps take a gradient and a temporary besides.
    let calls = "for _ in range(12): f()";
    for (cell, error) in errors_within(&mut session, 7 * (16 << 20), &[calls]) {
        assert_eq!(error, "", "{cell}");
    }
    let without_body = "assert int(f.stats().split(', ')[-1].split()[0]) > 3, f.stats()";
    assert_eq!(
        error(&mut session, without_body),
        "",
        "a rehearsal that lacks memory leads to nothing"
    );
}
