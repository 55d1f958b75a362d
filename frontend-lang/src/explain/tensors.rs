//! What errors about tensors mean: those of the engine, which carry a code of their own.

use engine::Shape;

use super::Topic;

/// What to do with images whose channels are not those that the kernels take.
pub(super) fn channels(shapes: &[Shape]) -> Option<String> {
    let (images, kernels) = (shapes.first()?, shapes.get(1)?);
    let ([_, given, _, last], [_, taken, ..]) = (&images[..], &kernels[..]) else { return None };
    Some(match (given, taken) {
        _ if given == taken => return None,
        _ if last == taken => {
            "channels stand last here, and are the second size in PyTorch: `x.permute(0, 3, 1, 2)`"
                .to_owned()
        }
        (3, 1) => {
            "take 3 channels, `in_channels=3`, or make the images grey: `x.mean(1, keepdim=True)`"
                .to_owned()
        }
        (1, _) => {
            format!(
                "take 1 channel, `in_channels=1`, or repeat the one there is: `x.expand(-1, {taken}, -1, -1)`"
            )
        }
        _ => format!(
            "take as many channels as come in: `in_channels={given}`, the `out_channels` of the layer before"
        ),
    })
}

/// What to do where an operation does not take complex numbers.
pub(super) const PARTS: &str = "take real numbers of them: `.real`, `.imag` or `.abs()`";

/// What to do where complex numbers meet others that are not converted.
pub(super) const PROMOTED: &str = "convert the other operand, `.to(torch.complex64)`, or take `.real`, `.imag` or `.abs()` of the complex one";

