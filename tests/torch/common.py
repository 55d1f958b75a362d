"""What all programs of this folder share; it is put before each of them."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def values(*shape, seed=1):
    """Numbers in -1 .. 1 that are the same everywhere."""
    count = 1
    for size in shape:
        count *= size
    numbers = [math.sin(1.7 * seed + 2.3 * at + 0.01 * at * at) for at in range(count)]
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape)


def filled(layer, seed=1):
    """A layer in float64 whose parameters are fixed numbers."""
    layer = layer.double()
    with torch.no_grad():
        for at, parameter in enumerate(layer.parameters()):
            parameter.copy_(values(*parameter.shape, seed=seed + at))
    return layer


def show(name, value):
    """Prints shape and numbers of tensors, also inside tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        numbers = value.detach().reshape(-1).double().tolist()
        print(name, str(value.dtype), list(value.shape), " ".join(f"{number:.9g}" for number in numbers))
    elif isinstance(value, (tuple, list)):
        for at, item in enumerate(value):
            show(f"{name}[{at}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            show(f"{name}[{key}]", item)
    elif isinstance(value, float):
        print(name, f"{value:.9g}")
    else:
        print(name, value)


def refused(name, function):
    try:
        function()
        print(name, "gives a result")
    except Exception:
        print(name, "is refused")


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


def weigh(outputs):
    """One number that depends on every output."""
    total = 0
    for at, output in enumerate(tensors_of(outputs)):
        if output.dtype == torch.float64:
            total = total + (output * values(*output.shape, seed=at + 5)).sum()
    return total


def check(name, module, *inputs):
    """Output, gradients, and the output after 20 steps of SGD, from the same start."""
    print("#", name)
    print(repr(module).replace("NonDynamicallyQuantizable", ""))
    module = module.double()
    for at, parameter in enumerate(module.parameters()):
        with torch.no_grad():
            parameter.copy_(values(*parameter.shape, seed=at + 2) * 0.5)
    for value in tensors_of(inputs):
        if value.dtype == torch.float64:
            value.requires_grad_()
    output = module(*inputs)
    show("output", output)
    weigh(output).backward()
    for key, parameter in module.named_parameters():
        show(f"grad {key}", parameter.grad)
    for value in tensors_of(inputs):
        if value.requires_grad:
            show("grad of input", value.grad)
            value.requires_grad_(False)
    parameters = list(module.parameters())
    if parameters:
        optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.5)
        for _ in range(20):
            optimizer.zero_grad()
            loss = (weigh(module(*inputs)) - 1) ** 2
            loss.backward()
            optimizer.step()
        show("trained", loss)
    for key, buffer in module.named_buffers():
        show(f"buffer {key}", buffer)
    module.eval()
    with torch.no_grad():
        show("eval", module(*inputs))


def graded(name, function, *inputs):
    """What a function gives, and the gradients of its inputs."""
    inputs = [it.clone().requires_grad_() if isinstance(it, torch.Tensor) and it.is_floating_point() else it for it in inputs]
    output = function(*inputs)
    show(name, output)
    total = weigh(output)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        total.backward()
        for it in inputs:
            if isinstance(it, torch.Tensor):
                show(f"{name}, gradient", it.grad)


def attempt(name, function):
    """What a function gives, or how it fails."""
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__, str(error).split(";")[0])


def describe_distribution(name, make, parameters, draws):
    """All that a distribution says about given values, and the gradients of it."""
    print("#", name)
    parameters = [parameter.clone().requires_grad_() for parameter in parameters]
    d = make(*parameters)
    print(repr(d))
    show("shapes", [list(d.batch_shape), list(d.event_shape), d.has_rsample])
    show("moments", [d.mean, d.variance, d.stddev])
    log_prob = d.log_prob(draws)
    show("log_prob", log_prob)
    weigh(log_prob).backward()
    show("grad", [parameter.grad for parameter in parameters])
    entropy = d.entropy()
    show("entropy", entropy)
    if entropy.requires_grad:
        for parameter in parameters:
            parameter.grad = None
        weigh(make(*parameters).entropy()).backward()
        show("grad of entropy", [parameter.grad for parameter in parameters])
    sample = d.sample((3, 2))
    print("sample", list(sample.shape), sample.dtype, sample.requires_grad, list(d.sample().shape))
    if d.has_rsample:
        print("rsample", list(d.rsample((5,)).shape), d.rsample().requires_grad)
    print("expanded", list(d.expand((4,) + tuple(d.batch_shape)).sample().shape))
