//! `out=`: the variables that take the results of a call.

use std::rc::Rc;

use engine::{OpDef, Outputs, Tensor, autograd};
use smallvec::{SmallVec, smallvec};

use crate::native::*;
use crate::objects::tensor::TensorObj;
use crate::tensor::{arith, convert};

/// What `out=` names: a variable, or one for each result.
pub(super) struct Out {
    given: Value,
    targets: SmallVec<[Value; 1]>,
}

impl Out {
    pub(super) fn of(cx: &mut Cx, value: &Value) -> Result<Self, Raised> {
        let targets = match value.as_tensor() {
            Some(_) => smallvec![value.clone()],
            None => cx.collect(value)?.into(),
        };
        for it in &targets {
            convert::variable(it)?;
        }
        Ok(Self { given: value.clone(), targets })
    }

    /// The variable, if it is one for one result.
    pub(super) fn only(&self) -> Option<Rc<TensorObj>> {
        match &self.targets[..] {
            [only] => only.as_tensor().cloned(),
            _ => None,
        }
    }

    /// What `out=` has named.
    pub(super) fn given(&self) -> Value {
        self.given.clone()
    }

    /// An error where gradients would have to go through what is written.
    pub(super) fn check(&self, op: &OpDef, operands: &[Option<Tensor>]) -> Result<(), Raised> {
        let is_taped = |it: &Tensor| it.requires_grad();
        if autograd::enabled() && operands.iter().flatten().any(is_taped) {
            return Err(runtime_error(format!(
                "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.\n\
                 Write `y = {0}(...)`, or compute it under torch.no_grad()",
                op.name
            )));
        }
        Ok(())
    }

    /// Stores the results. A variable of no elements takes the shape of its result.
    pub(super) fn take(&self, op: &OpDef, results: Outputs) -> Res {
        let (wanted, given) = (results.len(), self.targets.len());
        if wanted != given {
            return Err(type_error(format!(
                "{}() has {wanted} results, and out= names {given} tensors",
                op.name
            )));
        }
        for (target, result) in self.targets.iter().zip(results) {
            let object = convert::variable(target)?;
            let dtype = object.seen().dtype();
            if object.seen().numel() == 0 && result.numel() > 0 {
                let fitting = convert::cast(&result, Some(dtype))?;
                arith::reshape(target, &Value::tensor(fitting))?;
            } else {
                arith::assign(target, result)?;
            }
        }
        Ok(self.given())
    }
}
