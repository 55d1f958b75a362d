//! Figures as files: the host draws them.

use super::canvas::target;
use super::values::number;
use crate::builtins::modules::os::path_of;
use crate::error::os_error;
use crate::native::*;
use crate::shown::Drawing;

pub(super) static FUNCTIONS: &[NativeFn] = &[function(
    "savefig",
    "fname, *, dpi=None, format=None, **options",
    "Writes the figure to a file: an SVG drawing or a PNG picture, as the end of its name says.",
    savefig,
)
.opaque()];

/// Pixels of an inch, in figures as they are shown and in matplotlib's files.
const INCH: (f64, f64) = (80.0, 100.0);

fn savefig(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut path = path_of(cx, &args[0])?;
    let dpi = match args.opt(1).filter(|it| it.as_str() != Some("figure")) {
        None => INCH.1,
        Some(dpi) => number(dpi)
            .filter(|it| *it > 0.0 && it.is_finite())
            .ok_or_else(|| value_error("dpi must be a positive number, or 'figure'"))?,
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once('.').map(|it| it.1.to_owned());
    let format = match args.opt(2) {
        Some(format) => cx.str(format)?,
        None => end.unwrap_or_else(|| {
            path.push_str(".png");
            "png".to_owned()
        }),
    };
    let drawing = match format.to_lowercase().as_str() {
        "png" => Drawing::Png { scale: dpi / INCH.0 },
        "svg" => Drawing::Svg,
        _ => {
            return Err(value_error(format!(
                "Format '{format}' is not supported (supported formats: png, svg)"
            )));
        }
    };
    let figure = target().figure.borrow().figure();
    let bytes = cx.host.draw_figure(&figure, drawing).map_err(value_error)?;
    cx.host.write_file(&path, &bytes).map_err(os_error)?;
    Ok(Value::None)
}
