//! The figures being drawn: their panels, which of them is meant, and when they are shown.

use std::cell::RefCell;
use std::rc::Rc;

use crate::memory::{self, Charge};
use crate::native::*;
use crate::objects::shown::Shown;
use crate::shown::{CYCLE, Figure, Image, Panel, Plot, Raster, Rgb, Scale};

/// A figure in the making.
pub(super) struct Canvas {
    /// What `plt.figure(number)` calls it.
    pub(super) number: i64,
    pub(super) title: String,
    /// Panels in a row; 0: as many as fit.
    pub(super) columns: usize,
    /// Width and height in pixels of the whole figure, where they were asked for.
    pub(super) size: Option<(u32, u32)>,
    pub(super) panes: Vec<Pane>,
    /// The pane that the functions of the module draw on.
    pub(super) current: usize,
    memory: Charge,
}

/// A place of a figure, and how many colours of the cycle it has given out.
#[derive(Clone)]
pub(super) struct Pane {
    pub(super) plot: Plot,
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

/// Bytes that a figure is counted with before anything is drawn.
const EMPTY: usize = 1 << 10;

#[derive(Default)]
struct Open {
    /// Figures not shown yet, in the order in which they were begun.
    figures: Vec<Shared>,
    /// The one that the functions of the module draw on.
    current: Option<Shared>,
    /// Axes whose method is running.
    aimed: Option<(Shared, usize)>,
}

thread_local! {
    static OPEN: RefCell<Open> = RefCell::default();
}

impl Canvas {
    fn new(number: i64) -> Canvas {
        let (title, memory) = (String::new(), Charge::new(EMPTY));
        Canvas { number, title, columns: 0, size: None, panes: Vec::new(), current: 0, memory }
    }

    /// The pane at `at`; those before it are there, too.
    pub(super) fn pane(&mut self, at: usize) -> &mut Pane {
        while self.panes.len() <= at {
            let size = self.size.filter(|_| self.panes.is_empty() && self.columns <= 1);
            self.panes.push(Pane::new(size));
        }
        &mut self.panes[at]
    }

    /// Whether there is anything to look at.
    fn is_drawn(&self) -> bool {
        self.panes.iter().any(|it| {
            let plot = &it.plot;
            let empty = plot.series.is_empty() && plot.bands.is_empty() && plot.notes.is_empty();
            let named = [&plot.title, &plot.x_label, &plot.y_label].iter().any(|it| !it.is_empty());
            !empty || named || !plot.rasters.is_empty()
        })
    }

    /// The figure as plain data.
    pub(super) fn figure(&self) -> Figure {
        let panels = self.panes.iter().map(|it| panel(&it.plot)).collect();
        Figure { title: self.title.clone(), columns: self.columns, panels }
    }
}

impl Pane {
    /// Empty axes.
    pub(super) fn new(size: Option<(u32, u32)>) -> Pane {
        Pane { plot: Plot { size, ..Plot::default() }, lines: 0, fills: 0 }
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

/// How axes are shown: as a picture alone where nothing else was asked for.
fn panel(plot: &Plot) -> Panel {
    let only = match plot.rasters.as_slice() {
        [raster] if is_plain(plot, raster) => Some(raster),
        _ => None,
    };
    match only {
        Some(raster) => Panel::Image(Image { title: plot.title.clone(), ..raster.image.clone() }),
        None => Panel::Plot(Box::new(plot.clone())),
    }
}

/// Whether axes hold a picture in its usual place, its title, and nothing that needs axes.
fn is_plain(plot: &Plot, raster: &Raster) -> bool {
    let image = &raster.image;
    let bare =
        |scale: &Scale| scale.range.is_none() && scale.ticks.as_ref().is_none_or(Vec::is_empty);
    [raster.left, raster.right, raster.bottom, raster.top] == usual_sides(image)
        && plot.series.is_empty()
        && plot.bands.is_empty()
        && plot.notes.is_empty()
        && plot.x_label.is_empty()
        && plot.y_label.is_empty()
        && !plot.with_axes
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

/// The figure and the pane that are drawn on now.
pub(super) fn target() -> (Shared, usize) {
    OPEN.with_borrow_mut(|open| {
        if let Some(aimed) = &open.aimed {
            return aimed.clone();
        }
        let figure = match &open.current {
            Some(it) => it.clone(),
            None => begin(open, None),
        };
        let at = figure.borrow().current;
        (figure, at)
    })
}

/// Runs a method of axes: what it draws goes there.
pub(super) fn aimed<T>(figure: &Shared, at: usize, run: impl FnOnce() -> T) -> T {
    let before = OPEN.with_borrow_mut(|it| it.aimed.replace((figure.clone(), at)));
    let done = run();
    OPEN.with_borrow_mut(|it| it.aimed = before);
    done
}

/// Changes the pane that is drawn on.
pub(super) fn on_pane<T>(change: impl FnOnce(&mut Pane) -> T) -> T {
    let (figure, at) = target();
    let mut figure = figure.borrow_mut();
    change(figure.pane(at))
}

/// Changes the axes that are drawn on.
pub(super) fn on_axes<T>(change: impl FnOnce(&mut Plot) -> T) -> T {
    on_pane(|it| change(&mut it.plot))
}

/// Counts bytes that the figure is going to hold, or raises `MemoryError`.
pub(super) fn keep(bytes: usize) -> Result<(), Raised> {
    memory::room(bytes)?;
    target().0.borrow().memory.add(bytes);
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
