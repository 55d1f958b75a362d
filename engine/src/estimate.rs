//! What ops on tensors without elements would take, in bytes and in seconds: a meter that runs along while they only infer shapes.
//!
//! Each result of an op holds a [`Claim`] on the bytes that its buffer would have; views share it. It ends with the last handle, on the
//! tape or off it. So the meter follows the memory of the real run without using any. Scratch space of kernels is not counted.
//! Seconds are those of one slow core, right to a factor of a few.
//!
//! **Invariant:** a claim that outlives its measurement changes no later one.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::cpu::alloc;
use crate::op::{Body, InferCx};
use crate::tensor::Data;
use crate::{Layout, Meta, Tensor};

/// Bytes of one buffer that is not there, or of one that was there before.
pub struct Claim {
    bytes: i64,
    run: u32,
    is_new: bool,
}

/// What a measurement has found, in bytes of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The most that was in use at a time beyond what was there before; less than 0 if nothing was made and something freed.
    pub peak: i64,
    /// The same of new buffers alone.
    pub new_peak: i64,
    /// Buffers that were there before and that the code has looked at.
    pub known: i64,
}

#[derive(Default)]
struct Meter {
    /// Number of the measurement; 0 if none runs.
    run: Cell<u32>,
    live: Cell<i64>,
    new: Cell<i64>,
    known: Cell<i64>,
    peak: Cell<i64>,
    new_peak: Cell<i64>,
    /// The peak since [`lap`], of all and of new buffers.
    lap: Cell<i64>,
    moved: Cell<bool>,
    seconds: Cell<f64>,
    may_refuse: Cell<bool>,
}

/// What an op takes whose operands are small.
const PER_OP: f64 = 1e-6;

/// What it takes to read or write an element.
const PER_ELEMENT: f64 = 0.5e-9;

/// What a multiplication or an addition of a product takes.
const PER_FLOP: f64 = 5e-11;

thread_local! {
    static METER: Meter = Meter::default();
}

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Begins a measurement on this thread.
pub fn begin() {
    let run = RUNS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
    METER.with(|it| {
        it.run.set(run);
        for cell in [&it.live, &it.new, &it.known, &it.peak, &it.new_peak, &it.lap] {
            cell.set(0);
        }
        it.moved.set(false);
        it.seconds.set(0.0);
    });
}

/// Ends it.
pub fn end() -> Reading {
    METER.with(|it| {
        it.run.set(0);
        Reading { peak: it.peak.get(), new_peak: it.new_peak.get(), known: it.known.get() }
    })
}

/// Seconds that the ops since the beginning would take.
pub fn seconds() -> f64 {
    METER.with(|it| it.seconds.get())
}

/// Whether an op since the last call may refuse the elements that it gets.
pub fn may_refuse() -> bool {
    METER.with(|it| it.may_refuse.replace(false))
}

/// Counts the time of an op.
pub(crate) fn spend(cx: &InferCx<'_>, outputs: &[Meta]) {
    METER.with(|it| {
        if it.run.get() == 0 {
            return;
        }
        let kernel = match cx.op.body {
            Body::Kernels(kernels) => kernels.first(),
            _ => None,
        };
        let flops = kernel.map_or(0, |it| (it.flops)(cx));
        if kernel.is_some_and(|it| it.admits.is_some()) {
            it.may_refuse.set(true);
        }
        let read: usize = cx.inputs.iter().map(Tensor::numel).sum();
        let written: usize = outputs.iter().map(|it| it.shape.numel()).sum();
        let moved = (read + written) as f64;
        let spent = PER_OP + moved * PER_ELEMENT + flops as f64 * PER_FLOP;
        it.seconds.set(it.seconds.get() + spent);
    });
}

/// Bytes in use now, beyond what was there before.
pub fn live() -> i64 {
    METER.with(|it| it.live.get())
}

/// Whether the peak has moved since the last call.
pub fn moved() -> bool {
    METER.with(|it| it.moved.replace(false))
}

/// The most in use since the last call.
pub fn lap() -> i64 {
    METER.with(|it| it.lap.replace(it.live.get()))
}

/// Counts a peak that the code would come to in rounds that are left out, and what they leave behind.
pub fn leap(peak: i64, left: i64) {
    METER.with(|it| {
        let beyond = peak - it.live.get();
        it.note(peak, it.new.get() + beyond);
        it.add(left, true);
    });
}

/// Runs what the real run does not.
pub fn uncounted<R>(body: impl FnOnce() -> R) -> R {
    let run = METER.with(|it| it.run.replace(0));
    let res = body();
    METER.with(|it| it.run.set(run));
    res
}

/// A result of an op, without elements.
pub(crate) fn computed(meta: Meta) -> Tensor {
    let claim = METER.with(|it| it.claim(&meta));
    Tensor::make(meta.dtype, Layout::contiguous(meta.shape), Data::Abstract(claim), None)
}

