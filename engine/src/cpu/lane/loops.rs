//! The loops themselves, compiled once per instruction set.

use super::super::features::Isa;
use super::super::typed::Plain;
use crate::math::Fault;

/// Computes `n` elements: destination, up to four operands, count.
///
/// # Safety
/// Every pointer that the kernel uses is valid and aligned for `n` elements of its type, and the destination overlaps
/// no operand. The processor has the instruction set that the kernel was asked for.
pub(super) type Loop = unsafe fn(*mut u8, &[*const u8; 4], usize);

/// A loop with what its operands are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kern {
    pub(super) run: Loop,
    /// The same where the destination is operand 0, or 1, whose elements it replaces; the others do not overlap it.
    pub(super) onto: [Option<Loop>; 2],
    /// Bytes of one element of the result, and of one of each operand.
    pub(super) result: usize,
    pub(super) operand: usize,
    /// Number of operands.
    pub(super) arity: usize,
    /// What it refuses in its second operand, whole numbers of 64 bits.
    pub(super) refuses: Option<Fault>,
}

/// A scalar function of one operand.
pub(super) trait Map1<A: Copy, R> {
    /// Instruction sets it is compiled for: any machine's, then AVX2, then AVX-512.
    const SETS: u8 = 3;

    /// Whether some operands need another function than the loop's.
    const REDO: bool = false;

    fn call(x: A) -> R;

    /// Whether this operand is one of those.
    #[inline(always)]
    fn redo(_x: A) -> bool {
        false
    }

    /// The other function.
    fn again(x: A) -> R {
        Self::call(x)
    }
}

/// A scalar function of two operands.
pub(super) trait Map2<A, R> {
    /// Instruction sets it is compiled for: any machine's, then AVX2, then AVX-512.
    const SETS: u8 = 3;

    fn call(x: A, y: A) -> R;
}

/// A scalar function of three operands.
pub(super) trait Map3<A, R> {
    /// Instruction sets it is compiled for: any machine's, then AVX2, then AVX-512.
    const SETS: u8 = 3;

    fn call(x: A, y: A, z: A) -> R;
}

/// A scalar function of four operands.
pub(super) trait Map4<A, R> {
    /// Instruction sets it is compiled for: any machine's, then AVX2, then AVX-512.
    const SETS: u8 = 3;

    fn call(x: A, y: A, z: A, w: A) -> R;
}

#[inline(always)]
unsafe fn read<'a, T: Plain>(ptr: *const u8, n: usize) -> &'a [T] {
    // SAFETY: promised by the caller of the kernel.
    unsafe { std::slice::from_raw_parts(ptr.cast(), n) }
}

#[inline(always)]
unsafe fn write<'a, T: Plain>(ptr: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: promised by the caller of the kernel.
    unsafe { std::slice::from_raw_parts_mut(ptr.cast(), n) }
}

/// Whether any needs the other function. All are looked at, so that the loop becomes vector code.
#[inline(always)]
fn are_far<A: Plain, R, F: Map1<A, R>>(a: &[A]) -> bool {
    F::REDO && a.iter().fold(false, |met, &x| met | F::redo(x))
}

#[inline(always)]
fn each1<A: Plain, R: Plain, F: Map1<A, R>>(dst: &mut [R], a: &[A]) {
    for (d, &x) in dst.iter_mut().zip(a) {
        *d = F::call(x);
    }
    if are_far::<A, R, F>(a) {
        for (d, &x) in dst.iter_mut().zip(a).filter(|it| F::redo(*it.1)) {
            *d = F::again(x);
        }
    }
}

#[inline(always)]
fn each2<A: Plain, R: Plain, F: Map2<A, R>>(dst: &mut [R], a: &[A], b: &[A]) {
    for ((d, &x), &y) in dst.iter_mut().zip(a).zip(b) {
        *d = F::call(x, y);
    }
}

#[inline(always)]
fn each3<A: Plain, R: Plain, F: Map3<A, R>>(dst: &mut [R], a: &[A], b: &[A], c: &[A]) {
    for (((d, &x), &y), &z) in dst.iter_mut().zip(a).zip(b).zip(c) {
        *d = F::call(x, y, z);
    }
}

#[inline(always)]
fn each4<A: Plain, R: Plain, F: Map4<A, R>>(dst: &mut [R], a: &[A], b: &[A], c: &[A], e: &[A]) {
    for ((((d, &x), &y), &z), &w) in dst.iter_mut().zip(a).zip(b).zip(c).zip(e) {
        *d = F::call(x, y, z, w);
    }
}

