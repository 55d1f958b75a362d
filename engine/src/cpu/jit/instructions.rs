//! The instructions that steps are written with: those of AVX2 and FMA on 256 bits, and those of AVX-512 on 512, for lanes of 4 and of 8 bytes.

use iced_x86::Code;

use super::Vectors;
use super::values::Kind;
use super::vectors::Lanes;
use crate::cpu::lane::Mem;
use crate::math::recorded::{Action, Type};

/// Bits of constants that instructions need.
pub(super) mod bits {
    pub(in super::super) const ALL: u64 = u64::MAX;

    /// The sign of a float of so many bytes.
    pub(in super::super) fn sign(bytes: usize) -> u64 {
        1 << (8 * bytes - 1)
    }

    /// All of it but the sign.
    pub(in super::super) fn magnitude(bytes: usize) -> u64 {
        sign(bytes) - 1
    }

    /// The number 1.
    pub(in super::super) fn one(bytes: usize) -> u64 {
        if bytes == 4 { u64::from(1_f32.to_bits()) } else { 1_f64.to_bits() }
    }

    /// Of magnitudes that neither quotients of two, nor what is left over by them, leave the normal numbers with: the bits of the least, and how
    /// far those of the others are from it at most.
    pub(in super::super) fn moderate(bytes: usize) -> (u64, u64) {
        let (exponent, mantissa) = if bytes == 4 { (60, 23) } else { (400, 52) };
        (one(bytes) - (exponent << mantissa), (2 * exponent) << mantissa)
    }
}

/// Where rounding of conversions to halves is to the nearest.
pub(super) const TO_NEAREST: u32 = 0;

/// Codes on 256 bits for lanes of 4 and of 8 bytes, then those on 512.
macro_rules! codes {
    ($lanes:expr, $four:ident $eight:ident, $wide_four:ident $wide_eight:ident) => {
        match ($lanes.vectors, $lanes.bytes) {
            (Vectors::Bits256, 4) => Code::$four,
            (Vectors::Bits256, _) => Code::$eight,
            (Vectors::Bits512, 4) => Code::$wide_four,
            (Vectors::Bits512, _) => Code::$wide_eight,
        }
    };
    ($vectors:expr, $narrow:ident, $wide:ident) => {
        match $vectors {
            Vectors::Bits256 => Code::$narrow,
            Vectors::Bits512 => Code::$wide,
        }
    };
}

/// An instruction of two operands, the second of which may lie in memory unless they are masks in registers of their own.
#[derive(Clone, Copy)]
pub(super) struct Two {
    pub(super) code: Code,
    pub(super) imm: Option<u32>,
    /// Whether the operands may change places.
    pub(super) commutes: bool,
}

impl Two {
    fn plain(code: Code, commutes: bool) -> Self {
        Self { code, imm: None, commutes }
    }

    /// Predicates that hold for no NaN, and are quiet about it.
    fn compare(lanes: Lanes, predicate: u32, commutes: bool) -> Self {
        let code = codes!(
            lanes,
            VEX_Vcmpps_ymm_ymm_ymmm256_imm8 VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
            EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae
        );
        Self { code, imm: Some(predicate), commutes }
    }

    /// A comparison of whole numbers that gives a mask in a register of its own.
    fn compare_whole(lanes: Lanes, predicate: u32, commutes: bool) -> Self {
        let code = match lanes.bytes {
            4 => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
            _ => Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
        };
        Self { code, imm: Some(predicate), commutes }
    }
}

pub(super) fn and(vectors: Vectors) -> Two {
    let code = codes!(vectors, VEX_Vandps_ymm_ymm_ymmm256, EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32);
    Two::plain(code, true)
}

pub(super) fn or(vectors: Vectors) -> Two {
    let code = codes!(vectors, VEX_Vorps_ymm_ymm_ymmm256, EVEX_Vpord_zmm_k1z_zmm_zmmm512b32);
    Two::plain(code, true)
}

pub(super) fn xor(vectors: Vectors) -> Two {
    let code = codes!(vectors, VEX_Vxorps_ymm_ymm_ymmm256, EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32);
    Two::plain(code, true)
}

