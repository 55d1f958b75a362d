//! The figures being drawn: their panels, which of them is meant, and when they are shown.

use std::cell::RefCell;
use std::rc::Rc;

use super::categories::Names;
use super::layout::{Cell, arrange};
use super::settings::settings;
use crate::memory::{self, Charge};
use crate::native::*;
use crate::objects::shown::Shown;
use crate::shown::{CYCLE, ColorBar, Figure, Image, Panel, Plot, Raster, Rgb, Scale};

/// A figure in the making.
pub(super) struct Canvas {
    /// What `plt.figure(number)` calls it.
    pub(super) number: i64,
    pub(super) title: String,
    /// Width and height in pixels of the whole figure, where they were asked for.
    pub(super) size: Option<(u32, u32)>,
    pub(super) panes: Vec<Pane>,
    /// The pane that the functions of the module draw on, and whether its twin is meant.
    pub(super) current: (usize, bool),
    memory: Charge,
}

/// A place of a figure, and how many colours of the cycle it has given out.
#[derive(Clone)]
pub(super) struct Pane {
    pub(super) plot: Plot,
    /// Where it stands in the figure.
    cell: Cell,
    /// What the colours of numbers drawn last stand for.
    pub(super) mapped: Option<Rc<ColorBar>>,
    /// The names along both axes.
    pub(super) names: [Names; 2],
    /// Axes over these, with a vertical axis of their own on the right.
    pub(super) twin: Option<Box<Pane>>,
    lines: usize,
    fills: usize,
}

/// Who takes a colour: lines count for themselves, and so do dots, bars and areas, as in matplotlib.
#[derive(Clone, Copy)]
pub(super) enum Cycle {
    Lines,
    Fills,
}

/// A figure that several objects of the program may hold.
pub(super) type Shared = Rc<RefCell<Canvas>>;

/// Axes of a figure.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) figure: Shared,
    /// Which pane, in reading order.
    pub(super) pane: usize,
    /// Whether the axes over it are meant.
    pub(super) twin: bool,
}

/// Bytes that a figure is counted with before anything is drawn.
const EMPTY: usize = 1 << 10;

#[derive(Default)]
struct Open {
    /// Figures not shown yet, in the order in which they were begun.
    figures: Vec<Shared>,
    /// The one that the functions of the module draw on.
    current: Option<Shared>,
    /// Axes whose method is running.
    aimed: Option<Place>,
}

thread_local! {
    static OPEN: RefCell<Open> = RefCell::default();
}

impl Canvas {
    fn new(number: i64) -> Canvas {
        let (title, memory) = (String::new(), Charge::new(EMPTY));
        let size = settings().size;
        Canvas { number, title, size, panes: Vec::new(), current: (0, false), memory }
    }

    /// The pane at `at`; those before it are there, too.
    pub(super) fn pane(&mut self, at: usize) -> &mut Pane {
        while self.panes.len() <= at {
            self.panes.push(Pane::new(Cell::WHOLE));
        }
        &mut self.panes[at]
    }

    /// The number of the pane in a cell, which is there from now on.
    pub(super) fn pane_in(&mut self, cell: Cell) -> usize {
        let known = self.panes.iter().position(|it| it.cell == cell);
        known.unwrap_or_else(|| {
            self.panes.push(Pane::new(cell));
            self.panes.len() - 1
        })
    }

    /// Whether there is anything to look at.
    fn is_drawn(&self) -> bool {
        self.panes.iter().any(Pane::is_drawn)
    }

    /// The figure as plain data.
    pub(super) fn figure(&self) -> Figure {
        // Axes over the whole figure that nothing was drawn on only stood there before others were asked for.
        let is_left = |it: &&Pane| it.cell == Cell::WHOLE && !it.is_drawn() && self.panes.len() > 1;
        let shown = self.panes.iter().filter(|it| !is_left(it));
        let panels = shown.map(|it| (it.cell, it.panel())).collect();
        Figure { title: self.title.clone(), size: self.size, ..arrange(panels) }
    }
}

