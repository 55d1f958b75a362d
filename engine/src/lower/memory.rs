//! Where buffers lie in the arena: greedy placement, in two orders, of which the better is kept.

/// A buffer that lives from the launch that writes it to the last that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Bytes.
    pub size: usize,
    /// First launch.
    pub from: usize,
    /// Last launch, at least `from`.
    pub to: usize,
}

/// Offsets in one arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// One per buffer, multiples of [`ALIGN`].
    pub offsets: Vec<usize>,
    /// Bytes of the arena.
    pub peak: usize,
    /// No placement can do with fewer bytes: the most that is alive at one launch.
    pub lower_bound: usize,
    /// The first launch at which so many are alive.
    pub fullest: usize,
    /// Bytes if nothing were reused.
    pub total: usize,
}

/// Buffers start at multiples of this, in bytes.
pub const ALIGN: usize = 64;

impl Lifetime {
    fn bytes(self) -> usize {
        self.size.next_multiple_of(ALIGN)
    }

    fn meets(self, other: Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// Places all buffers so that those alive at the same launch do not overlap.
pub fn place(buffers: &[Lifetime]) -> Placement {
    let by_size = greedy(buffers, |it| it.bytes());
    let by_area = greedy(buffers, |it| it.bytes().saturating_mul(it.to - it.from + 1));
    let mut best = if by_area.peak < by_size.peak { by_area } else { by_size };
    (best.fullest, best.lower_bound) = fullest(buffers);
    best.total = buffers.iter().map(|it| it.bytes()).sum();
    best
}

/// Largest first, each at the lowest offset that is free during its life.
fn greedy(buffers: &[Lifetime], weight: impl Fn(Lifetime) -> usize) -> Placement {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&idx| (std::cmp::Reverse(weight(buffers[idx])), buffers[idx].from, idx));
    let mut offsets = vec![0; buffers.len()];
    // Placed buffers by offset.
    let mut placed: Vec<usize> = Vec::new();
    let mut peak = 0;
    for idx in order {
        let buffer = buffers[idx];
        let mut offset = 0;
        for &other in placed.iter().filter(|&&it| buffers[it].meets(buffer)) {
            if offset + buffer.bytes() <= offsets[other] {
                break;
            }
            offset = offset.max(offsets[other] + buffers[other].bytes());
        }
        offsets[idx] = offset;
        peak = peak.max(offset + buffer.bytes());
        let at = placed.partition_point(|&it| offsets[it] <= offset);
        placed.insert(at, idx);
    }
    Placement { offsets, peak, ..Placement::default() }
}

/// The launch at which the most is alive, and how many bytes that is.
fn fullest(buffers: &[Lifetime]) -> (usize, usize) {
    let end = buffers.iter().map(|it| it.to + 2).max().unwrap_or(0);
    let mut change = vec![0_isize; end];
    for it in buffers {
        change[it.from] += it.bytes() as isize;
        change[it.to + 1] -= it.bytes() as isize;
    }
    let (mut alive, mut most) = (0, (0, 0));
    for (at, it) in change.into_iter().enumerate() {
        alive += it;
        if alive > most.1 {
            most = (at, alive);
        }
    }
    (most.0, most.1 as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(buffers: &[Lifetime]) -> Placement {
        let res = place(buffers);
        for (a, x) in buffers.iter().enumerate() {
            assert!(res.offsets[a] + x.size <= res.peak);
            for (b, y) in buffers.iter().enumerate().skip(a + 1) {
                let apart = res.offsets[a] + x.size <= res.offsets[b]
                    || res.offsets[b] + y.size <= res.offsets[a];
                assert!(apart || !x.meets(*y), "{a} and {b} overlap");
            }
        }
        assert!(res.lower_bound <= res.peak && res.peak <= res.total);
        res
    }

    fn life(size: usize, from: usize, to: usize) -> Lifetime {
        Lifetime { size, from, to }
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        let chain: Vec<_> = (0..10).map(|at| life(640, at, at + 1)).collect();
        let res = check(&chain);
        assert_eq!((res.peak, res.lower_bound, res.total), (1280, 1280, 6400));
        assert_eq!(res.fullest, 1);
    }

    #[test]
    fn buffers_alive_together_are_apart() {
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..50 {
            let random = |_| {
                let from = next(40) as usize;
                life(next(5000) as usize, from, from + next(12) as usize)
            };
            let buffers: Vec<_> = (0..60).map(random).collect();
            let res = check(&buffers);
            assert!(res.peak <= 2 * res.lower_bound);
        }
    }

    #[test]
    fn nothing_needs_nothing() {
        assert_eq!(place(&[]), Placement::default());
    }
}
