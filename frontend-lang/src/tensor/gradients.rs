//! Walks back over the tape that programs ask for: `backward()`, `torch.autograd.grad`, and what stands below `autograd.Function` and `torch.func`.

use std::rc::Rc;

use engine::autograd::{self, Root};
use engine::{Attrs, Tensor, functional};

use super::methods::lying_as;
use super::{convert, hooks, steps};
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// Functions of `torch.autograd`.
pub static FUNCTIONS: &[NativeFn] = &[
    function(
        "grad",
        "outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, \
         is_grads_batched=False, materialize_grads=False",
        "Gradients of the sum of `outputs` with respect to each of `inputs`, as a tuple. With `is_grads_batched` each of `grad_outputs` has a \
         first dimension of several, and so have the gradients.",
        grad,
    ),
    function(
        "backward",
        "tensors, grad_tensors=None, retain_graph=None, create_graph=False, *, inputs=None",
        "Adds gradients to `.grad` of the leaves, or of `inputs` alone.",
        backward,
    ),
    function(
        "attach",
        "inputs, outputs, backward, name='Function', fills=True, shown=(), once=False",
        "The outputs as those of a step of the tape: `backward` takes a tuple of their gradients and gives those of the inputs. Gradients that did not come are zeros, or None without `fills`. \
         The outputs at the places `shown`, on the tape, are a second argument. A step with `once` is freed by a walk that retains nothing.",
        attach,
    ),
    function(
        "become",
        "tensor, other",
        "Gives a variable the value of another, also of another shape, with its place on the tape.",
        become_other,
    ),
    function(
        "keep",
        "tensor, /",
        "A variable of its own with the value that a tensor has now, at the same place on the tape.",
        keep,
    ),
    function(
        "as_kept",
        "tensor, kept, /",
        "The tensor, if it has the value that was kept of it, else what was kept.",
        as_kept,
    ),
    function(
        "add_hook",
        "tensor, hook",
        "Shows gradients to `hook(grad)`; what it gives that is not None goes on in their place. Gives the dict that it lies in, and its key.",
        add_hook,
    ),
    function(
        "end",
        "tensor, /",
        "Says that the function is done whose derivatives a leaf was made for: nobody asks for its gradient any more.",
        end,
    ),
    function(
        "is_followed",
        "tensor, /, steps=False",
        "Whether a tensor depends on a leaf whose gradient somebody may still ask for; if `steps` count, also on those that `attach` makes, \
         which find more than they are given.",
        is_followed,
    ),
];

/// The method of tensors.
pub const BACKWARD: NativeFn = function(
    "backward",
    "self, gradient=None, retain_graph=None, create_graph=False, inputs=None",
    "Adds d(self)/dt to `t.grad` of every leaf t that it was computed from, or of `inputs` alone.",
    |cx, args| {
        let this = convert::variable(&args[0])?.get();
        let seed = args.opt(1).map(convert::variable).transpose()?.map(|it| it.get());
        let how = flags(cx, &args, 2)?;
        run_backward(cx, &[(this, seed)], args.opt(4), how)
    },
);

/// Whether what was saved is kept, and whether the gradients are on the tape.
#[derive(Clone, Copy)]
struct Flags {
    retain: bool,
    create: bool,
}

fn flags(cx: &mut Cx, args: &Args<'_>, at: usize) -> Result<Flags, Raised> {
    let create = cx.truth(&args[at + 1])?;
    let retain = args.opt(at).map(|it| cx.truth(it)).transpose()?;
    Ok(Flags { retain: retain.unwrap_or(create), create })
}

/// The tensors of an argument that is one tensor or a list of them.
fn tensors(cx: &mut Cx, value: &Value) -> Result<Vec<Rc<TensorObj>>, Raised> {
    match value {
        Value::Tensor(it) => Ok(vec![it.clone()]),
        other => cx.collect(other)?.iter().map(|it| convert::variable(it).cloned()).collect(),
    }
}

