//! `itertools`: iterators that go on, join, filter and group. See `itertools_pick.rs` for those
//! that pick combinations.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::native::*;
use crate::objects::iterator::{Iter, Step};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "itertools",
    doc: "Building blocks for iteration.",
    members: &[
        Member::Types(&[&CHAIN]),
        Member::Functions(FUNCTIONS),
        Member::Functions(super::itertools_pick::FUNCTIONS),
    ],
    aliases: &[],
};

static CHAIN: NativeType = NativeType {
    module: "itertools",
    new: Some(function("chain", "cls, *iterables", "All items of all iterables.", chain)),
    statics: &[function("from_iterable", "iterable, /", "Chains items.", from_iterable)],
    ..NativeType::plain("chain", "All items of all iterables, one after the other.")
};

static FUNCTIONS: &[NativeFn] = &[
    function("accumulate", "iterable, func=None, *, initial=None", "Running totals.", accumulate),
    function("batched", "iterable, n", "Tuples of n items.", batched),
    function("compress", "data, selectors", "Items whose selector is true.", compress),
    function("count", "start=0, step=1", "start, start + step, ...", count),
    function("cycle", "iterable, /", "The items again and again.", cycle),
    function("dropwhile", "predicate, iterable, /", "Items after the first false.", dropwhile),
    function("filterfalse", "predicate, iterable, /", "Items that are refused.", filterfalse),
    function("groupby", "iterable, key=None", "Runs of items with equal keys.", groupby),
    function("islice", "iterable, start, stop=..., step=None, /", "A slice.", islice),
    function("pairwise", "iterable, /", "Neighbours.", pairwise),
    function("repeat", "object, times=...", "The same object.", repeat),
    function("starmap", "function, iterable, /", "function(*item) for each item.", starmap),
    function("takewhile", "predicate, iterable, /", "Items before the first false.", takewhile),
    function("tee", "iterable, n=2, /", "Independent iterators over the same items.", tee),
    function("zip_longest", "*iterables, fillvalue=None", "zip to the longest.", zip_longest),
];

/// An iterator from a closure that gives the next item.
struct Custom<T, F> {
    held: T,
    next: F,
}

/// What a closure step holds, so that cycles through it can be found.
trait Held {
    fn visit(&self, visit: &mut dyn FnMut(&Value));
}

impl<T: Held, F: FnMut(&mut Cx, &mut T) -> Result<Option<Value>, Raised>> Step for Custom<T, F> {
    fn step(&mut self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        (self.next)(cx, &mut self.held)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.held.visit(visit);
    }
}

impl Held for Value {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        visit(self);
    }
}

impl Held for Vec<Value> {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        self.iter().for_each(visit);
    }
}

impl<A: Held, B: Held> Held for (A, B) {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        self.0.visit(visit);
        self.1.visit(visit);
    }
}

impl<A: Held> Held for Option<A> {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        if let Some(it) = self {
            it.visit(visit);
        }
    }
}

fn custom<T, F>(held: T, next: F) -> Res
where
    T: Held + 'static,
    F: FnMut(&mut Cx, &mut T) -> Result<Option<Value>, Raised> + 'static,
{
    Ok(Value::iter(Iter::custom(Custom { held, next })))
}

fn chain(_cx: &mut Cx, args: Args<'_>) -> Res {
    chained(Value::iter(Iter::items(args.rest(1).to_vec())))
}

fn from_iterable(cx: &mut Cx, args: Args<'_>) -> Res {
    chained(cx.iter(&args[0])?)
}

fn chained(outer: Value) -> Res {
    custom((outer, None::<Value>), |cx, (outer, inner)| {
        loop {
            if let Some(current) = inner {
                if let Some(item) = cx.next(current)? {
                    return Ok(Some(item));
                }
                *inner = None;
            }
            match cx.next(outer)? {
                Some(next) => *inner = Some(cx.iter(&next)?),
                None => return Ok(None),
            }
            cx.poll()?;
        }
    })
}

