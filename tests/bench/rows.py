"""The rows of the benchmark table, in the order in which they are printed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    key: str
    """The name under which a workload reports it."""
    text: str
    unit: str = "ms"
    ratio: float | None = None
    """Aim: at least this many times as fast as the peer."""
    most: float | None = None
    """Aim: at most this, in the unit of the row."""

    def value(self, measured):
        """What is shown: seconds in the row's unit, or a rate."""
        return UNITS[self.unit](measured)

    def ratio_of(self, own, peer):
        """How many times as good as the peer; above 1 Notegrad wins."""
        return peer / own

    def aim(self):
        if self.ratio is not None:
            return f">= {self.ratio:g}x"
        return f"<= {self.most:g} {self.unit}" if self.most is not None else ""

    def met(self, own, peer):
        """Whether the aim is met; None when there is no aim, or no peer to compare with."""
        if self.most is not None:
            return self.value(own) <= self.most
        if self.ratio is None or peer is None:
            return None
        return self.ratio_of(own, peer) >= self.ratio


UNITS = {
    "ms": lambda it: it * 1e3,
    "us": lambda it: it * 1e6,
    "GFLOP/s": lambda it: 2 * 1024**3 / it / 1e9,
    "MB": lambda it: it,
}

MLP = "MLP 64-128-128-10, training step, batch"
MLP784 = "MLP 784-128-10, training step, batch"
CNN = "CNN on 1x8x8, training step, batch"
CNN28 = "CNN on 1x28x28, training step, batch"
BY_HAND = "self-attention by hand, 384 wide, 6 heads, causal mask, forwards and back"
GPT = "GPT block of 128, 4 heads, 8 x 64 tokens, training step, Adam"
RESNET50 = "GPU: ResNet-50, 64 x 3 x 224 x 224, training step, SGD"

