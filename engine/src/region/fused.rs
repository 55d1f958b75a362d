//! A region of elementwise ops that change tensors in place, as one program: an optimizer's update in one pass over a parameter.
//!
//! A program is made of two recordings that differ in the numbers they were given: what is equal in both is part of it, and what is the
//! one's number here and the other's there is a number of the run. The steps round as the ops do, so the elements have the same bits.

use std::sync::Arc;

use smallvec::SmallVec;

use super::build::Recorded;
use crate::apply::anomaly::{self, Watch};
use crate::apply::{autocast, default_dtype, is_shapes_only};
use crate::cpu::interrupt;
use crate::cpu::view::OutView;
use crate::graph::class::{Numbers, classify};
use crate::graph::{Graph, Kind, Value};
use crate::lane::{self, Program, Ref, Source, Step};
use crate::{Error, Number, Result, Tensor, interpreter, tape};

/// The program. Its operands are those of the region, before numbers.
#[derive(Debug)]
pub struct Fused {
    program: Arc<Program>,
    /// Which tensor each output replaces, ascending.
    changed: Vec<usize>,
    /// Operands behind the tensors.
    numbers: Vec<Given>,
    params: Vec<Given>,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Given {
    /// It is this one in each run.
    Always(Number),
    /// The one of this place among those of the run, times 1 or -1: `x.sub_(y, alpha=a)` adds `-a * y`.
    Run(usize, f64),
}

impl Fused {
    /// Whether nobody on this thread has to see ops one by one: no tape, trace or region, and nothing that changes what ops do.
    pub fn may_run() -> bool {
        !tape::enabled()
            && !interpreter::active()
            && !is_shapes_only()
            && anomaly::watch() == Watch::Nothing
            && autocast::halves() == [None, None]
            && !default_dtype::is_set()
    }

    /// The program of a region that was recorded twice, each time with the numbers that stand beside it, which differ. The outputs take the
    /// place of the parameters `changed`, which ascend.
    ///
    /// `None` if the region is more than elementwise ops on its parameters, may refuse an element, or is another one with other numbers.
    pub fn of(
        (recorded, numbers): (&Recorded, &[f64]),
        (again, others): (&Recorded, &[f64]),
        changed: Vec<usize>,
    ) -> Option<Self> {
        debug_assert!(changed.is_sorted(), "outputs are told in the order of the tensors");
        let (class, found) = classify(&recorded.graph)?;
        let (other, found_again) = classify(&again.graph)?;
        let is_free = recorded.captures.is_empty() && again.captures.is_empty();
        if class != other || !is_free || !differ_as_told(&found, &found_again, numbers, others) {
            return None;
        }
        Self::of_graph(&recorded.graph, numbers, changed)
    }

    fn of_graph(graph: &Graph, numbers: &[f64], changed: Vec<usize>) -> Option<Self> {
        let mut inputs: Vec<Value> = graph.inputs().iter().map(|it| Value::of(*it)).collect();
        let mut refs: Vec<Option<Ref>> = vec![None; graph.nodes().len()];
        (0..).zip(&inputs).for_each(|(at, it)| refs[it.node as usize] = Some(Ref::Input(at)));
        let (mut steps, mut operands) = (Vec::new(), Vec::new());
        for (id, node) in graph.nodes().iter().enumerate() {
            match &node.kind {
                Kind::Number(number) => {
                    refs[id] = Some(Ref::Input(inputs.len()));
                    inputs.push(Value::of(id as u32));
                    operands.push(Given::of(*number, numbers));
                }
                Kind::Op { op, attrs, inputs } if op.body.is_elementwise() => {
                    let given = inputs.iter().map(|it| refs[it.node as usize]);
                    let given: SmallVec<[Ref; 3]> = given.collect::<Option<_>>()?;
                    let stand_ins = inputs.iter().map(|it| graph.stand_in(*it));
                    let stand_ins: SmallVec<[Tensor; 3]> = stand_ins.collect();
                    refs[id] = Some(Ref::Step(steps.len()));
                    steps.push(Step::new(op, attrs, &given, &stand_ins).ok()?);
                }
                Kind::Input { .. } => {}
                Kind::Variable { .. } | Kind::Fed | Kind::Const(_) | Kind::Op { .. } => {
                    return None;
                }
            }
        }
        let dtypes = inputs.iter().map(|it| graph.meta(*it).dtype).collect();
        let outputs = graph.outputs.iter().map(|it| refs[it.node as usize]);
        let program = lane::shared(dtypes, steps, outputs.collect::<Option<_>>()?).ok()?;
        let params = program.params().iter().map(|it| Given::of(it.value, numbers)).collect();
        let fits = program.outputs().len() == changed.len() && !program.may_refuse();
        fits.then_some(Self { program, changed, numbers: operands, params })
    }

    /// Which tensors it changes, ascending.
    pub fn changed(&self) -> &[usize] {
        &self.changed
    }

