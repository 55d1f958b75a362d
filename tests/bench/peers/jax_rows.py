"""Steps of training and inference in JAX, jitted, with donated parameters: the rows of the workloads `mlp` and `networks` under their names.

    python3 tests/bench/peers/jax_rows.py THREADS
"""

import os

from common import THREADS, clock

# XLA takes as many threads as the process may run on.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

CLOCK = clock()
RATE = 0.01


def spread(count, scale):
    return (np.sin(np.arange(count, dtype=np.float32) * np.float32(0.7311)) * np.float32(scale)).astype(np.float32)


def filled(shapes):
    """Fixed weights, as `fill` in `torch.ng` gives them; the shapes are PyTorch's."""
    return [jnp.asarray(spread(int(np.prod(it)), 1.0 / it[-1] ** 0.5).reshape(it)) for it in shapes]


def linear(x, w, b):
    return x @ w.T + b


def conv(x, w, stride=1, padding=1):
    dims = ("NCHW", "OIHW", "NCHW")
    return lax.conv_general_dilated(x, w, (stride, stride), [(padding, padding)] * 2, dimension_numbers=dims)


def max_pool(x, size, stride, padding=0):
    pads = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride), pads)


def layer_norm(x, w, b):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * w + b


def cross_entropy(scores, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1).mean()


def mlp(p, x):
    for at in range(0, len(p) - 2, 2):
        x = jax.nn.relu(linear(x, p[at], p[at + 1]))
    return linear(x, p[-2], p[-1])


def cnn(p, x):
    for at in [0, 2]:
        x = max_pool(jax.nn.relu(conv(x, p[at]) + p[at + 1][:, None, None]), 2, 2)
    return linear(x.reshape(len(x), -1), p[4], p[5])


def block(p, x, heads, causal):
    """The parameters in the order of `Block`: first norm, attention (qkv, out), second norm, the two layers of the MLP."""
    batch, length, width = x.shape
    q, k, v = jnp.split(linear(layer_norm(x, p[0], p[1]), p[2], p[3]), 3, axis=2)
    q, k, v = [it.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3) for it in [q, k, v]]
    scores = q @ k.swapaxes(2, 3) * (width // heads) ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    x = x + linear(y, p[4], p[5])
    y = jax.nn.gelu(linear(layer_norm(x, p[6], p[7]), p[8], p[9]), approximate=False)
    return x + linear(y, p[10], p[11])


def block_shapes(width):
    norm, out = [(width,)] * 2, [(width, width), (width,)]
    return [*norm, (3 * width, width), (3 * width,), *out, *norm, (4 * width, width), (4 * width,), (width, 4 * width), (width,)]


def gpt(p, tokens):
    x = p[0][tokens] + p[1]
    x = block(p[2:14], x, 4, True)
    return linear(layer_norm(x, p[14], p[15]), p[16], p[17]).reshape(-1, 256)


GPT = [(256, 128), (64, 128), *block_shapes(128), (128,), (128,), (256, 128), (256,)]
STAGES = [(64, 64, 1), (128, 64, 2), (256, 128, 2), (512, 256, 2)]


def resnet_shapes():
    norm = lambda n: [(n,), (n,)]
    shapes = [(64, 3, 7, 7), *norm(64)]
    for n, before, stride in STAGES:
        for ins, step in [(before, stride), (n, 1)]:
            shapes += [(n, ins, 3, 3), *norm(n), (n, n, 3, 3), *norm(n)]
            shapes += [(n, ins, 1, 1), *norm(n)] if step != 1 else []
    return [*shapes, (1000, 512), (1000,)]


def resnet18(p, x):
    """In evaluation, with means of 0 and variances of 1."""
    p = iter(p)

    def normed(x, stride=1, padding=1):
        x = conv(x, next(p), stride, padding)
        w, b = next(p), next(p)
        return x * (w / np.sqrt(np.float32(1 + 1e-5)))[:, None, None] + b[:, None, None]

    x = max_pool(jax.nn.relu(normed(x, 2, 3)), 3, 2, 1)
    for _, _, stride in STAGES:
        for step in [stride, 1]:
            y = normed(jax.nn.relu(normed(x, step)))
            x = jax.nn.relu(y + (x if step == 1 else normed(x, step, 0)))
    return linear(x.mean((2, 3)), next(p), next(p))


def adam(state, grads):
    """`(step, parameters, means, means of squares)` after a step, by the formula of Kingma & Ba 2014, algorithm 1."""
    t, p, m, v = state
    t = t + 1
    m = [0.9 * a + 0.1 * g for a, g in zip(m, grads)]
    v = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads)]
    scale = RATE / (1 - 0.9**t)
    p = [w - scale * a / (jnp.sqrt(b) / jnp.sqrt(1 - 0.999**t) + 1e-8) for w, a, b in zip(p, m, v)]
    return t, p, m, v


def measure_training(name, network, shapes, x, y, is_adam=False):
    x, y, p = jnp.asarray(x), jnp.asarray(y), filled(shapes)
    zeros = [jnp.zeros_like(it) for it in p]
    state = (jnp.float32(0), p, zeros, [it + 0 for it in zeros]) if is_adam else p

    def step(state, x, y):
        p = state[1] if is_adam else state
        loss, grads = jax.value_and_grad(lambda p: cross_entropy(network(p, x), y))(p)
        return loss, adam(state, grads) if is_adam else [w - RATE * g for w, g in zip(p, grads)]

    step = jax.jit(step, donate_argnums=0)
    for _ in range(20):
        loss, state = step(state, x, y)
    CLOCK["checks"][f"{name} traced"] = float(loss)
    kept = [state]

    def once():
        loss, kept[0] = step(kept[0], x, y)
        loss.block_until_ready()

    CLOCK["results"][f"{name} traced"] = CLOCK["seconds"](once)


def measure_inference(name, network, shapes, x):
    run, p, x = jax.jit(network), filled(shapes), jnp.asarray(x)
    CLOCK["checks"][f"{name} traced"] = float((run(p, x) ** 2).mean())
    CLOCK["results"][f"{name} traced"] = CLOCK["seconds"](lambda: run(p, x).block_until_ready(), 1.5)


MLP = [(128, 64), (128,), (128, 128), (128,), (10, 128), (10,)]
for batch in [8, 64, 512]:
    x, y = spread(batch * 64, 1.0).reshape(batch, 64), np.arange(batch) % 10
    measure_training(f"mlp {batch}", mlp, MLP, x, y)
    if batch == 8:
        measure_training(f"mlp adam {batch}", mlp, MLP, x, y, True)
y = np.arange(64) % 10
measure_training("cnn28 64", cnn, [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 1568), (10,)], spread(64 * 784, 1.0).reshape(64, 1, 28, 28), y)
measure_training("mlp784 64", mlp, [(128, 784), (128,), (10, 128), (10,)], spread(64 * 784, 1.0).reshape(64, 784), y)
tokens = np.arange(8 * 64).reshape(8, 64) * 37 % 256
measure_training("gpt", gpt, GPT, tokens, ((tokens * 3 + 1) % 256).flatten(), True)
measure_inference("resnet18", resnet18, resnet_shapes(), spread(3 * 224 * 224, 1.0).reshape(1, 3, 224, 224))
measure_inference("vit block", lambda p, x: block(p, x, 12, False), block_shapes(768), spread(197 * 768, 1.0).reshape(1, 197, 768))
CLOCK["report"]()
