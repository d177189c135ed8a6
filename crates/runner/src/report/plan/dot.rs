//! The plan as a graph for Graphviz: `runner plan FILE --format dot | dot -Tsvg > plan.svg`.

use std::collections::HashMap;
use std::fmt::Write as _;

use scheduler::Decision;

use super::document::{PlanDocument, Provides};

/// The plan as the text of a graph in the DOT language.
pub(crate) fn dot(document: &PlanDocument) -> String {
    let at: HashMap<&str, usize> =
        document.shots.iter().enumerate().map(|(at, shot)| (shot.name.as_str(), at)).collect();
    let mut out = format!("digraph {} {{\n", quoted(&document.workflow));
    out.push_str("  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (at, shot) in document.shots.iter().enumerate() {
        let words = format!("{}\n{}, {} s", shot.name, shot.decision.as_str(), shot.price_inputs.seconds);
        let (fill, stroke, style) = match shot.decision {
            Decision::Reuse => ("#e6f4ea", "#34a853", "rounded,filled"),
            Decision::Adopt => ("#e8f0fe", "#4285f4", "rounded,filled"),
            Decision::Execute => ("#fff4e5", "#f29900", "rounded,filled"),
            Decision::Deferred => ("#ffffff", "#f29900", "rounded,filled,dashed"),
            Decision::Blocked => ("#fce8e6", "#d93025", "rounded,filled"),
            Decision::NotSelected => ("#f1f3f4", "#80868b", "rounded,filled,dashed"),
        };
        let label = quoted(&words);
        let _ = writeln!(
            out,
            "  n{at} [label={label}, fillcolor=\"{fill}\", color=\"{stroke}\", style=\"{style}\"];"
        );
    }
    for (to, shot) in document.shots.iter().enumerate() {
        for dependency in &shot.depends_on {
            let Some(from) = at.get(dependency.shot.as_str()) else { continue };
            let about = match dependency.provides {
                Provides::LastFrame => "label=\"last frame\"",
                Provides::FirstFrame => "label=\"first frame\"",
                Provides::Nothing => "style=dashed",
            };
            let _ = writeln!(out, "  n{from} -> n{to} [{about}];");
        }
    }
    for (which, film) in document.films.iter().enumerate() {
        let _ = writeln!(out, "  film{which} [label={}, shape=note, style=\"\"];", quoted(&film.output));
        for (number, shot) in film.numbered() {
            let Some(from) = at.get(shot) else { continue };
            let _ = writeln!(
                out,
                "  n{from} -> film{which} [label=\"{number}\", color=\"#888888\", fontcolor=\"#888888\"];"
            );
        }
    }
    out.push_str("}\n");
    out
}

/// Text as a quoted string of the DOT language.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            // Labels know HTML's entities.
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