fn count(_cx: &mut Cx, args: Args<'_>) -> Res {
    custom((args[0].clone(), args[1].clone()), |cx, (next, step)| {
        let item = next.clone();
        *next = cx.binary(BinaryOp::Add, next, step)?;
        Ok(Some(item))
    })
}

fn cycle(cx: &mut Cx, args: Args<'_>) -> Res {
    let source = cx.iter(&args[0])?;
    let mut at = 0;
    custom((Some(source), Vec::new()), move |cx, (source, saved)| {
        if let Some(iter) = source {
            if let Some(item) = cx.next(iter)? {
                saved.push(item.clone());
                return Ok(Some(item));
            }
            *source = None;
        }
        let item = saved.get(at).cloned();
        at = if at + 1 < saved.len() { at + 1 } else { 0 };
        Ok(item)
    })
}

fn repeat(_cx: &mut Cx, args: Args<'_>) -> Res {
    let mut left = if args.given(1) { Some(args.int(1)?) } else { None };
    custom(args[0].clone(), move |_cx, object| {
        if let Some(left) = &mut left {
            *left -= 1;
            if *left < 0 {
                return Ok(None);
            }
        }
        Ok(Some(object.clone()))
    })
}

fn accumulate(cx: &mut Cx, args: Args<'_>) -> Res {
    let source = cx.iter(&args[0])?;
    let func = args.opt(1).cloned();
    let mut initial = args.opt(2).cloned();
    custom((source, (func, None::<Value>)), move |cx, (source, (func, total))| {
        if let Some(first) = initial.take() {
            *total = Some(first.clone());
            return Ok(Some(first));
        }
        let Some(item) = cx.next(source)? else { return Ok(None) };
        let next = match (&*total, &*func) {
            (None, _) => item,
            (Some(total), None) => cx.binary(BinaryOp::Add, total, &item)?,
            (Some(total), Some(func)) => cx.call(func, &[total.clone(), item])?,
        };
        *total = Some(next.clone());
        Ok(Some(next))
    })
}

fn batched(cx: &mut Cx, args: Args<'_>) -> Res {
    let n = args.int(1)?;
    if n < 1 {
        return Err(value_error("n must be at least one"));
    }
    custom(cx.iter(&args[0])?, move |cx, source| {
        let mut batch = Vec::new();
        while (batch.len() as i64) < n {
            match cx.next(source)? {
                Some(item) => batch.push(item),
                None => break,
            }
        }
        Ok(if batch.is_empty() { None } else { Some(Value::tuple(batch)) })
    })
}

fn compress(cx: &mut Cx, args: Args<'_>) -> Res {
    let sources = (cx.iter(&args[0])?, cx.iter(&args[1])?);
    custom(sources, |cx, (data, selectors)| {
        loop {
            let Some(item) = cx.next(data)? else { return Ok(None) };
            let Some(selector) = cx.next(selectors)? else { return Ok(None) };
            if cx.truth(&selector)? {
                return Ok(Some(item));
            }
            cx.poll()?;
        }
    })
}

fn accepts(cx: &mut Cx, predicate: &Value, item: &Value) -> Result<bool, Raised> {
    if predicate.is_none() {
        return cx.truth(item);
    }
    let answer = cx.call(predicate, std::slice::from_ref(item))?;
    cx.truth(&answer)
}

fn predicate_and_source(cx: &mut Cx, args: Args<'_>) -> Result<(Value, Value), Raised> {
    Ok((args[0].clone(), cx.iter(&args[1])?))
}

fn dropwhile(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut dropping = true;
    custom(predicate_and_source(cx, args)?, move |cx, (predicate, source)| {
        while let Some(item) = cx.next(source)? {
            if !dropping || !accepts(cx, predicate, &item)? {
                dropping = false;
                return Ok(Some(item));
            }
            cx.poll()?;
        }
        Ok(None)
    })
}

