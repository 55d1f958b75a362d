//! `%timeit`: how long a line takes, over many runs.

use super::time::duration;
use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "timeit",
    summary: "Run a line many times and give the median time of one run.",
    args: &[
        Arg::Flag { name: "-n", value: "N", help: "runs in one round; chosen by itself if absent" },
        Arg::Flag { name: "-r", value: "R", help: "rounds; 7 if absent" },
        Arg::Line { name: "CODE", help: "the line to time" },
    ],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[Example { setup: "", cell: "%timeit -n 10 -r 2 1 + 1", shows: "per run" }],
};

/// Seconds that one round should last.
const ROUND: f64 = 0.1;

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let code = cx.code(args);
    if code.is_empty() {
        let message = "there is nothing to time; write `%timeit f(x)`".into();
        return Err(MagicError::usage(&MAGIC, message));
    }
    let count = |name: &str, most: usize| -> Result<Option<usize>, MagicError> {
        let Some(text) = args.flag(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|it| (1..=most).contains(it));
        number.map(Some).ok_or_else(|| {
            MagicError::usage(
                &MAGIC,
                format!("{name} takes a number from 1 to {most}, not `{text}`"),
            )
        })
    };
    let rounds = count("-r", 1000)?.unwrap_or(7);
    let runs = match count("-n", 1_000_000_000)? {
        Some(runs) => runs,
        None => fitting(cx, &code)?,
    };
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        times.push(round(cx, &code, runs)? / runs as f64);
    }
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    Ok(vec![Artifact::Text(format!(
        "{} per run (median of {rounds} rounds of {runs} runs; best {})",
        duration(median),
        duration(best)
    ))])
}

/// How many runs fill a round, from 1, 2, 5, 10, 20, 50 ...
fn fitting(cx: &mut MagicCx<'_>, code: &str) -> Result<usize, MagicError> {
    for power in 0..9 {
        for first in [1, 2, 5] {
            let runs = first * 10_usize.pow(power);
            if round(cx, code, runs)? >= ROUND {
                return Ok(runs);
            }
        }
    }
    Ok(1_000_000_000)
}

/// Seconds for `runs` runs, in a loop of the language, so that it costs little.
fn round(cx: &mut MagicCx<'_>, code: &str, runs: usize) -> Result<f64, MagicError> {
    let start = cx.session.cx.host.monotonic();
    cx.repeat(code, runs)?;
    Ok(cx.session.cx.host.monotonic() - start)
}