impl Pane {
    /// Empty axes.
    pub(super) fn new(cell: Cell) -> Pane {
        let scale = || Scale { grid: settings().grid, ..Scale::default() };
        let plot = Plot { x: scale(), y: scale(), ..Plot::default() };
        let names = Default::default();
        Pane { plot, cell, mapped: None, names, twin: None, lines: 0, fills: 0 }
    }

    /// Takes everything away.
    pub(super) fn clear(&mut self) {
        *self = Pane::new(self.cell);
    }

    /// Whether there is anything to look at.
    fn is_drawn(&self) -> bool {
        let plot = &self.plot;
        let empty = plot.series.is_empty() && plot.bands.is_empty() && plot.notes.is_empty();
        let named = [&plot.title, &plot.x_label, &plot.y_label].iter().any(|it| !it.is_empty());
        let over = self.twin.as_ref().is_some_and(|it| it.is_drawn());
        !empty || named || over || !plot.rasters.is_empty()
    }

    /// The axes as they are shown: as a picture alone where nothing else was asked for.
    fn panel(&self) -> Panel {
        if let ([raster], None) = (self.plot.rasters.as_slice(), &self.twin)
            && is_plain(&self.plot, raster)
        {
            let title = self.plot.title.clone();
            return Panel::Image(Image { title, ..raster.image.clone() });
        }
        let twin = self.twin.as_ref().map(|it| Box::new(it.plot.clone()));
        Panel::Plot(Box::new(Plot { twin, ..self.plot.clone() }))
    }

    /// The next colour of the cycle.
    pub(super) fn next_color(&mut self, cycle: Cycle) -> Rgb {
        let count = match cycle {
            Cycle::Lines => &mut self.lines,
            Cycle::Fills => &mut self.fills,
        };
        *count += 1;
        CYCLE[(*count - 1) % CYCLE.len()]
    }
}

/// Whether axes that are not seen hold a picture in its usual place, its title, and nothing else.
fn is_plain(plot: &Plot, raster: &Raster) -> bool {
    let image = &raster.image;
    let hidden = |scale: &Scale| scale.ticks.as_ref().is_some_and(Vec::is_empty);
    let bare = |scale: &Scale| scale.range.is_none() && (plot.bare || hidden(scale));
    [raster.left, raster.right, raster.bottom, raster.top] == usual_sides(image)
        && plot.series.is_empty()
        && plot.bands.is_empty()
        && plot.notes.is_empty()
        && plot.x_label.is_empty()
        && plot.y_label.is_empty()
        && plot.color_bar.is_none()
        && bare(&plot.x)
        && bare(&plot.y)
}

/// A picture in its usual place.
pub(super) fn around(image: Image) -> Raster {
    let [left, right, bottom, top] = usual_sides(&image);
    Raster { image, left, right, bottom, top }
}

/// Left, right, bottom and top of a picture whose pixels have whole numbers as their middles, counted from the upper left corner.
fn usual_sides(image: &Image) -> [f64; 4] {
    [-0.5, image.width as f64 - 0.5, image.height as f64 - 0.5, -0.5]
}

impl Place {
    /// One of the panes of a figure.
    pub(super) fn of(figure: &Shared, pane: usize) -> Place {
        Place { figure: figure.clone(), pane, twin: false }
    }

    /// The axes over these, or these.
    pub(super) fn with_twin(self, twin: bool) -> Place {
        Place { twin, ..self }
    }

    /// Changes the pane.
    pub(super) fn on_pane<T>(&self, change: impl FnOnce(&mut Pane) -> T) -> T {
        let mut figure = self.figure.borrow_mut();
        let pane = figure.pane(self.pane);
        match pane.twin.as_deref_mut().filter(|_| self.twin) {
            Some(twin) => change(twin),
            None => change(pane),
        }
    }

    /// Changes the axes.
    pub(super) fn on_axes<T>(&self, change: impl FnOnce(&mut Plot) -> T) -> T {
        self.on_pane(|it| change(&mut it.plot))
    }

