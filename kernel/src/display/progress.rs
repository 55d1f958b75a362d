//! `progress`: a bar that is replaced in place as the loop goes on.

use magics::Artifact;
use magics::artifact::Progress;

use super::Renderer;
use super::html::Html;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "progress",
    wants: |art| matches!(art, Artifact::Progress(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// Letters of the bar in plain text.
const BAR: u64 = 24;

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Progress(progress) = art else { return None };
    Some(Html::build(|html| {
        html.tag("div").attr("class", "ng-progress").attr("style", "white-space:pre-wrap").within(
            |html| {
                if !progress.label.is_empty() {
                    html.text(&format!("{}  ", progress.label));
                }
                let bar = html
                    .tag("progress")
                    .maybe("value", progress.total.map(|total| progress.done.min(total)));
                bar.maybe("max", progress.total).text(&percent(progress));
                html.text(&format!("  {}", facts(progress)));
            },
        );
    }))
}

fn plain(art: &Artifact) -> String {
    let Artifact::Progress(progress) = art else { return String::new() };
    let label =
        if progress.label.is_empty() { String::new() } else { format!("{}: ", progress.label) };
    let Some(total) = progress.total else { return format!("{label}{}", facts(progress)) };
    let full = (progress.done.min(total) as u128 * BAR as u128 / total.max(1) as u128) as usize;
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR as usize - full));
    format!("{label}{} |{bar}| {}", percent(progress), facts(progress))
}

fn percent(progress: &Progress) -> String {
    let Some(total) = progress.total else { return String::new() };
    format!(
        "{:>3}%",
        (progress.done as u128 * 100).checked_div(total as u128).unwrap_or(100).min(100)
    )
}

/// Steps, time gone, time left, speed and note.
fn facts(progress: &Progress) -> String {
    let Progress { done, total, seconds, note, .. } = progress;
    let steps = total.map_or(format!("{done} steps"), |total| format!("{done}/{total}"));
    let speed = *done as f64 / seconds;
    let mut text = format!("{steps} [{}", clock(*seconds));
    if let Some(left) =
        total.map(|total| total.saturating_sub(*done)).filter(|_| speed.is_finite() && speed > 0.0)
    {
        text += &format!("<{}", clock(left as f64 / speed));
    }
    if speed.is_finite() && speed > 0.0 {
        text += &if speed >= 1.0 {
            format!(", {speed:.1} it/s")
        } else {
            format!(", {:.1} s/it", 1.0 / speed)
        };
    }
    text.push(']');
    if !note.is_empty() {
        text += &format!("  {note}");
    }
    text
}

fn clock(seconds: f64) -> String {
    let whole = if seconds.is_finite() { seconds.max(0.0) as u64 } else { 0 };
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

fn samples() -> Vec<Artifact> {
    let half = Progress {
        id: "progress-1".into(),
        label: "epoch <1>".into(),
        done: 30,
        total: Some(120),
        seconds: 2.5,
        note: "loss=0.25".into(),
    };
    let done = Progress { done: 120, seconds: 10.0, ..half.clone() };
    let endless = Progress { total: None, ..half.clone() };
    let slow = Progress { done: 2, seconds: 7300.0, ..half.clone() };
    let start = Progress { done: 0, seconds: 0.0, label: String::new(), ..half.clone() };
    [half, done, endless, slow, start].into_iter().map(Artifact::Progress).collect()
}
