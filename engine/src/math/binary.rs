//! Scalar functions of two arguments: one row each, as in [`super::unary`].

/// Functions of floating point numbers, but for the power.
macro_rules! float_binary {
    ($then:ident [$($with:tt)*] $($more:tt)*) => {
        $then! {
            [$($with)*]
            $($more)*
            Add all |x, y| x + y;
            Sub all |x, y| x - y;
            Mul all |x, y| x * y;
            Div all |x, y| x / y;
            FloorDiv one |x, y| float::floor_div(x, y);
            Rem one |x, y| float::rem(x, y);
            Fmod one |x, y| x.library2(y, Library2::Fmod);
            Atan2 one |x, y| x.library2(y, Library2::Atan2);
            Hypot one |x, y| x.library2(y, Library2::Hypot);
            Min all |x, y| float::min(x, y);
            Max all |x, y| float::max(x, y);
            Eq all |x, y| float::truth(x.equals(y));
            Ne all |x, y| float::truth(!x.equals(y));
            Lt all |x, y| float::truth(x.less(y));
            Le all |x, y| float::truth(x.at_most(y));
            And all |x, y| float::truth(float::is_true(x) & float::is_true(y));
            Or all |x, y| float::truth(float::is_true(x) | float::is_true(y));
            Xor all |x, y| float::truth(float::is_true(x) ^ float::is_true(y));
        }
    };
}

/// Functions of numbers of 32 bits.
macro_rules! float32_binary {
    ($then:ident $($with:tt)*) => {
        $crate::math::binary::float_binary! {
            $then [$($with)*] Pow all |x, y| float32::pow(x, y);
        }
    };
}

/// Functions of numbers of 64 bits.
macro_rules! float64_binary {
    ($then:ident $($with:tt)*) => {
        $crate::math::binary::float_binary! {
            $then [$($with)*] Pow one |x, y| x.library2(y, Library2::Pow);
        }
    };
}

/// Functions of whole numbers; what they refuse in the second says [`super::Fault::of`].
macro_rules! whole_binary {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            Add two |x, y| x.wrapping_add(y);
            Sub two |x, y| x.wrapping_sub(y);
            Mul two |x, y| x.wrapping_mul(y);
            FloorDiv one |x, y| whole::floor_div(x, y);
            Rem one |x, y| whole::rem(x, y);
            Fmod one |x, y| x.remainder(y);
            Pow one |x, y| x.power(y);
            Min two |x, y| whole::min(x, y);
            Max two |x, y| whole::max(x, y);
            Eq two |x, y| whole::truth(x.equals(y));
            Ne two |x, y| whole::truth(!x.equals(y));
            Lt two |x, y| whole::truth(x.less(y));
            Le two |x, y| whole::truth(x.at_most(y));
            And two |x, y| whole::truth(whole::is_true(x) & whole::is_true(y));
            Or two |x, y| whole::truth(whole::is_true(x) | whole::is_true(y));
            Xor two |x, y| whole::truth(whole::is_true(x) ^ whole::is_true(y));
            BitAnd two |x, y| x & y;
            BitOr two |x, y| x | y;
            BitXor two |x, y| x ^ y;
            Shl two |x, y| whole::shl(x, y);
            Shr two |x, y| whole::shr(x, y);
        }
    };
}

pub(crate) use {float_binary, float32_binary, float64_binary, whole_binary};