fn takewhile(cx: &mut Cx, args: Args<'_>) -> Res {
    custom(predicate_and_source(cx, args)?, |cx, (predicate, source)| {
        let Some(item) = cx.next(source)? else { return Ok(None) };
        Ok(if accepts(cx, predicate, &item)? { Some(item) } else { None })
    })
}

fn filterfalse(cx: &mut Cx, args: Args<'_>) -> Res {
    custom(predicate_and_source(cx, args)?, |cx, (predicate, source)| {
        while let Some(item) = cx.next(source)? {
            if !accepts(cx, predicate, &item)? {
                return Ok(Some(item));
            }
            cx.poll()?;
        }
        Ok(None)
    })
}

fn starmap(cx: &mut Cx, args: Args<'_>) -> Res {
    custom(predicate_and_source(cx, args)?, |cx, (func, source)| {
        let Some(item) = cx.next(source)? else { return Ok(None) };
        let args = cx.collect(&item)?;
        cx.call(func, &args).map(Some)
    })
}

fn pairwise(cx: &mut Cx, args: Args<'_>) -> Res {
    custom((cx.iter(&args[0])?, None::<Value>), |cx, (source, before)| {
        let first = match before.take() {
            Some(first) => first,
            None => match cx.next(source)? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let Some(second) = cx.next(source)? else { return Ok(None) };
        *before = Some(second.clone());
        Ok(Some(Value::tuple([first, second])))
    })
}

fn islice(cx: &mut Cx, args: Args<'_>) -> Res {
    let part = |idx: usize| -> Result<Option<u64>, Raised> {
        let Some(value) = args.opt(idx) else { return Ok(None) };
        let number = value.as_int().and_then(|it| u64::try_from(it).ok());
        let message = match (args.given(2), idx) {
            (_, 3) => "Step for islice() must be a positive integer or None.",
            (false, _) | (_, 2) => {
                "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
            }
            _ => "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.",
        };
        number.map(Some).ok_or_else(|| value_error(message))
    };
    let (start, stop) =
        if args.given(2) { (part(1)?.unwrap_or(0), part(2)?) } else { (0, part(1)?) };
    let step = part(3)?.unwrap_or(1);
    if step == 0 {
        return Err(value_error("Step for islice() must be a positive integer or None."));
    }
    let (mut at, mut wanted) = (0, start);
    custom(cx.iter(&args[0])?, move |cx, source| {
        if stop.is_some_and(|stop| wanted >= stop) {
            // As in CPython, the items before the end are used up.
            while stop.is_some_and(|stop| at < stop) && cx.next(source)?.is_some() {
                at += 1;
            }
            return Ok(None);
        }
        while let Some(item) = cx.next(source)? {
            at += 1;
            if at > wanted {
                wanted += step;
                return Ok(Some(item));
            }
            cx.poll()?;
        }
        Ok(None)
    })
}

fn zip_longest(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut sources = Vec::new();
    for iterable in args.rest(0) {
        sources.push(Some(cx.iter(iterable)?));
    }
    custom((Sources(sources), args[1].clone()), |cx, (sources, fill)| {
        let mut items = Vec::with_capacity(sources.0.len());
        for source in &mut sources.0 {
            let next = match source {
                Some(iter) => cx.next(iter)?,
                None => None,
            };
            if next.is_none() {
                *source = None;
            }
            items.push(next.unwrap_or_else(|| fill.clone()));
        }
        let any_left = sources.0.iter().any(Option::is_some);
        Ok(if any_left { Some(Value::tuple(items)) } else { None })
    })
}

struct Sources(Vec<Option<Value>>);

impl Held for Sources {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        self.0.iter().flatten().for_each(visit);
    }
}

fn tee(cx: &mut Cx, args: Args<'_>) -> Res {
    let n = args.int(1)?;
    if n < 0 {
        return Err(value_error("n must be >= 0"));
    }
    let source = cx.iter(&args[0])?;
    let queues = (0..cx.check_size(n as usize)?).map(|_| VecDeque::new()).collect();
    let shared = Rc::new(RefCell::new(Tee { source, queues }));
    let branches: Result<Vec<Value>, Raised> = (0..n as usize)
        .map(|idx| custom(Branch(shared.clone()), move |cx, branch| Tee::next(&branch.0, cx, idx)))
        .collect();
    branches.map(Value::tuple)
}

