//! Classes of graphs: the same ops on the same operands, in which sizes stand at the same places and in the same order, and other numbers
//! are equal where they were. Steps of training on batches of 40 and of 48 rows are of one class.

use std::ptr;

use rustc_hash::FxHashMap;

use super::{Graph, Kind, Node, Value};
use crate::op::Body;
use crate::{Attr, Attrs, Device, Layout, Meta, Number, Tensor};

/// What graphs of a class have in common.
#[derive(Clone, Debug)]
pub struct Class {
    words: Vec<u64>,
    /// The constants, which are those of each graph of the class. They are kept, so that no other tensor can lie where they do.
    _constants: Vec<Tensor>,
}

/// Two classes are one if their words are: these name the constants.
impl PartialEq for Class {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Class {}

/// The numbers in which graphs of a class differ; those of two graphs of one class stand in the same places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Sizes, strides and the like, ascending; -1, 0 and 1 are always there, so that they stand for themselves alone.
    ints: Vec<i64>,
    /// The bits of floats, in the order in which they come.
    floats: Vec<u64>,
}

/// Bytes of the constants of a graph that is put into a class: larger ones would be kept for longer than the function needs them.
const MOST_CONSTANT_BYTES: usize = 1 << 16;

/// A class, and the numbers of the graph. `None` for graphs that run others, and for those of large constants.
pub fn classify(graph: &Graph) -> Option<(Class, Numbers)> {
    let mut writer = Writer::default();
    writer.graph(graph)?;
    Some(writer.finished())
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ints.len() + self.floats.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether number `at` is the same in both.
    pub fn agree(&self, other: &Self, at: usize) -> bool {
        match at.checked_sub(self.ints.len()) {
            None => self.ints.get(at) == other.ints.get(at),
            Some(at) => self.floats.get(at) == other.floats.get(at),
        }
    }

    /// All of them, integers first.
    pub fn each(&self) -> impl Iterator<Item = Number> {
        let ints = self.ints.iter().map(|it| Number::Int(*it));
        ints.chain(self.floats.iter().map(|it| Number::Float(f64::from_bits(*it))))
    }

    /// The number that stands in `other` where this one stands here; one that stands nowhere stays.
    fn int_in(&self, other: &Self, it: i64) -> i64 {
        self.ints.binary_search(&it).map_or(it, |at| other.ints[at])
    }

    fn float_in(&self, other: &Self, it: f64) -> f64 {
        let at = self.floats.iter().position(|&known| known == it.to_bits());
        at.map_or(it, |at| f64::from_bits(other.floats[at]))
    }

    /// As `int_in`, of a number of the language.
    pub fn number_in(&self, other: &Self, it: Number) -> Number {
        match it {
            Number::Bool(_) => it,
            Number::Int(it) => Number::Int(self.int_in(other, it)),
            Number::Float(it) => Number::Float(self.float_in(other, it)),
            Number::Complex(real, imag) => {
                Number::Complex(self.float_in(other, real), self.float_in(other, imag))
            }
        }
    }

    /// The same of all numbers in attributes.
    pub fn attrs_in(&self, other: &Self, attrs: &Attrs) -> Attrs {
        let attr = |it: &Attr| match it {
            Attr::Int(it) => Attr::Int(self.int_in(other, *it)),
            Attr::Float(it) => Attr::Float(self.float_in(other, *it)),
            Attr::Complex(real, imag) => {
                Attr::Complex(self.float_in(other, *real), self.float_in(other, *imag))
            }
            Attr::Ints(it) => Attr::Ints(it.iter().map(|&it| self.int_in(other, it)).collect()),
            Attr::None | Attr::Bool(_) | Attr::DType(_) | Attr::Str(_) | Attr::Region(_) => {
                it.clone()
            }
        };
        attrs.iter().map(attr).collect()
    }
}

