//! Labels of clips in images: what distinguishes a clip, and its state.

use media::RgbImage;
use scheduler::StatusKind;
use serde_json::Value;
use text::{Align, Fonts, Mask, Style};
use viewer::{Clip, Manifest};
use workflow::value_text;

use super::value_label;

/// Colors of the first line, of the second one, and of the background.
const NAME: [u8; 3] = [236, 238, 242];
const DETAIL: [u8; 3] = [160, 166, 178];
const BACKGROUND: [u8; 3] = [16, 18, 22];

/// The name of a clip takes at most this many lines: more than any but very long values need.
const NAME_LINES: usize = 5;

/// The labels of clips, all of one size: as wide as asked, as high as the highest needs.
pub(super) fn labels(manifest: &Manifest, width: u32) -> Vec<RgbImage> {
    let mut fonts = Fonts::embedded();
    let size = (width as f32 / 18.0).clamp(10.0, 26.0);
    let style = |lines| Style { size, is_bold: false, align: Align::Start, width, lines };
    let texts: Vec<(Mask, Mask)> = manifest
        .clips
        .iter()
        .map(|clip| {
            let name = fonts.draw(&name(clip, manifest), &Style { is_bold: true, ..style(NAME_LINES) });
            (name.mask, fonts.draw(&detail(clip, manifest), &style(1)).mask)
        })
        .collect();
    let height = texts.iter().map(|(name, detail)| name.height() + detail.height()).max().unwrap_or(0);
    let margin = size as u32 / 4;
    let padded = (height + 2 * margin).next_multiple_of(2);
    texts
        .iter()
        .map(|(name, detail)| {
            let mut label = RgbImage::new(width, padded);
            for pixel in label.pixels_mut().chunks_exact_mut(3) {
                pixel.copy_from_slice(&BACKGROUND);
            }
            draw_mask(&mut label, name, margin, NAME);
            draw_mask(&mut label, detail, margin + name.height(), DETAIL);
            label
        })
        .collect()
}

/// What tells a clip from the others: the values that differ, and what they are of where there is more than one shot.
fn name(clip: &Clip, manifest: &Manifest) -> String {
    let of_several_shots = manifest.clips.iter().any(|other| other.shot != clip.shot);
    let differs = |axis: &str| {
        manifest
            .clips
            .iter()
            .any(|other| other.shot == clip.shot && other.cell.get(axis) != clip.cell.get(axis))
    };
    let values = clip.cell.iter().filter(|(axis, _)| differs(axis));
    let take = |mark: &str| clip.take.map(|take| format!("{mark}{take}"));
    let shot = of_several_shots.then(|| clip.shot.clone() + &take("#").unwrap_or_default());
    let parts: Vec<String> = shot
        .into_iter()
        .chain(values.map(|(axis, value)| value_name(manifest, axis, value)))
        .chain(take("take ").filter(|_| !of_several_shots))
        .collect();
    if parts.is_empty() { clip.id.clone() } else { parts.join(" · ") }
}

/// A value, with its axis unless it is text that no other axis has.
fn value_name(manifest: &Manifest, axis: &str, value: &Value) -> String {
    let text = value_text(value);
    let mut others = manifest.shots.iter().flat_map(|shot| &shot.axes).filter(|other| other.name != axis);
    if text.is_some() && !others.any(|other| other.values.iter().any(|value| value_text(value) == text)) {
        return value_label(value);
    }
    format!("{axis} {}", value_label(value))
}

/// Its state if there is no video; otherwise what one wants to know beside the name.
fn detail(clip: &Clip, manifest: &Manifest) -> String {
    if clip.state != StatusKind::Done {
        return clip.state.as_str().to_owned();
    }
    let picked = clip.is_picked.then(|| "picked".to_owned());
    let seed = clip.seed.filter(|_| !clip.cell.contains_key("seed")).map(|seed| format!("seed {seed}"));
    let differs = manifest.clips.iter().any(|other| other.seconds != clip.seconds);
    let seconds = clip.seconds.filter(|_| differs).map(|seconds| format!("{:.1} s", seconds.as_secs_f64()));
    picked.into_iter().chain(seed).chain(seconds).collect::<Vec<_>>().join("   ")
}

/// Paints ink into a label, `top` pixels from its upper edge.
fn draw_mask(label: &mut RgbImage, mask: &Mask, top: u32, color: [u8; 3]) {
    let stride = label.width() as usize * 3;
    let rows = label.pixels_mut().chunks_exact_mut(stride).skip(top as usize);
    for (row, y) in rows.zip(0..mask.height()) {
        for (pixel, coverage) in row.chunks_exact_mut(3).zip(mask.row(y)) {
            for (value, color) in pixel.iter_mut().zip(color) {
                let (covered, rest) = (u32::from(*coverage), 255 - u32::from(*coverage));
                *value = ((u32::from(color) * covered + u32::from(*value) * rest + 127) / 255) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clips_are_named_by_what_differs() {
        let names = |clips: &[(&str, Value, Option<u32>)]| {
            let axis = |name: &str| {
                let values: Vec<&Value> = clips.iter().filter_map(|(_, cell, _)| cell.get(name)).collect();
                json!({ "name": name, "values": values })
            };
            let axes: Vec<Value> = ["style", "move", "seed", "size"].map(axis).to_vec();
            let clip = |(shot, cell, take): &(&str, Value, Option<u32>)| {
                json!({ "id": format!("{shot}@id"), "shot": shot, "cell": cell, "take": take, "state": "done", "is_picked": false,
                    "model": "m", "family": "B", "request": {}, "attempts": [], "parents": [], "command": "" })
            };
            let manifest: Manifest = serde_json::from_value(json!({
                "version": 4, "generator": "", "created_at": 0, "workflow": { "name": "w", "file": "w.yaml" }, "films": [],
                "shots": [{ "id": "s", "axes": axes, "takes": 1 }], "clips": clips.iter().map(clip).collect::<Vec<_>>(),
            }))
            .unwrap();
            manifest.clips.iter().map(|clip| name(clip, &manifest)).collect::<Vec<_>>().join(" | ")
        };
        let row = |name: &str| json!({ "light": "hard", "name": name });
        let (noir, gold) = (row("noir"), row("gold"));
        let sweep = [
            ("s", json!({ "style": noir, "move": "push in", "size": "wide" }), None),
            ("s", json!({ "style": gold, "move": "pan", "size": "wide" }), None),
        ];
        insta::assert_snapshot!(names(&sweep), @"noir · push in | gold · pan");
        // A number says nothing alone, nor does a value of two axes.
        let ambiguous = [
            ("s", json!({ "move": "wide", "seed": 1 }), Some(1)),
            ("s", json!({ "move": "pan", "seed": 2, "size": "wide" }), Some(2)),
        ];
        insta::assert_snapshot!(names(&ambiguous), @"move wide · seed 1 · take 1 | pan · seed 2 · size wide · take 2");
        let shots = [("door", json!({}), None), ("lamp", json!({}), Some(1)), ("lamp", json!({}), Some(2))];
        insta::assert_snapshot!(names(&shots), @"door | lamp#1 | lamp#2");
        insta::assert_snapshot!(names(&shots[..1]), @"door@id");
    }
}
