//! The processor's unit for products of small matrices (Intel AMX): whether it is there, and its instructions.
//!
//! Facts: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.

use crate::sync::OnceLock;
use std::arch::asm;

/// Rows of a tile, and 32-bit elements of a row.
pub(super) const SIDE: usize = 16;
/// Bytes of a tile.
pub(super) const TILE: usize = SIDE * SIDE * 4;

/// Bytes that a step of the product asks for.
pub(super) const AHEAD: usize = 256;

/// Whether this process may multiply tiles of bfloat16.
pub(super) fn is_there() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| has_instructions() && is_permitted())
}

fn has_instructions() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const TILES: u32 = 1 << 24;
    const BF16: u32 = 1 << 22;
    let most = __cpuid(0).eax;
    most >= 7 && __cpuid_count(7, 0).edx & (TILES | BF16) == TILES | BF16
}

/// Linux gives a process the registers when it asks for them (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`, since 5.16).
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const REQUEST: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let res: isize;
    // SAFETY: the call reads and writes no memory of this process; the kernel changes rcx and r11.
    unsafe {
        asm!("syscall", inlateout("rax") ARCH_PRCTL => res, in("rdi") REQUEST, in("rsi") TILE_DATA, out("rcx") _, out("r11") _, options(nostack));
    }
    res == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// What the tile registers hold: all of them 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPES: Shapes = {
    let (mut bytes, mut rows) = ([0; 16], [0; 16]);
    let mut at = 0;
    while at < 8 {
        bytes[at] = 64;
        rows[at] = SIDE as u8;
        at += 1;
    }
    Shapes { palette: 1, start: 0, reserved: [0; 14], bytes, rows }
};

/// Two panels of left tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) panels: [*const u8; 2],
    /// Bytes from one row of a tile to the next, and from one tile to the next.
    pub(super) row: usize,
    pub(super) tile: usize,
}

/// The tile registers of this thread, until it is dropped.
pub(super) struct Tiles(());

impl Tiles {
    /// `None` where there are none.
    pub(super) fn take() -> Option<Self> {
        if !is_there() {
            return None;
        }
        // SAFETY: the processor has them, and reads 64 bytes.
        unsafe { asm!("ldtilecfg [{0}]", in(reg) &raw const SHAPES, options(nostack, readonly)) };
        Some(Self(()))
    }

    /// `c[32, 32] = a[32, 32 steps] b[32 steps, 32]`, to which `more` adds what `c` holds: each of the four operands has `steps` tiles of 32 steps, those
    /// of b one behind the other. Rows of a left tile are rows of A, with its steps in order; rows of a right tile are pairs of steps, both of a column side
    /// by side. Meanwhile memory from `ahead` on, which may be any, is brought into the second cache: [`AHEAD`] bytes for each tile.
    ///
    /// # Safety
    /// The operands have that many tiles, and `c` 32 rows of 32 elements.
    pub(super) unsafe fn multiply(
        &self,
        a: Left,
        b: [*const u8; 2],
        steps: usize,
        c: *mut f32,
        more: bool,
        ahead: *const u8,
    ) {
        // SAFETY: promised by the caller; nobody else uses the registers.
        unsafe {
            asm!(
                "test {more}, {more}",
                "jnz 4f",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "jmp 5f",
                "4:",
                "tileloadd tmm0, [{c} + {row}*2]",
                "tileloadd tmm1, [{c} + {row}*2 + 64]",
                "tileloadd tmm2, [{c} + {row}*2 + 2048]",
                "tileloadd tmm3, [{c} + {row}*2 + 2112]",
                "5:",
                "test {steps}, {steps}",
                "jz 3f",
                "2:",
                "tileloadd tmm4, [{a0} + {row_a}*1]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row_a}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "prefetcht1 [{ahead}]",
                "prefetcht1 [{ahead} + 64]",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "prefetcht1 [{ahead} + 128]",
                "prefetcht1 [{ahead} + 192]",
                "add {ahead}, {step}",
                "add {a0}, {tile_a}",
                "add {a1}, {tile_a}",
                "add {b0}, {tile}",
                "add {b1}, {tile}",
                "dec {steps}",
                "jnz 2b",
                "3:",
                "tilestored [{c} + {row}*2], tmm0",
                "tilestored [{c} + {row}*2 + 64], tmm1",
                "tilestored [{c} + {row}*2 + 2048], tmm2",
                "tilestored [{c} + {row}*2 + 2112], tmm3",
                a0 = inout(reg) a.panels[0] => _,
                a1 = inout(reg) a.panels[1] => _,
                row_a = in(reg) a.row,
                tile_a = in(reg) a.tile,
                b0 = inout(reg) b[0] => _,
                b1 = inout(reg) b[1] => _,
                steps = inout(reg) steps => _,
                c = in(reg) c,
                more = in(reg) usize::from(more),
                row = in(reg) 64usize,
                ahead = inout(reg) ahead => _,
                tile = const TILE,
                step = const AHEAD,
                options(nostack),
            );
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: they were taken.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
