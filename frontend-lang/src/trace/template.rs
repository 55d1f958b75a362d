//! What a function returns, as a form into which the results of a run without the body are put.

use std::cell::RefCell;
use std::rc::Rc;

use engine::Tensor;
use engine::autograd::Edge;

use super::collect_tensors;
use super::node::Anchor;
use super::numbers::{Operand, Tracking, view_of_rows};
use super::world::World;
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::error::Raised;
use crate::native::*;
use crate::objects::class::with_article;
use crate::objects::function::Func;
use crate::objects::tensor::{Look, TensorObj, View};
use crate::table::Dict;
use crate::value::Value;

/// A returned value.
pub(super) enum Template {
    /// The same in each call.
    Same(Value),
    /// The same object of the world.
    Found(Anchor),
    /// Tensor argument number `.0`, as it was passed, those by keyword last.
    Arg(usize),
    /// Result number `.0` of the graph.
    Result(usize),
    /// The gradient of tensor `.0` of the world.
    Grad(usize),
    /// A view of another one.
    View(Box<Template>, Box<Seen>),
    /// A number that is computed anew.
    Number(Operand),
    /// What this gives is an object that may stand in several places.
    Object(Box<Template>),
    /// The same object as the one with this number, in the order in which they are complete.
    Again(usize),
    /// A function that shares nothing with others, and is made anew.
    Function(Rc<Code>),
    Tuple(Vec<Template>),
    List(Vec<Template>),
    Dict(Vec<(Value, Template)>),
}

/// How a view shows what it is taken from.
pub(super) struct Seen {
    view: View,
    /// Where it begins, if it is so many rows at a place that differs from call to call.
    place: Option<(Operand, usize)>,
    /// A step of the tape that a reverse walk has passed.
    edge: Option<Edge>,
    look: Look,
}

/// What templates are made with.
struct Maker<'a> {
    /// The tensor arguments.
    pub(super) args: &'a [Value],
    /// What was there before the call.
    pub(super) world: &'a World,
    /// Tensors that the graph has to give, in order.
    pub(super) results: Vec<Value>,
    /// All tensors that are given, views too.
    given: Vec<Value>,
    /// Containers and views that are complete, and those that hold what is looked at now.
    complete: Vec<Value>,
    open: Vec<Value>,
    /// The numbers that the body was followed with.
    tracking: Option<&'a Tracking>,
    /// Containers that hold what is looked at now.
    depth: usize,
}

/// Deepest nesting of what a function returns.
const DEEPEST: usize = 64;

const TOO_DEEP: &str = "what it returns is nested too deeply";

/// What a template is filled with.
pub(super) struct Filling<'a> {
    /// The tensor arguments.
    pub(super) args: &'a [Value],
    pub(super) results: &'a [Value],
    /// The gradient that a tensor of the world has now.
    pub(super) grad: &'a dyn Fn(usize) -> Option<Value>,
    /// The numbers of this call.
    pub(super) numbers: &'a [Value],
    /// Objects that are complete.
    pub(super) complete: &'a RefCell<Vec<Value>>,
}

/// What a body gave.
pub(super) struct Given {
    /// As a form for what a graph gives, or why it has none.
    pub(super) template: Result<Template, Raised>,
    /// The tensors that a graph has to give for it.
    pub(super) made: Vec<Value>,
    /// Their values, and the tensors whose elements were read.
    pub(super) results: Vec<Tensor>,
}

impl Given {
    pub(super) fn of(
        value: &Value,
        args: &[Value],
        world: &World,
        tracking: Option<&Tracking>,
    ) -> Self {
        let mut maker = Maker::new(args, world, tracking);
        let template = maker.gather(value).and_then(|()| maker.template(value));
        let made = maker.results;
        let mut results = match template.is_ok() {
            true => tensors(&made),
            false => collect_tensors(value),
        };
        if template.is_ok() {
            results.extend(tracking.into_iter().flat_map(Tracking::reads));
        }
        Self { template, made, results }
    }
}

impl<'a> Maker<'a> {
    pub(super) fn new(args: &'a [Value], world: &'a World, tracking: Option<&'a Tracking>) -> Self {
        let (results, given, complete, open) = Default::default();
        Self { args, world, results, given, complete, open, tracking, depth: 0 }
    }

