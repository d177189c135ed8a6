//! Shots as the text of a workflow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::Model;

use super::Options;
use super::shots::ListedShot;
use crate::diagnostic::visible;
use crate::prices::SOUND;
use crate::scaffold::{Shape, field, head, prompt, scalar};

/// The workflow's text.
pub(super) fn workflow(
    shots: &[ListedShot],
    options: &Options,
    model: &Model,
    shape: &Shape,
    asks_for_sound: bool,
    list: &str,
) -> String {
    let mut out = head(&[&format!("Made from {list}: {} shots.", shots.len())]);
    let _ = writeln!(out, "version: 1\nname: {}\n", scalar(&options.name));
    out.push_str("# Fields that every request gets; a shot that names one of them has its own value.\n");
    let usual =
        usual_length(shots).unwrap_or_else(|| USUAL.clamp(*model.durations.start(), *model.durations.end()));
    let _ = writeln!(out, "defaults:\n  model: {}", scalar(&model.id));
    out.push_str(&shape.fields("  "));
    let _ = writeln!(out, "  seconds: {usual}");
    if asks_for_sound && shots.iter().any(|shot| shot.audible) {
        let _ = writeln!(out, "  {SOUND}: true");
    }
    out.push_str("\nshots:\n");
    let mut scene = "";
    for (at, shot) in shots.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if shot.scene != scene {
            scene = &shot.scene;
            let _ = writeln!(out, "  # ---- scene {} ----", visible(scene));
        }
        let _ = writeln!(out, "  - id: {}", scalar(&shot.id));
        if !shot.note.is_empty() {
            out.push_str(&field("    ", "note", &shot.note));
        }
        if let Some(before) = &shot.continues {
            let _ = writeln!(out, "    continues: {}", scalar(before));
        }
        out.push_str(&field("    ", "prompt", &prompt(&shot.prompt)));
        if let Some(seconds) = shot.seconds.filter(|seconds| *seconds != usual) {
            let _ = writeln!(out, "    seconds: {seconds}");
        }
    }
    let _ = write!(
        out,
        "\n# The shots, joined in the order in which they are listed.\nfilm:\n  output: {}\n",
        scalar(&format!("{}.mp4", options.name))
    );
    out
}

/// Seconds where the list says nothing.
const USUAL: u32 = 5;

/// The length that most shots have, of those that have one.
fn usual_length(shots: &[ListedShot]) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for length in shots.iter().filter_map(|shot| shot.seconds) {
        *counts.entry(length).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(length, count)| (*count, std::cmp::Reverse(*length)))
        .map(|(length, _)| length)
}
