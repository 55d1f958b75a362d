//! Objects that stay in the process: whatever is done to one is done there.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::request::Request;
use super::wire::Datum;
use super::{Released, ended};
use crate::error::ATTRIBUTE_ERROR;
use crate::native::*;
use crate::objects::class::Class;

/// What is known of an object without asking; the numbers are the worker's.
const IS_CALLABLE: i64 = 1;
const IS_CLASS: i64 = 2;
const IS_MODULE: i64 = 4;
const IS_ITERATOR: i64 = 8;

/// An object of the process.
pub struct Proxy {
    pub(super) generation: u32,
    pub(super) number: i64,
    pub(super) flags: i64,
    /// Of its type; errors name it.
    pub(super) row: &'static NativeType,
    /// How often it was passed.
    pub(super) count: Cell<i64>,
    pub(super) released: Released,
}

impl Proxy {
    /// Whether it is a class.
    pub fn is_class(&self) -> bool {
        self.flags & IS_CLASS != 0
    }

    /// Whether it is a module.
    pub fn is_module(&self) -> bool {
        self.flags & IS_MODULE != 0
    }

    /// Whether it is a function or method.
    pub fn is_function(&self) -> bool {
        let kinds = ["function", "builtin_function_or_method", "method"];
        self.row.module.is_empty() && kinds.contains(&self.row.name)
    }

    fn is_iterator(&self) -> bool {
        self.flags & IS_ITERATOR != 0
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Ok(mut released) = self.released.try_borrow_mut() {
            released.push((self.number, self.count.get()));
        }
    }
}

impl Cx {
    /// Its number, as the process is asked about it.
    pub(super) fn target(&self, proxy: &Proxy) -> Result<Datum, Raised> {
        let runs = self.python.link.is_some() && self.python.generation == proxy.generation;
        if runs { Ok(super::values::object(proxy.number)) } else { Err(ended()) }
    }

    /// The answer to a request about an object, as a value.
    fn ask_of(&mut self, proxy: &Proxy, request: Request, rest: Vec<Datum>) -> Res {
        let mut args = vec![self.target(proxy)?];
        args.extend(rest);
        let answer = self.ask(request, args)?;
        self.python_value(answer)
    }

    /// `int(object)` and its likes: `name` is a conversion of the worker.
    pub(crate) fn python_convert(&mut self, proxy: &Proxy, name: &str) -> Res {
        let target = self.target(proxy)?;
        let answer = self.ask(Request::Convert, vec![Datum::str(name), target])?;
        self.python_value(answer)
    }

    /// `isinstance(value, class)`, the class being one of Python.
    pub(crate) fn is_python_instance(
        &mut self,
        value: &Value,
        class: &Proxy,
    ) -> Result<bool, Raised> {
        let class = self.target(class)?;
        let value = self.python_datum(value)?;
        Ok(self.ask(Request::IsInstance, vec![value, class])? == Datum::Bool(true))
    }

    /// `isinstance(value, class)` of an object of Python and a built-in class that both sides have.
    pub(crate) fn is_python_builtin(
        &mut self,
        value: &Value,
        class: &Class,
    ) -> Result<bool, Raised> {
        let shared = class.native.and_then(super::values::shared_class);
        let (Some(shared), Some(proxy)) = (shared, of(value)) else { return Ok(false) };
        let target = self.target(proxy)?;
        Ok(self.ask(Request::IsInstance, vec![target, shared])? == Datum::Bool(true))
    }

    /// A function of Python's own, called with these.
    pub(crate) fn call_python_builtin(&mut self, name: &'static str, args: &[Value]) -> Res {
        let builtins = self.python_module("builtins")?;
        let function = self.getattr(&builtins, Sym::of(name))?;
        self.call(&function, args)
    }

    /// The type of an object, itself an object of Python.
    pub(crate) fn python_type(&mut self, proxy: &Proxy) -> Res {
        self.ask_of(proxy, Request::Type, Vec::new())
    }