    /// The functions of the module draw here from now on.
    pub(super) fn turn_to(&self) {
        self.figure.borrow_mut().current = (self.pane, self.twin);
    }

    /// Whether both are the same axes.
    pub(super) fn is(&self, other: &Place) -> bool {
        Rc::ptr_eq(&self.figure, &other.figure)
            && (self.pane, self.twin) == (other.pane, other.twin)
    }
}

/// The axes that are drawn on now.
pub(super) fn target() -> Place {
    OPEN.with_borrow_mut(|open| {
        if let Some(aimed) = &open.aimed {
            return aimed.clone();
        }
        let figure = match &open.current {
            Some(it) => it.clone(),
            None => begin(open, None),
        };
        let (pane, twin) = figure.borrow().current;
        Place { figure, pane, twin }
    })
}

/// Runs a method of axes: what it draws goes there.
pub(super) fn aimed<T>(place: &Place, run: impl FnOnce() -> T) -> T {
    let before = OPEN.with_borrow_mut(|it| it.aimed.replace(place.clone()));
    let done = run();
    OPEN.with_borrow_mut(|it| it.aimed = before);
    done
}

/// Changes the pane that is drawn on.
pub(super) fn on_pane<T>(change: impl FnOnce(&mut Pane) -> T) -> T {
    target().on_pane(change)
}

/// Changes the axes that are drawn on.
pub(super) fn on_axes<T>(change: impl FnOnce(&mut Plot) -> T) -> T {
    on_pane(|it| change(&mut it.plot))
}

/// Counts bytes that the figure is going to hold, or raises `MemoryError`.
pub(super) fn keep(bytes: usize) -> Result<(), Raised> {
    memory::room(bytes)?;
    target().figure.borrow().memory.add(bytes);
    Ok(())
}

/// A new figure, or the open one of this number, to be drawn on from now on.
pub(super) fn turn_to(number: Option<i64>) -> Shared {
    OPEN.with_borrow_mut(|open| begin(open, number))
}

fn begin(open: &mut Open, number: Option<i64>) -> Shared {
    let known = open.figures.iter().find(|it| Some(it.borrow().number) == number).cloned();
    let figure = known.unwrap_or_else(|| {
        let last = open.figures.iter().map(|it| it.borrow().number).max().unwrap_or(0);
        let new = Rc::new(RefCell::new(Canvas::new(number.unwrap_or(last + 1))));
        open.figures.push(new.clone());
        new
    });
    open.current = Some(figure.clone());
    figure
}

/// The numbers of the open figures, in ascending order.
pub(super) fn numbers_of_open() -> Vec<i64> {
    let mut all: Vec<i64> =
        OPEN.with_borrow(|open| open.figures.iter().map(|it| it.borrow().number).collect());
    all.sort_unstable();
    all
}

/// The open figure of a number.
pub(super) fn numbered(number: i64) -> Option<Shared> {
    OPEN.with_borrow(|open| open.figures.iter().find(|it| it.borrow().number == number).cloned())
}

/// Forgets the current figure, the given one, or all.
pub(super) fn forget(which: Option<&Shared>, all: bool) {
    OPEN.with_borrow_mut(|open| {
        let gone = which.or(open.current.as_ref()).cloned();
        open.figures.retain(|it| !all && gone.as_ref().is_some_and(|gone| !Rc::ptr_eq(it, gone)));
        let stays = |it: &&Shared| open.figures.iter().any(|open| Rc::ptr_eq(open, it));
        let current = open.current.as_ref().filter(stays).cloned();
        open.current = current.or_else(|| open.figures.last().cloned());
    });
}

/// Shows the figures that the program drew and did not show yet.
pub(super) fn show_open(cx: &mut Cx) {
    let open = OPEN.take();
    for figure in open.figures {
        if !figure.borrow().is_drawn() {
            continue;
        }
        let shown = Shown::Figure(figure.borrow().figure());
        let text = shown.text();
        cx.host.display(&Value::object(shown), &text, None, false);
    }
}
