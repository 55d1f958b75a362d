//! What is written through a view costs what is written: no second buffer is taken, whoever else looks at the same variable.
//! The sums afterwards say that views, copies and what was saved hold what they should.

use std::rc::Rc;
use std::sync::Mutex;

use engine::cpu::memory::HOST;
use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// The allocator counts for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes of the variables `x`, `p` and `z`.
const SIZE: usize = 8 << 20;

const BEFORE: &str = "
import torch, numpy as np
x = torch.zeros(1024, 2048)
p = torch.nn.Parameter(torch.zeros(1024, 2048))
z = np.zeros(1 << 20)
def same(a, b):
    assert a == b, (a, b)
";

fn run(session: &mut Session, cell: &str, check: Level) {
    let error = session.run_cell(cell, &Options { check, ..Options::default() }).error;
    assert!(error.is_none(), "{cell}\n{}", error.map(|it| it.plain).unwrap_or_default());
}

/// The most bytes that `cell` takes at a time, beside what was there; then `after` runs.
fn taken(before: &str, cell: &str, after: &str, check: Level) -> usize {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record }));
    run(&mut session, BEFORE, Level::Off);
    run(&mut session, before, Level::Off);
    HOST.reset_peak();
    let live = HOST.stats().live;
    run(&mut session, cell, check);
    let taken = HOST.stats().peak.saturating_sub(live);
    run(&mut session, after, Level::Off);
    taken
}

#[track_caller]
fn in_place(before: &str, cell: &str, after: &str) {
    for check in [Level::Off, Level::Early] {
        let taken = taken(before, cell, after, check);
        assert!(taken < SIZE / 4, "{cell}: {taken} bytes");
    }
}

#[track_caller]
fn copied(before: &str, cell: &str, after: &str) {
    let taken = taken(before, cell, after, Level::Off);
    assert!(taken >= SIZE, "{cell}: {taken} bytes");
}

#[test]
fn siblings_do_not_matter() {
    in_place(
        "r, q = x[3], x[4]",
        "r.add_(1); q.add_(2); r[5] = 7.",
        "same((r.sum().item(), q.sum().item(), x.sum().item()), (2054., 4096., 6150.))",
    );
    in_place(
        "rows = [x[i] for i in range(100)]",
        "for q in rows: q.add_(1)",
        "same(x.sum().item(), 204800.); same(sum(it.sum().item() for it in rows), 204800.)",
    );
    in_place(
        "parts = x.split(100); turned = x.T; flat = x.view(-1); inner = flat[10:][1:]",
        "for q in parts: q += 1\nx[0, 0] = 5.\nflat[1] = 6.\nturned[0, 11] = 7.\ninner.mul_(2)\nparts[0][0, 2] = 9.",
        "same([flat[i].item() for i in range(13)], [5., 6., 9.] + [1.] * 8 + [2.] * 2)
same(inner[0].item(), 2.); same(turned[0, 11].item(), 14.); same(parts[0][0, 1].item(), 6.)",
    );
}

#[test]
fn parts_of_the_same_variable_are_read_as_they_were() {
    in_place(
        "x[:5] = torch.arange(5.)[:, None]; flat = x.view(-1); r, q = x[3], x[4]",
        "x[0] = x[4]; x[1] += x[2]; x[2].add_(x[3]); x[3:5] = x[2:4]; flat[1:6] = flat[:5]; r += q; r.mul_(r)",
        "same([x[i, 9].item() for i in range(6)], [4., 3., 5., 64., 3., 0.]); same(flat[5].item(), 4.)",
    );
    in_place(
        "z[:5] = [1, 2, 3, 4, 5]",
        "z[1:5] = z[:4]; z[:2] += z[2:4]",
        "same(z[:6].tolist(), [3., 4., 2., 3., 4., 0.])",
    );
}

#[test]
fn views_that_come_and_go_do_not_matter() {
    in_place(
        "kept = x[1]",
        "for i in range(1000):\n    a = x[i]; b = a[3:]; a.add_(1); b[0] = 0.; c = x.view(-1)[i]; del a; c += 1",
        "same(x.sum().item(), 2047. * 1000 + 1000); same(kept.sum().item(), 2047.)",
    );
}

