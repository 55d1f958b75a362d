//! Compiles a loop twice: for any machine, and for one with 256-bit vectors. Which one runs is found at run time.

/// A loop to compile for several vector widths. Implementations mark `run` `#[inline(always)]`.
pub trait Loop {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs the loop with the widest vectors there are. Results do not depend on the width.
#[inline]
pub fn run<L: Loop>(body: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the features were just found.
        return unsafe { avx2(body) };
    }
    body.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Loop>(body: L) -> L::Output {
    body.run()
}
