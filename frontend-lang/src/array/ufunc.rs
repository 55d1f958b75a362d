//! Universal functions: what works element by element, operators among them. One row per function (`ufunc_rows`) says how dtypes are
//! chosen; the op of the engine computes.
//!
//! Plain numbers only give their kind, as NumPy 2 has it; arrays of rank 0 and NumPy's numbers count with their dtype. Of arrays alone the
//! result is an array, or a number where no dimension is left; with a tensor among the operands it is a tensor.

use std::any::Any;
use std::sync::OnceLock;

use engine::{DType, Number, Shape, Tensor};

use super::scalar_ops::common;
use super::ufunc_out::store;
use super::ufunc_rows::{ALL, Kind};
use super::{dtype, make, scalar, shape_text};
use crate::native::*;
use crate::objects::tensor::Look;
use crate::python::proxy;
use crate::tensor::arith::Ready;
use crate::tensor::convert;

/// The type of `np.exp`.
pub static UFUNC: NativeType =
    NativeType { module: "numpy", ..NativeType::plain("ufunc", "A function of each element.") };

pub(super) const NO_SUBTRACT: &str = "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.";
pub(super) const NO_NEGATIVE: &str = "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.";
pub(super) const NO_NEGATIVE_POWERS: &str = "Integers to negative integer powers are not allowed.";

/// One function.
pub struct Row {
    pub name: &'static str,
    /// The op of the engine.
    pub op: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
    ready: OnceLock<Option<Ready>>,
}