#[test]
fn views_of_arrays_do_not_matter() {
    in_place(
        "y = z.reshape(1024, -1); row = y[5]",
        "for i in range(100): z[i] = 1.; y[3, i] = 2.; row[i] += 3.",
        "same(float(z.sum()), 600.); same(float(y.sum()), 600.); same(float(row.sum()), 300.)",
    );
    in_place(
        "t = torch.from_numpy(z)",
        "t[3] = 1.; z[4] = 2.; z[10:20] = 3.; z[[50, 51]] = 4.; z[z.shape[0] - 1] = 5.",
        "same((t.sum().item(), float(z.sum())), (46., 46.))",
    );
}

#[test]
fn data_of_a_parameter_is_written_where_it_is() {
    in_place(
        "row = p.data[7]",
        "for i in range(100): p.data[3, i] = 1.; p.detach()[4, i] = 2.; p.data[i].add_(1)\nrow.add_(1)\np.data.view(-1)[3] = 5.",
        "same(p.sum().item(), 2048. * 101 + 113); assert p.is_leaf and p.requires_grad and not row.requires_grad",
    );
}

#[test]
fn what_is_saved_or_shared_stays() {
    copied(
        "y = (p * 1).view(-1); s = (y * y).sum()",
        "y.data[0] = 3.",
        "s.backward(); same(p.grad.sum().item(), 0.); same(y[0].item(), 3.)",
    );
    copied(
        "l = (p * p).sum(); d = p.data",
        "d[0, 0] = 3.",
        "l.backward(); same((p[0, 0].item(), p.grad.sum().item()), (3., 0.))",
    );
    copied(
        "r, q = x[0], x[1]; w = torch.ones(2048, requires_grad=True); l = (w * r).sum()",
        "q.add_(1)",
        "l.backward(); same(w.grad.sum().item(), 0.); same((r.sum().item(), q.sum().item()), (0., 2048.))",
    );
    copied(
        "w = torch.ones(2048, requires_grad=True); r, q = x[0], x[1]",
        "r.mul_(w); q.add_(1)",
        "assert r.requires_grad and x.requires_grad; same(x.sum().item(), 2048.)",
    );
}

/// A view that let go of its elements finds what the variable was when it has become another one.
#[test]
fn views_outlive_other_data() {
    let cells = "r, q = x[3], x[4]; q.add_(1); x.data = torch.zeros(2); same((q.sum().item(), r.shape[0]), (2048., 2048))
same((r + 0).shape[0], 2048)";
    taken("", cells, "same(r.sum().item(), 0.)", Level::Off);
    taken(
        "r, q = x[3], x[4]; q.add_(1)",
        "same((r.shape[0], r.stride(), len(r)), (2048, (1,), 2048))",
        "x.mul_(2); x.requires_grad_(); same(r.sum().item(), 0.)",
        Level::Early,
    );
}

#[test]
fn a_check_takes_no_memory_for_what_is_written_through_views() {
    for cell in [
        "x.view(-1)[7] = 3.",
        "x.unsqueeze(0)[0, 3] = 3.",
        "x.flatten()[3] = 3.",
        "x.reshape(-1)[3] = 3.",
        "x.view(2048, 1024)[:, 3] = 1",
        "v = x.view(-1); v += 1",
        "x.T[3] = 1.",
        "x[torch.tensor([0, 5])] = 1.",
    ] {
        in_place("", cell, "");
    }
}

#[test]
fn what_is_drawn_goes_where_it_is_to_be() {
    for cell in [
        "x.normal_()",
        "x.uniform_(-1, 1)",
        "x.bernoulli_(0.25)",
        "x.exponential_()",
        "x.geometric_(0.5)",
        "x.cauchy_()",
        "x.random_(7)",
        "x[5:500].normal_()",
        "x.view(-1).uniform_()",
        "torch.nn.init.normal_(p)",
        "torch.nn.init.xavier_uniform_(p)",
        "with torch.no_grad():\n    p.uniform_()",
    ] {
        in_place("", cell, "same(bool(x[7, 7].isfinite()), True)");
    }
    let drawn = "torch.manual_seed(3)\nx.normal_()";
    in_place(
        "",
        drawn,
        "torch.manual_seed(3)\nsame(torch.equal(x, torch.randn(1024, 2048)), True)",
    );
    let saved = "q = (x.requires_grad_() ** 2).sum()";
    copied(saved, "x.data.normal_()", "q.backward()\nsame(x.grad.abs().sum().item(), 0.0)");
}

