//! The magic list.

mod device;
mod dump;
mod fastrun;
mod html;
mod load;
mod lsmagic;
mod markdown;
mod passes;
mod reset;
mod run;
mod seed;
mod time;
mod timeit;
mod trace;
mod who;
mod whos;

use crate::Magic;

/// Every magic, sorted by name.
pub static ALL: &[&Magic] = &[
    &device::MAGIC,
    &dump::MAGIC,
    &fastrun::MAGIC,
    &html::MAGIC,
    &load::MAGIC,
    &lsmagic::MAGIC,
    &markdown::MAGIC,
    &passes::MAGIC,
    &reset::MAGIC,
    &run::MAGIC,
    &seed::MAGIC,
    &time::MAGIC,
    &timeit::MAGIC,
    &trace::MAGIC,
    &who::MAGIC,
    &whos::MAGIC,
];
