//! Python's pickles, read: plain values as they are; for what stands for an object the caller is asked, so that reading a file runs
//! nothing that is named in it. See `pickle_dump.rs` for the other way.
//!
//! The format is a program for a machine with a stack and a memo: <https://docs.python.org/3/library/pickletools.html>, protocols 0 to 5.
//!
//! **Invariant:** a reader trusts nothing: lengths are looked at before they are used, and an empty stack is an error.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::tensor_files;
use crate::native::*;

/// Who knows what is no plain value; each is called and gives the value.
pub(super) struct Asked<'a> {
    /// Of a module and a name: the class or function.
    pub(super) find: &'a Value,
    /// Of what stands for an object outside the pickle.
    pub(super) persistent: &'a Value,
    /// Of an object and its state: the object with that state.
    pub(super) build: &'a Value,
}

/// The value of the pickle that begins at `start` of a file's bytes, and where it ends.
pub(super) fn read(
    cx: &mut Cx,
    (file, bytes): (&str, &[u8]),
    start: usize,
    asked: &Asked<'_>,
) -> Result<(Value, usize), Raised> {
    let (stack, marks, memo) = (Vec::new(), Vec::new(), FxHashMap::default());
    let mut machine = Machine { file, bytes, at: start, stack, marks, memo, asked };
    let mut n_steps = 0_u32;
    loop {
        n_steps = n_steps.wrapping_add(1);
        if n_steps.is_multiple_of(1024) {
            cx.poll()?;
        }
        let code = machine.byte()?;
        if code == b'.' {
            return Ok((machine.pop()?, machine.at));
        }
        machine.step(cx, code)?;
        crate::memory::check_items(&machine.stack)?;
    }
}

struct Machine<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    /// How long the stack was at each mark that is open.
    marks: Vec<usize>,
    memo: FxHashMap<u32, Value>,
    asked: &'a Asked<'a>,
}

impl<'a> Machine<'a> {
    fn wrong(&self, about: impl std::fmt::Display) -> Raised {
        value_error(format!("{}: {about} (at byte {} of the pickle)", self.file, self.at))
    }

    fn cut(&self) -> Raised {
        self.wrong("the pickle is damaged")
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Raised> {
        let end = self.at.checked_add(length).filter(|it| *it <= self.bytes.len());
        let end = end.ok_or_else(|| self.cut())?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Raised> {
        Ok(self.take(1)?[0])
    }

    /// A number without sign, in so many bytes.
    fn number(&mut self, n_bytes: usize) -> Result<u64, Raised> {
        let mut word = [0; 8];
        word[..n_bytes].copy_from_slice(self.take(n_bytes)?);
        Ok(u64::from_le_bytes(word))
    }

    /// Bytes whose number stands before them.
    fn counted(&mut self, n_bytes: usize) -> Result<&'a [u8], Raised> {
        let length = self.number(n_bytes)?;
        let length = usize::try_from(length).map_err(|_| self.cut())?;
        self.take(length)
    }

    /// The text up to the end of the line.
    fn line(&mut self) -> Result<&'a str, Raised> {
        let rest = &self.bytes[self.at..];
        let end = memchr::memchr(b'\n', rest).ok_or_else(|| self.cut())?;
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).map_err(|_| self.cut())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    fn pop(&mut self) -> Res {
        let floor = self.marks.last().copied().unwrap_or(0);
        let value = if self.stack.len() > floor { self.stack.pop() } else { None };
        value.ok_or_else(|| self.cut())
    }

    fn top(&self) -> Result<Value, Raised> {
        self.stack.last().cloned().ok_or_else(|| self.cut())
    }

    /// What was pushed behind the latest mark.
    fn since_mark(&mut self) -> Result<Vec<Value>, Raised> {
        let mark = self.marks.pop().ok_or_else(|| self.cut())?;
        Ok(self.stack.split_off(mark))
    }

