//! `%device`: where tensors are computed.

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "device",
    summary: "Show the devices of this machine and what they compute with.",
    args: &[Arg::Flag { name: "--threads", value: "N", help: "use N threads from now on" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%device", shows: "cpu" },
        Example { setup: "", cell: "%device --threads x", shows: "error: MagicError" },
    ],
};

fn run(_cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    if let Some(text) = args.flag("--threads") {
        let threads = text.parse::<usize>().ok().filter(|it| (1..=1024).contains(it));
        let wrong = || MagicError::usage(&MAGIC, format!("`{text}` is not a number of threads"));
        engine::cpu::pool::set_threads(threads.ok_or_else(wrong)?);
    }
    let isa = format!("{:?}", engine::cpu::features::isa());
    let mut rows = vec![vec!["cpu".to_owned(), isa, engine::cpu::pool::threads().to_string()]];
    rows.extend(engine::cuda::devices().iter().enumerate().map(|(index, it)| {
        let (major, minor) = it.capability;
        let kind = format!("{}, compute capability {major}.{minor}", it.name);
        let threads = it.multiprocessors * it.threads_per_multiprocessor;
        vec![format!("cuda:{index}"), kind, threads.to_string()]
    }));
    let head = ["device", "instructions", "threads"].map(String::from).to_vec();
    Ok(vec![Artifact::Table(Table { head, rows, numeric: vec![2], ..Table::default() })])
}
