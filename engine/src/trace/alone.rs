//! Runs without the body: a recorded path for these arguments as one graph, which holds the variables that the body reads and writes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::latest::{Ended, Place};
use super::segment::{Source, graph_alone, optimized};
use super::traced::{Options, Traced};
use super::tree::{ArgSpec, ROOT, Ref, StepId, Stored, Tree};
use super::{check, flush};
use crate::lower::{self, Decide, Plan};
use crate::passes::recipes::Recipes;
use crate::random::Everywhere;
use crate::{Error, Result, Tensor, functional};

/// A path that runs without the body.
pub struct Alone {
    /// Whose calls are counted.
    traced: Traced,
    /// It writes large variables where they lie, as far as that may be.
    plan: Plan,
    feeds: Vec<Feed>,
    n_results: usize,
    /// Whose next values follow the results, by the caller's numbers.
    stored: Vec<usize>,
    /// Op applications of the path.
    n_ops: usize,
    /// Whether one of them draws random numbers.
    draws: bool,
    /// Which path it is.
    tree: usize,
    signature: Vec<ArgSpec>,
    end: StepId,
    /// What that leaves in variables.
    seen: Vec<Stored>,
    returned: Vec<Option<Ref>>,
}

/// What the plan takes.
enum Feed {
    Arg(usize),
    Variable(usize),
    /// Number `at` of those that are fed, which is another one in other worlds.
    Number {
        at: usize,
        recorded: Tensor,
    },
}

/// What a run without the body takes besides its arguments.
pub struct Now<'a> {
    /// What those are now of which [`super::Call::finish_storing`] was told, by their places there.
    pub variable: &'a dyn Fn(usize) -> Option<Tensor>,
    /// What the numbers are that are fed, by their places in [`super::Finished::fed`]; `None` for those that are what they were.
    pub number: &'a dyn Fn(usize) -> Option<Tensor>,
}

impl<'a> Now<'a> {
    /// With these variables, and all numbers as they were.
    pub fn with(variable: &'a dyn Fn(usize) -> Option<Tensor>) -> Self {
        Self { variable, number: &|_| None }
    }
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
    /// The graph of the path that the latest call took, or of the only one there is, for runs without the body; or why there is none:
    /// it uses tensors from outside that are no variables, or numbers that may differ from call to call.
    pub fn alone(&self, args: &[Tensor]) -> Result<Alone> {
        self.alone_onto(args, &|_| false)
    }

