"""Factors and determinants of complex matrices, with gradients."""

L = torch.linalg


def shown(name, value):
    """Parts of complex numbers beside each other."""
    if isinstance(value, (tuple, list)):
        for at, item in enumerate(value):
            shown(f"{name}[{at}]", item)
    else:
        show(name, torch.view_as_real(value.detach().resolve_conj()) if value.is_complex() else value)


def parted(name, function, *matrices):
    """What a function gives, and the gradients of its operands."""
    matrices = [it.clone().requires_grad_() for it in matrices]
    found = function(*matrices)
    found = tuple(found) if isinstance(found, tuple) else (found,)
    shown(name, found)
    total = 0.0
    for at, it in enumerate(found):
        plain = torch.view_as_real(it.resolve_conj()) if it.is_complex() else it
        total = total + (plain * values(*plain.shape, seed=5 + at)).sum()
    total.backward()
    shown(f"{name}, gradient", [it.grad for it in matrices])


whole = torch.complex(values(4, 4), values(4, 4, seed=2)) + 2 * torch.eye(4)
batch = torch.complex(values(2, 3, 3), values(2, 3, 3, seed=3))
tall = torch.complex(values(5, 3, seed=4), values(5, 3, seed=6))
sides = torch.complex(values(4, 2, seed=7), values(4, 2, seed=8))
definite = batch @ batch.mH + torch.eye(3)
parted("det", L.det, whole)
parted("dets", torch.det, batch)
parted("slogdet", L.slogdet, whole)
parted("slogdets", torch.slogdet, batch)
parted("cholesky", lambda A: L.cholesky(A @ A.mH + torch.eye(4)), whole)
parted("upper", lambda A: L.cholesky(A @ A.mH + torch.eye(3), upper=True), batch)
parted("qr", L.qr, whole)
parted("qr of a tall one", L.qr, tall)
parted("qr of a batch", L.qr, batch)


def twice(function):
    A = batch.clone().requires_grad_()
    [grad] = torch.autograd.grad(function(A).sum(), A, create_graph=True)
    grad.real.sum().backward()
    return A.grad


shown("det twice", twice(lambda A: L.det(A).real))
shown("slogdet twice", twice(lambda A: L.slogdet(A)[1] + L.slogdet(A)[0].imag))
shown("cholesky twice", twice(lambda A: L.cholesky(A @ A.mH + torch.eye(3)).real))
shown("qr twice", twice(lambda A: L.qr(A).R.real))
shown("qr of a wide one", L.qr(tall.mH))
shown("complete", L.qr(tall, mode="complete"))
shown("r alone", L.qr(tall, mode="r").R)
for name, matrix in (("whole", whole), ("batch", batch), ("tall", tall), ("wide", tall.mT)):
    shown(f"lu of {name}", L.lu(matrix))
    LU, pivots = L.lu_factor(matrix)
    shown(f"lu_factor of {name}", LU)
    print(pivots, L.lu_factor_ex(matrix).info)
shown("lu_solve", L.lu_solve(*L.lu_factor(whole), sides))
shown("lu_solve, adjoint", L.lu_solve(*L.lu_factor(whole), sides, adjoint=True))
shown("lu_solve from the right", L.lu_solve(*L.lu_factor(whole), sides.mT, left=False))
found = L.cholesky_ex(torch.stack([definite[0], -definite[0]]))
print(found.info, L.lu_factor_ex(torch.zeros(2, 2, dtype=torch.complex128)).info)
shown("det of a singular one", L.det(torch.ones(2, 2, dtype=torch.complex128)))
shown("of no matrices", [L.det(torch.ones(0, 2, 2, dtype=torch.complex64)), L.qr(torch.ones(0, 3, 2, dtype=torch.complex64)).R])
shown("of nothing", L.det(torch.ones(0, 0, dtype=torch.complex128)))
single = whole.to(torch.complex64)
print(L.det(single).dtype, [it.dtype for it in L.slogdet(single)], L.cholesky(definite.to(torch.complex64)).dtype, L.qr(single).Q.dtype, L.lu_factor(single).LU.dtype)
refused("not positive", lambda: L.cholesky(-definite))
refused("no square", lambda: L.det(tall))
refused("singular", lambda: L.lu_factor(torch.zeros(2, 2, dtype=torch.complex128)))


class Turned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2j

    @staticmethod
    def backward(ctx, grad):
        return grad * -2j


parted("a function with complex results", lambda x: Turned.apply(x) * x, whole)

print("# reflections")
real = values(5, 3, seed=4)
for name, matrix in (("real", real), ("complex", tall), ("wide", real.T), ("batch", batch)):
    found = torch.geqrf(matrix)
    shown(f"geqrf of {name}", tuple(found))
    if matrix.shape[-2] >= matrix.shape[-1]:
        shown(f"householder_product of {name}", L.householder_product(*found))
print(torch.geqrf(torch.zeros(3, 2)), torch.geqrf(torch.ones(0, 3)).a.shape)
parted("householder_product", L.householder_product, real, values(3))
parted("fewer", torch.orgqr, tall, torch.complex(values(2), values(2, seed=2)))
refused("wide reflections", lambda: L.householder_product(real.T, values(3)))
refused("more factors", lambda: L.householder_product(real, values(4)))
refused("a vector", lambda: L.householder_product(real[0], values(3)))
refused("factors of another dtype", lambda: L.householder_product(real, values(3).float()))
refused("factors of one of a batch", lambda: L.householder_product(batch, values(3)))
refused("whole reflections", lambda: L.householder_product(real.long(), values(3).long()))
refused("geqrf of a vector", lambda: torch.geqrf(real[0]))
refused("geqrf of whole numbers", lambda: torch.geqrf(real.long()))
