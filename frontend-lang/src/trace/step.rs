//! Steps of a traced cell: a hidden `with` around the body of each innermost loop.

use std::any::Any;
use std::cell::{Cell, RefCell};

use engine::trace::{Call, Options, Pace, Traced, Turn};

use super::notice::Told;
use super::{finish, next_turn, pace_of, why_eager};
use crate::native::*;
use crate::tensor::journal::Writes;

/// The type of the hidden guard around one step of a traced cell.
static STEP: NativeType = NativeType {
    module: "notegrad.jit",
    ..NativeType::plain("trace_step", "One step of a traced cell.")
};

/// One step of a traced cell: the body of an innermost loop, or the whole cell.
pub struct Step {
    traced: Traced,
    /// What runs now; inner ones run inline in the outermost.
    runs: RefCell<Vec<Run>>,
    told: Told,
    /// Whether tracing pays; `None` where it is asked for in any case.
    pace: Option<Pace>,
    /// The cell in which it ran last, and the line of its loop.
    place: Cell<(usize, Option<usize>)>,
}

/// A step that runs.
struct Run {
    /// `None` where it runs as written.
    begun: Option<(Call, Option<Writes>)>,
    /// How that was decided; `None` where there was no choice.
    turn: Option<Turn>,
}

/// A step of a traced cell, as others see it.
pub struct CellStep {
    /// The number of the cell in which it ran last.
    pub cell: usize,
    /// The line of its loop, from 1; `None` when the step is the whole cell.
    pub line: Option<usize>,
    /// What was recorded.
    pub traced: Traced,
    /// How often it ran as written.
    pub n_eager: usize,
    /// Why it runs as written, if it does.
    pub why_eager: Option<String>,
}

impl Step {
    /// A step that has not run yet.
    pub fn new(options: Options) -> Step {
        let pace = pace_of(&options, false);
        let (runs, told, place) = Default::default();
        Step { traced: Traced::new(options), runs, told, pace, place }
    }

    /// Notes in which cell it runs, and the line of its loop.
    pub fn stands_at(&self, cell: usize, line: Option<usize>) {
        self.place.set((cell, line));
    }

    /// Where it ran, and what was recorded.
    pub fn seen(&self) -> CellStep {
        let (cell, line) = self.place.get();
        let why_eager = self.pace.as_ref().and_then(why_eager);
        let n_eager = self.pace.as_ref().map_or(0, Pace::n_eager);
        CellStep { cell, line, traced: self.traced.clone(), n_eager, why_eager }
    }
}

impl NativeObject for Step {
    fn native_type(&self) -> &'static NativeType {
        &STEP
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn enter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let turn = next_turn(self.pace.as_ref(), cx);
        let begun = match turn.is_some_and(Turn::is_eager) {
            true => None,
            false => {
                let call = self.traced.begin(&[])?;
                let writes = call.asks_for_stores().then(Writes::begin);
                Some((call, writes))
            }
        };
        self.runs.borrow_mut().push(Run { begun, turn });
        Ok(Some(this.clone()))
    }

    fn exit(&self, cx: &mut Cx, _this: &Value, error: &Value) -> Result<bool, Raised> {
        let Some(Run { begun, turn }) = self.runs.borrow_mut().pop() else { return Ok(false) };
        let is_ok = error.is_none();
        let finished = match begun {
            Some((call, writes)) if is_ok => Some(finish(call, &[], writes)),
            Some((call, _)) => {
                call.abort();
                None
            }
            None => None,
        };
        if let (Some(pace), Some(turn)) = (&self.pace, turn) {
            pace.ends(turn, is_ok);
        }
        if let Some(finished) = finished {
            self.told.tell(cx, "this step", &finished?.stats);
        }
        Ok(false)
    }
}
