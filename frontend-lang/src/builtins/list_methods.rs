//! The methods of `list` and `tuple`, and the stable sort behind `list.sort` and `sorted`.

use std::cmp::Ordering;

use crate::native::*;
use crate::patience::{Pace, stoppable_if_long, tick};
use crate::value::words::{self, fresh, hold};

/// Methods of `list`.
pub static METHODS: &[NativeFn] = &[
    function("append", "self, object, /", "Add one item at the end.", append).quick(quick_append),
    function("clear", "self, /", "Remove all items.", clear),
    function("copy", "self, /", "A shallow copy.", copy).pure(),
    function("count", "self, value, /", "How often `value` occurs.", count).pure(),
    function("extend", "self, iterable, /", "Add all items of `iterable`.", extend),
    function("index", "self, value, start=0, stop=...,/", "First index of `value`.", index).pure(),
    function("insert", "self, index, object, /", "Insert before `index`.", insert),
    function("pop", "self, index=-1, /", "Remove and return an item.", pop).quick(quick_pop),
    function("remove", "self, value, /", "Remove the first `value`.", remove),
    function("reverse", "self, /", "Reverse in place.", reverse),
    function("sort", "self, /, *, key=None, reverse=False", "Sort in place, stable.", sort),
];

/// Methods of `tuple`.
pub static TUPLE_METHODS: &[NativeFn] = &[
    function("count", "self, value, /", "How often `value` occurs.", tuple_count).pure(),
    function("index", "self, value, start=0, stop=..., /", "First index of `value`.", tuple_index)
        .pure(),
];

fn append(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.list(0)?.push(args[1].clone())?;
    Ok(Value::None)
}

fn quick_append(args: &[Value]) -> Option<Value> {
    let [Value::List(list), item] = args else { return None };
    list.push(item.clone()).ok()?;
    Some(Value::None)
}

fn quick_pop(args: &[Value]) -> Option<Value> {
    let [Value::List(list)] = args else { return None };
    list.items.borrow_mut().pop()
}

fn clear(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.list(0)?.clear();
    Ok(Value::None)
}

fn copy(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.list(0)?.copied().map(Value::list)
}

/// Appends all items of `iterable` to `list`; a list may be added to itself.
fn extend(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = args.list(0)?;
    match &args[1] {
        Value::List(other) => {
            list.extend(other.copied()?.into_iter())?;
        }
        Value::Tuple(items) => list.extend(items.iter().cloned())?,
        iterable => {
            let iter = cx.iter(iterable)?;
            while let Some(item) = cx.next(&iter)? {
                list.push(item)?;
                cx.poll()?;
            }
        }
    }
    Ok(Value::None)
}

fn insert(cx: &mut Cx, args: Args<'_>) -> Res {
    let at = cx.index(&args[1])?;
    let list = args.list(0)?;
    let len = list.items.borrow().len() as i64;
    let at = if at < 0 { at.saturating_add(len).max(0) } else { at.min(len) };
    list.insert(at as usize, args[2].clone())?;
    Ok(Value::None)
}

fn pop(cx: &mut Cx, args: Args<'_>) -> Res {
    let at = cx.index(&args[1])?;
    let list = args.list(0)?;
    let len = list.items.borrow().len() as i64;
    if len == 0 {
        return Err(index_error("pop from empty list"));
    }
    let at = if at < 0 { at.saturating_add(len) } else { at };
    if !(0..len).contains(&at) {
        return Err(index_error("pop index out of range"));
    }
    cx.lint_removed(list, at as usize);
    Ok(list.items.borrow_mut().remove(at as usize))
}

fn remove(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = args.list(0)?;
    let mut at = 0;
    let mut pace = Pace::default();
    loop {
        pace.step(cx)?;
        let Some(item) = list.items.borrow().get(at).cloned() else {
            return Err(value_error("list.remove(x): x not in list"));
        };
        if same(cx, &item, &args[1])? {
            break;
        }
        at += 1;
    }
    cx.lint_removed(list, at);
    let mut items = list.items.borrow_mut();
    let gone = if at < items.len() { Some(items.remove(at)) } else { None };
    drop(items);
    drop(gone);
    Ok(Value::None)
}

