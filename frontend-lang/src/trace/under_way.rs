//! A call whose body is followed: from its beginning to what it has shown about runs without the body.

use std::rc::Rc;

use engine::random::Everywhere;
use engine::trace::{Call, Following};

use super::alone::{Alone, InVain, Unit, give_up};
use super::asked::Asked;
use super::bindings::Bindings;
use super::follow::{Follow, Followed, LOOK, Outer, looked, read_early};
use super::node::Node;
use super::notice::line_of;
use super::numbers::{Found, Parts, Tracking};
use super::template::{Given, refused_here};
use super::variant::{Before, Variant, Way};
use super::world::World;
use crate::error::TRACE_ERROR;
use crate::native::*;
use crate::value::Value;

/// What a call has changed where no object but a tensor differs: the elements of tensors are not compared.
const STATE_OF_TENSORS: &str = "whether a tensor has a gradient, a history or hooks";

/// What is said where arguments are found in another way, too.
const OTHER_PARTS: &str = "its arguments are other parts of what it finds in each call; pass clones, or keep the list that holds them where it is not found";

/// Calls in a row of a step that looked at a number which was another one each time, after which the statement that does is cut out.
const MOST_LOOKS: u32 = 12;

/// A body that is followed.
pub(super) struct UnderWay {
    /// What is known of its world, but for that itself, which grows with what the body finds.
    variant: Box<Variant>,
    call: Call,
    before: Before,
    /// What it would lose in a run without the body is an error at its line.
    strict: bool,
    /// Tensors of its world when it began.
    n_tensors: usize,
    /// The tensors among the arguments.
    passed: Vec<Value>,
    /// The arguments as the body gets them.
    pub(super) tracked: Vec<Value>,
    pub(super) named: Vec<(Sym, Value)>,
    /// The parts of tensors that it takes at numbers which it is followed with.
    parts: Option<Rc<Parts>>,
    outer: Outer,
}

impl Alone {
    /// Begins to follow a body under the trace, to see whether the graph could do without it. If that is asked for (`strict`), what it would
    /// lose is an error. [`Alone::end`] ends it.
    pub(super) fn begin(
        &self,
        cx: &mut Cx,
        unit: &dyn Unit,
        asked: &Asked<'_>,
        args: CallArgs<'_>,
        (mut variant, bindings, strict): (Box<Variant>, Option<Bindings>, bool),
    ) -> Result<UnderWay, Raised> {
        if strict {
            self.tracks.follow_reads();
        }
        variant.part_variables(asked)?;
        let refuses_looks = strict && self.has_looked_often();
        let tracking = self.tracks.plant(&asked.numbers, refuses_looks);
        let numbers_vary = tracking.is_some();
        let following = Following { world: variant.number, strict, numbers_vary };
        let drawn = Everywhere::now();
        let call = match unit.traced().follow(&asked.tensors(), following) {
            Ok(call) => call,
            Err(error) => {
                give_up(tracking);
                return Err(error.into());
            }
        };
        let before = variant.before(asked, drawn);
        let symbolic = unit.traced().options().symbolic && !call.is_inline();
        let (positional, keywords) = asked.inputs().replaced(args, &call, symbolic);
        let all = positional.iter().chain(keywords.iter().map(|it| &it.1));
        let tensors = all.filter(|it| it.as_tensor().is_some()).cloned();
        let passed = tensors.chain(asked.containers()).collect();
        let (mut tracked, mut named) = (positional, keywords);
        if let Some(tracking) = &tracking {
            tracking.put_args(tracked.iter_mut().chain(named.iter_mut().map(|it| &mut it.1)));
        }
        let n_tensors = variant.world.n_tensors();
        let watched = self.changing.borrow().iter().filter_map(Node::again).collect();
        let world = std::mem::take(&mut variant.world);
        let parts = tracking.as_ref().map(Tracking::parts);
        let outer = cx.begin_following(Follow::new(world, watched, tracking, bindings, strict));
        Ok(UnderWay {
            variant,
            call,
            before,
            strict,
            n_tensors,
            passed,
            tracked,
            named,
            parts,
            outer,
        })
    }

    /// Ends it with what the body has come to, and keeps what that has shown.
    pub(super) fn end(
        &self,
        cx: &mut Cx,
        unit: &dyn Unit,
        asked: &Asked<'_>,
        mut under_way: UnderWay,
        res: Res,
    ) -> Res {
        let parts = under_way.parts.take();
        let res = self.conclude(cx, unit, asked, under_way, res);
        if let Some(parts) = parts {
            parts.settle();
        }
        res
    }

