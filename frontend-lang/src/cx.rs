//! `Cx`: one running session as natives see it. Its operations are spread over `operate/`.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::apply::anomaly::Watch;
use rustc_hash::FxHashMap;

use crate::cycles;
use crate::error::{RECURSION_ERROR, Raised};
use crate::host::Host;
use crate::memory;
use crate::objects::generator::{has_abandoned, take_abandoned};
use crate::objects::module::Globals;
use crate::objects::trash;
use crate::patience::interrupted;
use crate::session::Session;
use crate::shell::Shell;
use crate::source::Sources;
use crate::sym::Sym;
use crate::tensor::device::Devices;
use crate::value::Value;
use crate::vm::frame::Machine;

/// How deeply natives may call code that calls natives.
pub const NATIVE_DEPTH: u32 = 160;

/// How the machine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Everything happens.
    #[default]
    Eager,
    /// The check before running: tensors have no data, effects are skipped.
    Shadow,
    /// The body of a traced function that may be left out later: what would be lost then is noted, or refused.
    Follow,
}

/// A running session.
pub struct Cx {
    /// The world outside.
    pub host: Box<dyn Host>,
    /// Set by another thread to stop the program.
    pub interrupt: Arc<AtomicBool>,
    pub mode: Mode,
    /// Names that need no import.
    pub builtins: FxHashMap<Sym, Value>,
    /// Modules imported so far, by full name.
    pub modules: FxHashMap<String, Value>,
    /// Modules whose text is running, by full name.
    pub(crate) loading: Vec<String>,
    /// Every text that was run.
    pub sources: Sources,
    /// Global names of the session.
    pub globals: Rc<Globals>,
    /// Silent mistakes that the latest check has found.
    pub(crate) findings: Vec<crate::diagnostic::Diagnostic>,
    /// Names that cells would have bound that came to no end.
    pub(crate) unmade: crate::unmade::Unmade,
    /// What is followed of such a body.
    pub(crate) follow: crate::trace::Follow,
    pub(crate) steps: crate::trace::Steps,
    /// Where a traced call has left what was recorded, until that is told.
    pub(crate) departure: Option<crate::source::Span>,
    /// What training has come to.
    pub(crate) trained: crate::check::training::Trained,
    /// What the latest check before running took.
    pub check_cost: crate::check::Cost,
    /// The state of a check before running, while one runs.
    pub(crate) check: Option<Box<crate::check::Shadow>>,
    /// Frames and their values.
    pub(crate) machine: Machine,
    /// Containers whose `repr` is being made.
    pub(crate) showing: Vec<usize>,
    pub(crate) native_depth: u32,
    pub(crate) native_limit: u32,
    /// Bytes that strings and containers of the session may use.
    pub memory_limit: usize,
    /// What `os.environ` holds at first.
    pub(crate) environment: Vec<(String, String)>,
    /// What programs have written into files and the files do not hold yet, by path.
    pub(crate) unwritten: BTreeMap<String, String>,
    /// What runs magics that code asks for.
    pub shell: Option<Rc<dyn Shell>>,
    /// The session around which this machine is put while such a magic runs.
    pub(crate) spare: Option<Box<Session>>,
    /// Whether the first NaN is looked for.
    pub anomalies: Watch,
    /// Whether it was told that a cast loses imaginary parts.
    pub(crate) lost_part_told: bool,
    /// The devices that tensors are made on.
    pub(crate) devices: Devices,
    /// What functions take, while that is measured.
    pub(crate) profile: Option<Box<crate::profile::Profile>>,
    /// Branches and loops on tensors whose graphs are recorded, the innermost last.
    pub(crate) regions: Vec<crate::region::UnderWay>,
    /// What went wrong with one that could not be recorded, for the end of the traced call.
    pub(crate) failed_region: Option<Raised>,
    /// Parts that were recorded for the outermost branch or loop on a tensor.
    pub(crate) n_parts: usize,
    /// Packages of a real Python.
    pub python: crate::python::Python,
}

impl Drop for Cx {
    /// Functions and the modules they stand in hold each other, and would stay behind. No code runs any more: what waits for its
    /// `__del__` or its `finally` is not for the next session of this thread.
    fn drop(&mut self) {
        for module in self.modules.values() {
            if let Value::Module(it) = module {
                it.globals.clear();
            }
        }
        self.globals.clear();
        cycles::collect();
        drop(crate::objects::finalizer::take_waiting());
        drop(take_abandoned());
        trash::empty();
    }
}

impl Cx {
    /// A new session over `host`.
    pub fn new(host: Box<dyn Host>) -> Cx {
        let environment = host.environment();
        Cx {
            host,
            environment,
            profile: None,
            python: Default::default(),
            regions: Vec::new(),
            failed_region: None,
            n_parts: 0,
            devices: Devices::default(),
            anomalies: Watch::Nothing,
            lost_part_told: false,
            shell: None,
            spare: None,
            unwritten: BTreeMap::new(),
            interrupt: Arc::new(AtomicBool::new(false)),
            mode: Mode::Eager,
            builtins: crate::builtins::names(),
            modules: FxHashMap::default(),
            loading: Vec::new(),
            sources: Sources::default(),
            globals: Rc::new(Globals::default()),
            findings: Vec::new(),
            unmade: Default::default(),
            follow: Default::default(),
            steps: Default::default(),
            departure: None,
            trained: Default::default(),
            check_cost: Default::default(),
            check: None,
            machine: Machine::default(),
            showing: Vec::new(),
            native_depth: 0,
            native_limit: NATIVE_DEPTH,
            memory_limit: memory::default_limit(),
        }
    }

    /// Raises `KeyboardInterrupt` if the user has asked to stop; long loops call it.
    #[inline]
    pub fn poll(&mut self) -> Result<(), Raised> {
        if self.interrupt.load(Ordering::Relaxed) | cycles::is_wanted() | has_abandoned() {
            return self.attend();
        }
        Ok(())
    }

    /// What cannot wait until the end of the cell.
    #[cold]
    fn attend(&mut self) -> Result<(), Raised> {
        if self.interrupt.swap(false, Ordering::Relaxed) {
            return Err(interrupted());
        }
        // Natives that are under way expect no other code to run.
        if has_abandoned() && self.native_depth == 0 {
            self.close_abandoned();
        }
        if cycles::is_wanted() {
            cycles::collect();
        }
        memory::check()
    }

    /// Counts a nested use of the Rust stack; too many are a `RecursionError`.
    #[inline]
    pub(crate) fn enter_native(&mut self) -> Result<(), Raised> {
        if self.native_depth >= self.native_limit {
            return Err(Raised::new(&RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        self.native_depth += 1;
        Ok(())
    }

    /// The end of what `enter_native` began.
    #[inline]
    pub(crate) fn leave_native(&mut self) {
        self.native_depth -= 1;
    }
}
