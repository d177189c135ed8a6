//! The kinds of scaffolded workflow: storyboard, chain, sweep.

use std::fmt::Write as _;

use contract::Contract;

use super::text::{field, head, scalar};
use super::video_options::{ScaffoldError, VideoOptions};
use crate::limits;

/// The kind of a scaffolded workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowKind {
    /// Shots with cuts between them, joined into a film.
    Storyboard,
    /// Shots that each continue the one before, joined into a film.
    Chain,
    /// One shot, expanded over a matrix, for comparison.
    Sweep,
}

/// Prompts and notes of the shots, repeated where there are more shots.
const SHOT_PROMPTS: [(&str, &str); 6] = [
    (
        "Wide shot of {{ place }} at first light, {{ subject }} far away. Slow push in",
        "the place, before anything happens",
    ),
    ("{{ subject | capitalize }} comes into view, still small. The camera holds", "who it is about"),
    (
        "Medium shot. {{ subject | capitalize }} stops and looks up. Gentle pan right",
        "something is different",
    ),
    ("Close-up of hands and breath; the wind rises. Handheld, close", "a detail that tells it"),
    ("Low angle. {{ subject | capitalize }} walks on, faster. Tracking shot from the side", "the decision"),
    ("High wide shot; {{ place }} lies in full light. Slow pull back", "the place again, changed"),
];

/// The text of a new workflow with a number of shots, or of cells of a sweep.
///
/// # Errors
/// As [`VideoOptions::model`]; or the contract has no such aspect ratio, or there are too many shots.
pub fn scaffold(
    kind: WorkflowKind,
    name: &str,
    shots: usize,
    video: &VideoOptions,
    contract: &Contract,
) -> Result<String, ScaffoldError> {
    if !(1..=limits::MAX_SCAFFOLD_SHOTS).contains(&shots) {
        return Err(ScaffoldError::new(format!(
            "a new workflow has 1 to {} shots",
            limits::MAX_SCAFFOLD_SHOTS
        )));
    }
    let model = video.model(contract)?;
    let shape = video.shape(contract)?;
    let seconds = 5.clamp(*model.durations.start(), *model.durations.end());
    let mut out = head(&[
        "runner check FILE     reports every error; sends nothing",
        "runner plan FILE      what would be rendered, and what it costs",
        "runner run FILE       renders it; without an account, with the embedded service",
    ]);
    let _ = writeln!(out, "version: 1\nname: {}\n", scalar(name));
    out.push_str(
        "# Set once, used in the prompts as {{ subject }}; `-p subject=\"an old woman\"` changes it for one run.\n\
         params:\n  subject: a lighthouse keeper in a yellow raincoat\n  place: a stone breakwater by the sea\n  \
         look: 35 mm film, overcast light, muted colors\n\n\
         # Request fields for every shot; a field of a shot overrides its default.\n",
    );
    let _ = writeln!(out, "defaults:\n  model: {}", scalar(&model.id));
    out.push_str(&shape.fields("  "));
    let _ = writeln!(out, "  seconds: {seconds}\n\nshots:");
    match kind {
        WorkflowKind::Storyboard | WorkflowKind::Chain => film(kind, name, shots, &mut out),
        WorkflowKind::Sweep => sweep(shots, model.inputs.get(contract::Word::Seed).is_some(), &mut out),
    }
    Ok(out)
}

fn film(kind: WorkflowKind, name: &str, shots: usize, out: &mut String) {
    for index in 0..shots {
        let (prompt_text, note) = SHOT_PROMPTS[index % SHOT_PROMPTS.len()];
        if index > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "  - id: shot-{}", index + 1);
        if index == 0 {
            out.push_str("    # For people; no effect.\n");
        }
        let _ = writeln!(out, "    note: {note}");
        if kind == WorkflowKind::Chain && index > 0 {
            if index == 1 {
                out.push_str("    # Starts from the last frame of that shot.\n");
            }
            let _ = writeln!(out, "    continues: shot-{index}");
        }
        out.push_str(&field("    ", "prompt", &format!("{prompt_text}. {{{{ look }}}}")));
    }
    if kind == WorkflowKind::Storyboard && shots > 1 {
        out.push_str("    # With `continues: ");
        let _ = writeln!(out, "shot-{}` it would start from the last frame of that shot.", shots - 1);
    }
    let _ = write!(
        out,
        "\n# The shots, joined in the order in which they are listed.\nfilm:\n  output: {}\n",
        scalar(&format!("{name}.mp4"))
    );
}

/// The styles that a sweep compares, repeated where it has more cells.
const STYLES: [&str; 4] = ["noir", "pastel", "golden hour", "overcast"];

fn sweep(cells: usize, seeds: bool, out: &mut String) {
    let columns = (1..=STYLES.len()).rev().find(|columns| cells.is_multiple_of(*columns)).unwrap_or(1);
    let rows = cells / columns;
    out.push_str("  - id: frame\n    # One clip for each combination; each has a name, such as frame@style=noir,seed=1.\n    matrix:\n");
    let _ = writeln!(out, "      style: [{}]", STYLES[..columns].join(", "));
    if rows == 1 && seeds {
        out.push_str("    # The same for all, so that differences come from the axis.\n    seed: 7\n");
    }
    if rows > 1 {
        let axis = if seeds { "seed" } else { "variant" };
        let values: Vec<String> = (1..=rows).map(|value| value.to_string()).collect();
        let _ = writeln!(out, "      {axis}: [{}]", values.join(", "));
        let _ = if seeds {
            writeln!(out, "    seed: \"{{{{ seed }}}}\"")
        } else {
            writeln!(
                out,
                "    # What is otherwise the same request is rendered once for each.\n    salt: \"{{{{ variant }}}}\""
            )
        };
    }
    out.push_str("    prompt: >-\n      Wide shot of {{ place }}, {{ subject }} small in the distance. Slow push in. In the style of {{ style }}. {{ look }}\n");
}
