//! Tensors as values: a mutable variable around an immutable engine tensor.
//!
//! Assignment in place gives the variable a new value. A view (`x[0]`, `x.T`, `x.data`) remembers the variable it was
//! taken from: writing to either is seen through the other, as in PyTorch, while engine tensors stay immutable.

mod grad;
mod in_place;
mod view;

use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

use engine::Tensor;
use engine::autograd::{self, Edge};
use engine::index::Index;
use rustc_hash::FxHashMap;

use crate::array::{self, ufunc};
use crate::memory::Fixed;
use crate::native::*;
use crate::tensor::{arith, attribute, index, methods, text};

pub(crate) use grad::assigned_grads;
pub use view::View;
use view::{Base, Former, Lookers};

/// A tensor as programs hold it.
pub struct TensorObj {
    value: RefCell<Tensor>,
    grad: RefCell<Option<Rc<TensorObj>>>,
    /// It had a gradient, which was taken away.
    grad_cleared: Cell<bool>,
    /// It is the gradient of another tensor, or was.
    was_grad: Cell<bool>,
    base: RefCell<Option<Box<Base>>>,
    version: Cell<u32>,
    /// How often it was given a value, rather than written in place.
    puts: Cell<u32>,
    /// How many views look at it.
    views: Cell<u32>,
    /// Those of them that may hold its elements.
    lookers: RefCell<Lookers>,
    former: RefCell<Former>,
    look: Cell<Look>,
    /// What sees the gradient of a leaf before it is added up: a dict of functions.
    hooks: RefCell<Option<Value>>,
    /// How many views stand between the variable and its data.
    depth: u32,
    _memory: Fixed<256>,
}

/// The class that a tensor shows to programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// `torch.Tensor`.
    Tensor,
    /// `nn.Parameter`, which modules find.
    Parameter,
    /// `numpy.ndarray`; see [`crate::array`].
    Array,
    /// A tensor that stands for a number of the language, in a graph that is built symbolically: nothing is written to it.
    Number,
    /// A tensor that is another variable if a branch on a tensor goes one way: writing to it is refused.
    Either,
}

/// Most views of views that writing goes through.
const DEEPEST: u32 = 100;

thread_local! {
    /// The variable of each living leaf, by the id of its edge.
    static LEAVES: RefCell<FxHashMap<u64, Weak<TensorObj>>> = RefCell::default();
}

impl TensorObj {
    /// A variable holding `tensor`.
    pub fn new(tensor: Tensor) -> TensorObj {
        TensorObj::make(tensor, None, Look::Tensor)
    }

    /// As [`TensorObj::new`], under another look.
    pub(crate) fn with_look(tensor: Tensor, look: Look) -> TensorObj {
        TensorObj::make(tensor, None, look)
    }

    /// The class that programs see.
    #[inline]
    pub fn look(&self) -> Look {
        self.look.get()
    }

    /// Makes a variable that nobody else holds yet show another class.
    pub(crate) fn show_as(&self, look: Look) {
        self.look.set(look);
    }

    /// The result of an op on this and another value: where both stand for numbers, so does the result.
    #[inline]
    fn number_of(
        &self,
        other: &Value,
        result: Result<Option<Value>, Raised>,
    ) -> Result<Option<Value>, Raised> {
        if self.look() == Look::Number
            && stands_for_number(other)
            && let Ok(Some(Value::Tensor(it))) = &result
        {
            it.show_as(Look::Number);
        }
        result
    }

    pub(crate) fn is_array(&self) -> bool {
        self.look() == Look::Array
    }

    /// How often the value was replaced in place.
    pub(crate) fn version(&self) -> u32 {
        self.version.get()
    }

    /// The value as last seen, without looking at the base of a view.
    pub(crate) fn peek(&self) -> Tensor {
        self.seen().clone()
    }

    /// Gives the variable another value, also of another shape or history.
    pub(crate) fn replace_value(&self, value: Tensor) {
        self.put(value);
    }

    /// As [`TensorObj::replace_value`]; views look again.
    pub(crate) fn restore(&self, value: Tensor) {
        self.version.set(self.version.get().wrapping_add(1));
        self.put(value);
    }

    /// What a view was taken from, and how.
    pub(crate) fn base_object(&self) -> Option<(Rc<TensorObj>, View)> {
        self.base.borrow().as_ref().map(|it| (it.object.clone(), it.view.clone()))
    }

    /// Whether the elements lie as those of another variable do: it is a view of more than `.data`.
    pub(crate) fn lies_as_another(&self) -> bool {
        self.base
            .borrow()
            .as_ref()
            .is_some_and(|it| !matches!(it.view, View::Same) || it.object.lies_as_another())
    }

