//! The spec of GPUs, on one that runs the same kernels on the processor.

use std::path::Path;

use tests::spec::{Runner, Runs, check_file, level};

#[test]
fn programs_run_on_a_gpu() {
    engine::cuda::emulate();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs_gpu/cuda.md");
    let (count, wrong) = check_file(&path, &mut Runner::with_check(level(&path)));
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn an_error_about_devices_says_which_name_to_move() {
    engine::cuda::emulate();
    let shown = |cell: &str| {
        let mut session = Runner::default();
        assert!(session.run("import torch\nfrom torch import nn").error.is_none());
        session.run(cell).error.unwrap_or_default().plain
    };
    let alone = shown("x = torch.ones(2, device='cuda')\ny = torch.ones(2)\nx.mul(y)");
    for part in [
        "x was made here",
        "y: float32[2] on cpu",
        "help: `y` is on cpu and `x` on cuda:0: write `y.to('cuda:0')` (more: %explain device::mixed)",
    ] {
        assert!(alone.contains(part), "{part}: {alone}");
    }
    let model = "model = nn.Sequential(nn.ReLU(), nn.Linear(2, 3)).cuda()\n";
    let layer = shown(&format!("{model}for batch in torch.ones(1, 4, 2):\n    model(batch)"));
    for part in [
        "batch: float32[4, 2] on cpu",
        "model.1 is Linear(in_features=2, out_features=3)",
        "help: `batch` is on cpu and `model` on cuda:0: write `batch.to('cuda:0')`",
    ] {
        assert!(layer.contains(part), "{part}: {layer}");
    }
}
