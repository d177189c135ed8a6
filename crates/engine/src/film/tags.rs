//! Metadata of a film: its title, the models, prompts and seeds of its clips, chapters, and that it is synthetic.

use std::collections::BTreeSet;

use media::{DigitalSource, FilmTags};
use workflow::plan::{Film, NodeIx, Plan};

use super::FilmClip;

/// The name of this program in the metadata of films.
pub(crate) const ENCODER_NAME: &str = "runner ";

/// The longest description, in bytes.
const MAX_DESCRIPTION: usize = 64 << 10;

/// The tags of a film of these clips.
pub(crate) fn film_tags(plan: &Plan, film: &Film, clips: &[FilmClip], source: DigitalSource) -> FilmTags {
    let nodes: Vec<NodeIx> = clips.iter().filter_map(|clip| clip.node).collect();
    let models: BTreeSet<&str> = nodes.iter().map(|ix| &*plan.node(*ix).model).collect();
    let models: Vec<&str> = models.into_iter().collect();
    let origin = match source {
        DigitalSource::TrainedAlgorithmicMedia => "Made with generative AI",
        DigitalSource::AlgorithmicMedia => "Synthetic preview",
    };
    FilmTags {
        title: Some(film.output.trim_end_matches(".mp4").to_owned()),
        // A film of one's own files alone says nothing about how they were made.
        comment: (!models.is_empty()).then(|| format!("{origin}: {}", models.join(", "))),
        description: Some(description(plan, &nodes)),
        encoder: Some(format!("{ENCODER_NAME}{}", env!("CARGO_PKG_VERSION"))),
        source: (!models.is_empty()).then_some(source),
        chapters: clips.iter().map(|clip| clip.name.clone()).collect(),
    }
}

/// A line for each shot that is shown: its name, prompt and seed.
fn description(plan: &Plan, nodes: &[NodeIx]) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for ix in nodes.iter().filter(|ix| seen.insert(**ix)) {
        let node = plan.node(*ix);
        let prompt = node.prompt().unwrap_or_default();
        let seed = node.seed().map(|seed| format!(" (seed {seed})"));
        // A prompt may have several lines, and each shot is to have one.
        let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("{}: {prompt}{}\n", node.name, seed.unwrap_or_default());
        if text.len() + line.len() > MAX_DESCRIPTION {
            text.push_str("…\n");
            break;
        }
        text.push_str(&line);
    }
    text.truncate(text.trim_end().len());
    text
}
