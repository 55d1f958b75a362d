//! The kinds of object, one file each.

pub mod attr_map;
pub mod class;
pub mod complex;
pub mod descriptor;
pub mod dict_view;
pub(crate) mod finalizer;
pub mod format;
pub mod function;
pub mod generator;
pub mod generic;
pub mod iterator;
pub mod model;
pub mod module;
pub mod number;
pub mod pattern;
pub mod percent;
pub mod quote;
pub mod search;
pub mod shown;
pub mod special;
pub mod super_object;
pub mod template;
pub mod tensor;
pub mod text;
pub(crate) mod trash;
pub mod union;
