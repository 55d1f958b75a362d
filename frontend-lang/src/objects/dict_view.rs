//! `dict_keys`, `dict_values`, `dict_items`: live views of a dict.

use std::any::Any;
use std::rc::Rc;

use crate::native::*;
use crate::objects::iterator::{DictPart, Iter, IterState};

/// A view of one part of a dict; it follows the dict's changes.
pub struct DictView {
    pub dict: Rc<Dict>,
    pub part: DictPart,
}

pub(crate) static KEYS: NativeType = NativeType {
    methods: &[SET_METHODS, METHODS],
    ..NativeType::plain("dict_keys", "The keys of a dict.")
};
pub(crate) static VALUES: NativeType =
    NativeType { methods: &[METHODS], ..NativeType::plain("dict_values", "The values of a dict.") };
pub(crate) static ITEMS: NativeType = NativeType {
    methods: &[SET_METHODS, METHODS],
    ..NativeType::plain("dict_items", "The keys and values of a dict.")
};

static METHODS: &[NativeFn] =
    &[function("__reversed__", "self, /", "Items from the last to the first.", reversed)];

static SET_METHODS: &[NativeFn] =
    &[function("isdisjoint", "self, other, /", "Whether no item is common.", isdisjoint)];

fn reversed(_cx: &mut Cx, args: Args<'_>) -> Res {
    let view: &DictView = args.object(0)?;
    let state = IterState::DictBack { dict: view.dict.clone(), at: usize::MAX, yields: view.part };
    Ok(Value::iter(Iter::new(state)))
}

fn isdisjoint(cx: &mut Cx, args: Args<'_>) -> Res {
    for item in cx.collect(&args[1])? {
        if cx.contains(&args[0], &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

impl DictView {
    fn items(&self) -> Vec<Value> {
        match self.part {
            DictPart::Keys => self.dict.keys(),
            DictPart::Values => self.dict.values(),
            DictPart::Items => {
                self.dict.items().into_iter().map(|(k, v)| Value::tuple([k, v])).collect()
            }
        }
    }

    fn to_set(&self, cx: &mut Cx) -> Res {
        Ok(Value::Set(Rc::new(Set::from_items(cx, self.items(), false)?)))
    }
}

/// The other operand as a set: sets and views as they are, for operators other iterables too.
fn as_set(cx: &mut Cx, value: &Value, any: bool) -> Result<Option<Value>, Raised> {
    if let Some(set) = value.as_set() {
        return Ok(Some(Value::Set(set.clone())));
    }
    match value.downcast::<DictView>() {
        Some(view) if view.part != DictPart::Values => view.to_set(cx).map(Some),
        None if any => {
            let items = cx.collect(value)?;
            Ok(Some(Value::Set(Rc::new(Set::from_items(cx, items, false)?))))
        }
        _ => Ok(None),
    }
}

impl NativeObject for DictView {
    fn native_type(&self) -> &'static NativeType {
        match self.part {
            DictPart::Keys => &KEYS,
            DictPart::Values => &VALUES,
            DictPart::Items => &ITEMS,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(Some(self.dict.len()))
    }

    fn iter(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let (dict, len) = (self.dict.clone(), self.dict.len());
        Ok(Some(Value::iter(Iter::new(IterState::Dict { dict, at: 0, len, yields: self.part }))))
    }

    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        match self.part {
            DictPart::Keys => Ok(Some(self.dict.get(cx, item)?.is_some())),
            DictPart::Values => {
                for value in self.dict.values() {
                    if value.is(item) || cx.eq(&value, item)? {
                        return Ok(Some(true));
                    }
                }
                Ok(Some(false))
            }
            DictPart::Items => {
                let Some([key, wanted]) = item.as_tuple().map(|it| &it[..]) else {
                    return Ok(Some(false));
                };
                match self.dict.get(cx, key)? {
                    Some(value) => Ok(Some(value.is(wanted) || cx.eq(&value, wanted)?)),
                    None => Ok(Some(false)),
                }
            }
        }
    }

    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        let is_set_op = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Sub | BinaryOp::Xor);
        if self.part == DictPart::Values || !is_set_op {
            return Ok(None);
        }
        let Some(other) = as_set(cx, other, true)? else { return Ok(None) };
        let own = self.to_set(cx)?;
        let (a, b) = if reflected { (other, own) } else { (own, other) };
        cx.binary(op, &a, &b).map(Some)
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        if self.part == DictPart::Values {
            return Ok(None);
        }
        let Some(other) = as_set(cx, other, false)? else { return Ok(None) };
        let own = self.to_set(cx)?;
        cx.compare(op, &own, &other).map(Some)
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let items = cx.repr(&Value::list(self.items()))?;
        Ok(format!("{}({items})", self.native_type().name))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&Value::Dict(self.dict.clone()));
    }
}
