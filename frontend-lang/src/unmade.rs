//! Names that a cell would have bound, had it come so far: what a later `name 'x' is not defined` goes back to.

use rustc_hash::FxHashMap;

use crate::ast::Range;
use crate::editor::places::place;
use crate::objects::module::Globals;
use crate::source::{SourceId, Sources, Span};
use crate::sym::Sym;

/// Why a cell did not bind a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Why {
    /// The check found an error, and the cell did not run.
    Refused,
    /// Its text is no program.
    NoProgram,
    /// It ended with an exception of this class.
    Failed(String),
}

/// Names without a value, with the place that would have given them one.
#[derive(Default)]
pub(crate) struct Unmade(FxHashMap<Sym, (Span, Why)>);

impl Unmade {
    /// A cell has ended early: of the names that it binds, those without a value are noted.
    pub(crate) fn note(
        &mut self,
        globals: &Globals,
        bound: &[(Sym, Range)],
        source: SourceId,
        why: Why,
    ) {
        self.0.retain(|name, _| globals.get(*name).is_none());
        for (name, range) in bound.iter().filter(|it| globals.get(it.0).is_none()) {
            let place = Span { source, start: range.start, end: range.end };
            self.0.insert(*name, (place, why.clone()));
        }
    }

    /// A cell begins that binds names itself.
    pub(crate) fn forget(&mut self, bound: &[(Sym, Range)]) {
        for (name, _) in bound {
            self.0.remove(name);
        }
    }

    /// What is to be said of a name that has no value, if a cell would have given it one.
    pub(crate) fn words(&self, name: Sym, sources: &Sources) -> Option<String> {
        let (span, why) = self.0.get(&name)?;
        let place = place(sources, *span);
        if place.is_empty() {
            return None;
        }
        let why = match why {
            Why::Refused => "but that cell did not run: the check found an error in it".into(),
            Why::NoProgram => "but that cell did not run: its text is no program".into(),
            Why::Failed(class) => format!("but that cell ended before, with {class}"),
        };
        Some(format!("{place} would have bound it, {why}. Mend that cell and run it again"))
    }
}
