//! The spec of GPUs, on one that runs the same kernels on the processor.

use std::path::Path;

use tests::spec::{Runner, check_file, level};

#[test]
fn programs_run_on_a_gpu() {
    engine::cuda::emulate();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs_gpu/cuda.md");
    let (count, wrong) = check_file(&path, &mut Runner::with_check(level(&path)));
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
}
