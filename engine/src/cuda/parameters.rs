//! What kernels are launched with: numbers, addresses, where the elements of operands lie.

use smallvec::SmallVec;

use super::driver::{Address, Grid};
use super::philox::Start;
use crate::{Error, Layout, Result};

/// Dimensions that an operand may have once neighbours are merged: `NG_RANK` of the prelude.
pub(crate) const RANK: usize = 12;

/// Threads of a block, where a kernel does not say otherwise.
pub(crate) const THREADS: u32 = 256;

/// The parameters of one launch, in order. It is small, since it moves with each that is added.
pub(crate) struct Parameters {
    bytes: Vec<u8>,
    ends: SmallVec<[u16; 16]>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(256), ends: SmallVec::new() }
    }
}

impl Parameters {
    /// Bytes of all parameters of a launch that CUDA takes on every device.
    pub(crate) const MOST: usize = 4096;

    /// Bytes of `ng_dims`.
    pub(crate) const DIMS: usize = 8 + 16 * RANK;

    /// A structure, as its bytes.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        self.push(bytes)
    }

    #[inline]
    fn push(mut self, value: &[u8]) -> Self {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as u16);
        self
    }

    /// A structure of what `fields` adds, none of which needs gaps before it.
    pub(crate) fn structure(self, fields: impl FnOnce(Self) -> Self) -> Self {
        let before = self.ends.len();
        let mut res = fields(self);
        res.ends.truncate(before);
        res.ends.push(res.bytes.len() as u16);
        res
    }

    #[inline]
    pub(crate) fn address(self, address: Address) -> Self {
        self.push(&address.to_ne_bytes())
    }

    pub(crate) fn addresses(self, addresses: impl IntoIterator<Item = Address>) -> Self {
        addresses.into_iter().fold(self, Self::address)
    }

    /// `ng_i64`.
    #[inline]
    pub(crate) fn long(self, number: usize) -> Self {
        self.push(&(number as i64).to_ne_bytes())
    }

    /// `ng_i64`, which may be negative.
    pub(crate) fn signed(self, number: i64) -> Self {
        self.push(&number.to_ne_bytes())
    }

    /// `int`.
    pub(crate) fn int(self, number: i32) -> Self {
        self.push(&number.to_ne_bytes())
    }

    pub(crate) fn float(self, number: f32) -> Self {
        self.push(&number.to_ne_bytes())
    }

    pub(crate) fn double(self, number: f64) -> Self {
        self.push(&number.to_ne_bytes())
    }

    /// The low bytes of a number.
    #[inline]
    pub(crate) fn bits(self, bits: u128, size: usize) -> Self {
        self.push(&bits.to_ne_bytes()[..size])
    }

    /// `ng_start` of kernels that draw.
    pub(crate) fn start(self, start: &Start) -> Self {
        let words = [start.at.seed, start.at.offset, start.held];
        let bytes: SmallVec<[u8; 24]> = words.iter().flat_map(|it| it.to_ne_bytes()).collect();
        self.push(&bytes)
    }

    /// `ng_dims`.
    pub(crate) fn dims(self, dims: &Dims) -> Self {
        let mut words = SmallVec::<[u8; Self::DIMS]>::new();
        words.extend_from_slice(&(dims.sizes.len() as i32).to_ne_bytes());
        words.extend_from_slice(&i32::from(dims.is_narrow()).to_ne_bytes());
        let padded = |list: &[i64], at: usize| list.get(at).copied().unwrap_or(1).to_ne_bytes();
        for list in [&dims.sizes, &dims.strides] {
            (0..RANK).for_each(|at| words.extend_from_slice(&padded(list, at)));
        }
        self.push(&words)
    }

    /// The bytes of all, one behind the other.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of each.
    pub(super) fn all(&self) -> SmallVec<[&[u8]; 24]> {
        let mut res = SmallVec::new();
        let mut start = 0;
        for &end in &self.ends {
            res.push(&self.bytes[start..usize::from(end)]);
            start = usize::from(end);
        }
        res
    }
}

/// The dimensions over which a kernel goes, and the steps of one operand along them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dims {
    pub(crate) sizes: SmallVec<[i64; 6]>,
    pub(crate) strides: SmallVec<[i64; 6]>,
}

impl Dims {
    /// Those of one layout, neighbours merged where they are stepped through as one.
    pub(crate) fn of(op: &'static str, layout: &Layout) -> Result<Self> {
        let [dims] = Self::together(op, &layout.shape, [&layout.strides[..]])?;
        Ok(dims)
    }

    /// Those of operands of one shape, given their strides: neighbours are merged where all step through them as through one.
    pub(crate) fn together<const N: usize>(
        op: &'static str,
        shape: &[usize],
        strides: [&[isize]; N],
    ) -> Result<[Self; N]> {
        let kept = merged(op, shape, &strides)?;
        Ok(strides.map(|it| Self::along(&kept, it)))
    }

    /// As [`Dims::together`], for any number of operands.
    pub(crate) fn of_all(
        op: &'static str,
        shape: &[usize],
        strides: &[&[isize]],
    ) -> Result<SmallVec<[Self; 4]>> {
        let kept = merged(op, shape, strides)?;
        Ok(strides.iter().map(|it| Self::along(&kept, it)).collect())
    }

    fn along(kept: &[(usize, usize)], strides: &[isize]) -> Self {
        Self {
            sizes: kept.iter().map(|it| it.1 as i64).collect(),
            strides: kept.iter().map(|&(dim, _)| strides[dim] as i64).collect(),
        }
    }

    /// Whether all positions can be computed in 32 bits.
    pub(crate) fn is_narrow(&self) -> bool {
        self.sizes.iter().try_fold(1_i64, |all, it| all.checked_mul(*it)).unwrap_or(i64::MAX)
            <= i64::from(u32::MAX)
    }

    /// Whether element `n` in row-major order is element `n` of memory.
    pub(crate) fn is_flat(&self) -> bool {
        match (&self.sizes[..], &self.strides[..]) {
            ([], _) | ([_], [1]) => true,
            (sizes, _) => sizes.contains(&0),
        }
    }
}

/// The dimensions that are left when neighbours are merged through which all operands step as through one: which is the last of each,
/// and its size.
fn merged(
    op: &'static str,
    shape: &[usize],
    strides: &[&[isize]],
) -> Result<SmallVec<[(usize, usize); 6]>> {
    let mut kept: SmallVec<[(usize, usize); 6]> = SmallVec::new();
    for dim in (0..shape.len()).filter(|&dim| shape[dim] != 1) {
        let merges = kept.last().is_some_and(|&(last, _)| {
            strides.iter().all(|it| it[last] == it[dim] * shape[dim] as isize)
        });
        match kept.last_mut().filter(|_| merges) {
            Some((last, size)) => (*last, *size) = (dim, *size * shape[dim]),
            None => kept.push((dim, shape[dim])),
        }
    }
    if kept.len() > RANK {
        return Err(Error::TooManyDims { op, rank: shape.len() });
    }
    Ok(kept)
}

impl Grid {
    /// A thread for each of `n` elements, which go round where that is more than the device takes well.
    pub(crate) fn each(n: usize) -> Self {
        let blocks = n.div_ceil(THREADS as usize).clamp(1, 1 << 16);
        Self { blocks: [blocks as u32, 1, 1], threads: THREADS, shared: 0 }
    }

    /// So many blocks, which go round where they are too many for one dimension of a grid.
    pub(crate) fn blocks(n: usize, threads: u32) -> Self {
        Self { blocks: [n.clamp(1, (1 << 31) - 1) as u32, 1, 1], threads, shared: 0 }
    }
}
