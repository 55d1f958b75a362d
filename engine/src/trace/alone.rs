//! Runs without the body: a recorded path for these arguments as one graph, which holds the variables that the body reads and writes.

use std::rc::Rc;

use super::flush;
use super::segment::{Source, lower, whole_graph};
use super::traced::{Options, Traced};
use super::tree::{ArgSpec, StepId, Stored, Tree};
use crate::lower::Plan;
use crate::{Error, Result, Tensor};

/// A path that runs without the body.
pub(super) struct Alone {
    /// The step with which it ends.
    end: StepId,
    plan: Plan,
    feeds: Vec<Feed>,
    n_results: usize,
    /// Whose next values follow the results, by the caller's numbers.
    stored: Vec<usize>,
}

/// What the plan takes.
#[derive(Clone, Copy)]
enum Feed {
    Arg(usize),
    Variable(usize),
}

/// What a run without the body gives.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the function returns.
    pub results: Vec<Tensor>,
    /// The next values of the variables that the path stores to, with the places at which [`super::Call::finish_storing`] got them.
    pub stored: Vec<(usize, Tensor)>,
}

impl Traced {
    /// Runs the recorded graph without the body (`without_host`); `variable` gives what those are now of which
    /// [`super::Call::finish_storing`] was told, by their places there. The path is the one that the latest call took, or the only one
    /// there is. Fails when there is none for these arguments, or when it uses tensors from outside that are none of the variables,
    /// or numbers that may differ from call to call.
    pub fn run_alone(
        &self,
        args: &[Tensor],
        variable: &dyn Fn(usize) -> Option<Tensor>,
    ) -> Result<Ran> {
        let alone = self.alone(args)?;
        flush()?;
        let fed = alone.feeds.iter().map(|&it| match it {
            Feed::Arg(at) => args.get(at).map(Tensor::detach),
            Feed::Variable(at) => variable(at).map(|it| it.detach()),
        });
        let missing = || refused("each variable that it reads or stores to has to be given");
        let fed = fed.collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        let mut results = alone.plan.run(&fed)?;
        let stored = results.split_off(alone.n_results);
        Ok(Ran { results, stored: alone.stored.iter().copied().zip(stored).collect() })
    }

    /// Compiles the path that [`Traced::run_alone`] takes with these arguments, or says why there is none.
    pub fn prepare_alone(&self, args: &[Tensor]) -> Result<()> {
        self.alone(args).map(|_| ())
    }

    fn alone(&self, args: &[Tensor]) -> Result<Rc<Alone>> {
        let mut recorded = self.0.borrow_mut();
        let options = recorded.options.clone();
        let signature: Vec<ArgSpec> = args.iter().map(ArgSpec::of).collect();
        let at = recorded.trees.iter().position(|it| it.signature == signature);
        let at = at.ok_or_else(|| refused("nothing is recorded for these arguments"))?;
        let latest = recorded.ended.as_ref().and_then(|it| it.end_in(at));
        let tree = &mut recorded.trees[at];
        if let Some(known) = &tree.alone
            && latest.is_none_or(|it| it == known.end)
        {
            return Ok(known.clone());
        }
        let end = match latest {
            Some(end) => end,
            None => only_end(tree)?,
        };
        let alone = Rc::new(Alone::new(tree, end, &options)?);
        tree.alone = Some(alone.clone());
        Ok(alone)
    }
}

fn only_end(tree: &Tree) -> Result<StepId> {
    let mut ends = tree.ends();
    match (ends.next(), ends.next()) {
        (Some(end), None) => Ok(end),
        _ => {
            Err(refused("calls took more than one path; a graph alone cannot choose between them"))
        }
    }
}

impl Alone {
    fn new(tree: &Tree, end: StepId, options: &Options) -> Result<Self> {
        let seen = tree.stores(end);
        let stored = || seen.iter().filter(|it| !it.is_only_read());
        let is_shared = |it: &Stored| {
            let same = |other: &&Stored| matches!((it.before, other.before), (Some(a), Some(b)) if a.same(b));
            seen.iter().filter(same).count() > 1
        };
        if stored().any(is_shared) {
            return Err(refused(
                "it stores to a variable whose elements another one shares; clone() one of them",
            ));
        }
        let (graph, sources) = whole_graph(tree, end)?;
        let feed = |it: &Source| match *it {
            Source::Arg(at) => Ok(Feed::Arg(at as usize)),
            Source::Variable(at) => Ok(Feed::Variable(seen[at as usize].at as usize)),
            Source::Fed(_) => {
                Err(refused("a number differs from call to call; pass it as a tensor"))
            }
            Source::Capture(_) | Source::Result(_) => Err(refused(
                "it uses tensors that are not known outside, or that the body makes of numbers; \
                 make them outside, or trace with capture_as_const=True",
            )),
        };
        let feeds = sources.iter().map(feed).collect::<Result<Vec<_>>>()?;
        let n_results = graph.outputs.len();
        let stored = stored().map(|it| it.at as usize).collect();
        Ok(Self { end, plan: lower(graph, options)?, feeds, n_results, stored })
    }
}

fn refused(problem: &str) -> Error {
    Error::Trace { problem: format!("the function cannot run without its body: {problem}") }
}