/// A function as a value.
pub struct Ufunc(pub &'static Row);

/// One operand: its elements, its dtype, and whether it only gives its kind.
pub(super) struct Operand {
    pub(super) tensor: Tensor,
    pub(super) dtype: DType,
    pub(super) weak: bool,
    look: Look,
}

impl Row {
    /// A row, whose op is looked up when it is first called.
    pub const fn new(name: &'static str, op: &'static str, kind: Kind, doc: &'static str) -> Row {
        Row { name, op, kind, doc, ready: OnceLock::new() }
    }

    /// How many operands it takes.
    pub fn n_operands(&self) -> usize {
        if self.kind.is_unary() { 1 } else { 2 }
    }

    pub(super) fn ready(&self) -> Option<&Ready> {
        self.ready.get_or_init(|| Ready::named(self.op)).as_ref()
    }

    fn apply(&self, inputs: &[Tensor]) -> Result<Tensor, Raised> {
        let ready =
            self.ready().ok_or_else(|| runtime_error(format!("the op {} is missing", self.op)))?;
        engine::apply_one(ready.op, inputs, &ready.attrs).map_err(super::error)
    }

    /// The result for one operand.
    fn one(&self, x: &Operand) -> Result<Tensor, Raised> {
        let floats = match x.dtype.size() {
            _ if x.dtype.is_float() => x.dtype,
            1 => DType::F16,
            2 => DType::F32,
            _ => DType::F64,
        };
        let wanted = match self.kind {
            Kind::ToFloat => floats,
            Kind::Negative if x.dtype == DType::Bool => return Err(type_error(NO_NEGATIVE)),
            Kind::Invert if x.dtype.is_float() => return Err(no_such_types("invert")),
            Kind::Rounds if !x.dtype.is_float() => return x.stored(x.dtype),
            Kind::Tests if !x.dtype.is_float() => DType::F64,
            _ => x.dtype,
        };
        let tensor = x.stored(wanted)?;
        match self.kind {
            Kind::Same if wanted == DType::Bool => Ok(tensor),
            _ => self.apply(&[tensor]),
        }
    }

    /// The result for two operands.
    fn two(&self, a: &Operand, b: &Operand) -> Result<Tensor, Raised> {
        if self.kind == Kind::MatMul {
            return self.product(a, b);
        }
        if a.tensor.shape().broadcast(b.tensor.shape()).is_none() {
            return Err(value_error(format!(
                "operands could not be broadcast together with shapes {} {} ",
                shape_text(a.tensor.shape()),
                shape_text(b.tensor.shape())
            )));
        }
        let dtype = common((a.dtype, a.weak), (b.dtype, b.weak));
        let both =
            |dtype| -> Result<[Tensor; 2], Raised> { Ok([a.ready(dtype, b)?, b.ready(dtype, a)?]) };
        let whole = if dtype == DType::Bool { DType::I64 } else { dtype };
        match self.kind {
            Kind::Divides if !dtype.is_float() => self.apply(&both(DType::F64)?),
            Kind::Adds if dtype == DType::Bool => LOGICAL_OR.apply(&both(dtype)?),
            Kind::Multiplies if dtype == DType::Bool => LOGICAL_AND.apply(&both(dtype)?),
            Kind::Subtracts if dtype == DType::Bool => Err(type_error(NO_SUBTRACT)),
            Kind::Picks if dtype == DType::Bool => {
                let picked = self.apply(&both(DType::U8)?)?;
                convert::cast(&picked, Some(DType::Bool))
            }
            Kind::Bits if dtype.is_float() => Err(no_such_types(self.name)),
            Kind::Compares => {
                // A negative number beside unsigned elements stays negative.
                let narrow = dtype.is_int() && dtype.size() < 4;
                let dtype = if narrow && (a.weak || b.weak) { DType::I64 } else { dtype };
                self.apply(&both(dtype)?)
            }
            Kind::Logical => self.apply(&[a.stored(a.dtype)?, b.stored(b.dtype)?]),
            Kind::Whole if !dtype.is_float() => self.whole(a, b, whole),
            Kind::Powers if !dtype.is_float() => {
                no_negative_powers(b)?;
                self.checked(a, b, whole)
            }
            _ if dtype.is_float() || dtype == DType::Bool => self.apply(&both(dtype)?),
            _ => self.checked(a, b, dtype),
        }
    }

    /// Whole numbers, where plain ones must fit into the dtype of the others.
    fn checked(&self, a: &Operand, b: &Operand, dtype: DType) -> Result<Tensor, Raised> {
        for it in [a, b] {
            if let Some(number) = it.tensor.as_number().filter(|_| it.weak) {
                check_fits(number, dtype)?;
            }
        }
        self.apply(&[a.ready(dtype, b)?, b.ready(dtype, a)?])
    }

    /// Quotients and rests of whole numbers; 0 where the divisor is.
    fn whole(&self, a: &Operand, b: &Operand, dtype: DType) -> Result<Tensor, Raised> {
        let divisor = b.stored(dtype)?;
        if divisor.is_abstract() || !divisor.to_f64_vec()?.contains(&0.0) {
            return self.checked(a, b, dtype);
        }
        let zero = EQUAL.apply(&[divisor.clone(), Tensor::int_number(0)])?;
        let one = convert::cast(&zero, Some(dtype))?;
        let safe = ADD.apply(&[divisor, one])?;
        let quotient = self.apply(&[a.stored(dtype)?, safe])?;
        let keep = convert::cast(&LOGICAL_NOT.apply(&[zero])?, Some(dtype))?;
        MULTIPLY.apply(&[quotient, keep])
    }

    fn product(&self, a: &Operand, b: &Operand) -> Result<Tensor, Raised> {
        let (x, y) = (a.tensor.shape(), b.tensor.shape());
        for (at, shape) in [x, y].iter().enumerate() {
            if shape.is_empty() {
                return Err(value_error(format!(
                    "matmul: Input operand {at} does not have enough dimensions (has 0, gufunc core with signature \
                     (n?,k),(k,m?)->(n?,m?) requires 1)"
                )));
            }
        }
        let (inner, rows) = (x[x.len() - 1], y[y.len().saturating_sub(2)]);
        if inner != rows {
            return Err(value_error(format!(
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature \
                 (n?,k),(k,m?)->(n?,m?) (size {rows} is different from {inner})"
            )));
        }
        let dtype = dtype::promote(a.dtype, b.dtype);
        let inner = if dtype == DType::Bool { DType::I64 } else { dtype };
        let product = self.apply(&[a.stored(inner)?, b.stored(inner)?])?;
        convert::cast(&product, Some(dtype))
    }
}

static ADD: Row = Row::new("add", "add", Kind::Adds, "");
static MULTIPLY: Row = Row::new("multiply", "mul", Kind::Multiplies, "");
static EQUAL: Row = Row::new("equal", "eq", Kind::Compares, "");
static LOGICAL_OR: Row = Row::new("logical_or", "logical_or", Kind::Logical, "");
static LOGICAL_AND: Row = Row::new("logical_and", "logical_and", Kind::Logical, "");
static LOGICAL_NOT: Row = Row::new("logical_not", "logical_not", Kind::Not, "");

impl Operand {
    /// The operand in a value: an array, a tensor, a number, or lists of numbers.
    pub(super) fn read(cx: &mut Cx, value: &Value) -> Result<Option<Operand>, Raised> {
        if let Value::Tensor(it) = value {
            let tensor = it.get();
            return Ok(Some(Operand {
                dtype: tensor.dtype(),
                tensor,
                weak: false,
                look: it.look(),
            }));
        }
        if matches!(value, Value::List(_) | Value::Tuple(_) | Value::Range(_)) {
            let tensor = make::tensor(cx, value, None)?;
            let dtype = tensor.dtype();
            return Ok(Some(Operand { tensor, dtype, weak: false, look: Look::Array }));
        }
        let known = scalar::dtype_of(value);
        let tensor = match value {
            Value::Instance(_) if known.is_none() => return Ok(None),
            _ => match convert::as_number(value) {
                Some(Number::Complex(..)) => return Err(super::no_complex()),
                Some(number) => Tensor::from_number(number),
                None => match crate::check::unknown::operand(value) {
                    Some(unknown) => unknown,
                    None => return Ok(None),
                },
            },
        };
        let kind = match tensor.as_number() {
            Some(Number::Bool(_)) => DType::Bool,
            Some(Number::Int(_)) => DType::I64,
            _ => DType::F64,
        };
        let (dtype, weak) = (known.unwrap_or(kind), known.is_none());
        Ok(Some(Operand { tensor, dtype, weak, look: Look::Array }))
    }

    /// The elements in a dtype; a plain number beside elements stays one, since these decide.
    pub(super) fn ready(&self, dtype: DType, other: &Operand) -> Result<Tensor, Raised> {
        match self.tensor.as_number() {
            // A number counts as the nearest half.
            Some(_) if other.tensor.as_number().is_none() && !dtype.is_half() => {
                Ok(self.tensor.clone())
            }
            _ => self.stored(dtype),
        }
    }

    /// The elements in a dtype, a number as one of rank 0.
    fn stored(&self, dtype: DType) -> Result<Tensor, Raised> {
        match self.tensor.as_number() {
            Some(number) => {
                let one = match number {
                    Number::Float(it) => Tensor::from_vec(&[it], Shape::default())?,
                    other => Tensor::from_vec(&[other.as_i64()], Shape::default())?,
                };
                convert::cast(&one, Some(dtype))
            }
            None => convert::cast(&self.tensor, Some(dtype)),
        }
    }
}

/// Refuses negative exponents of whole numbers.
fn no_negative_powers(exponent: &Operand) -> Result<(), Raised> {
    let negative = match exponent.tensor.as_number() {
        Some(number) => number.as_i64() < 0,
        None if exponent.tensor.is_abstract() => false,
        None => exponent.tensor.to_f64_vec()?.iter().any(|it| *it < 0.0),
    };
    if negative { Err(value_error(NO_NEGATIVE_POWERS)) } else { Ok(()) }
}

/// Refuses a plain number that lies outside of a dtype.
pub(super) fn check_fits(number: Number, dtype: DType) -> Result<(), Raised> {
    let Some((least, most)) = dtype.int_range().filter(|_| dtype != DType::Bool) else {
        return Ok(());
    };
    match number {
        Number::Int(it) if !(least..=most).contains(&it) => {
            Err(overflow_error(format!("Python integer {it} out of bounds for {}", dtype.name())))
        }
        _ => Ok(()),
    }
}

/// What NumPy says of dtypes that a function is not defined for.
pub(super) fn no_such_types(name: &str) -> Raised {
    type_error(format!(
        "ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types \
         according to the casting rule ''safe''"
    ))
}

/// The function of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|it| it.name == name)
}

