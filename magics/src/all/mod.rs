//! The magic list.

mod capture;
mod cd;
mod check;
mod config;
mod device;
mod dump;
mod env;
mod explain;
pub(crate) mod fastrun;
mod history;
mod html;
mod load;
mod lsmagic;
mod markdown;
mod matplotlib;
mod mem;
mod passes;
mod prun;
mod pwd;
mod python;
mod reset;
mod run;
mod seed;
mod time;
mod timeit;
mod trace;
mod who;
mod whos;
mod writefile;

use crate::Magic;

/// Every magic, sorted by name.
pub static ALL: &[&Magic] = &[
    &capture::MAGIC,
    &cd::MAGIC,
    &check::MAGIC,
    &config::MAGIC,
    &device::MAGIC,
    &dump::MAGIC,
    &env::MAGIC,
    &explain::MAGIC,
    &fastrun::MAGIC,
    &history::MAGIC,
    &html::MAGIC,
    &load::MAGIC,
    &lsmagic::MAGIC,
    &markdown::MAGIC,
    &matplotlib::MAGIC,
    &mem::MAGIC,
    &passes::MAGIC,
    &prun::MAGIC,
    &pwd::MAGIC,
    &python::MAGIC,
    &reset::MAGIC,
    &run::MAGIC,
    &seed::MAGIC,
    &time::MAGIC,
    &timeit::MAGIC,
    &trace::MAGIC,
    &who::MAGIC,
    &whos::MAGIC,
    &writefile::MAGIC,
];
