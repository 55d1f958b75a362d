//! Recurrent networks: cells that go over a sequence step by step.

use super::super::args::Cx;
use super::super::build::Attribute;
use super::super::calls::{call, full, of_ints, reshape};
use super::super::value::Value;
use super::elementwise::{hard_sigmoid, softplus};
use super::slice::parts;
use super::{Operator, many, values};
use crate::functional::{
    add, cat, lt, matmul, maximum, minimum, mul, num, select, select_where, slice, sub, tanh,
    transpose, unsqueeze,
};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    many("GRU", |cx| recurrent(cx, &GRU)),
    many("LSTM", |cx| recurrent(cx, &LSTM)),
    many("RNN", |cx| recurrent(cx, &RNN)),
];

/// A cell: how many gates it has, the functions it is made with by default, and its step.
struct Cell {
    gates: usize,
    functions: &'static [&'static str],
    step: fn(&Cx<'_>, &Layer, &Tensor, &State) -> Result<State>,
    keeps_memory: bool,
}

static RNN: Cell = Cell { gates: 1, functions: &["Tanh"], step: rnn, keeps_memory: false };
static GRU: Cell =
    Cell { gates: 3, functions: &["Sigmoid", "Tanh"], step: gru, keeps_memory: false };
static LSTM: Cell =
    Cell { gates: 4, functions: &["Sigmoid", "Tanh", "Tanh"], step: lstm, keeps_memory: true };

/// A function of a cell with its numbers.
struct Function {
    name: String,
    alpha: Option<f64>,
    beta: Option<f64>,
}

/// A direction of a network.
struct Layer {
    weight: Tensor,
    recurrence: Tensor,
    /// Of the inputs, of the state.
    bias: Option<[Tensor; 2]>,
    peephole: Option<Tensor>,
    functions: Vec<Function>,
    clip: Option<f64>,
}

/// What a cell hands to its next step: its output, and the memory of an LSTM.
#[derive(Clone)]
struct State {
    h: Tensor,
    c: Tensor,
}

impl Layer {
    fn of(cx: &Cx<'_>, cell: &Cell, at: usize) -> Result<Self> {
        let part = |idx: usize| select(cx.input(idx)?, 0, at as i64);
        let (weight, recurrence) = (part(1)?, part(2)?);
        let hidden = recurrence.shape().last().copied().unwrap_or(0);
        let wide = cell.gates * hidden;
        if weight.rank() != 2
            || weight.shape()[0] != wide
            || recurrence.shape()[..] != [wide, hidden]
        {
            return Err(cx.bad(format!(
                "its weights {} and {} are not for {} gates",
                cx.input(1)?.shape(),
                cx.input(2)?.shape(),
                cell.gates
            )));
        }
        let bias = match cx.opt_input(3) {
            Some(_) => {
                let both = parts(cx, &part(3)?, 0, &[wide as i64, wide as i64])?;
                Some([both[0].clone(), both[1].clone()])
            }
            None => None,
        };
        let peephole =
            cx.opt_input(7).filter(|_| cell.keeps_memory).map(|_| part(7)).transpose()?;
        let functions = functions(cx, cell, at)?;
        Ok(Self { weight, recurrence, bias, peephole, functions, clip: cx.opt_float("clip") })
    }

    /// `x @ W.T + h @ R.T`, with biases: of the rows `from..to` of gates of `hidden`.
    fn of_input(&self, x: &Tensor) -> Result<Tensor> {
        let y = matmul(x, &transpose(&self.weight, 0, 1)?)?;
        self.bias.as_ref().map_or_else(|| Ok(y.clone()), |it| add(&y, &it[0]))
    }

    fn of_state(&self, h: &Tensor) -> Result<Tensor> {
        let y = matmul(h, &transpose(&self.recurrence, 0, 1)?)?;
        self.bias.as_ref().map_or_else(|| Ok(y.clone()), |it| add(&y, &it[1]))
    }

    /// Function number `which`, of an input held within the limit.
    fn apply(&self, cx: &Cx<'_>, which: usize, x: &Tensor) -> Result<Tensor> {
        let x = match self.clip {
            Some(it) => {
                let limit = |it: f64| full(&[], it, x.dtype());
                minimum(&maximum(x, &limit(-it)?)?, &limit(it)?)?
            }
            None => x.clone(),
        };
        let function = self.functions.get(which).ok_or_else(|| cx.bad("it lacks a function"))?;
        function.of(cx, &x)
    }
}

