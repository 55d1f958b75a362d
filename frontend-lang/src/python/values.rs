//! Between values of the language and what travels: plain values deeply, arrays through shared memory, all else by number.

use std::rc::Rc;

use engine::{DType, Shape, Tensor};

use super::proxy::{self, Proxy};
use super::wire::{Datum, Malformed, parts};
use super::worker::Worker;
use super::{Python, ended, guests, upgrade};
use crate::array::{self, dtype, scalar};
use crate::native::*;
use crate::objects::complex::Complex;
use crate::tensor::dtype::DTypeObj;
use crate::value::{Range, Slice};
use crate::vm::import::is_built_in;

/// Tags of what is no plain value; the numbers are the worker's.
const LIST: i64 = 0;
const TUPLE: i64 = 1;
const DICT: i64 = 2;
const SET: i64 = 3;
const FROZENSET: i64 = 4;
const SLICE: i64 = 5;
const RANGE: i64 = 6;
const OBJECT: i64 = 7;
const GUEST: i64 = 8;
const ARRAY: i64 = 9;
const DTYPE: i64 = 10;
const TYPE: i64 = 11;
const MADE: i64 = 12;

/// Containers may lie so deep in each other.
const DEEPEST: usize = 64;

/// Arrays of more bytes travel in shared memory.
const INLINE: usize = 1 << 14;

/// Places in shared memory are multiples of it, in bytes.
const ALIGNED: u64 = 64;

/// Classes that both sides have, beside exceptions.
const SHARED: &[&str] = &[
    "bool",
    "complex",
    "dict",
    "float",
    "frozenset",
    "int",
    "list",
    "object",
    "range",
    "set",
    "slice",
    "str",
    "tuple",
    "type",
];

/// Exceptions that are only here.
pub(super) const OWN: &[&NativeType] =
    &[&TRACE_ERROR, &DTYPE_ERROR, &OUT_OF_MEMORY_ERROR, &SHAPE_ERROR];

fn tagged(tag: i64, parts: impl IntoIterator<Item = Datum>) -> Datum {
    Datum::Tuple(std::iter::once(Datum::Int(tag)).chain(parts).collect())
}

/// An object of the process by its number.
pub(super) fn object(number: i64) -> Datum {
    tagged(OBJECT, [Datum::Int(number)])
}

impl Cx {
    /// A value as it travels to Python.
    pub(super) fn python_datum(&mut self, value: &Value) -> Result<Datum, Raised> {
        self.begin_python_data();
        let mut data = self.more_python_data(std::slice::from_ref(value))?;
        Ok(data.pop().unwrap_or(Datum::None))
    }

    /// From here on values of a new frame are written.
    pub(super) fn begin_python_data(&mut self) {
        self.python.shared_end = 0;
        self.python.sent.clear();
    }

    /// Values that travel in the same frame as those before.
    pub(super) fn more_python_data(&mut self, values: &[Value]) -> Result<Vec<Datum>, Raised> {
        let data = values.iter().map(|it| self.datum(it, 0)).collect();
        if let Err(raised) = data {
            let sent = std::mem::take(&mut self.python.sent);
            self.python.guests.unsend(&sent);
            return Err(raised);
        }
        data
    }

    fn data(&mut self, values: &[Value], depth: usize) -> Result<Datum, Raised> {
        let data: Result<Vec<Datum>, Raised> =
            values.iter().map(|it| self.datum(it, depth + 1)).collect();
        data.map(Datum::List)
    }

    fn datum(&mut self, value: &Value, depth: usize) -> Result<Datum, Raised> {
        if depth > DEEPEST {
            return Err(value_error(
                "lists and dicts that contain themselves, or lie more than 64 deep in each other, cannot be passed to Python",
            ));
        }
        self.poll()?;
        Ok(match value {
            Value::None => Datum::None,
            Value::Ellipsis => Datum::Ellipsis,
            Value::Bool(it) => Datum::Bool(*it),
            Value::Int(it) => Datum::Int(*it),
            Value::Float(it) => Datum::Float(*it),
            Value::Str(it) => Datum::str(&***it),
            Value::List(it) => {
                let items = it.copied()?;
                tagged(LIST, [self.data(&items, depth)?])
            }
            Value::Tuple(it) => match self.abstract_dtype(value) {
                Some(name) => tagged(MADE, [Datum::str("numpy"), Datum::str(name), Datum::None]),
                None => tagged(TUPLE, [self.data(it, depth)?]),
            },
            Value::Dict(it) => {
                let items: Vec<Value> =
                    it.items().into_iter().flat_map(|it| [it.0, it.1]).collect();
                tagged(DICT, [self.data(&items, depth)?])
            }
            Value::Set(it) => {
                let tag = if it.frozen { FROZENSET } else { SET };
                tagged(tag, [self.data(&it.items(), depth)?])
            }
            Value::Slice(it) => {
                let parts = [&it.start, &it.stop, &it.step].map(Clone::clone);
                let [start, stop, step] = parts.map(|it| self.datum(&it, depth + 1));
                tagged(SLICE, [start?, stop?, step?])
            }
            Value::Range(it) => tagged(RANGE, [it.start, it.stop, it.step].map(Datum::Int)),
            Value::Tensor(it) => {
                array::readable_by_python(self, it)?;
                self.array_datum(&it.get().detach(), false)?
            }
            Value::Class(class) => match class.native.and_then(shared_class) {
                Some(datum) => datum,
                None => self.guest_datum(value),
            },
            Value::Object(_) => self.object_datum(value)?,
            Value::Instance(it) => match (scalar::dtype_of(value), &it.base) {
                (Some(dtype), base) => {
                    let number = crate::tensor::convert::from_data(self, base, Some(dtype))?;
                    self.array_datum(&number, true)?
                }
                (None, Value::None) => self.instance_datum(value, depth)?,
                (None, base) => self.datum(&base.clone(), depth)?,
            },
            _ => self.guest_datum(value),
        })
    }