/// The result of a function as a tensor, and whether programs see a tensor; `None` where a value is no operand.
fn computed(
    cx: &mut Cx,
    row: &'static Row,
    values: &[&Value],
) -> Result<Option<(Tensor, Look)>, Raised> {
    let is_array = |it: &&Value| it.as_tensor().is_some_and(|it| it.look() == Look::Array);
    if values.len() == 1 || values.iter().any(is_array) {
        values.iter().filter_map(|it| it.as_tensor()).try_for_each(|it| super::readable(cx, it))?;
    }
    let Some(a) = Operand::read(cx, values[0])? else { return Ok(None) };
    let Some(value) = values.get(1) else {
        return Ok(Some((row.one(&a)?, a.look)));
    };
    let Some(b) = Operand::read(cx, value)? else { return Ok(None) };
    let tensors = a.look != Look::Array || b.look != Look::Array;
    Ok(Some((row.two(&a, &b)?, if tensors { Look::Tensor } else { Look::Array })))
}

fn shown(tensor: Tensor, look: Look) -> Res {
    if look == Look::Array { super::result(tensor) } else { Ok(Value::tensor(tensor)) }
}

const OPERATORS: [&str; 13] = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "power",
    "matmul",
    "left_shift",
    "right_shift",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
];
const COMPARISONS: [&str; 6] =
    ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"];

