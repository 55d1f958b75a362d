//! Modules written in the language: their names and where their text stands in `std/`.

/// A module's full name and its text.
pub type NgModule = (&'static str, &'static str);

macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("../../std/", $path, ".ng"))
    };
}

/// All of them.
pub static ALL: &[NgModule] = &[
    ("IPython", text!("IPython")),
    ("IPython.core", text!("IPython/core")),
    ("IPython.core.debugger", text!("IPython/core/debugger")),
    ("IPython.core.interactiveshell", text!("IPython/core/interactiveshell")),
    ("IPython.core.display_functions", text!("IPython/core/display_functions")),
    ("abc", text!("abc")),
    ("bisect", text!("bisect")),
    ("collections", text!("collections")),
    ("collections.abc", text!("collections/abc")),
    ("contextlib", text!("contextlib")),
    ("csv", text!("csv")),
    ("dataclasses", text!("dataclasses")),
    ("datetime", text!("datetime")),
    ("enum", text!("enum")),
    ("functools", text!("functools")),
    ("glob", text!("glob")),
    ("heapq", text!("heapq")),
    ("inspect", text!("inspect")),
    ("io", text!("io")),
    ("json.encoder", text!("json/encoder")),
    ("matplotlib._settings", text!("matplotlib/_settings")),
    ("matplotlib.cm", text!("matplotlib/cm")),
    ("matplotlib.colors", text!("matplotlib/colors")),
    ("matplotlib.gridspec", text!("matplotlib/gridspec")),
    ("megengine.autodiff", text!("megengine/autodiff")),
    ("megengine.layers", text!("megengine/layers")),
    ("megengine.optimizers", text!("megengine/optimizers")),
    ("notegrad.onnx_module", text!("notegrad/onnx_module")),
    ("numpy._core.arrays", text!("numpy/_core/arrays")),
    ("numpy._core.creation", text!("numpy/_core/creation")),
    ("numpy._core.elements", text!("numpy/_core/elements")),
    ("numpy._core.files", text!("numpy/_core/files")),
    ("numpy._core.grids", text!("numpy/_core/grids")),
    ("numpy._core.kinds", text!("numpy/_core/kinds")),
    ("numpy._core.linalg", text!("numpy/_core/linalg")),
    ("numpy._core.methods", text!("numpy/_core/methods")),
    ("numpy._core.orders", text!("numpy/_core/orders")),
    ("numpy._core.printing", text!("numpy/_core/printing")),
    ("numpy._core.products", text!("numpy/_core/products")),
    ("numpy._core.random", text!("numpy/_core/random")),
    ("numpy._core.reductions", text!("numpy/_core/reductions")),
    ("numpy._core.series", text!("numpy/_core/series")),
    ("numpy._core.shapes", text!("numpy/_core/shapes")),
    ("numpy._core.tables", text!("numpy/_core/tables")),
    ("numpy._core.testing", text!("numpy/_core/testing")),
    ("numpy._core.texts", text!("numpy/_core/texts")),
    ("oneflow.graph", text!("oneflow/graph")),
    ("os.tree", text!("os/tree")),
    ("pathlib", text!("pathlib")),
    ("pprint", text!("pprint")),
    ("statistics", text!("statistics")),
    ("string.template", text!("string/template")),
    ("textwrap", text!("textwrap")),
    ("torch.accelerator", text!("torch/accelerator")),
    ("torch.amp", text!("torch/amp")),
    ("torch.autograd.checks", text!("torch/autograd/checks")),
    ("torch.autograd.functional", text!("torch/autograd/functional")),
    ("torch.autograd.functions", text!("torch/autograd/functions")),
    ("torch.backends", text!("torch/backends")),
    ("torch.cuda.amp", text!("torch/cuda/amp")),
    ("torch.cuda.devices", text!("torch/cuda/devices")),
    ("torch.distributions", text!("torch/distributions")),
    ("torch.distributions.bernoulli", text!("torch/distributions/bernoulli")),
    ("torch.distributions.binomial", text!("torch/distributions/binomial")),
    ("torch.distributions.categorical", text!("torch/distributions/categorical")),
    ("torch.distributions.constraints", text!("torch/distributions/constraints")),
    ("torch.distributions.dirichlet", text!("torch/distributions/dirichlet")),
    ("torch.distributions.distribution", text!("torch/distributions/distribution")),
    ("torch.distributions.exponential", text!("torch/distributions/exponential")),
    ("torch.distributions.gamma", text!("torch/distributions/gamma")),
    ("torch.distributions.independent", text!("torch/distributions/independent")),
    ("torch.distributions.kl", text!("torch/distributions/kl")),
    ("torch.distributions.laplace", text!("torch/distributions/laplace")),
    ("torch.distributions.multivariate_normal", text!("torch/distributions/multivariate_normal")),
    ("torch.distributions.normal", text!("torch/distributions/normal")),
    ("torch.distributions.student_t", text!("torch/distributions/student_t")),
    ("torch.distributions.uniform", text!("torch/distributions/uniform")),
    ("torch.calls", text!("torch/calls")),
    ("torch.draws", text!("torch/draws")),
    ("torch.elements", text!("torch/elements")),
    ("torch.files", text!("torch/files")),
    ("torch.forms", text!("torch/forms")),
    ("torch.func", text!("torch/func")),
    ("torch.functions", text!("torch/functions")),
    ("torch.fft", text!("torch/fft")),
    ("torch.linalg", text!("torch/linalg")),
    ("torch.linalg.complex_spectra", text!("torch/linalg/complex_spectra")),
    ("torch.linalg.complexes", text!("torch/linalg/complexes")),
    ("torch.linalg.factors", text!("torch/linalg/factors")),
    ("torch.linalg.spectra", text!("torch/linalg/spectra")),
    ("torch.methods", text!("torch/methods")),
    ("torch.nn", text!("torch/nn")),
    ("torch.nn.composed", text!("torch/nn/composed")),
    ("torch.nn.ctc", text!("torch/nn/ctc")),
    ("torch.nn.init", text!("torch/nn/init")),
    ("torch.nn.losses", text!("torch/nn/losses")),
    ("torch.nn.modules", text!("torch/nn/modules")),
    ("torch.nn.modules.activation", text!("torch/nn/modules/activation")),
    ("torch.nn.modules.children", text!("torch/nn/modules/children")),
    ("torch.nn.modules.container", text!("torch/nn/modules/container")),
    ("torch.nn.modules.conv", text!("torch/nn/modules/conv")),
    ("torch.nn.modules.distance", text!("torch/nn/modules/distance")),
    ("torch.nn.modules.dropout", text!("torch/nn/modules/dropout")),
    ("torch.nn.modules.hooks", text!("torch/nn/modules/hooks")),
    ("torch.nn.modules.linear", text!("torch/nn/modules/linear")),
    ("torch.nn.modules.loss", text!("torch/nn/modules/loss")),
    ("torch.nn.modules.module", text!("torch/nn/modules/module")),
    ("torch.nn.modules.normalization", text!("torch/nn/modules/normalization")),
    ("torch.nn.modules.pooling", text!("torch/nn/modules/pooling")),
    ("torch.nn.modules.rnn", text!("torch/nn/modules/rnn")),
    ("torch.nn.modules.shape", text!("torch/nn/modules/shape")),
    ("torch.nn.modules.sparse", text!("torch/nn/modules/sparse")),
    ("torch.nn.modules.transformer", text!("torch/nn/modules/transformer")),
    ("torch.nn.sampling", text!("torch/nn/sampling")),
    ("torch.nn.spatial", text!("torch/nn/spatial")),
    ("torch.nn.unpooling", text!("torch/nn/unpooling")),
    ("torch.nn.utils", text!("torch/nn/utils")),
    ("torch.nn.utils.rnn", text!("torch/nn/utils/rnn")),
    ("torch.optim", text!("torch/optim")),
    ("torch.optim.adam", text!("torch/optim/adam")),
    ("torch.optim.adaptive", text!("torch/optim/adaptive")),
    ("torch.optim.lbfgs", text!("torch/optim/lbfgs")),
    ("torch.optim.lr_scheduler", text!("torch/optim/lr_scheduler")),
    ("torch.optim.optimizer", text!("torch/optim/optimizer")),
    ("torch.optim.schedules", text!("torch/optim/schedules")),
    ("torch.optim.schedules_base", text!("torch/optim/schedules_base")),
    ("torch.optim.sgd", text!("torch/optim/sgd")),
    ("torch.optim.swa_utils", text!("torch/optim/swa_utils")),
    ("torch.out", text!("torch/out")),
    ("torch.parts", text!("torch/parts")),
    ("torch.pickled", text!("torch/pickled")),
    ("torch.pieces", text!("torch/pieces")),
    ("torch.products", text!("torch/products")),
    ("torch.refusals", text!("torch/refusals")),
    ("torch.return_types", text!("torch/return_types")),
    ("torch.scattering", text!("torch/scattering")),
    ("torch.special", text!("torch/special")),
    ("torch.special.bessel", text!("torch/special/bessel")),
    ("torch.special.coefficients", text!("torch/special/coefficients")),
    ("torch.special.gammas", text!("torch/special/gammas")),
    ("torch.special.normal", text!("torch/special/normal")),
    ("torch.special.polynomials", text!("torch/special/polynomials")),
    ("torch.special.series", text!("torch/special/series")),
    ("torch.spectrograms", text!("torch/spectrograms")),
    ("torch.statistics", text!("torch/statistics")),
    ("torch.strides", text!("torch/strides")),
    ("torch.testing", text!("torch/testing")),
    ("torch.typed", text!("torch/typed")),
    ("torch.utils", text!("torch/utils")),
    ("torch.utils.data", text!("torch/utils/data")),
    ("torch.utils.data.dataloader", text!("torch/utils/data/dataloader")),
    ("torch.utils.data.dataset", text!("torch/utils/data/dataset")),
    ("torch.utils.data.sampler", text!("torch/utils/data/sampler")),
    ("torch.windows", text!("torch/windows")),
    ("tqdm", text!("tqdm")),
    ("tqdm.auto", text!("tqdm/auto")),
    ("tqdm.notebook", text!("tqdm/auto")),
    ("types", text!("types")),
    ("typing.named", text!("typing/named")),
    ("warnings", text!("warnings")),
];

