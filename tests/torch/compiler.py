"""torch.compiler and torch.nn.attention: what they say changes no result."""

from torch.nn.attention import SDPBackend, sdpa_kernel

q, k, v = values(1, 2, 3, 4), values(1, 2, 3, 4, seed=2), values(1, 2, 3, 4, seed=3)
plain = F.scaled_dot_product_attention(q, k, v)
with sdpa_kernel(SDPBackend.MATH):
    show("math", F.scaled_dot_product_attention(q, k, v))
with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
    print(bool(torch.allclose(F.scaled_dot_product_attention(q, k, v), plain)))
with sdpa_kernel(backends=[SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
    print(bool(torch.allclose(F.scaled_dot_product_attention(q, k, v, is_causal=True), F.scaled_dot_product_attention(q, k, v, is_causal=True))))


@sdpa_kernel(SDPBackend.MATH)
def attend(q):
    return F.scaled_dot_product_attention(q, k, v)


print(bool(torch.allclose(attend(q), plain)), bool(torch.allclose(attend(q), plain)))
print(SDPBackend.MATH, repr(SDPBackend.FLASH_ATTENTION), SDPBackend.CUDNN_ATTENTION.value, SDPBackend.ERROR.name, SDPBackend.MATH == SDPBackend.MATH, SDPBackend(2))
print(sorted(SDPBackend.__members__))


def enter(backends):
    with sdpa_kernel(backends):
        return "entered"


attempt("number", lambda: enter(3))
attempt("text", lambda: enter("math"))
attempt("none", lambda: enter([]))

print(torch.compiler.is_compiling(), torch.compiler.is_dynamo_compiling(), torch.compiler.is_exporting(), torch.compiler.reset())


@torch.compiler.disable
def twice(x):
    return x * 2


@torch.compiler.disable(recursive=False)
def thrice(x):
    return x * 3


@torch.compiler.allow_in_graph
def once(x):
    return x


@torch.compiler.assume_constant_result
def five():
    return 5


print(twice(2), thrice(2), torch.compiler.disable(lambda x: x + 1)(4), once(7), five())
torch.compiler.cudagraph_mark_step_begin()
with torch.compiler.set_stance("force_eager"):
    print(twice(3))


@torch.compiler.set_stance("default")
def four():
    return 4


print(four())