    fn conclude(
        &self,
        cx: &mut Cx,
        unit: &dyn Unit,
        asked: &Asked<'_>,
        under_way: UnderWay,
        res: Res,
    ) -> Res {
        let UnderWay { mut variant, call, mut before, strict, n_tensors, passed, outer, .. } =
            under_way;
        let Followed { res, given, refused, line, in_vain, world, tracking } =
            cx.end_following(outer, &passed, res);
        variant.world = world;
        // Of what has no form all numbers are looked at in the end.
        let has_form = given.as_ref().is_none_or(|it| it.template.is_ok());
        let is_read_early = has_form && tracking.as_ref().is_some_and(Tracking::is_read_early);
        let refused = refused
            .or_else(|| is_read_early.then(read_early))
            .or_else(|| call.refused().map(Raised::from))
            .or_else(|| asked.is_left().err());
        let value = match (res, refused.clone().filter(|_| strict)) {
            (Ok(value), None) => value,
            (Ok(_), Some(refused)) => {
                give_up(tracking);
                return Err(refused);
            }
            (Err(raised), refused) => {
                give_up(tracking);
                self.attempts.came_to_nothing();
                return Err(instead(raised, refused));
            }
        };
        let mut given = given.unwrap_or_else(|| Given::of(&value, &passed, &variant.world, None));
        let stores = variant.stores(asked, &mut before);
        let finished = call.finish_storing(&given.results, Some(&stores));
        drop(stores);
        let is_refused = refused.is_some() && !strict;
        let fed = finished.as_ref().map_or(&[][..], |it| &it.fed);
        let looked_at = tracking.as_ref().and_then(Tracking::looked_at);
        let has_refused = tracking.as_ref().is_some_and(Tracking::has_refused);
        let strays = tracking.as_ref().map_or_else(Vec::new, Tracking::strays);
        let numbers = tracking.map_or_else(Found::default, |it| it.finish(fed));
        let finished = finished?;
        if has_refused {
            return Err(looked());
        }
        unit.keep_call(asked);
        let left_at = cx.departure.and_then(|it| line_of(cx, it));
        if !strict {
            unit.tell(cx, finished.stats)?;
        }
        let has_grown = variant.world.n_tensors() != n_tensors;
        if has_grown {
            // It has found variables on its way that this call did not give to the graph.
            variant.number = self.number();
        }
        let earlier = variant.numbers.last().cloned();
        let (numbers, are_known) = variant.note_numbers(numbers);
        let other = earlier.filter(|_| !strict && !are_known);
        let looked_at_another = other.and_then(|it| numbers.looked_at_another(&it));
        let is_confirmed = finished.confirmed && !has_grown && variant.is_seen && are_known;
        let is_confirmed = is_confirmed && self.wants_way(&variant);
        variant.is_seen = !has_grown;
        if let Some(refused) = refused {
            given.template = Err(refused);
        }
        let mut shown = shown(unit, asked, &variant, before, (given, numbers), is_confirmed);
        // Perhaps for what it read: from now on that is followed.
        if shown.is_err() && is_refused && self.tracks.follow_reads() {
            shown = Ok(Shown::Unconfirmed);
        }
        if shown.is_ok() && !strays.is_empty() {
            shown = Ok(Shown::Change);
        }
        match &shown {
            Err(refused) => {
                self.prevented.note(refused, line);
                self.in_vain.set(Some(in_vain));
            }
            Ok(Shown::Unconfirmed)
                if !are_known && (looked_at.is_some() || looked_at_another.is_some()) =>
            {
                self.n_looks.set(self.n_looks.get() + 1);
                let span = looked_at_another.map(|it| it.span).or(looked_at);
                self.prevented.say(LOOK, span.and_then(|it| line_of(cx, it)));
                if self.n_looks.get() >= MOST_LOOKS
                    && let Some(place) = looked_at_another
                {
                    self.n_looks.set(0);
                    self.in_vain.set(Some(InVain::At(place.at)));
                }
            }
            Ok(_) => self.n_looks.set(0),
        }
        self.learn(variant, (shown, finished.is_first, left_at), strays, strict)?;
        Ok(value)
    }

