//! Graph text to graphs. The text is not trusted: every name, shape and use is checked.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Graph, Store, Value, verify};
use crate::attr::{Attr, Region};
use crate::op::ParamKind;
use crate::{Attrs, DType, Error, Layout, Meta, Number, OpDef, Result, Shape, Tensor, ops};

/// Largest rank that text may ask for.
const MAX_RANK: usize = 32;

/// Deepest nesting of regions.
const MAX_DEPTH: usize = 16;

/// Makes the region of a graph that stands inside another one.
pub type MakeRegion = fn(&Graph) -> Result<Region>;

/// Parses the listing that a graph prints; `constants` are what it names `const(0)`, `const(1)` ... A graph of branches and loops
/// is read by [`crate::region::parse`], which knows how to run them.
pub fn parse(text: &str, constants: &[Tensor]) -> Result<Graph> {
    parse_with(text, constants, refuse)
}

fn refuse(_: &Graph) -> Result<Region> {
    Err(Error::File { problem: "graphs inside of graphs are read by `region::parse`".into() })
}

/// As [`parse`], where `make` makes regions.
pub fn parse_with(text: &str, constants: &[Tensor], make: MakeRegion) -> Result<Graph> {
    let mut parser = Parser::new(text, 0, make, 0);
    parser.graph_listing(constants)?;
    if parser.at_end() {
        Ok(parser.graph)
    } else {
        Err(parser.error("nothing may follow the graph"))
    }
}

/// Parses the compact form, one output after the other; input `%n` has the n-th of these kinds.
pub fn parse_compact(text: &str, inputs: &[Meta]) -> Result<Graph> {
    let mut parser = Parser::new(text, 0, refuse, MAX_DEPTH);
    for (idx, meta) in inputs.iter().enumerate() {
        let value = parser.graph.input(meta.dtype, Layout::contiguous(meta.shape.clone()));
        parser.names.insert(idx as u32, SmallVec::from_slice(&[value]));
    }
    while !parser.at_end() {
        let value = parser.compact()?;
        parser.graph.outputs.push(value);
    }
    Ok(parser.graph)
}

