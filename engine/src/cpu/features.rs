//! Which vector instruction set the kernels use, detected once per process.

use crate::sync::OnceLock;

/// A vector instruction set, from the least to the most capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Plain Rust that the compiler vectorises for the baseline of the target.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Isa {
    /// The name that `NOTEGRAD_ISA` takes.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        self <= isa() || self <= detect()
    }

    /// Every set that this machine can run, least capable first.
    pub fn available() -> Vec<Isa> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|&isa| isa <= detect()).collect()
    }
}

/// The set in use: the best one of the machine, or a lesser one named by `NOTEGRAD_ISA`.
pub fn isa() -> Isa {
    static CHOSEN: OnceLock<Isa> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let best = detect();
        match std::env::var("NOTEGRAD_ISA").as_deref() {
            Ok("portable") => Isa::Portable,
            Ok("avx2") => best.min(Isa::Avx2),
            _ => best,
        }
    })
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        _ => Isa::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Portable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_set_can_run_here() {
        assert!(Isa::available().contains(&isa()));
        assert_eq!(Isa::available()[0], Isa::Portable);
    }
}
