//! The instructions that steps are written with: those of AVX2 and FMA on 256 bits, for lanes of 4 and of 8 bytes.

use iced_x86::Code;

use super::values::Kind;
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
}

fn of(bytes: usize, four: Code, eight: Code) -> Code {
    if bytes == 4 { four } else { eight }
}

/// An instruction of two operands, the second of which may lie in memory.
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

    fn compare(bytes: usize, predicate: u32, commutes: bool) -> Self {
        let code =
            of(bytes, Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8);
        Self { code, imm: Some(predicate), commutes }
    }
}

pub(super) fn and() -> Two {
    Two::plain(Code::VEX_Vandps_ymm_ymm_ymmm256, true)
}

pub(super) fn or() -> Two {
    Two::plain(Code::VEX_Vorps_ymm_ymm_ymmm256, true)
}

pub(super) fn xor() -> Two {
    Two::plain(Code::VEX_Vxorps_ymm_ymm_ymmm256, true)
}

/// What a step of two operands of a kind is; `None` where it is no single instruction.
pub(super) fn two(action: Action, operands: Kind, bytes: usize) -> Option<Two> {
    let is_int = operands == Kind::Int;
    Some(match action {
        Action::Add if is_int => Two::plain(
            of(bytes, Code::VEX_Vpaddd_ymm_ymm_ymmm256, Code::VEX_Vpaddq_ymm_ymm_ymmm256),
            true,
        ),
        Action::Sub if is_int => Two::plain(
            of(bytes, Code::VEX_Vpsubd_ymm_ymm_ymmm256, Code::VEX_Vpsubq_ymm_ymm_ymmm256),
            false,
        ),
        Action::Mul if is_int => Two::plain(Code::VEX_Vpmulld_ymm_ymm_ymmm256, true),
        Action::Add => Two::plain(
            of(bytes, Code::VEX_Vaddps_ymm_ymm_ymmm256, Code::VEX_Vaddpd_ymm_ymm_ymmm256),
            true,
        ),
        Action::Sub => Two::plain(
            of(bytes, Code::VEX_Vsubps_ymm_ymm_ymmm256, Code::VEX_Vsubpd_ymm_ymm_ymmm256),
            false,
        ),
        Action::Mul => Two::plain(
            of(bytes, Code::VEX_Vmulps_ymm_ymm_ymmm256, Code::VEX_Vmulpd_ymm_ymm_ymmm256),
            true,
        ),
        Action::Div => Two::plain(
            of(bytes, Code::VEX_Vdivps_ymm_ymm_ymmm256, Code::VEX_Vdivpd_ymm_ymm_ymmm256),
            false,
        ),
        Action::And => and(),
        Action::Or => or(),
        Action::Xor => xor(),
        Action::Equals if is_int => Two::plain(
            of(bytes, Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256),
            true,
        ),
        // Predicates that hold for no NaN, and are quiet about it.
        Action::Equals => Two::compare(bytes, 0x00, true),
        Action::Less if !is_int => Two::compare(bytes, 0x11, false),
        Action::AtMost if !is_int => Two::compare(bytes, 0x12, false),
        _ => return None,
    })
}

/// Where the first whole number is the larger one.
pub(super) fn greater(bytes: usize) -> Two {
    Two::plain(
        of(bytes, Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256),
        false,
    )
}

/// An instruction of one operand, which may lie in memory.
pub(super) fn one(action: Action, bytes: usize) -> Option<(Code, Option<u32>)> {
    let round = of(bytes, Code::VEX_Vroundps_ymm_ymmm256_imm8, Code::VEX_Vroundpd_ymm_ymmm256_imm8);
    // Bit 3: whether the result is exact is not noted.
    Some(match action {
        Action::Sqrt => {
            (of(bytes, Code::VEX_Vsqrtps_ymm_ymmm256, Code::VEX_Vsqrtpd_ymm_ymmm256), None)
        }
        Action::RoundTiesEven => (round, Some(8)),
        Action::Floor => (round, Some(9)),
        Action::Ceil => (round, Some(10)),
        Action::Trunc => (round, Some(11)),
        Action::Convert => (Code::VEX_Vcvtdq2ps_ymm_ymmm256, None),
        _ => return None,
    })
}

/// A shift of all lanes by a count, of an operand in a register.
pub(super) fn shift(action: Action, bytes: usize) -> Option<(Code, u32)> {
    Some(match action {
        Action::Shl(count) => {
            (of(bytes, Code::VEX_Vpslld_ymm_ymm_imm8, Code::VEX_Vpsllq_ymm_ymm_imm8), count)
        }
        // All bits are the sign then.
        Action::Shr(count) => (Code::VEX_Vpsrad_ymm_ymm_imm8, count.min(31)),
        _ => return None,
    })
}

/// The first is the product of the first and the second, and the third, which may lie in memory.
pub(super) fn product_and_sum(bytes: usize) -> Code {
    of(bytes, Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256, Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256)
}

/// The first is itself and the product of the others, the last of which may lie in memory.
pub(super) fn sum_and_product(bytes: usize) -> Code {
    of(bytes, Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256)
}

/// Of the third where the mask, which is the fourth, is set, else of the second.
pub(super) fn blend(bytes: usize) -> Code {
    of(bytes, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm)
}

/// One number of memory in all lanes.
pub(super) fn broadcast(bytes: usize) -> Code {
    of(bytes, Code::VEX_Vbroadcastss_ymm_m32, Code::VEX_Vbroadcastsd_ymm_m64)
}

/// The lowest lane in all.
pub(super) fn spread(bytes: usize) -> Code {
    of(bytes, Code::VEX_Vbroadcastss_ymm_xmm, Code::VEX_Vbroadcastsd_ymm_xmm)
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

/// Elements of memory that are narrower than 32 bits, each in a lane.
pub(super) fn load_narrow(mem: Mem) -> Option<Code> {
    match mem {
        Mem::U8 => Some(Code::VEX_Vpmovzxbd_ymm_xmmm64),
        Mem::I8 => Some(Code::VEX_Vpmovsxbd_ymm_xmmm64),
        Mem::U16 | Mem::F16 | Mem::BF16 => Some(Code::VEX_Vpmovzxwd_ymm_xmmm128),
        Mem::I16 => Some(Code::VEX_Vpmovsxwd_ymm_xmmm128),
        Mem::I32 | Mem::I64 | Mem::F32 | Mem::F64 => None,
    }
}

/// Elements that lie side by side in the lower half of a register, to memory.
pub(super) fn store_narrow(mem: Mem) -> Option<Code> {
    match mem.size() {
        1 => Some(Code::VEX_Vmovq_xmmm64_xmm),
        2 => Some(Code::VEX_Vmovdqu_xmmm128_xmm),
        _ => None,
    }
}

/// One number of memory as a float of so many bytes, in the lowest lane.
pub(super) fn convert_one(from: Type, bytes: usize) -> Option<Code> {
    match (from, bytes) {
        (Type::F64, 4) => Some(Code::VEX_Vcvtsd2ss_xmm_xmm_xmmm64),
        (Type::I64, 4) => Some(Code::VEX_Vcvtsi2ss_xmm_xmm_rm64),
        (Type::F32, 8) => Some(Code::VEX_Vcvtss2sd_xmm_xmm_xmmm32),
        (Type::I64, 8) => Some(Code::VEX_Vcvtsi2sd_xmm_xmm_rm64),
        _ => None,
    }
}
