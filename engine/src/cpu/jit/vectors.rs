//! The vectors that code computes with: which registers hold them, and what the lanes of one are. Registers have numbers: first those of
//! vectors, then those that hold nothing but masks.

use std::ops::Range;

use iced_x86::Register;

use super::Vectors;

/// Registers of both kinds together, of the width that has more.
pub(super) const MOST_REGISTERS: usize = 39;
/// Where the numbers of registers of masks begin.
const FIRST_MASK: u8 = 32;
/// The register of the mask that is set where divisions by one number may go by its reciprocal: `k7`.
pub(super) const SOUND: u8 = FIRST_MASK + 6;

impl Vectors {
    /// The numbers of the registers that hold vectors.
    pub(super) fn wide(self) -> Range<u8> {
        match self {
            Self::Bits256 => 0..16,
            Self::Bits512 => 0..32,
        }
    }

    /// The numbers of the registers that hold masks: the same, or `k1` to `k6`, as `k0` is no mask to an instruction.
    pub(super) fn masks(self) -> Range<u8> {
        match self {
            Self::Bits256 => self.wide(),
            Self::Bits512 => FIRST_MASK..SOUND,
        }
    }

    /// Whether masks have registers of their own, with a bit for each lane.
    pub(super) fn has_masks(self) -> bool {
        self == Self::Bits512
    }

    /// Whether there are conversions from and to halves.
    pub(super) fn has_halves(self) -> bool {
        match self {
            Self::Bits256 => std::arch::is_x86_feature_detected!("f16c"),
            Self::Bits512 => true,
        }
    }

    /// The register of a number.
    pub(super) fn register(self, number: u8) -> Register {
        match self {
            _ if number >= FIRST_MASK => Register::K1 + u32::from(number - FIRST_MASK),
            Self::Bits256 => Register::YMM0 + u32::from(number),
            Self::Bits512 => Register::ZMM0 + u32::from(number),
        }
    }

    /// The lower half of a register of vectors.
    pub(super) fn half(self, number: u8) -> Register {
        match self {
            Self::Bits256 => low(number),
            Self::Bits512 => Register::YMM0 + u32::from(number),
        }
    }
}

/// The lowest 128 bits of a register of vectors.
pub(super) fn low(number: u8) -> Register {
    Register::XMM0 + u32::from(number)
}

/// What lies in a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    pub(super) vectors: Vectors,
    /// Bytes of a lane: 4 or 8.
    pub(super) bytes: usize,
}

impl Lanes {
    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.vectors.bytes() / self.bytes
    }

    /// Whether whole numbers that are as wide as a lane are multiplied, shifted with their sign and converted to floats by an instruction.
    pub(super) fn has_whole(self) -> bool {
        self.bytes == 4 || self.vectors == Vectors::Bits512
    }
}