fn of_operator(op: BinaryOp) -> Option<&'static Row> {
    static ROWS: OnceLock<[Option<&'static Row>; 13]> = OnceLock::new();
    ROWS.get_or_init(|| OPERATORS.map(find))[op as usize]
}

/// `this op other` for an array; `None` when `other` is no operand.
pub fn binary(
    cx: &mut Cx,
    op: BinaryOp,
    this: &Value,
    other: &Value,
    reflected: bool,
) -> Result<Option<Value>, Raised> {
    let Some(row) = of_operator(op) else { return Ok(None) };
    let values = if reflected { [other, this] } else { [this, other] };
    let Some((tensor, look)) = computed(cx, row, &values)? else { return Ok(None) };
    shown(tensor, look).map(Some)
}

/// `this op= other` for an array: its elements are replaced, in its own dtype and shape.
pub fn inplace(
    cx: &mut Cx,
    op: BinaryOp,
    this: &Value,
    other: &Value,
) -> Result<Option<Value>, Raised> {
    let Some(row) = of_operator(op) else { return Ok(None) };
    if row.replaces(cx, this, Some(other))? {
        return Ok(Some(this.clone()));
    }
    let Some((tensor, _)) = computed(cx, row, &[this, other])? else { return Ok(None) };
    store(row, this, tensor)?;
    Ok(Some(this.clone()))
}

/// `-this`, `+this`, `~this` for an array.
pub fn unary(cx: &mut Cx, op: UnaryOp, this: &Value) -> Result<Option<Value>, Raised> {
    let name = ["negative", "positive", "invert"][op as usize];
    let Some(row) = find(name) else { return Ok(None) };
    let Some((tensor, look)) = computed(cx, row, &[this])? else { return Ok(None) };
    shown(tensor, look).map(Some)
}

/// The function of this name, of one operand.
pub fn of_one(cx: &mut Cx, name: &'static str, value: &Value) -> Res {
    let Some(row) = find(name) else { return Err(no_such_types(name)) };
    match computed(cx, row, &[value])? {
        Some((tensor, look)) => shown(tensor, look),
        None => Err(no_such_types(name)),
    }
}

/// `this op other` for an array. What is no number equals no element.
pub fn compare(
    cx: &mut Cx,
    op: CompareOp,
    this: &Value,
    other: &Value,
) -> Result<Option<Value>, Raised> {
    let Some(row) = find(COMPARISONS[op as usize]) else { return Ok(None) };
    if let Some((tensor, look)) = computed(cx, row, &[this, other])? {
        return shown(tensor, look).map(Some);
    }
    let equal = match (op, other) {
        (CompareOp::Eq, Value::None | Value::Str(_)) => 0.0,
        (CompareOp::Ne, Value::None | Value::Str(_)) => 1.0,
        _ => return Ok(None),
    };
    let shape = convert::variable(this)?.get().shape().clone();
    Ok(Some(super::array(engine::functional::full(&shape, equal, DType::Bool)?)))
}

