//! Convolutions by cuDNN. What it decides for a case is kept for the next convolution of that case.

#![expect(unsafe_code, reason = "calls of the library")]

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUstream;
use rustc_hash::FxHashMap;

use super::cudnn::{self, Functions, Handle, Kind, Name, Pointer};
use super::descriptors::Descriptor;
use super::driver::{Address, Answer, Convolution, ConvolutionCase};
use super::engines::{ALIGNMENT, Engines, IDS};
use super::libraries;
use crate::sync::Mutex;

/// The most scratch that a plan may have.
const MOST_WORKSPACE: usize = 1 << 30;

/// Scratch is asked for in powers of two of at least so many bytes, so that few blocks are kept for all cases.
const LEAST_WORKSPACE: usize = 1 << 20;

/// Plans that are measured, at most.
const MOST_PLANS: usize = 10;

/// Runs of a plan that are measured.
const RUNS: usize = 3;

/// Gives scratch of so many bytes on the device, if there is room.
pub(crate) type Room<'a> = &'a mut dyn FnMut(usize) -> Option<Address>;

/// Waits until the stream is done; `None` where nobody may wait.
pub(super) type Wait<'a> = Option<&'a dyn Fn() -> Answer<()>>;

/// Addresses of images, kernels and results.
type Places = [Address; 3];

/// The library on one device.
pub(super) struct Convolutions {
    functions: &'static Functions,
    handle: Handle,
    /// The library's handle may be used by one thread at a time: that which holds this.
    state: Mutex<State>,
}

// SAFETY: the library's handles and descriptors may be used by all threads, one after the other.
unsafe impl Send for Convolutions {}
// SAFETY: the handle and the state are used under the lock.
unsafe impl Sync for Convolutions {}

struct State {
    /// That of the handle.
    stream: CUstream,
    /// `None` for those that the library does not know.
    known: FxHashMap<ConvolutionCase, Option<Known>>,
}

/// What may compute a case.
struct Known {
    /// Those that have been made, the most promising first.
    plans: VecDeque<Plan>,
    /// Those that have not been tried.
    engines: Engines,
}

/// An engine that is ready to run.
struct Plan {
    descriptor: Descriptor,
    /// Bytes of scratch.
    workspace: usize,
    /// What it has run on last.
    pack: Option<Pack>,
}

/// Addresses as the library takes them.
struct Pack {
    /// With the scratch.
    places: [Address; 4],
    descriptor: Descriptor,
}

impl Convolutions {
    /// The library, which is loaded; `None` where it does not start.
    pub(super) fn open() -> Option<Self> {
        // It looks for these by name, and ends the process where they are missing.
        libraries::cublas_lt()?;
        libraries::nvrtc()?;
        let functions = Functions::all()?;
        let handle = functions.handle().ok()?;
        let state = State { stream: ptr::null_mut(), known: FxHashMap::default() };
        Some(Self { functions, handle, state: Mutex::new(state) })
    }