    fn last(&mut self, count: usize) -> Result<Vec<Value>, Raised> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        Ok(items)
    }

    fn step(&mut self, cx: &mut Cx, code: u8) -> Result<(), Raised> {
        match code {
            b'\x80' => self.take(1).map(drop),
            b'\x95' => self.take(8).map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' => match self.marks.last() == Some(&self.stack.len()) {
                true => self.since_mark().map(drop),
                false => self.pop().map(drop),
            },
            b'1' => self.since_mark().map(drop),
            b'2' => self.top().map(|it| self.push(it)),
            b'p' | b'q' | b'r' | b'\x94' | b'g' | b'h' | b'j' => self.remember(code),
            b'a' | b'e' | b's' | b'u' | b'\x90' => self.extend(cx, code),
            b'c' | b'\x93' | b'R' | b'i' | b'o' | b'\x81' | b'\x92' | b'b' | b'P' | b'Q' => {
                self.object(cx, code)
            }
            _ => {
                let value = match self.scalar(code)? {
                    Some(value) => value,
                    None => self.container(cx, code)?,
                };
                self.push(value);
                Ok(())
            }
        }
    }

    /// Into the memo and out of it.
    fn remember(&mut self, code: u8) -> Result<(), Raised> {
        let key = match code {
            b'q' | b'h' => Some(self.number(1)?),
            b'r' | b'j' => Some(self.number(4)?),
            b'\x94' => Some(self.memo.len() as u64),
            _ => self.line()?.parse().ok(),
        };
        let key = key.and_then(|it| u32::try_from(it).ok()).ok_or_else(|| self.cut())?;
        if matches!(code, b'g' | b'h' | b'j') {
            let value = self.memo.get(&key).cloned().ok_or_else(|| self.cut())?;
            self.push(value);
        } else {
            self.memo.insert(key, self.top()?);
        }
        Ok(())
    }

    /// Items that go into what lies below them.
    fn extend(&mut self, cx: &mut Cx, code: u8) -> Result<(), Raised> {
        let items = match code {
            b'a' => self.last(1)?,
            b's' => self.last(2)?,
            _ => self.since_mark()?,
        };
        let into = self.top()?;
        match (code, &into) {
            (b'a' | b'e', Value::List(list)) => items.into_iter().try_for_each(|it| list.push(it)),
            (b'\x90', Value::Set(set)) => {
                items.into_iter().try_for_each(|it| set.add(cx, it).map(drop))
            }
            (b's' | b'u', _) if items.len().is_multiple_of(2) => {
                items.chunks_exact(2).try_for_each(|it| cx.setitem(&into, &it[0], it[1].clone()))
            }
            (b'a' | b'e', Value::Instance(_)) => {
                cx.call_method(&into, Sym::new("extend"), &[Value::list(items)]).map(drop)
            }
            _ => Err(self.cut()),
        }
    }

    /// What the caller knows: classes, functions and what they give, and objects that lie elsewhere.
    fn object(&mut self, cx: &mut Cx, code: u8) -> Result<(), Raised> {
        let value = match code {
            b'c' => {
                let names = [self.line()?, self.line()?].map(Value::str);
                cx.call(self.asked.find, &names)?
            }
            b'\x93' => {
                let names = self.last(2)?;
                cx.call(self.asked.find, &names)?
            }
            b'P' => {
                let id = Value::str(self.line()?);
                cx.call(self.asked.persistent, &[id])?
            }
            b'Q' => {
                let id = self.pop()?;
                cx.call(self.asked.persistent, &[id])?
            }
            b'b' => return self.build(cx),
            _ => {
                let (function, arguments) = self.called(cx, code)?;
                cx.call(&function, &arguments)?
            }
        };
        self.push(value);
        Ok(())
    }

    /// A function or class, and the arguments that it is to be called with.
    fn called(&mut self, cx: &mut Cx, code: u8) -> Result<(Value, Vec<Value>), Raised> {
        match code {
            b'i' => {
                let names = [self.line()?, self.line()?].map(Value::str);
                Ok((cx.call(self.asked.find, &names)?, self.since_mark()?))
            }
            b'o' => {
                let mut all = self.since_mark()?;
                if all.is_empty() {
                    return Err(self.cut());
                }
                Ok((all.remove(0), all))
            }
            _ => {
                if code == b'\x92' && self.pop()?.as_dict().is_none_or(|it| !it.items().is_empty())
                {
                    return Err(self.wrong("objects made with keywords are not read"));
                }
                let arguments = self.pop()?;
                let items = arguments.as_tuple().ok_or_else(|| self.cut())?.to_vec();
                Ok((self.pop()?, items))
            }
        }
    }

    /// Where another value takes the place of the object, it does so everywhere.
    fn build(&mut self, cx: &mut Cx) -> Result<(), Raised> {
        let state = self.pop()?;
        let before = self.pop()?;
        let built = cx.call(self.asked.build, &[before.clone(), state])?;
        if !built.is(&before) {
            self.memo.values_mut().filter(|it| it.is(&before)).for_each(|it| *it = built.clone());
        }
        self.push(built);
        Ok(())
    }

    /// `None` where the code stands for none.
    fn scalar(&mut self, code: u8) -> Result<Option<Value>, Raised> {
        Ok(Some(match code {
            b'N' => Value::None,
            b'\x88' => Value::Bool(true),
            b'\x89' => Value::Bool(false),
            b'I' => match self.line()? {
                "00" => Value::Bool(false),
                "01" => Value::Bool(true),
                digits => self.int_of(digits)?,
            },
            b'L' => {
                let digits = self.line()?;
                self.int_of(digits.strip_suffix('L').unwrap_or(digits))?
            }
            b'J' => Value::Int(i64::from(self.number(4)? as u32 as i32)),
            b'K' => Value::Int(self.number(1)? as i64),
            b'M' => Value::Int(self.number(2)? as i64),
            b'\x8a' => self.long(1)?,
            b'\x8b' => self.long(4)?,
            b'F' => Value::Float(self.line()?.parse().map_err(|_| self.cut())?),
            b'G' => Value::Float(f64::from_bits(self.number(8)?.swap_bytes())),
            b'S' | b'V' => self.written()?,
            b'U' => self.text(1)?,
            b'T' | b'X' => self.text(4)?,
            b'\x8c' => self.text(1)?,
            b'\x8d' => self.text(8)?,
            b'C' => tensor_files::octets(self.file, self.counted(1)?),
            b'B' => tensor_files::octets(self.file, self.counted(4)?),
            b'\x8e' | b'\x96' => tensor_files::octets(self.file, self.counted(8)?),
            _ => return Ok(None),
        }))
    }

    fn container(&mut self, cx: &mut Cx, code: u8) -> Res {
        Ok(match code {
            b')' => Value::tuple([]),
            b't' => Value::tuple(self.since_mark()?),
            b'\x85' => Value::tuple(self.last(1)?),
            b'\x86' => Value::tuple(self.last(2)?),
            b'\x87' => Value::tuple(self.last(3)?),
            b']' => Value::list(Vec::new()),
            b'l' => Value::list(self.since_mark()?),
            b'}' => Value::Dict(Rc::default()),
            b'd' => {
                let (dict, items) = (Rc::<Dict>::default(), self.since_mark()?);
                for pair in items.chunks(2) {
                    let [key, item] = pair else { return Err(self.cut()) };
                    dict.store(cx, key.clone(), item.clone())?;
                }
                Value::Dict(dict)
            }
            b'\x8f' => Value::Set(Rc::new(Set::from_items(cx, Vec::new(), false)?)),
            b'\x91' => Value::Set(Rc::new(Set::from_items(cx, self.since_mark()?, true)?)),
            other => {
                return Err(self.wrong(format_args!("code 0x{other:02x} is not read")));
            }
        })
    }

    fn int_of(&self, digits: &str) -> Res {
        digits.parse().map(Value::Int).map_err(|_| self.too_large())
    }

    fn too_large(&self) -> Raised {
        self.wrong("an int does not fit into 64 bits")
    }

    /// An int whose bytes are counted, in two's complement.
    fn long(&mut self, n_bytes: usize) -> Res {
        let bytes = self.counted(n_bytes)?;
        let fill = if bytes.last().is_some_and(|it| it & 0x80 != 0) { 0xff } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(8));
        if high.iter().any(|it| *it != fill) {
            return Err(self.too_large());
        }
        let mut word = [fill; 8];
        word[..low.len()].copy_from_slice(low);
        let number = i64::from_le_bytes(word);
        // The sign stands in what is beyond the word.
        if (number < 0) != (fill != 0) { Err(self.too_large()) } else { Ok(Value::Int(number)) }
    }

    fn text(&mut self, n_bytes: usize) -> Res {
        let bytes = self.counted(n_bytes)?;
        std::str::from_utf8(bytes).map(Value::str).map_err(|_| self.wrong("a text is not UTF-8"))
    }

    /// A text of protocol 0, in quotes or without.
    fn written(&mut self) -> Res {
        let line = self.line()?;
        let quoted = ['\'', '"'].iter().find_map(|it| line.strip_prefix(*it)?.strip_suffix(*it));
        let text = quoted.unwrap_or(line);
        match text.contains('\\') {
            true => Err(self.wrong("a text of protocol 0 with backslashes is not read")),
            false => Ok(Value::str(text)),
        }
    }
}
