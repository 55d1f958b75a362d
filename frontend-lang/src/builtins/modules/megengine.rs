//! `megengine` and `oneflow`: other names for the same objects.

use crate::native::*;
use crate::ops_binding;

/// `import megengine as mge`.
pub static MEGENGINE: NativeModule = NativeModule {
    name: "megengine",
    doc: "MegEngine's names for what `torch` holds.",
    members: &[
        Member::These("torch", &["tensor", "Tensor", "Parameter"]),
        Member::From("seed", "torch", "manual_seed"),
        Member::Module("functional", "megengine.functional"),
        Member::Module("module", "megengine.module"),
        Member::Module("optimizer", "megengine.optimizer"),
        Member::Module("autodiff", "megengine.autodiff"),
        Member::Module("jit", "megengine.jit"),
        Member::Module("random", "torch.random"),
    ],
    aliases: &[],
};

/// `import megengine.functional as F`.
pub static FUNCTIONAL: NativeModule = NativeModule {
    name: "megengine.functional",
    doc: "Ops under MegEngine's names.",
    members: &[
        Member::AllOf("torch.nn.functional"),
        Member::Each(functional),
        Member::From("pad", "megengine.layers", "_pad"),
        Member::Module("nn", "torch.nn.functional"),
        Member::Module("loss", "torch.nn.functional"),
    ],
    aliases: &["megengine.functional.nn", "megengine.functional.loss"],
};

/// `import megengine.module as M`.
pub static MODULE: NativeModule = NativeModule {
    name: "megengine.module",
    doc: "Layers under MegEngine's names.",
    members: &[Member::AllOf("torch.nn"), Member::AllOf("megengine.layers")],
    aliases: &[],
};

/// `import megengine.optimizer as optim`.
pub static OPTIMIZER: NativeModule = NativeModule {
    name: "megengine.optimizer",
    doc: "Optimisers.",
    members: &[Member::AllOf("torch.optim"), Member::AllOf("megengine.optimizers")],
    aliases: &[],
};

/// `import oneflow as flow`.
pub static ONEFLOW: NativeModule = NativeModule {
    name: "oneflow",
    doc: "OneFlow's names for what `torch` holds.",
    members: &[
        Member::AllOf("torch"),
        Member::Module("nn", "oneflow.nn"),
        Member::Module("optim", "torch.optim"),
        Member::Each(oneflow),
    ],
    aliases: &[],
};

/// `import oneflow.nn as nn`.
pub static ONEFLOW_NN: NativeModule = NativeModule {
    name: "oneflow.nn",
    doc: "Layers.",
    members: &[
        Member::AllOf("torch.nn"),
        Member::Module("functional", "torch.nn.functional"),
        Member::These("oneflow.graph", &["Graph"]),
    ],
    aliases: &[],
};

/// `import oneflow.optim as optim`.
pub static ONEFLOW_OPTIM: NativeModule = NativeModule {
    name: "oneflow.optim",
    doc: "Optimisers.",
    members: &[Member::AllOf("torch.optim")],
    aliases: &[],
};

/// Every op under its own name, and under the names that its row lists for `megengine.functional`.
fn functional(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    Ok(names("megengine.functional"))
}

fn oneflow(_cx: &mut Cx) -> Result<Vec<(Sym, Value)>, Raised> {
    Ok(names("oneflow"))
}

fn names(module: &str) -> Vec<(Sym, Value)> {
    let mut found = Vec::new();
    for op in engine::ops::public() {
        let func = ops_binding::function_of(op);
        found.push((Sym::of(op.name), func.clone()));
        let listed = op.aliases.iter().filter(|it| it.starts_with(module));
        let names = listed.filter_map(|it| it.rsplit('.').next());
        found.extend(names.map(|it| (Sym::of(it), func.clone())));
    }
    found
}
