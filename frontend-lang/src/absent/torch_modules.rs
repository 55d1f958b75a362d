//! Names of the modules of PyTorch that are not in this language, and what to use in their place. Sorted by name.

use super::Row;

/// Names of the modules in `torch`.
pub(super) static ATTRIBUTES: &[Row] = &[
    ("torch.autograd.NestedIOFunction", "write a torch.autograd.Function"),
    ("torch.autograd.forward_ad", "forward derivatives are torch.func.jvp, jacfwd and linearize"),
    ("torch.autograd.function.InplaceFunction", "write a torch.autograd.Function"),
    ("torch.autograd.function.NestedIOFunction", "write a torch.autograd.Function"),
    (
        "torch.autograd.graph",
        "tensor.register_hook sees a gradient; torch.utils.checkpoint keeps less for the backward pass",
    ),
    (
        "torch.autograd.is_multithreading_enabled",
        "operations run one after the other; torch.set_num_threads says how many cores each may use",
    ),
    ("torch.autograd.profiler", "`%prun` shows what takes how long"),
    (
        "torch.autograd.set_multithreading_enabled",
        "operations run one after the other; torch.set_num_threads says how many cores each may use",
    ),
    ("torch.backends.cpu", "`%device` and `notegrad doctor` describe the machine"),
    (
        "torch.compiler.config",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.get_default_backend",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.list_backends",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.load_cache_artifacts",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.load_compiled_function",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.precompile",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.save_cache_artifacts",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.set_default_backend",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.substitute_in_graph",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    (
        "torch.compiler.wrap_numpy",
        "what a function gives is compiled by `%trace`, which takes no such setting",
    ),
    ("torch.func.debug_unwrap", "tensors inside vmap are plain tensors"),
    ("torch.func.rearrange", "write x.reshape(...) and x.permute(...)"),
    ("torch.linalg.ldl_factor", "torch.linalg.lu_factor and lu_solve solve the same equations"),
    ("torch.linalg.ldl_factor_ex", "torch.linalg.lu_factor and lu_solve solve the same equations"),
    ("torch.linalg.ldl_solve", "torch.linalg.lu_factor and lu_solve solve the same equations"),
    (
        "torch.linalg.matrix_sqrth",
        "write `L, Q = torch.linalg.eigh(A)`, then `Q * L.sqrt().unsqueeze(-2) @ Q.mH`",
    ),
    (
        "torch.linalg.polar",
        "write `W, S, Vh = torch.linalg.svd(A, full_matrices=False)`: the factors are `W @ Vh` and `Vh.mH * S.unsqueeze(-2) @ Vh`",
    ),
    (
        "torch.masked.MaskedTensor",
        "give `mask=` to torch.masked.sum, mean, softmax and the others; torch.where fills what does not count",
    ),
    (
        "torch.masked.as_masked_tensor",
        "give `mask=` to torch.masked.sum, mean, softmax and the others; torch.where fills what does not count",
    ),
    (
        "torch.masked.is_masked_tensor",
        "give `mask=` to torch.masked.sum, mean, softmax and the others; torch.where fills what does not count",
    ),
    (
        "torch.masked.masked_tensor",
        "give `mask=` to torch.masked.sum, mean, softmax and the others; torch.where fills what does not count",
    ),
    (
        "torch.nn.Buffer",
        "write self.register_buffer(name, tensor), with persistent=False for what is not saved",
    ),
    ("torch.nn.Container", "PyTorch has nn.Module in its place"),
    (
        "torch.nn.CrossMapLRN2d",
        "nn.LocalResponseNorm does the same, with another window at the edges",
    ),
    ("torch.nn.LinearCrossEntropyOptions", "leave `options` out: it changes no result"),
    ("torch.nn.NLLLoss2d", "PyTorch has nn.NLLLoss in its place"),
    ("torch.nn.attention.SDPAParams", "there is one implementation of attention; leave it out"),
    (
        "torch.nn.attention.WARN_FOR_UNFUSED_KERNELS",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.activate_flash_attention_impl",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.bias.CausalBias",
        "causal_upper_left and causal_lower_right give masks of bools",
    ),
    (
        "torch.nn.attention.can_use_efficient_attention",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.can_use_flash_attention",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.current_flash_attention_impl",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.list_flash_attention_impls",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.register_flash_attention_impl",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.attention.restore_flash_attention_impl",
        "there is one implementation of attention; leave it out",
    ),
    (
        "torch.nn.functional.adaptive_max_pool1d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    (
        "torch.nn.functional.adaptive_max_pool2d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    (
        "torch.nn.functional.adaptive_max_pool3d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    ("torch.nn.functional.conv_tbc", "call torch.conv_tbc"),
    (
        "torch.nn.functional.fractional_max_pool2d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    (
        "torch.nn.functional.fractional_max_pool3d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    ("torch.nn.functional.grouped_mm", "multiply in a loop, or with torch.bmm"),
    (
        "torch.nn.functional.max_pool1d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    (
        "torch.nn.functional.max_pool3d_with_indices",
        "give return_indices=True to the function without `_with_indices`",
    ),
    ("torch.nn.functional.native_channel_shuffle", "call torch.nn.functional.channel_shuffle"),
    ("torch.nn.functional.scaled_addmm", "write (a * scale) @ b"),
    ("torch.nn.functional.scaled_grouped_mm", "multiply in a loop, or with torch.bmm"),
    ("torch.nn.functional.scaled_mm", "write (a * scale) @ b"),
    (
        "torch.nn.functional.upsample_bilinear",
        "call interpolate(input, size, scale_factor, mode=\"bilinear\", align_corners=True)",
    ),
    (
        "torch.nn.functional.upsample_nearest",
        "call interpolate(input, size, scale_factor, mode=\"nearest\")",
    ),
    (
        "torch.nn.intrinsic",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.nn.modules.lazy.LazyModuleMixin",
        "a class has one base: register_forward_pre_hook runs before the first call and may make parameters; nn.LazyLinear and others are there",
    ),
    (
        "torch.nn.modules.module.register_module_backward_hook",
        "register the hook with each module: `for module in model.modules(): module.register_forward_hook(hook)`",
    ),
    (
        "torch.nn.modules.module.register_module_buffer_registration_hook",
        "override __setattr__ of the module",
    ),
    (
        "torch.nn.modules.module.register_module_forward_hook",
        "register the hook with each module: `for module in model.modules(): module.register_forward_hook(hook)`",
    ),
    (
        "torch.nn.modules.module.register_module_forward_pre_hook",
        "register the hook with each module: `for module in model.modules(): module.register_forward_hook(hook)`",
    ),
    (
        "torch.nn.modules.module.register_module_full_backward_hook",
        "register the hook with each module: `for module in model.modules(): module.register_forward_hook(hook)`",
    ),
    (
        "torch.nn.modules.module.register_module_full_backward_pre_hook",
        "register the hook with each module: `for module in model.modules(): module.register_forward_hook(hook)`",
    ),
    (
        "torch.nn.modules.module.register_module_module_registration_hook",
        "override __setattr__ of the module",
    ),
    (
        "torch.nn.modules.module.register_module_parameter_registration_hook",
        "override __setattr__ of the module",
    ),
    (
        "torch.nn.parallel.DistributedDataParallel",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parallel.data_parallel",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parallel.gather",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parallel.parallel_apply",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parallel.replicate",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parallel.scatter",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.nn.parameter.Buffer",
        "write self.register_buffer(name, tensor), with persistent=False for what is not saved",
    ),
    (
        "torch.nn.parameter.UninitializedTensorMixin",
        "is_lazy(tensor) says whether it has no shape yet",
    ),
    (
        "torch.nn.qat",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.nn.quantized",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.nn.utils.convert_conv2d_weight_memory_format",
        "elements lie row after row in every layer; leave it out",
    ),
    (
        "torch.nn.utils.convert_conv3d_weight_memory_format",
        "elements lie row after row in every layer; leave it out",
    ),
    ("torch.nn.utils.memory_format", "elements lie row after row in every layer; leave it out"),
    (
        "torch.optim.optimizer.register_optimizer_step_post_hook",
        "register the hook with the optimiser: optimizer.register_step_pre_hook(hook), register_step_post_hook(hook)",
    ),
    (
        "torch.optim.optimizer.register_optimizer_step_pre_hook",
        "register the hook with the optimiser: optimizer.register_step_pre_hook(hook), register_step_post_hook(hook)",
    ),
    (
        "torch.random.default_generator",
        "torch.manual_seed seeds the generator of all; torch.Generator() makes one of your own",
    ),
    (
        "torch.random.thread_safe_generator",
        "torch.manual_seed seeds the generator of all; torch.Generator() makes one of your own",
    ),
    ("torch.testing.assert_allclose", "call torch.testing.assert_close"),
    ("torch.utils.benchmark", "`%timeit` before a line, or `%%timeit` in the first line of a cell"),
    ("torch.utils.bottleneck", "`%prun` shows what takes how long"),
    (
        "torch.utils.checkpoint.CheckpointPolicy",
        "checkpoint() computes all of a part again; call it for the parts that are to be computed again",
    ),
    (
        "torch.utils.checkpoint.SelectiveCheckpointContext",
        "checkpoint() computes all of a part again; call it for the parts that are to be computed again",
    ),
    (
        "torch.utils.checkpoint.create_selective_checkpoint_contexts",
        "checkpoint() computes all of a part again; call it for the parts that are to be computed again",
    ),
    ("torch.utils.collect_env", "`%device` and `notegrad doctor` describe the machine"),
    (
        "torch.utils.cpp_extension",
        "functions are written in the language; what is slow is compiled by `%trace`",
    ),
    (
        "torch.utils.data.DFIterDataPipe",
        "write a Dataset, or an IterableDataset whose __iter__ yields",
    ),
    ("torch.utils.data.DataChunk", "write a Dataset, or an IterableDataset whose __iter__ yields"),
    (
        "torch.utils.data.DistributedSampler",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.utils.data.IterDataPipe",
        "write a Dataset, or an IterableDataset whose __iter__ yields",
    ),
    (
        "torch.utils.data.MapDataPipe",
        "write a Dataset, or an IterableDataset whose __iter__ yields",
    ),
    ("torch.utils.data.datapipes", "write a Dataset, or an IterableDataset whose __iter__ yields"),
    (
        "torch.utils.data.distributed",
        "one machine computes; operations use all its cores by themselves",
    ),
    (
        "torch.utils.data.functional_datapipe",
        "write a Dataset, or an IterableDataset whose __iter__ yields",
    ),
    ("torch.utils.deterministic", "new elements are 0"),
    ("torch.utils.dlpack", "torch.from_numpy and x.numpy() share elements with arrays"),
    (
        "torch.utils.flop_counter",
        "a Linear layer takes 2 * in_features * out_features operations for each row",
    ),
    (
        "torch.utils.mobile_optimizer",
        "`%dump f` writes a traced function, for notegrad load-and-run",
    ),
    ("torch.utils.model_zoo", "nothing is fetched from a network here; torch.load reads a file"),
    ("torch.utils.module_tracker", "register_forward_hook tells which module runs"),
    ("torch.utils.swap_tensors", "module.load_state_dict takes over a tensor"),
    ("torch.utils.tensorboard", "print the figures, or plot them with matplotlib.pyplot"),
    ("torch.utils.weak", "`del` a name that is no longer needed"),
];
