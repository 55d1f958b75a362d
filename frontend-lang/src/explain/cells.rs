//! What is told of a cell before or beside running it: mistakes in the text, and lints.

use super::Topic;

/// Codes of diagnostics, sorted.
pub(super) static ALL: &[Topic] = &[
    Topic {
        code: "broadcast-loss",
        title: "A loss that compares every row with every other",
        why: "[N, 1] with [N] broadcasts to [N, N]. A loss of that has one number as ever, and training goes on and learns the mean of all targets. Differences of all pairs, made on purpose, are not warned of; a mean of them that becomes a loss is.",
        next: "give both one shape: `x.squeeze(1)` or `y[:, None]`",
        example: "import torch\nimport torch.nn.functional as F\nF.mse_loss(torch.zeros(4, 1, requires_grad=True), torch.zeros(4)).backward()",
    },
    Topic {
        code: "eval-dump",
        title: "A model that is dumped as it trains",
        why: "A module in training mode drops out at random and measures the batch. A file with that gives other results than the model in use.",
        next: "call `.eval()` on the model, then the function once more, then dump it",
        example: "import torch\nfrom notegrad import trace\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))\n@trace\ndef predict(x):\n    return net(x)\nout = predict(torch.ones(1, 3))\nsize = predict.dump('net.ngm')",
    },
    Topic {
        code: "eval-mode",
        title: "Accuracy that is measured in training mode",
        why: "In training mode dropout leaves out units at random, and batch norm measures the batch at hand and moves its running averages. Predictions are then worse than they could be and depend on what else is in the batch. Who wants that calls `model.train()` before it, and is not warned.",
        next: "call `model.eval()` before, and `model.train()` before training goes on",
        example: "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx, y = torch.ones(8, 4), torch.zeros(8).long()\ntorch.nn.functional.cross_entropy(net(x), y).backward()\nopt.step()\nwith torch.no_grad():\n    print((net(x).argmax(1) == y).float().mean())",
    },
    Topic {
        code: "float-eq",
        title: "Floats that differ only by rounding",
        why: "0.1 + 0.2 is 0.30000000000000004: most decimal fractions have no exact float, and each step rounds.",
        next: "compare with `math.isclose(a, b)`, for tensors `torch.allclose(a, b)`",
        example: "0.1 + 0.2 == 0.3",
    },
    Topic {
        code: "kept-graph",
        title: "A sum that keeps the graph of every loss",
        why: "A loss is a tensor that remembers how it was computed. A sum of such tensors remembers all of them, so memory grows with every step, and nobody can go back through it: `backward()` has used the graphs up. Nothing is raised.",
        next: "add the number alone: `total += loss.item()`",
        example: "import torch\nw = torch.ones(2, requires_grad=True)\ntotal = 0.0\nfor i in range(3):\n    loss = (w * w).sum()\n    loss.backward()\n    total += loss\n    w.grad = None",
    },
    Topic {
        code: "nll-loss",
        title: "Probabilities where their logarithms are meant",
        why: "`nll_loss` picks the entry of the right class and changes its sign: with logarithms of probabilities that is cross entropy, with probabilities it is not, and training is slow. Nothing is raised.",
        next: "use `log_softmax` before it, or give the scores to `cross_entropy`",
        example: "import torch\nimport torch.nn.functional as F\nF.nll_loss(torch.zeros(2, 3).softmax(1), torch.tensor([0, 1]))",
    },
    Topic {
        code: "not-in-language",
        title: "Python that is not in this language",
        why: "A few parts of Python are left out, among them `async` and `await`. The message names what stands there and what to use.",
        next: "write what the help of the message says",
        example: "async def f():\n    pass",
    },
    Topic {
        code: "remove-in-loop",
        title: "A list that gets shorter while a loop goes over it",
        why: "A loop over a list counts places. When an item is removed, all behind it move one place forward, and the next one stands where the loop has been: it is passed over. Nothing is raised.",
        next: "loop over a copy, `for x in list(items)`, or build a new list of what stays: `[x for x in items if keep(x)]`",
        example: "items = [1, 2, 2, 3]\nfor x in items:\n    if x == 2:\n        items.remove(x)\nitems",
    },
    Topic {
        code: "sigmoid-loss",
        title: "Sigmoid twice",
        why: "`binary_cross_entropy_with_logits` and BCEWithLogitsLoss take scores and apply sigmoid themselves. Applied before as well, all probabilities lie between 0.5 and 0.73, and nothing is raised.",
        next: "give the scores to the loss, or use `BCELoss` for probabilities",
        example: "import torch\ntorch.nn.BCEWithLogitsLoss()(torch.zeros(2).sigmoid(), torch.ones(2))",
    },
    Topic {
        code: "softmax-loss",
        title: "Probabilities where scores are meant",
        why: "`cross_entropy` applies softmax itself. Applied twice, the probabilities are nearly alike, training is slow and ends badly, and nothing is raised.",
        next: "give the scores to the loss, and apply softmax only to look at probabilities",
        example: "import torch\nimport torch.nn.functional as F\nF.cross_entropy(torch.zeros(2, 3).softmax(1), torch.tensor([0, 1]))",
    },
    Topic {
        code: "step-backward",
        title: "A step without new gradients",
        why: "`optimizer.step()` moves the parameters along the gradients that `backward()` has put into `.grad`. Without a `backward()` there are none, or those of the step before, and the loss that was computed does not count. Nothing is raised.",
        next: "call `loss.backward()` before `optimizer.step()`",
        example: "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n    opt.zero_grad()\n    loss = (w * w).sum()\n    opt.step()",
    },
    Topic {
        code: "syntax",
        title: "A text that is no program",
        why: "The text does not follow the grammar of Python, so nothing of the cell has run. The mark is where that shows first; the slip is there or just before.",
        next: "look at the place of the mark, and just before it: brackets, quotes, colons, commas",
        example: "for i in range(3)\n    print(i)",
    },
    Topic {
        code: "unregistered",
        title: "Modules in a plain list, which a module does not find",
        why: "A module finds the modules and parameters that are its own attributes, or stand in its containers. Those in a plain list, tuple or dict are not among its `parameters()`: an optimizer does not train them, `state_dict` does not save them, and `to` does not move them. Nothing is raised.",
        next: "use `nn.ModuleList` or `nn.ModuleDict` (`nn.ParameterList`, `nn.ParameterDict` for parameters)",
        example: "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]\nlen(list(Net().parameters()))",
    },
    Topic {
        code: "unused-result",
        title: "A result that nobody keeps",
        why: "Operations on tensors compute a new tensor; only those with `_` at the end change the one that they are called on. A line that does nothing with its result most often wants one of the two.",
        next: "assign the result, or use the form in place, with `_` at the end",
        example: "import torch\nx = torch.zeros(2)\nx.add(1)\nprint(x)",
    },
    Topic {
        code: "zero-grad",
        title: "Gradients of the step before are still there",
        why: "`backward()` adds to the gradients that are there. If the parameters were changed since these were computed, the sum belongs to no point at all. Several `backward()` before one step are not warned of.",
        next: "call `optimizer.zero_grad()` before `backward()`",
        example: "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n    (w * w).sum().backward()\n    opt.step()",
    },
];
