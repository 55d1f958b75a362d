"""Products that go part by part to where a tensor lies, and what is refused of them."""


def told(name, *tensors):
    for it in tensors:
        flat = it.detach().double().reshape(-1)
        places = [at for at in (0, 1, 299, 300, 65399, 65400, 65699, 65700, 131071, 139999, 179999) if at < flat.numel()] + [-2, -1]
        print(name, list(it.shape), [round(flat[at].item(), 6) for at in places], round(flat.abs().mean().item(), 6))


def numbers(*shape, seed=1):
    return ((torch.arange(math.prod(shape)) * 37 + seed) % 1009 / 1009 - 0.5).reshape(shape).double()


def refused(name, function, kept):
    before = kept.clone()
    try:
        function()
        print(name, "is taken")
    except Exception:
        print(name, "is refused", torch.equal(kept, before))


x, a, b = numbers(600, 300), numbers(600, 20, seed=2), numbers(20, 300, seed=3)
batch = numbers(3, 600, 20, seed=4), numbers(3, 20, 300, seed=5)
for weights in ({}, {"beta": 0.5, "alpha": -2.0}, {"beta": 0.0, "alpha": 3.0}):
    told(f"addmm_ {weights}", x.clone().addmm_(a, b, **weights))
    told(f"addbmm_ {weights}", x.clone().addbmm_(*batch, **weights))
    told(f"addr_ {weights}", x.clone().addr_(a[:, 0], b[0], **weights))
    told(f"addmv_ {weights}", numbers(180000).addmv_(numbers(180000, 3, seed=2), b[0, :3], **weights))
    told(f"baddbmm_ {weights}", numbers(3, 600, 300).baddbmm_(*batch, **weights), numbers(1, 600, 300).baddbmm_(a[None], b[None], **weights))
    told(f"addmm, out {weights}", torch.addmm(b[0], a, b, out=x.clone(), **weights), torch.addmm(x, a, b, out=x.clone(), **weights))
told("beta 0", torch.full((600, 300), math.nan).double().addmm_(a, b, beta=0))
told("whole numbers", (x * 100).long().addmm_((a * 100).long(), (b * 100).long(), beta=2, alpha=3))
told("halves", x.bfloat16().addmm_(a.bfloat16(), b.bfloat16()).float())

print("# out")
for function, operands in ((torch.mm, (a, b)), (torch.bmm, batch), (torch.outer, (a[:, 0], b[0])), (torch.mv, (numbers(180000, 3), b[0, :3])), (torch.matmul, batch)):
    out = function(*operands) * 2
    found = function(*operands, out=out)
    told(function.__name__, out)
    print(found is out)
square = numbers(300, 300, seed=6)

print("# parts")
wide = numbers(600, 301)
wide[:, 1:].addmm_(a, b)
told("columns", wide)
turned = numbers(300, 600)
turned.T.addmm_(a, b)
told("turned", turned)

print("# others")
told("index_reduce_", x.clone().index_reduce_(0, torch.tensor([0, 599]), numbers(2, 300, seed=7), "prod"), x.clone().index_reduce_(1, torch.tensor([3, 3]), numbers(600, 2, seed=7), "mean", include_self=False))
print(torch.tensor(2.0).index_reduce_(0, torch.tensor([0]), torch.tensor(5.0), "prod"))
told("renorm_", x.clone().renorm_(2, 0, 4.0), x.clone().renorm_(1, 1, 100.0))
leaf = x.clone().requires_grad_()
start = leaf * 1
start.addmm_(a, b, beta=2).renorm_(2, 0, 5.0)
start.index_reduce_(0, torch.tensor([5]), x[:1], "prod")
start.square().sum().backward()
told("gradient", leaf.grad)

print("# refused")
kept = x.clone()
refused("rows", lambda: kept.addmm_(a[:1], b), kept)
refused("columns", lambda: kept.addmm_(a, b[:, :100]), kept)
refused("inner", lambda: kept.addmm_(a, b[:10]), kept)
refused("dtype", lambda: kept.addmm_(a.float(), b.float()), kept)
refused("batches", lambda: kept.addbmm_(batch[0][:2], batch[1]), kept)
refused("grown", lambda: kept[:1].addmm_(a, b), kept)
refused("index_reduce_", lambda: kept.index_reduce_(0, torch.tensor([600]), x[:1], "prod"), kept)
refused("word", lambda: kept.index_reduce_(0, torch.tensor([0]), x[:1], "sum"), kept)
refused("renorm_", lambda: kept.renorm_(0, 0, 1.0), kept)
refused("renorm_ of a negative", lambda: kept.renorm_(2, 0, -1.0), kept)
leaf = x.clone().requires_grad_()
refused("leaf", lambda: leaf.addmm_(a, b), leaf)
refused("leaf, renorm_", lambda: leaf.renorm_(2, 0, 1.0), leaf)
