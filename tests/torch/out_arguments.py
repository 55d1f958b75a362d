# Results that go where `out=` says.

a, b = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
o = torch.empty(2, 3)


def show(name, run):
    try:
        print(name, run())
    except RuntimeError as problem:
        print(name, str(problem).split("\n")[0])


print(torch.add(a, b, out=o) is o, o.tolist(), torch.add(a, b[0], out=o).tolist())
for dtype in [torch.float64, torch.float16, torch.bfloat16]:
    print(torch.exp(a / 4, out=torch.empty(2, 3, dtype=dtype)))
turned = torch.empty(3, 2).T
print(torch.mul(a, 2, out=turned).tolist(), turned.stride())
seen = o.numpy()
torch.sub(a, 1, out=o)
print(seen.tolist())

q = a.clone()
row = q[1]
torch.square(q, out=q)
print(row)
torch.sum(a, 1, out=row[:2])
print(q)
s = torch.arange(10.0)
print(torch.add(s, s.flip(0), out=s).tolist())
s = torch.arange(10.0)
print(torch.mul(s, s, out=s).tolist())

print(torch.maximum(a, b, out=o).tolist(), torch.where(a > 2, a, b, out=o).tolist(), torch.clamp(a, 1, 3, out=o).tolist())
print(torch.matmul(a, b.T, out=torch.empty(2, 2)).tolist(), torch.cat([a, b], out=torch.empty(4, 3)).shape)
print(torch.eq(a, b, out=torch.empty(2, 3, dtype=torch.bool)).tolist(), torch.eq(a, b, out=o).tolist())
print(torch.div(torch.tensor([1, 2]), torch.tensor([2, 2]), out=torch.empty(2)).tolist(), torch.arange(4, out=torch.empty(4)).tolist())
print(torch.mul(torch.tensor([1j, 2]), 2, out=torch.empty(2, dtype=torch.complex64)).tolist())
torch.manual_seed(3)
print(torch.randn(4, out=torch.empty(4)), torch.rand(2, 20, out=torch.empty(2, 20))[1, :4], torch.rand(1))

# Nothing yet: it takes the shape of the result.
for result in [torch.add(a, b, out=torch.tensor([])), torch.mm(a, b.T, out=torch.empty(0)), torch.sum(a, 0, out=torch.empty(0, dtype=torch.float64))]:
    print(result, result.dtype)

# Several results.
values, places = torch.empty(2), torch.empty(2, dtype=torch.int64)
made = torch.max(a, 1, out=(values, places))
print(values, places, made[0] is values)
values, places = torch.empty(2, 3), torch.empty(2, 3, dtype=torch.int64)
torch.sort(-a, out=(values, places))
print(values, places)
values, places = torch.tensor([]), torch.tensor([], dtype=torch.int64)
torch.topk(a, 2, out=(values, places))
print(values, places)

# Gradients do not go through what is written.
w = a.clone().requires_grad_()
show("taped", lambda: torch.add(w, b, out=o))
show("off the tape", lambda: torch.add(w.detach(), b, out=o).tolist())
with torch.no_grad():
    show("no_grad", lambda: torch.add(w, b, out=o).tolist())

kept = w * 1
show("taped out", lambda: torch.exp(a, out=kept))
torch.manual_seed(0)
print(torch.rand(2, 2, out=torch.zeros(2, 2, dtype=torch.float64)), torch.zeros(3, out=torch.ones(3, dtype=torch.int64)))
print(torch.ones(3, out=torch.zeros(3, dtype=torch.bool)))


def refused(run):
    try:
        run()
        return False
    except RuntimeError:
        return True


# What is drawn in place, also when there is much of it.
for count in [8, 2**16 + 5]:
    w = torch.ones(count, requires_grad=True)
    y = w * 3
    y.exponential_()
    (y.sum() + w.sum()).backward()
    print(w.grad.sum())
    print(refused(lambda: w.bernoulli_(0.5)), refused(lambda: w[1:][:1].zero_()))
torch.manual_seed(0)
print(torch.zeros(6).bernoulli_(torch.tensor(0.5)), torch.zeros(2, 3).bernoulli_(torch.tensor([0.1, 0.5, 0.9])))
torch.manual_seed(3)
torch.empty(3, device="meta").exponential_()
print(torch.rand(1))

x = torch.zeros(4)
for number in [0, -1.5]:
    show("exponential_", lambda: x.exponential_(number))
    show("geometric_", lambda: x.geometric_(number))
    show("cauchy_", lambda: x.cauchy_(0, number))
    show("bernoulli_", lambda: x.bernoulli_(number - 1))
    show("log_normal_", lambda: x.log_normal_(0, number))
show("random_", lambda: x.random_(0))
show("random_", lambda: x.random_(5, 2))
torch.manual_seed(0)
print(x.random_(3), x.random_(2, 4), torch.zeros(3, dtype=torch.uint8).random_())
