//! Page-locked main memory: the processor uses it as any other, and GPUs copy from and to it by themselves, at the speed of the bus. It is a
//! part of main memory: it counts against that budget.

use std::ptr::NonNull;

use super::{driver::Driver, gpus_in_use};
use crate::cpu::memory::{HOST, Memory, Source};

/// Page-locked memory; there is none without a GPU.
pub(crate) static PINNED: Memory = Memory::inside(&HOST, Source { take, give });

fn take(bytes: usize) -> Option<NonNull<u8>> {
    driver()?.pin(bytes).ok()
}

fn give(start: NonNull<u8>, bytes: usize) {
    if let Some(driver) = driver() {
        driver.unpin(start, bytes);
    }
}

/// Who locks pages, for all GPUs.
fn driver() -> Option<&'static dyn Driver> {
    gpus_in_use().first()?.driver().ok()
}