    /// Whether it is a view, or more views than these were taken from it and live.
    pub(crate) fn shares_elements(&self, views: u32) -> bool {
        self.base.borrow().is_some() || self.views.get() > views
    }

    fn make(tensor: Tensor, base: Option<Box<Base>>, look: Look) -> TensorObj {
        let (value, grad) = (RefCell::new(tensor), RefCell::new(None));
        let (hooks, version, views, lookers, grad_cleared) = Default::default();
        let (was_grad, puts, former, _memory) = Default::default();
        let depth = base.as_ref().map_or(0, |it| it.object.depth + 1);
        let look = Cell::new(look);
        let base = RefCell::new(base);
        TensorObj {
            value,
            grad,
            grad_cleared,
            was_grad,
            base,
            version,
            puts,
            views,
            lookers,
            former,
            look,
            hooks,
            depth,
            _memory,
        }
    }

    /// A view of `object` whose value is `tensor` now.
    pub fn view_of(object: &Rc<TensorObj>, view: View, tensor: Tensor) -> Rc<TensorObj> {
        if object.depth >= DEEPEST {
            // Reading is right for ever; writing says what to do.
            let mut cut = TensorObj::make(tensor, None, Look::Tensor);
            cut.depth = DEEPEST + 1;
            return Rc::new(cut);
        }
        let base = Base::new(object, view, &tensor);
        TensorObj::looking(tensor, base, Look::Tensor)
    }

    /// Makes the variable show its own elements through a view op, in another shape; `false` while others look at them as they lie now.
    pub(crate) fn turn_into(self: &Rc<Self>, view: View, tensor: Tensor) -> bool {
        if self.views.get() > 0 || self.depth >= DEEPEST {
            return false;
        }
        let value = self.peek();
        let owner = match self.base.take() {
            Some(base) => TensorObj::looking(value, base, self.look()),
            None => Rc::new(TensorObj::make(value, None, self.look())),
        };
        self.base.replace(Some(Base::new(&owner, view, &tensor)));
        self.look_from_here();
        self.put(tensor);
        true
    }

    /// A trainable variable: a leaf that modules find.
    pub fn parameter(tensor: &Tensor, requires_grad: bool) -> Rc<TensorObj> {
        let object = Rc::new(TensorObj::make(tensor.detach(), None, Look::Parameter));
        if requires_grad {
            object.make_leaf();
        }
        object
    }

    /// Whether modules count it as a parameter.
    pub fn is_parameter(&self) -> bool {
        self.look() == Look::Parameter
    }

    /// The value now.
    pub fn get(&self) -> Tensor {
        self.look_again();
        self.value.borrow().clone()
    }

