//! Python's pickles, written, in protocol 2, which is PyTorch's. Numbers, strings, tuples, lists and dicts are written as they are; of
//! anything else the caller says what stands for it.

use rustc_hash::FxHashMap;

use crate::native::*;

/// The pickle of a value. `describe` is called with what is no plain value, and gives one of
/// `("global", module, name)`, `("persistent", id)` and `("reduce", function, arguments, dict of items or None)`, which may end with a state.
pub(super) fn write(cx: &mut Cx, value: &Value, describe: &Value) -> Result<Vec<u8>, Raised> {
    let (memo, alive) = (FxHashMap::default(), Vec::new());
    let mut pickler = Pickler { out: vec![b'\x80', 2], memo, alive, describe };
    pickler.put(cx, value)?;
    pickler.out.push(b'.');
    Ok(pickler.out)
}

struct Pickler<'a> {
    out: Vec<u8>,
    /// Places in the memo, by address.
    memo: FxHashMap<usize, u32>,
    /// What has a place: an address stands for it as long as it lives.
    alive: Vec<Value>,
    describe: &'a Value,
}

impl Pickler<'_> {
    fn put(&mut self, cx: &mut Cx, value: &Value) -> Result<(), Raised> {
        if let Some(place) = value.address().and_then(|it| self.memo.get(&it)).copied() {
            self.indexed([b'h', b'j'], place);
            return Ok(());
        }
        cx.enter_native()?;
        let put = self.put_new(cx, value);
        cx.leave_native();
        put
    }

    fn put_new(&mut self, cx: &mut Cx, value: &Value) -> Result<(), Raised> {
        cx.poll()?;
        match value {
            Value::None => self.out.push(b'N'),
            Value::Bool(it) => self.out.push(if *it { b'\x88' } else { b'\x89' }),
            Value::Int(it) => self.int(*it),
            Value::Float(it) => self.code(b'G', &it.to_be_bytes()),
            Value::Str(it) => self.text(it)?,
            Value::Tuple(it) => self.tuple(cx, it)?,
            Value::List(it) => {
                self.out.push(b']');
                self.remember(value);
                let items = it.items.borrow().clone();
                if !items.is_empty() {
                    self.out.push(b'(');
                    items.iter().try_for_each(|it| self.put(cx, it))?;
                    self.out.push(b'e');
                }
            }
            Value::Dict(it) => {
                self.out.push(b'}');
                self.remember(value);
                self.items(cx, it)?;
            }
            other => self.described(cx, other)?,
        }
        Ok(())
    }

    fn code(&mut self, code: u8, bytes: &[u8]) {
        self.out.push(code);
        self.out.extend_from_slice(bytes);
    }

    fn indexed(&mut self, [short, long]: [u8; 2], place: u32) {
        match u8::try_from(place) {
            Ok(place) => self.code(short, &[place]),
            Err(_) => self.code(long, &place.to_le_bytes()),
        }
    }

    /// Gives what was just written a place in the memo.
    fn remember(&mut self, value: &Value) {
        let Some(address) = value.address() else { return };
        let place = self.memo.len() as u32;
        self.memo.insert(address, place);
        self.alive.push(value.clone());
        self.indexed([b'q', b'r'], place);
    }

    fn int(&mut self, number: i64) {
        if let Ok(it) = u8::try_from(number) {
            self.code(b'K', &[it]);
        } else if let Ok(it) = u16::try_from(number) {
            self.code(b'M', &it.to_le_bytes());
        } else if let Ok(it) = i32::try_from(number) {
            self.code(b'J', &it.to_le_bytes());
        } else {
            self.code(b'\x8a', &[8]);
            self.out.extend(number.to_le_bytes());
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Raised> {
        let length = u32::try_from(text.len());
        let length =
            length.map_err(|_| value_error("a string of 4 GiB is too long for a pickle"))?;
        self.code(b'X', &length.to_le_bytes());
        self.out.extend(text.as_bytes());
        Ok(())
    }

    fn tuple(&mut self, cx: &mut Cx, items: &[Value]) -> Result<(), Raised> {
        let close = match items.len() {
            0 => b')',
            1 => b'\x85',
            2 => b'\x86',
            3 => b'\x87',
            _ => b't',
        };
        if close == b't' {
            self.out.push(b'(');
        }
        items.iter().try_for_each(|it| self.put(cx, it))?;
        self.out.push(close);
        Ok(())
    }

    fn items(&mut self, cx: &mut Cx, dict: &Dict) -> Result<(), Raised> {
        let items = dict.items();
        if items.is_empty() {
            return Ok(());
        }
        self.out.push(b'(');
        for (key, item) in &items {
            self.put(cx, key)?;
            self.put(cx, item)?;
        }
        self.out.push(b'u');
        Ok(())
    }

    fn described(&mut self, cx: &mut Cx, value: &Value) -> Result<(), Raised> {
        let told = cx.call(self.describe, std::slice::from_ref(value))?;
        let parts = told.as_tuple().map(|it| it.to_vec()).unwrap_or_default();
        match (parts.first().and_then(Value::as_str), parts.get(1..).unwrap_or_default()) {
            (Some("global"), [module, name]) => {
                let [module, name] = [module, name].map(|it| it.as_str().unwrap_or_default());
                self.code(b'c', format!("{module}\n{name}\n").as_bytes());
            }
            (Some("persistent"), [id]) => {
                self.put(cx, id)?;
                self.out.push(b'Q');
            }
            (Some("reduce"), [function, arguments, items, state @ ..]) => {
                self.put(cx, function)?;
                self.put(cx, arguments)?;
                self.out.push(b'R');
                self.remember(value);
                if let Some(items) = items.as_dict() {
                    self.items(cx, items)?;
                }
                for state in state {
                    self.put(cx, state)?;
                    self.out.push(b'b');
                }
            }
            _ => {
                return Err(type_error(format!(
                    "what stands for a {} is not said",
                    type_name(value)
                )));
            }
        }
        Ok(())
    }
}
