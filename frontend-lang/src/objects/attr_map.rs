//! Attributes by name, in order of assignment.
//!
//! Most objects have a handful of attributes, and the machine remembers their places: a list that is
//! searched from the front needs no table. Longer ones have one beside it.

use rustc_hash::FxHashMap;

use crate::sym::Sym;
use crate::value::Value;
use crate::value::words::{fresh, hold, put};

/// Up to this length the list is searched.
const SHORT: usize = 12;

/// A map from names to values that keeps its order.
#[derive(Clone, Default)]
pub struct AttrMap {
    entries: Vec<(Sym, Value)>,
    /// Places by name, once there are more than `SHORT`.
    places: Option<Box<FxHashMap<Sym, usize>>>,
}

impl AttrMap {
    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The place of an attribute in the order.
    #[inline]
    pub fn place_of(&self, name: Sym) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&name).copied(),
            None => self.entries.iter().position(|it| it.0 == name),
        }
    }

    /// The attribute at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&(Sym, Value)> {
        self.entries.get(place)
    }

    /// The same, to be changed.
    #[inline]
    pub fn at_mut(&mut self, place: usize) -> Option<(Sym, &mut Value)> {
        self.entries.get_mut(place).map(|it| (it.0, &mut it.1))
    }

    /// The value of an attribute.
    #[inline]
    pub fn get(&self, name: &Sym) -> Option<&Value> {
        self.place_of(*name).map(|place| &self.entries[place].1)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &Sym) -> Option<&mut Value> {
        self.place_of(*name).map(|place| &mut self.entries[place].1)
    }

    /// Whether there is such an attribute.
    pub fn contains_key(&self, name: &Sym) -> bool {
        self.place_of(*name).is_some()
    }

    /// Sets an attribute; gives its place and the old value.
    pub fn insert_full(&mut self, name: Sym, value: Value) -> (usize, Option<Value>) {
        if let Some(place) = self.place_of(name) {
            let old = std::mem::replace(&mut self.entries[place].1, value);
            return (place, Some(old));
        }
        let place = self.entries.len();
        let value = hold(fresh(value));
        self.entries.push((name, Value::Unbound));
        put(&mut self.entries[place].1, value);
        match &mut self.places {
            Some(places) => drop(places.insert(name, place)),
            None if place >= SHORT => self.index(),
            None => {}
        }
        (place, None)
    }

    /// Sets an attribute; gives the old value.
    pub fn insert(&mut self, name: Sym, value: Value) -> Option<Value> {
        self.insert_full(name, value).1
    }

    /// Sets an attribute that is not there yet.
    pub fn insert_new(&mut self, name: Sym, value: impl FnOnce() -> Value) {
        if !self.contains_key(&name) {
            self.insert(name, value());
        }
    }

    /// Takes an attribute out; the others keep their order.
    pub fn shift_remove(&mut self, name: &Sym) -> Option<Value> {
        let place = self.place_of(*name)?;
        let (_, value) = self.entries.remove(place);
        if self.places.is_some() {
            self.index();
        }
        Some(value)
    }

    /// All attributes in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Sym, &Value)> {
        self.entries.iter().map(|it| (&it.0, &it.1))
    }

    /// All names in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Sym> {
        self.entries.iter().map(|it| &it.0)
    }

    /// All values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.entries.iter().map(|it| &it.1)
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value> {
        self.entries.iter_mut().map(|it| &mut it.1)
    }

    fn index(&mut self) {
        let places = self.entries.iter().enumerate().map(|(place, it)| (it.0, place));
        self.places = Some(Box::new(places.collect()));
    }
}

impl FromIterator<(Sym, Value)> for AttrMap {
    fn from_iter<I: IntoIterator<Item = (Sym, Value)>>(attrs: I) -> Self {
        let mut map = Self::default();
        map.extend(attrs);
        map
    }
}

impl Extend<(Sym, Value)> for AttrMap {
    fn extend<I: IntoIterator<Item = (Sym, Value)>>(&mut self, attrs: I) {
        for (name, value) in attrs {
            self.insert(name, value);
        }
    }
}

impl IntoIterator for AttrMap {
    type Item = (Sym, Value);
    type IntoIter = std::vec::IntoIter<(Sym, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_maps_agree_with_their_order() {
        let name = |idx: usize| Sym::new(&format!("name{idx}"));
        let mut map = AttrMap::default();
        for idx in 0..40 {
            assert_eq!(map.insert_full(name(idx), Value::Int(idx as i64)).0, idx);
        }
        assert!(map.insert(name(7), Value::Int(70)).is_some_and(|old| old.is(&Value::Int(7))));
        assert!(map.shift_remove(&name(3)).is_some() && map.shift_remove(&name(3)).is_none());
        assert_eq!(
            (map.len(), map.place_of(name(2)), map.place_of(name(4))),
            (39, Some(2), Some(3))
        );
        assert_eq!(map.keys().nth(38).copied(), Some(name(39)));
        assert!(map.get(&name(7)).is_some_and(|it| it.is(&Value::Int(70))));
    }
}