/// Looks an op up by name, as it stands in graph text.
pub fn find_op(name: &str) -> Option<&'static OpDef> {
    #[cfg(test)]
    if let Some(op) = crate::test_ops::ALL.iter().find(|it| it.name == name) {
        return Some(op);
    }
    ops::find(name)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    graph: Graph,
    /// Values by the number in the text.
    names: FxHashMap<u32, SmallVec<[Value; 1]>>,
    make: MakeRegion,
    /// How many graphs it stands in.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, at: usize, make: MakeRegion, depth: usize) -> Self {
        Self { text, at, graph: Graph::new(), names: FxHashMap::default(), make, depth }
    }

    /// A graph inside this one; what it takes and gives stands in it, so it may hold no tensors.
    fn region(&mut self) -> Result<Region> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error("no graph may stand here"));
        }
        let mut inner = Parser::new(self.text, self.at, self.make, self.depth + 1);
        inner.graph_listing(&[])?;
        self.at = inner.at;
        (self.make)(&inner.graph).map_err(|it| self.error(&it.to_string()))
    }

    fn graph_listing(&mut self, constants: &[Tensor]) -> Result<()> {
        self.expect("graph")?;
        self.expect("(")?;
        while !self.eat(")") {
            self.input()?;
            self.eat(",");
        }
        self.expect("{")?;
        while !self.eat("return") {
            self.statement(constants)?;
        }
        while !self.eat("}") {
            let value = self.operand()?;
            self.graph.outputs.push(value);
            self.eat(",");
        }
        Ok(())
    }

    fn input(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect(":")?;
        let value = if self.eat("number") {
            let dtype = self.dtype()?;
            if !dtype.is_of_numbers() {
                return Err(self.error("a number is bool, i64, f64 or c128"));
            }
            self.graph.fed(dtype)
        } else {
            let is_variable = self.eat("variable");
            let meta = self.meta()?;
            let mut layout = Layout::contiguous(meta.shape);
            if self.eat("strides") {
                let strides = self.ints()?;
                if strides.len() != layout.shape.rank() {
                    return Err(self.error("one stride per dimension is needed"));
                }
                layout.strides = strides.iter().map(|&it| it as isize).collect();
            }
            match is_variable {
                true => self.graph.variable(meta.dtype, layout),
                false => self.graph.input(meta.dtype, layout),
            }
        };
        self.define(name, SmallVec::from_slice(&[value]))
    }

    fn statement(&mut self, constants: &[Tensor]) -> Result<()> {
        if self.eat("store") {
            return self.store();
        }
        let name = self.name()?;
        self.expect("=")?;
        let word = self.word()?;
        self.expect("(")?;
        if word == "const" {
            let index = self.whole()? as usize;
            let tensor = constants.get(index).ok_or_else(|| self.error("no such constant"))?;
            self.expect(")")?;
            let value = self.graph.constant(tensor);
            self.check_metas(&[value])?;
            return self.define(name, SmallVec::from_slice(&[value]));
        }
        let op = find_op(word).ok_or_else(|| self.error(&format!("unknown op `{word}`")))?;
        let mut inputs: SmallVec<[Value; 3]> = SmallVec::new();
        let mut attrs = op.default_attrs();
        while !self.eat(")") {
            if self.eat(";") {
                while !self.eat(")") {
                    self.attr(op, &mut attrs)?;
                    self.eat(",");
                }
                break;
            }
            let value = self.operand()?;
            inputs.push(value);
            self.eat(",");
        }
        let values = self.apply(op, &inputs, &attrs)?;
        self.check_metas(&values)?;
        self.define(name, values)
    }

    /// `%1 = %7`, after `store`.
    fn store(&mut self) -> Result<()> {
        let name = self.name()?;
        let variable = self.value(name, 0)?.node;
        self.expect("=")?;
        let store = Store { variable, value: self.operand()? };
        if let Some(problem) = verify::store_problem(&self.graph, self.graph.stores.len(), store)? {
            return Err(self.error(&format!("%{name} {problem}")));
        }
        self.graph.stores.push(store);
        Ok(())
    }

    fn compact(&mut self) -> Result<Value> {
        if !self.eat("(") {
            return self.operand();
        }
        let word = self.word()?;
        let op = find_op(word).ok_or_else(|| self.error(&format!("unknown op `{word}`")))?;
        let mut inputs: SmallVec<[Value; 3]> = SmallVec::new();
        let mut attrs = op.default_attrs();
        while !self.eat(")") {
            if self.starts_attr() {
                self.attr(op, &mut attrs)?;
            } else {
                let value = self.compact()?;
                inputs.push(value);
            }
        }
        let values = self.apply(op, &inputs, &attrs)?;
        let output = if self.eat(":") { self.whole()? as usize } else { 0 };
        values.get(output).copied().ok_or_else(|| self.error("no such output"))
    }

    fn apply(
        &mut self,
        op: &'static OpDef,
        inputs: &[Value],
        attrs: &Attrs,
    ) -> Result<SmallVec<[Value; 1]>> {
        if matches!(op.body, crate::op::Body::Composed(_)) {
            return Err(self.error(&format!("{} stands for several ops", op.name)));
        }
        let node = self.graph.apply(op, inputs, attrs).map_err(|it| self.error(&it.to_string()))?;
        let n_outputs = self.graph.node(node).metas.len() as u32;
        Ok((0..n_outputs).map(|output| Value { node, output }).collect())
    }

    /// `: f32[2, 3], ...` must say what was inferred; `_` leaves it open.
    fn check_metas(&mut self, values: &[Value]) -> Result<()> {
        self.expect(":")?;
        for (idx, &value) in values.iter().enumerate() {
            if idx > 0 {
                self.expect(",")?;
            }
            if self.eat("_") {
                continue;
            }
            let said = self.meta()?;
            let meta = self.graph.meta(value).clone();
            if said != meta {
                return Err(self.error(&format!("the text says {said}, the op gives {meta}")));
            }
        }
        Ok(())
    }

    fn define(&mut self, name: u32, values: SmallVec<[Value; 1]>) -> Result<()> {
        match self.names.insert(name, values) {
            None => Ok(()),
            Some(_) => Err(self.error(&format!("%{name} is defined twice"))),
        }
    }

    /// `%3`, `%3:1`, `0.5`, `complex(0.5, -1.0)`, `true`.
    fn operand(&mut self) -> Result<Value> {
        if !self.peek("%") {
            let number = match self.attr_value()? {
                Attr::Bool(it) => Number::Bool(it),
                Attr::Int(it) => Number::Int(it),
                Attr::Float(it) => Number::Float(it),
                Attr::Complex(real, imag) => Number::Complex(real, imag),
                _ => return Err(self.error("an operand is a value or a number")),
            };
            return Ok(self.graph.number(number));
        }
        let name = self.name()?;
        let output = if self.eat(":") { self.whole()? as usize } else { 0 };
        self.value(name, output)
    }

    fn value(&self, name: u32, output: usize) -> Result<Value> {
        let value = self.names.get(&name).and_then(|it| it.get(output)).copied();
        value.ok_or_else(|| self.error(&format!("%{name} is not defined here")))
    }

    fn starts_attr(&mut self) -> bool {
        self.blanks();
        let rest = &self.text[self.at..];
        let word = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(0);
        word > 0 && rest[word..].starts_with('=')
    }

    fn attr(&mut self, op: &'static OpDef, attrs: &mut Attrs) -> Result<()> {
        let word = self.word()?;
        self.expect("=")?;
        let idx = op.attr_params().position(|it| it.name == word);
        let idx = idx.ok_or_else(|| self.error(&format!("{} has no `{word}`", op.name)))?;
        let value = self.attr_value()?;
        let kind = op.attr_params().nth(idx).map(|it| it.kind);
        if !kind.is_some_and(|kind| takes(kind, &value)) {
            let text = crate::attr::AttrText(&value).to_string();
            return Err(self.error(&format!("{}: `{word}` cannot be {text}", op.name)));
        }
        attrs[idx] = value;
        Ok(())
    }

    /// What stands before the next quote; a backslash makes one, or itself, part of it.
    fn quoted(&mut self) -> Result<String> {
        let (mut word, mut is_escaped) = (String::new(), false);
        for (at, it) in self.text[self.at..].char_indices() {
            match it {
                '\'' if !is_escaped => {
                    self.at += at + 1;
                    return Ok(word);
                }
                '\\' if !is_escaped => is_escaped = true,
                it => {
                    word.push(it);
                    is_escaped = false;
                }
            }
        }
        Err(self.error("a string does not end"))
    }

    fn attr_value(&mut self) -> Result<Attr> {
        self.blanks();
        if self.peek("[") {
            return Ok(Attr::Ints(self.ints()?));
        }
        if self.peek("graph(") {
            return Ok(Attr::Region(self.region()?));
        }
        if self.eat("'") {
            let word = intern(&self.quoted()?);
            return Ok(Attr::Str(word.ok_or_else(|| self.error("unknown word"))?));
        }
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "+-._".contains(it)));
        let token = &rest[..end.unwrap_or(rest.len())];
        self.at += token.len();
        match token {
            "none" => return Ok(Attr::None),
            "true" => return Ok(Attr::Bool(true)),
            "false" => return Ok(Attr::Bool(false)),
            "nan" => return Ok(Attr::Float(f64::NAN)),
            "inf" => return Ok(Attr::Float(f64::INFINITY)),
            "-inf" => return Ok(Attr::Float(f64::NEG_INFINITY)),
            "complex" => return self.complex(),
            _ => {}
        }
        if let Ok(it) = token.parse::<i64>() {
            return Ok(Attr::Int(it));
        }
        match (DType::parse(token), token.parse::<f64>()) {
            (Some(dtype), _) => Ok(Attr::DType(dtype)),
            (None, Ok(it)) => Ok(Attr::Float(it)),
            (None, Err(_)) => Err(self.error(&format!("`{token}` is not a value"))),
        }
    }

    /// `(1.0, -2.5)`, after `complex`.
    fn complex(&mut self) -> Result<Attr> {
        self.expect("(")?;
        let real = self.float()?;
        self.expect(",")?;
        let imag = self.float()?;
        self.expect(")")?;
        Ok(Attr::Complex(real, imag))
    }

    fn float(&mut self) -> Result<f64> {
        match self.attr_value()? {
            Attr::Float(it) => Ok(it),
            Attr::Int(it) => Ok(it as f64),
            _ => Err(self.error("a part of a complex number is a number")),
        }
    }

    fn ints(&mut self) -> Result<SmallVec<[i64; 4]>> {
        self.expect("[")?;
        let mut res = SmallVec::new();
        while !self.eat("]") {
            match self.attr_value()? {
                Attr::Int(it) => res.push(it),
                _ => return Err(self.error("a list holds whole numbers")),
            }
            self.eat(",");
        }
        Ok(res)
    }

    fn meta(&mut self) -> Result<Meta> {
        let dtype = self.dtype()?;
        let dims = self.ints()?;
        if dims.len() > MAX_RANK || dims.iter().any(|&it| it < 0) {
            return Err(self.error("not a shape"));
        }
        let shape: Shape = dims.iter().map(|&it| it as usize).collect();
        shape.checked_numel("graph")?;
        Ok(Meta::new(shape, dtype))
    }

    fn dtype(&mut self) -> Result<DType> {
        let word = self.word()?;
        DType::parse(word).ok_or_else(|| self.error(&format!("`{word}` is not a dtype")))
    }

    fn name(&mut self) -> Result<u32> {
        self.expect("%")?;
        self.whole()
    }

    fn whole(&mut self) -> Result<u32> {
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        self.at += end;
        rest[..end].parse().map_err(|_| self.error("a number is expected"))
    }

    /// An identifier; dots may stand inside, as in `gelu.grad0`.
    fn word(&mut self) -> Result<&'a str> {
        self.blanks();
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_' || it == '.'));
        let end = end.unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("a name is expected"));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }

    fn peek(&mut self, token: &str) -> bool {
        self.blanks();
        self.text[self.at..].starts_with(token)
    }

    /// Takes the token if it is next. At the end of the text every closing token fails in `expect` later.
    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("`{token}` is expected"))) }
    }

    fn error(&self, problem: &str) -> Error {
        let line = self.text[..self.at.min(self.text.len())].matches('\n').count() + 1;
        Error::File { problem: format!("graph text, line {line}: {problem}") }
    }
}