ALL = [
    Row("mlp 8 eager", f"{MLP} 8, eager", "us", ratio=2),
    Row("mlp 8 traced", f"{MLP} 8, traced", "us", ratio=4),
    Row("mlp 8 alone", f"{MLP} 8, without_host", "us", ratio=4),
    Row("mlp adam 8 eager", f"{MLP} 8, Adam, eager", "us"),
    Row("mlp adam 8 traced", f"{MLP} 8, Adam, traced", "us"),
    Row("mlp adam 8 alone", f"{MLP} 8, Adam, without_host", "us"),
    Row("mlp parts eager", f"{MLP} 8 taken in the step, eager", "us"),
    Row("mlp parts traced", f"{MLP} 8 taken in the step, traced", "us"),
    Row("mlp 64 eager", f"{MLP} 64, eager", "us"),
    Row("mlp 64 traced", f"{MLP} 64, traced", "us"),
    Row("mlp 64 alone", f"{MLP} 64, without_host", "us"),
    Row("mlp 512 eager", f"{MLP} 512, eager", "us"),
    Row("mlp 512 traced", f"{MLP} 512, traced", "us"),
    Row("mlp 512 alone", f"{MLP} 512, without_host", "us"),
    Row("cnn 64 eager", f"{CNN} 64, eager"),
    Row("cnn 64 traced", f"{CNN} 64, traced"),
    Row("cnn 64 alone", f"{CNN} 64, without_host"),
    Row("mlp784 64 eager", f"{MLP784} 64, eager", "us"),
    Row("mlp784 64 traced", f"{MLP784} 64, traced", "us"),
    Row("mlp784 64 alone", f"{MLP784} 64, without_host", "us"),
    Row("cnn28 64 eager", f"{CNN28} 64, eager"),
    Row("cnn28 64 traced", f"{CNN28} 64, traced"),
    Row("cnn28 64 alone", f"{CNN28} 64, without_host"),
    Row("gpt eager", f"{GPT}, eager"),
    Row("gpt traced", f"{GPT}, traced"),
    Row("gpt alone", f"{GPT}, without_host"),
    Row("resnet18 eager", "ResNet-18, batch 1, inference, eager"),
    Row("resnet18 traced", "ResNet-18, batch 1, inference, traced"),
    Row("vit block eager", "ViT-B block, 197 tokens, inference, eager"),
    Row("vit block traced", "ViT-B block, 197 tokens, inference, traced"),
    Row("by hand 256 eager", f"{BY_HAND}, 4 x 256 tokens, eager"),
    Row("by hand 256 traced", f"{BY_HAND}, 4 x 256 tokens, traced"),
    Row("by hand 256 relaxed", f"{BY_HAND}, 4 x 256 tokens, traced with --relaxed"),
    Row("by hand 1024 eager", f"{BY_HAND}, 1 x 1024 tokens, eager"),
    Row("by hand 1024 traced", f"{BY_HAND}, 1 x 1024 tokens, traced"),
    Row("by hand 1024 relaxed", f"{BY_HAND}, 1 x 1024 tokens, traced with --relaxed"),
    Row("add", "add of one-element tensors, loop subtracted", "us", most=0.5),
    Row("add with loop", "add of one-element tensors, with the loop", "us"),
    Row("matmul 1024", "float32 matmul 1024 x 1024 x 1024", "GFLOP/s", ratio=0.9),
    Row("chain 1M eager", "tanh(a*x+b)*sigmoid(y)+z, 1M elements, eager"),
    Row("chain 1M traced", "tanh(a*x+b)*sigmoid(y)+z, 1M elements, traced", ratio=2),
    Row("chain 16M eager", "tanh(a*x+b)*sigmoid(y)+z, 16M elements, eager"),
    Row("chain 16M traced", "tanh(a*x+b)*sigmoid(y)+z, 16M elements, traced", ratio=5),
    Row("one op eager", "a + b of 16 elements in a function, eager", "us"),
    Row("one op traced", "a + b of 16 elements in a function, traced", "us"),
    Row("closures eager", "a function made anew for each call, eager", "us"),
    Row("closures traced", "a function made anew for each call, traced", "us"),
    Row("items eager", "20 `.item()` in a function, eager", "us"),
    Row("items traced", "20 `.item()` in a function, traced", "us"),
    Row("attributes eager", "an attribute that is another number in each call, eager", "us"),
    Row("attributes traced", "an attribute that is another number in each call, traced", "us"),
    Row("sizes eager", "a batch of another size in each call, eager", "us"),
    Row("sizes traced", "a batch of another size in each call, traced", "us"),
    Row("new size first eager", "MLP 64-128-128-10, first step at a size, eager", "us"),
    Row("new size first traced", "MLP 64-128-128-10, first step at a size, traced (recorded)", "us"),
    Row("new size second eager", "MLP 64-128-128-10, second step at a size, eager", "us"),
    Row("new size second traced", "MLP 64-128-128-10, second step at a size, traced (compiled)", "us"),
    Row("new size third eager", "MLP 64-128-128-10, third step at a size, eager", "us"),
    Row("new size third traced", "MLP 64-128-128-10, third step at a size, traced", "us"),
    Row("branches eager", "20 branches in turns, eager", "us"),
    Row("branches traced", "20 branches in turns, traced", "us"),
    Row("slices eager", "`x[at : at + 8]` inside, another place in each call, eager", "us"),
    Row("slices traced", "`x[at : at + 8]` inside, another place in each call, traced", "us"),
    Row("costs resnet50 inference", "ResNet-50 of 8 channels, inference, recording and compiling", most=300),
    Row("costs resnet50 training", "ResNet-50 of 8 channels, training step, recording and compiling"),
    Row("costs chain 1000", "1,000 ops, recording and compiling, for each", "us"),
    Row("costs chain 10000", "10,000 ops, recording and compiling, for each", "us"),
    Row("costs chain 100000", "100,000 ops, recording and compiling, for each", "us"),
    Row("costs step 1 eager", "step of 1 layer of one element, eager", "us"),
    Row("costs step 1 traced", "step of 1 layer of one element, traced", "us"),
    Row("costs step 8 eager", "step of 8 layers of one element, eager", "us"),
    Row("costs step 8 traced", "step of 8 layers of one element, traced", "us"),
    Row("costs step 64 eager", "step of 64 layers of one element, eager", "us"),
    Row("costs step 64 traced", "step of 64 layers of one element, traced", "us"),
    Row("softmax eager", "softmax of 1024 x 1024, eager"),
    Row("softmax traced", "softmax of 1024 x 1024, traced"),
    Row("softmax scaled eager", "softmax(x) * 2 + 1 of 1024 x 1024, eager"),
    Row("softmax scaled traced", "softmax(x) * 2 + 1 of 1024 x 1024, traced"),
    Row("layer norm eager", "layer_norm of 1024 x 1024, eager"),
    Row("layer norm traced", "layer_norm of 1024 x 1024, traced"),
    Row("variance eager", "variances of 1024 rows of 1024, eager"),
    Row("variance traced", "variances of 1024 rows of 1024, traced"),
    Row("in place number", "x += 1 of 10M elements", ratio=0.9),
    Row("in place tensor", "x += y of 10M elements", ratio=0.9),
    Row("in place method", "x.mul_(0.5) of 10M elements", ratio=0.9),
    Row("in place zero", "x.zero_() of 10M elements", ratio=0.9),
    Row("in place element", "x[5] = 3.0 of 10M elements", "us", most=3),
    Row("in place view", "x.view(-1)[7] = 3.0 of 10M elements", "us"),
    Row("in place momentum", "SGD with momentum, step on 2M parameters", ratio=0.9),
    Row("in place adam", "Adam, step on 2M parameters", ratio=0.9),
    Row("language loops", "language: loops over numbers", ratio=0.6),
    Row("language calls", "language: calls with defaults and keywords", ratio=0.6),
    Row("language recursion", "language: recursion (Fibonacci)", ratio=0.6),
    Row("language attributes", "language: attributes", ratio=0.6),
    Row("language methods", "language: objects and methods", ratio=0.6),
    Row("language lists", "language: lists", ratio=0.6),
    Row("language dicts", "language: dicts", ratio=0.6),
    Row("language strings", "language: strings and formatting", ratio=0.6),
    Row("language closures", "language: closures", ratio=0.6),
    Row("language generators", "language: generators", ratio=0.6),
    Row("language exceptions", "language: exceptions", ratio=0.6),
    Row("language nbody", "language: n-body", ratio=0.6),
    Row("language fannkuch", "language: fannkuch", ratio=0.6),
    Row("language", "language: geometric mean of these", ratio=1),
    Row("packages call", "packages of Python: a small call", "us", most=60),
    Row("packages attribute", "packages of Python: an attribute", "us", most=40),
    Row("packages iterate", "packages of Python: a loop over 10,000 numbers"),
    Row("packages array", "packages of Python: an array of 100 MB there and back"),
    Row("check", "check of a 50-line cell before it runs (a training loop)", most=1),
    Row("kernel ready", "kernel: start to first reply", most=50),
    Row("kernel reply", "kernel: `1+1`, request to reply"),
    Row("kernel idle", "kernel: `1+1`, request to idle"),
    Row("kernel memory", "kernel: memory after 200 cells", "MB"),
    Row("cuda add", "GPU: add of one-element tensors", "us", ratio=2),
    Row("cuda add 64M", "GPU: a + b, 64M float32", ratio=1),
    Row("cuda gelu 64M", "GPU: gelu, 64M float32", ratio=1),
    Row("cuda sum 64M", "GPU: sum of 64M float32", ratio=1),
    Row("cuda add row", "GPU: a row added to 65536 x 1024", ratio=1),
    Row("cuda column sums", "GPU: sums of the columns of 65536 x 1024", ratio=1),
    Row("cuda transposed", "GPU: transposed copy of 65536 x 1024", ratio=1),
    Row("cuda layer_norm", "GPU: layer_norm, 49152 x 1024 float16", ratio=1),
    Row("cuda layer_norm 32", "GPU: layer_norm, 49152 x 1024 float32", ratio=1),
    Row("cuda layer_norm back", "GPU: layer_norm and its gradients, 16384 x 1024 float32", ratio=1),
    Row("cuda batch_norm", "GPU: batch_norm in training, 64 x 256 x 56 x 56 float32", ratio=1),
    Row("cuda batch_norm 16", "GPU: batch_norm in training, 64 x 256 x 56 x 56 float16", ratio=1),
    Row("cuda batch_norm back", "GPU: batch_norm and its gradients, 64 x 256 x 56 x 56 float32", ratio=1),
    Row("cuda softmax", "GPU: softmax, 49152 x 1024 float16", ratio=1),
    Row("cuda softmax 32", "GPU: softmax, 49152 x 1024 float32", ratio=1),
    Row("cuda attention", "GPU: attention, 16 x 8 x 256 x 64 float32", ratio=1),
    Row("cuda attention 16", "GPU: attention, 16 x 8 x 256 x 64 float16", ratio=1),
    Row("cuda attention back", "GPU: attention and its gradients, 16 x 8 x 256 x 64 float32, causal", ratio=1),
    Row("cuda attention back 16", "GPU: attention and its gradients, 16 x 8 x 256 x 64 float16, causal", ratio=1),
    Row("cuda cross_entropy", "GPU: cross_entropy, 2048 x 32768 float32", ratio=1),
    Row("cuda matmul 4096", "GPU: float32 matmul 4096^3", ratio=0.95),
    Row("cuda matmul bf16 8192", "GPU: bfloat16 matmul 8192^3", ratio=0.95),
    Row("cuda conv", "GPU: 3x3 convolution, 32 x 64 x 56 x 56", ratio=1),
    Row("cuda conv back", "GPU: the same with its gradients", ratio=1),
    Row("cuda conv 16", "GPU: the same in float16", ratio=1),
    Row("cuda sort 1M", "GPU: sort of 1M float32", ratio=1),
    Row("cuda sort rows", "GPU: sort of the rows of 1000 x 1000", ratio=1),
    Row("cuda topk rows", "GPU: topk, 8 of each row of 65536 x 1024", ratio=1),
    Row("cuda topk 1M", "GPU: topk, 10 of 1M float32", ratio=1),
    Row("cuda cumsum rows", "GPU: cumsum along the rows of 65536 x 1024", ratio=1),
    Row("cuda randn 16M", "GPU: 16M normal numbers", ratio=1),
    Row("cuda chain", "GPU: 100 small ops, products and softmax in turns", "us", ratio=2),
    Row("cuda chain traced", "GPU: the same, traced", "us", ratio=1),
    Row("cuda mlp 64", "GPU: MLP 64-128-128-10, training step, batch 64, SGD", "us", ratio=2),
    Row("cuda mlp 64 traced", "GPU: the same, traced", "us", ratio=1),
    Row("cuda mlp 64 alone", "GPU: the same, without_host", "us", ratio=1),
    Row("cuda mlp adam 64", "GPU: the same MLP, Adam", "us", ratio=2),
    Row("cuda mlp adam 64 traced", "GPU: the same, traced", "us", ratio=1),
    Row("cuda mlp adam 64 alone", "GPU: the same, without_host", "us", ratio=1),
    Row("cuda cnn 64", "GPU: CNN on 1x28x28, training step, batch 64", "us", ratio=1),
    Row("cuda cnn 64 traced", "GPU: the same, traced", "us", ratio=1),
    Row("cuda cnn 64 alone", "GPU: the same, without_host", "us", ratio=1),
    Row("cuda block", "GPU: transformer block 512, 16 x 256, Adam", ratio=1),
    Row("cuda block traced", "GPU: the same, traced", ratio=1),
    Row("cuda block alone", "GPU: the same, without_host", ratio=1),
    Row("cuda resnet50", f"{RESNET50}, float32", ratio=1),
    Row("cuda resnet50 traced", f"{RESNET50}, float32, traced", ratio=1),
    Row("cuda resnet50 16", f"{RESNET50}, autocast to float16, GradScaler", ratio=1),
    Row("cuda resnet50 bf16", f"{RESNET50}, autocast to bfloat16", ratio=1),
    Row("cuda resnet50 bf16 traced", f"{RESNET50}, autocast to bfloat16, traced", ratio=1),
    Row("cuda resnet50 bf16 traced 128", "GPU: the same with 128 images", ratio=1),
    Row("cuda resnet50 bf16 traced 256", "GPU: the same with 256 images", ratio=1),
]


def of_ops(keys):
    """Rows for the single operations that the workload `ops` has measured, in its order."""
    return [Row(key, f"op: {key.removeprefix('op ')}", "us") for key in dict.fromkeys(keys) if key.startswith("op ")]
