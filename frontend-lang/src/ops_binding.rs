//! Every op row as a function and, where the row says so, as a method of tensors.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use engine::apply::{place, shares_storage};
use engine::op::{Body, InferCx, Param, ParamKind, Returns};
use engine::{Attr, Attrs, Device, Error, OpDef, Outputs, Tensor};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::array;
use crate::builtins::modules::generator;
use crate::native::*;
use crate::objects::complex::Complex;
use crate::objects::tensor::{TensorObj, View};
use crate::ops_binding::forms::Form;
pub use crate::ops_binding::names::{in_place, in_place_names, method, methods_of_rows, named};
use crate::ops_binding::out::Out;
pub(crate) use crate::ops_binding::out::STORING;
use crate::suggest;
use crate::tensor::made::Made;
use crate::tensor::{arith, convert, device, journal, lost_part, methods};

mod attr;
mod forms;
mod names;
mod out;

/// The type of `torch.relu`.
pub static OP_FUNCTION: NativeType =
    NativeType { module: "torch", ..NativeType::plain("op", "An operation on tensors.") };

/// An op as a value that can be called.
pub struct OpFunction {
    /// The row.
    pub op: &'static OpDef,
    /// Whether the result replaces the value of the first tensor: `x.relu_()`.
    in_place: bool,
    /// Whether it refuses to copy: `x.view(2, 3)`.
    only_view: bool,
    /// What is done when it is called in another form than that of its row.
    form: Option<Form>,
}

/// Other names for the same parameter, in the libraries whose code runs here.
const PARAM_ALIASES: &[(&str, &str)] = &[
    ("axis", "dim"),
    ("keepdims", "keepdim"),
    ("inp", "input"),
    ("tensor", "input"),
    ("shape", "size"),
    ("size", "shape"),
    ("pred", "input"),
    ("label", "target"),
    ("bias_attr", "bias"),
    ("unbiased", "correction"),
    ("split_size_or_sections", "split_size"),
];

thread_local! {
    static FUNCTIONS: RefCell<FxHashMap<(Sym, bool), Value>> = RefCell::default();
}

/// The function of an op, made once.
pub fn function_of(op: &'static OpDef) -> Value {
    cached(Sym::of(op.name), op, false)
}

fn cached(name: Sym, op: &'static OpDef, in_place: bool) -> Value {
    if let Some(found) = FUNCTIONS.with_borrow(|it| it.get(&(name, in_place)).cloned()) {
        return found;
    }
    let only_view = op.surface.never_copies_as.contains(&name.as_str());
    let form = forms::of(op, in_place);
    let made = Value::object(OpFunction { op, in_place, only_view, form });
    FUNCTIONS.with_borrow_mut(|it| it.insert((name, in_place), made.clone()));
    made
}

/// The op that a function applies, if it is one that applies an op.
pub(crate) fn op_of(function: &Value) -> Option<&'static OpDef> {
    function.downcast::<OpFunction>().map(|it| it.op)
}

impl NativeObject for OpFunction {
    fn native_type(&self) -> &'static NativeType {
        &OP_FUNCTION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok(match name.as_str() {
            "__name__" | "__qualname__" => {
                let mark = if self.in_place { "_" } else { "" };
                Some(Value::str(format!("{}{mark}", self.op.name)))
            }
            "__doc__" => Some(Value::str(self.op.doc)),
            _ => None,
        })
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn binds_self(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        if let Some(form) = self.form.as_ref().filter(|it| it.applies(args)) {
            let found = form.call(cx, args)?;
            return match (self.in_place, args.positional.first()) {
                (true, Some(this)) => {
                    arith::assign(this, convert::variable(&found)?.get())?;
                    Ok(this.clone())
                }
                _ => Ok(found),
            };
        }
        let mut binding = Binding::new(self.op);
        binding.positional(cx, args.positional)?;
        for (name, value) in args.keywords {
            binding.keyword(cx, *name, value)?;
        }
        let mut bound = binding.finish()?.scaled()?;
        if self.only_view {
            bound.put_in_order(args)?;
        }
        if (self.in_place || bound.in_place)
            && let Some(this) = changed(args)
            && bound.replaces(&this)
        {
            return Ok(Value::Tensor(this));
        }
        bound.is_taken(cx)?;
        let device = bound.place(cx)?;
        lost_part::applying(cx, &bound.tensors, &bound.attrs)?;
        if let Some(out) = &bound.out {
            out.check(&bound.tensors)?;
            if let Some((only, given)) = out.only() {
                bound.made_as(&only);
                if bound.goes_into(&only, device) {
                    return Ok(given);
                }
            }
        }
        let run = || engine::apply::apply_optional(bound.op, &bound.tensors, &bound.attrs);
        let outputs = generator::with(bound.generator.as_ref(), || place::making_on(device, run))?;
        cx.see_departure();
        let outputs = outputs.map_err(|it| bound.said_by(self.op, it))?;
        // No handle stays on operands that may lie where the results go.
        bound.tensors.clear();
        if self.in_place || bound.in_place {
            return store(args, outputs);
        }
        if let Some(out) = &bound.out {
            return out.take(outputs);
        }
        if bound.made != Made::default()
            && let [only] = outputs.as_slice()
        {
            return bound.made.variable(only.clone());
        }
        result(cx, self.op, args, &bound.attrs, outputs)
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(format!("<op {}>", signature(self.op)))
    }
}

