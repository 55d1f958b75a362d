"""Activations, as modules."""

x = values(3, 4) * 4
for module in [
    nn.ReLU(), nn.ReLU(inplace=False), nn.ReLU6(), nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.ELU(), nn.ELU(0.5), nn.CELU(), nn.CELU(1.3),
    nn.SELU(), nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.Mish(), nn.Sigmoid(), nn.Hardsigmoid(), nn.LogSigmoid(),
    nn.Tanh(), nn.Hardtanh(), nn.Hardtanh(-0.5, 2.0), nn.Tanhshrink(), nn.Hardswish(), nn.Hardshrink(), nn.Hardshrink(1.0),
    nn.Softshrink(), nn.Softshrink(0.1), nn.Softplus(), nn.Softplus(2.0, 1.0), nn.Softsign(), nn.Threshold(0.2, -1.0), nn.GLU(),
    nn.GLU(1), nn.Softmax(dim=1), nn.Softmax(0), nn.Softmin(dim=1), nn.LogSoftmax(dim=1), nn.PReLU(), nn.PReLU(4, 0.1),
]:
    check(type(module).__name__, module, x.clone())
check("Softmax2d", nn.Softmax2d(), values(2, 3, 2, 2))
check("RReLU in eval", nn.RReLU().eval(), x.clone())
y = values(4)
print(nn.ReLU(inplace=True)(y) is y)
show("changed in place", y)
