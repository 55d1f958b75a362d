"""`detect_anomaly` and `set_detect_anomaly`: a NaN in a gradient is an error; an infinity, and NaN in the forward pass, are none."""


def ends_with(name, function):
    try:
        function()
        print(name, "ends well")
    except RuntimeError as error:
        # Here more is said behind PyTorch's words.
        print(name, str(error).split(" output")[0])


def root():
    w = torch.tensor([4.0, 0.0], requires_grad=True)
    (w.sqrt() * 0).sum().backward()


def far():
    w = torch.tensor([4.0, 0.0], requires_grad=True)
    x = torch.where(torch.tensor([True, False]), w.sqrt(), torch.zeros(2))
    (x * 3).exp().sum().backward()


def infinite():
    w = torch.tensor([4.0, 0.0], requires_grad=True)
    w.sqrt().sum().backward()


def forward():
    w = torch.tensor([-1.0], requires_grad=True)
    (w.log() * 2).sum().backward()


for name, function in [("root", root), ("far", far), ("infinite", infinite), ("forward", forward)]:
    ends_with(name, function)
    with torch.autograd.detect_anomaly():
        print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        ends_with(name + " with detect_anomaly", function)
    with torch.autograd.set_detect_anomaly(True):
        ends_with(name + " with set_detect_anomaly", function)
print(torch.is_anomaly_enabled())
torch.autograd.set_detect_anomaly(True)
print(torch.is_anomaly_enabled())
ends_with("root", root)
with torch.autograd.set_detect_anomaly(False):
    ends_with("root", root)
ends_with("root", root)
torch.autograd.set_detect_anomaly(False)
ends_with("root", root)


print("# functions of a program")


class Divides(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x - x) / (x - x)


class Fills(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y, x * y

    @staticmethod
    def backward(ctx, first, second):
        return first, torch.tensor([1.0, math.nan])


class Logarithm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.log(x - x - 1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Infinite(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad / 0


w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0, 4.0], requires_grad=True)
for name, function in [
    ("Divides", lambda: Divides.apply(w).sum().backward()),
    ("Fills", lambda: sum(it.sum() for it in Fills.apply(w, v)).backward()),
    ("Logarithm", lambda: Logarithm.apply(w).sum().backward()),
    ("Infinite", lambda: Infinite.apply(w).sum().backward()),
    ("Infinite, then Divides", lambda: Divides.apply(Infinite.apply(w)).sum().backward()),
]:
    ends_with(name, function)
    with torch.autograd.detect_anomaly():
        ends_with(name + " with detect_anomaly", function)
    with torch.autograd.detect_anomaly(check_nan=False):
        ends_with(name + " without a look at NaN", function)
