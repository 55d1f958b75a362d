//! What programs choose of the vendor's libraries (`torch.backends`), for the whole process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Something that is on or off.
#[derive(Debug)]
pub struct Switch(AtomicBool);

impl Switch {
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

/// Whether convolutions go by cuDNN, where it is.
pub static CUDNN: Switch = Switch(AtomicBool::new(true));

/// Whether algorithms of convolutions and products are measured when a case first comes.
pub static MEASURED: Switch = Switch(AtomicBool::new(false));

/// Whether convolutions of float32 may multiply with fewer digits, by tensor cores.
pub static COARSE_CONVOLUTIONS: Switch = Switch(AtomicBool::new(false));

/// As [`COARSE_CONVOLUTIONS`], for products of matrices.
pub static COARSE_PRODUCTS: Switch = Switch(AtomicBool::new(false));