impl Function {
    fn of(&self, cx: &Cx<'_>, x: &Tensor) -> Result<Tensor> {
        let alpha = |default: f64| self.alpha.unwrap_or(default);
        let beta = |default: f64| self.beta.unwrap_or(default);
        match self.name.to_lowercase().as_str() {
            "affine" => add(&mul(x, &num(alpha(1.0)))?, &num(beta(0.0))),
            "elu" => call("elu", &[x], &[Attr::Float(alpha(1.0))]),
            "hardsigmoid" => hard_sigmoid(x, alpha(0.2), beta(0.5)),
            "leakyrelu" => call("leaky_relu", &[x], &[Attr::Float(alpha(0.01))]),
            "relu" => call("relu", &[x], &[]),
            "scaledtanh" => mul(&tanh(&mul(x, &num(beta(1.0)))?)?, &num(alpha(1.0))),
            "sigmoid" => call("sigmoid", &[x], &[]),
            "softplus" => softplus(x),
            "softsign" => call("softsign", &[x], &[]),
            "tanh" => tanh(x),
            "thresholdedrelu" => {
                let limit = full(&[], alpha(1.0), x.dtype())?;
                select_where(&lt(&limit, x)?, x, &full(&[], 0.0, x.dtype())?)
            }
            _ => Err(cx.bad(format!("its function '{}' is not known", self.name))),
        }
    }
}

/// The functions of a direction. Numbers are given for those that take some, in order.
fn functions(cx: &Cx<'_>, cell: &Cell, at: usize) -> Result<Vec<Function>> {
    let names: Vec<String> = match cx.attribute("activations") {
        Some(Attribute::Texts(it)) => it.iter().map(ToString::to_string).collect(),
        _ => cell
            .functions
            .iter()
            .map(ToString::to_string)
            .cycle()
            .take(2 * cell.functions.len())
            .collect(),
    };
    let numbers = |name: &str| match cx.attribute(name) {
        Some(Attribute::Floats(it)) => it.iter().map(|&it| f64::from(it)).collect(),
        _ => Vec::new(),
    };
    let (mut alphas, mut betas) =
        (numbers("activation_alpha").into_iter(), numbers("activation_beta").into_iter());
    let all: Vec<Function> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let two = ["affine", "hardsigmoid", "scaledtanh"].contains(&lower.as_str());
            let one = two || ["elu", "leakyrelu", "thresholdedrelu"].contains(&lower.as_str());
            let alpha = if one { alphas.next() } else { None };
            let beta = if two { betas.next() } else { None };
            Function { name, alpha, beta }
        })
        .collect();
    let n = cell.functions.len();
    if all.len() < n * (at + 1) {
        return Err(cx.bad(format!("{} functions are given, too few", all.len())));
    }
    Ok(all.into_iter().skip(n * at).take(n).collect())
}

fn gate(x: &Tensor, at: usize, n: usize) -> Result<Tensor> {
    let hidden = (x.shape().last().copied().unwrap_or(0) / n) as i64;
    slice(x, -1, at as i64 * hidden, (at as i64 + 1) * hidden, 1)
}

/// `h' = f(x W + h R)`
fn rnn(cx: &Cx<'_>, layer: &Layer, x: &Tensor, state: &State) -> Result<State> {
    let h = layer.apply(cx, 0, &add(x, &layer.of_state(&state.h)?)?)?;
    Ok(State { h, c: state.c.clone() })
}

/// `h' = (1 - z) g(..) + z h`
fn gru(cx: &Cx<'_>, layer: &Layer, x: &Tensor, state: &State) -> Result<State> {
    let from_h = layer.of_state(&state.h)?;
    let gated = |at| layer.apply(cx, 0, &add(&gate(x, at, 3)?, &gate(&from_h, at, 3)?)?);
    let (z, r) = (gated(0)?, gated(1)?);
    let inner = if cx.flag("linear_before_reset") {
        mul(&r, &gate(&from_h, 2, 3)?)?
    } else {
        let hidden = state.h.shape().last().copied().unwrap_or(0) as i64;
        let own = slice(&layer.recurrence, 0, 2 * hidden, 3 * hidden, 1)?;
        let reset = matmul(&mul(&r, &state.h)?, &transpose(&own, 0, 1)?)?;
        match &layer.bias {
            Some([_, bias]) => add(&reset, &slice(bias, 0, 2 * hidden, 3 * hidden, 1)?)?,
            None => reset,
        }
    };
    let new = layer.apply(cx, 1, &add(&gate(x, 2, 3)?, &inner)?)?;
    let h = add(&new, &mul(&z, &sub(&state.h, &new)?)?)?;
    Ok(State { h, c: state.c.clone() })
}

/// `c' = f c + i g(..)`, `h' = o h(c')`
fn lstm(cx: &Cx<'_>, layer: &Layer, x: &Tensor, state: &State) -> Result<State> {
    let gates = add(x, &layer.of_state(&state.h)?)?;
    let seen = |at: usize, hole: usize, c: &Tensor| {
        let own = gate(&gates, at, 4)?;
        let own = match &layer.peephole {
            Some(it) => add(&own, &mul(&gate(it, hole, 3)?, c)?)?,
            None => own,
        };
        layer.apply(cx, 0, &own)
    };
    let input = seen(0, 0, &state.c)?;
    let forget = match cx.flag("input_forget") {
        true => sub(&full(&[], 1.0, input.dtype())?, &input)?,
        false => seen(2, 2, &state.c)?,
    };
    let new = layer.apply(cx, 1, &gate(&gates, 3, 4)?)?;
    let c = add(&mul(&forget, &state.c)?, &mul(&input, &new)?)?;
    let output = seen(1, 1, &c)?;
    // The limit holds for the gates, not for what has been remembered.
    let function = layer.functions.get(2).ok_or_else(|| cx.bad("it lacks a function"))?;
    Ok(State { h: mul(&output, &function.of(cx, &c)?)?, c })
}