/// `relu(input)`, with defaults.
pub fn signature(op: &OpDef) -> String {
    let part = |it: &Param| match default_text(it) {
        None => it.name.to_string(),
        Some(default) => format!("{}={default}", it.name),
    };
    format!("{}({})", op.name, op.params.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// The default of a parameter as it is written.
pub fn default_text(param: &Param) -> Option<String> {
    param.default.map(|it| attr_text(&it.to_attr()))
}

fn attr_text(attr: &Attr) -> String {
    match attr {
        Attr::None => "None".into(),
        Attr::Bool(it) => if *it { "True" } else { "False" }.into(),
        Attr::Int(it) => it.to_string(),
        Attr::Float(it) => format!("{it:?}"),
        Attr::Complex(real, imag) => Complex { real: *real, imag: *imag }.text(),
        Attr::Ints(it) => format!("{:?}", it.as_slice()),
        Attr::DType(it) => it.name().into(),
        Attr::Str(it) => format!("\"{it}\""),
        Attr::Region(it) => format!("{:?}", it.text()),
    }
}

/// The variable that an op in place changes: its first argument, or the first of a list.
fn changed(args: CallArgs<'_>) -> Option<Rc<TensorObj>> {
    match args.positional.first()? {
        Value::List(items) => items.items.borrow().first()?.as_tensor().cloned(),
        this => this.as_tensor().cloned(),
    }
}

fn store(args: CallArgs<'_>, outputs: Outputs) -> Res {
    let (Some(this), Some(value)) = (changed(args), outputs.into_iter().next()) else {
        return Err(type_error("an op in place needs a tensor to change"));
    };
    let this = Value::Tensor(this);
    arith::assign(&this, value)?;
    Ok(this)
}

/// What a call gives, as the row says: results of view ops stay tied to the first argument.
fn result(
    cx: &mut Cx,
    op: &'static OpDef,
    args: CallArgs<'_>,
    attrs: &Attrs,
    outputs: Outputs,
) -> Res {
    let returns = op.surface.returns;
    let is_view = matches!(returns, Returns::View | Returns::Views);
    let base = args.positional.first().and_then(Value::as_tensor).filter(|_| is_view);
    let is_row = matches!(op.body, Body::View(_));
    let value = |(at, tensor): (usize, Tensor)| {
        Ok(match base {
            Some(base) if !is_row || shares_storage(op, &base.get(), attrs, tensor.shape()) => {
                Value::Tensor(TensorObj::view_of(base, View::Op(op, attrs.clone(), at), tensor))
            }
            // Programs are given no elements that lie backwards: they see them where they stand.
            _ if is_row && tensor.layout().strides.iter().any(|it| *it < 0) => {
                let ordered = methods::in_order(&tensor.detach())?;
                Value::tensor(ordered.at_edge(tensor.edge().cloned()))
            }
            _ => Value::tensor(tensor),
        })
    };
    let values: Result<Vec<Value>, Raised> = outputs.into_iter().enumerate().map(value).collect();
    let mut values = values?;
    match returns {
        Returns::Values | Returns::Named | Returns::View if values.len() == 1 => {
            Ok(values.remove(0))
        }
        Returns::Values | Returns::View | Returns::Views => Ok(Value::tuple(values)),
        Returns::Named => with_names(cx, op.name, &values),
    }
}

/// Several values that are also attributes, such as `.values` and `.indices`.
fn with_names(cx: &mut Cx, op: &'static str, values: &[Value]) -> Res {
    let module = cx.import("torch.return_types")?;
    let class = cx.getattr(&module, Sym::of(op))?;
    cx.call(&class, values)
}

/// Arguments on their way to the parameters of an op.
struct Binding {
    op: &'static OpDef,
    tensors: SmallVec<[Option<Tensor>; 3]>,
    attrs: Attrs,
    given: u64,
    made: Made,
    /// `inplace=True`.
    in_place: bool,
    /// The variable that takes the result.
    out: Option<Out>,
    /// What is added to the first operand is the second times this.
    alpha: Option<Value>,
    /// `device=...`.
    device: Option<Device>,
    /// `generator=...` of random ops.
    generator: Option<Value>,
}

impl Binding {
    fn new(op: &'static OpDef) -> Self {
        let is_list = op.params.iter().any(|it| it.kind == ParamKind::Tensors);
        let n_tensors = if is_list { 0 } else { op.n_tensors() };
        Self {
            op,
            tensors: SmallVec::from_elem(None, n_tensors),
            attrs: op.default_attrs(),
            given: 0,
            made: Made::default(),
            in_place: false,
            out: None,
            alpha: None,
            device: None,
            generator: None,
        }
    }

    fn positional(&mut self, cx: &mut Cx, values: &[Value]) -> Result<(), Raised> {
        let mut at = 0;
        let values = self.without_inplace(values);
        for (idx, param) in self.op.params.iter().enumerate() {
            if at >= values.len() {
                return Ok(());
            }
            let taken = self.spread(idx, param, &values[at..]);
            if let (Value::Bool(_), Some((idx, param))) = (&values[at], self.correction(idx)) {
                self.set(cx, idx, param, &values[at])?;
            } else if taken > 1 {
                let ints = values[at..at + taken].iter().filter_map(Value::as_int).collect();
                self.put_attr(idx, Attr::Ints(ints));
            } else {
                self.set(cx, idx, param, &values[at])?;
            }
            at += taken;
        }
        // `F.relu(x, True)`: behind all others stands whether it works in place.
        if let [Value::Bool(in_place)] = &values[at..]
            && self.op.n_tensors() == 1
        {
            self.in_place = *in_place;
            return Ok(());
        }
        if at < values.len() {
            return Err(type_error(format!(
                "{} takes {} arguments but {} were given",
                signature(self.op),
                self.op.params.len(),
                values.len()
            )));
        }
        Ok(())
    }

    /// Takes `inplace` where it stands behind all parameters: `F.dropout(x, 0.5, True, True)`.
    fn without_inplace<'a>(&mut self, values: &'a [Value]) -> &'a [Value] {
        let may_be = self.op.n_tensors() == 1 && values.len() == self.op.params.len() + 1;
        match values.split_last() {
            Some((Value::Bool(it), before))
                if may_be && (self.op.works_in_place() || !self.op.pure) =>
            {
                self.in_place = *it;
                before
            }
            _ => values,
        }
    }

    /// The parameter that a truth value means in the place of the dimensions at `idx`: `x.std(False)`.
    fn correction(&self, idx: usize) -> Option<(usize, &'static Param)> {
        let names_dims = self.op.params[idx].kind == ParamKind::OptInts;
        self.op.params.iter().enumerate().find(|it| names_dims && it.1.name == "correction")
    }

    /// How many of `values` belong to this parameter: sizes may be written one by one, `x.reshape(2, 3)`.
    fn spread(&self, idx: usize, param: &Param, values: &[Value]) -> usize {
        let ints = values.iter().take_while(|it| matches!(it, Value::Int(_))).count();
        let spreads = param.kind == ParamKind::Ints && param.default.is_none() && ints > 1;
        let next_takes_int = self.op.params.get(idx + 1).is_some_and(|next| {
            matches!(
                next.kind,
                ParamKind::Ints | ParamKind::OptInts | ParamKind::Int | ParamKind::OptInt
            )
        });
        if spreads && !next_takes_int { ints } else { 1 }
    }

    fn keyword(&mut self, cx: &mut Cx, name: Sym, value: &Value) -> Result<(), Raised> {
        let text = name.as_str();
        let alias = PARAM_ALIASES.iter().find(|it| it.0 == text).map_or(text, |it| it.1);
        let find = |wanted: &str| self.op.params.iter().position(|it| it.name == wanted);
        let first = || (alias == "input" || alias == "x").then_some(0);
        if let Some(idx) = find(text).or_else(|| find(alias)).or_else(first) {
            if self.given & (1 << idx) != 0 {
                return Err(type_error(format!(
                    "{}() got multiple values for '{text}'",
                    self.op.name
                )));
            }
            return self.set(cx, idx, &self.op.params[idx], value);
        }
        match text {
            "device" if value.is_none() => Ok(()),
            "device" => {
                self.device = Some(device::from_value(value)?);
                Ok(())
            }
            "out" if value.is_none() => Ok(()),
            "out" => {
                self.out = Some(Out::of(cx, self.op.name, value)?);
                Ok(())
            }
            "alpha" if let Some(alpha) = &self.op.surface.alpha => {
                let negated = alpha.negated.then(|| cx.unary(UnaryOp::Neg, value)).transpose()?;
                self.alpha = Some(negated.unwrap_or_else(|| value.clone()));
                Ok(())
            }
            "generator" if !self.op.pure => {
                self.generator = Some(value.clone());
                Ok(())
            }
            "inplace" if self.op.n_tensors() == 1 => {
                self.in_place = cx.truth(value)?;
                Ok(())
            }
            _ if Made::is_by(self.op) && self.made.keyword(cx, text, value)? => Ok(()),
            _ => Err(self.unknown(text)),
        }
    }

    fn unknown(&self, name: &str) -> Raised {
        let near = suggest::nearest(name, self.op.params.iter().map(|it| it.name));
        let hint = near.map_or_else(|| ".".into(), |it| format!(". Did you mean '{it}'?"));
        type_error(format!(
            "{}() got an unexpected keyword argument '{name}'{hint} Its parameters: {}",
            self.op.name,
            signature(self.op)
        ))
    }

    fn set(&mut self, cx: &mut Cx, idx: usize, param: &Param, value: &Value) -> Result<(), Raised> {
        let before = &self.op.params[..idx];
        match param.kind {
            ParamKind::Tensors => {
                if value.as_tensor().is_some() {
                    let name = self.op.name;
                    return Err(type_error(format!(
                        "{name}(): '{}' must be a list or tuple of tensors, not Tensor; write `{name}([a, b])`",
                        param.name
                    )));
                }
                for (at, item) in cx.collect(value)?.into_iter().enumerate() {
                    if convert::as_number(&item).is_some() {
                        return Err(type_error(format!(
                            "{}(): expected Tensor as element {at} in argument '{}', but got {}",
                            self.op.name,
                            param.name,
                            type_name(&item)
                        )));
                    }
                    self.tensors.push(Some(self.tensor(param, &item)?));
                }
            }
            ParamKind::OptTensor if value.is_none() => {}
            ParamKind::Tensor | ParamKind::OptTensor => {
                let at = before.iter().filter(|it| it.kind.is_tensor()).count();
                self.tensors[at] = Some(self.tensor(param, value)?);
            }
            _ => {
                let attr = self.attr(cx, param, value)?;
                self.put_attr(idx, attr);
                return Ok(());
            }
        }
        self.given |= 1 << idx;
        Ok(())
    }

    fn put_attr(&mut self, idx: usize, attr: Attr) {
        let at = self.op.params[..idx].iter().filter(|it| !it.kind.is_tensor()).count();
        self.attrs[at] = attr;
        self.given |= 1 << idx;
    }

    fn tensor(&self, param: &Param, value: &Value) -> Result<Tensor, Raised> {
        // Where it is the only one, a number is none.
        let takes_numbers = self.op.n_tensors() != 1 && !self.op.surface.takes_no_numbers;
        let found = convert::operand(value);
        let is_taken =
            |it: &Tensor| takes_numbers || value.as_tensor().is_some() || it.as_number().is_none();
        found.filter(is_taken).ok_or_else(|| {
            let at = self.op.params.iter().position(|it| it.name == param.name).unwrap_or(0);
            type_error(format!(
                "{}(): argument '{}' (position {}) must be Tensor, not {}; wrap the data in tensor(...)",
                self.op.name,
                param.name,
                at + 1,
                type_name(value)
            ))
        })
    }

    /// Sees to it that a view op has no need to copy. A variable of its own is put in order where it stands; where the elements lie
    /// as another variable wants it, they cannot be seen in this shape.
    fn put_in_order(&mut self, args: CallArgs<'_>) -> Result<(), Raised> {
        let Some(Some(input)) = self.tensors.first_mut() else { return Ok(()) };
        if input.layout().is_contiguous() {
            return Ok(());
        }
        let metas = engine::apply::infer(self.op, std::slice::from_ref(input), &self.attrs)?;
        let shape = &metas[0].shape;
        if shares_storage(self.op, input, &self.attrs, shape) {
            return Ok(());
        }
        let Some(object) = args.positional.first().and_then(Value::as_tensor) else {
            return Ok(());
        };
        if object.lies_as_another() {
            return Err(runtime_error(format!(
                "view: the elements of this {} tensor lie in another order, so {shape} would be a copy. \
                 Use .reshape(...) instead, or .contiguous() first",
                input.shape()
            )));
        }
        let ordered = methods::in_order(&input.detach())?.at_edge(input.edge().cloned());
        journal::value_changes(object);
        object.put_on_tape(&ordered);
        *input = ordered;
        Ok(())
    }

    /// Refuses what PyTorch refuses and other libraries take, unless the session has code of these.
    fn is_taken(&self, cx: &Cx) -> Result<(), Raised> {
        let Some(refuses) = self.op.surface.refuses_in_torch else { return Ok(()) };
        if array::is_of_others(cx) {
            return Ok(());
        }
        let inputs: SmallVec<[Tensor; 3]> = self.tensors.iter().flatten().cloned().collect();
        Ok(refuses(&InferCx { op: self.op, inputs: &inputs, attrs: &self.attrs })?)
    }

    /// Brings the operands to the device that is given. What is made of nothing is made there, or on the default device.
    fn place(&mut self, cx: &mut Cx) -> Result<Device, Raised> {
        let makes = self.tensors.is_empty();
        let device = match self.device {
            None if makes => device::or_default(cx, None)?,
            None => return Ok(Device::Cpu),
            Some(device) => device,
        };
        for tensor in self.tensors.iter_mut().flatten() {
            *tensor = device::shaped(tensor, device)?;
        }
        Ok(device)
    }

    /// With an `alpha`, another op computes it, as the row says.
    fn scaled(mut self) -> Result<Self, Raised> {
        if let (Some(number), Some(alpha)) = (self.alpha.take(), &self.op.surface.alpha) {
            let number = convert::operand(&number);
            self.tensors.push(Some(number.ok_or_else(|| type_error("alpha must be a number"))?));
            self.op = alpha.op;
        }
        Ok(self)
    }

    /// What is wrong in the words of the op that was called, not of the one that computes it.
    fn said_by(&self, called: &'static OpDef, error: Error) -> Error {
        let [Some(x), Some(y), ..] = self.tensors.as_slice() else { return error };
        if self.op == called {
            return error;
        }
        let own = engine::apply::infer(called, &[x.clone(), y.clone()], &Attrs::new());
        own.err().unwrap_or(error)
    }

    fn finish(self) -> Result<Self, Raised> {
        let missing = self.op.params.iter().enumerate().find(|(idx, param)| {
            let optional = param.default.is_some() || param.kind == ParamKind::OptTensor;
            !optional && self.given & (1 << idx) == 0
        });
        match missing {
            None => Ok(self),
            Some((_, param)) => Err(type_error(format!(
                "{}() missing a required argument: '{}'. Its parameters: {}",
                self.op.name,
                param.name,
                signature(self.op)
            ))),
        }
    }
}
