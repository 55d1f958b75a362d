"""Steps of one's own that are told which gradients did not come: `set_materialize_grads(False)`."""


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        print("got", first, second)
        found = None if first is None else first * 2
        if second is not None:
            found = second * 3 if found is None else found + second * 3
        return found


for which in ((0,), (1,), (0, 1)):
    x = torch.ones(2, requires_grad=True)
    outputs = Both.apply(x)
    sum(outputs[at].sum() for at in which).backward()
    print(which, x.grad)


class Apart(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        print("got", product is None, total is None)
        if product is None:
            return total, total
        return product * y, product * x


x, y = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([5.0, 7.0], requires_grad=True)
print(torch.autograd.grad(Apart.apply(x, y)[0].sum(), (x, y)))
print(torch.autograd.grad(Apart.apply(x, y)[1].sum(), (x, y)))
hidden = Apart.apply(x * 2, y)
print(torch.autograd.grad((hidden[0] * hidden[0]).sum(), (x, y)))


class Zeros(Both):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(True)
        return x * 2, x * 3


x = torch.ones(2, requires_grad=True)
Zeros.apply(x)[0].sum().backward()
print(x.grad)
