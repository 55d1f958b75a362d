"""torch.func of functions whose arguments and results are dicts, lists and tuples of tensors; batches of them; modules as functions."""

from torch.func import (
    functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, replace_all_batch_norm_modules_, stack_module_state, vjp, vmap,
)

net = filled(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
params = {name: value.detach() for name, value in net.named_parameters()}
x = values(3)


def f(params, x):
    return functional_call(net, params, (x,))


print("# Jacobians")
for make in (jacrev, jacfwd):
    show("by a dict", make(f)(params, x))
    show("by both", make(f, argnums=(0, 1))(params, x))
    show("by one", make(f, argnums=1)(params, x))
    show("of a dict", make(lambda x: {"a": x * x, "b": [x.sum(), x.prod()]})(x))
    show("with more", make(lambda x: (x * x, {"x": x + 1}), has_aux=True)(x))
    show("of a tuple by a list", make(lambda xs: (xs[0] * xs[1], xs[1].sum()))([x, x + 1]))
print(jacrev(lambda x: x * 2)(x.clone().requires_grad_()).requires_grad, jacrev(lambda x: x * 2)(x).requires_grad)
show("in parts", jacrev(lambda x: x * x, chunk_size=2)(x))
show("by both, one output", hessian(lambda x, y: (x * y * y).sum(), argnums=(0, 1))(x, x + 1))
show("of several outputs", hessian(lambda x: x**3)(x))
show("by a dict", hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": x, "b": x + 2}))
show("twice", jacrev(jacrev(lambda x: x.prod()))(x))
graded("gradient of a Jacobian", lambda x: jacrev(lambda x: x**3)(x), x)
show("grad of jacrev", grad(lambda x: jacrev(lambda x: x**3)(x).sum())(x))
show("batch", vmap(jacrev(f), (None, 0))(params, values(2, 3)))
refused("no tensor", lambda: jacrev(lambda x: x * 2)(3.0))
attempt("argnums", lambda: grad(lambda a, b: (a * b).sum(), argnums=3)(x, x))
refused("argnums", lambda: jacrev(lambda a: a, argnums=(0, 1))(x))
refused("gives no tensor", lambda: jacrev(lambda x: 3.0)(x))

print("# products")
output, product = vjp(lambda p: {"y": f(p, x), "n": p["0.bias"].sum()}, params)
show("output", output)
show("product", product({"y": torch.ones(2, dtype=torch.float64), "n": torch.tensor(2.0, dtype=torch.float64)}))
show("again", product({"y": values(2), "n": torch.tensor(0.0, dtype=torch.float64)})[0]["0.bias"])
output, product, more = vjp(lambda a, b: (a * b, [a]), x, x + 1, has_aux=True)
show("with more", [output, product(torch.ones(3, dtype=torch.float64)), more])
refused("other cotangents", lambda: product((x, x)))
output, found = jvp(f, (params, x), (params, x))
show("jvp", [output, found])
show("jvp of a dict", jvp(lambda a: {"s": a.sum(), "q": a * a}, (x,), (values(3, seed=2),)))
show("jvp with more", jvp(lambda a: (a * a, a + 1), (x,), (x,), has_aux=True))
show("jvp of a gradient", jvp(grad(lambda a: (a**3).sum()), (x,), (x + 1,)))
attempt("no tuple", lambda: jvp(lambda a: a, x, (x,)))
refused("other tangents", lambda: jvp(lambda a: a, (x,), (x[:2],)))
output, product = linearize(lambda a, b: a * b * b, x, x + 1)
show("linearize", [output, product(x, x), product(x * 0, x)])

print("# batches")
stacks = {"a": values(4, 3), "b": [values(3, 4, seed=2), torch.tensor(2.0, dtype=torch.float64)]}
show("one dim for all", vmap(lambda p: p["a"] * p["c"])({"a": values(4, 3), "c": values(4, 3, seed=3)}))
show("a dim for each", vmap(lambda p: p["a"] * p["b"][0] + p["b"][1], in_dims=({"a": 0, "b": [1, None]},))(stacks))
show("a dim for some", vmap(lambda p, y: p[0] * p[1] + y, in_dims=(0, None))((values(4, 3), values(4, 3, seed=2)), x))
show("of a dict", vmap(lambda a: {"s": a.sum(), "t": (a, a * 2)})(values(4, 3)))
show("out dims", vmap(lambda a: {"s": a, "t": (a, a * 2)}, out_dims={"s": 0, "t": (1, 0)})(values(4, 3)))
show("out dims of a tuple", vmap(lambda a: (a, a * 2), out_dims=(1, 0))(values(4, 3)))
show("per sample", vmap(grad(lambda p, x: f(p, x).sum()), in_dims=(None, 0))(params, values(2, 3)))
refused("other form", lambda: vmap(lambda p: p["a"], in_dims=([0, 1],))({"a": x}))
for dims in ({"b": 0}, {"a": 0, "b": 0}, [0]):
    try:
        show(f"{dims} for a dict", vmap(lambda p: p["a"] * 2, in_dims=(dims,))({"a": x}))
    except ValueError:
        print(dims, "for a dict: ValueError")
refused("a number", lambda: vmap(lambda a, n: a * n)(values(4, 3), 2))
refused("sizes", lambda: vmap(lambda p: p["a"].sum() + p["b"].sum())({"a": x, "b": values(2)}))
refused("gives a number", lambda: vmap(lambda a: 3)(x))

print("# modules")
models = [filled(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), seed=seed) for seed in (1, 2, 3)]
stacked, buffers = stack_module_state(models)
print([(name, list(it.shape), it.requires_grad, it.is_leaf) for name, it in stacked.items()], [(name, list(it.shape), it.dtype) for name, it in buffers.items()])
show("stacked", stacked)
for model in models:
    model.eval()
stacked, buffers = stack_module_state(models)
data = values(5, 3)
found = vmap(lambda p, b: functional_call(models[0], (p, b), (data,)), (0, 0))(stacked, buffers)
show("ensemble", found)
show("one by one", [model(data) for model in models])
found.sum().backward()
show("gradient", stacked["0.weight"].grad)
attempt("none", lambda: stack_module_state([]))
attempt("modes", lambda: stack_module_state([models[0], filled(nn.Sequential(nn.Linear(3, 2)))]))
attempt("classes", lambda: stack_module_state([nn.Linear(3, 2), nn.Bilinear(1, 1, 1)]))
frozen = nn.Linear(3, 2)
frozen.weight.requires_grad_(False)
attempt("trained and not", lambda: stack_module_state([nn.Linear(3, 2), frozen]))
root = nn.Sequential(nn.BatchNorm2d(2), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(1, 1)))
print(replace_all_batch_norm_modules_(root) is root, root[0].running_mean, root[0].track_running_stats, root[1][0].running_var, list(root.state_dict()))
show("functionalize", functionalize(lambda a: a.clone().add_(1))(x))
refused("remove", lambda: functionalize(lambda a: a, remove="views"))
