//! What a trace tells the user: why a call was not answered from what was recorded, in a learner's words, and only where it matters.
//!
//! The first call of another size and the first of another path are told once for each traced function or step, and once more when it
//! was compiled so often that this takes time. `%trace status` shows the latest at any time.

use std::cell::Cell;

use engine::tensor::Meta;
use engine::trace::{Departure, Stats, just_departed};

use crate::cx::Cx;
use crate::shown::Notice;
use crate::source::Span;

/// Paths of one function whose compiling is no matter of course any more.
const MANY: usize = 5;

/// What one traced function or step has told already.
#[derive(Default)]
pub(super) struct Told {
    sizes: Cell<bool>,
    settings: Cell<bool>,
    paths: Cell<bool>,
    many: Cell<bool>,
    eager: Cell<bool>,
}

impl Told {
    /// Says what happened in a call, if it is new; `subject` is what was called.
    pub(super) fn tell(&self, cx: &mut Cx, subject: &str, stats: &Stats) {
        let place = cx.departure.take();
        let Some(departure) = &stats.departure else { return };
        let is_many = stats.branches >= MANY;
        let told = match departure {
            Departure::Full { .. } | Departure::TooLong { .. } | Departure::ManySteps { .. } => {
                &self.eager
            }
            _ if is_many => &self.many,
            Departure::Settings { .. } => &self.settings,
            Departure::Path { .. } => &self.paths,
            Departure::Arguments { .. } | Departure::Moved { .. } | Departure::Operand { .. } => {
                &self.sizes
            }
        };
        if told.replace(true) {
            return;
        }
        let line = place.and_then(|it| line_of(cx, it));
        let what = words(departure, subject, line);
        let text = match departure {
            Departure::ManySteps { .. } if stats.is_many_steps() => {
                format!("{what}: from the next time on the bodies of its loops are traced")
            }
            Departure::ManySteps { .. } => format!(
                "{what}, and runs as written: put `@trace` above the function of one step, or the loop itself into a cell with `%trace`"
            ),
            Departure::Full { .. } | Departure::TooLong { .. } => what,
            _ => format!(
                "{what}, so {subject} is compiled {}{}",
                nth(stats.branches),
                advice(departure, is_many)
            ),
        };
        cx.host.notice(&Notice::line(format!("%trace: {text}")));
    }
}

impl Cx {
    /// Notes the line at which a traced call has left what was recorded; asked after each op.
    #[inline]
    pub(crate) fn see_departure(&mut self) {
        if just_departed() {
            self.departure = self.line_of_cell();
        }
    }
}

pub(super) fn line_of(cx: &Cx, span: Span) -> Option<usize> {
    Some(cx.sources.get(span.source)?.line_column(span.start).0)
}

/// What happened, for a table that says whom it is about.
pub fn summary(departure: &Departure) -> String {
    words(departure, "it", None)
}

fn words(departure: &Departure, subject: &str, line: Option<usize>) -> String {
    match departure {
        Departure::Arguments { recorded, now } => {
            let other = recorded.iter().zip(now).find(|it| it.0 != it.1);
            match other {
                _ if recorded.len() != now.len() => {
                    format!("{} tensors were passed instead of {}", now.len(), recorded.len())
                }
                Some((recorded, now)) => other_kind(recorded, now),
                None => "an argument lies in memory in another order".to_owned(),
            }
        }
        Departure::Operand { recorded, now, .. } => other_kind(recorded, now),
        Departure::Moved { recorded, now } => {
            format!("an argument is on another device ({now} instead of {recorded})")
        }
        Departure::Settings { op } => {
            format!("`{op}`{} has another size, index or dimension", at(line))
        }
        Departure::Path { .. } => format!("a branch or a loop{} went another way", at(line)),
        Departure::Full { paths } => format!(
            "{subject} has gone {paths} different ways, and another one is not compiled: it runs eagerly"
        ),
        Departure::ManySteps { walks } => {
            format!("{subject} trains for {walks} steps and more, too many for one graph")
        }
        Departure::TooLong { ops } => {
            format!("{subject} has more than {ops} ops, which are not compiled: it runs eagerly")
        }
    }
}

fn at(line: Option<usize>) -> String {
    line.map_or_else(String::new, |it| format!(" at line {it}"))
}

fn other_kind(recorded: &Meta, now: &Meta) -> String {
    let (before, after) = (&recorded.shape[..], &now.shape[..]);
    match (before, after) {
        _ if recorded.dtype != now.dtype => {
            format!("a tensor has another dtype ({} instead of {})", now.dtype, recorded.dtype)
        }
        ([rows, rest @ ..], [now, others @ ..]) if rest == others => {
            format!("a batch has another size ({now} instead of {rows} rows)")
        }
        _ => format!("a tensor has another shape ({} instead of {})", now.shape, recorded.shape),
    }
}

/// What costs the time, and how it is saved.
fn advice(departure: &Departure, is_many: bool) -> &'static str {
    match departure {
        _ if !is_many => "",
        Departure::Path { .. } | Departure::Settings { .. } => {
            "; each time takes as long as some steps, so leave out of it what differs each time"
        }
        _ => {
            "; each time takes as long as some steps, so give it batches of one size (`drop_last=True`)"
        }
    }
}

/// `a second time`.
fn nth(count: usize) -> String {
    match count {
        0..=2 => "a second time".to_owned(),
        3 => "a third time".to_owned(),
        4 => "a fourth time".to_owned(),
        _ => format!("for the {count}th time"),
    }
}
