"""Learning rate schedulers: the rates of 20 epochs."""

from torch import optim
from torch.optim import lr_scheduler as lrs
from torch.optim.lr_scheduler import LambdaLR, StepLR


def optimizer_of(lr=0.5, second=None, kind=optim.SGD, **options):
    groups = [{"params": [torch.zeros(1, requires_grad=True)]}]
    if second is not None:
        groups.append({"params": [torch.zeros(1, requires_grad=True)], "lr": second})
    return kind(groups, lr=lr, **options)


def run(name, make, steps=20, optimizer=None):
    optimizer = optimizer_of(0.5, 0.02) if optimizer is None else optimizer
    scheduler = make(optimizer)
    print("#", name)
    for epoch in range(steps):
        momenta = [group["betas"][0] if "betas" in group else group["momentum"] for group in optimizer.param_groups]
        show(f"{epoch}", scheduler.get_last_lr() + [group["lr"] for group in optimizer.param_groups] + momenta)
        optimizer.step()
        scheduler.step()


run("LambdaLR", lambda o: LambdaLR(o, lambda epoch: 0.9**epoch))
run("LambdaLR for groups", lambda o: LambdaLR(o, lr_lambda=[lambda epoch: 1 / (epoch + 1), lambda epoch: 2.0]), 5)
run("MultiplicativeLR", lambda o: lrs.MultiplicativeLR(o, lambda epoch: 0.9))
run("StepLR", lambda o: StepLR(o, step_size=3, gamma=0.5))
run("MultiStepLR", lambda o: lrs.MultiStepLR(o, [2, 5, 5, 11], gamma=0.3))
run("ConstantLR", lambda o: lrs.ConstantLR(o, factor=0.5, total_iters=4))
run("LinearLR", lambda o: lrs.LinearLR(o, start_factor=0.25, total_iters=6))
run("LinearLR down", lambda o: lrs.LinearLR(o, 1.0, 0.1, 5))
run("ExponentialLR", lambda o: lrs.ExponentialLR(o, 0.8))
run("PolynomialLR", lambda o: lrs.PolynomialLR(o, 8, 2.0))
run("CosineAnnealingLR", lambda o: lrs.CosineAnnealingLR(o, T_max=6, eta_min=0.01))
run("CosineAnnealingWarmRestarts", lambda o: lrs.CosineAnnealingWarmRestarts(o, 3, 2, 0.001))
run("CosineAnnealingWarmRestarts of one length", lambda o: lrs.CosineAnnealingWarmRestarts(o, 4))
run("OneCycleLR", lambda o: lrs.OneCycleLR(o, 0.5, total_steps=21))
run("OneCycleLR linear", lambda o: lrs.OneCycleLR(o, [0.5, 0.1], epochs=3, steps_per_epoch=7, anneal_strategy="linear", three_phase=True, pct_start=0.2), optimizer=optimizer_of(0.5, 0.02, optim.Adam))
run("CyclicLR", lambda o: lrs.CyclicLR(o, 0.01, 0.1, step_size_up=4, step_size_down=3))
run("CyclicLR triangular2", lambda o: lrs.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2", cycle_momentum=False))
run("CyclicLR exp_range", lambda o: lrs.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 3, mode="exp_range", gamma=0.9))
run("SequentialLR", lambda o: lrs.SequentialLR(o, [lrs.LinearLR(o, 0.1, total_iters=4), lrs.ExponentialLR(o, 0.9), lrs.CosineAnnealingLR(o, 5)], [4, 9]))
run("ChainedScheduler", lambda o: lrs.ChainedScheduler([lrs.ConstantLR(o, 0.1, 3), lrs.ExponentialLR(o, 0.9)], optimizer=o))
run("two rules", lambda o: (lrs.StepLR(o, 4, 0.1), lrs.ExponentialLR(o, 0.9))[1])

print("# ReduceLROnPlateau")
losses = [5.0, 4.0, 4.0, 4.0, 3.9999, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 3.8, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
for options in [{"patience": 2}, {"patience": 1, "cooldown": 2, "factor": 0.5}, {"mode": "max", "patience": 1, "threshold_mode": "abs", "threshold": 0.5, "min_lr": 0.01}]:
    optimizer = optimizer_of(0.5, 0.02)
    plateau = lrs.ReduceLROnPlateau(optimizer, **options)
    for loss in losses:
        plateau.step(torch.tensor(loss))
        show("rates", [group["lr"] for group in optimizer.param_groups])
    print(plateau.num_bad_epochs, plateau.last_epoch)

print("# saving and loading")
optimizer = optimizer_of(0.5)
scheduler = StepLR(optimizer, 3, 0.5)
for _ in range(4):
    optimizer.step()
    scheduler.step()
saved, state = scheduler.state_dict(), optimizer.state_dict()
print(saved["last_epoch"], saved["base_lrs"], saved["_last_lr"], state["param_groups"][0]["initial_lr"])
other = optimizer_of(9.0)
again = StepLR(other, 1, 0.1)
again.load_state_dict(saved)
other.load_state_dict(state)
for _ in range(4):
    other.step()
    again.step()
    show("rate", again.get_last_lr())
resumed = StepLR(other, 3, 0.5, last_epoch=7)
show("resumed", resumed.get_last_lr())
try:
    StepLR(optimizer_of(1.0), 3, last_epoch=2)
except KeyError:
    print("refused")

# A state that was loaded stays as it was.
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
plain = lrs.ExponentialLR(opt, 0.5)
both = lrs.SequentialLR(opt, [lrs.ConstantLR(opt, 0.5, total_iters=2), lrs.ExponentialLR(opt, 0.9)], milestones=[3])
states = [plain.state_dict(), both.state_dict()]
for it, state in zip((plain, both), states):
    it.load_state_dict(state)
for _ in range(4):
    opt.step()
    plain.step()
    both.step()
print([[f"{it:.6f}" for it in state["_last_lr"]] for state in states], [f"{it:.6f}" for it in both.get_last_lr()])