    /// An instance as what its `__python__` says (module, name, arguments), or as a guest.
    fn instance_datum(&mut self, value: &Value, depth: usize) -> Result<Datum, Raised> {
        // Only classes that come with the language: others might use Python while a frame is written.
        let class = crate::objects::class::type_of(value);
        let made = match is_built_in(class.module().as_str()) {
            true => self.call_special(value, Sym::of("__python__"), &[])?,
            false => None,
        };
        let Some(made) = made else { return Ok(self.guest_datum(value)) };
        let parts = self.collect(&made)?;
        let [Value::Str(module), Value::Str(name), Value::Tuple(args)] = parts.as_slice() else {
            return Err(type_error("__python__() gives a module, a name and a tuple of arguments"));
        };
        let args = self.data(args, depth)?;
        Ok(tagged(MADE, [Datum::str(&***module), Datum::str(&***name), args]))
    }

    /// The name of `np.number` and its likes, which are tuples of classes here.
    fn abstract_dtype(&self, value: &Value) -> Option<&'static str> {
        const NAMES: [&str; 7] = [
            "number",
            "generic",
            "integer",
            "signedinteger",
            "unsignedinteger",
            "inexact",
            "floating",
        ];
        let Some(Value::Module(kinds)) = self.modules.get("numpy._core.kinds") else { return None };
        let is =
            |name: &&'static str| kinds.globals.get(Sym::of(name)).is_some_and(|it| it.is(value));
        NAMES.into_iter().find(is)
    }

    fn object_datum(&mut self, value: &Value) -> Result<Datum, Raised> {
        if let Some(proxy) = proxy::of(value) {
            return self.target(proxy);
        }
        if let Some(Complex { real, imag }) = value.downcast() {
            return Ok(Datum::Complex(*real, *imag));
        }
        let dtype = value.downcast::<dtype::ArrayDType>().map(|it| it.0);
        if let Some(dtype) = dtype.or_else(|| value.downcast::<DTypeObj>().map(|it| it.0)) {
            return Ok(tagged(DTYPE, [Datum::str(dtype::code(dtype)), Datum::Bool(false)]));
        }
        Ok(self.guest_datum(value))
    }

    fn guest_datum(&mut self, value: &Value) -> Datum {
        let (kind, name) = (guests::kind_of(self, value), guests::name_of(value));
        let specials = Datum::List(guests::specials_of(value));
        let key = self.python.guests.add(value.clone());
        self.python.sent.push(key);
        tagged(GUEST, [Datum::Int(key), Datum::Int(kind), Datum::str(name), specials])
    }

    fn array_datum(&mut self, tensor: &Tensor, is_scalar: bool) -> Result<Datum, Raised> {
        let tensor = match dtype::is_known_to_numpy(tensor.dtype()) {
            true => tensor.clone(),
            false => engine::functional::to(tensor, DType::F32)?,
        };
        let columns = array::by_columns(&tensor)?;
        let sizes = tensor.shape().iter().map(|&it| Datum::Int(it as i64)).collect();
        let python = &mut self.python;
        let written: Result<Datum, Raised> =
            columns.as_ref().unwrap_or(&tensor).with_le_bytes(|bytes| {
                if bytes.len() <= INLINE {
                    return Ok(Datum::Bytes(bytes.to_vec()));
                }
                let at = python.shared_end;
                python.shared_end += (bytes.len() as u64).next_multiple_of(ALIGNED);
                python.worker()?.write_shared(at, bytes).map_err(|it| memory_error(it.0))?;
                Ok(Datum::Int(at as i64))
            })?;
        let data = written?;
        let code = Datum::str(dtype::code(tensor.dtype()));
        let facts = [Datum::Bool(is_scalar), Datum::Bool(columns.is_some())];
        let [is_scalar, is_reversed] = facts;
        Ok(tagged(ARRAY, [code, Datum::Tuple(sizes), is_scalar, is_reversed, data]))
    }

    /// A value as it came from Python.
    pub(super) fn python_value(&mut self, datum: Datum) -> Res {
        let mut later = Vec::new();
        let value = match self.value_of(datum, &mut later) {
            Err(Wrong::Raised(raised)) => return Err(raised),
            Err(Wrong::Malformed) => return self.understood(Err(Malformed)),
            Ok(value) => value,
        };
        for it in later {
            it.fill(self)?;
        }
        Ok(value)
    }

    fn value_of(&mut self, datum: Datum, later: &mut Vec<Later>) -> Result<Value, Wrong> {
        Ok(match datum {
            Datum::None => Value::None,
            Datum::Ellipsis => Value::Ellipsis,
            Datum::Bool(it) => Value::Bool(it),
            Datum::Int(it) => Value::Int(it),
            Datum::Float(it) => Value::Float(it),
            Datum::Complex(real, imag) => Complex { real, imag }.into(),
            Datum::Str(it) => Value::str(it),
            Datum::List(items) => Value::list(self.values_of(items, later)?),
            Datum::Bytes(_) => return Err(Wrong::Malformed),
            Datum::Tuple(mut items) => {
                let tag = items.first().ok_or(Malformed)?.int()?;
                items.remove(0);
                return self.tagged_value(tag, items, later);
            }
        })
    }

    fn values_of(&mut self, data: Vec<Datum>, later: &mut Vec<Later>) -> Result<Vec<Value>, Wrong> {
        crate::memory::room_for(data.len())?;
        data.into_iter().map(|it| self.value_of(it, later)).collect()
    }

    fn tagged_value(
        &mut self,
        tag: i64,
        items: Vec<Datum>,
        later: &mut Vec<Later>,
    ) -> Result<Value, Wrong> {
        match tag {
            OBJECT => return self.proxy(items),
            GUEST => {
                let [key] = parts(items)?;
                let gone = || {
                    runtime_error("Python passes an object of the session that it has given back")
                };
                return Ok(self.python.guests.get(key.int()?).ok_or_else(gone)?);
            }
            ARRAY => return self.array_value(parts(items)?),
            TYPE => {
                let [name] = parts(items)?;
                let class = self.builtins.get(&Sym::new(&name.text()?)).cloned();
                return Ok(class.ok_or(Malformed)?);
            }
            SLICE | RANGE => {
                let [start, stop, step]: [Value; 3] =
                    self.values_of(items, later)?.try_into().map_err(|_| Malformed)?;
                let ints = (start.as_int(), stop.as_int(), step.as_int());
                return Ok(match ints {
                    (Some(start), Some(stop), Some(step)) if tag == RANGE && step != 0 => {
                        Value::Range(Range { start, stop, step }.into())
                    }
                    _ if tag == RANGE => return Err(Wrong::Malformed),
                    _ => Value::Slice(Slice::new(start, stop, step).into()),
                });
            }
            _ => {}
        }
        let [items] = parts(items)?;
        let items = self.values_of(items.items()?, later)?;
        Ok(match tag {
            LIST => Value::list(items),
            TUPLE => Value::tuple(items),
            SET | FROZENSET => {
                let set = Rc::new(Set::new(tag == FROZENSET));
                later.push(Later::Set(set.clone(), items));
                Value::Set(set)
            }
            DICT => {
                let dict = Rc::new(Dict::default());
                later.push(Later::Dict(dict.clone(), items));
                Value::Dict(dict)
            }
            _ => return Err(Wrong::Malformed),
        })
    }

    /// The proxy of an object: number, facts and type, whose names come with it the first time.
    fn proxy(&mut self, items: Vec<Datum>) -> Result<Value, Wrong> {
        let generation = self.python.generation;
        let link = self.python.link.as_mut().ok_or_else(ended)?;
        let names: Vec<&str> = items.iter().filter_map(as_str).collect();
        if let (Some(Datum::Int(kind)), [module, name]) = (items.get(2), names.as_slice()) {
            link.rows.insert(*kind, proxy::row(module, name));
        }
        let [number, flags, kind] = parts(items)?;
        let (number, flags, kind) = (number.int()?, flags.int()?, kind.int()?);
        if let Some(known) = upgrade(&link.held, number) {
            let proxy = proxy::of(&known).ok_or(Malformed)?;
            proxy.count.set(proxy.count.get() + 1);
            return Ok(known);
        }
        // The names of a type may have been lost with a frame that was not read.
        let row = link.rows.get(&kind).copied().unwrap_or_else(|| proxy::row("", "object"));
        let (count, released) = (1.into(), link.released.clone());
        let value = Value::object(Proxy { generation, number, flags, row, count, released });
        if let Value::Object(it) = &value {
            link.held.insert(number, Rc::downgrade(it));
        }
        Ok(value)
    }

    fn array_value(&mut self, parts: [Datum; 5]) -> Result<Value, Wrong> {
        let [code, sizes, is_scalar, is_reversed, data] = parts;
        let dtype = dtype::of_tensor_code(&code.text()?).ok_or(Malformed)?;
        let sizes: Result<Vec<usize>, Malformed> = sizes
            .items()?
            .iter()
            .map(|it| usize::try_from(it.int()?).map_err(|_| Malformed))
            .collect();
        let mut sizes = sizes?;
        let mut larger = sizes.iter().filter(|it| **it > 0);
        let n_elements = larger.try_fold(1_usize, |all, it| all.checked_mul(*it));
        n_elements.and_then(|it| it.checked_mul(dtype.size())).ok_or(Malformed)?;
        let is_reversed = is_reversed.int()? != 0;
        if is_reversed {
            sizes.reverse();
        }
        let shape = Shape::new(&sizes);
        let tensor = match data {
            Datum::Bytes(bytes) => {
                Tensor::from_le_bytes(&bytes, shape, dtype).map_err(Raised::from)
            }
            at => {
                let at = u64::try_from(at.int()?).map_err(|_| Malformed)?;
                let worker = self.python.worker()?;
                Tensor::filled_with_le_bytes(shape, dtype, |out| {
                    worker.read_shared(at, out).map_err(|it| memory_error(it.0))
                })
            }
        };
        let mut tensor = tensor?;
        if is_reversed {
            tensor = array::reversed(&tensor)?;
        }
        Ok(match () {
            () if is_scalar.int()? != 0 && dtype.is_complex() => {
                crate::tensor::convert::number(tensor.item().map_err(Raised::from)?)
            }
            () if is_scalar.int()? != 0 => scalar::of(&tensor)?,
            () if dtype.is_complex() => Value::tensor(tensor),
            () => array::array(tensor),
        })
    }

    /// An exception for `__exit__`: none, one of Python, or the name and the message of one of ours.
    pub(super) fn exception_datum(&mut self, error: &Value) -> Result<Datum, Raised> {
        match error {
            Value::Instance(it) => match proxy::of(&it.base) {
                Some(proxy) => self.target(proxy),
                None => {
                    let message = self.str(error)?;
                    Ok(Datum::List(vec![Datum::str(it.class.name.as_str()), Datum::Str(message)]))
                }
            },
            _ => Ok(Datum::None),
        }
    }
}