/// As [`each1`], onto the operand.
///
/// # Safety
/// There are `n` elements of both types, which have one size, at `dst`.
#[inline(always)]
unsafe fn onto1<A: Plain, R: Plain, F: Map1<A, R>>(dst: *mut u8, n: usize) {
    // SAFETY: promised by the caller.
    let are_far = are_far::<A, R, F>(unsafe { read(dst, n) });
    let (from, to) = (dst.cast::<A>(), dst.cast::<R>());
    if are_far {
        for at in 0..n {
            // SAFETY: promised by the caller; an element is read before it is replaced.
            unsafe {
                let x = *from.add(at);
                *to.add(at) = if F::redo(x) { F::again(x) } else { F::call(x) };
            }
        }
        return;
    }
    for at in 0..n {
        // SAFETY: promised by the caller; an element is read before it is replaced.
        unsafe { *to.add(at) = F::call(*from.add(at)) };
    }
}

/// As [`each2`], onto one operand; `call` gets an element of that first.
///
/// # Safety
/// There are as many elements of both types, which have one size, at `dst` as `other` has.
#[inline(always)]
unsafe fn onto2<A: Plain, R: Plain>(dst: *mut u8, other: &[A], call: impl Fn(A, A) -> R) {
    let (from, to) = (dst.cast::<A>(), dst.cast::<R>());
    for (at, &y) in other.iter().enumerate() {
        // SAFETY: promised by the caller; an element is read before it is replaced.
        unsafe { *to.add(at) = call(*from.add(at), y) };
    }
}

/// As [`onto2`] with two others.
///
/// # Safety
/// There are as many elements of both types, which have one size, at `dst` as the others have.
#[inline(always)]
unsafe fn onto3<A: Plain, R: Plain>(dst: *mut u8, a: &[A], b: &[A], call: impl Fn(A, A, A) -> R) {
    let (from, to) = (dst.cast::<A>(), dst.cast::<R>());
    for (at, (&y, &z)) in a.iter().zip(b).enumerate() {
        // SAFETY: promised by the caller; an element is read before it is replaced.
        unsafe { *to.add(at) = call(*from.add(at), y, z) };
    }
}

