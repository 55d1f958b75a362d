"""Tensors as their memory: views by steps and as other dtypes, which are written and differentiated; other shapes in place."""

x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
wide = torch.arange(8, dtype=torch.float32).reshape(2, 4)
attempt("as whole numbers", lambda: x.view(torch.int32))
attempt("as narrower ones", lambda: x.view(torch.int16))
attempt("as bytes", lambda: x.view(dtype=torch.uint8))
attempt("as wider ones", lambda: wide.view(torch.float64))
attempt("as complex ones", lambda: wide.view(torch.complex64))
attempt("complex as floats", lambda: torch.tensor([1 + 2j]).view(torch.float32))
attempt("complex as whole numbers", lambda: torch.tensor([[1 + 2j, 3.0]]).view(torch.int64))
attempt("one", lambda: torch.tensor(1.0).view(torch.int32))
attempt("one, narrower", lambda: torch.tensor(1.0).view(torch.int16))
attempt("an odd number", lambda: x.view(torch.int64))
attempt("columns", lambda: x.t().view(torch.int16))
attempt("columns, as wide", lambda: x.t().view(torch.int32))
attempt("an odd start", lambda: wide[0, 1:3].view(torch.int64))
attempt("odd steps", lambda: torch.arange(9.0).reshape(3, 3)[:, :2].view(torch.int64))
attempt("even steps", lambda: wide[:, 2:].view(torch.int64))
attempt("truths", lambda: torch.tensor([True, False]).view(torch.uint8))
attempt("halves", lambda: torch.tensor([1.0, -2.0], dtype=torch.float16).view(torch.int16))
attempt("to itself", lambda: x.view(torch.float32))
print(x.view(torch.int32).requires_grad, torch.ones(2, requires_grad=True).view(torch.int32).requires_grad)


def bits_are_written():
    x = torch.ones(3)
    bits = x.view(torch.int32)
    bits[0] = 0
    bits.add_(1)
    x[2] = 2.0
    return x, bits


attempt("bits are written", bits_are_written)


def bytes_are_written():
    x = torch.arange(4, dtype=torch.int32)
    low = x.view(torch.uint8)
    low[4:8] = 1
    low.view(2, 8)[1, 0] = 7
    return x, low


attempt("bytes are written", bytes_are_written)


def sign_is_flipped():
    x = torch.tensor([1.5, -2.0, 0.0])
    x.view(torch.int32).bitwise_xor_(-(2**31))
    return x


attempt("signs are flipped", sign_is_flipped)

# Steps through memory.
attempt("steps", lambda: torch.as_strided(x, (2, 2), (1, 2)))
attempt("from a place", lambda: x.as_strided((2, 2), (1, 2), 1))
attempt("again and again", lambda: torch.as_strided(x, (2, 2), (0, 1), storage_offset=1))
attempt("windows", lambda: torch.as_strided(torch.arange(7), (5, 3), (1, 1)))
attempt("too far", lambda: torch.as_strided(x, (2, 5), (3, 1)))
attempt("backwards", lambda: torch.as_strided(x, (2,), (-1,)))
attempt("unlike", lambda: torch.as_strided(x, (2, 2), (1,)))
attempt("of a row", lambda: x[1].as_strided((2,), (1,)))
attempt("of a row, from the start", lambda: x[1].as_strided((2,), (1,), 0))
attempt("of a block", lambda: x[1:, 1:].as_strided((2,), (1,)))
attempt("of columns", lambda: x.t().as_strided((2, 2), (3, 1)))
attempt("nothing", lambda: x.as_strided((0, 2), (9, 9)))
print(x.storage_offset(), x[1].storage_offset(), x[1:, 2:].storage_offset(), x.t()[1].storage_offset())


def steps_are_written():
    x = torch.zeros(6)
    seen = x.as_strided((2, 2), (3, 1))
    seen[0] = 7
    seen += 1
    x[3] = 9
    seen.mul_(2)
    return x, seen


attempt("steps are written", steps_are_written)


def row_is_written():
    x = torch.zeros(3, 4)
    x[1].as_strided((2,), (4,), 2).fill_(5)
    x[2].as_strided((2,), (1,)).copy_(torch.tensor([1.0, 2.0]))
    return x


attempt("through a row", row_is_written)

graded("sums of windows", lambda x: torch.as_strided(x, (4, 3), (1, 1)) ** 2, values(6))
graded("of a product", lambda x: (x * 2).as_strided((2, 2), (3, 1), 1), values(2, 3))
graded("of a row of a product", lambda x: (x * x)[1].as_strided((2,), (1,), 4), values(2, 3))
leaf = values(6).requires_grad_()
(first,) = torch.autograd.grad((leaf.as_strided((3, 2), (1, 1)) ** 3).sum(), leaf, create_graph=True)
show("twice", torch.autograd.grad(first.sum(), leaf))
print(leaf.detach().as_strided((2,), (1,)).requires_grad, leaf.as_strided((2,), (1,)).requires_grad)


# Other shapes in place.
def resized(x, *size):
    it = x.resize_(*size)
    return x, it is x


attempt("fewer", lambda: resized(torch.arange(6.0), 2, 2))
attempt("by a tuple", lambda: resized(torch.arange(6.0), (3, 2)))
attempt("like another", lambda: torch.arange(6.0).resize_as_(torch.ones(3, 1)))
attempt("of a variable", lambda: resized(torch.arange(6.0, requires_grad=True), 3))
more = torch.arange(6.0).resize_(2, 4)
print(list(more.shape), more.flatten()[:6])
more.resize_(5)[1] = 3
print(more)
