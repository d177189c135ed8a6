//! Writes shots as the text of a workflow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::Model;
use contract::Word;

use super::ImportOptions;
use super::listing::{ListedShot, SpokenLine};
use crate::diagnostic::visible;
use crate::scaffold::{VideoFields, field, head, prompt, scalar};

pub(super) fn workflow(
    shots: &[ListedShot],
    options: &ImportOptions,
    model: &Model,
    shape: &VideoFields,
    asks_for_sound: bool,
    list: &str,
) -> String {
    let noun = if shots.len() == 1 { "shot" } else { "shots" };
    let source = format!("Imported from {list}: {} {noun}.", shots.len());
    let mut out = head(&[&source]);
    let _ = writeln!(out, "version: 1\nname: {}\n", scalar(&options.name));
    out.push_str("# Request fields for every shot; a field of a shot overrides its default.\n");
    let default_seconds = most_frequent_length(shots)
        .unwrap_or_else(|| DEFAULT_SECONDS.clamp(*model.durations.start(), *model.durations.end()));
    let _ = writeln!(out, "defaults:\n  model: {}", scalar(&model.id));
    out.push_str(&shape.fields("  "));
    let _ = writeln!(out, "  seconds: {default_seconds}");
    if asks_for_sound && shots.iter().any(|shot| shot.is_audible) {
        let _ = writeln!(out, "  {}: true", Word::Audio.as_str());
    }
    out.push_str("\nshots:\n");
    for (index, shot) in shots.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if let Some(scene) = &shot.scene {
            let _ = writeln!(out, "  # ---- scene {} ----", visible(scene));
        }
        let _ = writeln!(out, "  - id: {}", scalar(&shot.id));
        if !shot.note.is_empty() {
            out.push_str(&field("    ", "note", &shot.note));
        }
        dialogue(&shot.dialogue, &mut out);
        if let Some(before) = &shot.continues {
            let _ = writeln!(out, "    continues: {}", scalar(before));
        }
        out.push_str(&field("    ", "prompt", &prompt(&shot.prompt)));
        if let Some(seconds) = shot.seconds.filter(|seconds| *seconds != default_seconds) {
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

fn dialogue(lines: &[SpokenLine], out: &mut String) {
    match lines {
        [] => {}
        [SpokenLine { speaker: None, text }] => out.push_str(&field("    ", "dialogue", &prompt(text))),
        _ => {
            out.push_str("    dialogue:\n");
            for SpokenLine { speaker, text } in lines {
                let speaker = speaker.iter().map(|speaker| field(ITEM, "speaker", &prompt(speaker)));
                let members: String =
                    speaker.chain(std::iter::once(field(ITEM, "text", &prompt(text)))).collect();
                item(&members, out);
            }
        }
    }
}

/// The indent of the members of an item in a list of a shot.
const ITEM: &str = "        ";

/// Members with the dash of their item.
fn item(members: &str, out: &mut String) {
    out.push_str("      - ");
    out.push_str(members.trim_start());
}

/// Seconds of a shot where the list states no length at all.
const DEFAULT_SECONDS: u32 = 5;

fn most_frequent_length(shots: &[ListedShot]) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for length in shots.iter().filter_map(|shot| shot.seconds) {
        *counts.entry(length).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(length, count)| (*count, std::cmp::Reverse(*length)))
        .map(|(length, _)| length)
}
