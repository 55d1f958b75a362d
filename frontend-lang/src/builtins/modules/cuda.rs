//! `torch.cuda`: what code asks before it chooses a device, and calls that do nothing without one.

use super::torch::manual_seed;
use crate::native::*;

/// `torch.cuda`.
pub static MODULE: NativeModule = NativeModule {
    name: "torch.cuda",
    doc: "Whether there is a GPU to compute on.",
    members: &[Member::Functions(FUNCTIONS), Member::Module("amp", "torch.cuda.amp")],
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
        "Restarts the random numbers, as `torch.manual_seed` does.",
        seeds_gpu,
    )
    .session(),
    function("manual_seed_all", "seed", "As `manual_seed`.", seeds_gpu).session(),
    function("synchronize", "device=None", "Waits for GPUs; does nothing without one.", nothing)
        .pure(),
];

fn empty_cache(_cx: &mut Cx, _args: Args<'_>) -> Res {
    engine::cpu::memory::HOST.trim();
    Ok(Value::None)
}

fn nothing(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::None)
}

/// Without a GPU there is nothing to seed: numbers of the CPU go on as they were.
fn seeds_gpu(cx: &mut Cx, args: Args<'_>) -> Res {
    args.int(0)?;
    match n_gpus(cx, args)?.as_int() {
        Some(0) => Ok(Value::None),
        _ => manual_seed(cx, args),
    }
}

fn n_gpus(_cx: &mut Cx, _args: Args<'_>) -> Res {
    let gpus = engine::Device::available().iter().filter(|it| **it != engine::Device::Cpu);
    Ok(Value::from(gpus.count()))
}

fn has_gpu(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Bool(n_gpus(cx, args)?.as_int() != Some(0)))
}