/// Every code of the engine's errors, sorted.
pub(super) static ALL: &[Topic] = &[
    Topic {
        code: super::MIXED_DEVICES,
        title: "Tensors on different devices",
        why: "An operation computes on one device, and only single numbers come there by themselves: a silent copy of the rest would hide what \
              takes the most time. A module that is moved to a GPU takes its parameters along, but not the data that is given to it, nor \
              what its methods make without `device=`.",
        next: "bring the one to the other: `x = x.to(device)`, for data in the loop over its batches, and make new tensors where others are, \
               `torch.zeros(3, device=x.device)`",
        example: "import torch\ntorch.ones(3, device=\"meta\") + torch.ones(3)",
    },
    Topic {
        code: "dtype::mixed",
        title: "Operands of different dtypes",
        why: "Products, layers and losses compute in one dtype and do not convert: a silent conversion would hide a loss of precision or of \
              speed.",
        next: "convert one of them, most often with `.float()`",
        example: "import torch\ntorch.zeros(2, 2) @ torch.zeros(2, 2).double()",
    },
    Topic {
        code: "dtype::op",
        title: "A dtype that the operation does not take",
        why: "Some operations make sense for floats only (means, roots, gradients), others for whole numbers only (indices, bits).",
        next: "convert with `.float()` or `.long()`",
        example: "import torch\ntorch.tensor([1, 2]).mean()",
    },
    Topic {
        code: "grad::anomaly",
        title: "The first NaN or infinity",
        why: "A logarithm of 0, a root of a negative number, a division by 0 or an exponential of 1000 has no finite value; sqrt at 0 has one, \
              but no finite gradient. From there on everything becomes NaN. `%config anomaly on` looks for the first element that is \
              NaN or infinite where no operand was, in results and in gradients; `torch.autograd.set_detect_anomaly(True)` makes an \
              error of NaN in gradients, as in PyTorch, and tells what came first. Every op is looked at, so training takes longer, and traced functions run op by op meanwhile.",
        next: "look at the operands in that line (`x.min()`, `x.max()`); keep them in range with `clamp`, or add a small number before a \
               division, root or logarithm",
        example: "%config anomaly on\nimport torch\n(torch.ones(3) - 1).log()",
    },
    Topic {
        code: "grad::backward",
        title: "There is nothing to go back through",
        why: "`backward()` follows the record of a computation from one number to the leaves with `requires_grad=True`. There is no record \
              without such a leaf, inside `torch.no_grad()`, and after `.detach()` or `.item()`.",
        next: "start from one number (`.mean()` or `.sum()`) that was computed from something with `requires_grad=True`",
        example: "import torch\ntorch.ones(2).sum().backward()",
    },
    Topic {
        code: "grad::freed",
        title: "The record of the computation is used up",
        why: "`backward()` frees the record of the computation as it goes back through it. A second `backward()` through the same values \
              finds nothing; so does one through values that an earlier step has computed and that were not detached from it.",
        next: "compute the loss anew before each `backward()`, or keep the record: `loss.backward(retain_graph=True)` the first time",
        example: "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()",
    },
    Topic {
        code: "index::dim",
        title: "A dimension that is not there",
        why: "A tensor with n dimensions has the dimensions 0 to n - 1, and from the end -1 to -n.",
        next: "compare `dim` with `x.ndim`; the last dimension is -1",
        example: "import torch\ntorch.zeros(2, 3).sum(dim=2)",
    },
    Topic {
        code: "index::range",
        title: "An element that is not there",
        why: "A dimension of size n has the places 0 to n - 1, and from the end -1 to -n. Class numbers and token numbers are indices too.",
        next: "compare the index with `x.shape`",
        example: "import torch\ntorch.zeros(3)[3]",
    },
    Topic {
        code: "memory",
        title: "More memory than there is",
        why: "The tensor alone would not fit. Often two shapes were broadcast by accident, such as [N, 1] with [N], which gives [N, N].",
        next: "look at the shapes; use smaller batches, or free what is no longer needed with `del`",
        example: "import torch\ntorch.zeros(10**6, 10**7)",
    },
    Topic {
        code: "memory::cell",
        title: "A cell that needs more memory than there is",
        why: "Before a cell runs, its tensors are followed without their elements: how large they are and how long each lives, also on the tape \
              of autograd. What must be in memory at the same time is more than the limit for tensors or than this machine can give. The line \
              is the one where the most is in use. Often a list keeps a tensor of each round, or a loss is summed up without `.item()`, which \
              keeps the graph of every round. `%check cost` shows the estimate of the latest cell.",
        next: "use smaller batches, keep numbers (`.item()`) instead of tensors, or free what is no longer needed with `del`",
        example: "%mem --limit 30MB\nimport torch\nxs = [torch.randn(10**6) for i in range(10)]",
    },
    Topic {
        code: "shape::bias",
        title: "A bias of another size",
        why: "The bias is added to what comes out: one number for each channel of a convolution, or for each output of a linear layer.",
        next: "give a vector with one element for each of them, or leave the bias out",
        example: "import torch\nimport torch.nn.functional as F\nF.conv_transpose2d(torch.zeros(1, 3, 8, 8), torch.zeros(3, 4, 3, 3), torch.zeros(3))",
    },
    Topic {
        code: "shape::broadcast",
        title: "Shapes that cannot be broadcast",
        why: "Elementwise operations compare sizes from the right. Two sizes fit if they are equal or one of them is 1.",
        next: "make the sizes equal, or add one of size 1: `x[:, None]` makes a column",
        example: "import torch\ntorch.ones(4, 3) + torch.ones(4)",
    },
    Topic {
        code: "shape::cat",
        title: "Tensors that cannot be joined",
        why: "`cat` joins along one dimension; all other sizes must agree. `stack` makes a new dimension, so all sizes must.",
        next: "choose another `dim`, or look at what the parts have in common",
        example: "import torch\ntorch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])",
    },
    Topic {
        code: "shape::conv",
        title: "An image that does not fit the convolution",
        why: "A convolution takes [N, C, H, W] with C = in_channels, and the kernel must fit into the padded image.",
        next: "bring the input to [N, C, H, W]: `x.unsqueeze(1)` adds a channel, `x.permute(0, 3, 1, 2)` moves it",
        example: "import torch\ntorch.nn.Conv2d(3, 8, 3)(torch.zeros(1, 1, 28, 28))",
    },
    Topic {
        code: "shape::matmul",
        title: "Matrices that cannot be multiplied",
        why: "[.., m, k] @ [.., k, n] gives [.., m, n]: the last size on the left is the one before the last on the right. A linear layer \
              multiplies by its weight [out, in], so the last size of its input is `in`.",
        next: "make the inner sizes equal: transpose one side (`w.T`), flatten the input (`x.flatten(1)`), or change the layer",
        example: "import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)",
    },
    Topic {
        code: "shape::op",
        title: "Shapes that do not fit the operation",
        why: "The message names the rule that the operation has for its operands.",
        next: "compare the shapes above with the rule",
        example: "import torch\ntorch.dot(torch.zeros(2, 2), torch.zeros(2, 2))",
    },
    Topic {
        code: "shape::reshape",
        title: "Another number of elements",
        why: "Reshaping keeps every element, so the product of the sizes stays the same. One size may be -1 and is worked out.",
        next: "let one size be worked out with -1, or keep the batch with `x.flatten(1)`",
        example: "import torch\ntorch.zeros(6).reshape(4, 2)",
    },
    Topic {
        code: "tensor::not-scalar",
        title: "One value asked of many",
        why: "`if`, `float()` and `.item()` need one number; a tensor of many has no truth value of its own.",
        next: "say which: `.any()`, `.all()`, `.sum()`, or pick an element",
        example: "import torch\ntorch.zeros(3).item()",
    },
];
