//! `torch.cuda`: what code asks before it chooses a device, and what it asks of the GPUs that are there.

use engine::cuda::settings;
use engine::{Device, cuda};

use crate::native::*;
use crate::tensor::{convert, device, made};

/// `torch.cuda`.
pub static MODULE: NativeModule = NativeModule {
    name: "torch.cuda",
    doc: "GPUs: whether there are some, what they are, and their memory.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::AllOf("torch.cuda.devices"),
        Member::Module("amp", "torch.cuda.amp"),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("is_available", "", "Whether tensors can live on a GPU.", has_gpu).pure(),
    function("device_count", "", "Number of GPUs that tensors can live on.", n_gpus).pure(),
    function(
        "empty_cache",
        "",
        "Gives memory that is kept for reuse back to the system, that of the CPU too.",
        empty_cache,
    )
    .pure(),
    function(
        "manual_seed",
        "seed",
        "Restarts the random numbers of the GPU.",
        seeds_gpu,
    )
    .session(),
    function("manual_seed_all", "seed", "Restarts the random numbers of all GPUs.", seeds_gpu).session(),
    function(
        "synchronize",
        "device=None",
        "Waits until a GPU has done what it was asked; an error for elements that ops have refused meanwhile.",
        synchronize,
    )
    .session(),
    function("memory_allocated", "device=None", "Bytes that tensors hold on a GPU.", |_, args| {
        stat(args, |it| it.live)
    })
    .session(),
    function(
        "max_memory_allocated",
        "device=None",
        "The most bytes that tensors have held on a GPU.",
        |_, args| stat(args, |it| it.peak),
    )
    .session(),
    function(
        "memory_reserved",
        "device=None",
        "Bytes that tensors hold on a GPU, and those that are kept for reuse.",
        |_, args| stat(args, |it| it.live + it.cached),
    )
    .session(),
    function(
        "reset_peak_memory_stats",
        "device=None",
        "Measures `max_memory_allocated` anew from now on.",
        reset_peak,
    )
    .session(),
    function("mem_get_info", "device=None", "Bytes of a GPU: those that are free, and all.", info)
        .session(),
    function("_pinned", "x", "The same elements in page-locked main memory.", pinned),
    function("_is_pinned", "x", "Whether the elements lie in page-locked main memory.", is_pinned),
    function("_properties", "device", "Name, compute capability, bytes and multiprocessors.", properties)
        .session(),
    function("_cudnn_version", "", "The version of cuDNN, or None.", cudnn_version).session(),
    function("_switch", "name, on", "Sets how the libraries of a GPU compute.", switch).session(),
];

fn empty_cache(_cx: &mut Cx, _args: Args<'_>) -> Res {
    engine::cpu::memory::HOST.trim();
    cuda::trim();
    Ok(Value::None)
}

fn pinned(_cx: &mut Cx, args: Args<'_>) -> Res {
    let value = convert::variable(&args[0])?.get();
    let pinned = made::pinned(&value)?;
    Ok(if value.is_pinned() { args[0].clone() } else { Value::tensor(pinned) })
}

fn is_pinned(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(convert::variable(&args[0])?.get().is_pinned()))
}

/// Numbers of the CPU go on as they were.
fn seeds_gpu(_cx: &mut Cx, args: Args<'_>) -> Res {
    cuda::seed(args.int(0)? as u64);
    Ok(Value::None)
}

/// The number of the GPU that is named; that of the first if none is.
fn index(args: &Args<'_>) -> Result<u8, Raised> {
    match args.opt(0).map(device::from_value).transpose()? {
        None => Ok(0),
        Some(Device::Cuda(index)) => Ok(index),
        Some(other) => Err(value_error(format!("Expected a cuda device, but got: {other}"))),
    }
}

fn synchronize(_cx: &mut Cx, args: Args<'_>) -> Res {
    if cuda::available().len() > 1 {
        cuda::synchronize(Device::Cuda(index(&args)?))?;
    }
    Ok(Value::None)
}

fn stat(args: Args<'_>, of: fn(&engine::cpu::memory::Stats) -> usize) -> Res {
    if cuda::available().len() == 1 {
        return Ok(Value::Int(0));
    }
    Ok(Value::from(of(&cuda::stats(index(&args)?)?)))
}

fn reset_peak(_cx: &mut Cx, args: Args<'_>) -> Res {
    cuda::reset_peak(index(&args)?)?;
    Ok(Value::None)
}

fn info(_cx: &mut Cx, args: Args<'_>) -> Res {
    let index = index(&args)?;
    let free = cuda::free_memory(index)?;
    let whole = cuda::devices().get(usize::from(index)).map_or(0, |it| it.memory);
    Ok(Value::tuple([Value::from(free), Value::from(whole)]))
}

fn properties(_cx: &mut Cx, args: Args<'_>) -> Res {
    let index = index(&args)?;
    cuda::check(Device::Cuda(index))?;
    let all = cuda::devices();
    let Some(it) = all.get(usize::from(index)) else { return Ok(Value::None) };
    let numbers = [it.capability.0, it.capability.1, it.multiprocessors];
    let [major, minor, n] = numbers.map(|it| Value::Int(it.into()));
    Ok(Value::tuple([Value::str(&it.name), major, minor, Value::from(it.memory), n]))
}

fn n_gpus(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::from(cuda::available().len() - 1))
}

fn has_gpu(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(n_gpus(cx, args)?.as_int() != Some(0)))
}

fn cudnn_version(_cx: &mut Cx, _args: Args<'_>) -> Res {
    let version = if cuda::available().len() > 1 { cuda::cudnn_version() } else { None };
    Ok(version.map_or(Value::None, Value::from))
}

fn switch(cx: &mut Cx, args: Args<'_>) -> Res {
    let switch = match args[0].as_str() {
        Some("cudnn") => &settings::CUDNN,
        Some("measured") => &settings::MEASURED,
        Some("coarse convolutions") => &settings::COARSE_CONVOLUTIONS,
        Some("coarse products") => &settings::COARSE_PRODUCTS,
        _ => return Err(value_error("there is no such switch".to_owned())),
    };
    switch.set(cx.truth(&args[1])?);
    Ok(Value::None)
}
