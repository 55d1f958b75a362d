"""Programs made at random in which much is not known before they run: elements of tensors, draws, callbacks, aliases, long loops.

    python3 tests/differential/effects.py --seed 1 --count 1000 > programs.json

Writes a list of {"code": ...}. Each program changes something by ways that are hard to follow, then looks at it in a way that fails if
nothing has changed. `tests/tests/check.rs` asks of each whether the check refuses what runs.
"""

import argparse
import json
import random

SETUP = """import math
import random
import torch
import torch.nn.functional as F
from torch import nn

class Agent:
    total = 0
    def __init__(self):
        self.energy = 0
        self.seen = []
    def eat(self, food=1):
        self.energy += food
        Agent.total += 1
        self.seen.append(food)
        return self

log, kept = [], []
table = {'a': [], 'b': []}
counts = {}
bins = [[], []]
grid = [[0] * 3 for _ in range(3)]
agents = [Agent(), Agent()]
def note(x):
    log.append(x)
    return x
def keep(x, store=kept):
    store.append(x)
    return random.random()
def steps(n):
    for i in range(n):
        log.append(i)
        yield i
w = torch.ones(3, requires_grad=True)
x = torch.randn(8, 3)
y = torch.randint(0, 2, (8,))
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
"""

# Whole numbers that are not known, of a size that fits.
INDEX = [
    "random.randrange(2)",
    "torch.randint(0, 2, (1,)).item()",
    "int(y[0])",
    "x.sum(1)[:2].argmax().item()",
    "(x[0] > -9).sum().item() - 2",
    "y.tolist()[0]",
]
BATCH = ["x", "x[x[:, 0] > -9]", "x[torch.randperm(8)[:4]]", "x[random.randrange(3):]", "x * random.random()", "x[(y >= 0).nonzero()[:, 0]]"]
LOSS = [
    "net({b}).pow(2).mean()",
    "(w * {i}).sum() + net({b}).sum()",
    "sum(net(r).sum() for r in {b})",
    "F.cross_entropy(net({b}), torch.zeros(len({b}), dtype=torch.long))",
    "max(net({b}).flatten())",
]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def pick(self, items):
        return self.r.choice(items)

    def name(self):
        self.n += 1
        return f"v{self.n}"

    def index(self):
        return self.pick(INDEX)

    def change(self):
        """One or more lines that change something, and lines that see it."""
        r, i = self.r, self.index()
        n = r.choice([2, 3, 40, 900, 5000])
        at = r.randrange(n)
        loss = self.pick(LOSS).format(b=self.pick(BATCH), i=i)
        v = self.name()
        return r.choice([
            (f"bins[{i}].append(1)", ["[b for b in bins if b][0]", "1 / sum(map(len, bins))"]),
            (f"random.choice(agents).eat()", ["1 / sum(a.energy for a in agents)", "1 / Agent.total", "[a for a in agents if a.seen][0].seen[0]"]),
            (f"{v} = agents[{i}]\n{v}.energy = 2", ["1 / max(a.energy for a in agents)"]),
            (f"table[random.choice('ab')] += [1]", ["[v for v in table.values() if v][0]"]),
            (f"counts['ab'[{i}]] = 1", ["list(counts)[0]", "1 / len(counts)"]),
            (f"grid[{i}][{self.index()}] += 1", ["1 / sum(map(sum, grid))"]),
            (f"random.choice([note, kept.append])({i})", ["(log + kept)[0]"]),
            (f"{v} = max([1, 2, 3], key=keep)", ["kept[2]", "1 / len(kept)"]),
            (f"{v} = sorted([3, 1], key=lambda z: (log.append(z), random.random())[1])", ["log[1]"]),
            (f"{v} = any(note(t) > 9 for t in x.sum(1).tolist())", ["log[7]", "1 / len(log)"]),
            (f"{v} = list(filter(lambda t: note(t) is t and t.sum() > 9, x))", ["log[7]"]),
            (f"{v} = log\n{v} += x.sum(1).tolist()", ["log[0]", "log[7]"]),
            (f"for i in range({n}):\n    if i == {at}:\n        log.append(i)", ["log[0]", "1 / len(log)"]),
            (f"for i in range({n}):\n    if i == {at}:\n        note(i)", ["log[0]"]),
            (f"{v} = [i for i in range({n}) if i == {at}]", [f"{v}[0]", f"max({v})"]),
            (f"{v} = {{i: i for i in range({n}) if i != {at}}}", [f"len({v}) / {n - 1}", f"list({v}.values())[-1]"]),
            (f"{v} = [None] * {n}\nfor i in range({n}):\n    {v}[i] = i", [f"{v}[{at}] + 1"]),
            (f"class C{v}:\n    on = False\n    def flip(self):\n        self.on = not self.on\n{v} = C{v}()\nfor i in range({n}):\n    {v}.flip()", [f"1 / ({v}.on + {n % 2 == 0})"]),
            (f"{v} = 0\nwhile {v} < {n}:\n    {v} += 1", [f"1 / {v}", f"[0] * {v}"]),
            (f"{v} = steps({n})\nnext({v})", ["log[0]"]),
            (f"for {v} in steps({n}):\n    pass", ["log[-1] + 1", f"log[{n - 1}]", f"1 / len(log)"]),
            (f"{v} = {loss}\n{v}.backward()", ["net[0].weight.grad.norm()", "[p.grad.abs().max() for p in net.parameters()]", "net[2].bias.grad.zero_()"]),
            (f"opt.zero_grad()\n{loss}.backward()\nopt.step()", ["opt.state[net[0].weight]['momentum_buffer'].norm()", "net[0].weight.grad.shape"]),
            (f"for i in range({min(n, 900)}):\n    opt.zero_grad()\n    {loss}.backward()\n    opt.step()\n    log.append({v} if i < 0 else i)", [f"log[{min(n, 900) - 1}]", "net[0].weight.grad.norm()", "net(x).shape"]),
            (f"{v} = w.register_hook(lambda g: log.append(g))\n(w * {i} + w).sum().backward()", ["log[0]", "w.grad.norm()"]),
            (f"w.requires_grad_(random.random() < 2)\n(w * 2).sum().backward()", ["w.grad[0]"]),
            (f"with torch.set_grad_enabled(random.random() < 2):\n    {v} = (w * 2).sum()\n{v}.backward()", ["w.grad.sum()"]),
            (f"{v} = w[w > {i} - 5]\n{v}.sum().backward()", ["w.grad.shape", "w.grad * 2"]),
            (f"{v} = torch.Generator().manual_seed({r.randrange(9)})\n(w * torch.rand(3, generator={v})).sum().backward()", ["w.grad.shape"]),
            (f"def f{v}():\n    global {v}\n    {v} = [1]\n    log.append(2)\n[len, f{v}][1 if random.random() < 2 else 0]()", [f"{v}[0]", "log[0]"]),
            (f"{v} = (lambda: [log.append(k) for k in range(3)])\n[print, {v}][{i} - {i} + 1]()", ["log[2]"]),
            (f"try:\n    [1, 2, 3][{i} + 7]\nexcept IndexError:\n    log.append('caught')", ["log[0]"]),
            (f"try:\n    int('{i}') / random.random()\nexcept ValueError as error:\n    {v} = [str(error)]\nelse:\n    {v} = []", [f"{v}[0]"]),
            (f"{v} = {{Agent(): k for k in range({min(n, 40)})}}\nfor a in {v}:\n    a.eat(random.random())", [f"list({v})[0].seen[0]", "1 / Agent.total"]),
            (f"{v} = iter(log.append, None) if random.random() < 0 else map(note, range(3))\nlist({v})", ["log[2]"]),
            (f"stages = [nn.Linear(3, 1) for _ in range(3)]\nfor i in range({n}):\n    net{v} = stages[i * 3 // {n}]\n    if i % 7 == 0:\n        net{v}(x).sum().backward()", ["[s.weight.grad is None or s.weight.grad.norm() for s in stages][0]"]),
        ])

    def program(self):
        cells, lines = [SETUP], []
        for _ in range(self.r.randint(1, 4)):
            change, looks = self.change()
            lines.append(change)
            looks = self.r.sample(looks, self.r.randint(1, len(looks)))
            shown = [f"print({look})" for look in looks]
            if self.r.random() < 0.3:
                body = "\n".join(f"    {line}" for line in "\n".join(shown).split("\n"))
                shown = [f"def see{self.n}():\n{body}\nsee{self.n}()"]
            if self.r.random() < 0.4:
                cells.append("\n".join(lines))
                lines = []
            lines.extend(shown)
        cells.append("\n".join(lines))
        return cells


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    programs = [{"cells": Maker(args.seed * 1_000_003 + at).program()} for at in range(args.count)]
    programs = json.dumps(programs)
    print(programs)


if __name__ == "__main__":
    main()