#[test]
fn results_go_where_out_says() {
    let before = "y = torch.ones(1024, 2048)\nw = torch.ones(2048, 4)\nv = torch.zeros(1024, 4)";
    for (cell, after) in [
        ("torch.add(x, 1, out=x)", "same(x.sum().item(), 2.0**21)"),
        ("torch.exp(x, out=y)", "same(y.sum().item(), 2.0**21)"),
        ("torch.mul(y, y, out=x)", "same(x.sum().item(), 2.0**21)"),
        ("torch.clamp(y, max=0.5, out=x)", "same(x.sum().item(), 2.0**20)"),
        ("torch.cat([y[:24], y[24:]], out=x)", "same(x.sum().item(), 2.0**21)"),
        ("torch.cumsum(y, 1, out=x)", "same(x[:, -1].sum().item(), 2.0**21)"),
        ("torch.mm(y, w, out=v)", "same(v.sum().item(), 2.0**23)"),
        ("torch.sub(y[0], 1, out=x[3])", "same(x.sum().item(), 0.0)"),
        ("x.clamp_min_(0.5)", "same(x.sum().item(), 2.0**20)"),
        ("x.clamp_max_(-0.5)", "same(x.sum().item(), -(2.0**20))"),
    ] {
        in_place(before, cell, after);
    }
    let shared = "y = torch.ones(1024, 2048)\nz = y.numpy()\nq = (y * x.requires_grad_()).sum()";
    copied(
        shared,
        "torch.exp(x.detach(), out=y)\ny += 1",
        "q.backward()\nsame(x.grad.sum().item(), 2.0**21)",
    );
    // The operand is what is written.
    let part = "torch.add(x[:512] + 1, x[512:], out=x[512:])";
    copied("", part, "same(x.sum().item(), 2.0**20)");
    copied(
        "",
        "torch.neg(x.T + torch.arange(1024.0), out=x.T)",
        "same(x[5].sum().item(), -5.0 * 2048)",
    );
}

/// What is seen through a view op is written into a copy of its variable, where something holds the old elements.
#[test]
fn a_shared_variable_is_copied_once() {
    let before =
        "h = (x * x.requires_grad_()).sum()\nx.requires_grad_(False)\nv = x.view(2048, 1024)";
    let taken = taken(
        before,
        "v.copy_(torch.ones(2048, 1).expand(2048, 1024))",
        "same(x.sum().item(), 2.0**21)",
        Level::Off,
    );
    assert!(taken < 5 * SIZE / 2, "{taken} bytes");
}

#[test]
fn methods_write_where_elements_lie_apart() {
    in_place("", "x[:, 3].add_(1)", "same(x.sum().item(), 1024.0)");
    in_place("", "x[:, 3].sub_(x.new_ones(1024), alpha=2)", "same(x.sum().item(), -2048.0)");
    in_place("x -= 1", "x.T[5].relu_()", "same(x.sum().item(), 1024.0 - 1024 * 2048)");
    in_place("", "x.diagonal().add_(2)", "same(x.sum().item(), 2048.0)");
    in_place("x -= 1", "x[3:5, 3:5].abs_()", "same(x.sum().item(), 8.0 - 1024 * 2048)");
}

#[test]
fn a_clone_of_a_part_does_not_hold_the_whole() {
    in_place("q = x[8].clone()", "x[3] += 1", "same((x.sum() + q.sum()).item(), 2048.0)");
}

/// What is written in the language works piece by piece.
#[test]
fn methods_in_place_take_no_second_buffer() {
    let after = "assert bool(x.isfinite().all())";
    for cell in [
        "x.nan_to_num_()",
        "x.copysign_(-1.0)",
        "x.rad2deg_().deg2rad_()",
        "x.sinc_()",
        "x.lgamma_().nan_to_num_()",
        "x.i0_()",
        "x.add_(1).polygamma_(2)",
        "torch.nn.functional.rrelu_(x, training=True)",
        "x.logit_(0.1)",
        "x.cumsum_(0)",
        "x.cumsum_(1)",
        "x.cumprod_(-1)",
        "x.view(64, 16, -1).cumsum_(1)",
        "x.tril_()",
        "x.triu_(3)",
        "x.put_(torch.tensor([1, 2]), torch.tensor([1., 2.]))",
        "x.fill_diagonal_(2.)",
        "x[:500].fill_diagonal_(2., wrap=True)",
        "torch.nn.init.trunc_normal_(p)",
        "torch.nn.functional.dropout(x, 0.3, inplace=True)",
        "torch.nn.Dropout(inplace=True)(x)",
        "x.gt_(0.5); x.eq_(1); x.ne_(0); x.logical_not_()",
    ] {
        in_place("", cell, after);
    }
}