/// Outputs with the gradients that are given for them.
fn roots(cx: &mut Cx, outputs: &Value, seeds: Option<&Value>) -> Result<Vec<Root>, Raised> {
    let outputs = tensors(cx, outputs)?;
    let seeds = match seeds {
        None => vec![Value::None; outputs.len()],
        Some(it @ Value::Tensor(_)) => vec![it.clone()],
        Some(it) => cx.collect(it)?,
    };
    if seeds.len() != outputs.len() {
        let (n, given) = (outputs.len(), seeds.len());
        return Err(runtime_error(format!("got {n} tensors and {given} gradients")));
    }
    let seed = |it: &Value| match it {
        Value::None => Ok(None),
        other => convert::variable(other).map(|it| Some(it.get())),
    };
    let pair = |(output, it): (&Rc<TensorObj>, &Value)| Ok((output.get(), seed(it)?));
    outputs.iter().zip(&seeds).map(pair).collect()
}

fn grad(cx: &mut Cx, args: Args<'_>) -> Res {
    let roots = roots(cx, &args[0], args.opt(2))?;
    let inputs = tensors(cx, &args[1])?;
    if inputs.is_empty() {
        return Err(runtime_error(
            "the `inputs` of grad() cannot be empty: name the tensors whose gradients are wanted",
        ));
    }
    let how = flags(cx, &args, 3)?;
    let may_lack = args.opt(6).map(|it| cx.truth(it)).transpose()?;
    let (is_batched, fills) = (cx.truth(&args[7])?, cx.truth(&args[8])?);
    if fills && may_lack == Some(false) {
        return Err(value_error(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.",
        ));
    }
    let grads = match is_batched {
        true => batched(cx, &roots, &inputs, how)?,
        false => found_at(cx, &roots, &inputs, how)?,
    };
    let mut value = |(grad, input): (Option<Tensor>, &Rc<TensorObj>)| match grad {
        Some(it) => Ok(Value::tensor(it)),
        None if cx.follows_no_history() => Err(cx.uncertain()),
        None if fills => Ok(Value::tensor(zeros_like(&input.get())?)),
        None if may_lack == Some(true) => Ok(Value::None),
        None => Err(runtime_error(
            "one of the inputs does not take part in the outputs; pass allow_unused=True to get None for it",
        )),
    };
    let values = grads.into_iter().zip(&inputs).map(&mut value);
    Ok(Value::tuple(values.collect::<Result<Vec<_>, _>>()?))
}

pub(super) fn zeros_like(input: &Tensor) -> Result<Tensor, Raised> {
    let zeros = || functional::full(input.shape(), 0.0, input.dtype());
    Ok(engine::apply::place::making_on(input.device(), zeros)?)
}

/// One walk for each place in the first dimension of the gradients that roots are given; the gradients found, stacked.
fn batched(
    cx: &mut Cx,
    roots: &[Root],
    inputs: &[Rc<TensorObj>],
    how: Flags,
) -> Result<Vec<Option<Tensor>>, Raised> {
    let mut count = None;
    for (root, seed) in roots {
        let Some(seed) = seed else {
            return Err(runtime_error(
                "with is_grads_batched=True every output needs one of `grad_outputs`, which has a first dimension for the batch",
            ));
        };
        let given: &[usize] = seed.shape();
        let fits = given
            .split_first()
            .is_some_and(|it| *count.get_or_insert(*it.0) == *it.0 && *it.1 == **root.shape());
        if !fits {
            return Err(runtime_error(format!(
                "with is_grads_batched=True a gradient has a first dimension for the batch, of one size for all, and further ones like its \
                 output: got {} for an output of shape {}",
                seed.shape(),
                root.shape()
            )));
        }
    }
    let mut rows: Vec<Vec<Tensor>> = vec![Vec::new(); inputs.len()];
    let count = count.unwrap_or(0);
    for at in 0..count {
        let part = |(root, seed): &Root| {
            let seed = seed.as_ref().map(|it| functional::select(it, 0, at as i64)).transpose();
            seed.map(|it| (root.clone(), it))
        };
        let roots = roots.iter().map(part).collect::<engine::Result<Vec<_>>>()?;
        let how = Flags { retain: how.retain || at + 1 < count, ..how };
        for (row, grad) in rows.iter_mut().zip(found_at(cx, &roots, inputs, how)?) {
            if let Some(grad) = grad {
                row.push(functional::unsqueeze(&grad, 0)?);
            }
        }
    }
    let whole = |row: Vec<Tensor>| match row.is_empty() {
        true => Ok(None),
        false => functional::cat(&row, 0).map(Some),
    };
    Ok(rows.into_iter().map(whole).collect::<engine::Result<_>>()?)
}

