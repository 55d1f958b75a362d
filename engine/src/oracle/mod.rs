//! The oracle: what ops and graphs mean, computed in exact numbers from what rows say they mean, with none of the engine's kernels.
//!
//! It is slow and for small tensors: tests hold kernels, passes and plans to it. Results are not rounded by how they are computed; what
//! an op reads has been rounded to the dtype of the value, as it would be in a buffer.

mod bessel;
mod complex;
#[cfg(test)]
mod expressions;
mod functions;
mod gamma;
#[cfg(test)]
pub(crate) mod graphs;
mod scalar;

use ndarray::{ArrayD, IxDyn};

use crate::graph::{Graph, Kind, Value, op_by_op};
use crate::interpreter::{self, Interpreter, Root};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::tape::{Mark, Node};
use crate::{
    Attrs, DType, Device, Error, Meta, OpDef, Outputs, Result, Shape, Tensor, admit, apply, op,
};

/// The results of an op on these operands by its meaning, not rounded to their dtypes. Fails where the op refuses its operands; what a random
/// op gives is drawn as the op does, and checked.
pub fn results(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Vec<Array>> {
    if let Meaning::Composed = op.meaning {
        let outputs = interpreted(|| apply::apply(op, inputs, attrs))?;
        return outputs.iter().map(array_of).collect();
    }
    if apply::complex::is_composed(op, inputs, attrs) {
        if let Some(res) = of_complex(op, inputs, attrs)? {
            return Ok(vec![res]);
        }
        let outputs = interpreted(|| apply::apply(op, inputs, attrs))?;
        return outputs.iter().map(array_of).collect();
    }
    let metas = apply::infer(op, inputs, attrs)?;
    admit::ahead(op, inputs, attrs)?;
    let arrays = inputs.iter().map(array_of).collect::<Result<Vec<_>>>()?;
    let dtypes: Vec<DType> = metas.iter().map(|it| it.dtype).collect();
    let given: Vec<DType> = inputs.iter().map(Tensor::dtype).collect();
    let cx = MeaningCx { inputs: &arrays, attrs, given: &given, dtypes: &dtypes };
    let res = match op.meaning {
        Meaning::Of(meaning) => vec![meaning(&cx)],
        Meaning::Each(meaning) | Meaning::Defined(meaning, _) => meaning(&cx),
        Meaning::Control(meaning) => meaning(&cx, &|idx, arrays| region(op, attrs, idx, arrays))?,
        Meaning::Drawn(could_be) => {
            let drawn = array_of(&apply::run(op, inputs, attrs)?[0])?;
            if !could_be(&cx, &drawn) {
                return Err(disagrees(op, "what was drawn is none of what could be"));
            }
            vec![drawn]
        }
        Meaning::Forgotten => return Err(disagrees(op, "what it means is not in this build")),
        Meaning::Expression | Meaning::Composed => {
            vec![scalar::elements(op, inputs, &arrays, attrs)?]
        }
    };
    let shapes = |it: &Meta| it.shape.to_vec();
    match metas.iter().map(shapes).eq(res.iter().map(|it| it.shape().to_vec())) {
        true => Ok(res),
        false => Err(disagrees(op, "its shape is another one than was inferred")),
    }
}

/// How far results of an op are from what defines them, where others may mean the same ([`Meaning::Defined`]).
pub fn distance(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    results: &[Tensor],
) -> Result<Option<f64>> {
    let Meaning::Defined(_, far) = op.meaning else { return Ok(None) };
    let all = |it: &[Tensor]| it.iter().map(array_of).collect::<Result<Vec<_>>>();
    let (arrays, results) = (all(inputs)?, all(results)?);
    let dtypes: Vec<DType> = apply::infer(op, inputs, attrs)?.iter().map(|it| it.dtype).collect();
    let given: Vec<DType> = inputs.iter().map(Tensor::dtype).collect();
    Ok(Some(far(&MeaningCx { inputs: &arrays, attrs, given: &given, dtypes: &dtypes }, &results)))
}

/// What an elementwise op gives for complex numbers by its expression; `None` of others, and where the row says it in other words.
fn of_complex(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Option<Array>> {
    if !op.body.is_elementwise() || op.surface.complex.is_some() {
        return Ok(None);
    }
    let arrays = inputs.iter().map(array_of).collect::<Result<Vec<_>>>()?;
    Ok(complex::elements(op, &arrays, attrs))
}

/// What the outputs of a graph mean for these inputs, one tensor per graph input, and after them what it stores.
pub fn evaluate(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    op_by_op::check_inputs(graph, inputs)?;
    let mut values: Vec<Vec<Tensor>> = vec![Vec::new(); graph.nodes().len()];
    for (&id, tensor) in graph.inputs().iter().zip(inputs) {
        values[id as usize] = vec![tensor.detach()];
    }
    let read =
        |values: &[Vec<Tensor>], it: &Value| values[it.node as usize][it.output as usize].clone();
    let needed = graph.needed();
    for (id, node) in graph.nodes().iter().enumerate() {
        match &node.kind {
            Kind::Const(tensor) => values[id] = vec![tensor.clone()],
            Kind::Number(number) => values[id] = vec![Tensor::from_number(*number)],
            Kind::Op { op, attrs, inputs } if needed[id] => {
                let operands: Vec<Tensor> = inputs.iter().map(|it| read(&values, it)).collect();
                values[id] = rounded(op, &operands, attrs)?;
            }
            Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed | Kind::Op { .. } => {}
        }
    }
    Ok(graph.results().map(|it| read(&values, &it)).collect())
}

/// What the graph means that attribute `idx` of an op is.
fn region(op: &'static OpDef, attrs: &Attrs, idx: usize, inputs: &[Array]) -> Result<Vec<Array>> {
    let block = op::block(op, attrs, idx)?;
    let inputs = inputs.iter().zip(block.inputs()).map(|(it, meta)| tensor_of(it, meta.dtype));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let graph = block.graph().downcast_ref::<Graph>();
    let graph = graph.ok_or_else(|| disagrees(op, "it runs no graph"))?;
    evaluate(graph, &inputs)?.iter().map(array_of).collect()
}

/// Runs `body` with every op that it applies computed by its meaning, the ops that others consist of and those of the reverse walk included.
pub fn interpreted<T>(body: impl FnOnce() -> T) -> T {
    /// Puts back who stood there before, also where `body` panics.
    struct Before(Option<&'static dyn Interpreter>);
    impl Drop for Before {
        fn drop(&mut self) {
            interpreter::install(self.0);
        }
    }
    let _before = Before(interpreter::current());
    interpreter::install(Some(&Oracle));
    body()
}

/// Answers every op.
struct Oracle;

impl Interpreter for Oracle {
    fn replay(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        _: Device,
    ) -> Result<Option<(Outputs, Mark)>> {
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::detach).collect();
        Ok(Some((rounded(op, &inputs, attrs)?.into_iter().collect(), Mark::NONE)))
    }

    fn record(&self, _: &'static OpDef, _: &[Tensor], _: &Attrs, _: Device, _: &Outputs) {}

    fn follows(&self, device: Device) -> bool {
        device == Device::Cpu
    }

    fn moves(&self, _: Device) -> Result<()> {
        Ok(())
    }

    fn records_only(&self) -> bool {
        false
    }

    fn walking(&self, _: bool) {}

    fn take_walk(&self, _: &[Root], _: bool) -> Result<Option<Vec<(u64, Tensor)>>> {
        Ok(None)
    }

    fn walk_begins(&self) -> Option<Box<dyn std::any::Any>> {
        None
    }

    fn walk_ends(
        &self,
        _: &dyn std::any::Any,
        _: &[Root],
        _: bool,
        _: &[std::sync::Arc<Node>],
        _: &[(u64, Tensor)],
    ) {
    }
}

/// The results as tensors of their dtypes.
fn rounded(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Vec<Tensor>> {
    let metas = apply::infer(op, inputs, attrs)?;
    let results = results(op, inputs, attrs)?;
    results.iter().zip(&metas).map(|(it, meta)| tensor_of(it, meta.dtype)).collect()
}

/// The elements of a tensor.
pub fn array_of(tensor: &Tensor) -> Result<Array> {
    let shape = IxDyn(tensor.shape());
    let misfit = |_| Error::outside_storage();
    if tensor.dtype().is_complex() {
        let [real, imag] = tensor.to_parts()?;
        let part = |it| ArrayD::from_shape_vec(shape.clone(), it).map_err(misfit);
        return Ok(Array::Complex(part(real)?, part(imag)?));
    }
    Ok(match tensor.dtype().is_float() {
        true => ArrayD::from_shape_vec(shape, tensor.to_f64_vec()?).map_err(misfit)?.into(),
        false => ArrayD::from_shape_vec(shape, tensor.to_i64_vec()?).map_err(misfit)?.into(),
    })
}

/// A tensor of a dtype with the elements rounded to it.
pub fn tensor_of(array: &Array, dtype: DType) -> Result<Tensor> {
    let shape = Shape::new(array.shape());
    match array.rounded(dtype) {
        Array::Float(it) => {
            Tensor::from_converted(&it.into_iter().collect::<Vec<_>>(), shape, dtype)
        }
        Array::Int(it) => Tensor::from_converted(&it.into_iter().collect::<Vec<_>>(), shape, dtype),
        Array::Complex(real, imag) => {
            let pairs: Vec<_> = real.into_iter().zip(imag).collect();
            Tensor::from_pairs(&pairs, shape, dtype)
        }
    }
}

fn disagrees(op: &'static OpDef, what: &str) -> Error {
    Error::Trace { problem: format!("{} is not what it means: {what}", op.name) }
}
