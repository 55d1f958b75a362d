//! The grid of axes that `subplots` makes.

use std::any::Any;

use super::axes_object::axes_of;
use super::canvas::{Place, Shared};
use crate::native::*;

/// The axes of `subplots`, as NumPy would index them.
pub(super) struct AxesGrid {
    figure: Shared,
    /// One or two dimensions.
    shape: Vec<usize>,
    /// The panel of the first.
    first: usize,
}

static AXES_GRID: NativeType = NativeType {
    module: "matplotlib.axes",
    methods: &[&[
        function("flatten", "self", "All of them in a row.", |_cx, args| Ok(flat(args.object(0)?))),
        function("ravel", "self", "All of them in a row.", |_cx, args| Ok(flat(args.object(0)?))),
        function("reshape", "self, *shape", "All of them in a row.", |_cx, args| {
            Ok(flat(args.object(0)?))
        }),
        function("tolist", "self", "Lists of axes.", |cx, args| {
            let rows = cx.collect(&args[0])?;
            let mut lists = Vec::with_capacity(rows.len());
            for row in rows {
                let is_row = row.downcast::<AxesGrid>().is_some();
                lists.push(if is_row { Value::list(cx.collect(&row)?) } else { row });
            }
            Ok(Value::list(lists))
        }),
    ]],
    getters: &[
        Getter { name: "flat", doc: "All of them in a row.", get: |_cx, it| grid_in(it).map(flat) },
        Getter {
            name: "shape",
            doc: "How many rows and columns there are.",
            get: |_cx, it| Ok(crate::array::object::shape(&grid_in(it)?.shape)),
        },
        Getter {
            name: "size",
            doc: "How many there are.",
            get: |_cx, it| Ok(Value::from(grid_in(it)?.count())),
        },
    ],
    ..NativeType::plain("AxesGrid", "The axes that plt.subplots made: axs[0], axs[1, 2], axs.flat.")
};

fn grid_in(value: &Value) -> Result<&AxesGrid, Raised> {
    value.downcast::<AxesGrid>().ok_or_else(|| type_error("expected the axes of plt.subplots"))
}

fn flat(grid: &AxesGrid) -> Value {
    let (figure, first) = (grid.figure.clone(), grid.first);
    Value::object(AxesGrid { figure, shape: vec![grid.count()], first })
}

impl AxesGrid {
    /// All axes of a figure, in one or two dimensions.
    pub(super) fn value(figure: &Shared, shape: Vec<usize>) -> Value {
        Value::object(AxesGrid { figure: figure.clone(), shape, first: 0 })
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// One of the first dimension: axes, or a row of them.
    fn item(&self, at: usize) -> Value {
        match self.shape.as_slice() {
            [_, columns] => {
                let first = self.first + at * columns;
                let figure = self.figure.clone();
                Value::object(AxesGrid { figure, shape: vec![*columns], first })
            }
            _ => axes_of(Place::of(&self.figure, self.first + at)),
        }
    }

    /// An index within `size`, which may count from the end.
    fn index(value: &Value, axis: usize, size: usize) -> Result<usize, Raised> {
        let at = value.as_int().or_else(|| value.as_native().and_then(|it| it.as_index()));
        let at = at.ok_or_else(|| {
            index_error("axes are indexed by whole numbers: axs[0], axs[1, 2]; axs.flat is all of them in a row")
        })?;
        let from_start = if at < 0 { at + size as i64 } else { at };
        usize::try_from(from_start).ok().filter(|it| *it < size).ok_or_else(|| {
            index_error(format!("index {at} is out of bounds for axis {axis} with size {size}"))
        })
    }
}

impl NativeObject for AxesGrid {
    fn native_type(&self) -> &'static NativeType {
        &AXES_GRID
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(Some(self.shape[0]))
    }

    fn getitem(&self, cx: &mut Cx, _this: &Value, key: &Value) -> Result<Option<Value>, Raised> {
        if let Value::Slice(_) = key {
            let items = Value::list((0..self.shape[0]).map(|it| self.item(it)).collect());
            return cx.getitem(&items, key).map(Some);
        }
        let Some(keys) = key.as_tuple() else {
            return Ok(Some(self.item(Self::index(key, 0, self.shape[0])?)));
        };
        match (keys.as_ref().as_ref(), self.shape.as_slice()) {
            ([row, column], [rows, columns]) => {
                // A whole column.
                if let (Value::Slice(_), Some(_)) = (row, column.as_int()) {
                    let column = Self::index(column, 1, *columns)?;
                    let pane = |row: usize| self.first + row * columns + column;
                    let axes = |row: usize| axes_of(Place::of(&self.figure, pane(row)));
                    let items = Value::list((0..*rows).map(axes).collect());
                    return cx.getitem(&items, row).map(Some);
                }
                let (row, column) = (Self::index(row, 0, *rows)?, column);
                cx.getitem(&self.item(row), column).map(Some)
            }
            ([only], [count]) => Ok(Some(self.item(Self::index(only, 0, *count)?))),
            (keys, shape) => Err(index_error(format!(
                "too many indices for axes: they are {}-dimensional, but {} were indexed",
                shape.len(),
                keys.len()
            ))),
        }
    }

    fn iter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let items = Value::list((0..self.shape[0]).map(|it| self.item(it)).collect());
        cx.iter(&items).map(Some)
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        Ok(format!("<AxesGrid of {} axes>", sizes.join(" by ")))
    }
}
