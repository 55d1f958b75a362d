# Functions of their own that save what they give: second derivatives, and what `backward` may give back.


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        print("saved", y.requires_grad, y.is_leaf)
        return g * y


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.output = output

    @staticmethod
    def backward(ctx, g):
        return g * ctx.output * (1 - ctx.output)


class Both(torch.autograd.Function):
    """Two outputs, of which the second is saved beside the input."""

    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s, s

    @staticmethod
    def backward(ctx, g, h):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s)) + h * s * (1 - s)


class Doubled(torch.autograd.Function):
    """Changes what it is given, which is the output then."""

    @staticmethod
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Passed(torch.autograd.Function):
    """Gives back what it is given; what it saves is the input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x**2


def derivatives(name, function):
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    show(f"{name} 1", g)
    print(g.requires_grad)
    (h,) = torch.autograd.grad((g**2).sum(), x, create_graph=True)
    show(f"{name} 2", h)
    (k,) = torch.autograd.grad(h.sum(), x)
    show(f"{name} 3", k)


print("# derivatives of derivatives")
derivatives("exp", Exp.apply)
derivatives("sigmoid", Sigmoid.apply)
derivatives("first", lambda x: Both.apply(x)[0])
derivatives("second", lambda x: Both.apply(x)[1])
derivatives("both", lambda x: sum(it.sum() for it in Both.apply(x)))
derivatives("dirty", lambda x: Doubled.apply(x * 2))
derivatives("passed", lambda x: Passed.apply(x * 2))
derivatives("twice", lambda x: Exp.apply(Exp.apply(x)))
print(torch.autograd.gradgradcheck(Sigmoid.apply, torch.tensor([0.3, 1.5], dtype=torch.float64, requires_grad=True)))
print(torch.func.grad(torch.func.grad(lambda x: Sigmoid.apply(x * 2)))(torch.tensor(0.5, dtype=torch.float64)))
x = torch.tensor([0.5, -1.0], requires_grad=True)
Exp.apply(x).sum().backward()
print(x.grad)
y = Exp.apply(x)
(y * y).sum().backward(create_graph=True)
print(x.grad.requires_grad)

print("# what backward gives")


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return GIVEN(g, ctx.factor)


one = torch.ones(2)
x = torch.ones(2, requires_grad=True)
for name, GIVEN in [
    ("right", lambda g, n: (g * n, None)),
    ("Nones behind", lambda g, n: (g * n, None, None, None)),
    ("all None", lambda g, n: (None, None)),
    ("too few", lambda g, n: g * n),
    ("too many", lambda g, n: (g * n, None, g)),
    ("too many, None between", lambda g, n: (g * n, None, None, g)),
    ("of a number", lambda g, n: (g * n, g)),
]:
    x.grad = None
    attempt(name, lambda: Scale.apply(x, 3.0).sum().backward())
    print(x.grad)