/// Defines `$name`, which gives a loop over a function for an instruction set.
macro_rules! versions {
    ($name:ident, $trait:ident, |$dst:ident, $src:ident, $n:ident, $A:ident, $R:ident, $F:ident| $body:expr) => {
        fn $name<$A: Plain, $R: Plain, $F: $trait<$A, $R>>(isa: Isa) -> Loop {
            #[inline(always)]
            unsafe fn body<$A: Plain, $R: Plain, $F: $trait<$A, $R>>(
                $dst: *mut u8,
                $src: &[*const u8; 4],
                $n: usize,
            ) {
                // SAFETY: promised by the caller of the kernel.
                unsafe { $body }
            }

            unsafe fn portable<$A: Plain, $R: Plain, $F: $trait<$A, $R>>(
                dst: *mut u8,
                src: &[*const u8; 4],
                n: usize,
            ) {
                // SAFETY: promised by the caller of the kernel.
                unsafe { body::<$A, $R, $F>(dst, src, n) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2<$A: Plain, $R: Plain, $F: $trait<$A, $R>>(
                dst: *mut u8,
                src: &[*const u8; 4],
                n: usize,
            ) {
                // SAFETY: promised by the caller of the kernel.
                unsafe { body::<$A, $R, $F>(dst, src, n) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            unsafe fn avx512<$A: Plain, $R: Plain, $F: $trait<$A, $R>>(
                dst: *mut u8,
                src: &[*const u8; 4],
                n: usize,
            ) {
                // SAFETY: promised by the caller of the kernel.
                unsafe { body::<$A, $R, $F>(dst, src, n) }
            }

            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 if $F::SETS > 2 => avx512::<$A, $R, $F>,
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 | Isa::Avx2 if $F::SETS > 1 => avx2::<$A, $R, $F>,
                _ => portable::<$A, $R, $F>,
            }
        }
    };
}

versions!(run1, Map1, |dst, src, n, A, R, F| each1::<A, R, F>(write(dst, n), read(src[0], n)));
versions!(run2, Map2, |dst, src, n, A, R, F| {
    each2::<A, R, F>(write(dst, n), read(src[0], n), read(src[1], n))
});
versions!(run3, Map3, |dst, src, n, A, R, F| {
    each3::<A, R, F>(write(dst, n), read(src[0], n), read(src[1], n), read(src[2], n))
});
versions!(run4, Map4, |dst, src, n, A, R, F| {
    let (a, b, c, d) = (read(src[0], n), read(src[1], n), read(src[2], n), read(src[3], n));
    each4::<A, R, F>(write(dst, n), a, b, c, d)
});
versions!(onto_only, Map1, |dst, _src, n, A, R, F| onto1::<A, R, F>(dst, n));
versions!(onto_first, Map2, |dst, src, n, A, R, F| {
    onto2::<A, R>(dst, read(src[1], n), |x, y| F::call(x, y))
});
versions!(onto_second, Map2, |dst, src, n, A, R, F| {
    onto2::<A, R>(dst, read(src[0], n), |y, x| F::call(x, y))
});
versions!(onto_first_of_three, Map3, |dst, src, n, A, R, F| {
    onto3::<A, R>(dst, read(src[1], n), read(src[2], n), |x, y, z| F::call(x, y, z))
});
versions!(onto_second_of_three, Map3, |dst, src, n, A, R, F| {
    onto3::<A, R>(dst, read(src[0], n), read(src[2], n), |y, x, z| F::call(x, y, z))
});

/// A kernel of a function that takes `A` and gives `R`.
fn kern<A, R>(run: Loop, arity: usize) -> Kern {
    let (result, operand) = (size_of::<R>(), size_of::<A>());
    Kern { run, onto: [None; 2], result, operand, arity, refuses: None }
}

/// Whether a result takes the place of an operand.
const fn fits<A, R>() -> bool {
    size_of::<A>() == size_of::<R>()
}

pub(super) fn map1<A: Plain, R: Plain, F: Map1<A, R>>(isa: Isa) -> Kern {
    let onto = [fits::<A, R>().then(|| onto_only::<A, R, F>(isa)), None];
    Kern { onto, ..kern::<A, R>(run1::<A, R, F>(isa), 1) }
}

pub(super) fn map2<A: Plain, R: Plain, F: Map2<A, R>>(isa: Isa) -> Kern {
    let onto = fits::<A, R>().then(|| [onto_first::<A, R, F>(isa), onto_second::<A, R, F>(isa)]);
    let onto = onto.map_or([None; 2], |it| it.map(Some));
    Kern { onto, ..kern::<A, R>(run2::<A, R, F>(isa), 2) }
}

pub(super) fn map3<A: Plain, R: Plain, F: Map3<A, R>>(isa: Isa) -> Kern {
    let places = || [onto_first_of_three::<A, R, F>(isa), onto_second_of_three::<A, R, F>(isa)];
    let onto = fits::<A, R>().then(places).map_or([None; 2], |it| it.map(Some));
    Kern { onto, ..kern::<A, R>(run3::<A, R, F>(isa), 3) }
}

pub(super) fn map4<A: Plain, R: Plain, F: Map4<A, R>>(isa: Isa) -> Kern {
    kern::<A, R>(run4::<A, R, F>(isa), 4)
}

/// The kernel of an expression in one, two, three or four operands: `lanes!(all isa, f32, |x| x + 1.0)`. Says how many versions are
/// compiled: for `all` instruction sets, `two` (without AVX-512, for what is not worth its time to compile), or `one`, for functions that
/// call a library.
macro_rules! lanes {
    (all $($rest:tt)*) => {
        lanes!(@3 $($rest)*)
    };
    (two $($rest:tt)*) => {
        lanes!(@2 $($rest)*)
    };
    (one $($rest:tt)*) => {
        lanes!(@1 $($rest)*)
    };
    (@$sets:literal $isa:expr, $t:ty => $r:ty, |$x:ident| $body:expr) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map1<$t, $r> for Body {
            const SETS: u8 = $sets;

            #[inline(always)]
            fn call($x: $t) -> $r {
                $body
            }
        }
        $crate::cpu::lane::loops::map1::<$t, $r, Body>($isa)
    }};
    (@$sets:literal $isa:expr, $t:ty => $r:ty, |$x:ident, $y:ident| $body:expr) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map2<$t, $r> for Body {
            const SETS: u8 = $sets;

            #[inline(always)]
            fn call($x: $t, $y: $t) -> $r {
                $body
            }
        }
        $crate::cpu::lane::loops::map2::<$t, $r, Body>($isa)
    }};
    (@$sets:literal $isa:expr, $t:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $body:expr) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map3<$t, $r> for Body {
            const SETS: u8 = $sets;

            #[inline(always)]
            fn call($x: $t, $y: $t, $z: $t) -> $r {
                $body
            }
        }
        $crate::cpu::lane::loops::map3::<$t, $r, Body>($isa)
    }};
    (@$sets:literal $isa:expr, $t:ty => $r:ty, |$x:ident, $y:ident, $z:ident, $w:ident| $body:expr) => {{
        struct Body;
        impl $crate::cpu::lane::loops::Map4<$t, $r> for Body {
            const SETS: u8 = $sets;

            #[inline(always)]
            fn call($x: $t, $y: $t, $z: $t, $w: $t) -> $r {
                $body
            }
        }
        $crate::cpu::lane::loops::map4::<$t, $r, Body>($isa)
    }};
    (@$sets:literal $isa:expr, $t:ty, $($rest:tt)*) => {
        lanes!(@$sets $isa, $t => $t, $($rest)*)
    };
}

pub(super) use lanes;
