//! What a function returns, as a form into which the results of a run without the body are put.

use engine::Tensor;

use crate::cx::Cx;
use crate::error::Raised;
use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::value::Value;

/// A returned value.
pub(super) enum Template {
    /// The same in each call.
    Same(Value),
    /// Tensor argument number `.0`, as it was passed.
    Arg(usize),
    /// Result number `.0` of the graph.
    Result(usize),
    Tuple(Vec<Template>),
    List(Vec<Template>),
    Dict(Vec<(Value, Template)>),
}

/// What templates are made with.
pub(super) struct Maker<'a> {
    /// The tensor arguments.
    pub(super) args: &'a [Value],
    /// Whether an object was there before the call.
    pub(super) is_older: &'a dyn Fn(&Value) -> bool,
    /// Tensors that the graph has to give, in order.
    pub(super) results: Vec<Value>,
}

impl Maker<'_> {
    /// The template of a returned value.
    pub(super) fn template(&mut self, value: &Value) -> Result<Template, Raised> {
        if let Some(at) = self.args.iter().position(|it| it.is(value)) {
            return Ok(Template::Arg(at));
        }
        if !crate::cycles::holds(value) && !matches!(value, Value::Tensor(_))
            || (self.is_older)(value)
        {
            return Ok(Template::Same(value.clone()));
        }
        Ok(match value {
            Value::Tensor(it) => self.tensor(value, it)?,
            Value::Tuple(it) => Template::Tuple(self.all(&it[..])?),
            Value::List(it) => Template::List(self.all(&it.items.borrow().clone())?),
            Value::Dict(it) => {
                let entries = it.items();
                let made = entries.into_iter().map(|(key, item)| Ok((key, self.template(&item)?)));
                Template::Dict(made.collect::<Result<_, Raised>>()?)
            }
            Value::Object(it) if it.is_constant() => Template::Same(value.clone()),
            other => {
                return Err(refused_here(format!(
                    "it returns a {}; return tensors, or tuples, lists and dicts of them",
                    type_name(other)
                )));
            }
        })
    }

    fn all(&mut self, items: &[Value]) -> Result<Vec<Template>, Raised> {
        items.iter().map(|it| self.template(it)).collect()
    }

    fn tensor(&mut self, value: &Value, object: &TensorObj) -> Result<Template, Raised> {
        if object.peek().edge().is_some_and(|it| !it.is_passed()) {
            return Err(refused_here(
                "it returns a tensor with a history, and a gradient through that would be lost; \
                 call backward() inside, return it.detach(), or call the function under torch.no_grad()"
                    .to_owned(),
            ));
        }
        let mut base = object.base_object();
        while let Some((it, _)) = base {
            let it = Value::Tensor(it);
            if (self.is_older)(&it) || self.args.iter().any(|arg| arg.is(&it)) {
                return Err(refused_here(
                    "it returns a view of a tensor that lasts; return a clone()".to_owned(),
                ));
            }
            base = it.as_tensor().and_then(|it| it.base_object());
        }
        let known = self.results.iter().position(|it| it.is(value));
        Ok(Template::Result(known.unwrap_or_else(|| {
            self.results.push(value.clone());
            self.results.len() - 1
        })))
    }
}

impl Template {
    /// The value with these results.
    pub(super) fn filled(&self, cx: &mut Cx, args: &[Value], results: &[Value]) -> Res {
        let all = |cx: &mut Cx, items: &[Template]| {
            items.iter().map(|it| it.filled(cx, args, results)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match self {
            Self::Same(it) => it.clone(),
            Self::Arg(at) => args[*at].clone(),
            Self::Result(at) => results[*at].clone(),
            Self::Tuple(items) => Value::tuple(all(cx, items)?),
            Self::List(items) => Value::list(all(cx, items)?),
            Self::Dict(items) => {
                let dict = crate::table::Dict::default();
                for (key, item) in items {
                    let item = item.filled(cx, args, results)?;
                    dict.insert(cx, key.clone(), item)?;
                }
                Value::Dict(std::rc::Rc::new(dict))
            }
        })
    }
}

/// The tensors among the values that a graph has to give.
pub(super) fn tensors(results: &[Value]) -> Vec<Tensor> {
    results.iter().filter_map(|it| it.as_tensor().map(|it| it.get())).collect()
}

/// Why a function cannot run without its body.
pub(super) fn refused_here(problem: String) -> Raised {
    Raised::new(
        &TRACE_ERROR,
        format!("without_host=True: the function cannot run without its body: {problem}"),
    )
}