/// The gradient that comes to each variable, as hooks of leaves make it; None where none comes.
fn found_at(
    cx: &mut Cx,
    roots: &[Root],
    objects: &[Rc<TensorObj>],
    how: Flags,
) -> Result<Vec<Option<Tensor>>, Raised> {
    let inputs: Vec<Tensor> = objects.iter().map(|it| it.get()).collect();
    let edges = autograd::places_of(&inputs)?;
    let found = steps::backward(cx, roots, Some(&edges), how.retain, how.create)?;
    let mut grads: Vec<_> = edges.iter().map(|it| autograd::gradient_at(&found, it)).collect();
    for at in 0..grads.len() {
        if !objects[at].hooks().is_empty()
            && let Some(grad) = grads[at].take()
        {
            let before = (0..at).find(|&it| Rc::ptr_eq(&objects[it], &objects[at]));
            grads[at] = match before {
                Some(before) => grads[before].clone(),
                None => Some(hooked(cx, &objects[at], grad, how.create)?),
            };
        }
    }
    Ok(grads)
}

/// A gradient of a leaf as its hooks make it.
fn hooked(cx: &mut Cx, object: &TensorObj, grad: Tensor, create: bool) -> Result<Tensor, Raised> {
    let before = autograd::set_enabled(create);
    let shown = hooks::shown(cx, &object.hooks(), grad);
    autograd::set_enabled(before);
    shown
}

fn backward(cx: &mut Cx, args: Args<'_>) -> Res {
    let roots = roots(cx, &args[0], args.opt(1))?;
    let how = flags(cx, &args, 2)?;
    run_backward(cx, &roots, args.opt(4), how)
}

/// Walks back from `roots` and adds the gradients to the `.grad` of the leaves' variables, or of the inputs named.
fn run_backward(cx: &mut Cx, roots: &[Root], inputs: Option<&Value>, how: Flags) -> Res {
    cx.lint_walk(roots.iter().map(|it| &it.0), how.retain);
    if let Some(inputs) = inputs {
        return backward_to(cx, roots, inputs, how);
    }
    for ((leaf, _), grad) in steps::backward(cx, roots, None, how.retain, how.create)? {
        cx.check_leaf(leaf)?;
        collect(cx, leaf, grad, how.create)?;
    }
    cx.see_departure();
    Ok(Value::None)
}

fn backward_to(cx: &mut Cx, roots: &[Root], inputs: &Value, how: Flags) -> Res {
    let mut objects: Vec<Rc<TensorObj>> = Vec::new();
    for object in tensors(cx, inputs)? {
        if !objects.iter().any(|it| Rc::ptr_eq(it, &object)) {
            objects.push(object);
        }
    }
    if objects.is_empty() {
        return Err(runtime_error(
            "`inputs` argument to `backward()` cannot be empty; leave it out for the gradients of all leaves",
        ));
    }
    // Those that were computed keep what hooks make of their gradients from now on, as in PyTorch.
    objects.iter().for_each(hooks::retain_grad);
    let grads = found_at(cx, roots, &objects, how)?;
    for (object, grad) in objects.iter().zip(grads) {
        let Some(grad) = grad else {
            if cx.follows_no_history() {
                return Err(cx.uncertain());
            }
            continue;
        };
        if let Some(leaf) = object.get().edge().filter(|it| it.is_leaf()) {
            add_to_leaf(cx, leaf.id(), object, grad)?;
        }
    }
    cx.see_departure();
    Ok(Value::None)
}