    /// As [`Traced::alone`], where large variables may be written where they lie, as far as `may` says so by the caller's numbers.
    pub fn alone_onto(&self, args: &[Tensor], may: &dyn Fn(usize) -> bool) -> Result<Alone> {
        let recorded = self.0.borrow();
        let signature: Vec<ArgSpec> = args.iter().map(ArgSpec::of).collect();
        let at = recorded.trees.iter().position(|it| it.signature == signature);
        let at = at.ok_or_else(|| refused("nothing is recorded for these arguments"))?;
        let latest = recorded.ended.as_ref().and_then(|it| it.end_in(at));
        let tree = &recorded.trees[at];
        let end = latest.map_or_else(|| only_end(tree), Ok)?;
        let mut relaxed = Vec::new();
        let path = (tree, end);
        let recipes = recorded.recipes.clone();
        let known = (&recorded.options, &mut *recipes.borrow_mut());
        let mut alone = Alone::new(self.clone(), path, known, may, &mut relaxed)?;
        (alone.tree, alone.signature) = (at, signature);
        drop(recorded);
        self.0.borrow_mut().stats.relax(&relaxed);
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
    /// Whether a run draws random numbers.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// How many results a run gives, before what it stores.
    pub fn n_results(&self) -> usize {
        self.n_results
    }

    /// Counts a run as a call that replayed all of its path.
    pub fn count(&self) {
        let recorded = &mut *self.traced.0.borrow_mut();
        recorded.stats.calls += 1;
        recorded.stats.segments += 1;
        recorded.stats.replayed += self.n_ops;
        let step =
            recorded.trees.get_mut(self.tree).and_then(|it| it.steps.get_mut(self.end as usize));
        if let Some(end) = step.and_then(|it| it.end.as_mut()) {
            end.n_calls += 1;
        }
        if let Some(ended) = &mut recorded.ended {
            ended.is_now();
        }
    }

    /// Makes the latest run the latest call of the function, for those who look at that ([`Traced::latest`]). `places` are where the
    /// variables are now, as [`super::Call::finish_storing`] was told of them, and `results` those of the run.
    pub fn settle(&self, places: &[Option<Place>], results: &[Place]) {
        let recorded = &mut *self.traced.0.borrow_mut();
        // Another tree may have taken the place.
        let ends = |it: &Tree| it.steps.get(self.end as usize).is_some_and(|it| it.end.is_some());
        let is_it = |it: &&Tree| it.signature == self.signature && ends(it);
        let Some(tree) = recorded.trees.get(self.tree).filter(is_it) else { return };
        let ended = Ended::alone((self.tree, self.end), tree, |it| {
            let stored = self.seen.iter().find(|stored| is_ref(stored.after, it));
            let returned = self.returned.iter().position(|returned| is_ref(*returned, it));
            let before = || self.seen.iter().find(|stored| is_ref(stored.before, it));
            let variable = |it: &Stored| places.get(it.at as usize).cloned().flatten();
            let result = || returned.and_then(|at| results.get(at).cloned());
            stored.and_then(variable).or_else(result).or_else(|| before().and_then(variable))
        });
        recorded.ended = Some(ended);
    }

    /// The first op of the graph that gives something else in the compiled run than by itself, as an error; `None` if there is none, or
    /// the graph is not there any more. The random numbers stay where they are.
    pub fn first_difference(&self, args: &[Tensor], now: &Now<'_>) -> Option<Error> {
        let recorded = self.traced.0.try_borrow().ok()?;
        let is_it =
            |it: &&Tree| it.signature == self.signature && it.steps.len() > self.end as usize;
        let tree = recorded.trees.get(self.tree).filter(is_it)?;
        let graph = graph_alone(tree, self.end).ok()?.0;
        check::first_in_graph(&graph, &self.fed(args, now).ok()?, &recorded.options)
    }

    /// Runs it; nothing is stored and nothing is counted. After an error the random numbers stand where they stood. What would be written where
    /// it lies is copied first.
    pub fn run(&self, args: &[Tensor], now: &Now<'_>) -> Result<Ran> {
        self.rehearse(args, now, &|_| None)
    }

    /// The variables, by the caller's numbers, that [`Alone::run_onto`] writes where they lie; none where none is large.
    pub fn onto(&self) -> impl Iterator<Item = usize> {
        self.plan.onto().iter().map(|it| self.stored[it.store])
    }

    /// As [`Alone::run`], where the variables of [`Alone::onto`] are `lent`, each by the one handle on its elements: they hold what they are
    /// next when it is done. Before the first of them is written `decide` is asked whether to go on, and may ask for the first elements
    /// of results. After an error, and where it says no (`None`), they hold what they held.
    pub fn run_onto(
        &self,
        args: &[Tensor],
        now: &Now<'_>,
        lent: &mut [Tensor],
        decide: Decide<'_>,
    ) -> Result<Option<Ran>> {
        flush()?;
        let fed = self.fed(args, now)?;
        let drawn = self.draws.then(Everywhere::now);
        let ran = self.plan.run_onto(&fed, lent, decide);
        if let (Err(_) | Ok(None), Some(drawn)) = (&ran, drawn) {
            drawn.resume();
        }
        let Some(mut results) = ran? else { return Ok(None) };
        let stored = results.split_off(self.n_results);
        let written: FxHashSet<usize> = self.onto().collect();
        let others = self.stored.iter().copied().filter(|it| !written.contains(it));
        Ok(Some(Ran { results, stored: others.zip(stored).collect() }))
    }

    /// As [`Alone::run`], where variables may be written over that `take` gives with the only handle on their elements.
    pub fn rehearse(
        &self,
        args: &[Tensor],
        now: &Now<'_>,
        take: &dyn Fn(usize) -> Option<Tensor>,
    ) -> Result<Ran> {
        let missing = || refused("each variable that it stores to has to be given");
        let lend = |at: usize| match take(at).map(Tensor::into_own) {
            Some(Ok(own)) => Ok(own),
            Some(Err(shared)) => functional::copy(&shared.detach()),
            None => functional::copy(&(now.variable)(at).ok_or_else(missing)?.detach()),
        };
        let mut lent = self.onto().map(lend).collect::<Result<Vec<Tensor>>>()?;
        let ran = self.run_onto(args, now, &mut lent, &mut |_| true)?;
        let ran = ran.ok_or_else(|| refused("a run has ended that nobody has stopped"))?;
        // In the order of the graph: of variables that look at each other the last is right.
        let mut written: FxHashMap<usize, Tensor> = self.onto().zip(lent).collect();
        let mut others = ran.stored.into_iter();
        let next = |at: &usize| match written.remove(at) {
            Some(value) => Some((*at, value)),
            None => others.next(),
        };
        Ok(Ran { stored: self.stored.iter().filter_map(next).collect(), ..ran })
    }

    /// What the plan takes, in order.
    fn fed(&self, args: &[Tensor], now: &Now<'_>) -> Result<Vec<Tensor>> {
        let fed = self.feeds.iter().map(|it| match it {
            Feed::Arg(at) => args.get(*at).map(Tensor::detach),
            Feed::Variable(at) => (now.variable)(*at).map(|it| it.detach()),
            Feed::Number { at, recorded } => {
                Some((now.number)(*at).unwrap_or_else(|| recorded.clone()))
            }
        });
        let missing = || refused("each variable that it reads or stores to has to be given");
        fed.collect::<Option<Vec<_>>>().ok_or_else(missing)
    }

    /// A path; `relaxed` gets the names of the passes that round in another way than eager execution and did something.
    fn new(
        traced: Traced,
        (tree, end): (&Tree, StepId),
        (options, recipes): (&Options, &mut Recipes),
        may: &dyn Fn(usize) -> bool,
        relaxed: &mut Vec<&'static str>,
    ) -> Result<Self> {
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
        let followed = tree.step(end).end.as_ref().and_then(|it| it.followed.last());
        let fed = followed.map_or(&[][..], |it| &it.fed);
        let (graph, sources) = graph_alone(tree, end)?;
        let feed = |it: &Source| match *it {
            Source::Arg(at) => Ok(Feed::Arg(at as usize)),
            Source::Variable(at) => Ok(Feed::Variable(seen[at as usize].at as usize)),
            Source::Fed(at) => match fed.get(at as usize) {
                Some(it) => Ok(Feed::Number { at: at as usize, recorded: it.clone() }),
                None => Err(refused("a number differs from call to call; pass it as a tensor")),
            },
            Source::Capture(_) | Source::Result(_) => Err(refused(
                "it uses tensors that are not known outside, or that the body makes of numbers; \
                 make them outside, or trace with capture_as_const=True",
            )),
        };
        let feeds = sources.iter().map(feed).collect::<Result<Vec<_>>>()?;
        let n_results = graph.outputs.len();
        let n_ops = tree.path(ROOT, end).len();
        let draws = graph.draws().next().is_some();
        let stored: Vec<usize> = stored().map(|it| it.at as usize).collect();
        let (graph, fuse) = optimized(graph, options.level(), recipes, relaxed)?;
        let plan = lower::compile_onto(&graph, fuse, &|store| may(stored[store]))?;
        let returned = followed.map_or_else(Vec::new, |it| it.results.clone());
        let (tree, signature, seen) = (0, Vec::new(), seen.to_vec());
        Ok(Self {
            traced,
            plan,
            feeds,
            n_results,
            stored,
            n_ops,
            draws,
            tree,
            signature,
            end,
            seen,
            returned,
        })
    }
}

fn is_ref(it: Option<Ref>, other: Ref) -> bool {
    it.is_some_and(|it| it.same(other))
}

fn refused(problem: &str) -> Error {
    Error::Trace { problem: format!("the function cannot run without its body: {problem}") }
}
