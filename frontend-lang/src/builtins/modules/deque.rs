//! `collections.deque`: a list that is fast at both ends, with an optional greatest length.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::builtins::special_methods;
use crate::memory::{self, Charge, SLOT};
use crate::native::*;
use crate::objects::iterator::{Iter, Step};
use crate::operate::container::place;

/// A deque.
pub struct Deque {
    items: RefCell<VecDeque<Value>>,
    memory: Charge,
    most: Option<usize>,
    /// Counts changes, so that iteration notices them.
    changes: Cell<u64>,
}

/// What a deque holds, if it is one.
pub(crate) fn items_of(value: &Value) -> Option<Vec<Value>> {
    value.downcast::<Deque>().map(|it| it.items.borrow().iter().cloned().collect())
}

/// The row of the type.
pub static DEQUE: NativeType = NativeType {
    module: "collections",
    methods: &[METHODS, special_methods::CONTAINER, special_methods::READ, special_methods::WRITE],
    getters: &[Getter { name: "maxlen", doc: "The greatest length, or None.", get: maxlen }],
    new: Some(function("deque", "cls, iterable=(), maxlen=None", "A deque of items.", new)),
    ..NativeType::plain("deque", "A list that is fast at both ends.")
};

static METHODS: &[NativeFn] = &[
    function("__reversed__", "self, /", "Items from the right.", reversed),
    function("append", "self, x, /", "Add at the right.", append),
    function("appendleft", "self, x, /", "Add at the left.", appendleft),
    function("clear", "self, /", "Remove all items.", clear),
    function("copy", "self, /", "A shallow copy.", copy),
    function("count", "self, x, /", "How often x occurs.", count),
    function("extend", "self, iterable, /", "Add items at the right.", extend),
    function("extendleft", "self, iterable, /", "Add items at the left, one by one.", extendleft),
    function("index", "self, x, start=0, stop=..., /", "First place of x.", index),
    function("insert", "self, i, x, /", "Insert before place i.", insert),
    function("pop", "self, /", "Remove and return the rightmost item.", pop),
    function("popleft", "self, /", "Remove and return the leftmost item.", popleft),
    function("remove", "self, value, /", "Remove the first value.", remove),
    function("reverse", "self, /", "Reverse in place.", reverse),
    function("rotate", "self, n=1, /", "Move n items from the right to the left.", rotate),
];

impl Deque {
    fn with(items: impl IntoIterator<Item = Value>, most: Option<usize>) -> Result<Deque, Raised> {
        let (memory, changes) = Default::default();
        let deque = Deque { items: RefCell::default(), memory, most, changes };
        for item in items {
            deque.push(item)?;
        }
        Ok(deque)
    }

    fn changed(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// Makes room for one item more.
    fn grow(&self, items: &mut VecDeque<Value>) -> Result<(), Raised> {
        if items.len() == items.capacity() {
            let capacity = (items.len() * 2).max(8);
            memory::room_for(capacity - items.len())?;
            items.reserve_exact(capacity - items.len());
            self.memory.set(items.capacity() * SLOT);
        }
        Ok(())
    }

    fn push(&self, item: Value) -> Result<(), Raised> {
        self.changed();
        let mut items = self.items.borrow_mut();
        self.grow(&mut items)?;
        items.push_back(item);
        let gone = self.most.is_some_and(|most| items.len() > most).then(|| items.pop_front());
        drop(items);
        drop(gone);
        Ok(())
    }

    fn push_left(&self, item: Value) -> Result<(), Raised> {
        self.changed();
        let mut items = self.items.borrow_mut();
        self.grow(&mut items)?;
        items.push_front(item);
        let gone = self.most.is_some_and(|most| items.len() > most).then(|| items.pop_back());
        drop(items);
        drop(gone);
        Ok(())
    }

    fn list(&self) -> Vec<Value> {
        self.items.borrow().iter().cloned().collect()
    }

    fn position(&self, cx: &mut Cx, wanted: &Value, from: usize) -> Result<Option<usize>, Raised> {
        let changes = self.changes.get();
        for (at, item) in self.list().iter().enumerate().skip(from) {
            if item.is(wanted) || cx.eq(item, wanted)? {
                return Ok(Some(at));
            }
            if self.changes.get() != changes {
                return Err(runtime_error("deque mutated during iteration"));
            }
        }
        Ok(None)
    }
}

fn this<'a>(args: Args<'a>) -> Result<&'a Deque, Raised> {
    let value = &args.all()[0];
    value
        .core()
        .downcast::<Deque>()
        .ok_or_else(|| type_error(format!("expected deque, got {}", type_name(value))))
}