    /// Changes tensors; those that it does not change have the shape of the others, or no dimensions. False, with nothing changed, if one
    /// that it changes is seen by another handle or does not lie row-major, or one is not at hand. An interrupt waits for the end.
    pub fn run(&self, tensors: &mut [Tensor], numbers: &[f64]) -> Result<bool> {
        let Some(first) = self.changed.first() else { return Ok(false) };
        let shape = tensors[*first].shape().clone();
        let number = |it: &Given| match *it {
            Given::Always(number) => number,
            Given::Run(at, sign) => Number::Float(sign * numbers[at]),
        };
        let params: SmallVec<[Number; 8]> = self.params.iter().map(number).collect();
        let mut sources: SmallVec<[Source<'_>; 12]> = SmallVec::new();
        let mut outputs: SmallVec<[OutView<'_>; 4]> = SmallVec::new();
        for (at, tensor) in tensors.iter_mut().enumerate() {
            let Some(output) = self.changed.iter().position(|it| *it == at) else {
                sources.push(lane::source(tensor)?);
                continue;
            };
            let Some(place) = lane::place_of(tensor, &shape) else { return Ok(false) };
            outputs.push(place);
            sources.push(Source::Replaced(output));
        }
        sources.extend(self.numbers.iter().map(|it| Source::Number(number(it))));
        let run = || lane::run(&self.program, &sources, &mut outputs, &params);
        interrupt::unstopped(shape.numel(), run).ok_or(Error::Interrupted)??;
        Ok(true)
    }
}

impl Given {
    /// A number of a recording, which is one of those that stood for the numbers of a run.
    fn of(number: Number, numbers: &[f64]) -> Self {
        let Number::Float(number) = number else { return Self::Always(number) };
        let of_run = |sign: f64| {
            let is_it = |it: &f64| (sign * it).to_bits() == number.to_bits();
            numbers.iter().position(is_it).map(|at| Self::Run(at, sign))
        };
        of_run(1.0).or_else(|| of_run(-1.0)).unwrap_or(Self::Always(Number::Float(number)))
    }
}

/// Whether the numbers of two graphs of one class are equal but where they are those that were given.
fn differ_as_told(one: &Numbers, other: &Numbers, numbers: &[f64], others: &[f64]) -> bool {
    one.each().zip(other.each()).all(|(a, b)| Given::of(a, numbers) == Given::of(b, others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functional::{add, mul, sqrt, sub, sum};
    use crate::region::Recording;
    use crate::{DType, Device, Meta, Shape};

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::from_vec(values, Shape::from([values.len()])).unwrap()
    }

    /// What `body` gives of two tensors of five elements and two numbers, recorded.
    fn recorded(body: fn([&Tensor; 4]) -> Result<Vec<Tensor>>, numbers: [f64; 2]) -> Recorded {
        let recording = Recording::begin();
        let meta = Meta::new(Shape::from([5]), DType::F32);
        let [x, y] = [(); 2].map(|()| recording.parameter(meta.clone(), Device::Cpu, false));
        let [a, b] = numbers.map(Tensor::number);
        let outputs = body([&x, &y, &a, &b]).unwrap();
        recording.finish(&outputs).unwrap()
    }

    fn fused(body: fn([&Tensor; 4]) -> Result<Vec<Tensor>>, changed: Vec<usize>) -> Option<Fused> {
        let [some, others] = [[0.1171875, 0.19], [-5.3125, -7.125]];
        let (one, other) = (recorded(body, some), recorded(body, others));
        Fused::of((&one, &some), (&other, &others), changed)
    }

    /// The tape is off, as in an update.
    fn run(fused: &Fused, tensors: &mut [Tensor], numbers: &[f64]) -> Result<bool> {
        let taped = tape::set_enabled(false);
        let done = fused.run(tensors, numbers);
        tape::set_enabled(taped);
        done
    }

    #[test]
    fn tensors_are_changed_by_other_numbers_in_each_run() {
        let update = |[x, y, a, b]: [&Tensor; 4]| {
            let mean = add(&mul(x, a)?, &mul(y, b)?)?;
            Ok(vec![mean.clone(), sub(y, &sqrt(&mean)?)?])
        };
        let fused = fused(update, vec![0, 1]).unwrap();
        for (a, b) in [(0.9, 0.3), (2.0, 0.1)] {
            let (x, y) = (tensor(&[1.0, 2.0, 3.0, 4.0, 5.5]), tensor(&[0.5, 7.0, 1.25, 3.0, 0.0]));
            let expected = update([&x, &y, &Tensor::number(a), &Tensor::number(b)]).unwrap();
            let mut tensors = [x, y];
            assert_eq!(run(&fused, &mut tensors, &[a, b]), Ok(true));
            for (it, expected) in tensors.iter().zip(&expected) {
                assert_eq!(it.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
            }
        }
    }

    #[test]
    fn what_others_see_is_left_alone() {
        let fused = fused(|[x, y, a, _]| Ok(vec![add(x, &mul(y, a)?)?]), vec![0]).unwrap();
        let x = tensor(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut tensors = [x.clone(), x];
        assert_eq!(run(&fused, &mut tensors, &[2.0, 0.0]), Ok(false));
        assert_eq!(tensors[0].to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_no_such_program_is_refused() {
        let sums = |[x, y, _, _]: [&Tensor; 4]| Ok(vec![add(x, &sum(y, &[], false)?)?]);
        assert!(fused(sums, vec![0]).is_none(), "a sum is not elementwise");
        let looks = |[x, y, a, _]: [&Tensor; 4]| {
            let is_positive = a.to_f64_vec()?[0] > 0.0;
            Ok(vec![if is_positive { add(x, y)? } else { sub(x, y)? }])
        };
        assert!(fused(looks, vec![0]).is_none(), "it looks at a number");
        let computes = |[x, _, a, _]: [&Tensor; 4]| {
            let other = 1.0 - a.to_f64_vec()?[0];
            Ok(vec![mul(x, &Tensor::number(other))?])
        };
        assert!(fused(computes, vec![0]).is_none(), "it computes with a number");
    }
}