fn reverse(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.list(0)?.items.borrow_mut().reverse();
    Ok(Value::None)
}

fn same(cx: &mut Cx, a: &Value, b: &Value) -> Result<bool, Raised> {
    Ok(a.is(b) || cx.eq(a, b)?)
}

fn count(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = args.list(0)?;
    let mut found = 0;
    let mut at = 0;
    let mut pace = Pace::default();
    loop {
        pace.step(cx)?;
        let Some(item) = list.items.borrow().get(at).cloned() else { break };
        found += i64::from(same(cx, &item, &args[1])?);
        at += 1;
    }
    Ok(Value::Int(found))
}

fn tuple_count(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut found = 0;
    let mut pace = Pace::default();
    for item in args.tuple(0)?.iter() {
        pace.step(cx)?;
        found += i64::from(same(cx, item, &args[1])?);
    }
    Ok(Value::Int(found))
}

/// `start` and `stop` of `index` as places in a sequence of `len` items.
fn places(args: Args<'_>, len: usize) -> Result<(usize, usize), Raised> {
    let place = |at: i64| {
        if at < 0 { at.saturating_add(len as i64).max(0) as usize } else { at as usize }
    };
    let start = place(args.int(2)?);
    let stop = if args.given(3) { place(args.int(3)?) } else { usize::MAX };
    Ok((start, stop))
}

fn index(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = args.list(0)?;
    let len = list.items.borrow().len();
    let (start, stop) = places(args, len)?;
    let mut pace = Pace::default();
    for at in start..stop {
        pace.step(cx)?;
        let Some(item) = list.items.borrow().get(at).cloned() else { break };
        if same(cx, &item, &args[1])? {
            return Ok(Value::from(at));
        }
    }
    let shown = cx.repr(&args[1])?;
    Err(value_error(format!("{shown} is not in list")))
}

fn tuple_index(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = args.tuple(0)?;
    let (start, stop) = places(args, items.len())?;
    let mut pace = Pace::default();
    for at in start..stop.min(items.len()) {
        pace.step(cx)?;
        if same(cx, &items[at], &args[1])? {
            return Ok(Value::from(at));
        }
    }
    Err(value_error("tuple.index(x): x not in tuple"))
}

fn sort(cx: &mut Cx, args: Args<'_>) -> Res {
    let list = args.list(0)?;
    let reverse = cx.truth(&args[2])?;
    let mut items = std::mem::take(&mut *list.items.borrow_mut());
    let sorted = sort_values(cx, &mut items, args.opt(1), reverse);
    let meanwhile = std::mem::replace(&mut *list.items.borrow_mut(), items);
    sorted?;
    if !meanwhile.is_empty() {
        return Err(value_error("list modified during sort"));
    }
    Ok(Value::None)
}

/// Sorts as `list.sort` does: stable, by `key` if given, `<` alone deciding. On an error the order
/// is some order of the same items.
pub fn sort_values(
    cx: &mut Cx,
    items: &mut Vec<Value>,
    key: Option<&Value>,
    reverse: bool,
) -> Result<(), Raised> {
    let Some(key) = key else {
        return sort_by(cx, items, reverse, |it| it);
    };
    crate::memory::room_for(items.len() * 3)?;
    let mut keys = Vec::with_capacity(items.len());
    for item in items.iter() {
        words::push(&mut keys, hold(fresh(cx.call(key, std::slice::from_ref(item)))?));
    }
    let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(items.iter().cloned()).collect();
    sort_by(cx, &mut pairs, reverse, |it| &it.0)?;
    items.clear();
    items.extend(pairs.into_iter().map(|it| it.1));
    Ok(())
}

