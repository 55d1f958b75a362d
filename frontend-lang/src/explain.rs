//! What errors mean: one row per code. Tracebacks show the next step, `notegrad explain CODE` and `docs/errors` the rest.
//!
//! Errors of the engine carry a code from the moment they enter the language; others are explained by their class.
//!
//! **Invariant:** the example of a row ends with an error of that code, or shows a warning of it.

use engine::Error;
use engine::op::Body;

/// One kind of error.
pub struct Topic {
    /// `shape::matmul`, or a class such as `NameError`.
    pub code: &'static str,
    pub title: &'static str,
    /// What has happened, and the rule behind it.
    pub why: &'static str,
    /// What to do, as shown below a traceback.
    pub next: &'static str,
    /// A cell that ends so, or is warned of.
    pub example: &'static str,
}

/// Every code, sorted.
pub static ALL: &[Topic] = &[
    Topic {
        code: "AttributeError",
        title: "An object does not have what is asked of it",
        why: "After the dot stands a name that the object's type does not define. Often the object is None, because a function returned \
              nothing, or the name is misspelt; the nearest name is suggested.",
        next: "look at `dir(x)` or type `x.` and press Tab",
        example: "[1].push(2)",
    },
    Topic {
        code: "IndexError",
        title: "A place that is not there",
        why: "A sequence of n items has the places 0 to n - 1, and from the end -1 to -n.",
        next: "compare the index with `len(x)` or `x.shape`",
        example: "[1, 2][2]",
    },
    Topic {
        code: "NameError",
        title: "A name that nothing has defined",
        why: "Names get their values when the line that assigns them runs. A misspelt name, or a cell that has not run yet, gives this error.",
        next: "check the spelling, and whether the cell that defines it has run",
        example: "not_defined",
    },
    Topic {
        code: "TypeError",
        title: "A value of the wrong kind",
        why: "An operator or function got a kind of value that it does not take, or a call does not match the parameters.",
        next: "look at `type(x)`, and at the signature with `f?`",
        example: "'a' + 1",
    },
    Topic {
        code: "ValueError",
        title: "The right kind, but not acceptable",
        why: "The kind of value is right and the value itself is not, such as a text that is no number.",
        next: "print the value just before the line",
        example: "int('three')",
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

/// One line for each code.
pub fn list() -> String {
    ALL.iter().map(|it| format!("{:<20} {}\n", it.code, it.title)).collect()
}

/// What to say when there is no such code; `command` lists all of them.
pub fn unknown(code: &str, command: &str) -> String {
    let near = crate::suggest::nearest(code, ALL.iter().map(|it| it.code));
    let hint = near.map_or_else(String::new, |it| format!("; did you mean {it}?"));
    format!("no kind of error is called `{code}`{hint}; `{command}` lists them all")
}

/// The row of a code, also by the last part of it or in other letters.
pub fn find(code: &str) -> Option<&'static Topic> {
    let exact = ALL.iter().find(|it| it.code == code);
    exact.or_else(|| {
        let wanted = code.to_lowercase();
        let part = |it: &&Topic| {
            let code = it.code.to_lowercase();
            code == wanted || code.rsplit("::").next() == Some(wanted.as_str())
        };
        ALL.iter().find(part)
    })
}

/// The code of an engine's error.
pub fn code_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Shapes { op, .. } => code_of_shapes(op),
        Error::DType { .. } => "dtype::op",
        Error::DTypes { .. } => "dtype::mixed",
        Error::DimRange { .. } => "index::dim",
        Error::IndexRange { .. } => "index::range",
        Error::TooLarge { .. } | Error::OutOfMemory { .. } => "memory",
        Error::NotScalar { .. } => "tensor::not-scalar",
        Error::Backward { .. } => "grad::backward",
        Error::Freed { .. } => "grad::freed",
        _ => return None,
    })
}

fn code_of_shapes(op: &str) -> &'static str {
    match op {
        "matmul" | "linear" | "bmm" | "mm" | "mv" | "addmm" => "shape::matmul",
        "reshape" | "view" | "unflatten" => "shape::reshape",
        "cat" | "stack" => "shape::cat",
        _ if op.starts_with("conv") || op.contains("pool") => "shape::conv",
        _ => match engine::ops::find(op).map(|it| &it.body) {
            Some(Body::Binary(_) | Body::Ternary(_)) => "shape::broadcast",
            _ => "shape::op",
        },
    }
}

impl Topic {
    /// The page of the code, as Markdown.
    pub fn page(&self) -> String {
        let next = match self.next.chars().next() {
            Some(first) => format!("{}{}.", first.to_uppercase(), &self.next[first.len_utf8()..]),
            None => String::new(),
        };
        format!(
            "# {}: {}\n\n{}\n\n**Next:** {next}\n\n```python\n{}\n```\n",
            self.code, self.title, self.why, self.example
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, find};

    #[test]
    fn codes_are_sorted_and_found() {
        assert!(ALL.is_sorted_by_key(|it| it.code));
        for topic in ALL {
            assert!(find(topic.code).is_some_and(|it| it.code == topic.code));
        }
        assert_eq!(find("matmul").map(|it| it.code), Some("shape::matmul"));
        assert_eq!(find("nameerror").map(|it| it.code), Some("NameError"));
        assert!(find("shape::nothing").is_none());
    }
}