fn new(cx: &mut Cx, args: Args<'_>) -> Res {
    let most = match args.opt(2) {
        None => None,
        Some(_) => Some(
            usize::try_from(args.int(2)?)
                .map_err(|_| value_error("maxlen must be non-negative"))?,
        ),
    };
    let items = cx.collect(&args[1])?;
    Ok(Value::object(Deque::with(items, most)?))
}

fn maxlen(_cx: &mut Cx, value: &Value) -> Res {
    let deque = value.core().downcast::<Deque>();
    Ok(deque.and_then(|it| it.most).map_or(Value::None, Value::from))
}

fn append(_cx: &mut Cx, args: Args<'_>) -> Res {
    this(args)?.push(args[1].clone())?;
    Ok(Value::None)
}

fn appendleft(_cx: &mut Cx, args: Args<'_>) -> Res {
    this(args)?.push_left(args[1].clone())?;
    Ok(Value::None)
}

fn extend(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = cx.collect(&args[1])?;
    let deque = this(args)?;
    items.into_iter().try_for_each(|it| deque.push(it))?;
    Ok(Value::None)
}

fn extendleft(cx: &mut Cx, args: Args<'_>) -> Res {
    let items = cx.collect(&args[1])?;
    let deque = this(args)?;
    items.into_iter().try_for_each(|it| deque.push_left(it))?;
    Ok(Value::None)
}

fn clear(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    deque.changed();
    drop(deque.items.take());
    Ok(Value::None)
}

fn copy(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    Ok(Value::object(Deque::with(deque.list(), deque.most)?))
}

fn count(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut found = 0;
    for item in this(args)?.list() {
        found += i64::from(item.is(&args[1]) || cx.eq(&item, &args[1])?);
    }
    Ok(Value::Int(found))
}

fn index(cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    let len = deque.items.borrow().len() as i64;
    let fit = |at: i64| if at < 0 { (at + len).max(0) } else { at };
    let start = fit(args.int(2)?);
    let stop = if args.given(3) { fit(args.int(3)?) } else { i64::MAX };
    match deque.position(cx, &args[1], start as usize)? {
        Some(at) if (at as i64) < stop => Ok(Value::from(at)),
        _ => Err(value_error(format!("{} is not in deque", cx.repr(&args[1])?))),
    }
}

fn insert(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    let at = args.int(1)?;
    let mut items = deque.items.borrow_mut();
    if deque.most == Some(items.len()) {
        return Err(index_error("deque already at its maximum size"));
    }
    deque.changed();
    let len = items.len() as i64;
    let at = if at < 0 { (at + len).max(0) } else { at.min(len) };
    items.insert(at as usize, args[2].clone());
    Ok(Value::None)
}

fn pop(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    deque.changed();
    let item = deque.items.borrow_mut().pop_back();
    item.ok_or_else(|| index_error("pop from an empty deque"))
}

fn popleft(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    deque.changed();
    let item = deque.items.borrow_mut().pop_front();
    item.ok_or_else(|| index_error("pop from an empty deque"))
}

fn remove(cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    let Some(at) = deque.position(cx, &args[1], 0)? else {
        return Err(value_error("deque.remove(x): x not in deque"));
    };
    deque.changed();
    let gone = deque.items.borrow_mut().remove(at);
    drop(gone);
    Ok(Value::None)
}

fn reverse(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    deque.changed();
    deque.items.borrow_mut().make_contiguous().reverse();
    Ok(Value::None)
}

fn rotate(_cx: &mut Cx, args: Args<'_>) -> Res {
    let deque = this(args)?;
    let n = args.int(1)?;
    deque.changed();
    let mut items = deque.items.borrow_mut();
    let len = items.len() as i64;
    if len > 0 {
        items.rotate_right(n.rem_euclid(len) as usize);
    }
    Ok(Value::None)
}