    /// Finds all tensors that are given.
    fn gather(&mut self, value: &Value) -> Result<(), Raised> {
        self.deeper(|maker| {
            let mut all = |items: &[Value]| items.iter().try_for_each(|it| maker.gather(it));
            match value {
                Value::Tuple(it) => all(&it[..]),
                Value::List(it) => all(&it.items.borrow().clone()),
                Value::Dict(it) => it.items().iter().try_for_each(|it| maker.gather(&it.1)),
                Value::Tensor(_) if !maker.given.iter().any(|it| it.is(value)) => {
                    maker.given.push(value.clone());
                    Ok(())
                }
                _ => Ok(()),
            }
        })
    }

    fn deeper<T>(
        &mut self,
        look: impl FnOnce(&mut Self) -> Result<T, Raised>,
    ) -> Result<T, Raised> {
        if self.depth == DEEPEST {
            return Err(refused_here(TOO_DEEP.to_owned()));
        }
        self.depth += 1;
        let res = look(self);
        self.depth -= 1;
        res
    }

    /// The template of a returned value.
    pub(super) fn template(&mut self, value: &Value) -> Result<Template, Raised> {
        if let Some(operand) = self.tracking.and_then(|it| it.origin(value)) {
            return Ok(Template::Number(operand));
        }
        if let Some(at) = self.args.iter().position(|it| it.is(value)) {
            return Ok(Template::Arg(at));
        }
        if let Some(anchor) = Anchor::of(value).filter(|_| self.world.has(value)) {
            return Ok(Template::Found(anchor));
        }
        if !crate::cycles::holds(value) && !matches!(value, Value::Tensor(_)) {
            return Ok(Template::Same(value.clone()));
        }
        if let Some(at) = self.complete.iter().position(|it| it.is(value)) {
            return Ok(Template::Again(at));
        }
        if self.open.iter().any(|it| it.is(value)) {
            return Err(refused_here(TOO_DEEP.to_owned()));
        }
        self.open.push(value.clone());
        let made = self.of_parts(value)?;
        self.open.pop();
        if matches!(made, Template::Same(_) | Template::Result(_) | Template::Grad(_)) {
            return Ok(made);
        }
        self.complete.push(value.clone());
        Ok(Template::Object(Box::new(made)))
    }

    fn of_parts(&mut self, value: &Value) -> Result<Template, Raised> {
        self.deeper(|maker| match value {
            Value::Tensor(it) => maker.tensor(value, it),
            Value::Tuple(it) => Ok(Template::Tuple(maker.all(&it[..])?)),
            Value::List(it) => Ok(Template::List(maker.all(&it.items.borrow().clone())?)),
            Value::Dict(it) => {
                let entries = it.items();
                let made = entries.into_iter().map(|(key, item)| Ok((key, maker.template(&item)?)));
                Ok(Template::Dict(made.collect::<Result<_, Raised>>()?))
            }
            Value::Func(it) if shares_nothing(it) => Ok(Template::Function(it.code.clone())),
            Value::Object(it) if it.is_constant() => Ok(Template::Same(value.clone())),
            other => Err(refused_here(format!(
                "it returns {}; return tensors, or tuples, lists and dicts of them",
                with_article(type_name(other))
            ))),
        })
    }

    fn all(&mut self, items: &[Value]) -> Result<Vec<Template>, Raised> {
        items.iter().map(|it| self.template(it)).collect()
    }

    fn tensor(&mut self, value: &Value, object: &Rc<TensorObj>) -> Result<Template, Raised> {
        if let Some(of) = self.world.whose_grad(object) {
            return Ok(Template::Grad(of));
        }
        if let Some(known) = self.results.iter().position(|it| it.is(value)) {
            return Ok(Template::Result(known));
        }
        if object.peek().edge().is_some_and(|it| !it.is_spent()) {
            return Err(refused_here(
                "it returns a tensor with a history, and a gradient through that would be lost; \
                 call backward() inside, return it.detach(), or call the function under torch.no_grad()"
                    .to_owned(),
            ));
        }
        if object.grad().is_some() {
            return Err(refused_here(
                "it returns a new tensor with a gradient, which the graph does not see; return a detach() of it"
                    .to_owned(),
            ));
        }
        if let Some((base, view)) = object.base_object().filter(|it| self.is_kept(&it.0)) {
            let edge = object.peek().edge().cloned();
            if edge.as_ref().is_some_and(|it| !it.is_passed()) {
                return Err(refused_here("it returns a view with a history".to_owned()));
            }
            let place = self.tracking.and_then(|it| it.place_of(object));
            let base = self.deeper(|maker| maker.template(&Value::Tensor(base)))?;
            return Ok(Template::View(
                Box::new(base),
                Box::new(Seen { view, place, edge, look: object.look() }),
            ));
        }
        self.results.push(value.clone());
        Ok(Template::Result(self.results.len() - 1))
    }