    /// The names of an object's attributes.
    pub(crate) fn python_dir(&mut self, proxy: &Proxy) -> Result<Vec<Sym>, Raised> {
        let names = self.ask_of(proxy, Request::Dir, Vec::new())?;
        let names = self.collect(&names)?;
        Ok(names.iter().filter_map(Value::as_str).map(Sym::new).collect())
    }

    /// What is said of an object and of its members; see the worker's `describe`.
    pub(crate) fn python_help(&mut self, proxy: &Proxy) -> Result<Datum, Raised> {
        let target = self.target(proxy)?;
        self.ask(Request::Describe, vec![target])
    }

    /// What is the same for two objects with the same help: that of a module or class is its own, others have that of their type.
    pub(crate) fn python_help_key(&self, proxy: &Proxy) -> (u32, i64) {
        let is_own = proxy.is_class() || proxy.is_module() || proxy.is_function();
        let of_type = || -(std::ptr::from_ref(proxy.row).addr() as i64);
        (proxy.generation, if is_own { proxy.number } else { of_type() })
    }

    /// `object.name(...)` in one request.
    pub(crate) fn call_python_method(
        &mut self,
        proxy: &Proxy,
        name: Sym,
        args: CallArgs<'_>,
    ) -> Res {
        let mut rest = vec![Datum::str(name.as_str())];
        rest.extend(self.python_args(args)?);
        self.ask_of(proxy, Request::CallMethod, rest)
    }

    /// A special method of the object's type; `None` if it has none.
    pub(crate) fn call_python_special(
        &mut self,
        proxy: &Proxy,
        name: Sym,
        args: &[Value],
    ) -> Result<Option<Value>, Raised> {
        self.begin_python_data();
        let args = self.more_python_data(args)?;
        let rest = vec![Datum::str(name.as_str()), Datum::List(args)];
        unless_absent(self.ask_of(proxy, Request::CallSpecial, rest))
    }

    fn python_args(&mut self, args: CallArgs<'_>) -> Result<[Datum; 2], Raised> {
        self.begin_python_data();
        let positional = self.more_python_data(args.positional)?;
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in args.keywords {
            let value = self.more_python_data(std::slice::from_ref(value))?;
            keywords.push(Datum::Tuple([vec![Datum::str(name.as_str())], value].concat()));
        }
        Ok([Datum::List(positional), Datum::List(keywords)])
    }

    fn python_text(&mut self, proxy: &Proxy, name: &str) -> Result<String, Raised> {
        let text = self.python_convert(proxy, name)?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }
}

/// Nothing, where Python says that an object has no such attribute. What else an `AttributeError` says is for the user.
fn unless_absent(answer: Res) -> Result<Option<Value>, Raised> {
    match answer {
        Err(raised)
            if raised.is(&ATTRIBUTE_ERROR) && raised.message().contains("has no attribute") =>
        {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// The worker's name of an operator.
fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::TrueDiv => "truediv",
        BinaryOp::FloorDiv => "floordiv",
        BinaryOp::Mod => "mod",
        BinaryOp::Pow => "pow",
        BinaryOp::MatMul => "matmul",
        BinaryOp::And => "and_",
        BinaryOp::Or => "or_",
        BinaryOp::Xor => "xor",
        BinaryOp::LShift => "lshift",
        BinaryOp::RShift => "rshift",
    }
}

fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    }
}