struct Tee {
    source: Value,
    queues: Vec<VecDeque<Value>>,
}

struct Branch(Rc<RefCell<Tee>>);

impl Tee {
    fn next(this: &RefCell<Tee>, cx: &mut Cx, idx: usize) -> Result<Option<Value>, Raised> {
        if let Some(item) = this.borrow_mut().queues[idx].pop_front() {
            return Ok(Some(item));
        }
        let source = this.borrow().source.clone();
        let Some(item) = cx.next(&source)? else { return Ok(None) };
        for (other, queue) in this.borrow_mut().queues.iter_mut().enumerate() {
            if other != idx {
                queue.push_back(item.clone());
            }
        }
        Ok(Some(item))
    }
}

impl Held for Branch {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(tee) = self.0.try_borrow() {
            visit(&tee.source);
        }
    }
}

fn groupby(cx: &mut Cx, args: Args<'_>) -> Res {
    let groups = Groups {
        source: cx.iter(&args[0])?,
        key: args.opt(1).cloned(),
        pending: None,
        current: None,
        number: 0,
    };
    custom(Grouped(Rc::new(RefCell::new(groups))), |cx, grouped| Groups::next_group(&grouped.0, cx))
}

struct Groups {
    source: Value,
    key: Option<Value>,
    /// An item already read, with its key, that no group has given yet.
    pending: Option<(Value, Value)>,
    current: Option<Value>,
    number: u64,
}

struct Grouped(Rc<RefCell<Groups>>);

impl Held for Grouped {
    fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(groups) = self.0.try_borrow() {
            visit(&groups.source);
            groups.key.visit(visit);
        }
    }
}

impl Groups {
    /// The next item with its key.
    fn read(this: &RefCell<Groups>, cx: &mut Cx) -> Result<Option<(Value, Value)>, Raised> {
        if let Some(pending) = this.borrow_mut().pending.take() {
            return Ok(Some(pending));
        }
        let (source, key) = {
            let groups = this.borrow();
            (groups.source.clone(), groups.key.clone())
        };
        let Some(item) = cx.next(&source)? else { return Ok(None) };
        let key = match key {
            Some(func) => cx.call(&func, std::slice::from_ref(&item))?,
            None => item.clone(),
        };
        Ok(Some((key, item)))
    }

    fn is_current(this: &RefCell<Groups>, cx: &mut Cx, key: &Value) -> Result<bool, Raised> {
        let current = this.borrow().current.clone();
        match current {
            Some(current) => cx.eq(&current, key),
            None => Ok(false),
        }
    }

    fn next_group(this: &Rc<RefCell<Groups>>, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        while let Some((key, item)) = Groups::read(this, cx)? {
            if Groups::is_current(this, cx, &key)? {
                cx.poll()?;
                continue;
            }
            let number = {
                let mut groups = this.borrow_mut();
                groups.number += 1;
                groups.current = Some(key.clone());
                groups.pending = Some((key.clone(), item));
                groups.number
            };
            let members = custom(Grouped(this.clone()), move |cx, grouped| {
                Groups::next_member(&grouped.0, cx, number)
            })?;
            return Ok(Some(Value::tuple([key, members])));
        }
        Ok(None)
    }

    fn next_member(
        this: &RefCell<Groups>,
        cx: &mut Cx,
        number: u64,
    ) -> Result<Option<Value>, Raised> {
        if this.borrow().number != number {
            return Ok(None);
        }
        let Some((key, item)) = Groups::read(this, cx)? else { return Ok(None) };
        if Groups::is_current(this, cx, &key)? {
            return Ok(Some(item));
        }
        this.borrow_mut().pending = Some((key, item));
        Ok(None)
    }
}