    /// Keeps what a followed call has shown, which has left what was recorded at a line, if it has. An error if that has to be a way.
    fn learn(
        &self,
        mut variant: Box<Variant>,
        (shown, is_first, left_at): (Result<Shown, Raised>, bool, Option<usize>),
        strays: Vec<Node>,
        strict: bool,
    ) -> Result<(), Raised> {
        match shown {
            Ok(Shown::Way(way)) => {
                self.prevented.clear();
                self.keep_way(&mut variant, *way);
            }
            Ok(Shown::Unconfirmed) => {
                if !self.attempts.goes_on(is_first) && self.prevented.words().is_empty() {
                    self.say_what_differs(&variant, left_at);
                }
            }
            Ok(Shown::Change) => {
                self.note_changes(&variant.world, strays, strict);
                if strict {
                    return Ok(());
                }
                if variant.ways.is_empty() {
                    return Ok(());
                }
            }
            Err(refused) if strict => return Err(refused),
            Err(_) => {
                self.attempts.came_to_nothing();
                if variant.ways.is_empty() {
                    return Ok(());
                }
            }
        }
        self.keep(*variant);
        Ok(())
    }

    /// Says why calls that were followed did not come to the same: the latest one in this world, and those before. At a line it left what was
    /// recorded, if it has.
    fn say_what_differs(&self, variant: &Variant, left_at: Option<usize>) {
        let variants = self.variants.borrow();
        let earlier = variants.last().filter(|_| left_at.is_none());
        let changed = earlier.and_then(|it| it.world.changed().next());
        let other = |it: &Variant| it.world.can_return() && it.sharing != variant.sharing;
        let (words, line) = match changed {
            Some(it) => {
                let what = it.described();
                (
                    format!(
                        "it finds {what}, which differs from call to call; pass what it needs of that, or change that in the loop alone"
                    ),
                    None,
                )
            }
            None if earlier.is_some_and(other) => (OTHER_PARTS.to_owned(), None),
            None => ("it comes to other ops in each call".to_owned(), left_at),
        };
        self.prevented.say(&words, line);
    }

    /// A call has left changed what it found: numbers are followed from the next attempt on, of other things that sees at which line.
    /// `strays` hold numbers in places that were not followed. Unless there are new numbers to follow, the attempt has come to nothing.
    fn note_changes(&self, world: &World, strays: Vec<Node>, strict: bool) {
        let changed: Vec<Node> = world.changed().collect();
        let is_new = [self.tracks.grow(&changed), self.tracks.grow(&strays)].contains(&true);
        let is_first = !changed.is_empty() && self.changing.borrow().is_empty();
        if !is_new && !strict {
            self.attempts.came_to_nothing();
            if is_first {
                // Another call shows at which line.
                self.attempts.soon();
            }
        }
        let first = changed.first().or(strays.first());
        let what = first.map_or(STATE_OF_TENSORS.to_owned(), Node::described);
        self.prevented.say(&format!("it changes {what}"), None);
        match strict {
            true => self.changing.borrow_mut().extend(changed),
            false => drop(self.changing.replace(changed)),
        }
    }
}

/// What a call has shown that began with these variables.
fn shown(
    unit: &dyn Unit,
    asked: &Asked<'_>,
    variant: &Variant,
    mut before: Before,
    (given, numbers): (Given, Rc<Found>),
    is_confirmed: bool,
) -> Result<Shown, Raised> {
    let template = given.template?;
    if !variant.world.is_but_gradients(&asked.roots) || !variant.leaves_gradients(asked, &before) {
        return Ok(Shown::Change);
    }
    if !is_confirmed {
        return Ok(Shown::Unconfirmed);
    }
    let graph = unit.traced().alone_onto(&asked.tensors(), &|at| before.stays(at))?;
    if !variant.rehearses(&graph, asked, &mut before, &given.results) {
        let problem = "its graph gives something else than the body; trace without without_host";
        return Err(refused_here(problem.to_owned()));
    }
    Ok(Shown::Way(Box::new(Way::new(asked, graph, before, template, &given.made, numbers))))
}

/// What a followed call comes to.
enum Shown {
    /// The graph can do without the body.
    Way(Box<Way>),
    /// Another call of the same world has to come to the same.
    Unconfirmed,
    /// It left something changed besides tensors.
    Change,
}

/// What was refused in place of the error that the body has made of it, at the same line; an error of traces says more than that.
fn instead(raised: Raised, refused: Option<Raised>) -> Raised {
    let Some(mut refused) = refused.filter(|_| !raised.is(&TRACE_ERROR)) else { return raised };
    refused.set_marks(raised.marks().to_vec());
    refused
}
