//! One set of axes with what is drawn on it, as plain data.

use super::Image;

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// The colours that series take in turn; they can be told apart, also by most people who see fewer (after Okabe and Ito).
pub const CYCLE: [Rgb; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [120, 94, 60],
    [90, 90, 90],
];

/// One set of axes with what is drawn on it: the picture lowest, then bands, series and notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Above the axes; may be empty.
    pub title: String,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    /// Pictures over parts of the plane, later ones on top.
    pub rasters: Vec<Raster>,
    /// Stripes across the axes, and lines.
    pub bands: Vec<Band>,
    /// Drawn in order, later ones on top.
    pub series: Vec<Series>,
    /// Words at places.
    pub notes: Vec<Note>,
    /// Axes over these that share the horizontal axis and have their own vertical one, told on the right.
    pub twin: Option<Box<Plot>>,
    /// What colours stand for, told beside the axes; `None`: it is not told.
    pub color_bar: Option<Box<ColorBar>>,
    /// Where series are named in a box; `None`: nowhere.
    pub legend: Option<Spot>,
    /// Whether one unit is as long on both axes.
    pub square: bool,
    /// Whether the axes themselves are left out.
    pub bare: bool,
    /// Width and height in pixels; `None`: 560 by 340.
    pub size: Option<(u32, u32)>,
}

/// How an axis counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// The ends; `None`: from the data.
    pub range: Option<(f64, f64)>,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Whether numbers grow to the left, or downwards.
    pub flipped: bool,
    /// The places that are named; `None`: chosen when drawn.
    pub ticks: Option<Vec<Tick>>,
    /// Whether lines are drawn across the axes at the ticks.
    pub grid: bool,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value there.
    pub at: f64,
    /// `None`: the value itself.
    pub name: Option<String>,
}

/// How lines, dots and areas look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// For the legend; may be empty.
    pub name: String,
    /// `None`: the next colour of [`CYCLE`].
    pub color: Option<Rgb>,
    /// From 0, which cannot be seen, to 1; `None`: as usual.
    pub opacity: Option<f64>,
    /// Width of lines in pixels; `None`: 2.
    pub line_width: Option<f64>,
    /// How lines are broken.
    pub dash: Dash,
    /// Whether a line also marks its points.
    pub markers: bool,
    /// Radius of dots in pixels; `None`: 3.
    pub radius: Option<f64>,
    /// Whether only the edges of dots are drawn.
    pub hollow: bool,
    /// Whether it stays out of the legend, whatever its name.
    pub unlisted: bool,
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    #[default]
    Solid,
    Dashed,
    Dotted,
}

/// One set of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// How it looks.
    pub look: Look,
    /// How the points are drawn.
    pub style: SeriesStyle,
    /// Horizontal positions.
    pub xs: Vec<f64>,
    /// Vertical positions, as many as `xs`; a point that is not finite breaks the line.
    pub ys: Vec<f64>,
    /// Where bars and areas begin, one for each point; empty: at 0.
    pub base: Vec<f64>,
    /// A colour for each dot; empty: all as `look` says.
    pub colors: Vec<Rgb>,
    /// A radius for each dot in pixels; empty: all as `look` says.
    pub radii: Vec<f64>,
    /// Width of a bar in units of its axis; 0: 0.8 of the least distance.
    pub bar_width: f64,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Points joined in order.
    #[default]
    Line,
    /// A dot at each point.
    Scatter,
    /// An upright bar from its base to each point.
    Bar,
    /// A lying bar from its base, which is an x, to each point.
    LyingBar,
    /// The area between the points and their base.
    Area,
    /// The area within the points, joined in order and closed.
    Polygon,
}

/// A stripe across the whole axes; a line where both ends are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// How it looks.
    pub look: Look,
    /// One side.
    pub from: f64,
    /// The other side.
    pub to: f64,
    /// Whether it stands upright, at these x; else it lies at these y.
    pub upright: bool,
    /// Which part of the axes it crosses, from 0 to 1; `None`: all.
    pub part: Option<(f64, f64)>,
}

/// Words at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// What they say.
    pub text: String,
    /// Where they stand.
    pub at: (f64, f64),
    /// Where a line leads from them.
    pub points_to: Option<(f64, f64)>,
    /// `None`: that of the axes.
    pub color: Option<Rgb>,
    /// Which part of the words stands at the place, from left to right.
    pub across: Side,
    /// Which part of the words stands at the place, from bottom to top.
    pub up: Side,
    /// Whether places are parts of the axes, from 0 to 1 at the upper right corner.
    pub in_axes: bool,
}

/// A part of something that has an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Its left or lower end.
    #[default]
    Start,
    Middle,
    /// Its right or upper end.
    End,
}

/// A picture over a part of the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raster {
    /// Its first row is at `top`.
    pub image: Image,
    /// The x of its left side.
    pub left: f64,
    /// The x of its right side.
    pub right: f64,
    /// The y of its lower side, as the picture stands.
    pub bottom: f64,
    /// The y of its upper side.
    pub top: f64,
}

/// Which numbers colours stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColorBar {
    /// The colours of equal parts of the scale, from its lower end to its upper one.
    pub colors: Vec<Rgb>,
    /// The numbers; it has a range.
    pub scale: Scale,
    /// Beside it; may be empty.
    pub label: String,
}

/// A place within the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Where least is drawn.
    Best,
    /// From left to right, and from bottom to top.
    At(Side, Side),
}

impl Plot {
    /// Every x and every y that something drawn reaches, in no order; pictures apart.
    pub fn reach(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for series in &self.series {
            match series.style {
                SeriesStyle::LyingBar => series.reach(&mut ys, &mut xs, self.x.log),
                _ => series.reach(&mut xs, &mut ys, self.y.log),
            }
        }
        for band in &self.bands {
            let ends = [band.from, band.to];
            if band.upright { xs.extend(ends) } else { ys.extend(ends) }
        }
        for note in self.notes.iter().filter(|it| !it.in_axes) {
            for (x, y) in [Some(note.at), note.points_to].into_iter().flatten() {
                xs.push(x);
                ys.push(y);
            }
        }
        (xs, ys)
    }
}

impl Series {
    /// Where the points stand, and what they reach: bars have a width, and begin at their base.
    fn reach(&self, along: &mut Vec<f64>, across: &mut Vec<f64>, log: bool) {
        let is_bar = matches!(self.style, SeriesStyle::Bar | SeriesStyle::LyingBar);
        let half = if is_bar { self.width_of_bars() / 2.0 } else { 0.0 };
        let (places, values) = self.along_and_across();
        along.extend(places.iter().flat_map(|it| [it - half, it + half]));
        across.extend(values.iter().chain(&self.base));
        if is_bar && self.base.is_empty() && !log {
            across.push(0.0);
        }
    }

    /// The places of the points and their values; bars that lie have their places on the vertical axis.
    pub fn along_and_across(&self) -> (&[f64], &[f64]) {
        match self.style {
            SeriesStyle::LyingBar => (&self.ys, &self.xs),
            _ => (&self.xs, &self.ys),
        }
    }

    /// The width of a bar that was asked for, or 0.8 of the least distance of two bars.
    pub fn width_of_bars(&self) -> f64 {
        if self.bar_width > 0.0 {
            return self.bar_width;
        }
        let (places, _) = self.along_and_across();
        let mut places: Vec<f64> = places.iter().copied().filter(|it| it.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        let steps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
        let least = steps.fold(f64::INFINITY, f64::min);
        if least.is_finite() { 0.8 * least } else { 0.8 }
    }
}