    /// Whether a tensor, or what it is a view of, is there after the call besides one view of it.
    fn is_kept(&self, object: &Rc<TensorObj>) -> bool {
        let value = Value::Tensor(object.clone());
        let is_this = |it: &Value| it.is(&value);
        let shows = |it: &&Value| it.as_tensor().is_some_and(|it| is_or_shows(it, object));
        self.args.iter().chain(&self.results).any(is_this)
            || self.world.has(&value)
            || self.world.whose_grad(object).is_some()
            || self.given.iter().filter(shows).count() > 1
            || object.base_object().is_some_and(|it| self.is_kept(&it.0))
    }
}

/// Whether a function holds nothing: no defaults, no variables of functions around it, no attributes.
fn shares_nothing(function: &Func) -> bool {
    let Func { code, defaults, keyword_defaults, closure, attrs, .. } = function;
    code.sites != 0
        && defaults.is_empty()
        && keyword_defaults.is_empty()
        && closure.is_empty()
        && attrs.borrow().is_empty()
}

/// Whether a tensor is this one, or a view of it, perhaps through others.
fn is_or_shows(object: &Rc<TensorObj>, base: &Rc<TensorObj>) -> bool {
    Rc::ptr_eq(object, base) || object.base_object().is_some_and(|it| is_or_shows(&it.0, base))
}

impl Seen {
    /// The view of this tensor.
    fn of(&self, base: &Value, numbers: &[Value]) -> Res {
        let Some(base) = base.as_tensor() else { return Ok(Value::None) };
        let start = |it: &Operand| it.value(numbers).as_int();
        let moved =
            self.place.as_ref().and_then(|(at, count)| Some(view_of_rows(start(at)?, *count)));
        let view = moved.unwrap_or_else(|| self.view.clone());
        let tensor = view.apply(&base.get().detach())?.at_edge(self.edge.clone());
        let object = TensorObj::view_of(base, view, tensor);
        object.show_as(self.look);
        Ok(Value::Tensor(object))
    }
}

impl Template {
    /// The value with these results.
    pub(super) fn filled(&self, cx: &mut Cx, with: &Filling<'_>) -> Res {
        let all = |cx: &mut Cx, items: &[Template]| {
            items.iter().map(|it| it.filled(cx, with)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match self {
            Self::Same(it) => it.clone(),
            Self::Found(it) => it.get().unwrap_or(Value::None),
            Self::Arg(at) => with.args[*at].clone(),
            Self::Result(at) => with.results[*at].clone(),
            Self::Number(it) => it.value(with.numbers),
            Self::Object(made) => {
                let object = made.filled(cx, with)?;
                with.complete.borrow_mut().push(object.clone());
                object
            }
            Self::Again(at) => with.complete.borrow().get(*at).cloned().unwrap_or(Value::None),
            Self::View(base, seen) => seen.of(&base.filled(cx, with)?, with.numbers)?,
            Self::Function(code) => Value::Func(Rc::new(Func::plain(code.clone()))),
            Self::Grad(of) => (with.grad)(*of).unwrap_or(Value::None),
            Self::Tuple(items) => Value::tuple(all(cx, items)?),
            Self::List(items) => Value::list(all(cx, items)?),
            Self::Dict(items) => {
                let dict = Dict::default();
                for (key, item) in items {
                    let item = item.filled(cx, with)?;
                    dict.insert(cx, key.clone(), item)?;
                }
                Value::Dict(Rc::new(dict))
            }
        })
    }
}

/// The tensors among the values that a graph has to give.
fn tensors(results: &[Value]) -> Vec<Tensor> {
    results.iter().filter_map(|it| it.as_tensor().map(|it| it.get())).collect()
}

/// Why a function cannot run without its body.
pub(super) fn refused_here(problem: String) -> Raised {
    Raised::new(
        &TRACE_ERROR,
        format!("without_host=True: the function cannot run without its body: {problem}"),
    )
}
