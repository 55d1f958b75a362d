//! Pictures and heights over a plane.

use super::artist::picture_artist;
use super::canvas::{around, keep, on_axes};
use super::coloring::{Coloring, mapped};
use super::colors::map_of;
use super::draw::{add_mapped, listed_colors};
use super::options::Options;
use super::style::{plain_look, uncolored_look};
use super::values::{Grid, elements, grid, numbers};
use crate::native::*;
use crate::shown::{ColorBar, Image, Raster, Rgb, Series};

/// The functions that show matrices; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function(
        "imshow",
        "X, cmap=None, **options",
        "A picture: numbers [H, W], coloured by cmap, or colours [H, W, 3]. Options: vmin, vmax, origin, extent.",
        imshow,
    ),
    function(
        "matshow",
        "A, cmap=None, **options",
        "A matrix as a picture, with its indices.",
        imshow,
    ),
    function(
        "pcolormesh",
        "*grid, cmap=None, **options",
        "A matrix as coloured cells: pcolormesh(C), pcolormesh(X, Y, C).",
        pcolormesh,
    ),
    function(
        "contour",
        "*grid, levels=None, cmap=None, **options",
        "Lines of equal height: contour(Z), contour(X, Y, Z, levels).",
        contour,
    ),
    function(
        "contourf",
        "*grid, levels=None, cmap=None, **options",
        "Areas between heights: contourf(Z), contourf(X, Y, Z, levels).",
        contourf,
    ),
];

/// The most pixels of a picture that a program may show.
const LARGEST: usize = 1 << 22;
/// The most pixels along a side of a picture that is made of heights.
const SMOOTH: usize = 240;

fn imshow(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("imshow", args.dict(2)?)?;
    let (mut image, bar) = picture(cx, &args[0], args.opt(1), options)?;
    let upwards = options.text("origin")?.as_deref() == Some("lower");
    // The first row stands at the top, or at the bottom if the origin is there.
    if upwards {
        turn(&mut image);
    }
    let raster = match options.get("extent").map(|it| numbers(cx, &it)).transpose()?.as_deref() {
        Some([left, right, bottom, top]) => {
            Raster { image, left: *left, right: *right, bottom: *bottom, top: *top }
        }
        Some(_) => return Err(value_error("extent is (left, right, bottom, top)")),
        None if upwards => {
            let at = around(image);
            Raster { bottom: at.top, top: at.bottom, ..at }
        }
        None => around(image),
    };
    let flipped = raster.bottom > raster.top;
    on_axes(|it| (it.square, it.y.flipped) = (true, flipped));
    put(raster, bar)
}

/// Adds a picture; one that covers another wholly takes its place.
fn put(raster: Raster, bar: ColorBar) -> Res {
    keep(raster.image.pixels.len())?;
    on_axes(|it| {
        let place = |it: &Raster| (it.left, it.right, it.bottom, it.top);
        if raster.image.channels != 4 {
            it.rasters.retain(|below| place(below) != place(&raster));
        }
        it.rasters.push(raster);
    });
    Ok(picture_artist(Some(mapped(bar))))
}

/// The rows in the other order.
fn turn(image: &mut Image) {
    let row = image.width * image.channels;
    image.pixels = image.pixels.rchunks(row.max(1)).flatten().copied().collect();
}