impl NativeObject for Proxy {
    fn native_type(&self) -> &'static NativeType {
        self.row
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        unless_absent(cx.ask_of(self, Request::GetAttr, vec![Datum::str(name.as_str())]))
    }

    fn setattr(&self, cx: &mut Cx, _: &Value, name: Sym, value: &Value) -> Result<bool, Raised> {
        let value = cx.python_datum(value)?;
        cx.ask_of(self, Request::SetAttr, vec![Datum::str(name.as_str()), value])?;
        Ok(true)
    }

    fn delattr(&self, cx: &mut Cx, name: Sym) -> Result<bool, Raised> {
        cx.ask_of(self, Request::DelAttr, vec![Datum::str(name.as_str())])?;
        Ok(true)
    }

    fn is_callable(&self) -> bool {
        self.flags & IS_CALLABLE != 0
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let rest = cx.python_args(args)?.to_vec();
        cx.ask_of(self, Request::Call, rest)
    }

    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        let (a, b) = if reflected { (other, this) } else { (this, other) };
        cx.python_operator(binary_name(op), a, b).map(Some)
    }

    fn inplace(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let name = format!("i{}", binary_name(op).trim_end_matches('_'));
        cx.python_operator(&name, this, other).map(Some)
    }

    fn unary(&self, cx: &mut Cx, op: UnaryOp, _this: &Value) -> Result<Option<Value>, Raised> {
        let name = match op {
            UnaryOp::Neg => "neg",
            UnaryOp::Pos => "pos",
            UnaryOp::Invert => "invert",
        };
        let target = cx.target(self)?;
        let answer = cx.ask(Request::Unary, vec![Datum::str(name), target])?;
        cx.python_value(answer).map(Some)
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        cx.python_operator(compare_name(op), this, other).map(Some)
    }

    fn truth(&self, cx: &mut Cx) -> Result<bool, Raised> {
        Ok(matches!(cx.python_convert(self, "bool")?, Value::Bool(true)))
    }

    fn len(&self, cx: &mut Cx) -> Result<Option<usize>, Raised> {
        let len = cx.python_convert(self, "len")?;
        Ok(len.as_int().and_then(|it| usize::try_from(it).ok()))
    }

    fn getitem(&self, cx: &mut Cx, _this: &Value, index: &Value) -> Result<Option<Value>, Raised> {
        let index = cx.python_datum(index)?;
        cx.ask_of(self, Request::GetItem, vec![index]).map(Some)
    }

    fn setitem(
        &self,
        cx: &mut Cx,
        _this: &Value,
        index: &Value,
        value: &Value,
    ) -> Result<bool, Raised> {
        cx.begin_python_data();
        let rest = cx.more_python_data(&[index.clone(), value.clone()])?;
        cx.ask_of(self, Request::SetItem, rest)?;
        Ok(true)
    }

    fn delitem(&self, cx: &mut Cx, _this: &Value, index: &Value) -> Result<bool, Raised> {
        let index = cx.python_datum(index)?;
        cx.ask_of(self, Request::DelItem, vec![index])?;
        Ok(true)
    }

    fn contains(&self, cx: &mut Cx, _: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        let item = cx.python_datum(item)?;
        let answer = cx.ask_of(self, Request::Contains, vec![item])?;
        Ok(Some(matches!(answer, Value::Bool(true))))
    }

    fn iter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        if self.is_iterator() {
            return Ok(Some(this.clone()));
        }
        let iterator = cx.ask_of(self, Request::Iter, Vec::new())?;
        Ok(Some(match iterator.downcast::<Proxy>() {
            Some(_) => Value::object(Items::of(iterator)),
            None => cx.iter(&iterator)?,
        }))
    }

    fn next(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(cx.next_items(self, 1)?.0.into_iter().next())
    }

    fn is_iterator(&self) -> bool {
        Proxy::is_iterator(self)
    }

    fn enter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        cx.ask_of(self, Request::Enter, Vec::new()).map(Some)
    }

    fn exit(&self, cx: &mut Cx, _this: &Value, error: &Value) -> Result<bool, Raised> {
        let error = cx.exception_datum(error)?;
        let answer = cx.ask_of(self, Request::Exit, vec![error])?;
        Ok(matches!(answer, Value::Bool(true)))
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        cx.python_text(self, "repr")
    }

    fn str(&self, cx: &mut Cx) -> Result<String, Raised> {
        cx.python_text(self, "str")
    }

    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        Ok(cx.python_convert(self, "hash")?.as_int())
    }

    fn format(&self, cx: &mut Cx, spec: &str) -> Result<Option<String>, Raised> {
        let text = cx.ask_of(self, Request::Format, vec![Datum::str(spec)])?;
        Ok(text.as_str().map(str::to_owned))
    }

    fn adopt(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(crate::check::unknown::foreign()))
    }

    fn array(&self, cx: &mut Cx) -> Result<Option<Value>, Raised> {
        cx.ask_of(self, Request::Array, Vec::new()).map(Some)
    }
}

