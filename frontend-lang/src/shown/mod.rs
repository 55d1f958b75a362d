//! What programs show besides text, as plain data: tables, plots, pictures, progress.
//!
//! Nothing here knows how it will look; `kernel` draws it.

mod foreign;
mod notice;
mod plot;

pub use foreign::{Foreign, Form};
pub use notice::Notice;
pub use plot::{
    Band, CYCLE, ColorBar, Dash, Look, Note, Plot, Raster, Rgb, Scale, Series, SeriesStyle, Side,
    Spot, Tick,
};

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
    /// What each panel takes of a grid; empty: one cell each, in rows.
    pub spans: Vec<Span>,
    /// Width and height of the whole in pixels; `None`: as its panels need.
    pub size: Option<(u32, u32)>,
}

/// Some cells of a grid, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first row.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
}

/// A kind of file that a figure can become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawing {
    Svg,
    /// A picture; each pixel of the figure as it is shown becomes so many, across and down.
    Png {
        scale: f64,
    },
}

/// One place of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// A set of axes.
    Plot(Box<Plot>),
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