/// A picture of numbers [H, W] or colours [H, W, 3], and what its colours stand for.
fn picture(
    cx: &mut Cx,
    value: &Value,
    cmap: Option<&Value>,
    options: Options<'_>,
) -> Result<(Image, ColorBar), Raised> {
    let value = match value.as_tensor() {
        Some(_) => value.clone(),
        None => Value::tensor(crate::array::make::tensor(cx, value, None)?),
    };
    let object = value.as_tensor().ok_or_else(|| type_error("no picture"))?;
    let tensor = object.get();
    let (height, width, channels) = match **tensor.shape() {
        [h, w] | [h, w, 1] => (h, w, 1),
        [h, w, c @ (3 | 4)] => (h, w, c),
        _ => {
            let hint = match **tensor.shape() {
                [1 | 3 | 4, _, _] => "; channels come last: x.permute(1, 2, 0)",
                _ => "",
            };
            return Err(type_error(format!(
                "Invalid shape {} for image data: a picture is [H, W] or [H, W, 3]{hint}",
                tensor.shape()
            )));
        }
    };
    if height * width == 0 || height * width > LARGEST {
        return Err(value_error(format!(
            "a picture of {height} by {width} pixels cannot be shown; pick a part of it"
        )));
    }
    let values = elements(cx, object)?;
    let title = String::new();
    if channels == 1 {
        let coloring = Coloring::asked(cx, cmap, options, &values)?;
        let (pixels, channels) = colored(&values, &coloring, options)?;
        return Ok((Image { width, height, channels, pixels, title }, coloring.bar()));
    }
    // Whole numbers up to 255, or fractions up to 1.
    let full = if tensor.dtype().is_float() { 255.0 } else { 1.0 };
    let pixels = values.iter().map(|it| (it * full).round().clamp(0.0, 255.0) as u8).collect();
    // As in matplotlib, which tells nothing of such a picture.
    let bar = Coloring::of_levels(map_of(cx, cmap)?, &[0.0, 1.0]).bar();
    Ok((Image { width, height, channels, pixels, title }, bar))
}

/// The colours of numbers as bytes, and how many channels they have: alpha adds a fourth.
fn colored(
    values: &[f64],
    coloring: &Coloring,
    options: Options<'_>,
) -> Result<(Vec<u8>, usize), Raised> {
    let colors = values.iter().map(|it| coloring.at(*it));
    Ok(match options.number(&["alpha"])? {
        Some(opacity) => {
            let opacity = (opacity * 255.0).clamp(0.0, 255.0) as u8;
            (colors.flat_map(|[red, green, blue]| [red, green, blue, opacity]).collect(), 4)
        }
        None => (colors.flatten().collect(), 3),
    })
}

/// Heights over a plane: where columns and rows stand, and the heights.
struct Field {
    xs: Vec<f64>,
    ys: Vec<f64>,
    heights: Grid,
}

/// The field that `(Z)` or `(X, Y, Z)` means, and what follows it.
fn field<'a>(
    cx: &mut Cx,
    func: &str,
    given: &'a [Value],
) -> Result<(Field, Option<&'a Value>), Raised> {
    let (places, heights, rest) = match given {
        [x, y, z, rest @ ..] => (Some((x, y)), z, rest.first()),
        [z, rest @ ..] => (None, z, rest.first()),
        [] => return Err(type_error(format!("{func}() takes Z, or X, Y and Z"))),
    };
    let heights = grid(cx, heights)?;
    let heights = heights.filter(|it| it.width > 1 && it.height > 1).ok_or_else(|| {
        type_error(format!("Input z must be at least a (2, 2) shaped matrix for {func}()"))
    })?;
    let (width, height) = (heights.width, heights.height);
    if width * height > LARGEST {
        return Err(value_error("these are too many heights to draw; take every second one, say"));
    }
    let (xs, ys) = match places {
        None => {
            ((0..width).map(|it| it as f64).collect(), (0..height).map(|it| it as f64).collect())
        }
        Some((x, y)) => (line_of(cx, x, false)?, line_of(cx, y, true)?),
    };
    let fits = |places: &[f64], count: usize| places.len() == count || places.len() == count + 1;
    if !fits(&xs, width) || !fits(&ys, height) {
        return Err(type_error(format!(
            "{func}(): Z has {height} rows and {width} columns, Y has {} and X has {} places; make X and Y with meshgrid",
            ys.len(),
            xs.len()
        )));
    }
    let rises = |places: &[f64]| places.windows(2).all(|it| it[0] < it[1]);
    if !rises(&xs) || !rises(&ys) {
        return Err(value_error(format!(
            "{func}(): X grows from column to column, and Y from row to row; torch.meshgrid does so with indexing='xy'"
        )));
    }
    Ok((Field { xs, ys, heights }, rest))
}

/// The places along one side of a grid that `meshgrid` made, or a plain sequence.
fn line_of(cx: &mut Cx, value: &Value, downwards: bool) -> Result<Vec<f64>, Raised> {
    Ok(match grid(cx, value)? {
        Some(grid) if grid.values.is_empty() => Vec::new(),
        Some(grid) if downwards => (0..grid.height).map(|y| grid.at(0, y)).collect(),
        Some(grid) => (0..grid.width).map(|x| grid.at(x, 0)).collect(),
        None => numbers(cx, value)?,
    })
}