fn reversed(_cx: &mut Cx, args: Args<'_>) -> Res {
    let items = this(args)?.list();
    Ok(Value::iter(Iter::items(items.into_iter().rev().collect())))
}

struct DequeStep {
    deque: Value,
    at: usize,
    changes: u64,
}

impl Step for DequeStep {
    fn step(&mut self, _cx: &mut Cx) -> Result<Option<Value>, Raised> {
        let Some(deque) = self.deque.downcast::<Deque>() else { return Ok(None) };
        if deque.changes.get() != self.changes {
            return Err(runtime_error("deque mutated during iteration"));
        }
        self.at += 1;
        Ok(deque.items.borrow().get(self.at - 1).cloned())
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.deque);
    }
}

fn out_of_range() -> Raised {
    index_error("deque index out of range")
}

impl NativeObject for Deque {
    fn native_type(&self) -> &'static NativeType {
        &DEQUE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let items: Vec<Value> = self.items.borrow().iter().cloned().collect();
        Ok(Some(Value::object(Deque::with(cx.adopt_all(&items)?, self.most)?)))
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(Some(self.items.borrow().len()))
    }

    fn iter(&self, _cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let step = DequeStep { deque: this.clone(), at: 0, changes: self.changes.get() };
        Ok(Some(Value::iter(Iter::custom(step))))
    }

    fn getitem(&self, cx: &mut Cx, _this: &Value, at: &Value) -> Result<Option<Value>, Raised> {
        let at = cx.index(at)?;
        let items = self.items.borrow();
        let at = place(at, items.len()).ok_or_else(out_of_range)?;
        Ok(Some(items[at].clone()))
    }

    fn setitem(
        &self,
        cx: &mut Cx,
        _this: &Value,
        at: &Value,
        value: &Value,
    ) -> Result<bool, Raised> {
        let at = cx.index(at)?;
        let mut items = self.items.borrow_mut();
        let at = place(at, items.len()).ok_or_else(out_of_range)?;
        let old = std::mem::replace(&mut items[at], value.clone());
        drop(items);
        drop(old);
        Ok(true)
    }

    fn delitem(&self, cx: &mut Cx, _this: &Value, at: &Value) -> Result<bool, Raised> {
        let at = cx.index(at)?;
        self.changed();
        let mut items = self.items.borrow_mut();
        let at = place(at, items.len()).ok_or_else(out_of_range)?;
        let old = items.remove(at);
        drop(items);
        drop(old);
        Ok(true)
    }

    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        Ok(Some(self.position(cx, item, 0)?.is_some()))
    }

    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        _this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        match (op, other.downcast::<Deque>(), other.as_int()) {
            (BinaryOp::Add, Some(other), _) if !reflected => {
                let items = self.list().into_iter().chain(other.list());
                Ok(Some(Value::object(Deque::with(items, self.most)?)))
            }
            (BinaryOp::Mul, _, Some(count)) => {
                let items = self.list();
                let count = count.max(0) as usize;
                cx.check_size(items.len().saturating_mul(count))?;
                let repeated = std::iter::repeat_n(items, count).flatten();
                Ok(Some(Value::object(Deque::with(repeated, self.most)?)))
            }
            _ => Ok(None),
        }
    }

    fn inplace(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        if op != BinaryOp::Add {
            return Ok(None);
        }
        cx.collect(other)?.into_iter().try_for_each(|it| self.push(it))?;
        Ok(Some(this.clone()))
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let Some(other) = other.downcast::<Deque>() else { return Ok(None) };
        cx.compare(op, &Value::list(self.list()), &Value::list(other.list())).map(Some)
    }

    fn hash(&self, _cx: &mut Cx) -> Result<Option<i64>, Raised> {
        Err(type_error("unhashable type: 'collections.deque'"))
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let items = cx.repr(&Value::list(self.list()))?;
        Ok(match self.most {
            Some(most) => format!("deque({items}, maxlen={most})"),
            None => format!("deque({items})"),
        })
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn keeps_values(&self) -> bool {
        true
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(items) = self.items.try_borrow() {
            items.iter().for_each(visit);
        }
    }

    fn clear(&self) {
        drop(self.items.take());
    }
}
