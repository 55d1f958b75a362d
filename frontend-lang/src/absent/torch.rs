//! Names of `torch` and of tensors that PyTorch has and this language has not, and what to use in their place. Sorted by name.

use super::Row;

/// Names of `torch` itself, and of tensors, which stand below `torch.Tensor`.
pub(super) static ATTRIBUTES: &[Row] = &[
    (
        "torch.BFloat16Storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.BoolStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.ByteStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.CharStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.ComplexDoubleStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.ComplexFloatStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.DoubleStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    ("torch.Event", "torch.cuda.synchronize() waits for a GPU; operations run in order"),
    (
        "torch.FloatStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.HalfStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.IntStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.LongStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.ShortStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.Storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.StorageBase",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    ("torch.Stream", "torch.cuda.synchronize() waits for a GPU; operations run in order"),
    (
        "torch.SymBool",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.SymFloat",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.SymInt",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.Tensor.as_subclass",
        "functions take tensors as they are; write functions of your own, and torch.autograd.Function for gradients",
    ),
    (
        "torch.Tensor.ccol_indices",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    ("torch.Tensor.chalf", "complex numbers are complex64 or complex128"),
    ("torch.Tensor.cholesky", "PyTorch has torch.linalg.cholesky in its place"),
    (
        "torch.Tensor.coalesce",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.col_indices",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.const_data_ptr",
        "elements have no address here; writing to a view shows whether it shares them",
    ),
    (
        "torch.Tensor.crow_indices",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.data_ptr",
        "elements have no address here; writing to a view shows whether it shares them",
    ),
    (
        "torch.Tensor.dense_dim",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.dequantize",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    ("torch.Tensor.eig", "PyTorch has torch.linalg.eig in its place"),
    ("torch.Tensor.hash_tensor", "torch.equal compares tensors"),
    (
        "torch.Tensor.indices",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.int_repr",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.Tensor.is_coalesced",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    ("torch.Tensor.is_inference", "is_grad_enabled() is False under inference_mode and no_grad"),
    (
        "torch.Tensor.is_set_to",
        "elements have no address here; writing to a view shows whether it shares them",
    ),
    ("torch.Tensor.lstsq", "PyTorch has torch.linalg.lstsq in its place"),
    ("torch.Tensor.module_load", "module.load_state_dict takes over a tensor"),
    (
        "torch.Tensor.q_scale",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.Tensor.q_zero_point",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    ("torch.Tensor.qr", "PyTorch has torch.linalg.qr in its place"),
    (
        "torch.Tensor.qscheme",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.Tensor.record_stream",
        "torch.cuda.synchronize() waits for a GPU; operations run in order",
    ),
    ("torch.Tensor.reinforce", "torch.distributions gives log_prob(); loss = -log_prob * reward"),
    ("torch.Tensor.resize", "write x.resize_(sizes), or x.reshape(sizes)"),
    ("torch.Tensor.resize_as", "write x.resize_(sizes), or x.reshape(sizes)"),
    (
        "torch.Tensor.row_indices",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    ("torch.Tensor.set_", "write x.data = y, or x.copy_(y)"),
    (
        "torch.Tensor.smm",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    ("torch.Tensor.solve", "PyTorch has torch.linalg.solve in its place"),
    (
        "torch.Tensor.sparse_dim",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.sparse_mask",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.sspaddmm",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.Tensor.storage_type",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    ("torch.Tensor.symeig", "PyTorch has torch.linalg.eigh in its place"),
    (
        "torch.Tensor.to_padded_tensor",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.to_sparse",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.Tensor.untyped_storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.Tensor.values",
        "tensors are dense: x itself has the elements, x.nonzero() the places that are not 0",
    ),
    (
        "torch.TypedStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.UntypedStorage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    ("torch.ao", "numbers are not quantised here; x.half() and x.bfloat16() take half the memory"),
    ("torch.autocast_decrement_nesting", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.autocast_increment_nesting", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.batch_norm_elemt", "call torch.nn.functional.batch_norm"),
    ("torch.batch_norm_stats", "call torch.nn.functional.batch_norm"),
    ("torch.bcomplex32", "complex numbers are complex64 or complex128"),
    ("torch.bit", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.bits16", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.bits1x8", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.bits2x4", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.bits4x2", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.bits8", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.chalf", "complex numbers are complex64 or complex128"),
    ("torch.cholesky", "PyTorch has torch.linalg.cholesky in its place"),
    ("torch.complex32", "complex numbers are complex64 or complex128"),
    (
        "torch.default_generator",
        "torch.manual_seed seeds the generator of all; torch.Generator() makes one of your own",
    ),
    (
        "torch.dequantize",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    ("torch.distributed", "one machine computes; operations use all its cores by themselves"),
    ("torch.dsmm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.eig", "PyTorch has torch.linalg.eig in its place"),
    (
        "torch.embedding_bag",
        "call torch.nn.functional.embedding_bag: it takes the input first and gives the bags alone",
    ),
    ("torch.embedding_renorm_", "give max_norm to torch.nn.functional.embedding"),
    ("torch.empty_permuted", "write torch.empty(sizes).permute(order)"),
    (
        "torch.export",
        "`%dump f` writes a traced function, `%dump f model.onnx --format onnx` one for other runtimes",
    ),
    ("torch.float4_e2m1fn_x2", "the narrowest floats are float16 and bfloat16"),
    ("torch.float8_e4m3fn", "the narrowest floats are float16 and bfloat16"),
    ("torch.float8_e4m3fnuz", "the narrowest floats are float16 and bfloat16"),
    ("torch.float8_e5m2", "the narrowest floats are float16 and bfloat16"),
    ("torch.float8_e5m2fnuz", "the narrowest floats are float16 and bfloat16"),
    ("torch.float8_e8m0fnu", "the narrowest floats are float16 and bfloat16"),
    ("torch.fork", "write `%trace` or notegrad.trace(f): they make a graph of a function"),
    ("torch.from_dlpack", "torch.from_numpy and x.numpy() share elements with arrays"),
    ("torch.from_file", "there are no bytes; torch.load, np.load and json read data"),
    ("torch.frombuffer", "there are no bytes; torch.load, np.load and json read data"),
    ("torch.futures", "operations on tensors use all cores by themselves"),
    ("torch.fx", "write `%trace` or notegrad.trace(f): they make a graph of a function"),
    (
        "torch.get_autocast_cpu_dtype",
        "call torch.is_autocast_enabled(device_type) or torch.get_autocast_dtype(device_type)",
    ),
    (
        "torch.get_autocast_gpu_dtype",
        "call torch.is_autocast_enabled(device_type) or torch.get_autocast_dtype(device_type)",
    ),
    (
        "torch.get_num_interop_threads",
        "operations run one after the other; torch.set_num_threads says how many cores each may use",
    ),
    ("torch.gru", "make a layer, nn.GRU(...), and set its weights"),
    ("torch.hash_tensor", "torch.equal compares tensors"),
    ("torch.hsmm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.hspmm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.hub", "nothing is fetched from a network here; torch.load reads a file"),
    ("torch.int1", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int2", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int3", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int4", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int5", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int6", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.int7", "whole numbers are int8 to int64, uint8 and uint16"),
    (
        "torch.is_autocast_cache_enabled",
        "call torch.is_autocast_enabled(device_type) or torch.get_autocast_dtype(device_type)",
    ),
    (
        "torch.is_autocast_cpu_enabled",
        "call torch.is_autocast_enabled(device_type) or torch.get_autocast_dtype(device_type)",
    ),
    ("torch.is_inference", "is_grad_enabled() is False under inference_mode and no_grad"),
    (
        "torch.is_inference_mode_enabled",
        "is_grad_enabled() is False under inference_mode and no_grad",
    ),
    (
        "torch.is_storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    ("torch.is_warn_always_enabled", "write `warnings.simplefilter(\"always\")`"),
    ("torch.jit", "write `%trace` or notegrad.trace(f): they make a graph of a function"),
    ("torch.layout", "x.layout is torch.strided for all tensors"),
    (
        "torch.library",
        "functions take tensors as they are; write functions of your own, and torch.autograd.Function for gradients",
    ),
    ("torch.lobpcg", "torch.linalg.eigh gives all eigenvalues of a symmetric matrix"),
    ("torch.lstm", "make a layer, nn.LSTM(...), and set its weights"),
    ("torch.lstsq", "PyTorch has torch.linalg.lstsq in its place"),
    ("torch.matrix_rank", "PyTorch has torch.linalg.matrix_rank in its place"),
    ("torch.memory_format", "torch.contiguous_format and torch.preserve_format are values of it"),
    ("torch.monitor", "print the figures, or plot them with matplotlib.pyplot"),
    ("torch.multiprocessing", "operations on tensors use all cores by themselves"),
    ("torch.native_batch_norm", "call torch.nn.functional.batch_norm"),
    ("torch.native_channel_shuffle", "call torch.nn.functional.channel_shuffle"),
    ("torch.native_dropout", "call torch.nn.functional.dropout"),
    ("torch.native_group_norm", "call torch.nn.functional.group_norm"),
    ("torch.native_layer_norm", "call torch.nn.functional.layer_norm"),
    (
        "torch.nested",
        "lists of tensors hold rows of different lengths; torch.nn.utils.rnn pads and packs them",
    ),
    ("torch.onnx", "`%dump f model.onnx --format onnx` writes a model"),
    (
        "torch.overrides",
        "functions take tensors as they are; write functions of your own, and torch.autograd.Function for gradients",
    ),
    ("torch.package", "files hold data; code is a .ng or .py file beside the notebook"),
    ("torch.profiler", "`%prun` shows what takes how long"),
    (
        "torch.qint32",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.qint8",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    ("torch.qr", "PyTorch has torch.linalg.qr in its place"),
    (
        "torch.quantization",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quantize_per_channel",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quantize_per_tensor",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quantize_per_tensor_dynamic",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quasirandom",
        "torch.rand draws points; for points that fill a square evenly, torch.cartesian_prod makes a grid",
    ),
    (
        "torch.quint2x4",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quint4x2",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    (
        "torch.quint8",
        "numbers are not quantised here; x.half() and x.bfloat16() take half the memory",
    ),
    ("torch.rnn_relu", "make a layer, nn.RNN(...), and set its weights"),
    ("torch.rnn_tanh", "make a layer, nn.RNN(...), and set its weights"),
    ("torch.saddmm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.set_anomaly_enabled", "write `torch.autograd.set_detect_anomaly(True)`"),
    ("torch.set_autocast_cache_enabled", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.set_autocast_cpu_dtype", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.set_autocast_cpu_enabled", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.set_autocast_dtype", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.set_autocast_enabled", "write `with torch.autocast(device, dtype=...):`"),
    ("torch.set_autocast_gpu_dtype", "write `with torch.autocast(device, dtype=...):`"),
    (
        "torch.set_num_interop_threads",
        "operations run one after the other; torch.set_num_threads says how many cores each may use",
    ),
    ("torch.set_warn_always", "write `warnings.simplefilter(\"always\")`"),
    ("torch.smm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.solve", "PyTorch has torch.linalg.solve in its place"),
    ("torch.sparse", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.sparse_bsc_tensor", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.sparse_bsr_tensor", "tensors are dense; index_add and scatter_add add up by index"),
    (
        "torch.sparse_compressed_tensor",
        "tensors are dense; index_add and scatter_add add up by index",
    ),
    ("torch.sparse_coo_tensor", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.sparse_csc_tensor", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.sparse_csr_tensor", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.spmm", "tensors are dense; index_add and scatter_add add up by index"),
    ("torch.sspaddmm", "tensors are dense; index_add and scatter_add add up by index"),
    (
        "torch.storage",
        "tensors own their elements: x.reshape(-1) gives them in order, x.nbytes is how many bytes they take",
    ),
    (
        "torch.sym_constrain_range",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_constrain_range_for_size",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_float",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_fresh_size",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_int",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_ite",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_max",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_min",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_not",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_sqrt",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    (
        "torch.sym_sum",
        "sizes are numbers here: write int(), float(), max(), min(), sum(), `not` and math.sqrt()",
    ),
    ("torch.symeig", "PyTorch has torch.linalg.eigh in its place"),
    (
        "torch.thread_safe_generator",
        "torch.manual_seed seeds the generator of all; torch.Generator() makes one of your own",
    ),
    ("torch.to_dlpack", "torch.from_numpy and x.numpy() share elements with arrays"),
    ("torch.uint1", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint2", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint3", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint32", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint4", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint5", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint6", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint64", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.uint7", "whole numbers are int8 to int64, uint8 and uint16"),
    ("torch.wait", "write `%trace` or notegrad.trace(f): they make a graph of a function"),
];
