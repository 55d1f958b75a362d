//! Where the axes of a figure stand: cells of a grid, or of several grids laid over one another.

use super::super::math_int::gcd_of;
use super::values::numbers;
use crate::native::*;
use crate::shown::{Figure, Panel, Span};

/// A part of a grid of equal rows and columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// How many rows and columns the grid has.
    grid: (usize, usize),
    /// Its first row and the one after its last.
    rows: (usize, usize),
    /// Its first column and the one after its last.
    columns: (usize, usize),
}

/// The most cells of a grid.
const CELLS: i64 = 400;
/// The most rows or columns of the grid that several grids fit into.
const FINEST: usize = 2000;

impl Cell {
    /// All of the figure.
    pub(super) const WHOLE: Cell = Cell { grid: (1, 1), rows: (0, 1), columns: (0, 1) };

    /// The cells of a grid in reading order.
    pub(super) fn all(rows: i64, columns: i64) -> Result<Vec<Cell>, Raised> {
        let (rows, columns) = grid(rows, columns)?;
        Ok((0..rows * columns).map(|it| Cell::of((rows, columns), it, it)).collect())
    }

    /// From one cell of a grid to another, both counted in reading order.
    fn of(grid: (usize, usize), first: usize, last: usize) -> Cell {
        let (top, left) = (first / grid.1, first % grid.1);
        let (bottom, right) = (last / grid.1, last % grid.1);
        let ends = |one: usize, other: usize| (one.min(other), one.max(other) + 1);
        Cell { grid, rows: ends(top, bottom), columns: ends(left, right) }
    }

    /// The cells of a finer grid that it takes.
    fn in_grid(&self, rows: usize, columns: usize) -> Span {
        let (down, across) = (rows / self.grid.0, columns / self.grid.1);
        Span {
            row: self.rows.0 * down,
            column: self.columns.0 * across,
            rows: (self.rows.1 - self.rows.0) * down,
            columns: (self.columns.1 - self.columns.0) * across,
        }
    }
}

fn grid(rows: i64, columns: i64) -> Result<(usize, usize), Raised> {
    let all = rows.checked_mul(columns).unwrap_or(i64::MAX);
    if rows < 1 || columns < 1 || all > CELLS {
        return Err(value_error(format!(
            "Number of rows and columns must be positive, and at most {CELLS} axes; these are {rows} by {columns}"
        )));
    }
    Ok((rows as usize, columns as usize))
}

/// The cell that `(rows, columns, index)`, a number such as 231, or a part of a `GridSpec` means.
pub(super) fn cell_of(cx: &mut Cx, args: &Args<'_>, first: usize) -> Result<Cell, Raised> {
    if args[first].as_int().is_none()
        && let Ok(spec) = cx.getattr(&args[first], Sym::of("_cell"))
    {
        return of_spec(&numbers(cx, &spec)?);
    }
    let code = args.int(first)?;
    let is_code = (100..=999).contains(&code);
    let (rows, columns) = match is_code {
        true => (code / 100, code / 10 % 10),
        false => (code, args.int(first + 1)?),
    };
    let grid = grid(rows, columns)?;
    let count = rows * columns;
    let inside = |index: i64| match (1..=count).contains(&index) {
        true => Ok(index as usize - 1),
        false => Err(value_error(format!(
            "num must be an integer with 1 <= num <= {count}, not {index}"
        ))),
    };
    if is_code {
        let at = inside(code % 10)?;
        return Ok(Cell::of(grid, at, at));
    }
    let index = &args[first + 2];
    if index.as_tuple().is_some() {
        let ends = numbers(cx, index)?;
        let [from, to] = ends[..] else {
            return Err(value_error("num is one number, or the first and the last of a span"));
        };
        return Ok(Cell::of(grid, inside(from as i64)?, inside(to as i64)?));
    }
    let at = inside(args.int(first + 2)?)?;
    Ok(Cell::of(grid, at, at))
}

