//! Plans of discrete Fourier transforms, by `rustfft` and `realfft`.

use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

/// A float type that is transformed.
pub trait Wave: FftNum {
    /// Of `n` complex numbers, with `exp(+2 pi i j k / n)` where `backward`, else with the opposite sign; without a factor.
    fn complex(n: usize, backward: bool) -> Arc<dyn Fft<Self>>;

    /// Of `n` real numbers to the first half of their spectrum, and one more, forward.
    fn to_half(n: usize) -> Arc<dyn RealToComplex<Self>>;

    /// Of such a half to `n` real numbers, backward.
    fn from_half(n: usize) -> Arc<dyn ComplexToReal<Self>>;
}

macro_rules! waves {
    ($($float:ty),*) => {
        $(impl Wave for $float {
            fn complex(n: usize, backward: bool) -> Arc<dyn Fft<Self>> {
                let mut planner = FftPlanner::new();
                match backward {
                    true => planner.plan_fft_inverse(n),
                    false => planner.plan_fft_forward(n),
                }
            }

            fn to_half(n: usize) -> Arc<dyn RealToComplex<Self>> {
                RealFftPlanner::new().plan_fft_forward(n)
            }

            fn from_half(n: usize) -> Arc<dyn ComplexToReal<Self>> {
                RealFftPlanner::new().plan_fft_inverse(n)
            }
        })*
    };
}

waves!(f32, f64);
