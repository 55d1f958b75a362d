//! Containers of tensors that are another one in each call, such as a batch: the tensors are arguments, and the container is known by its form.

use crate::native::type_name;
use crate::value::Value;

/// Most tensors of one container that are arguments.
const MOST: usize = 32;

/// A tuple, list or dict of tensors.
#[derive(Clone)]
pub(super) struct Pack {
    pub(super) container: Value,
    pub(super) tensors: Vec<Value>,
}

impl Pack {
    /// What a value is, if it is one of tensors that can be arguments.
    pub(super) fn of(value: &Value, is_argument: impl Fn(&Value) -> bool) -> Option<Pack> {
        let tensors = tensors(value)?;
        let is_one = |it: &Value| it.as_tensor().is_some() && is_argument(it);
        let fits = (1..=MOST).contains(&tensors.len()) && tensors.iter().all(is_one);
        fits.then(|| Pack { container: value.clone(), tensors })
    }

    /// What has to be the same in another call: its kind, its size or its keys.
    pub(super) fn form(&self) -> Value {
        let keys = match &self.container {
            Value::Dict(it) => it.items().into_iter().map(|it| it.0).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let n = Value::Int(self.tensors.len() as i64);
        Value::tuple([Value::str(type_name(&self.container)), n, Value::tuple(keys)])
    }

    /// Where each tensor stands, as programs write it.
    pub(super) fn places(&self) -> Vec<String> {
        match &self.container {
            Value::Dict(it) => {
                let key = |key: &Value| match key.as_str() {
                    Some(text) => format!("['{text}']"),
                    None => "[...]".to_owned(),
                };
                it.items().iter().map(|it| key(&it.0)).collect()
            }
            _ => (0..self.tensors.len()).map(|at| format!("[{at}]")).collect(),
        }
    }

    /// Whether it still holds the same.
    pub(super) fn is_left(&self) -> bool {
        let now = tensors(&self.container).unwrap_or_default();
        now.len() == self.tensors.len() && now.iter().zip(&self.tensors).all(|(a, b)| a.is(b))
    }
}

fn tensors(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Tuple(it) => Some(it.to_vec()),
        Value::List(it) => Some(it.items.borrow().clone()),
        Value::Dict(it) => Some(it.items().into_iter().map(|it| it.1).collect()),
        _ => None,
    }
}
