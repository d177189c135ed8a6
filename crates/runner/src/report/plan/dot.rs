//! The plan as a graph for Graphviz: `runner plan FILE --format dot | dot -Tsvg > plan.svg`.

use std::collections::HashMap;
use std::fmt::Write as _;

use scheduler::Decision;

use super::document::{PlanDocument, Provides};

/// The plan as the text of a graph in the DOT language.
pub(crate) fn dot(document: &PlanDocument) -> String {
    let indexes: HashMap<&str, usize> =
        document.shots.iter().enumerate().map(|(index, shot)| (shot.name.as_str(), index)).collect();
    let mut out = format!("digraph {} {{\n", quoted(&document.workflow));
    out.push_str("  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (index, shot) in document.shots.iter().enumerate() {
        let text = format!("{}\n{}, {} s", shot.name, shot.decision.as_str(), shot.price_inputs.seconds);
        let (fill, stroke, style) = match shot.decision {
            Decision::Reuse => ("#e6f4ea", "#34a853", "rounded,filled"),
            Decision::Adopt => ("#e8f0fe", "#4285f4", "rounded,filled"),
            Decision::Execute => ("#fff4e5", "#f29900", "rounded,filled"),
            Decision::Deferred => ("#ffffff", "#f29900", "rounded,filled,dashed"),
            Decision::Blocked => ("#fce8e6", "#d93025", "rounded,filled"),
            Decision::NotSelected => ("#f1f3f4", "#80868b", "rounded,filled,dashed"),
        };
        let label = quoted(&text);
        let _ = writeln!(
            out,
            "  n{index} [label={label}, fillcolor=\"{fill}\", color=\"{stroke}\", style=\"{style}\"];"
        );
    }
    for (to, shot) in document.shots.iter().enumerate() {
        for dependency in &shot.depends_on {
            let Some(from) = indexes.get(dependency.shot.as_str()) else { continue };
            let attributes = match dependency.provides {
                Provides::LastFrame => "label=\"last frame\"",
                Provides::FirstFrame => "label=\"first frame\"",
                Provides::Nothing => "style=dashed",
            };
            let _ = writeln!(out, "  n{from} -> n{to} [{attributes}];");
        }
    }
    for (film_index, film) in document.films.iter().enumerate() {
        let _ = writeln!(out, "  film{film_index} [label={}, shape=note, style=\"\"];", quoted(&film.output));
        for (number, shot) in film.numbered() {
            let Some(from) = indexes.get(shot) else { continue };
            let _ = writeln!(
                out,
                "  n{from} -> film{film_index} [label=\"{number}\", color=\"#888888\", fontcolor=\"#888888\"];"
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