/// Whether a parameter takes the value. `None` is left to the op, since rows mark required attributes with it.
fn takes(kind: ParamKind, value: &Attr) -> bool {
    use ParamKind as P;
    match value {
        Attr::None => true,
        Attr::Bool(_) => {
            matches!(kind, P::Bool | P::Int | P::OptInt | P::Float | P::OptFloat | P::Number)
        }
        Attr::Int(_) => {
            matches!(
                kind,
                P::Int | P::OptInt | P::Float | P::OptFloat | P::Number | P::Ints | P::OptInts
            )
        }
        Attr::Float(_) => matches!(kind, P::Float | P::OptFloat | P::Number),
        Attr::Complex(..) => kind == P::Number,
        Attr::Ints(_) => matches!(kind, P::Ints | P::OptInts),
        Attr::DType(_) => matches!(kind, P::DType | P::OptDType),
        Attr::Str(_) => kind == P::Str,
        Attr::Region(_) => kind == P::Region,
    }
}

/// The word or sentence as it stands in an op row, or kept for good; `None` for what no row could mean.
fn intern(word: &str) -> Option<&'static str> {
    use std::sync::PoisonError;

    use crate::sync::Mutex;
    static WORDS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    const MOST: usize = 256;
    const LONGEST: usize = 400;
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.iter().find(|it| **it == word) {
        return Some(known);
    }
    let is_plain = |it: char| it.is_ascii_graphic() || it == ' ';
    if word.len() > LONGEST || words.len() >= MOST || !word.chars().all(is_plain) {
        return None;
    }
    let kept: &'static str = Box::leak(word.to_owned().into_boxed_str());
    words.push(kept);
    Some(kept)
}