impl Ufunc {
    fn operands<'a>(&self, args: CallArgs<'a>) -> Result<Vec<&'a Value>, Raised> {
        let n = self.0.n_operands();
        if args.positional.len() < n || args.positional.len() > n + 1 {
            return Err(type_error(format!(
                "{}() takes from {n} to {} positional arguments but {} were given",
                self.0.name,
                n + 1,
                args.positional.len()
            )));
        }
        Ok(args.positional[..n].iter().collect())
    }

    fn option<'a>(&self, args: CallArgs<'a>, name: &str) -> Option<&'a Value> {
        let given = args.keywords.iter().find(|it| it.0.as_str() == name).map(|it| &it.1);
        given.filter(|it| !it.is_none())
    }

    fn check_options(&self, args: CallArgs<'_>) -> Result<(), Raised> {
        const KNOWN: [&str; 6] = ["out", "where", "dtype", "casting", "order", "subok"];
        match args.keywords.iter().find(|it| !KNOWN.contains(&it.0.as_str())) {
            Some((name, _)) => Err(type_error(format!(
                "{}() got an unexpected keyword argument '{name}'",
                self.0.name
            ))),
            None => Ok(()),
        }
    }

    /// The result where a mask holds; elsewhere what stands in `out`, or zeros.
    fn masked(
        &self,
        cx: &mut Cx,
        mask: &Value,
        result: Tensor,
        out: Option<&Value>,
    ) -> Result<Tensor, Raised> {
        let mask = make::tensor(cx, mask, Some(DType::Bool))?;
        let other = match out {
            Some(out) => convert::cast(&convert::variable(out)?.get(), Some(result.dtype()))?,
            None => engine::functional::full(result.shape(), 0.0, result.dtype())?,
        };
        engine::functional::select_where(&mask, &result, &other).map_err(super::error)
    }
}

impl NativeObject for Ufunc {
    fn native_type(&self) -> &'static NativeType {
        &UFUNC
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        if args.positional.iter().any(|it| proxy::of(it).is_some()) {
            // Objects of Python say themselves what they make of a function.
            let numpy = cx.python_module("numpy")?;
            let function = cx.getattr(&numpy, Sym::of(self.0.name))?;
            return cx.call_with(&function, args);
        }
        let operands = self.operands(args)?;
        self.check_options(args)?;
        let third = args.positional.get(self.0.n_operands());
        let mut out = self.option(args, "out").or(third).cloned();
        if let Some(Value::Tuple(items)) = &out {
            out = items.first().cloned();
        }
        let is_plain = ["dtype", "where"].iter().all(|it| self.option(args, it).is_none());
        if let Some(out) = out.as_ref().filter(|_| is_plain)
            && self.0.goes_into(cx, out, &operands)?
        {
            return Ok(out.clone());
        }
        let Some((mut tensor, look)) = computed(cx, self.0, &operands)? else {
            return Err(no_such_types(self.0.name));
        };
        if let Some(wanted) = self.option(args, "dtype") {
            tensor = convert::cast(&tensor, Some(dtype::from_value(wanted)?))?;
        }
        if let Some(mask) = self.option(args, "where") {
            tensor = self.masked(cx, mask, tensor, out.as_ref())?;
        }
        match out {
            Some(out) => {
                store(self.0, &out, tensor)?;
                Ok(out)
            }
            None => shown(tensor, look),
        }
    }

    fn getattr(&self, cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok(Some(match name.as_str() {
            "__name__" | "__qualname__" => Value::str(self.0.name),
            "__doc__" => Value::str(self.0.doc),
            "nin" => Value::from(self.0.n_operands()),
            "nout" => Value::Int(1),
            "reduce" | "accumulate" | "outer" | "at" if self.0.n_operands() == 2 => {
                let module = cx.import("numpy._core.methods")?;
                let function = cx.getattr(&module, Sym::new(&format!("ufunc_{name}")))?;
                Value::method(function, this.clone())
            }
            _ => return Ok(None),
        }))
    }

    fn attributes(&self) -> Vec<Sym> {
        ["accumulate", "at", "outer", "reduce"].map(Sym::of).to_vec()
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(format!("<ufunc '{}'>", self.0.name))
    }
}