/// The ends of cells whose middles are given, or the ends themselves where there is one more.
fn edges(places: &[f64], count: usize) -> (f64, f64) {
    let (first, last) = (places[0], places[places.len() - 1]);
    if places.len() > count {
        return (first, last);
    }
    let half = (last - first) / (count - 1) as f64 / 2.0;
    (first - half, last + half)
}

fn pcolormesh(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("pcolormesh", args.dict(2)?)?;
    let (field, _) = field(cx, "pcolormesh", args.rest(0))?;
    let coloring = Coloring::asked(cx, args.opt(1), options, &field.heights.values)?;
    let (width, height) = (field.heights.width, field.heights.height);
    let (pixels, channels) = colored(&field.heights.values, &coloring, options)?;
    let mut image = Image { width, height, channels, pixels, title: String::new() };
    turn(&mut image);
    let ((left, right), (bottom, top)) = (edges(&field.xs, width), edges(&field.ys, height));
    put(Raster { image, left, right, bottom, top }, coloring.bar())
}

/// The heights at which lines are drawn: those asked for, or so many round ones.
fn levels(cx: &mut Cx, given: Option<&Value>, heights: &[f64]) -> Result<Vec<f64>, Raised> {
    let finite = || heights.iter().copied().filter(|it| it.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let count = match given {
        Some(it) if it.as_int().is_none() => {
            let levels = numbers(cx, it)?;
            if !levels.windows(2).all(|it| it[0] < it[1]) {
                return Err(value_error("Contour levels must be increasing"));
            }
            return Ok(levels);
        }
        Some(it) => it.as_int().unwrap_or(7).clamp(1, 256),
        None => 7,
    };
    let span = high - low;
    // The smallest of 1, 2, 2.5 and 5 times a power of ten that needs no more lines.
    let rough = span / (count + 1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|it| it * power).into_iter().find(|it| *it >= rough);
    let step = step.unwrap_or(10.0 * power);
    // Heights that are all the same, or cannot be told apart.
    if !(step.is_normal() && (low / step).abs() < 1e15 && (high / step).abs() < 1e15) {
        return Ok(vec![low, low + 1.0]);
    }
    let first = (low / step).floor() as i64;
    let last = (high / step).ceil() as i64;
    Ok((first..=last).map(|it| it as f64 * step).collect())
}

fn contourf(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("contourf", args.dict(3)?)?;
    let (field, rest) = field(cx, "contourf", args.rest(0))?;
    let levels = levels(cx, args.opt(1).or(rest), &field.heights.values)?;
    if levels.len() < 2 {
        return Err(value_error("Filled contours require at least 2 levels."));
    }
    let coloring = Coloring::of_levels(map_of(cx, args.opt(2))?, &levels);
    let opacity = (options.number(&["alpha"])?.unwrap_or(1.0) * 255.0) as u8;
    let colors = colors_of_bands(cx, options, &coloring, &levels)?;
    let side = |count: usize| SMOOTH.max(count.min(2 * SMOOTH));
    let (width, height) = (side(field.heights.width), side(field.heights.height));
    let mut pixels = Vec::with_capacity(width * height * 4);
    for row in 0..height {
        cx.poll()?;
        for column in 0..width {
            // From the upper left corner, in parts of the whole.
            let part = |at: usize, count: usize| (at as f64 + 0.5) / count as f64;
            let value = field.between(part(column, width), 1.0 - part(row, height));
            match band_of(&levels, value) {
                Some(band) => pixels.extend(colors[band].into_iter().chain([opacity])),
                None => pixels.extend([0; 4]),
            }
        }
    }
    let image = Image { width, height, channels: 4, pixels, title: String::new() };
    let last = |places: &[f64], count: usize| places[places.len().min(count) - 1];
    let (right, top) =
        (last(&field.xs, field.heights.width), last(&field.ys, field.heights.height));
    let raster = Raster { image, left: field.xs[0], right, bottom: field.ys[0], top };
    put(raster, Coloring::bar_of_bands(&levels, |band| colors[band]))
}

/// The colours of the areas between levels: those listed, or those of their middles.
fn colors_of_bands(
    cx: &mut Cx,
    options: Options<'_>,
    coloring: &Coloring,
    levels: &[f64],
) -> Result<Vec<Rgb>, Raised> {
    let count = levels.len() - 1;
    if let Some(colors) = listed_colors(cx, options, count)? {
        return Ok(colors);
    }
    let one = plain_look(cx, options)?.color;
    let middle = |it: &[f64]| it[0] / 2.0 + it[1] / 2.0;
    Ok(levels.windows(2).map(|it| one.unwrap_or_else(|| coloring.at(middle(it)))).collect())
}

/// Between which levels a height lies, counted from 0; `None`: below all or above all.
fn band_of(levels: &[f64], height: f64) -> Option<usize> {
    let below = levels.partition_point(|it| *it <= height);
    let is_last = levels.last() == Some(&height);
    let band = if is_last { below.checked_sub(2) } else { below.checked_sub(1) };
    band.filter(|it| it + 1 < levels.len() && !height.is_nan())
}

fn contour(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("contour", args.dict(3)?)?;
    let (field, rest) = field(cx, "contour", args.rest(0))?;
    let levels = levels(cx, args.opt(1).or(rest), &field.heights.values)?;
    let coloring = Coloring::of_levels(map_of(cx, args.opt(2))?, &levels);
    let colors = listed_colors(cx, options, levels.len())?;
    let plain = match colors {
        Some(_) => uncolored_look(cx, options)?,
        None => plain_look(cx, options)?,
    };
    let mut drawn = Value::None;
    for (at, level) in levels.iter().enumerate() {
        cx.poll()?;
        let (xs, ys) = field.line_at(*level);
        if xs.is_empty() {
            continue;
        }
        let mut look = plain.clone();
        look.name.clear();
        let listed = colors.as_ref().map(|it| it[at]);
        look.color = listed.or(look.color).or(Some(coloring.at(*level)));
        drawn = add_mapped(Series { look, xs, ys, ..Series::default() }, Some(coloring.bar()))?;
    }
    Ok(if drawn.is_none() { picture_artist(Some(mapped(coloring.bar()))) } else { drawn })
}

impl Field {
    /// The height at parts of the way from left to right and from bottom to top, between the four nearest.
    fn between(&self, x: f64, y: f64) -> f64 {
        let along = |places: &[f64], count: usize, part: f64| {
            let places = &places[..count];
            let at = places[0] + part * (places[count - 1] - places[0]);
            let after = places.partition_point(|it| *it <= at).clamp(1, count - 1);
            let (low, high) = (places[after - 1], places[after]);
            (after - 1, (at - low) / (high - low))
        };
        let (column, x_part) = along(&self.xs, self.heights.width, x);
        let (row, y_part) = along(&self.ys, self.heights.height, y);
        let at = |x: usize, y: usize| self.heights.at(column + x, row + y);
        let mix = |low: f64, high: f64, part: f64| low + (high - low) * part;
        mix(mix(at(0, 0), at(1, 0), x_part), mix(at(0, 1), at(1, 1), x_part), y_part)
    }

    /// The pieces of the line of a height, cell by cell, with gaps between them (marching squares).
    fn line_at(&self, level: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for row in 0..self.heights.height - 1 {
            for column in 0..self.heights.width - 1 {
                let crossings = self.crossings(column, row, level);
                for piece in crossings.chunks_exact(2) {
                    xs.extend([piece[0].0, piece[1].0, f64::NAN]);
                    ys.extend([piece[0].1, piece[1].1, f64::NAN]);
                }
            }
        }
        (xs, ys)
    }

    /// Where a height is met on the sides of a cell: on none, two or four of them.
    fn crossings(&self, column: usize, row: usize, level: f64) -> Vec<(f64, f64)> {
        let corner = |x: usize, y: usize| {
            (self.xs[column + x], self.ys[row + y], self.heights.at(column + x, row + y))
        };
        let corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        let mut found = Vec::new();
        for side in 0..4 {
            let ((x0, y0, z0), (x1, y1, z1)) = (corners[side], corners[(side + 1) % 4]);
            if (z0 < level) != (z1 < level) && z0.is_finite() && z1.is_finite() {
                let part = (level - z0) / (z1 - z0);
                found.push((x0 + part * (x1 - x0), y0 + part * (y1 - y0)));
            }
        }
        found
    }
}