impl Cx {
    fn python_operator(&mut self, name: &str, a: &Value, b: &Value) -> Res {
        self.begin_python_data();
        let mut args = vec![Datum::str(name)];
        args.extend(self.more_python_data(&[a.clone(), b.clone()])?);
        let answer = self.ask(Request::Binary, args)?;
        self.python_value(answer)
    }

    /// Up to so many items of an iterator, and whether there may be more.
    fn next_items(&mut self, proxy: &Proxy, wanted: i64) -> Result<(Vec<Value>, bool), Raised> {
        let told = self.ask_of(proxy, Request::Next, vec![Datum::Int(wanted)])?;
        let told = self.collect(&told)?;
        let items = told.first().map(|it| self.collect(it)).transpose()?.unwrap_or_default();
        Ok((items, matches!(told.get(1), Some(Value::Bool(true)))))
    }
}

/// `object.name` that is about to be called: looked up and called in one request.
struct Method {
    object: Value,
    name: Sym,
}

static METHOD: NativeType = NativeType::plain("method", "A method of an object of Python.");

/// The method of an object that is about to be called.
pub(crate) fn method(object: &Value, name: Sym) -> Option<Value> {
    of(object)?;
    Some(Value::object(Method { object: object.clone(), name }))
}

impl NativeObject for Method {
    fn native_type(&self) -> &'static NativeType {
        &METHOD
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let proxy = of(&self.object).ok_or_else(ended)?;
        cx.call_python_method(proxy, self.name, args)
    }
}

/// The items of an object, fetched several at a time.
struct Items {
    iterator: Value,
    waiting: RefCell<VecDeque<Value>>,
    wanted: Cell<i64>,
    has_more: Cell<bool>,
}

/// Items that are fetched at once at most.
const MOST: i64 = 512;

static ITEMS: NativeType = NativeType::plain("python_iterator", "Items of an object of Python.");

impl Items {
    fn of(iterator: Value) -> Items {
        let (waiting, wanted, has_more) = (RefCell::default(), Cell::new(1), Cell::new(true));
        Items { iterator, waiting, wanted, has_more }
    }
}

impl NativeObject for Items {
    fn native_type(&self) -> &'static NativeType {
        &ITEMS
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn iter(&self, _cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(this.clone()))
    }

    fn next(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        if let Some(item) = self.waiting.borrow_mut().pop_front() {
            return Ok(Some(item));
        }
        let Some(iterator) = self.iterator.downcast::<Proxy>() else { return Ok(None) };
        if !self.has_more.get() {
            return Ok(None);
        }
        let wanted = self.wanted.get();
        let (items, has_more) = cx.next_items(iterator, wanted)?;
        self.has_more.set(has_more);
        self.wanted.set((wanted * 2).min(MOST));
        self.waiting.borrow_mut().extend(items);
        Ok(self.waiting.borrow_mut().pop_front())
    }

    fn is_iterator(&self) -> bool {
        true
    }
}

/// The proxy in a value.
pub(crate) fn of(value: &Value) -> Option<&Proxy> {
    match value {
        Value::Object(it) => it.as_any().downcast_ref(),
        _ => None,
    }
}

/// Rows of types, by full name; they live as long as the process, as those of built-in types do.
pub(super) fn row(module: &str, name: &str) -> &'static NativeType {
    thread_local! {
        static ROWS: RefCell<Vec<&'static NativeType>> = const { RefCell::new(Vec::new()) };
    }
    /// Rows that are made; types beyond share one.
    const MOST: usize = 4096;
    static OBJECT: NativeType = NativeType::plain("object", "An object of Python.");
    ROWS.with_borrow_mut(|rows| {
        let module = if module == "builtins" { "" } else { module };
        let name = name.rsplit('.').next().unwrap_or(name);
        if let Some(row) = rows.iter().find(|it| it.name == name && it.module == module) {
            return *row;
        }
        if rows.len() == MOST {
            return &OBJECT;
        }
        let keep = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let row = NativeType {
            module: keep(module),
            ..NativeType::plain(keep(name), "An object of Python.")
        };
        let row: &'static NativeType = Box::leak(Box::new(row));
        rows.push(row);
        row
    })
}
