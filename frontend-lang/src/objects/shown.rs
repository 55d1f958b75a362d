//! Values that exist to be shown: figures, tables, pictures, progress.

use std::any::Any;

use crate::native::*;
use crate::shown::{Figure, Foreign, Images, Panel, Progress, Table};

/// The type of what `show_table` and its siblings return.
pub static SHOWN: NativeType =
    NativeType { module: "notegrad", ..NativeType::plain("shown", "Something that a cell shows.") };

/// Something to show, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    Figure(Figure),
    Images(Images),
    Table(Table),
    Progress(Progress),
    Html(String),
    Markdown(String),
    Foreign(Foreign),
}

impl Shown {
    /// The plain form, for terminals and logs.
    pub fn text(&self) -> String {
        match self {
            Self::Figure(it) => figure_text(it),
            Self::Images(it) => format!("<{} images>", it.images.len()),
            Self::Table(it) => table_text(it),
            Self::Progress(it) => match it.total {
                Some(total) => format!("{} {}/{total} {}", it.label, it.done, it.note),
                None => format!("{} {} {}", it.label, it.done, it.note),
            },
            Self::Foreign(it) => it.text.clone(),
            Self::Html(it) | Self::Markdown(it) => it.clone(),
        }
    }
}

fn figure_text(figure: &Figure) -> String {
    let titles = figure.panels.iter().map(|panel| match panel {
        Panel::Plot(it) => format!("plot '{}' with {} series", it.title, it.series.len()),
        Panel::Image(it) => format!("image '{}' {}x{}", it.title, it.width, it.height),
    });
    format!("<figure: {}>", titles.collect::<Vec<_>>().join(", "))
}

fn table_text(table: &Table) -> String {
    let line = |row: &Vec<String>| row.join("\t");
    let rows = table.rows.iter().map(line);
    std::iter::once(line(&table.head)).chain(rows).collect::<Vec<_>>().join("\n")
}

impl NativeObject for Shown {
    fn native_type(&self) -> &'static NativeType {
        &SHOWN
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(self.text())
    }
}