impl Python {
    fn worker(&mut self) -> Result<&mut dyn Worker, Raised> {
        Ok(self.link.as_mut().ok_or_else(ended)?.worker.as_mut())
    }
}

/// A container that is filled when all else of a frame has been read: the hashes of its items may ask Python, which then writes another frame.
/// Inner ones come first.
enum Later {
    Set(Rc<Set>, Vec<Value>),
    /// Keys and values in turns.
    Dict(Rc<Dict>, Vec<Value>),
}

impl Later {
    fn fill(self, cx: &mut Cx) -> Result<(), Raised> {
        match self {
            Later::Set(set, items) => {
                for item in items {
                    set.store(cx, item)?;
                }
            }
            Later::Dict(dict, items) => {
                let mut items = items.into_iter();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    dict.store(cx, key, value)?;
                }
            }
        }
        Ok(())
    }
}

/// Why what came is no value.
enum Wrong {
    Raised(Raised),
    Malformed,
}

impl From<Raised> for Wrong {
    fn from(raised: Raised) -> Self {
        Wrong::Raised(raised)
    }
}

impl From<Malformed> for Wrong {
    fn from(_: Malformed) -> Self {
        Wrong::Malformed
    }
}

fn as_str(datum: &Datum) -> Option<&str> {
    match datum {
        Datum::Str(it) => Some(it),
        _ => None,
    }
}

/// A built-in class that Python has too.
pub(super) fn shared_class(row: &'static NativeType) -> Option<Datum> {
    if let Some(dtype) = scalar::of_row(row) {
        return Some(tagged(DTYPE, [Datum::str(dtype::code(dtype)), Datum::Bool(true)]));
    }
    let is = |other: &&'static NativeType| std::ptr::eq(*other, row);
    let is_exception = EXCEPTIONS.iter().any(&is) && !OWN.iter().any(is);
    let is_shared = row.module.is_empty() && SHARED.contains(&row.name);
    (is_exception || is_shared).then(|| tagged(TYPE, [Datum::str(row.name)]))
}
