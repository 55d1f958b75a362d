"""Parts of tensors, of more elements than are written at once: from the same tensor, from another dtype, random ones, and conjugates."""


def some(name, x):
    """A few of the elements."""
    flat = x.detach().resolve_conj().reshape(-1)
    few = flat[[0, 1, 65535, 65536, 65537, len(flat) // 2, len(flat) - 2, len(flat) - 1]]
    show(name, torch.view_as_real(few) if x.is_complex() else few)


print("# from the same tensor")
n = 200_001
for start, from_, count in [(0, 100_000, 100_000), (100_001, 0, 100_000), (0, 1, 200_000), (1, 0, 200_000), (0, 70_000, 130_000), (70_000, 0, 130_000)]:
    x = torch.arange(n)
    # PyTorch leaves it open what overlapping parts give: it is told to copy first.
    apart = from_ >= start + count or start >= from_ + count
    source = x[from_:from_ + count]
    x[start:start + count].copy_(source if apart else source.clone())
    some((start, from_, count), x)
    y = torch.arange(n)
    y[start:start + count] = y[from_:from_ + count].clone() if not apart else y[from_:from_ + count]
    print(torch.equal(x, y))
m = torch.arange(1000 * 400).reshape(1000, 400)
m[:, :200].copy_(m[:, 200:])
some("columns", m)
m[:, 200:] = m[:, :200].flip(1)
some("flipped", m)
m[:500].T.copy_(m[500:].T)
some("turned", m)
m[:400, :].copy_(m[400:800].T.contiguous().T)
some("rows", m)
m[::2].copy_(m[1::2])
some("every second", m)
m[:500].copy_(m[700])
some("a row for all", m)
f = torch.arange(300_000.0)
f[:100_000].copy_(f.view(torch.int32)[100_000:200_000])
some("bits", f)

print("# from another dtype")
d = values(300, 400)
for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
    x = torch.zeros(300, 400, dtype=dtype)
    x.copy_(d * 9)
    some("all", x)
    x[:, 1:] = d[:, :-1] * 5
    some("columns", x)
    x.T[:].copy_(d[:, :300].T.reshape(300, 300)[:1].expand(400, 300))
    some("turned", x)

print("# random")
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.complex64):
    for name, part in {"columns": lambda x: x[:, 1:], "turned": lambda x: x.T, "every second": lambda x: x[::2, ::2], "steps": lambda x: x.permute(1, 0)[3:]}.items():
        for fill in (lambda x: x.uniform_(-1, 3) if not x.is_complex() else x.real.uniform_(-1, 3), lambda x: x.normal_(1.5, 2.5)):
            torch.manual_seed(3)
            x = torch.zeros(600, 500, dtype=dtype)
            fill(part(x))
            some(name, x)
            print(torch.rand(1).item())

print("# conjugates")
q = torch.complex(values(300, 400), values(300, 400, seed=2)).to(torch.complex64)
c = q.conj()
c[5] = 2j
print(q[5, 3].item(), c[5, 3].item())
c[1:, 3] = 1 + 1j
c[7, 1:5].mul_(2j)
c[8].copy_(q[9])
c[9:11] = c[11:13]
c.T[4, 2:].fill_(3 - 4j)
q.conj()[12].add_(1j)
q.T.conj()[3, 13] = 5j
some("below", q)
some("above", c)
print(q[7:14, :5].tolist(), c[7:14, 3].tolist())
c.mul_(1j)
some("below", q)
some("above", c)
a = torch.ones(3, dtype=torch.complex64, requires_grad=True)
b = a * (1 + 2j)
b.conj()[1] = 3j
(b * b.conj()).real.sum().backward()
print(b.tolist(), (a.grad + 0).tolist())