fn sort_by<T: Clone>(
    cx: &mut Cx,
    items: &mut Vec<T>,
    reverse: bool,
    key: impl Fn(&T) -> &Value,
) -> Result<(), Raised> {
    // Reversing twice keeps equal items in their order.
    if reverse {
        items.reverse();
    }
    let done = match plain_order(items, &key) {
        Some(order) => {
            let count = items.len();
            let sort = || {
                items.sort_by(|a, b| {
                    tick();
                    order(key(a), key(b))
                })
            };
            stoppable_if_long(cx, count, sort)
        }
        None => merge_sort(cx, items, &key),
    };
    if reverse {
        items.reverse();
    }
    done
}

type Order = fn(&Value, &Value) -> Ordering;

/// A total order for keys of one simple kind, which needs no calls.
fn plain_order<T>(items: &[T], key: &impl Fn(&T) -> &Value) -> Option<Order> {
    let all = |test: fn(&Value) -> bool| items.iter().all(|it| test(key(it)));
    if all(|it| matches!(it, Value::Int(_))) {
        return Some(|a, b| match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            _ => Ordering::Equal,
        });
    }
    if all(|it| matches!(it, Value::Float(it) if !it.is_nan())) {
        return Some(|a, b| match (a, b) {
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        });
    }
    if all(|it| matches!(it, Value::Str(_))) {
        return Some(|a, b| match (a, b) {
            (Value::Str(a), Value::Str(b)) => (***a).cmp(&***b),
            _ => Ordering::Equal,
        });
    }
    None
}

/// Binary insertion within runs, as CPython sorts short lists, then merges from the bottom up; asks only
/// `later < earlier`.
fn merge_sort<T: Clone>(
    cx: &mut Cx,
    items: &mut Vec<T>,
    key: &impl Fn(&T) -> &Value,
) -> Result<(), Raised> {
    const RUN: usize = 63;
    for run in items.chunks_mut(RUN) {
        cx.poll()?;
        insertion_sort(cx, run, key)?;
    }
    let mut width = RUN;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(cx, left, right, key, &mut merged)?;
        }
        *items = merged;
        width *= 2;
        cx.poll()?;
    }
    Ok(())
}

/// Sorts a short slice with the comparisons that CPython makes.
fn insertion_sort<T>(
    cx: &mut Cx,
    run: &mut [T],
    key: &impl Fn(&T) -> &Value,
) -> Result<(), Raised> {
    let mut sorted = natural_run(cx, run, key)?;
    while sorted < run.len() {
        let (mut low, mut high) = (0, sorted);
        while low < high {
            let middle = low + (high - low) / 2;
            if cx.less(key(&run[sorted]), key(&run[middle]))? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        run[low..=sorted].rotate_right(1);
        sorted += 1;
    }
    Ok(())
}

/// The length of the ordered beginning; one that falls strictly is turned round.
fn natural_run<T>(
    cx: &mut Cx,
    run: &mut [T],
    key: &impl Fn(&T) -> &Value,
) -> Result<usize, Raised> {
    if run.len() < 2 {
        return Ok(run.len());
    }
    let falls = cx.less(key(&run[1]), key(&run[0]))?;
    let mut end = 2;
    while end < run.len() && cx.less(key(&run[end]), key(&run[end - 1]))? == falls {
        end += 1;
    }
    if falls {
        run[..end].reverse();
    }
    Ok(end)
}

fn merge<T: Clone>(
    cx: &mut Cx,
    mut left: &[T],
    mut right: &[T],
    key: &impl Fn(&T) -> &Value,
    out: &mut Vec<T>,
) -> Result<(), Raised> {
    let mut pace = Pace::default();
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        pace.step(cx)?;
        if cx.less(key(b), key(a))? {
            out.push(b.clone());
            right = right_rest;
        } else {
            out.push(a.clone());
            left = left_rest;
        }
    }
    out.extend_from_slice(left);
    out.extend_from_slice(right);
    Ok(())
}
