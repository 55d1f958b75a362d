//! Scalar functions of one argument: one row each, for each type of number.
//!
//! A row says how many versions of its loop are compiled (`all` instruction sets, `two` without AVX-512 where that is not worth the time
//! to compile, `one` where a library function is called for each number), and what the function is. The tables are given to a macro,
//! with what it wants besides in brackets, so that loops and expansions come from the same rows.

/// Functions of numbers of 32 bits. `trig`, and `trig64` of 64 bits: as `all`, where numbers beyond the reach of the formula go to the library.
macro_rules! float32_unary {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            Neg all |x| -x;
            Abs all |x| x.abs();
            Sign all |x| float::sign(x);
            Floor all |x| x.floor();
            Ceil all |x| x.ceil();
            Round all |x| x.round_ties_even();
            Trunc all |x| x.trunc();
            Exp all |x| float32::exp(x);
            Exp2 all |x| float32::exp2(x);
            Expm1 all |x| float32::expm1(x);
            Log all |x| float32::log(x);
            Log2 all |x| float32::log2(x);
            Log10 all |x| float32::log10(x);
            Log1p all |x| float32::log1p(x);
            Sqrt all |x| x.sqrt();
            Rsqrt all |x| float::recip(x.sqrt());
            Recip all |x| float::recip(x);
            Sin trig |x| float32::sin(x);
            Cos trig |x| float32::cos(x);
            Tan trig |x| float32::tan(x);
            Asin one |x| x.library(Library::Asin);
            Acos one |x| x.library(Library::Acos);
            Atan one |x| x.library(Library::Atan);
            Sinh all |x| float32::sinh(x);
            Cosh all |x| float32::cosh(x);
            Tanh all |x| float32::tanh(x);
            Asinh one |x| float32::rounded(x, float64::asinh);
            Acosh one |x| float32::rounded(x, float64::acosh);
            Atanh one |x| float32::rounded(x, float64::atanh);
            Sigmoid all |x| float32::sigmoid(x);
            Erf all |x| float32::erf(x);
            Erfc all |x| float32::erfc(x);
            Erfinv all |x| float32::erfinv(x);
            Lgamma all |x| gamma::lgamma32(x);
            Digamma all |x| gamma::digamma32(x);
            Trigamma all |x| float32::rounded(x, gamma::trigamma);
            I0 all |x| float32::rounded(x, bessel::i0);
            I0e all |x| float32::rounded(x, bessel::i0e);
            I1 all |x| float32::rounded(x, bessel::i1);
            I1e all |x| float32::rounded(x, bessel::i1e);
            Not all |x| float::not(x);
        }
    };
}

/// Functions of numbers of 64 bits.
macro_rules! float64_unary {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            Neg all |x| -x;
            Abs all |x| x.abs();
            Sign all |x| float::sign(x);
            Floor all |x| x.floor();
            Ceil all |x| x.ceil();
            Round all |x| x.round_ties_even();
            Trunc all |x| x.trunc();
            Exp all |x| float64::exp(x);
            Exp2 one |x| x.library(Library::Exp2);
            Expm1 all |x| float64::expm1(x);
            Log one |x| x.library(Library::Log);
            Log2 one |x| x.library(Library::Log2);
            Log10 one |x| x.library(Library::Log10);
            Log1p one |x| x.library(Library::Log1p);
            Sqrt all |x| x.sqrt();
            Rsqrt all |x| float::recip(x.sqrt());
            Recip all |x| float::recip(x);
            Sin trig64 |x| circular64::sin(x);
            Cos trig64 |x| circular64::cos(x);
            Tan one |x| x.library(Library::Tan);
            Asin one |x| x.library(Library::Asin);
            Acos one |x| x.library(Library::Acos);
            Atan one |x| x.library(Library::Atan);
            Sinh one |x| x.library(Library::Sinh);
            Cosh one |x| x.library(Library::Cosh);
            Tanh all |x| float64::tanh(x);
            Asinh one |x| float64::asinh(x);
            Acosh one |x| float64::acosh(x);
            Atanh one |x| float64::atanh(x);
            Sigmoid all |x| float64::sigmoid(x);
            Erf one |x| float64::erf(x);
            Erfc one |x| float64::erfc(x);
            Erfinv one |x| float64::erfinv(x);
            Lgamma all |x| gamma::lgamma(x);
            Digamma all |x| gamma::digamma(x);
            Trigamma all |x| gamma::trigamma(x);
            I0 all |x| bessel::i0(x);
            I0e all |x| bessel::i0e(x);
            I1 all |x| bessel::i1(x);
            I1e all |x| bessel::i1e(x);
            Not all |x| float::not(x);
        }
    };
}

/// Functions of whole numbers.
macro_rules! whole_unary {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            Neg two |x| whole::neg(x);
            Abs two |x| whole::abs(x);
            Sign two |x| whole::sign(x);
            Floor one |x| x;
            Ceil one |x| x;
            Round one |x| x;
            Trunc one |x| x;
            Not two |x| whole::not(x);
            BitNot two |x| !x;
        }
    };
}

pub(crate) use {float32_unary, float64_unary, whole_unary};