    /// The value as last seen, for as long as no program runs: nothing may change the variable meanwhile.
    pub(crate) fn seen(&self) -> Ref<'_, Tensor> {
        self.come_back();
        self.value.borrow()
    }

    /// Lets a view follow what it was taken from.
    #[inline]
    pub(crate) fn look_again(&self) {
        if let Some(base) = self.base.borrow().as_ref() {
            self.follow(base);
        }
    }

    fn follow(&self, base: &Base) {
        let version = base.object.current_version();
        if base.is_away() && self.take_back(base) {
            return;
        }
        if base.is_away() || base.seen.get() != version {
            self.look_at(base);
        }
    }

    fn look_at(&self, base: &Base) {
        let version = base.object.current_version();
        // A view that has a history keeps it where it is read while nothing is recorded.
        let edge = self.value.borrow().edge().cloned();
        let is_recorded = edge.is_some() || autograd::enabled() && !base.is_off_tape;
        let enabled = autograd::set_enabled(is_recorded);
        if let Ok(value) = base.apply() {
            self.value.replace(base.view.placed(value, edge.as_ref()));
            base.looks();
        }
        autograd::set_enabled(enabled);
        base.seen.set(version);
    }

    /// Lets a view, and views of it, show the elements where they lie, which it had copies of.
    pub(crate) fn look_anew(&self) {
        if let Some(base) = self.base.borrow().as_ref() {
            self.look_at(base);
        }
        let lookers: Vec<Rc<TensorObj>> =
            self.lookers.borrow().iter().filter_map(Weak::upgrade).collect();
        lookers.iter().for_each(|it| it.look_anew());
    }

    /// How often the value was replaced in place, or that of what it is a view of.
    pub(crate) fn current_version(&self) -> u32 {
        let of_base = self.base.borrow().as_ref().map_or(0, |it| it.object.current_version());
        self.version.get().wrapping_add(of_base)
    }

    /// Gives the variable a new value of the same shape, also seen through views and by the base.
    pub fn set(&self, value: Tensor) -> engine::Result<()> {
        if let Some(base) = self.base.borrow().as_ref() {
            let Some(value) = self.left_to_write(value)? else { return Ok(()) };
            base.write(&value)?;
            let seen = base.view.apply(&base.object.get())?;
            base.seen.set(base.object.current_version());
            self.value.replace(base.view.placed(seen, value.edge()));
            base.looks();
            return Ok(());
        }
        self.version.set(self.version.get().wrapping_add(1));
        self.put(value);
        Ok(())
    }

    /// Gives the variable new elements at its place of the tape: a leaf stays the same leaf, a result keeps its history.
    pub fn set_data(&self, value: Tensor) -> engine::Result<()> {
        let edge = self.value.borrow().edge().cloned();
        let base = self.base.borrow();
        let Some(base) = base.as_ref() else { return self.set(value.at_edge(edge)) };
        let Some(value) = self.left_to_write(value)? else { return Ok(()) };
        let whole = base.view.write(&base.object.get(), &value)?;
        base.object.set_data(whole)?;
        let seen = base.view.apply(&base.object.get())?;
        base.seen.set(base.object.current_version());
        self.value.replace(seen.at_edge(edge));
        base.looks();
        Ok(())
    }

    /// Writes all that a view sees, where it is or into the variable below; the value where neither can be.
    fn left_to_write(&self, value: Tensor) -> engine::Result<Option<Tensor>> {
        let all = [Index::Ellipsis];
        let Some(value) = self.write_in_place(&all, value)? else { return Ok(None) };
        Ok(if self.set_below(&all, &value)? { None } else { Some(value) })
    }

    /// What an op in place may not do here, as text.
    pub fn refuses_in_place(&self) -> Option<&'static str> {
        if self.look() == Look::Either {
            return Some(
                "this tensor is another variable if the branch on a tensor goes one way, and is not if it goes the other, so it cannot \
                 be written in place; write `x = x + 1` instead of `x += 1`",
            );
        }
        if self.depth > DEEPEST {
            return Some(
                "a view of a view of a view ... cannot be changed in place; use `.clone()`",
            );
        }
        let is_leaf = autograd::enabled() && self.is_of_leaf();
        is_leaf.then_some(
            "a leaf that requires grad cannot be changed in place while gradients are recorded; \
             do it inside `with torch.no_grad():`",
        )
    }

    /// Whether what is written here is written into a leaf: itself, or one that it is a view of.
    fn is_of_leaf(&self) -> bool {
        let is_leaf = self.value.borrow().edge().is_some_and(Edge::is_leaf);
        let base = self.base.borrow();
        let base = base.as_ref().filter(|it| !matches!(it.view, View::Same));
        is_leaf || base.is_some_and(|it| it.object.is_of_leaf())
    }

    /// Gives the variable the same elements at another place of the tape.
    pub fn put_on_tape(&self, value: &Tensor) {
        self.put(value.clone());
    }

    /// Makes the variable a leaf that collects gradients.
    pub fn make_leaf(self: &Rc<Self>) {
        let leaf = self.get().leaf();
        if let Some(edge) = leaf.edge() {
            LEAVES.with_borrow_mut(|it| it.insert(edge.id(), Rc::downgrade(self)));
        }
        self.put(leaf);
    }

    /// Takes the variable off the tape.
    pub fn drop_edge(&self) {
        let value = self.get().detach();
        self.put(value);
    }

    /// The variable of a leaf.
    pub fn of_leaf(id: u64) -> Option<Rc<TensorObj>> {
        LEAVES.with_borrow(|it| it.get(&id).and_then(Weak::upgrade))
    }
}

impl Drop for TensorObj {
    fn drop(&mut self) {
        let value = self.value.borrow();
        let Some(edge) = value.edge().filter(|it| it.is_leaf()) else { return };
        let forget = |table: &mut FxHashMap<u64, Weak<TensorObj>>| {
            // A slice of all, `x[:]`, has the edge of the leaf too; the leaf may outlive it.
            if table.get(&edge.id()).is_some_and(|it| it.strong_count() == 0) {
                table.remove(&edge.id());
            }
        };
        // While a thread ends the table may be gone already.
        let _ = LEAVES.try_with(|it| forget(&mut it.borrow_mut()));
    }
}

/// Whether a value is a number, or a tensor that stands for one.
pub(crate) fn stands_for_number(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::Tensor(it) => it.look() == Look::Number,
        _ => false,
    }
}

/// Elements that nobody knows are asked for.
fn note_abstract(value: &Tensor) {
    if value.is_abstract() {
        crate::check::unknown::touch();
    }
}

