# Weights that every version and PyTorch make of the same numbers, by exact arithmetic, whatever they draw.
import torch
import torch.nn.functional as F
from torch import nn


def numbers(shape, seed):
    count = 1
    for size in shape:
        count = count * size
    return ((torch.arange(count) * 37 + seed) % 61 / 64 - 0.5).reshape(shape)


def fill(module):
    with torch.no_grad():
        for seed, weight in enumerate(module.parameters()):
            weight.copy_(numbers(weight.shape, 11 * seed + 5))
    return module


