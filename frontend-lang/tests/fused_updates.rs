//! Optimizers whose updates run as one program: parameters and state have the bits that the ops give one by one, as under anomaly
//! detection, where each op is looked at.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const SAME: &str = "
import torch
O = torch.optim

def trained(make, size, dtype, one_by_one):
    torch.manual_seed(0)
    param = torch.nn.Parameter(torch.randn(size, dtype=dtype))
    optimizer = make([param])
    for _ in range(7):
        param.grad = torch.randn(size, dtype=dtype)
        with torch.autograd.set_detect_anomaly(one_by_one):
            optimizer.step()
    kept = [it for state in optimizer.state.values() for it in state.values() if isinstance(it, torch.Tensor)]
    return [param.detach(), *kept]

def same(make):
    for size, dtype in ((3, torch.float64), (1000, torch.bfloat16), ((70, 1000), torch.float32)):
        one, other = trained(make, size, dtype, False), trained(make, size, dtype, True)
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            assert (a == b).all(), (size, dtype, at, (a - b).abs().max())
";

fn run(session: &mut Session, cell: &str) {
    let error = session.run_cell(cell, &Options::default()).error;
    assert!(error.is_none(), "{cell}\n{}", error.map(|it| it.plain).unwrap_or_default());
}

fn session() -> Session {
    Session::new(Box::new(Recording { record: Rc::new(Record::default()) }))
}

#[test]
fn updates_have_the_bits_of_their_ops() {
    let mut session = session();
    run(&mut session, SAME);
    for optimizer in [
        "O.SGD(p, 0.1, momentum=0.9)",
        "O.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01, maximize=True)",
        "O.SGD(p, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.01)",
        "O.Adam(p)",
        "O.Adam(p, amsgrad=True, weight_decay=0.1)",
        "O.Adam(p, lr=torch.tensor(0.01))",
        "O.Adam(p, capturable=True)",
        "O.AdamW(p, lr=1)",
        "O.Adamax(p, weight_decay=0.1)",
        "O.NAdam(p, weight_decay=0.1)",
        "O.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True)",
        "O.RAdam(p, weight_decay=0.1)",
        "O.Adagrad(p, lr_decay=0.1)",
        "O.Adadelta(p, weight_decay=0.1)",
        "O.RMSprop(p, centered=True, momentum=0.9, weight_decay=0.1)",
        "O.Rprop(p)",
        "O.ASGD(p, t0=3, weight_decay=0.1)",
    ] {
        run(&mut session, &format!("same(lambda p: {optimizer})"));
    }
}

/// The elements that an update changes may be seen by others, or lie in another way.
#[test]
fn updates_leave_alone_what_others_see() {
    let mut session = session();
    run(&mut session, SAME);
    for cell in [
        // A view follows; what was computed before does not.
        "p = torch.nn.Parameter(torch.ones(8))
part, copy = p.data[2:4], p.detach().clone()
saved = (p * p).sum()
p.grad = torch.ones(8)
O.Adam([p], lr=0.5).step()
assert (part == p.data[2:4]).all() and (part != 1).all() and (copy == 1).all()",
        // A gradient that is the parameter, or its state.
        "p = torch.nn.Parameter(torch.ones(8))
p.grad = p.data
O.SGD([p], lr=0.5, momentum=0.9).step()
assert (p == 0.5).all() and (p.grad == 0.5).all()",
        // Elements that lie column by column.
        "p = torch.nn.Parameter(torch.ones(3, 4).T)
p.grad = torch.arange(12.0).view(4, 3)
O.Adagrad([p], lr=0.5).step()
assert p.shape == (4, 3) and abs(p[1, 0].item() - 0.5) < 1e-6",
        // Saved for a gradient.
        "p = torch.nn.Parameter(torch.full((8,), 3.0))
loss = (p * p * 2).sum()
p.grad = torch.ones(8)
O.SGD([p], lr=1.0, momentum=0.9).step()
loss.backward()
assert (p == 2).all() and (p.grad == 13).all()",
        // State that is other state, and a rate that looks at the parameter: one op after the other.
        "p = torch.nn.Parameter(torch.ones(8))
o = O.Adam([p], lr=0.5)
o.state[p]['exp_avg_sq'] = o.state[p]['exp_avg']
q = torch.nn.Parameter(torch.ones(8))
p.grad, q.grad = torch.full((8,), 2.0), torch.full((8,), 2.0)
r = O.Adam([q], lr=0.5)
r.state[q]['exp_avg_sq'] = r.state[q]['exp_avg']
o.step()
with torch.autograd.set_detect_anomaly(True):
    r.step()
assert (p == q).all() and (o.state[p]['exp_avg'] == r.state[q]['exp_avg']).all()
rate = p.data[0]
s = O.SGD([p], lr=rate, momentum=0.9)
first = rate.item()
s.step()
assert (p == q - first * p.grad).all()",
        // Shared at first, by the average or by what was saved, and free later.
        "for make in (lambda p: O.ASGD([p], t0=2), lambda p: O.Rprop([p]), lambda p: O.Adadelta([p])):
    one, other = (torch.nn.Parameter(torch.ones(8)) for _ in range(2))
    a, b = make(one), make(other)
    for at in range(6):
        one.grad, other.grad = (torch.arange(8.0) - at for _ in range(2))
        saved = (one * one).sum() if at % 3 else None
        with torch.autograd.set_detect_anomaly(at == 1):
            a.step()
        with torch.autograd.set_detect_anomaly(True):
            b.step()
        assert (one == other).all()",
        // A state of another shape is refused as it was.
        "p = torch.nn.Parameter(torch.ones(8))
o = O.Adam([p])
p.grad = torch.ones(8)
o.state[p]['exp_avg'] = torch.zeros(3)
try:
    o.step()
except RuntimeError as it:
    assert '8' in str(it) and '3' in str(it)
else:
    assert False",
        // No tensor at all, and an empty one.
        "p = torch.nn.Parameter(torch.ones(0))
p.grad = torch.ones(0)
O.Adam([p]).step()",
    ] {
        run(&mut session, cell);
    }
}