/// What a step of two operands of a kind is; `None` where it is no single instruction.
pub(super) fn two(action: Action, operands: Kind, lanes: Lanes) -> Option<Two> {
    match operands {
        Kind::Mask if lanes.vectors.has_masks() => Some(Two::plain(
            match action {
                Action::And => Code::VEX_Kandw_kr_kr_kr,
                Action::Or => Code::VEX_Korw_kr_kr_kr,
                Action::Xor => Code::VEX_Kxorw_kr_kr_kr,
                _ => return None,
            },
            true,
        )),
        Kind::Int => two_whole(action, lanes),
        Kind::Mask | Kind::Float => two_floats(action, lanes),
        Kind::Other => None,
    }
}

fn two_whole(action: Action, lanes: Lanes) -> Option<Two> {
    Some(match action {
        Action::Add => Two::plain(
            codes!(
                lanes,
                VEX_Vpaddd_ymm_ymm_ymmm256 VEX_Vpaddq_ymm_ymm_ymmm256,
                EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64
            ),
            true,
        ),
        Action::Sub => Two::plain(
            codes!(
                lanes,
                VEX_Vpsubd_ymm_ymm_ymmm256 VEX_Vpsubq_ymm_ymm_ymmm256,
                EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64
            ),
            false,
        ),
        Action::Mul => Two::plain(
            codes!(
                lanes,
                VEX_Vpmulld_ymm_ymm_ymmm256 INVALID,
                EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64
            ),
            true,
        ),
        Action::And => and(lanes.vectors),
        Action::Or => or(lanes.vectors),
        Action::Xor => xor(lanes.vectors),
        Action::Equals if lanes.vectors.has_masks() => Two::compare_whole(lanes, 0, true),
        Action::Less if lanes.vectors.has_masks() => Two::compare_whole(lanes, 1, false),
        Action::AtMost if lanes.vectors.has_masks() => Two::compare_whole(lanes, 2, false),
        Action::Equals if lanes.bytes == 4 => Two::plain(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, true),
        Action::Equals => Two::plain(Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256, true),
        _ => return None,
    })
}

fn two_floats(action: Action, lanes: Lanes) -> Option<Two> {
    Some(match action {
        Action::Add => Two::plain(
            codes!(
                lanes,
                VEX_Vaddps_ymm_ymm_ymmm256 VEX_Vaddpd_ymm_ymm_ymmm256,
                EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er
            ),
            true,
        ),
        Action::Sub => Two::plain(
            codes!(
                lanes,
                VEX_Vsubps_ymm_ymm_ymmm256 VEX_Vsubpd_ymm_ymm_ymmm256,
                EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er
            ),
            false,
        ),
        Action::Mul => Two::plain(
            codes!(
                lanes,
                VEX_Vmulps_ymm_ymm_ymmm256 VEX_Vmulpd_ymm_ymm_ymmm256,
                EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er
            ),
            true,
        ),
        Action::Div => Two::plain(
            codes!(
                lanes,
                VEX_Vdivps_ymm_ymm_ymmm256 VEX_Vdivpd_ymm_ymm_ymmm256,
                EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er
            ),
            false,
        ),
        Action::And => and(lanes.vectors),
        Action::Or => or(lanes.vectors),
        Action::Xor => xor(lanes.vectors),
        Action::Equals => Two::compare(lanes, 0x00, true),
        Action::Less => Two::compare(lanes, 0x11, false),
        Action::AtMost => Two::compare(lanes, 0x12, false),
        _ => return None,
    })
}

/// Where the first whole number is the larger one: the one comparison of whole numbers of AVX2 beside that for equality.
pub(super) fn greater(bytes: usize) -> Two {
    let code = match bytes {
        4 => Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
        _ => Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
    };
    Two::plain(code, false)
}

/// An instruction of one operand of a kind, which may lie in memory.
pub(super) fn one(action: Action, operand: Kind, lanes: Lanes) -> Option<(Code, Option<u32>)> {
    let round = codes!(
        lanes,
        VEX_Vroundps_ymm_ymmm256_imm8 VEX_Vroundpd_ymm_ymmm256_imm8,
        EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae
    );
    // Bit 3: whether the result is exact is not noted.
    Some(match action {
        Action::Sqrt => {
            let root = codes!(
                lanes,
                VEX_Vsqrtps_ymm_ymmm256 VEX_Vsqrtpd_ymm_ymmm256,
                EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er
            );
            (root, None)
        }
        Action::RoundTiesEven => (round, Some(8)),
        Action::Floor => (round, Some(9)),
        Action::Ceil => (round, Some(10)),
        Action::Trunc => (round, Some(11)),
        Action::Convert => {
            let convert = codes!(
                lanes,
                VEX_Vcvtdq2ps_ymm_ymmm256 INVALID,
                EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er
            );
            (convert, None)
        }
        Action::Not if operand == Kind::Mask && lanes.vectors.has_masks() => {
            (Code::VEX_Knotw_kr_kr, None)
        }
        _ => return None,
    })
}