    /// Asks for a convolution on a stream; false where the library does not take it.
    pub(super) fn convolve(
        &self,
        stream: CUstream,
        wait: Wait<'_>,
        convolution: &Convolution,
        room: Room<'_>,
    ) -> Answer<bool> {
        let (mut case, places) = (convolution.case, convolution.places);
        if places.iter().any(|it| it % ALIGNMENT != 0) {
            return Ok(false);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.enter(&mut state, stream)?;
        // What nobody has measured yet, and nobody can measure now, goes as if it was not to be measured.
        case.measured &= wait.is_some() || state.known.contains_key(&case);
        let known =
            state.known.entry(case).or_insert_with(|| self.known(&case, places, wait, room));
        let Some(known) = known else { return Ok(false) };
        while let Some(plan) = known.plan(|it| self.plan(it)) {
            if self.run(plan, places, room)? {
                return Ok(true);
            }
            known.plans.pop_front();
        }
        Ok(false)
    }

    /// Has the handle ask on a stream.
    fn enter(&self, state: &mut State, stream: CUstream) -> Answer<()> {
        if state.stream != stream {
            // SAFETY: the handle was made, and this thread has it; the stream lives as long as the process.
            self.functions.check(unsafe { (self.functions.set_stream)(self.handle, stream) })?;
            state.stream = stream;
        }
        Ok(())
    }

    /// What the library makes of a case; measures on the places, whose result is overwritten, if the case asks for that.
    fn known(
        &self,
        case: &ConvolutionCase,
        places: Places,
        wait: Wait<'_>,
        room: Room<'_>,
    ) -> Option<Known> {
        let mut engines = Engines::new(self.functions, self.handle, case).ok()?;
        let plans = match wait {
            Some(wait) if case.measured => {
                let plans = engines.by_ref().filter_map(|it| self.plan(&it));
                let time = |mut it: Plan| Some((self.time(&mut it, places, wait, room)?, it));
                quickest_first(plans.take(MOST_PLANS).filter_map(time).collect())
            }
            _ => VecDeque::new(),
        };
        Some(Known { plans, engines })
    }

    /// A plan of an engine; `None` if that is not for this device or needs too much scratch.
    fn plan(&self, config: &Descriptor) -> Option<Plan> {
        let made = Descriptor::new(self.functions, Kind::PLAN)
            .and_then(|it| it.with(Name::PLAN_HANDLE, &[self.handle]))
            .and_then(|it| it.with_part(Name::PLAN_CONFIG, config))
            .and_then(Descriptor::finalized);
        let descriptor = made.ok()?;
        let mut bytes = [-1_i64];
        let bytes = *descriptor.read(Name::PLAN_WORKSPACE, &mut bytes).ok()?.first()?;
        let workspace = usize::try_from(bytes).ok().filter(|it| *it <= MOST_WORKSPACE)?;
        Some(Plan { descriptor, workspace, pack: None })
    }

    /// The time that a plan takes, with what the host does for it; `None` if it does not run.
    fn time(
        &self,
        plan: &mut Plan,
        places: Places,
        wait: &dyn Fn() -> Answer<()>,
        room: Room<'_>,
    ) -> Option<Duration> {
        let mut run = || {
            let start = Instant::now();
            let has_run = self.run(plan, places, room).is_ok_and(|it| it) && wait().is_ok();
            has_run.then(|| start.elapsed())
        };
        // Kernels are loaded when they first run.
        run()?;
        (0..RUNS).map(|_| run()).min()?
    }

    /// Runs a plan; false if there is no room for it, or the library refuses it.
    fn run(&self, plan: &mut Plan, places: Places, room: Room<'_>) -> Answer<bool> {
        let Some(workspace) = scratch(plan.workspace, room) else { return Ok(false) };
        let [x, w, y] = places;
        let pack = plan.pack(self.functions, [x, w, y, workspace])?.raw();
        // SAFETY: the plan is one of this handle, and the pack has the addresses of its operands, which their owners keep until the stream
        // is done with them, as is the workspace, of the size that the plan has asked for.
        let status = unsafe { (self.functions.execute)(self.handle, plan.descriptor.raw(), pack) };
        match status {
            cudnn::SUCCESS => Ok(true),
            it if it < cudnn::EXECUTION_FAILED => Ok(false),
            it => self.functions.check(it).map(|()| true),
        }
    }
}

impl Known {
    /// The plan to run, which `make` makes of an engine if there is none.
    fn plan(&mut self, mut make: impl FnMut(&Descriptor) -> Option<Plan>) -> Option<&mut Plan> {
        if self.plans.is_empty() {
            self.plans.extend(self.engines.find_map(|it| make(&it)));
        }
        self.plans.front_mut()
    }
}

impl Plan {
    /// The pack of these addresses: that of the last run, if they are the same.
    fn pack(&mut self, functions: &'static Functions, places: [Address; 4]) -> Answer<&Descriptor> {
        let pack = match self.pack.take().filter(|it| it.places == places) {
            Some(pack) => pack,
            None => Pack { places, descriptor: packed(functions, places)? },
        };
        Ok(&self.pack.insert(pack).descriptor)
    }
}

/// A variant pack of addresses.
fn packed(functions: &'static Functions, places: [Address; 4]) -> Answer<Descriptor> {
    let [x, w, y, workspace] = places.map(|it| Pointer(it as usize as *mut c_void));
    Descriptor::new(functions, Kind::VARIANT_PACK)?
        .with(Name::PACK_IDS, &IDS)?
        .with(Name::PACK_POINTERS, &[x, w, y])?
        .with(Name::PACK_WORKSPACE, &[workspace])?
        .finalized()
}

/// Scratch for a plan that needs so many bytes.
fn scratch(bytes: usize, room: Room<'_>) -> Option<Address> {
    match bytes {
        0 => Some(0),
        _ => room(bytes.max(LEAST_WORKSPACE).next_power_of_two()),
    }
}

/// What was measured, in the order of the times; of equals that which was expected to be quicker comes first.
fn quickest_first<T>(mut timed: Vec<(Duration, T)>) -> VecDeque<T> {
    timed.sort_by_key(|it| it.0);
    timed.into_iter().map(|it| it.1).collect()
}

/// The version of the library, `90800` for 9.8.0, where it was found.
pub fn version() -> Option<usize> {
    Functions::all().map(Functions::version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_comes_in_few_sizes() {
        let mut asked = Vec::new();
        let mut room = |bytes| {
            asked.push(bytes);
            Some(512)
        };
        assert_eq!(scratch(0, &mut room), Some(0));
        let sizes = [1, LEAST_WORKSPACE + 1, MOST_WORKSPACE];
        sizes.iter().for_each(|it| assert_eq!(scratch(*it, &mut room), Some(512)));
        assert_eq!(asked, [LEAST_WORKSPACE, 2 * LEAST_WORKSPACE, MOST_WORKSPACE]);
        assert_eq!(scratch(1, &mut |_| None), None);
    }

    #[test]
    fn what_was_quickest_comes_first() {
        let timed = [(3, 'a'), (1, 'b'), (3, 'c'), (2, 'd')];
        let timed = timed.map(|(time, plan)| (Duration::from_micros(time), plan));
        assert_eq!(quickest_first(timed.to_vec()), ['b', 'd', 'a', 'c']);
    }

    #[test]
    fn the_library_takes_addresses() {
        let Some(functions) = Functions::all() else { return };
        assert!(packed(functions, [512, 1024, 2048, 0]).is_ok());
    }

    #[test]
    fn the_library_is_of_the_version_that_is_asked_for() {
        assert!(version().is_none_or(|it| it / 10_000 == 9));
    }
}
