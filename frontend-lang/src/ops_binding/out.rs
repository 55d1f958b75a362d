//! Where the results of a call go: where the first operand is, or into what `out=` names.

use std::rc::Rc;

use engine::op::ParamKind;
use engine::{Attr, Device, Outputs, Tensor, autograd};
use smallvec::{SmallVec, smallvec};

use super::Binding;
use crate::builtins::modules::generator;
use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::tensor::made::Made;
use crate::tensor::{arith, convert};

/// What functions in the language say where their results go with.
pub(crate) static STORING: &[NativeFn] = &[function(
    "_into",
    "name, out, results, *operands",
    "Stores what a function gives where `out=` says, which it gives then. Its operands may have no gradients.",
    into,
)];

fn into(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = args[0].as_str().unwrap_or_default().to_owned();
    let out = Out::of(cx, &name, &args[1])?;
    let tensor = |it: &Value| it.as_tensor().map(|it| it.get());
    out.check(&args.rest(3).iter().map(tensor).collect::<Vec<_>>())?;
    let results = match &args[2] {
        it @ Value::Tensor(_) => vec![it.clone()],
        several => cx.collect(several)?,
    };
    let values = results.iter().map(|it| convert::variable(it).map(|it| it.get()));
    let values = values.collect::<Result<Outputs, _>>()?;
    drop(results);
    out.take(values)
}

/// What `out=` names: a variable, or one for each result.
pub(super) struct Out {
    /// The function that was called.
    name: Sym,
    given: Value,
    targets: SmallVec<[Value; 1]>,
}

impl Out {
    pub(super) fn of(cx: &mut Cx, name: &str, value: &Value) -> Result<Self, Raised> {
        let wrong = |it: &Value| {
            type_error(format!(
                "{name}(): out= must be a tensor, or a tuple of one for each result, not {}",
                type_name(it)
            ))
        };
        let targets: SmallVec<[Value; 1]> = match value {
            Value::Tensor(_) => smallvec![value.clone()],
            Value::Tuple(_) | Value::List(_) => cx.collect(value)?.into(),
            _ => return Err(wrong(value)),
        };
        if let Some(it) = targets.iter().find(|it| it.as_tensor().is_none()) {
            return Err(wrong(it));
        }
        Ok(Self { name: Sym::new(name), given: value.clone(), targets })
    }

    /// The variable, if it is one for one result, and what `out=` has named.
    pub(super) fn only(&self) -> Option<(Rc<TensorObj>, Value)> {
        match &self.targets[..] {
            [only] => Some((only.as_tensor()?.clone(), self.given.clone())),
            _ => None,
        }
    }

    /// An error where gradients would have to go through what is written.
    pub(super) fn check(&self, operands: &[Option<Tensor>]) -> Result<(), Raised> {
        let targets = self.targets.iter().filter_map(Value::as_tensor);
        let is_taped = operands.iter().flatten().any(Tensor::requires_grad)
            || targets.into_iter().any(|it| it.seen().requires_grad());
        if autograd::enabled() && is_taped {
            return Err(runtime_error(format!(
                "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.\n\
                 Assign the result in place of out=, or compute it under torch.no_grad()",
                self.name
            )));
        }
        Ok(())
    }

    /// Stores the results. A variable of no elements takes the shape of its result.
    pub(super) fn take(&self, results: Outputs) -> Res {
        let (wanted, given) = (results.len(), self.targets.len());
        if wanted != given {
            return Err(type_error(format!(
                "{}() has {wanted} results, and out= names {given} tensors",
                self.name
            )));
        }
        for (target, result) in self.targets.iter().zip(results) {
            let object = convert::variable(target)?;
            let (dtype, shape) = (object.seen().dtype(), object.seen().shape().clone());
            if shape.numel() != 0 && shape != *result.shape() {
                return Err(shape_error(format!(
                    "{}(): the result has shape {}, and out= names a tensor of shape {shape}; give one of the result's shape, or torch.empty(0)",
                    self.name,
                    result.shape()
                )));
            }
            if shape.numel() == 0 && result.numel() > 0 {
                let fitting = convert::cast(&result, Some(dtype))?;
                arith::reshape(target, &Value::tensor(fitting))?;
            } else {
                arith::assign(target, result)?;
            }
        }
        Ok(self.given.clone())
    }
}

