//! The report as a table in CSV (RFC 4180), a row per instance, and at the end a column per axis.

use indexmap::IndexSet;
use timeline::export::{csv_row, inert_text};
use viewer::Manifest;

use super::{printable, reason, value_label};

const HEADER: &str = "shot instance take picked state tasks model seed seconds \
                      elapsed_ms cost currency width height file task prompt reason";

pub(super) fn report(manifest: &Manifest) -> String {
    let axes: IndexSet<&str> =
        manifest.shots.iter().flat_map(|shot| &shot.axes).map(|axis| axis.name.as_str()).collect();
    let names = axes.iter().map(|axis| inert_text(&printable(&format!("axis {axis}"))));
    let mut out = csv_row(&HEADER.split(' ').map(str::to_owned).chain(names).collect::<Vec<_>>());
    let currency = manifest.currency.as_deref().unwrap_or_default();
    for clip in &manifest.clips {
        let text = |value: Option<&str>| value.map(|text| inert_text(&printable(text))).unwrap_or_default();
        let fixed = [
            inert_text(&clip.shot),
            inert_text(&clip.id),
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
        ];
        let values = axes.iter().map(|axis| text(clip.cell.get(*axis).map(value_label).as_deref()));
        out.push_str(&csv_row(&fixed.into_iter().chain(values).collect::<Vec<_>>()));
    }
    out
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
