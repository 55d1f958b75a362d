//! Runs without the body: the one recorded path for these arguments as one graph, which holds the variables that the body writes.

use std::rc::Rc;

use super::flush;
use super::segment::{Source, lower, whole_graph};
use super::traced::{Options, Traced};
use super::tree::{ArgSpec, Tree};
use crate::lower::Plan;
use crate::{Error, Result, Tensor};

/// A path that runs without the body.
pub(super) struct Alone {
    plan: Plan,
    feeds: Vec<Feed>,
    n_results: usize,
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
    /// The next values of the variables, in the order in which [`super::Call::finish_storing`] got them.
    pub stored: Vec<Tensor>,
}

impl Traced {
    /// Runs the recorded graph without the body (`without_host`); `variables` are what those are now that the recorded call stored to, in
    /// its order. Fails when there is not exactly one path for these arguments, or when the path uses tensors from outside that it
    /// does not store to, or numbers that may differ from call to call.
    pub fn run_alone(&self, args: &[Tensor], variables: &[Tensor]) -> Result<Ran> {
        let alone = self.alone(args)?;
        flush()?;
        let fed = alone.feeds.iter().map(|&it| match it {
            Feed::Arg(at) => args.get(at),
            Feed::Variable(at) => variables.get(at),
        });
        let fed = fed.map(|it| it.map(Tensor::detach)).collect::<Option<Vec<_>>>();
        let missing = || refused("each variable that it stores to has to be given");
        let mut results = alone.plan.run(&fed.ok_or_else(missing)?)?;
        let stored = results.split_off(alone.n_results);
        Ok(Ran { results, stored })
    }

    fn alone(&self, args: &[Tensor]) -> Result<Rc<Alone>> {
        let mut recorded = self.0.borrow_mut();
        let options = recorded.options.clone();
        let signature: Vec<ArgSpec> = args.iter().map(ArgSpec::of).collect();
        let tree = recorded.trees.iter_mut().find(|it| it.signature == signature);
        let tree = tree.ok_or_else(|| refused("nothing is recorded for these arguments"))?;
        if let Some(known) = &tree.alone {
            return Ok(known.clone());
        }
        let alone = Rc::new(Alone::new(tree, &options)?);
        tree.alone = Some(alone.clone());
        Ok(alone)
    }
}

impl Alone {
    fn new(tree: &Tree, options: &Options) -> Result<Self> {
        let mut ends = tree.ends();
        let (Some(end), None) = (ends.next(), ends.next()) else {
            return Err(refused(
                "calls took more than one path; a graph alone cannot choose between them",
            ));
        };
        let (graph, sources) = whole_graph(tree, end)?;
        let feed = |it: &Source| match *it {
            Source::Arg(at) => Ok(Feed::Arg(at as usize)),
            Source::Variable(at) => Ok(Feed::Variable(at as usize)),
            Source::Fed(_) => {
                Err(refused("a number differs from call to call; pass it as a tensor"))
            }
            Source::Capture(_) | Source::Result(_) => {
                Err(refused("it uses tensors from outside; trace with capture_as_const=True"))
            }
        };
        let feeds = sources.iter().map(feed).collect::<Result<Vec<_>>>()?;
        let n_results = graph.outputs.len();
        Ok(Self { plan: lower(graph, options)?, feeds, n_results })
    }
}

fn refused(problem: &str) -> Error {
    Error::Trace { problem: format!("the function cannot run without its body: {problem}") }
}