/// So do those with a second operand that lies apart.
#[test]
fn methods_in_place_take_no_buffer_beside_two_operands() {
    let before = "y = torch.arange(2.0**21).view(1024, -1) - 2.0**20; m = y > 0";
    for (cell, after) in [
        (
            "x.masked_scatter_(m, y)",
            "same(x.view(-1)[-2:].tolist() + x.view(-1)[2**20:2**20 + 2].tolist(), [-3.0, -2.0, 0.0, -2.0**20])",
        ),
        ("x.gt_(y)", "same(x.sum().item(), 2.0**20)"),
        ("x.le_(y); x.logical_and_(y)", "same(x.sum().item(), 2.0**20 - 1)"),
        ("x.copysign_(y).add_(1).copysign_(y)", "same(x.sum().item(), 0.0)"),
        ("x.heaviside_(y)", "same(torch.equal(x, y), True)"),
        ("x.nextafter_(y)", "same((x > 0).sum().item(), 2**20 - 1)"),
    ] {
        in_place(before, cell, after);
    }
    let same = "x += 1; q = x.view(-1)";
    let after = "same(x.view(-1)[:3].tolist(), [1.0, 1.0, 1.0])";
    copied(same, "q[1:].copysign_(q[:-1])", after);
}

/// A step of an optimiser that changes each element by itself works piece by piece, too.
#[test]
fn steps_of_optimisers_take_no_second_buffer() {
    for name in ["Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"] {
        let before =
            format!("opt = torch.optim.{name}([p]); p.grad = torch.ones(1024, 2048); opt.step()");
        in_place(&before, "opt.step()", "assert bool(p.isfinite().all()) and bool((p < 0).all())");
    }
    let before = "p.grad = torch.arange(2.0**21).view(1024, -1)";
    let clip = "n = torch.nn.utils.clip_grad_norm_([p], 1.0, norm_type=math.inf)";
    let after = "same(n.item(), 2.0**21 - 1)";
    in_place(&format!("import math\n{before}"), clip, after);
    in_place(before, "torch.nn.utils.clip_grad_value_([p], 1.0)", "same(p.grad.max().item(), 1.0)");
}

/// An operand that is the tensor itself is copied piece by piece.
#[test]
fn a_tensor_and_itself_take_no_second_buffer() {
    in_place("x += 3", "x.mul_(x)", "same(x.sum().item(), 9.0 * 1024 * 2048)");
    in_place("x += 3", "x *= x; x -= x", "same(x.sum().item(), 0.0)");
    in_place("x += 3", "x.add_(x, alpha=2)", "same(x.sum().item(), 9.0 * 1024 * 2048)");
    in_place("x += 3", "x.view(-1)[5:].mul_(2); x.addcmul_(x, x)", "same(x[1, 1].item(), 42.0)");
}

