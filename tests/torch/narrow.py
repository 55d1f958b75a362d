"""Numbers beside narrow whole numbers, complex numbers beside numbers, and conditions: what is taken, and what is refused."""


def refused(make):
    try:
        print(make())
    except (RuntimeError, ValueError):
        print("refused")


bytes_ = torch.tensor([1, 7, 200], dtype=torch.uint8)
small = torch.tensor([1, 7, 20], dtype=torch.int8)
whole = torch.tensor([1, 7, 20])


def in_place(x, exponent):
    x = x.clone()
    x **= exponent
    return x


print("# powers")
for x in (bytes_, small, whole, whole.int(), whole.short()):
    for exponent in (0, 2, 127, 128, 255, 256, 300, 70000, -1, -3):
        refused(lambda: x**exponent)
        refused(lambda: in_place(x, exponent))
refused(lambda: torch.tensor([], dtype=torch.int64) ** -1)
refused(lambda: bytes_ ** torch.tensor(-3))
refused(lambda: bytes_**-3.0)
refused(lambda: 300**bytes_)
refused(lambda: (-2) ** bytes_)
refused(lambda: torch.tensor([True]) ** -1)


def power(x, exponent):
    return (x + 0) ** exponent


for exponent in (2, 3, 2, 300, -1, 300, -1, 2):
    refused(lambda: power(bytes_, exponent))

print("# numbers that the dtype does not hold")
refused(lambda: F.pad(bytes_, (1, 1), value=-3.0))
refused(lambda: F.pad(bytes_, (1, 1), value=300))
refused(lambda: F.pad(bytes_, (1, 1), value=1.5))
for alpha in (2, -3, 300, -256):
    refused(lambda: torch.add(bytes_, bytes_, alpha=alpha))
    refused(lambda: torch.sub(bytes_, 1, alpha=alpha))
    refused(lambda: bytes_.clone().add_(bytes_, alpha=alpha))
for limits in ((300, 5), (3, 5), (3, 500), (2.5, 5), (-1.0, 5)):
    refused(lambda: F.threshold(bytes_, *limits))
for value in (-3, 255, 300, -256):
    refused(lambda: torch.full((2,), value, dtype=torch.uint8))
    refused(lambda: bytes_.clone().fill_(value))
    refused(lambda: bytes_.scatter(0, torch.tensor([1]), value))

print("# whole numbers where floats are usual")
refused(lambda: F.hardtanh(whole))
refused(lambda: F.hardtanh(small, -3, 5))
refused(lambda: F.hardtanh(bytes_))
refused(lambda: F.hardtanh(whole, -3.5, 5.5))
refused(lambda: torch.addcmul(whole, whole, whole))
refused(lambda: torch.addcmul(whole, whole, whole, value=3))
refused(lambda: torch.addcmul(bytes_, bytes_, bytes_, value=-3))
refused(lambda: torch.addcmul(bytes_, bytes_, bytes_, value=300))
refused(lambda: torch.addcmul(bytes_, bytes_.float(), bytes_))
refused(lambda: F.dropout(whole, 0.0))
refused(lambda: F.dropout(whole, 1.0))
refused(lambda: F.dropout(whole, 0.5, False))
refused(lambda: F.dropout(whole, 0.5))
refused(lambda: torch.allclose(torch.tensor([True, False]), torch.tensor([True, False])))
refused(lambda: torch.allclose(torch.tensor([True, False]), torch.tensor([True, True])))
refused(lambda: torch.tensor([1j]).median())

print("# complex numbers")
zeros, at = torch.zeros(3, dtype=torch.complex64), torch.tensor([1])
for value in (1, 1.5, 1 + 2j, True):
    refused(lambda: zeros.scatter(0, at, value))
    refused(lambda: zeros.clone().scatter_(0, at, value))
    refused(lambda: zeros.index_fill(0, at, value))
    refused(lambda: zeros.clone().index_fill_(0, at, value))
refused(lambda: torch.zeros(3).scatter(0, at, 1j))
x = zeros.clone().requires_grad_()
(x.scatter(0, at, 2) * (1 + 2j)).abs().sum().backward()
print(x.grad.shape)
z = torch.tensor([[1 + 2j, 2 - 1j, 0.5j], [0.1, 1j, 3 - 2j]])
show("cov", [torch.cov(z).real, torch.cov(z).imag, torch.cov(z[0]).real])
show("corrcoef", [torch.corrcoef(z).real, torch.corrcoef(z).imag, torch.corrcoef(z[0]).real])
weighted = torch.cov(z, correction=0, fweights=torch.tensor([1, 2, 3]), aweights=torch.tensor([1.0, 2, 3]))
show("weighted", [weighted.real, weighted.imag])

print("# devices")
print(torch.logspace(0, 1, 3, device="cpu"), torch.logspace(0, 1, 3, device="meta").device)
print(torch.tril_indices(2, 3, device="cpu"), torch.triu_indices(2, 3, device="meta").device)
print(torch.tril_indices(2, 3, dtype=torch.int32).dtype)
