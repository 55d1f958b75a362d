//! What the engine's sites mean: operations of cells, and of modules beside them, numbered as their code is compiled.
//!
//! Code that comes with the language has no numbers: what it does is done by the line of the user's that called it.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::Site;
use engine::error::Anomaly;

use crate::bytecode::Code;
use crate::cx::Cx;
use crate::source::Lines;

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// `In[3]`, or the name of a module.
    pub source: String,
    /// Counted from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    /// `cell 3, line 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match cell_of(&self.source) {
            Some(number) => write!(f, "cell {number}, line {}", self.line),
            None => write!(f, "{}, line {}", self.source, self.line),
        }
    }
}

/// The number of a cell by the name of its source: `In[3]`.
pub fn cell_of(source: &str) -> Option<&str> {
    source.strip_prefix("In[")?.strip_suffix(']')
}

/// The operations of one code object.
struct Piece {
    /// The number before its first operation's.
    before: u32,
    places: Rc<[(u32, u32)]>,
    lines: Rc<Lines>,
}

/// So many code objects are remembered; of more, the older half is forgotten.
const MOST: usize = 8_192;

/// The last number that was given, in all sessions.
static LAST: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static PIECES: RefCell<Vec<Piece>> = const { RefCell::new(Vec::new()) };
}

/// Gives numbers to operations that stand at `places` of a text; the number before the first, or 0 if there are no more.
pub(crate) fn number(lines: &Rc<Lines>, places: &Rc<[(u32, u32)]>) -> u32 {
    let count = places.len() as u32;
    let next = |last: u32| last.checked_add(count).filter(|it| *it < Site::MOST - 1);
    let Ok(before) = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else {
        return 0;
    };
    // 0 is no number of a code object.
    let before = before + 1;
    PIECES.with_borrow_mut(|pieces| {
        if pieces.len() >= MOST {
            pieces.drain(..MOST / 2);
        }
        pieces.push(Piece { before, places: places.clone(), lines: lines.clone() });
    });
    before
}

/// The line that a site of this thread's sessions means.
pub fn place(site: Site) -> Option<Place> {
    PIECES.with_borrow(|pieces| {
        let piece = piece(pieces, site)?;
        let (start, _) = piece.places.get((site.number() - piece.before) as usize - 1)?;
        Some(Place { source: piece.lines.name.clone(), line: piece.lines.line_of(*start) })
    })
}

/// `the op stands in cell 3, line 7`, of the op that an error is about.
pub(crate) fn sentence(site: Site) -> Option<String> {
    let whose = if site.is_gradient() { "it is a gradient of the op" } else { "the op stands" };
    place(site).map(|place| format!("{whose} in {place}"))
}

/// `before that, log of float32[2] gave the first nan, ...; the op stands in ...`.
pub(crate) fn before_that(anomaly: &Anomaly) -> String {
    format!("before that, {}", with_place(anomaly))
}

/// What was found, and where the op stands.
pub(crate) fn with_place(anomaly: &Anomaly) -> String {
    let parts = [Some(anomaly.to_string()), sentence(anomaly.site)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn piece(pieces: &[Piece], site: Site) -> Option<&Piece> {
    let at = pieces.partition_point(|it| it.before < site.number()).checked_sub(1)?;
    pieces.get(at)
}

impl Code {
    /// The line of an operation, and the bytes of the source that it takes; `None` in code without numbers.
    pub(crate) fn line(&self, at: usize) -> Option<(Place, std::ops::Range<u32>)> {
        let site = self.site(at + 1)?;
        PIECES.with_borrow(|pieces| {
            let piece = piece(pieces, site)?;
            let (start, _) = *piece.places.get(at)?;
            let line = piece.lines.line_of(start);
            let place = Place { source: piece.lines.name.clone(), line };
            Some((place, piece.lines.range(line)))
        })
    }

    /// The site of the operation before this one; code without numbers has none.
    #[inline(always)]
    fn site(&self, ip: usize) -> Option<Site> {
        (self.sites != 0).then(|| Site::new(self.sites + ip as u32))
    }

    /// What comes is done by the operation before this one.
    #[inline(always)]
    pub(crate) fn enter_site(&self, ip: usize) {
        if let Some(site) = self.site(ip) {
            site.enter();
        }
    }
}

impl Cx {
    /// As code without numbers goes on, it is again done by the nearest that has some.
    #[inline(always)]
    pub(crate) fn return_to_site(&self, code: &Code, ip: usize) {
        if code.sites == 0 && ip > 0 {
            self.find_site();
        }
    }

    #[inline(never)]
    fn find_site(&self) {
        let sites = self.machine.frames.iter().rev().map(|it| it.func.code.site(it.ip));
        sites.flatten().next().unwrap_or_default().enter();
    }
}