/// Modules that are compiled code in CPython, NumPy and PyTorch, and folders of such: tracebacks show no frames of theirs.
static COMPILED: &[&str] = &[
    "bisect",
    "datetime",
    "functools",
    "heapq",
    "io",
    "numpy._core",
    "torch.calls",
    "torch.draws",
    "torch.elements",
    "torch.forms",
    "torch.functions",
    "torch.fft",
    "torch.linalg",
    "torch.methods",
    "torch.out",
    "torch.parts",
    "torch.pickled",
    "torch.pieces",
    "torch.products",
    "torch.refusals",
    "torch.scattering",
    "torch.special",
    "torch.spectrograms",
    "torch.statistics",
    "torch.strides",
    "torch.typed",
    "torch.windows",
];

/// Whether a module is compiled code elsewhere.
pub fn is_compiled(name: &str) -> bool {
    let is_in = |folder: &&str| {
        name.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    COMPILED.iter().any(is_in)
}

/// Other names of modules: where one begins so, the rest is looked for under the second name.
pub static ALIASES: &[(&str, &str)] = &[
    ("megengine.data", "torch.utils.data"),
    ("megengine.module.", "torch.nn."),
    ("megengine.optimizer.", "torch.optim."),
    ("oneflow.", "torch."),
];

/// The module that `name` is another name of.
pub fn real_name(name: &str) -> Option<String> {
    let (alias, real) = ALIASES.iter().find(|it| name.starts_with(it.0))?;
    Some(format!("{real}{}", &name[alias.len()..]))
}

/// Modules into which others of the language are parted. Libraries have no such names, so nobody is offered them.
static INTERNAL: &[&str] = &[
    "megengine.layers",
    "megengine.optimizers",
    "oneflow.graph",
    "os.tree",
    "string.template",
    "torch.autograd.checks",
    "torch.autograd.functions",
    "torch.calls",
    "torch.draws",
    "torch.elements",
    "torch.files",
    "torch.forms",
    "torch.functions",
    "torch.linalg.complex_spectra",
    "torch.linalg.complexes",
    "torch.linalg.factors",
    "torch.linalg.spectra",
    "torch.methods",
    "torch.nn.composed",
    "torch.nn.ctc",
    "torch.nn.losses",
    "torch.nn.modules.children",
    "torch.nn.modules.hooks",
    "torch.nn.modules.shape",
    "torch.nn.sampling",
    "torch.nn.spatial",
    "torch.nn.unpooling",
    "torch.optim.adaptive",
    "torch.optim.schedules",
    "torch.optim.schedules_base",
    "torch.out",
    "torch.parts",
    "torch.pieces",
    "torch.products",
    "torch.refusals",
    "torch.scattering",
    "torch.special.bessel",
    "torch.special.coefficients",
    "torch.special.gammas",
    "torch.special.normal",
    "torch.special.polynomials",
    "torch.special.series",
    "torch.spectrograms",
    "torch.statistics",
    "torch.strides",
    "torch.typed",
    "torch.windows",
    "typing.named",
];

/// Whether a module is there for others of the language alone.
pub fn is_internal(name: &str) -> bool {
    let name = real_name(name).unwrap_or_else(|| name.to_owned());
    INTERNAL.contains(&name.as_str()) || name.split('.').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_modules_are_there() {
        for name in INTERNAL {
            assert!(ALL.iter().any(|it| it.0 == *name), "{name}");
        }
        assert!(is_internal("oneflow.methods") && is_internal("numpy._core"));
        assert!(!is_internal("torch.nn") && !is_internal("oneflow.nn"));
    }
}
