//! What the passes make of a class of graphs, so that they need not run again where sizes are all that is new.
//!
//! What they made of one graph is, for another of its class, the same with the other's numbers in their places. That holds where the passes
//! decide by which numbers are equal, and which is greater, and do not reckon with them. They may do that (two slices become one), so the
//! second graph of a class goes through the passes as well, and is compared: from then on those numbers may differ that differed between
//! graphs that agreed. A sum of numbers that is in its place in two graphs is so in all; a product would have to be so twice by chance.
//! Constants that passes make are not looked into: where they make any, they run each time. Thresholds of passes (how large a constant may
//! grow, which operand is worth pieces) are those of the first graph: they cost time alone.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::optimize;
use crate::graph::class::{Class, Numbers, classify};
use crate::graph::{Graph, Kind, NodeId, Origin, text, verify};
use crate::rewrite::run::Log;
use crate::{Error, Result, Tensor};

/// Classes that are remembered; the one that was used least recently makes room for another.
const MOST: usize = 16;

/// Recipes of the classes of one function.
pub struct Recipes {
    /// The one that was used last is last.
    known: Vec<Recipe>,
    n_used: usize,
    /// Whether all graphs go through the passes nevertheless, and are compared.
    verifies: bool,
}

impl Default for Recipes {
    fn default() -> Self {
        Self { known: Vec::new(), n_used: 0, verifies: verify::wanted() }
    }
}

struct Recipe {
    class: Class,
    opt_level: u8,
    /// Of the graph that was seen first, and what the passes made of that.
    numbers: Numbers,
    made: Graph,
    /// The node of that graph from which each made node has its place in the program.
    origins: Vec<Option<NodeId>>,
    applied: Vec<(&'static str, u8)>,
    trust: Trust,
}

/// How far a recipe has been seen to hold.
enum Trust {
    /// For graphs in which only these numbers differ.
    In(Vec<bool>),
    /// The passes reckon with numbers, or have made constants.
    Nowhere,
}

impl Recipes {
    /// As [`optimize`], from what is known of the graph's class.
    pub fn optimize(&mut self, graph: Graph, opt_level: u8, log: &mut Log) -> Result<Graph> {
        let Some((class, numbers)) = classify(&graph).filter(|_| !log.detailed) else {
            return optimize(graph, opt_level, log);
        };
        let is_it = |it: &Recipe| it.opt_level == opt_level && it.class == class;
        let Some(at) = self.known.iter().rposition(is_it) else {
            let recipe = Recipe::new(class, opt_level, numbers, graph, log)?;
            let made = recipe.made.clone();
            if self.known.len() == MOST {
                self.known.remove(0);
            }
            self.known.push(recipe);
            return Ok(made);
        };
        let mut recipe = self.known.remove(at);
        let made = recipe.optimized(graph, &numbers, self.verifies, log);
        self.n_used += usize::from(matches!(made, Ok((_, true))));
        self.known.push(recipe);
        made.map(|it| it.0)
    }

    /// How many graphs did not have to go through the passes.
    pub fn n_used(&self) -> usize {
        self.n_used
    }

    /// Leaves out the passes where they need not run, in tests as well.
    #[cfg(test)]
    pub(crate) fn trust(&mut self) {
        self.verifies = false;
    }
}

impl Recipe {
    fn new(
        class: Class,
        opt_level: u8,
        numbers: Numbers,
        graph: Graph,
        log: &mut Log,
    ) -> Result<Self> {
        let place = |it: &Origin| (it.phase, it.site, it.scope.clone());
        let places = graph.nodes().iter().map(|it| place(&it.origin)).zip(0..);
        let node_at: FxHashMap<_, NodeId> = places.collect();
        let given = text::constants(&graph);
        let mut own = Log::default();
        let made = optimize(graph, opt_level, &mut own)?;
        let origins =
            made.nodes().iter().map(|it| node_at.get(&place(&it.origin)).copied()).collect();
        // One that the passes have made may depend on any number, also where two graphs come to the same.
        let is_given = |it: &Tensor| given.iter().any(|other| it.lies_as(other));
        let trust = match text::constants(&made).iter().all(is_given) {
            true => Trust::In(vec![false; numbers.len()]),
            false => Trust::Nowhere,
        };
        log.entries.append(&mut own.entries);
        note(log, &own.applied);
        let applied = own.applied;
        Ok(Self { class, opt_level, numbers, made, origins, applied, trust })
    }

