//! Plots with which the renderer is tested and looked at.

use magics::Artifact;
use magics::artifact::{
    Band, ColorBar, Dash, Image, Look, Note, Plot, Raster, Scale, Series, SeriesStyle, Side, Spot,
    Tick,
};

pub(super) fn samples() -> Vec<Artifact> {
    let small = Some((320, 220));
    let plots = [loss(), counts(), lying(), curves(), picture(), twins(), pie(), Plot::default()];
    let powers = Series {
        look: Look { markers: true, ..Look::default() },
        xs: vec![1.0, 2.0, 3.0],
        ys: vec![1.0, 100.0, 1e4],
        ..Series::default()
    };
    let y = Scale { log: true, grid: true, ..Scale::default() };
    let log = Plot { series: vec![powers], y, size: small, ..Plot::default() };
    plots.into_iter().chain([log]).map(Artifact::Plot).collect()
}

fn named(name: &str) -> Look {
    Look { name: name.into(), ..Look::default() }
}

fn loss() -> Plot {
    let xs: Vec<f64> = (0..40).map(f64::from).collect();
    let of = |name: &str, f: &dyn Fn(f64) -> f64| Series {
        look: named(name),
        xs: xs.clone(),
        ys: xs.iter().map(|x| f(*x)).collect(),
        ..Series::default()
    };
    let mut train = of("train", &|x| 2.0 / (1.0 + x / 4.0));
    train.ys[20] = f64::NAN;
    let mut valid = of("<valid> & \"test\"", &|x| 2.2 / (1.0 + x / 6.0));
    valid.look.dash = Dash::Dashed;
    let mut dots = of("steps", &|x| 1.0 + (x * 7.0 % 11.0) / 20.0);
    dots.style = SeriesStyle::Scatter;
    Plot {
        title: "Loss <script>".into(),
        x_label: "epoch".into(),
        y_label: "loss".into(),
        series: vec![train, valid, dots],
        x: Scale { grid: true, ..Scale::default() },
        y: Scale { grid: true, ..Scale::default() },
        legend: Some(Spot::Best),
        ..Plot::default()
    }
}

/// Two lines with an axis each.
fn twins() -> Plot {
    let xs: Vec<f64> = (0..8).map(f64::from).collect();
    let of = |name: &str, color, f: &dyn Fn(f64) -> f64| Series {
        look: Look { color: Some(color), ..named(name) },
        xs: xs.clone(),
        ys: xs.iter().map(|x| f(*x)).collect(),
        ..Series::default()
    };
    let accuracy = of("accuracy", [213, 94, 0], &|x| 100.0 - 60.0 / (1.0 + x));
    let twin = Plot {
        y_label: "accuracy <%>".into(),
        series: vec![accuracy],
        legend: Some(Spot::At(Side::End, Side::Start)),
        ..Plot::default()
    };
    Plot {
        y_label: "loss".into(),
        series: vec![of("loss", [0, 114, 178], &|x| 1.0 / (1.0 + x))],
        legend: Some(Spot::At(Side::Start, Side::Start)),
        twin: Some(Box::new(twin)),
        size: Some((420, 260)),
        ..Plot::default()
    }
}

/// Three parts of a whole.
fn pie() -> Plot {
    let wedge = |at: u32| {
        let angle = |it: u32| f64::from(at * 12 + it) * std::f64::consts::TAU / 36.0;
        let edge = (0..=12).map(|it| (angle(it).cos(), angle(it).sin()));
        let (xs, ys) = std::iter::once((0.0, 0.0)).chain(edge).unzip();
        let style = SeriesStyle::Polygon;
        Series { style, xs, ys, ..Series::default() }
    };
    Plot {
        series: (0..3).map(wedge).collect(),
        square: true,
        bare: true,
        size: Some((220, 220)),
        ..Plot::default()
    }
}

fn names(names: [&str; 3]) -> Scale {
    let tick = |(at, name): (usize, &str)| Tick { at: at as f64, name: Some(name.into()) };
    let ticks = names.into_iter().enumerate().map(tick).collect();
    Scale { ticks: Some(ticks), ..Scale::default() }
}

fn counts() -> Plot {
    let bars = Series {
        xs: vec![0.0, 1.0, 2.0],
        ys: vec![3.0, 5.5, -1.0],
        style: SeriesStyle::Bar,
        ..Series::default()
    };
    let x = names(["cat", "dog", "<b>"]);
    Plot { series: vec![bars], x, size: Some((320, 220)), ..Plot::default() }
}

fn lying() -> Plot {
    let bars = Series {
        ys: vec![0.0, 1.0, 2.0],
        xs: vec![3.0, 5.5, 4.0],
        base: vec![0.0, 1.0, 2.0],
        colors: vec![[200, 60, 60], [60, 140, 60], [60, 60, 200]],
        style: SeriesStyle::LyingBar,
        ..Series::default()
    };
    let y = names(["a long name", "dog", "cat"]);
    Plot {
        series: vec![bars],
        y,
        y_label: "kind".into(),
        size: Some((320, 220)),
        ..Plot::default()
    }
}

fn curves() -> Plot {
    let xs: Vec<f64> = (0..50).map(|it| f64::from(it) / 8.0).collect();
    let ys: Vec<f64> = xs.iter().map(|it| it.sin()).collect();
    let area = Series {
        look: Look { opacity: Some(0.3), ..named("between") },
        style: SeriesStyle::Area,
        base: ys.iter().map(|it| it - 0.5).collect(),
        ys: ys.iter().map(|it| it + 0.5).collect(),
        xs: xs.clone(),
        ..Series::default()
    };
    let line = Series {
        look: Look { dash: Dash::Dotted, line_width: Some(3.0), ..named("sine") },
        xs,
        ys,
        ..Series::default()
    };
    let stripe = Look { color: Some([240, 200, 60]), ..named("stripe") };
    let edge = Look { color: Some([0; 3]), dash: Dash::Dashed, ..Look::default() };
    Plot {
        series: vec![area, line],
        bands: vec![
            Band { look: stripe, from: 2.0, to: 3.0, upright: true, ..Band::default() },
            Band { look: edge, part: Some((0.2, 1.0)), ..Band::default() },
        ],
        notes: vec![Note {
            text: "least &\nlowest".into(),
            at: (5.0, 0.6),
            points_to: Some((4.7, -1.0)),
            ..Note::default()
        }],
        legend: Some(Spot::At(Side::Start, Side::Start)),
        ..Plot::default()
    }
}

fn picture() -> Plot {
    let pixels = (0..12).flat_map(|it| [it * 20, 120, 255 - it * 20]).collect();
    let image = Image { width: 4, height: 3, channels: 3, pixels, title: String::new() };
    let (across, up) = (Side::Middle, Side::Middle);
    let words = |text: &str, at| Note { text: text.into(), at, across, up, ..Note::default() };
    Plot {
        title: "matrix".into(),
        rasters: vec![Raster { image, left: -0.5, right: 3.5, bottom: 2.5, top: -0.5 }],
        notes: vec![words("1", (0.0, 0.0)), words("2", (3.0, 2.0))],
        y: Scale { flipped: true, ..Scale::default() },
        color_bar: Some(Box::new(ColorBar {
            colors: vec![[0, 120, 255], [120, 120, 135], [240, 120, 15]],
            scale: Scale { range: Some((0.5, 20.0)), ..Scale::default() },
            label: "weight <b>".into(),
        })),
        square: true,
        size: Some((320, 240)),
        ..Plot::default()
    }
}
