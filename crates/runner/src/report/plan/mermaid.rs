//! The plan as a Mermaid flowchart, for Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::document::{PlanDocument, Provides};

const CLASSES: &str = "  classDef reuse fill:#e6f4ea,stroke:#34a853,color:#111
  classDef adopt fill:#e8f0fe,stroke:#4285f4,color:#111
  classDef execute fill:#fff4e5,stroke:#f29900,color:#111
  classDef deferred fill:#fff,stroke:#f29900,color:#111,stroke-dasharray:4 3
  classDef blocked fill:#fce8e6,stroke:#d93025,color:#111
  classDef not-selected fill:#f1f3f4,stroke:#80868b,color:#111,stroke-dasharray:4 3
";

/// The plan as the text of a Mermaid flowchart.
pub(crate) fn mermaid(document: &PlanDocument) -> String {
    let indexes: HashMap<&str, usize> =
        document.shots.iter().enumerate().map(|(index, shot)| (shot.name.as_str(), index)).collect();
    let mut out = String::from("flowchart LR\n");
    for (index, shot) in document.shots.iter().enumerate() {
        let (name, decision) = (label(&shot.name), shot.decision.as_str());
        let seconds = label(&shot.price_inputs.seconds.to_string());
        let _ = writeln!(out, "  n{index}[\"{name}<br>{decision}, {seconds} s\"]:::{decision}");
    }
    for (to, shot) in document.shots.iter().enumerate() {
        for dependency in &shot.depends_on {
            let Some(from) = indexes.get(dependency.shot.as_str()) else { continue };
            let arrow = match dependency.provides {
                Provides::LastFrame => "-->|last frame|",
                Provides::FirstFrame => "-->|first frame|",
                Provides::Nothing => "-.->|then|",
            };
            let _ = writeln!(out, "  n{from} {arrow} n{to}");
        }
    }
    for (film_index, film) in document.films.iter().enumerate() {
        let _ = writeln!(out, "  film{film_index}([\"{}\"])", label(&film.output));
        for (number, shot) in film.numbered() {
            let Some(from) = indexes.get(shot) else { continue };
            let _ = writeln!(out, "  n{from} ==>|{number}| film{film_index}");
        }
    }
    out.push_str(CLASSES);
    out
}

/// Text as it may stand in a quoted label: everything but the plainest characters as a numbered entity.
fn label(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || " ._-=@,".contains(c) {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", c as u32);
        }
    }
    out
}
