//! The report as a table in CSV (RFC 4180), a row per instance.

use timeline::export::{csv_row, inert_text};
use viewer::Manifest;

use super::{printable, reason};

const HEADER: [&str; 19] = [
    "shot",
    "instance",
    "cell",
    "take",
    "picked",
    "state",
    "tasks",
    "model",
    "seed",
    "seconds",
    "elapsed_ms",
    "cost",
    "currency",
    "width",
    "height",
    "file",
    "task",
    "prompt",
    "reason",
];

pub(super) fn report(manifest: &Manifest) -> String {
    let mut out = csv_row(&HEADER.map(str::to_owned));
    let currency = manifest.currency.as_deref().unwrap_or_default();
    for clip in &manifest.clips {
        let text = |value: Option<&str>| value.map(|text| inert_text(&printable(text))).unwrap_or_default();
        let cell: Vec<String> = clip
            .cell
            .iter()
            .map(|(axis, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                format!("{axis}={value}")
            })
            .collect();
        out.push_str(&csv_row(&[
            inert_text(&clip.shot),
            inert_text(&clip.id),
            text(Some(&cell.join(","))),
            number(clip.take),
            clip.is_picked.to_string(),
            clip.state.as_str().to_owned(),
            clip.accepted_tasks().to_string(),
            inert_text(&clip.model),
            number(clip.seed),
            number(clip.seconds),
            number(clip.elapsed_ms),
            number(clip.total_cost()),
            text(clip.total_cost().map(|_| currency)),
            number(clip.width),
            number(clip.height),
            text(clip.file.as_deref()),
            text(clip.task.as_deref()),
            text(clip.prompt.as_deref()),
            text(reason(clip).as_deref()),
        ]));
    }
    out
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
