//! Writes a listing as the text of a workflow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::Model;

use super::ImportOptions;
use super::listing::{FilmEntry, ListedShot, Listing, SpokenLine};
use crate::diagnostic::visible;
use crate::prices::SOUND;
use crate::scaffold::{PictureFields, field, head, prompt, scalar};

/// The workflow's text.
pub(super) fn workflow(
    listing: &Listing,
    options: &ImportOptions,
    model: &Model,
    shape: &PictureFields,
    asks_for_sound: bool,
    list: &str,
) -> String {
    let shots = &listing.shots;
    let noun = if shots.len() == 1 { "shot" } else { "shots" };
    let source = format!("Imported from {list}: {} {noun}.", shots.len());
    let about: Vec<&str> =
        std::iter::once(source.as_str()).chain(listing.about.iter().map(String::as_str)).collect();
    let mut out = head(&about);
    let _ = writeln!(out, "version: 1\nname: {}\n", scalar(&options.name));
    if !listing.characters.is_empty() {
        out.push_str(
            "# The characters: their descriptions go in front of the prompts of the shots that name them. Say what each looks like, and\n\
             # show it if you can: `mara: {description: a grey-haired woman, stills: mara.png}`.\ncast:\n",
        );
        for character in &listing.characters {
            out.push_str(&field("  ", &character.name, &prompt(&character.description)));
        }
        out.push('\n');
    }
    out.push_str("# Request fields for every shot; a field of a shot overrides its default.\n");
    let default_seconds = most_frequent_length(shots)
        .unwrap_or_else(|| DEFAULT_SECONDS.clamp(*model.durations.start(), *model.durations.end()));
    let _ = writeln!(out, "defaults:\n  model: {}", scalar(&model.id));
    out.push_str(&shape.fields("  "));
    let _ = writeln!(out, "  seconds: {default_seconds}");
    if asks_for_sound && shots.iter().any(|shot| shot.is_audible) {
        let _ = writeln!(out, "  {SOUND}: true");
    }
    out.push_str("\nshots:\n");
    for (index, shot) in shots.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for heading in &shot.headings {
            let _ = writeln!(out, "  # ---- {} ----", visible(heading));
        }
        let _ = writeln!(out, "  - id: {}", scalar(&shot.id));
        if !shot.note.is_empty() {
            out.push_str(&field("    ", "note", &shot.note));
        }
        dialogue(&shot.dialogue, &mut out);
        if let Some(before) = &shot.continues {
            let _ = writeln!(out, "    continues: {}", scalar(before));
        }
        if !shot.cast.is_empty() {
            let _ = writeln!(out, "    cast: [{}]", shot.cast.join(", "));
        }
        out.push_str(&field("    ", "prompt", &prompt(&shot.prompt)));
        if let Some(seconds) = shot.seconds.filter(|seconds| *seconds != default_seconds) {
            let _ = writeln!(out, "    seconds: {seconds}");
        }
        if let Some(takes) = shot.takes {
            let _ = writeln!(out, "    takes: {takes}");
        }
    }
    let _ = write!(
        out,
        "\n# The shots, joined in the order in which they are listed.\nfilm:\n  output: {}\n",
        scalar(&format!("{}.mp4", options.name))
    );
    if !listing.film.is_empty() {
        out.push_str("  shots:\n");
        for entry in &listing.film {
            clip(entry, &mut out);
        }
    }
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

fn clip(entry: &FilmEntry, out: &mut String) {
    if let [("shot", id)] = entry.members.as_slice() {
        let _ = writeln!(out, "    - {id}");
        return;
    }
    let members = entry.members.iter();
    let members = members.fold(String::new(), |mut text, (key, value)| {
        let _ = writeln!(text, "      {key}: {value}");
        text
    });
    out.push_str("    - ");
    out.push_str(members.trim_start());
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

/// The most frequent length.
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