/// Adds a gradient to the leaf's variable.
fn collect(cx: &mut Cx, leaf: u64, grad: Tensor, create: bool) -> Result<(), Raised> {
    let Some(object) = TensorObj::of_leaf(leaf) else { return Ok(()) };
    let grad = hooked(cx, &object, grad, create)?;
    add_to_leaf(cx, leaf, &object, grad)
}

fn add_to_leaf(cx: &mut Cx, leaf: u64, object: &TensorObj, grad: Tensor) -> Result<(), Raised> {
    if cx.mode == crate::cx::Mode::Shadow {
        cx.lint_grad(leaf, object);
    }
    add_to(object, grad)?;
    if cx.mode == crate::cx::Mode::Shadow {
        cx.lint_summed(leaf, object);
    }
    Ok(())
}

/// Adds to the gradient of a variable. The first lies as the variable does, as in PyTorch: in traced code, too, which gives no other.
pub(super) fn add_to(object: &TensorObj, grad: Tensor) -> Result<(), Raised> {
    let Some(sum) = object.grad() else {
        let grad = match grad.requires_grad() {
            true => grad,
            false => {
                let layout = object.seen().layout().clone();
                lying_as(grad, &layout)?
            }
        };
        object.set_grad(Some(Rc::new(TensorObj::new(grad))));
        return Ok(());
    };
    if grad.requires_grad() {
        // A gradient that has a history does not change.
        let total = functional::add(&sum.get(), &grad)?;
        object.set_grad(Some(Rc::new(TensorObj::new(total))));
        return Ok(());
    }
    let (plus, given) = (&engine::ops::binary::add::OP, std::slice::from_ref(&grad));
    if !sum.apply_in_place(plus, given, &Attrs::new())? {
        sum.set(functional::add(&sum.get(), &grad)?)?;
    }
    Ok(())
}

/// Gives the outputs as the outputs of a step of the tape, whose gradients `backward` computes.
fn attach(cx: &mut Cx, args: Args<'_>) -> Res {
    let inputs: Vec<_> = tensors(cx, &args[0])?.iter().map(|it| it.get()).collect();
    let outputs: Vec<_> = tensors(cx, &args[1])?.iter().map(|it| it.get()).collect();
    let shown = cx.collect(&args[5])?;
    let shown = shown.iter().filter_map(Value::as_int).map(|it| it as usize);
    let made = steps::Made {
        backward: args[2].clone(),
        name: args.str(3)?,
        fills: cx.truth(&args[4])?,
        shown: shown.filter(|it| *it < outputs.len()).collect(),
        once: cx.truth(&args[6])?,
    };
    let attached = steps::attach(&inputs, &outputs, made);
    Ok(Value::tuple(attached.into_iter().map(Value::tensor).collect::<Vec<_>>()))
}

fn keep(_cx: &mut Cx, args: Args<'_>) -> Res {
    let object = convert::variable(&args[0])?;
    Ok(Value::Tensor(Rc::new(TensorObj::with_look(object.get(), object.look()))))
}

fn as_kept(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (now, kept) = (convert::variable(&args[0])?.get(), convert::variable(&args[1])?.get());
    Ok(args[usize::from(!now.same(&kept))].clone())
}

fn become_other(_cx: &mut Cx, args: Args<'_>) -> Res {
    super::arith::reshape(&args[0], &args[1])?;
    Ok(args[0].clone())
}

fn add_hook(cx: &mut Cx, args: Args<'_>) -> Res {
    let (table, key) = hooks::add(cx, convert::variable(&args[0])?, args[1].clone())?;
    Ok(Value::tuple(vec![table, key]))
}

fn is_followed(cx: &mut Cx, args: Args<'_>) -> Res {
    let value = convert::variable(&args[0])?.get();
    let counts = cx.truth(&args[1])? && steps::reached([&value]);
    Ok(Value::Bool(counts || steps::is_followed(&value)))
}

fn end(_cx: &mut Cx, args: Args<'_>) -> Res {
    if let Some(edge) = convert::variable(&args[0])?.get().edge().filter(|it| it.is_leaf()) {
        edge.end();
    }
    Ok(Value::None)
}