/// A network over sequences `[steps, batch, size]`, in one direction or both.
fn recurrent(cx: &Cx<'_>, cell: &Cell) -> Result<Vec<Value>> {
    let batch_first = cx.flag("layout");
    let turned = |it: &Tensor| if batch_first { transpose(it, 0, 1) } else { Ok(it.clone()) };
    let of_rank = |idx: usize, rank| cx.opt_input(idx).is_none_or(|it| it.rank() == rank);
    if ![0, 1, 2, 5].iter().all(|&idx| of_rank(idx, 3)) || !of_rank(3, 2) {
        return Err(cx.bad("its input, weights and state should have three dimensions, biases two"));
    }
    if cell.keeps_memory && !(of_rank(6, 3) && of_rank(7, 2)) {
        return Err(cx.bad("its memory should have three dimensions, its peepholes two"));
    }
    let x = turned(cx.input(0)?)?;
    let directions: &[bool] = match cx.text("direction", "forward").to_lowercase().as_str() {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(cx.bad(format!("its direction '{other}' is not known"))),
    };
    if cx.input(1)?.shape()[0] != directions.len() {
        return Err(cx.bad(format!("its weights are not for {} directions", directions.len())));
    }
    let (batch, hidden) = (x.shape()[1], cx.input(2)?.shape()[2]);
    let start = |idx: usize, at: usize| match cx.opt_input(idx) {
        Some(it) => select(&turned(it)?, 0, at as i64),
        None => full(&[batch, hidden], 0.0, x.dtype()),
    };
    let lens = cx.ints_at(4)?;
    let (mut all, mut last_h, mut last_c) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &backward) in directions.iter().enumerate() {
        let layer = Layer::of(cx, cell, at)?;
        let state = State {
            h: start(5, at)?,
            c: if cell.keeps_memory { start(6, at)? } else { start(usize::MAX, at)? },
        };
        let (y, state) = over(cx, cell, &layer, &x, state, (lens.as_deref(), backward))?;
        all.push(unsqueeze(&y, 1)?);
        last_h.push(unsqueeze(&state.h, 0)?);
        last_c.push(unsqueeze(&state.c, 0)?);
    }
    let y = cat(&all, 1)?;
    let y = if batch_first { crate::functional::permute(&y, &[2, 0, 1, 3])? } else { y };
    let mut outputs = vec![y, turned(&cat(&last_h, 0)?)?];
    if cell.keeps_memory {
        outputs.push(turned(&cat(&last_c, 0)?)?);
    }
    Ok(values(outputs))
}

/// All outputs of a direction, and its last state. Past the end of a sequence outputs are 0 and the state stays.
fn over(
    cx: &Cx<'_>,
    cell: &Cell,
    layer: &Layer,
    x: &Tensor,
    mut state: State,
    (lens, backward): (Option<&[i64]>, bool),
) -> Result<(Tensor, State)> {
    let (steps, batch) = (x.shape()[0], x.shape()[1]);
    if lens.is_some_and(|it| it.len() != batch) {
        return Err(cx.bad(format!("its sequence_lens should be {batch} lengths")));
    }
    let from_x = layer.of_input(x)?;
    let zero = full(&[], 0.0, x.dtype())?;
    let mut outputs = Vec::with_capacity(steps);
    for step in 0..steps {
        let at = if backward { steps - 1 - step } else { step } as i64;
        let next = (cell.step)(cx, layer, &select(&from_x, 0, at)?, &state)?;
        match lens {
            Some(lens) if lens.iter().any(|it| *it <= at) => {
                let inside: Vec<i64> = lens.iter().map(|it| i64::from(at < *it)).collect();
                let inside = reshape(&of_ints(&inside)?, &[batch, 1])?;
                let inside = crate::functional::to(&inside, DType::Bool)?;
                outputs.push(unsqueeze(&select_where(&inside, &next.h, &zero)?, 0)?);
                state = State {
                    h: select_where(&inside, &next.h, &state.h)?,
                    c: select_where(&inside, &next.c, &state.c)?,
                };
            }
            _ => {
                outputs.push(unsqueeze(&next.h, 0)?);
                state = next;
            }
        }
    }
    if backward {
        outputs.reverse();
    }
    match outputs.is_empty() {
        true => Ok((full(&[0, batch, state.h.shape()[1]], 0.0, x.dtype())?, state)),
        false => Ok((cat(&outputs, 0)?, state)),
    }
}