impl Binding {
    /// Has an op that may be asked for a dtype, to make a tensor of nothing or to add up in it, give that of `out`, if the call names none.
    pub(super) fn made_as(&mut self, out: &TensorObj) {
        let place = self.op.params.iter().position(|it| it.kind == ParamKind::OptDType);
        if let Some(place) = place
            && self.given & (1 << place) == 0
        {
            self.put_attr(place, Attr::DType(out.seen().dtype()));
        }
    }

    /// Whether the op was done where the elements of `this`, its first operand, are.
    pub(super) fn replaces(&mut self, this: &Rc<TensorObj>) -> bool {
        // No handle on the old value stays: it would be seen to change.
        let Some(own) = self.tensors.first_mut().and_then(Option::take) else { return false };
        let is_first = own.lies_as(&this.seen());
        drop(own);
        let done = is_first
            && (self.is_replaced_by_itself(this)
                || self.is_replaced(this)
                || self.takes_apart(this) && self.is_replaced(this));
        if !done {
            self.tensors[0] = Some(this.get());
        }
        done
    }

    /// Whether the result was computed where the elements of `out` are: those of no operand, or those of the first one.
    pub(super) fn goes_into(&mut self, out: &Rc<TensorObj>, device: Device) -> bool {
        let elsewhere = self.tensors.is_empty() && device != out.seen().device();
        if elsewhere || self.made != Made::default() {
            return false;
        }
        let is_first = |it: &Tensor| it.lies_as(&out.seen());
        if self.tensors.first().is_some_and(|it| it.as_ref().is_some_and(is_first)) {
            return self.replaces(out);
        }
        let given: SmallVec<[Tensor; 3]> = self.tensors.iter().flatten().cloned().collect();
        // What is wrong with the operands is said where the op is applied as ever.
        let goes = || matches!(out.apply_into(self.op, &given, &self.attrs), Ok(true));
        matches!(generator::with(self.generator.as_ref(), goes), Ok(true))
    }

    fn is_replaced(&self, this: &Rc<TensorObj>) -> bool {
        let others: Option<SmallVec<[Tensor; 2]>> = self.tensors[1..].iter().cloned().collect();
        // What is wrong with the operands is said where the op is applied as ever.
        others.is_some_and(|it| matches!(this.apply_in_place(self.op, &it, &self.attrs), Ok(true)))
    }

    /// As [`Self::is_replaced`], where other operands are those elements, too.
    fn is_replaced_by_itself(&mut self, this: &Rc<TensorObj>) -> bool {
        let others = &mut self.tensors[1..];
        let is_own = |it: &Option<Tensor>| it.as_ref().is_some_and(|it| it.lies_as(&this.seen()));
        if others.iter().any(Option::is_none) || !others.iter().any(is_own) {
            return false;
        }
        // No handle on the elements stays.
        others.iter_mut().filter(|it| is_own(it)).for_each(|it| *it = None);
        if matches!(this.apply_to_itself(self.op, others, &self.attrs), Ok(true)) {
            return true;
        }
        others.iter_mut().filter(|it| it.is_none()).for_each(|it| *it = Some(this.get()));
        false
    }

    /// Has operands that lie in the buffer of `this` lie elsewhere; whether there were any.
    fn takes_apart(&mut self, this: &TensorObj) -> bool {
        let mut found = false;
        for other in self.tensors[1..].iter_mut().flatten() {
            if let Ok(Some(copy)) = this.apart(other) {
                (*other, found) = (copy, true);
            }
        }
        found
    }
}