/// A shift of all lanes by a count, of an operand in a register.
pub(super) fn shift(action: Action, lanes: Lanes) -> Option<(Code, u32)> {
    Some(match action {
        Action::Shl(count) => {
            let code = codes!(
                lanes,
                VEX_Vpslld_ymm_ymm_imm8 VEX_Vpsllq_ymm_ymm_imm8,
                EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8
            );
            (code, count)
        }
        Action::Shr(count) => {
            let code = codes!(
                lanes,
                VEX_Vpsrad_ymm_ymm_imm8 INVALID,
                EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8
            );
            // All bits are the sign then.
            (code, count.min(8 * lanes.bytes as u32 - 1))
        }
        _ => return None,
    })
}

/// The first is the product of the first and the second, and the third, which may lie in memory.
pub(super) fn product_and_sum(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vfmadd213ps_ymm_ymm_ymmm256 VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er
    )
}

/// The first is itself and the product of the others, the last of which may lie in memory.
pub(super) fn sum_and_product(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vfmadd231ps_ymm_ymm_ymmm256 VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er
    )
}

/// The first is the second without the product of the first and the third, which may lie in memory.
pub(super) fn without_product(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vfnmadd132ps_ymm_ymm_ymmm256 VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
        EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er
    )
}

/// Where the first is less than the second, as whole numbers without a sign: a mask in a register of its own.
pub(super) fn below(bytes: usize) -> (Code, u32) {
    let code = match bytes {
        4 => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        _ => Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
    };
    (code, 1)
}

/// Where floats are 0, infinite or NaN: a mask in a register of its own.
pub(super) fn special(bytes: usize) -> (Code, u32) {
    let code = match bytes {
        4 => Code::EVEX_Vfpclassps_kr_k1_zmmm512b32_imm8,
        _ => Code::EVEX_Vfpclasspd_kr_k1_zmmm512b64_imm8,
    };
    // Quiet NaN, both zeros, both infinities, signalling NaN.
    (code, 0b1001_1111)
}

/// Carries if one of two masks is set in each lane.
pub(super) fn covers(bytes: usize) -> Code {
    if bytes == 4 { Code::VEX_Kortestw_kr_kr } else { Code::VEX_Kortestb_kr_kr }
}

/// Of the third where the mask is set, else of the second. The mask is the fourth operand, or that of the instruction.
pub(super) fn blend(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vblendvps_ymm_ymm_ymmm256_ymm VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
        EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32 EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64
    )
}

/// A whole vector from memory or a register, or a mask from memory.
pub(super) fn load(vectors: Vectors, is_mask: bool) -> Code {
    match is_mask {
        true => Code::VEX_Kmovq_kr_km64,
        false => codes!(vectors, VEX_Vmovups_ymm_ymmm256, EVEX_Vmovups_zmm_k1z_zmmm512),
    }
}

/// A whole vector, or a mask, to memory.
pub(super) fn store(vectors: Vectors, is_mask: bool) -> Code {
    match is_mask {
        true => Code::VEX_Kmovq_m64_kr,
        false => codes!(vectors, VEX_Vmovups_ymmm256_ymm, EVEX_Vmovups_zmmm512_k1z_zmm),
    }
}

/// One number of memory in all lanes.
pub(super) fn broadcast(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vbroadcastss_ymm_m32 VEX_Vbroadcastsd_ymm_m64,
        EVEX_Vbroadcastss_zmm_k1z_xmmm32 EVEX_Vbroadcastsd_zmm_k1z_xmmm64
    )
}

/// The lowest lane in all.
pub(super) fn spread(lanes: Lanes) -> Code {
    codes!(
        lanes,
        VEX_Vbroadcastss_ymm_xmm VEX_Vbroadcastsd_ymm_xmm,
        EVEX_Vbroadcastss_zmm_k1z_xmmm32 EVEX_Vbroadcastsd_zmm_k1z_xmmm64
    )
}