/// Rows and columns of a grid, the first and the last row, the first and the last column.
fn of_spec(numbers: &[f64]) -> Result<Cell, Raised> {
    let wrong = || index_error("this part lies outside of its grid");
    let [rows, columns, top, bottom, left, right] = numbers[..] else { return Err(wrong()) };
    let grid = grid(rows as i64, columns as i64)?;
    let span = |from: f64, to: f64, count: usize| {
        let (from, to) = (from as usize, to as usize + 1);
        if from < to && to <= count { Ok((from, to)) } else { Err(wrong()) }
    };
    Ok(Cell { grid, rows: span(top, bottom, grid.0)?, columns: span(left, right, grid.1)? })
}

/// A figure of panels in their cells: in reading order, with spans where they do not fill a grid one by one.
pub(super) fn arrange(mut panels: Vec<(Cell, Panel)>) -> Figure {
    let fold = |of: fn(&Cell) -> usize| {
        panels
            .iter()
            .try_fold(1, |all, (cell, _)| Some(lcm(all, of(cell))).filter(|it| *it <= FINEST))
    };
    let (rows, columns) = (fold(|it| it.grid.0), fold(|it| it.grid.1));
    let (Some(rows), Some(columns)) = (rows, columns) else {
        // Grids that have no common one of reasonable size.
        let panels = panels.into_iter().map(|(_, panel)| panel).collect();
        return Figure { panels, ..Figure::default() };
    };
    let span = |cell: &Cell| cell.in_grid(rows, columns);
    panels.sort_by_key(|(cell, _)| (span(cell).row, span(cell).column));
    let mut spans: Vec<Span> = panels.iter().map(|(cell, _)| span(cell)).collect();
    let one_by_one = |(at, it): (usize, &Span)| {
        (it.row, it.column, it.rows, it.columns) == (at / columns, at % columns, 1, 1)
    };
    if spans.iter().enumerate().all(one_by_one) {
        spans.clear();
    }
    let panels = panels.into_iter().map(|(_, panel)| panel).collect();
    Figure { columns, panels, spans, ..Figure::default() }
}

/// The least number that both divide.
fn lcm(one: usize, other: usize) -> usize {
    one / gcd_of(one as u64, other as u64) as usize * other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::Plot;

    /// The spans of panels in cells `(rows, columns, first, last)`, counted from 0, and the titles in their order.
    fn arranged(cells: &[(usize, usize, usize, usize)]) -> (usize, Vec<[usize; 4]>, String) {
        let panel =
            |(at, &(rows, columns, first, last)): (usize, &(usize, usize, usize, usize))| {
                let title = at.to_string();
                let plot = Panel::Plot(Box::new(Plot { title, ..Plot::default() }));
                (Cell::of((rows, columns), first, last), plot)
            };
        let figure = arrange(cells.iter().enumerate().map(panel).collect());
        let titles = figure.panels.iter().map(|it| match it {
            Panel::Plot(plot) => plot.title.clone(),
            Panel::Image(image) => image.title.clone(),
        });
        let spans = figure.spans.iter().map(|it| [it.row, it.column, it.rows, it.columns]);
        (figure.columns, spans.collect(), titles.collect())
    }

    #[test]
    fn panels_of_one_grid_stand_in_rows_in_whatever_order_they_came() {
        assert_eq!(arranged(&[(1, 2, 1, 1), (1, 2, 0, 0)]), (2, vec![], "10".into()));
        assert_eq!(arranged(&[(1, 1, 0, 0)]), (1, vec![], "0".into()));
    }

    #[test]
    fn grids_laid_over_one_another_share_a_finer_one() {
        let (columns, spans, titles) = arranged(&[(2, 3, 5, 5), (1, 2, 0, 0), (2, 3, 2, 2)]);
        assert_eq!((columns, titles.as_str()), (6, "120"));
        assert_eq!(spans, [[0, 0, 2, 3], [0, 4, 1, 2], [1, 4, 1, 2]]);
    }

    #[test]
    fn a_cell_that_nobody_asked_for_stays_empty() {
        let (_, spans, _) = arranged(&[(2, 2, 0, 0), (2, 2, 3, 3)]);
        assert_eq!(spans, [[0, 0, 1, 1], [1, 1, 1, 1]]);
    }

    #[test]
    fn grids_without_a_common_one_stand_in_rows() {
        let (columns, spans, _) = arranged(&[(1, 397, 0, 0), (1, 389, 1, 1)]);
        assert_eq!((columns, spans), (0, vec![]));
    }
}
