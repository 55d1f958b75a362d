"""What a step of the tape keeps goes with the last of its results."""

from torch.utils.checkpoint import checkpoint


class Told:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print(self.name, "is gone")


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, name):
        ctx.told = Told(name)
        return a * 2, a * 3

    @staticmethod
    def backward(ctx, first, second):
        print("backward of", ctx.told.name)
        return first * 2 + second * 3, None


x = values(3).requires_grad_()
one, two = Doubled.apply(x, "the first")
print("made")
del one
print("one is left")
del two
print("none is left")
one, two = Doubled.apply(x, "the second")
(one.sum() + two.sum()).backward()
show("grad", x.grad)
del one, two
print("none is left")
told = Told("what is checkpointed")
y = checkpoint(lambda a, b: a * 2, x, told, use_reentrant=True)
del told
y.sum().backward()
print("backward is done")
del y
print("none is left")