/// 32 bits of a general register in the lowest lane.
pub(super) fn from_general(vectors: Vectors) -> Code {
    codes!(vectors, VEX_Vmovd_xmm_rm32, EVEX_Vmovd_xmm_rm32)
}

/// An element of memory that is narrower than 32 bits, in a general register.
pub(super) fn load_general(mem: Mem) -> Option<Code> {
    match mem {
        Mem::U8 => Some(Code::Movzx_r32_rm8),
        Mem::I8 => Some(Code::Movsx_r32_rm8),
        Mem::U16 | Mem::F16 | Mem::BF16 => Some(Code::Movzx_r32_rm16),
        Mem::I16 => Some(Code::Movsx_r32_rm16),
        Mem::I32 | Mem::I64 | Mem::F32 | Mem::F64 => None,
    }
}

/// Elements of memory, or of a lower half, that are narrower than 32 bits, each in a lane.
pub(super) fn load_narrow(mem: Mem, vectors: Vectors) -> Option<Code> {
    Some(match mem {
        Mem::U8 => codes!(vectors, VEX_Vpmovzxbd_ymm_xmmm64, EVEX_Vpmovzxbd_zmm_k1z_xmmm128),
        Mem::I8 => codes!(vectors, VEX_Vpmovsxbd_ymm_xmmm64, EVEX_Vpmovsxbd_zmm_k1z_xmmm128),
        Mem::U16 | Mem::F16 | Mem::BF16 => {
            codes!(vectors, VEX_Vpmovzxwd_ymm_xmmm128, EVEX_Vpmovzxwd_zmm_k1z_ymmm256)
        }
        Mem::I16 => codes!(vectors, VEX_Vpmovsxwd_ymm_xmmm128, EVEX_Vpmovsxwd_zmm_k1z_ymmm256),
        Mem::I32 | Mem::I64 | Mem::F32 | Mem::F64 => return None,
    })
}

/// The low bits of lanes of 32, side by side, in memory or a lower half; AVX2 has no such instruction.
pub(super) fn narrowed(mem: Mem, vectors: Vectors) -> Option<Code> {
    match (vectors, mem.size()) {
        (Vectors::Bits512, 1) => Some(Code::EVEX_Vpmovdb_xmmm128_k1z_zmm),
        (Vectors::Bits512, 2) => Some(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm),
        _ => None,
    }
}

/// Elements that lie side by side in the lower half of a register of 256 bits, to memory.
pub(super) fn store_narrow(mem: Mem) -> Option<Code> {
    match mem.size() {
        1 => Some(Code::VEX_Vmovq_xmmm64_xmm),
        2 => Some(Code::VEX_Vmovdqu_xmmm128_xmm),
        _ => None,
    }
}

/// Halves of memory or of a lower half as floats.
pub(super) fn from_half(vectors: Vectors) -> Code {
    codes!(vectors, VEX_Vcvtph2ps_ymm_xmmm128, EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae)
}

/// Floats as halves in memory or in a lower half.
pub(super) fn to_half(vectors: Vectors) -> Code {
    codes!(vectors, VEX_Vcvtps2ph_xmmm128_ymm_imm8, EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae)
}

/// One number of memory as a float of so many bytes, in the lowest lane.
pub(super) fn convert_one(from: Type, lanes: Lanes) -> Option<Code> {
    let vectors = lanes.vectors;
    Some(match (from, lanes.bytes) {
        (Type::F64, 4) => {
            codes!(vectors, VEX_Vcvtsd2ss_xmm_xmm_xmmm64, EVEX_Vcvtsd2ss_xmm_k1z_xmm_xmmm64_er)
        }
        (Type::I64, 4) => {
            codes!(vectors, VEX_Vcvtsi2ss_xmm_xmm_rm64, EVEX_Vcvtsi2ss_xmm_xmm_rm64_er)
        }
        (Type::F32, 8) => {
            codes!(vectors, VEX_Vcvtss2sd_xmm_xmm_xmmm32, EVEX_Vcvtss2sd_xmm_k1z_xmm_xmmm32_sae)
        }
        (Type::I64, 8) => {
            codes!(vectors, VEX_Vcvtsi2sd_xmm_xmm_rm64, EVEX_Vcvtsi2sd_xmm_xmm_rm64_er)
        }
        _ => return None,
    })
}
