"""Methods that change a tensor in place: values, the same object, gradients through them, and changes while nothing is recorded."""

x0 = values(3, 4)
for name, arguments in [
    ("unsqueeze_", (0,)), ("squeeze_", ()), ("squeeze_", (0,)), ("t_", ()), ("transpose_", (0, 1)), ("swapaxes_", (0, 1)), ("clip_", (-0.5, 0.5)),
    ("clamp_", (-0.5, 0.5)), ("clamp_", (None, torch.tensor(0.1, dtype=torch.float64))), ("clamp_min_", (0.0,)), ("clamp_max_", (0.0,)), ("true_divide_", (2,)), ("divide_", (2,)),
    ("multiply_", (2,)), ("subtract_", (2,)), ("negative_", ()), ("absolute_", ()), ("arctan_", ()), ("fix_", ()), ("sinc_", ()), ("erfc_", ()),
    ("float_power_", (2,)), ("addmm_", (values(3, 2), values(2, 4))), ("addr_", (values(3), values(4))), ("renorm_", (2, 0, 1.0)),
    ("index_put_", ((torch.tensor([0, 2]),), torch.tensor(1.0, dtype=torch.float64))), ("put_", (torch.tensor([0, 5]), values(2))),
    ("masked_scatter_", (x0 > 0, values(12))), ("masked_fill_", (x0 > 0, 3.0)), ("index_add_", (0, torch.tensor([0, 2]), values(2, 4))),
    ("lerp_", (values(3, 4, seed=3), 0.3)), ("addcmul_", (values(3, 4, seed=3), values(3, 4, seed=4))), ("tril_", ()), ("cumsum_", (1,)),
    ("relu_", ()), ("sigmoid_", ()), ("pow_", (2,)), ("scatter_", (1, torch.tensor([[0, 1], [1, 2], [2, 3]]), values(3, 2))),
]:
    print("#", name)
    x = x0.clone()
    same = getattr(x, name)(*arguments)
    show(name, [same, x])
    print(same is x)
    leaf = x0.clone().requires_grad_()
    result = leaf * 1.5
    getattr(result, name)(*arguments)
    weigh(result).backward()
    show("gradient", leaf.grad)
for name, arguments in (("geometric_", (0.4,)), ("log_normal_", ()), ("cauchy_", ()), ("exponential_", ())):
    x = torch.zeros(2000)
    print(name, getattr(x, name)(*arguments) is x, bool((x != 0).all()), round(x.median().item()))
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    w -= 0.5
    w.mul_(2)
    w[0] = 7
    w.clamp_(max=3)
(w * w).sum().backward()
print(w, w.grad)
w = torch.ones(2, 3, requires_grad=True)
with torch.no_grad():
    w[0].fill_(2)
    w.view(-1)[5] = 4
    w.t()[1] += 1
(w * w).sum().backward()
print(w, w.grad)
w.data.add_(1)
w.detach()[0, 1] = 7
print(w)