impl NativeObject for TensorObj {
    fn native_type(&self) -> &'static NativeType {
        match self.look() {
            Look::Tensor | Look::Number | Look::Either => &methods::TENSOR,
            Look::Parameter => &methods::PARAMETER,
            Look::Array => &array::object::NDARRAY,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        match this {
            Value::Tensor(it) if self.is_array() => array::object::get(it, name),
            _ => attribute::get(cx, this, name),
        }
    }

    fn setattr(&self, cx: &mut Cx, this: &Value, name: Sym, value: &Value) -> Result<bool, Raised> {
        if self.is_array() {
            return array::object::set(cx, this, name, value);
        }
        attribute::set(this, name, value)
    }

    fn attributes(&self) -> Vec<Sym> {
        if self.is_array() { array::object::names() } else { attribute::names() }
    }

    fn binary(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return ufunc::binary(cx, op, this, other, reflected);
        }
        let res = arith::binary(op, this, other, reflected);
        cx.see_departure();
        self.number_of(other, res)
    }

    fn inplace(
        &self,
        cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return ufunc::inplace(cx, op, this, other);
        }
        if self.look() == Look::Number {
            return Ok(None);
        }
        let res = arith::inplace(op, this, other);
        cx.see_departure();
        res
    }

    fn unary(&self, cx: &mut Cx, op: UnaryOp, this: &Value) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return ufunc::unary(cx, op, this);
        }
        let res = arith::unary(op, this);
        cx.see_departure();
        self.number_of(this, res)
    }

    fn compare(
        &self,
        cx: &mut Cx,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return ufunc::compare(cx, op, this, other);
        }
        let res = arith::compare(op, this, other);
        cx.see_departure();
        self.number_of(other, res)
    }

    fn truth(&self, cx: &mut Cx) -> Result<bool, Raised> {
        let value = self.get();
        if self.is_array() {
            return array::object::truth(&value);
        }
        cx.track_truth(&value).map_or_else(|| arith::truth(&value), Ok)
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        match self.seen().shape().first() {
            Some(&size) => Ok(Some(size)),
            None if self.is_array() => Err(type_error("len() of unsized object")),
            None => Err(type_error("len() of a 0-d tensor")),
        }
    }

    fn getitem(&self, cx: &mut Cx, this: &Value, key: &Value) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return array::index::get(cx, this, key).map(Some);
        }
        index::get(cx, this, key).map(Some)
    }

    fn setitem(
        &self,
        cx: &mut Cx,
        this: &Value,
        key: &Value,
        value: &Value,
    ) -> Result<bool, Raised> {
        match self.is_array() {
            true => array::index::set(cx, this, key, value)?,
            false => index::set(cx, this, key, value)?,
        }
        Ok(true)
    }

    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        if self.is_array() {
            return array::index::contains(cx, self, item).map(Some);
        }
        arith::contains(&self.get(), item).map(Some)
    }

    fn iter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        if self.is_array() {
            return array::index::rows(cx, this).map(Some);
        }
        index::rows(cx, this).map(Some)
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(match self.look() {
            Look::Array => array::text::repr(&self.get())?,
            Look::Tensor | Look::Number | Look::Either => text::repr(&self.get())?,
            Look::Parameter => format!("Parameter containing:\n{}", text::repr(&self.get())?),
        })
    }

    fn str(&self, cx: &mut Cx) -> Result<String, Raised> {
        if !self.is_array() {
            return self.repr(cx);
        }
        let value = self.get();
        match value.rank() {
            0 => cx.str(&array::scalar::of(&value)?),
            _ => Ok(array::text::str(&value)?),
        }
    }

    fn as_index(&self) -> Option<i64> {
        let value = self.get();
        note_abstract(&value);
        let one = if self.is_array() { value.rank() == 0 } else { value.numel() == 1 };
        let whole = !value.dtype().is_float() && one;
        let item = whole.then(|| value.item().ok()).flatten()?;
        (item.imag() == 0.0).then(|| item.as_i64())
    }

    fn as_float(&self) -> Option<f64> {
        let value = self.get();
        note_abstract(&value);
        let one = if self.is_array() { value.rank() == 0 } else { value.numel() == 1 };
        let item = one.then(|| value.item().ok()).flatten()?;
        (item.imag() == 0.0).then(|| item.as_f64())
    }

    fn format(&self, cx: &mut Cx, spec: &str) -> Result<Option<String>, Raised> {
        let value = self.get();
        if value.rank() > 0 || self.is_parameter() && spec.is_empty() {
            return Ok(None);
        }
        let item = crate::tensor::convert::number(value.item()?);
        cx.format(&item, spec).map(Some)
    }
}