/// Writes a graph as words. A word for an integer is its place among all of them, which is known when all are.
#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    /// Integers, and the words that stand for them.
    ints: Vec<(usize, i64)>,
    floats: Vec<u64>,
    float_at: FxHashMap<u64, usize>,
    constants: Vec<Tensor>,
}

impl Writer {
    fn graph(&mut self, graph: &Graph) -> Option<()> {
        self.words.push(match graph.device {
            Device::Cpu => 0,
            Device::Meta => 1,
            Device::Cuda(index) => 2 + index as u64,
        });
        self.words.push(graph.nodes().len() as u64);
        for node in graph.nodes() {
            self.node(node)?;
        }
        let bytes: usize = self.constants.iter().map(|it| it.meta().bytes()).sum();
        if bytes > MOST_CONSTANT_BYTES {
            return None;
        }
        self.values(&graph.outputs);
        self.words.push(graph.stores.len() as u64);
        for store in &graph.stores {
            self.words.push(u64::from(store.variable));
            self.value(store.value);
        }
        Some(())
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match &node.kind {
            Kind::Input { layout } => self.fed(0, layout),
            Kind::Variable { layout } => self.fed(1, layout),
            Kind::Fed => self.words.push(2),
            Kind::Const(tensor) => self.constant(tensor)?,
            Kind::Number(number) => self.number(*number),
            Kind::Op { op, attrs, inputs } => {
                if matches!(op.body, Body::Control(_)) {
                    return None;
                }
                self.words.extend([5, ptr::from_ref(*op) as u64]);
                self.values(inputs);
                self.words.push(attrs.len() as u64);
                attrs.iter().try_for_each(|it| self.attr(it))?;
            }
        }
        self.words.push(node.metas.len() as u64);
        node.metas.iter().for_each(|it| self.meta(it));
        Some(())
    }

    fn fed(&mut self, kind: u64, layout: &Layout) {
        self.words.extend([kind, layout.strides.len() as u64]);
        self.int(layout.offset as i64);
        layout.strides.iter().for_each(|&it| self.int(it as i64));
    }

    fn constant(&mut self, tensor: &Tensor) -> Option<()> {
        let Layout { strides, offset, .. } = tensor.layout();
        let root = std::sync::Arc::as_ptr(&tensor.storage().ok()?) as usize;
        self.words.extend([3, root as u64, *offset as u64, strides.len() as u64]);
        self.words.extend(strides.iter().map(|&it| it as u64));
        // Its sizes stand for themselves.
        self.words.extend(tensor.shape().iter().map(|&it| it as u64));
        self.constants.push(tensor.clone());
        Some(())
    }

    fn number(&mut self, it: Number) {
        match it {
            Number::Bool(it) => self.words.extend([6, u64::from(it)]),
            Number::Int(it) => {
                self.words.push(7);
                self.int(it);
            }
            Number::Float(it) => {
                self.words.push(8);
                self.float(it);
            }
            Number::Complex(real, imag) => {
                self.words.push(9);
                self.float(real);
                self.float(imag);
            }
        }
    }

    fn attr(&mut self, it: &Attr) -> Option<()> {
        match it {
            Attr::None => self.words.push(10),
            Attr::Bool(it) => self.number(Number::Bool(*it)),
            Attr::Int(it) => self.number(Number::Int(*it)),
            Attr::Float(it) => self.number(Number::Float(*it)),
            Attr::Complex(real, imag) => self.number(Number::Complex(*real, *imag)),
            Attr::Ints(all) => {
                self.words.extend([11, all.len() as u64]);
                all.iter().for_each(|&it| self.int(it));
            }
            Attr::DType(it) => self.words.extend([12, *it as u64]),
            Attr::Str(it) => {
                // Texts of rows, which stay where they are.
                self.words.extend([13, it.as_ptr() as u64, it.len() as u64]);
            }
            Attr::Region(_) => return None,
        }
        Some(())
    }

    fn values(&mut self, values: &[Value]) {
        self.words.push(values.len() as u64);
        values.iter().for_each(|&it| self.value(it));
    }

