"""Methods and modules that few programs use: functions element by element, older constructors, names of devices, trusted classes,
backward passes that are wrapped."""

x = values(2, 3)
print("# element by element")
show("apply_", [x.clone().apply_(lambda v: v * 2), torch.arange(4).apply_(lambda v: v // 2), x.t().clone().apply_(abs)])
show("map_", [x.clone().map_(x + 1, lambda a, b: a * b), x.clone().map_(x[0], max), x.clone().map2_(x, x[:1], lambda a, b, c: a + b * c)])
refused("with a gradient", lambda: x.clone().requires_grad_().apply_(abs))
refused("other dtype", lambda: x.clone().map_(x.float(), max))
print("# constructors")
show("new", [x.new(), x.new(2, 0), x.new([1, 2]), x.new(values(2)), x.long().new([1.5, 2.0])])
refused("other dtype", lambda: x.new(torch.tensor([3, 4])))
print(x.new(2, 3).shape, x.new(torch.Size([1, 2])).shape, x.new_empty_strided((2, 3), (1, 2)).stride(), x.new_empty_strided((2,), (1,), dtype=torch.int8).dtype)
y = torch.arange(6.0)
print(y.as_strided_((2, 2), (3, 1), 1), torch.as_strided_(torch.arange(4.0), (3,), (1,)))
print("# parts")
show("parts", [x.nonzero_static(size=2), x.split_with_sizes([1, 2], 1), x.unsafe_split(2, 1), x.unsafe_chunk(2), x.unsafe_split_with_sizes([1, 1])])
print("# factors")
a = values(4, 3)
factors, tau = a.geqrf()
show("geqrf", [factors, tau, factors.orgqr(tau), factors.ormqr(tau, values(4, 2)), factors.ormqr(tau, values(2, 4), False, True)])
square = values(3, 3) + torch.eye(3, dtype=torch.float64)
show("lu", [torch.lu(square), square.lu(get_infos=True), torch.lu(torch.stack([square, square.T]))])
graded("lu", lambda a: torch.lu(a)[0], square)
print("# others")
graded("hardshrink", lambda x: x.hardshrink(0.3), x)
graded("prelu", lambda x, w: x.prelu(w), x, torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64))
z = torch.complex(x, x + 1)
show("conj_physical", [torch.view_as_real(z.conj_physical()), x.conj_physical(), torch.view_as_real(z.clone().conj_physical_()), torch.view_as_real(torch.conj_physical_(z.clone()))])
print(x.is_neg(), x.resolve_neg() is not None, x.is_shared(), x.is_cpu, x.is_mps, x.is_xpu, x.is_mtia, x.name, x.dim_order(), x.t().dim_order(), torch.zeros(2, 3, 4).permute(2, 0, 1).dim_order())
print("# in place, as functions")
calls = {
    "addmv_": (torch.ones(2), torch.ones(2, 3), torch.ones(3)), "clamp_max_": (torch.arange(3.0), 1.0), "clamp_min_": (torch.arange(3.0), 1.0), "deg2rad_": (torch.tensor([90.0]),),
    "rad2deg_": (torch.tensor([1.0]),), "gcd_": (torch.tensor([12, 8]), torch.tensor([8, 12])), "lcm_": (torch.tensor([4, 6]), torch.tensor([6, 8])), "i0_": (torch.tensor([1.0]),),
    "ldexp_": (torch.tensor([1.0]), torch.tensor([3])), "logit_": (torch.tensor([0.3]),), "nan_to_num_": (torch.tensor([math.nan, 1.0]), 2.0), "sinc_": (torch.tensor([0.5]),),
    "xlogy_": (torch.tensor([2.0]), torch.tensor([3.0])), "index_put_": (torch.zeros(3), (torch.tensor([1]),), torch.tensor([5.0])), "detach_": (torch.ones(1),),
    "dropout_": (torch.ones(2), 0.0, True), "alpha_dropout_": (torch.ones(2), 0.0, True), "feature_dropout_": (torch.ones(1, 2), 0.0, True),
    "feature_alpha_dropout_": (torch.ones(1, 2), 0.5, False), "rrelu_": (torch.tensor([-2.0, 1.0]), 0.5, 0.5),
}
for name, args in calls.items():
    it = args[0]
    found = getattr(torch, name)(*args)
    show(name, found)
    print(found is it, it.tolist() == found.tolist())
print(list(torch.resize_as_(torch.zeros(3), torch.zeros(2, 2)).shape))

print("# modules")
print(torch.xpu.is_available(), torch.mps.is_available(), torch.mtia.is_available(), torch.xpu.device_count(), torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device())
print(isinstance(2, torch.types.Number), isinstance("a", torch.types.Number), torch.types.Tensor is torch.Tensor, torch.version.hip, torch.version.debug)
print(torch.functional.norm is torch.norm, torch.functional.einsum is torch.einsum)
for name in ("flash", "math", "mem_efficient", "cudnn"):
    enable, enabled = getattr(torch.backends.cuda, f"enable_{name}_sdp"), getattr(torch.backends.cuda, f"{name}_sdp_enabled")
    enable(False)
    print(name, enabled())
    enable(True)
    print(enabled())
from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals

add_safe_globals([dict, set])
print(dict in get_safe_globals(), set in get_safe_globals(), list in get_safe_globals())
with safe_globals([list]):
    print(list in get_safe_globals(), dict in get_safe_globals())
print(list in get_safe_globals(), dict in get_safe_globals())
clear_safe_globals()
print(get_safe_globals())
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch.autograd.variable import Variable
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly

print(no_grad is torch.no_grad, enable_grad is torch.enable_grad, inference_mode is torch.inference_mode, set_grad_enabled is torch.set_grad_enabled)
print(Variable is torch.autograd.Variable, detect_anomaly is torch.autograd.detect_anomaly)
from torch.distributions.utils import broadcast_all, clamp_probs, euler_constant, lazy_property, logits_to_probs, probs_to_logits, tril_matrix_to_vec, vec_to_tril_matrix

m = values(2, 3, 3)
for diag in (-1, 0, 1, 2):
    vec = tril_matrix_to_vec(m, diag)
    show(f"vec {diag}", vec)
    show(f"matrix {diag}", vec_to_tril_matrix(vec, diag))
graded("gradient", lambda v: vec_to_tril_matrix(v) @ values(3, 2), values(2, 6))
attempt("diag", lambda: tril_matrix_to_vec(m, 3))
attempt("count", lambda: vec_to_tril_matrix(values(5)))
show("odds", [probs_to_logits(torch.tensor([0.2, 0.5]), True), logits_to_probs(torch.tensor([0.2, 0.5])), clamp_probs(torch.tensor([0.0, 1.0])), broadcast_all(1.0, torch.zeros(2)), euler_constant])


class Squared:
    def __init__(self, x):
        self.x, self.count = x, 0

    @lazy_property
    def square(self):
        self.count += 1
        return self.x * self.x


held = Squared(torch.tensor(3.0, requires_grad=True))
with torch.no_grad():
    print(held.square.item(), held.square.requires_grad, held.count)
from torch.nn.utils.stateless import functional_call

layer = filled(nn.Linear(3, 2))
show("stateless", functional_call(layer, {"bias": torch.ones(2, dtype=torch.float64)}, (x,)))

print("# backward passes that are wrapped")
from torch.autograd.function import Function, once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


x = torch.tensor(2.0, requires_grad=True)
print(torch.autograd.grad(Cube.apply(x), x)[0].item(), Function is torch.autograd.Function)
(slope,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
print(slope.item(), slope.requires_grad)
refused("no tape", lambda: slope.backward())
weight = torch.tensor(1.0, requires_grad=True)
(slope,) = torch.autograd.grad(Cube.apply(x), x, weight, create_graph=True)
print(slope.item(), slope.requires_grad)
attempt("twice", lambda: slope.backward())

print("# autocast in functions")
from torch.amp import custom_bwd, custom_fwd


class Product(Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        print(a.dtype, b.dtype, (a @ b).dtype)
        return a @ b

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        print((a @ b).dtype)
        return grad @ b.T, a.T @ grad


class Kept(Function):
    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a @ a

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        print((a @ a).dtype, torch.is_autocast_enabled("cpu"))
        return grad.float() @ a.T + a.T @ grad.float()


half = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
with torch.autocast("cpu", torch.bfloat16):
    out = Product.apply(half, half)
    kept = Kept.apply(torch.ones(2, 2, requires_grad=True))
out.sum().backward()
kept.sum().backward()
print(half.grad, kept.dtype)
Product.apply(half, half)
attempt("device", lambda: custom_fwd(lambda ctx: None, device_type=3))
scaler = torch.amp.GradScaler("cpu")
scaler.set_growth_factor(3.0)
scaler.set_backoff_factor(0.25)
scaler.set_growth_interval(7)
print(scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval())
