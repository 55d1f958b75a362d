//! What programs show besides text, as plain data: tables, plots, pictures, progress.
//!
//! Nothing here knows how it will look; `kernel` draws it.

/// Rows under a head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Says what the table holds; may be empty.
    pub caption: String,
    /// One name for each column; empty: no head.
    pub head: Vec<String>,
    /// The rows, each as long as `head`; a shorter one is filled with empty cells.
    pub rows: Vec<Vec<String>>,
    /// Columns that hold numbers and so are right-aligned, from 0.
    pub numeric: Vec<usize>,
}

/// One set of axes with what is drawn on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Above the axes; may be empty.
    pub title: String,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
    /// Drawn in order, later ones on top.
    pub series: Vec<Series>,
    /// Ends of the horizontal axis; `None`: from the data.
    pub x_range: Option<(f64, f64)>,
    /// Ends of the vertical axis; `None`: from the data.
    pub y_range: Option<(f64, f64)>,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Whether the vertical axis is logarithmic.
    pub y_log: bool,
    /// Whether lines are drawn across at the ticks.
    pub grid: bool,
    /// Whether series are named in a box.
    pub legend: bool,
    /// Names along the horizontal axis at 0, 1, 2 ...; empty: numbers.
    pub x_names: Vec<String>,
    /// Width and height in pixels; `None`: 560 by 340.
    pub size: Option<(u32, u32)>,
}

/// One set of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// For the legend; may be empty.
    pub name: String,
    /// Horizontal positions.
    pub xs: Vec<f64>,
    /// Vertical positions, as many as `xs`; a point that is not finite breaks the line.
    pub ys: Vec<f64>,
    /// How the points are drawn.
    pub style: SeriesStyle,
    /// Red, green, blue; `None`: the next colour of the palette.
    pub color: Option<[u8; 3]>,
    /// Whether a line is broken into dashes.
    pub dashed: bool,
    /// Whether a line also marks its points.
    pub markers: bool,
    /// Width of a bar in units of the horizontal axis; 0: 0.8 of the least distance.
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
    /// A bar from zero to each point.
    Bar,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// 1 grey, 3 colour, 4 colour and opacity.
    pub channels: usize,
    /// `height * width * channels` bytes, rows from the top, channels last.
    pub pixels: Vec<u8>,
    /// Caption; may be empty.
    pub title: String,
}

/// Pictures in a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Images {
    /// Above the grid; may be empty.
    pub title: String,
    /// Pictures in a row; 0: as many as fit.
    pub columns: usize,
    /// In reading order.
    pub images: Vec<Image>,
}

/// Plots and pictures in a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Above the grid; may be empty.
    pub title: String,
    /// Panels in a row; 0: as many as fit.
    pub columns: usize,
    /// In reading order.
    pub panels: Vec<Panel>,
}

/// One place of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// A set of axes.
    Plot(Plot),
    /// A picture.
    Image(Image),
}

/// How far a loop is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The display that this replaces; the same for every step of one bar. Empty: shown anew.
    pub id: String,
    /// What is running; may be empty.
    pub label: String,
    /// Steps done.
    pub done: u64,
    /// Steps in all; `None`: not known.
    pub total: Option<u64>,
    /// Since the first step.
    pub seconds: f64,
    /// Shown at the end, such as the loss; may be empty.
    pub note: String,
}