/// What is read from a part of the variable that is written is what was there before.
#[test]
fn a_part_is_written_from_another_part() {
    let before = "x[:8] = torch.arange(8.)[:, None]; r, q = x[3], x[4]";
    let tells = |expected: &str| {
        format!(
            "same([x[i, 9].item() for i in range(8)], {expected}); same(r[3].item(), x[3, 3].item())"
        )
    };
    for (cell, expected) in [
        ("x[3].copy_(x[6])", "[0., 1., 2., 6., 4., 5., 6., 7.]"),
        ("x[3:5].copy_(x[6:8])", "[0., 1., 2., 6., 7., 5., 6., 7.]"),
        ("x[1:4].copy_(x[0:3])", "[0., 0., 1., 2., 4., 5., 6., 7.]"),
        ("x[0:3].copy_(x[1:4])", "[1., 2., 3., 3., 4., 5., 6., 7.]"),
        ("x[2:4].copy_(x[6])", "[0., 1., 6., 6., 4., 5., 6., 7.]"),
        ("x.view(-1)[2048:6144].copy_(x.view(-1)[:4096])", "[0., 0., 1., 3., 4., 5., 6., 7.]"),
        ("r.add_(q); q.copy_(r)", "[0., 1., 2., 7., 7., 5., 6., 7.]"),
        ("x.data[3].copy_(x.data[6])", "[0., 1., 2., 6., 4., 5., 6., 7.]"),
        ("torch.add(x[3], 1, out=x[3])", "[0., 1., 2., 4., 4., 5., 6., 7.]"),
        ("torch.mul(x[4], 2, out=x[3])", "[0., 1., 2., 8., 4., 5., 6., 7.]"),
        ("torch.mul(x[3:5], 2, out=x[4:6])", "[0., 1., 2., 3., 6., 8., 6., 7.]"),
        ("torch.add(x[3], x[4], out=x[3])", "[0., 1., 2., 7., 4., 5., 6., 7.]"),
        ("torch.cumsum(x[3:5], 0, out=x[3:5])", "[0., 1., 2., 3., 7., 5., 6., 7.]"),
        ("torch.mm(x[1:2, 0:4], x[2:6], out=x[7:8])", "[0., 1., 2., 3., 4., 5., 6., 14.]"),
        ("with torch.no_grad():\n    x[3].copy_(x[6])", "[0., 1., 2., 6., 4., 5., 6., 7.]"),
    ] {
        in_place(before, cell, &tells(expected));
    }
    // Who saved the old elements has them.
    copied(
        "w = torch.ones(2048, requires_grad=True); x += 1; l = (w * x[6]).sum()",
        "x[6].copy_(x[7] * 3)",
        "l.backward(); same(w.grad.sum().item(), 2048.); same(x[6].sum().item(), 3. * 2048)",
    );
}

/// Complex numbers, their parts and their bits are written where they lie.
#[test]
fn complex_numbers_and_bits_are_written_where_they_are() {
    let before = "q = torch.zeros(1 << 20, dtype=torch.complex64); re, im, pairs = q.real, q.imag, torch.view_as_real(q)";
    for (cell, expected) in [
        ("q[5] = 1.", "1 + 0j"),
        ("q[5] = 1 - 2j; q[5] += 1", "2 - 2j"),
        ("q.real[5] = 1.; q.imag[5] = 3.", "1 + 3j"),
        ("re[5] = 1.; im[5] = 3.; re[5] += 1", "2 + 3j"),
        ("torch.view_as_real(q)[5, 0] = 1.; pairs[5, 1] = 4.", "1 + 4j"),
        ("q[5:7].copy_(torch.tensor([1j, 2j])); q[6:7].copy_(q[5:6])", "1j"),
        ("q[torch.tensor([5])] = 2j", "2j"),
        ("q += 1", "1 + 0j"),
        ("q += 1j; q.mul_(2 + 1j)", "-1 + 2j"),
        ("q.view(1024, 1024).T.add_(1j)", "1j"),
        ("q.fill_(3j)", "3j"),
        ("q.zero_()", "0j"),
    ] {
        let after = format!(
            "same((q[5].item(), re[5].item(), im[5].item(), pairs[5].tolist()), (complex({expected}), q[5].item().real, q[5].item().imag, [q[5].item().real, q[5].item().imag]))"
        );
        in_place(before, cell, &after);
    }
    // The parts of a piece of both operands.
    let squared = "q.add_(1 + 2j); q.mul_(q)";
    let taken = taken(before, squared, "same(q[-1].item(), -3 + 4j)", Level::Off);
    assert!(taken < SIZE / 2, "{squared}: {taken} bytes");
    in_place(
        "f = x.view(-1, 2); q = torch.view_as_complex(f)",
        "q[5] = 1 + 2j; q[6:8] = q[5]",
        "same(x[0, 10:16].tolist(), [1., 2., 1., 2., 1., 2.])",
    );
    in_place(
        "bits = x.view(torch.int32)",
        "x.view(torch.int32)[3, 3] = 1065353216; bits[3, 4] = 1073741824; bits[3, 5:7] = bits[3, 3:5]",
        "same(x[3, 3:7].tolist(), [1., 2., 1., 2.]); same(bits[3, 3].item(), 1065353216)",
    );
    in_place("", "x.view(torch.int16)[0, 1] = 16256", "same(x[0, 0].item(), 1.)");
    copied(
        "q = torch.zeros(1 << 20, dtype=torch.complex64); held = q * 1; w = torch.ones(1 << 20, requires_grad=True); l = (w * held.real).sum()",
        "held.real[5] = 1.",
        "l.backward(); same((w.grad.sum().item(), held[5].item()), (0., 1 + 0j))",
    );
}