    fn value(&mut self, it: Value) {
        self.words.push(u64::from(it.node) << 32 | u64::from(it.output));
    }

    fn meta(&mut self, it: &Meta) {
        self.words.extend([it.dtype as u64, it.shape.rank() as u64]);
        it.shape.iter().for_each(|&it| self.int(it as i64));
    }

    fn int(&mut self, it: i64) {
        self.ints.push((self.words.len(), it));
        self.words.push(0);
    }

    /// Those that programs write to mean themselves do; others, such as one divided by the rows of a batch, stand for what they are.
    fn float(&mut self, it: f64) {
        let bits = it.to_bits();
        let is_plain = it == 0.5 || (it.trunc() == it && it.abs() <= 4.0) || !it.is_finite();
        if is_plain {
            return self.words.extend([0, bits]);
        }
        let floats = &mut self.floats;
        let at = *self.float_at.entry(bits).or_insert_with(|| {
            floats.push(bits);
            floats.len() - 1
        });
        self.words.extend([1, at as u64]);
    }

    fn finished(mut self) -> (Class, Numbers) {
        let mut ints: Vec<i64> = self.ints.iter().map(|it| it.1).chain([-1, 0, 1]).collect();
        ints.sort_unstable();
        ints.dedup();
        for &(word, it) in &self.ints {
            // Found: all of them are among those.
            self.words[word] = ints.binary_search(&it).unwrap_or_default() as u64;
        }
        self.words.extend([ints.len() as u64, self.floats.len() as u64]);
        let class = Class { words: self.words, _constants: self.constants };
        (class, Numbers { ints, floats: self.floats })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::parse::parse;

    fn class_of(text: &str) -> (Class, Numbers) {
        classify(&parse(text, &[]).unwrap()).unwrap()
    }

    fn halved(rows: usize, columns: usize) -> (Class, Numbers) {
        class_of(&format!(
            "graph(%0: f32[{rows}, {columns}]) {{ %1 = t_mul(%0, {:?}) : f32[{rows}, {columns}] return %1 }}",
            1.0 / rows as f64
        ))
    }

    #[test]
    fn other_sizes_are_of_the_same_class_while_their_order_is_the_same() {
        assert_eq!(halved(40, 10).0, halved(48, 10).0);
        assert_eq!(halved(40, 10).0, halved(48, 12).0);
        assert_ne!(halved(40, 10).0, halved(9, 10).0);
        assert_ne!(halved(40, 10).0, halved(10, 10).0);
        assert_ne!(halved(40, 10).0, halved(40, 1).0);
        assert_ne!(halved(40, 10).0, halved(40, 0).0);
    }

    #[test]
    fn numbers_are_found_where_they_stood() {
        let (before, now) = (halved(40, 10).1, halved(48, 12).1);
        assert_eq!([40, 10, 7, 1, 0].map(|it| before.int_in(&now, it)), [48, 12, 7, 1, 0]);
        let number = before.number_in(&now, Number::Float(1.0 / 40.0));
        assert_eq!(number, Number::Float(1.0 / 48.0));
        let agrees: Vec<bool> = (0..before.len()).map(|it| before.agree(&now, it)).collect();
        assert_eq!(agrees.iter().filter(|it| !**it).count(), 3);
    }

    #[test]
    fn other_ops_and_plain_numbers_are_of_other_classes() {
        let text = |op: &str, number: &str| {
            class_of(&format!("graph(%0: f32[2]) {{ %1 = {op}(%0, {number}) : f32[2] return %1 }}"))
                .0
        };
        assert_eq!(text("t_mul", "0.3"), text("t_mul", "0.7"));
        assert_ne!(text("t_mul", "0.3"), text("t_add", "0.3"));
        assert_ne!(text("t_mul", "2.0"), text("t_mul", "3.0"));
        assert_ne!(text("t_mul", "2.0"), text("t_mul", "2.5"));
    }
}