    /// The graph after the passes, and whether they did not have to run.
    fn optimized(
        &mut self,
        graph: Graph,
        numbers: &Numbers,
        verifies: bool,
        log: &mut Log,
    ) -> Result<(Graph, bool)> {
        let Trust::In(seen) = &self.trust else {
            return Ok((optimize(graph, self.opt_level, log)?, false));
        };
        let differs = |it: usize| !self.numbers.agree(numbers, it);
        let is_known = (0..numbers.len()).all(|it| seen[it] || !differs(it));
        let foretold = self.with(&graph, numbers);
        let foretold = match foretold {
            Some(graph) if is_known && !verifies => {
                note(log, &self.applied);
                return Ok((graph, true));
            }
            other => other,
        };
        let made = optimize(graph, self.opt_level, log)?;
        let holds = foretold.is_some_and(|it| same(&it, &made));
        if is_known && !holds && verifies {
            let problem = "passes make something else of a graph than of others of its class";
            return Err(Error::Trace { problem: problem.into() });
        }
        match holds {
            true => {
                let seen: Vec<bool> =
                    seen.iter().zip(0..).map(|(&it, at)| it || differs(at)).collect();
                self.trust = Trust::In(seen);
            }
            false => self.trust = Trust::Nowhere,
        }
        Ok((made, is_known && holds))
    }

    /// What was made of the first graph, with the numbers of this one; `None` where that is no graph, or gives something else.
    fn with(&self, graph: &Graph, numbers: &Numbers) -> Option<Graph> {
        let mut res = Graph::new();
        res.device = graph.device;
        let mut inputs = graph.inputs().iter();
        for (id, node) in self.made.nodes().iter().enumerate() {
            let origin = self.origins[id].map(|it| graph.node(it).origin.clone());
            res.origin = origin.unwrap_or_default();
            let now = match &node.kind {
                Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed => {
                    let given = graph.node(*inputs.next()?);
                    let dtype = given.metas[0].dtype;
                    match &given.kind {
                        Kind::Input { layout } => res.input(dtype, layout.clone()),
                        Kind::Variable { layout } => res.variable(dtype, layout.clone()),
                        _ => res.fed(dtype),
                    }
                    .node
                }
                Kind::Const(tensor) => res.constant(tensor).node,
                Kind::Number(it) => res.number(self.numbers.number_in(numbers, *it)).node,
                Kind::Op { op, attrs, inputs } => {
                    let attrs = self.numbers.attrs_in(numbers, attrs);
                    res.take_over(op, inputs, attrs).ok()?
                }
            };
            if now as usize != id {
                return None;
            }
        }
        res.outputs.clone_from(&self.made.outputs);
        res.stores.clone_from(&self.made.stores);
        let alike =
            res.results().map(|it| res.meta(it)).eq(graph.results().map(|it| graph.meta(it)));
        alike.then_some(res)
    }
}

/// Notes passes of which a rule applied.
fn note(log: &mut Log, applied: &[(&'static str, u8)]) {
    let new = applied.iter().filter(|it| !log.applied.contains(it)).copied();
    let new: SmallVec<[_; 4]> = new.collect();
    log.applied.extend(new);
}

/// Whether two graphs are the same, node by node.
fn same(a: &Graph, b: &Graph) -> bool {
    let same_kind = |a: &Kind, b: &Kind| match (a, b) {
        (Kind::Input { layout: a }, Kind::Input { layout: b })
        | (Kind::Variable { layout: a }, Kind::Variable { layout: b }) => a == b,
        (Kind::Fed, Kind::Fed) => true,
        (Kind::Const(a), Kind::Const(b)) => a.has_bits_of(b),
        (Kind::Number(a), Kind::Number(b)) => a.same(*b),
        (
            Kind::Op { op: a, attrs: attrs_a, inputs: inputs_a },
            Kind::Op { op: b, attrs: attrs_b, inputs: inputs_b },
        ) => std::ptr::eq(*a, *b) && attrs_a == attrs_b && inputs_a == inputs_b,
        _ => false,
    };
    a.nodes().len() == b.nodes().len()
        && a.nodes()
            .iter()
            .zip(b.nodes())
            .all(|(a, b)| same_kind(&a.kind, &b.kind) && a.metas == b.metas)
        && a.outputs == b.outputs
        && a.stores == b.stores
}

#[cfg(test)]
mod tests;
