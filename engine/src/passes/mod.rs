//! The passes, in run order: the pipeline from a recorded graph to one that is lowered.

pub mod drop_unused;
pub mod drop_views;
pub mod fold_batch_norm;
pub mod fold_constants;
pub mod fold_identities;
pub mod fuse_attention;
pub mod join_slices;
pub mod recipes;
pub mod share_equal;
pub mod sink_views;

use crate::Result;
use crate::graph::Graph;
use crate::rewrite::Pass;
use crate::rewrite::run::{Log, run_all};

/// Every pass, in run order.
pub static ALL: &[&Pass] = &[
    &drop_unused::PASS,
    &share_equal::PASS,
    &fold_batch_norm::PASS,
    &fold_constants::PASS,
    &fold_identities::PASS,
    &join_slices::PASS,
    &fuse_attention::PASS,
    &sink_views::PASS,
    &drop_views::PASS,
];

/// The greatest `opt_level` at which a plan gives the bits of eager execution.
pub const EXACT: u8 = 3;
/// The `opt_level` of passes behind which results are rounded in another way.
pub const RELAXED: u8 = 4;

/// Runs the passes that `opt_level` asks for.
pub fn optimize(graph: Graph, opt_level: u8, log: &mut Log) -> Result<Graph> {
    run_all(ALL, graph, opt_level, log)
}
