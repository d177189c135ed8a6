//! The kinds of workflow to begin with: a storyboard, a chain, a sweep.

use std::fmt::Write as _;

use contract::Contract;

use super::picture::{PictureOptions, ScaffoldError};
use super::text::{field, head, scalar};
use crate::limits;

/// What kind of workflow to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowKind {
    /// Shots with cuts between them, joined into a film.
    Storyboard,
    /// Shots of which each begins where the one before it ended, joined into a film.
    Chain,
    /// One shot, made several times over a grid of values, to be compared.
    Sweep,
}

/// What each shot shows. A longer storyboard begins again.
const BEATS: [(&str, &str); 6] = [
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

/// The text of a new workflow with so many shots, or cells of a sweep.
///
/// # Errors
/// As [`PictureOptions::model`]; or the contract has no such shape of the picture, or there are too many shots.
pub fn scaffold(
    kind: WorkflowKind,
    name: &str,
    shots: usize,
    picture: &PictureOptions,
    contract: &Contract,
) -> Result<String, ScaffoldError> {
    if !(1..=limits::MAX_SCAFFOLD_SHOTS).contains(&shots) {
        return Err(ScaffoldError::new(format!(
            "a new workflow has 1 to {} shots",
            limits::MAX_SCAFFOLD_SHOTS
        )));
    }
    let model = picture.model(contract)?;
    let shape = picture.shape(contract)?;
    let seconds = 5.clamp(*model.durations.start(), *model.durations.end());
    let mut out = head(&[
        "runner check FILE     is everything right? sends nothing",
        "runner plan FILE      what would be made, and what it costs",
        "runner run FILE       makes it; without an account, by the embedded service",
    ]);
    let _ = writeln!(out, "version: 1\nname: {}\n", scalar(name));
    out.push_str(
        "# Said once, used in the prompts as {{ subject }}; `-p subject=\"an old woman\"` changes it for one run.\n\
         params:\n  subject: a lighthouse keeper in a yellow raincoat\n  place: a stone breakwater by the sea\n  \
         look: 35 mm film, overcast light, muted colours\n\n\
         # Fields that every request gets; a shot that names one of them has its own value.\n",
    );
    let _ = writeln!(out, "defaults:\n  model: {}", scalar(&model.id));
    out.push_str(&shape.fields("  "));
    let _ = writeln!(out, "  seconds: {seconds}\n\nshots:");
    match kind {
        WorkflowKind::Storyboard | WorkflowKind::Chain => film(kind, name, shots, &mut out),
        WorkflowKind::Sweep => sweep(shots, contract.field(&model.family, "seed").is_some(), &mut out),
    }
    Ok(out)
}

fn film(kind: WorkflowKind, name: &str, shots: usize, out: &mut String) {
    for at in 0..shots {
        let (beat, note) = BEATS[at % BEATS.len()];
        if at > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "  - id: shot-{}", at + 1);
        if at == 0 {
            out.push_str("    # For you and your crew; it changes nothing.\n");
        }
        let _ = writeln!(out, "    note: {note}");
        if kind == WorkflowKind::Chain && at > 0 {
            if at == 1 {
                out.push_str("    # Begins on the very frame on which that shot ended.\n");
            }
            let _ = writeln!(out, "    continues: shot-{at}");
        }
        out.push_str(&field("    ", "prompt", &format!("{beat}. {{{{ look }}}}")));
    }
    if kind == WorkflowKind::Storyboard && shots > 1 {
        out.push_str("    # With `continues: ");
        let _ = writeln!(out, "shot-{}` it would begin on the frame where that shot ends.", shots - 1);
    }
    let _ = write!(
        out,
        "\n# The shots, joined in the order in which they are listed.\nfilm:\n  output: {}\n",
        scalar(&format!("{name}.mp4"))
    );
}

/// Looks to compare; with more cells than looks, each look several times.
const LOOKS: [&str; 4] = ["noir", "pastel", "golden hour", "overcast"];

fn sweep(cells: usize, seeds: bool, out: &mut String) {
    let columns = (1..=LOOKS.len()).rev().find(|columns| cells.is_multiple_of(*columns)).unwrap_or(1);
    let rows = cells / columns;
    out.push_str("  - id: frame\n    # One clip for each combination; each has a name, such as frame@style=noir,seed=1.\n    matrix:\n");
    let _ = writeln!(out, "      style: [{}]", LOOKS[..columns].join(", "));
    if rows == 1 && seeds {
        out.push_str("    # The same for all: what differs is what the axis says.\n    seed: 7\n");
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
                "    # What is the same request otherwise is made anew for each.\n    salt: \"{{{{ variant }}}}\""
            )
        };
    }
    out.push_str("    prompt: >-\n      Wide shot of {{ place }}, {{ subject }} small in the distance. Slow push in. In the style of {{ style }}. {{ look }}\n");
}
