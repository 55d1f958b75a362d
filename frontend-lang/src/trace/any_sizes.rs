//! Which dimensions of a dumped function can have any size, and its graph for all of them: the function is recorded at several sizes,
//! without computing anything.

use engine::graph::Graph;
use engine::graph::sizes::Template;
use engine::graph::text::constants;
use engine::model::AnySize;
use engine::trace::Options;
use engine::{Meta, Shape, Tensor};

use super::{Recorded, TracedFn};
use crate::annotation::Signature;
use crate::native::*;

/// A dimension of an input, and what its size is called.
pub type AnyDim = (String, usize, String);

impl TracedFn {
    /// The dimensions that have names in the annotations of the parameters: `x: Tensor["N", 784]`.
    fn annotated_sizes(&self) -> Vec<AnyDim> {
        let Value::Func(func) = &self.func else { return Vec::new() };
        let Some(signature) = Signature::read(&func.code.annotations, |_| Some(0)) else {
            return Vec::new();
        };
        let inputs = self.arg_names();
        let of_inputs = signature.params.iter().filter(|it| inputs.contains(&it.1.to_string()));
        of_inputs
            .flat_map(|(_, param, pattern)| {
                let named = pattern.named_dims();
                named
                    .map(|(dim, name)| (param.to_string(), dim, name.to_owned()))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// The dimensions by names of their sizes; those of annotations where nothing is `given`.
    pub(crate) fn any_sizes(&self, given: Option<&[AnyDim]>) -> Result<Vec<AnySize>, Raised> {
        let (inputs, own) = (self.arg_names(), self.last_call().map(|it| it.names()));
        let own = own.unwrap_or_default();
        let dims = given.map_or_else(|| self.annotated_sizes(), <[AnyDim]>::to_vec);
        let mut all: Vec<AnySize> = Vec::new();
        for (input, dim, name) in dims {
            let is_it = |it: &String| *it == input;
            let at = inputs.iter().position(is_it).or_else(|| own.iter().position(is_it));
            let at = at.ok_or_else(|| {
                value_error(format!("no input is called `{input}`; there is {}", inputs.join(", ")))
            })?;
            match all.iter_mut().find(|it| it.name == name) {
                Some(known) => known.places.push((at, dim)),
                None => all.push(AnySize { name, places: vec![(at, dim)], lowest: 0 }),
            }
        }
        Ok(all)
    }

    /// The graph of the latest call for any of these sizes, and at those that it had; notes the lowest that it takes.
    pub(crate) fn graph_of_any_sizes(
        &self,
        cx: &mut Cx,
        any: &mut [AnySize],
    ) -> Result<(Template, Graph), Raised> {
        let call = self.recorded()?;
        let size = |it: &AnySize| {
            let (input, dim) = it.places[0];
            call.tensors[input].shape().get(dim).copied().ok_or_else(|| {
                let rank = call.tensors[input].rank();
                let input = &self.arg_names()[input];
                value_error(format!("`{input}` has {rank} dimensions, so none is number {dim}"))
            })
        };
        let seen = any.iter().map(size).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<String> = any.iter().map(|it| it.name.clone()).collect();
        let frozen =
            self.frozen_graph_of(cx, &resized(&call, any, &seen), Options::default().max_ops)?;
        let weights = constants(&frozen);
        // A loop over a size is no graph for all of them, and could go on for ever.
        let max_ops = frozen.n_ops() * 2 + 1_000;
        let mut failed: Option<Raised> = None;
        let mut record = |sizes: &[usize]| {
            if let Some(raised) = failed.as_ref().filter(|it| it.is(&KEYBOARD_INTERRUPT)) {
                return Err(engine::Error::Trace { problem: raised.message() });
            }
            let graph = self.frozen_graph_of(cx, &resized(&call, any, sizes), max_ops);
            graph.map_err(|raised| {
                let problem = format!(
                    "{}, when its sizes are {}",
                    raised.message(),
                    names
                        .iter()
                        .zip(sizes)
                        .map(|it| format!("{} = {}", it.0, it.1))
                        .collect::<Vec<_>>()
                        .join(", ")
                );
                failed = Some(raised);
                engine::Error::Trace { problem }
            })
        };
        let template = Template::of(&names, &seen, &mut record, engine::region::region_of);
        let found = template.and_then(|template| {
            let lowest = template.lowest(&seen, &weights, &mut record)?;
            Ok((template, lowest))
        });
        if let Some(raised) = failed.filter(|it| it.is(&KEYBOARD_INTERRUPT)) {
            return Err(raised);
        }
        let (template, lowest) = found.map_err(|error| {
            let help = "dump it with dynamic_axes={} for the sizes of the latest call alone";
            Raised::from(error).with_help(Some(help.to_owned()))
        })?;
        any.iter_mut().zip(lowest).for_each(|it| it.0.lowest = it.1);
        let graph = template.graph(&seen, &weights)?;
        Ok((template, graph))
    }
}

/// A call with tensors of other sizes, which have no elements.
fn resized(call: &Recorded, any: &[AnySize], sizes: &[usize]) -> Recorded {
    let mut shapes: Vec<Vec<usize>> = call.tensors.iter().map(|it| it.shape().to_vec()).collect();
    for (any, size) in any.iter().zip(sizes) {
        for &(input, dim) in &any.places {
            if let Some(slot) = shapes[input].get_mut(dim) {
                *slot = *size;
            }
        }
    }
    let one = |(shape, tensor): (&Vec<usize>, &Tensor)| match tensor.as_number() {
        Some(_) => tensor.clone(),
        None => Tensor::abstract_of(Meta::new(Shape::new(shape), tensor.dtype())),
    };
    let tensors: Vec<Tensor> = shapes.iter().zip(&call.tensors).map(one).collect();
    let mut next = tensors.iter();
    let mut swap = |value: &Value| match value {
        Value::Tensor(_) => next.next().cloned().map_or_else(|| value.clone(), Value::tensor),
        _ => value.clone(),
    };
    let positional = call.positional.iter().map(&mut swap).collect();
    let keywords = call.keywords.iter().map(|(name, value)| (*name, swap(value))).collect();
    Recorded { positional, keywords, tensors }
}

/// `{"x": {0: "N"}, "y": {0: "N"}}`, as `torch.onnx.export` takes it; a list of dimensions names them after their input.
pub(super) fn dynamic_axes(cx: &mut Cx, value: &Value) -> Result<Vec<AnyDim>, Raised> {
    let wrong = || {
        type_error("dynamic_axes is a dict of inputs with their dimensions: {\"x\": {0: \"N\"}}")
    };
    let Value::Dict(inputs) = value.core() else { return Err(wrong()) };
    let mut all = Vec::new();
    for (input, dims) in inputs.items() {
        let input = input.as_str().ok_or_else(wrong)?.to_owned();
        match dims.core() {
            Value::Dict(dims) => {
                for (dim, name) in dims.items() {
                    let (dim, name) =
                        (dim.as_int().ok_or_else(wrong)?, name.as_str().ok_or_else(wrong)?);
                    all.push((
                        input.clone(),
                        usize::try_from(dim).map_err(|_| wrong())?,
                        name.to_owned(),
                    ));
                }
            }
            _ => {
                for dim in cx.collect(&dims)? {
                    let dim =
                        dim.as_int().and_then(|it| usize::try_from(it).ok()).ok_or_else(wrong)?;
                    all.push((input.clone(), dim, format!("{input}_{dim}")));
                }
            }
        }
    }
    Ok(all)
}
