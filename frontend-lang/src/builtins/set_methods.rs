//! The methods of `set` and `frozenset`.

use std::rc::Rc;

use crate::native::*;

/// Methods that `set` and `frozenset` share.
pub static METHODS: &[NativeFn] = &[
    function("copy", "self, /", "A shallow copy.", copy).pure(),
    function("difference", "self, /, *others", "Items not in the others.", difference).pure(),
    function("intersection", "self, /, *others", "Items in all.", intersection).pure(),
    function("isdisjoint", "self, other, /", "Whether no item is common.", isdisjoint).pure(),
    function("issubset", "self, other, /", "Whether `other` has all items.", issubset).pure(),
    function("issuperset", "self, other, /", "Whether this has all of `other`.", issuperset).pure(),
    function("symmetric_difference", "self, other, /", "Items in exactly one.", symmetric).pure(),
    function("union", "self, /, *others", "Items in any.", union).pure(),
];

/// Methods that change a `set`.
pub static CHANGES: &[NativeFn] = &[
    function("add", "self, item, /", "Add an item.", add),
    function("clear", "self, /", "Remove all items.", clear),
    function("difference_update", "self, /, *others", "Remove items of others.", difference_update),
    function("discard", "self, item, /", "Remove an item if it is there.", discard),
    function("intersection_update", "self, /, *others", "Keep common items.", intersection_update),
    function("pop", "self, /", "Remove and return some item.", pop),
    function("remove", "self, item, /", "Remove an item that is there.", remove),
    function(
        "symmetric_difference_update",
        "self, other, /",
        "Keep items in one.",
        symmetric_update,
    ),
    function("update", "self, /, *others", "Add items of others.", update),
];

/// `value` as a set, made from its items if it is none.
fn to_set(cx: &mut Cx, value: &Value) -> Result<Rc<Set>, Raised> {
    match value.as_set() {
        Some(set) => Ok(set.clone()),
        None => {
            let items = cx.collect(value)?;
            Ok(Rc::new(Set::from_items(cx, items, false)?))
        }
    }
}

fn shown(set: Set) -> Res {
    Ok(Value::Set(Rc::new(set)))
}

fn replace(set: &Set, cx: &mut Cx, items: Vec<Value>) -> Res {
    set.clear();
    for item in items {
        set.add(cx, item)?;
    }
    Ok(Value::None)
}

fn copy(_cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    shown(set.copy(set.frozen)?)
}

fn add(cx: &mut Cx, args: Args<'_>) -> Res {
    args.set(0)?.store(cx, args[1].clone())?;
    Ok(Value::None)
}

fn clear(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.set(0)?.clear();
    Ok(Value::None)
}

fn discard(cx: &mut Cx, args: Args<'_>) -> Res {
    args.set(0)?.remove(cx, &args[1])?;
    Ok(Value::None)
}

fn remove(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.set(0)?.remove(cx, &args[1])? {
        return Ok(Value::None);
    }
    Err(key_error(args[1].clone()))
}

fn pop(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.set(0)?.pop_first().ok_or_else(|| key_error(Value::str("pop from an empty set")))
}

fn union(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let result = set.copy(set.frozen)?;
    for other in args.rest(1) {
        for item in cx.collect(other)? {
            result.add(cx, item)?;
        }
    }
    shown(result)
}

fn update(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    for other in args.rest(1) {
        for item in cx.collect(other)? {
            set.store(cx, item)?;
        }
    }
    Ok(Value::None)
}

/// Items of `set` that are in all (`keep`) or in none of the others.
fn filtered(cx: &mut Cx, set: &Set, others: &[Value], keep: bool) -> Result<Vec<Value>, Raised> {
    let mut items = set.items();
    for other in others {
        let other = to_set(cx, other)?;
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            if other.contains(cx, &item)? == keep {
                kept.push(item);
            }
        }
        items = kept;
    }
    Ok(items)
}

fn difference(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = filtered(cx, set, args.rest(1), false)?;
    shown(Set::from_items(cx, items, set.frozen)?)
}

fn intersection(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = filtered(cx, set, args.rest(1), true)?;
    shown(Set::from_items(cx, items, set.frozen)?)
}

fn difference_update(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = filtered(cx, set, args.rest(1), false)?;
    replace(set, cx, items)
}

fn intersection_update(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = filtered(cx, set, args.rest(1), true)?;
    replace(set, cx, items)
}

fn symmetric_items(cx: &mut Cx, set: &Set, other: &Value) -> Result<Vec<Value>, Raised> {
    let other = to_set(cx, other)?;
    let mut items = Vec::new();
    for item in set.items() {
        if !other.contains(cx, &item)? {
            items.push(item);
        }
    }
    for item in other.items() {
        if !set.contains(cx, &item)? {
            items.push(item);
        }
    }
    Ok(items)
}

fn symmetric(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = symmetric_items(cx, set, &args[1])?;
    shown(Set::from_items(cx, items, set.frozen)?)
}

fn symmetric_update(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    let items = symmetric_items(cx, set, &args[1])?;
    replace(set, cx, items)
}

fn isdisjoint(cx: &mut Cx, args: Args<'_>) -> Res {
    let set = args.set(0)?;
    for item in cx.collect(&args[1])? {
        if set.contains(cx, &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn issubset(cx: &mut Cx, args: Args<'_>) -> Res {
    let other = to_set(cx, &args[1])?;
    all_in(cx, args.set(0)?, &other)
}

fn issuperset(cx: &mut Cx, args: Args<'_>) -> Res {
    let other = to_set(cx, &args[1])?;
    all_in(cx, &other, args.set(0)?)
}

fn all_in(cx: &mut Cx, small: &Set, large: &Set) -> Res {
    for item in small.items() {
        if !large.contains(cx, &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}