/// A view without elements; it shares the claim of what it looks at.
pub(crate) fn view(base: &Tensor, layout: Layout) -> Tensor {
    let claim = match base.data() {
        Data::Abstract(claim) => claim.clone(),
        _ => None,
    };
    Tensor::make(base.dtype(), layout, Data::Abstract(claim), None)
}

/// A tensor that is there, without its elements. Where nothing else holds the buffer, the meter counts it as freed with the last handle.
pub fn known(tensor: &Tensor) -> Tensor {
    let claim = METER.with(|it| it.known(tensor));
    Tensor::make(tensor.dtype(), tensor.layout().clone(), Data::Abstract(claim), None)
}

impl Meter {
    fn claim(&self, meta: &Meta) -> Option<Arc<Claim>> {
        let run = self.run.get();
        if run == 0 {
            return None;
        }
        let bytes = alloc::block_size(meta.bytes()) as i64;
        self.add(bytes, true);
        Some(Arc::new(Claim { bytes, run, is_new: true }))
    }

    fn known(&self, tensor: &Tensor) -> Option<Arc<Claim>> {
        let (run, Data::Stored(storage)) = (self.run.get(), tensor.data()) else { return None };
        if run == 0 {
            return None;
        }
        let bytes = alloc::block_size(storage.len()) as i64;
        self.known.set(self.known.get() + bytes);
        // One handle of the variable, one of the caller.
        let alone = Arc::strong_count(storage) == 1 && tensor.handles() <= 2;
        alone.then(|| Arc::new(Claim { bytes, run, is_new: false }))
    }

    fn add(&self, bytes: i64, is_new: bool) {
        let live = self.live.get() + bytes;
        self.live.set(live);
        if is_new {
            self.new.set(self.new.get() + bytes);
        }
        if bytes > 0 {
            self.note(live, self.new.get());
        }
    }

    fn note(&self, live: i64, new: i64) {
        self.lap.set(self.lap.get().max(live));
        self.new_peak.set(self.new_peak.get().max(new));
        if live > self.peak.get() {
            self.peak.set(live);
            self.moved.set(true);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While a thread ends the meter may be gone already.
        let _ = METER.try_with(|it| {
            if it.run.get() == self.run {
                it.add(-self.bytes, self.is_new);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functional::{add, full, matmul, reshape};
    use crate::{DType, Shape, apply};

    fn ones() -> Tensor {
        full(&Shape::from([1024]), 1.0, DType::F32).unwrap()
    }

    #[test]
    fn results_count_until_their_last_handle_goes() {
        let ones = ones();
        let before = apply::set_shapes_only(true);
        begin();
        let a = add(&ones, &ones).unwrap();
        assert_eq!(live(), 4096);
        let view = reshape(&a, &Shape::from([2, 512])).unwrap();
        drop(a);
        assert_eq!(live(), 4096, "a view holds what it looks at");
        let sum = add(&view, &view).unwrap();
        assert!(moved() && !moved());
        drop((view, sum));
        assert_eq!(live(), 0);
        assert_eq!(lap(), 8192);
        assert_eq!(lap(), 0);
        leap(100_000, 300);
        assert_eq!(live(), 300);
        let left = add(&ones, &ones).unwrap();
        drop(uncounted(|| add(&ones, &ones).unwrap()));
        assert_eq!(live(), 300 + 4096);
        assert_eq!(end(), Reading { peak: 100_000, new_peak: 100_000, known: 0 });
        begin();
        drop(left);
        assert_eq!(live(), 0, "a claim of an earlier measurement");
        end();
        apply::set_shapes_only(before);
    }

    #[test]
    fn products_count_their_multiplications() {
        let measure = |size: usize| {
            let x = full(&Shape::from([size, size]), 1.0, DType::F32).unwrap();
            let before = apply::set_shapes_only(true);
            begin();
            drop(matmul(&x, &x).unwrap());
            let product = seconds();
            drop(add(&x, &x).unwrap());
            let both = seconds();
            end();
            apply::set_shapes_only(before);
            (product, both - product)
        };
        let (small, large) = (measure(8), measure(2048));
        assert!(small.0 < 1e-5 && small.1 < 1e-5, "{small:?}");
        assert!(large.0 > 0.1 && large.1 < 0.02, "{large:?}");
        assert!(large.0 < 2.0, "{large:?}");
    }

    #[test]
    fn what_was_there_is_freed_once() {
        let there = add(&ones(), &ones()).unwrap();
        let held = there.detach().with_edge(None);
        begin();
        drop(known(&there));
        assert_eq!(live(), 0, "somebody else holds the buffer");
        drop(held);
        drop(known(&there));
        assert_eq!(live(), -4096);
        assert_eq!(end(), Reading { peak: 0, new_peak: 0, known: 8192 });
        assert_eq!(known(&there).meta(), there.meta());
    }
}
