"""Eigenvectors of Hermitian matrices, and singular vectors of complex ones: what does not depend on how they are turned; and inverses where values are the same."""


def made(m, n, seed=0.5):
    at = torch.arange(m * n * 2.0, dtype=torch.float64) * 1.3 + seed
    return torch.complex(torch.sin(at[: m * n] ** 1.5), torch.cos(at[m * n :] ** 1.7)).reshape(m, n)


def is_close(a, b):
    return bool((a - b).abs().max() < 1e-9)


def is_unitary(columns):
    return is_close(columns.mH @ columns, torch.eye(columns.shape[-1]))


def slopes(name, total, A):
    [slope] = torch.autograd.grad(total, A, retain_graph=True)
    show(name, torch.view_as_real(slope))


def weights(*shape):
    return torch.arange(float(math.prod(shape))).reshape(shape)


print("# svd")
low = made(4, 2) @ made(2, 3, 0.7)
for m, n in ((3, 3), (4, 2), (2, 4), (1, 3), (5, 1)):
    for full in (False, True):
        A, k = made(m, n).requires_grad_(), min(m, n)
        U, S, Vh = torch.linalg.svd(A, full_matrices=full)
        show("values", S)
        print(list(U.shape), list(Vh.shape), is_close((U[:, :k] * S) @ Vh[:k], A), is_unitary(U), is_unitary(Vh.mH))
        slopes("of values", (S * weights(k)).sum(), A)
        if not full:
            slopes("of U", (U.abs() * weights(m, k)).sum(), A)
            slopes("of V", (Vh.abs() * weights(k, n) ** 2).sum(), A)
            slopes("of all", ((U * S.exp()) @ Vh).real.sum(), A)
for name, A in (("low", low), ("zero", torch.zeros(3, 2, dtype=torch.complex128)), ("turned", torch.eye(3, dtype=torch.complex128) * 1j)):
    for full in (False, True):
        U, S, Vh = torch.linalg.svd(A, full_matrices=full)
        k = len(S)
        print(name, list(U.shape), list(Vh.shape), is_close((U[:, :k] * S) @ Vh[:k], A), is_unitary(U), is_unitary(Vh.mH))
print([tuple(it.shape) for it in torch.linalg.svd(torch.stack([low, low * 2]), False)])
U, S, V = torch.svd(low)
print(is_close(U * S @ V.mH, low))
print([it.dtype for it in torch.linalg.svd(low.to(torch.complex64))])

print("# eigh")
for n in (1, 2, 3, 6):
    H = made(n, n)
    H = H @ H.mH
    for UPLO in ("L", "U"):
        G = H.clone().requires_grad_()
        L, V = torch.linalg.eigh(G, UPLO)
        show("values", L)
        print(is_close(V * L @ V.mH, H), is_unitary(V))
        slopes("of both", (V.abs() * weights(n, n)).sum() + (L * L).sum(), G)
same = torch.tensor([[2, 1j, 0, 0], [-1j, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]], dtype=torch.complex128)
L, V = torch.linalg.eigh(same)
show("values twice", L)
print(is_close(V * L @ V.mH, same), is_unitary(V), [tuple(it.shape) for it in torch.linalg.eigh(torch.stack([same, same]))])

print("# inverses")
for name, A in (("made", made(4, 3)), ("wide", made(2, 3)), ("low", low), ("turned", torch.eye(3, 2, dtype=torch.complex128) * 1j)):
    A = A.clone().requires_grad_()
    inverse = torch.linalg.pinv(A)
    show(name, torch.view_as_real(inverse))
    slopes(name, inverse.real.sum() + (inverse.imag * weights(*inverse.shape)).sum(), A)
    if name != "low":
        solution = torch.linalg.lstsq(A, torch.ones(A.shape[0], 1, dtype=A.dtype)).solution
        slopes(name + ", lstsq", (solution.real - 2 * solution.imag).sum(), A)
for shape in ((3, 3), (3, 2), (2, 4)):
    for A in (torch.eye(*shape, dtype=torch.float64), torch.ones(shape, dtype=torch.float64), values(*shape)):
        A = A.clone().requires_grad_()
        inverse = torch.linalg.pinv(A)
        [slope] = torch.autograd.grad((inverse * weights(*inverse.shape)).sum(), A, create_graph=True)
        show("real", slope)
        show("second order", torch.autograd.grad((slope * slope).sum(), A)[0])
