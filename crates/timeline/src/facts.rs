//! What resolution has to know about clips and is not in the film.

use std::path::PathBuf;

use serde_json::Value;
use workflow::plan::{Input, Node, NodeIx, Plan, Source};
use workflow::units::FrameRate;

/// What a clip shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipKind {
    /// A video.
    Video,
    /// An image that stands still.
    Image,
    /// A title on black, without a file.
    Card,
}

/// The facts about what a clip shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipFacts {
    /// What it shows. Pictures, rate and size of what stands still are those that the film needs: [`crate::resolve()`] fills them in.
    pub kind: ClipKind,
    /// The name of the instance that it shows; that of the file, or the text of the card.
    pub name: String,
    /// The file. It is not read here.
    pub path: PathBuf,
    /// How many pictures it has.
    pub pictures: u64,
    /// Its pictures per second.
    pub frame_rate: FrameRate,
    /// Columns and rows of its pictures.
    pub size: (u32, u32),
    /// Whether it has sound.
    pub has_sound: bool,
}

impl ClipFacts {
    /// What stands still.
    #[must_use]
    pub fn still(kind: ClipKind, name: String, path: PathBuf) -> Self {
        Self { kind, name, path, pictures: 0, frame_rate: FrameRate::CINEMA, size: (0, 0), has_sound: false }
    }

    /// Whether it is no video.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.kind != ClipKind::Video
    }
}

/// For each pair of neighbours among the clips of a film, whether the second begins on the last frame of the first (`continues`, or a
/// `first_frame` that names the other's last frame). One less than there are clips.
///
/// `shown` are the nodes that are shown, in order: for a pick, the one that was chosen; `None` for clips of no node. A node that continues an
/// open pick does not count.
#[must_use]
pub fn continuations(plan: &Plan, shown: &[Option<NodeIx>]) -> Vec<bool> {
    shown
        .windows(2)
        .map(|pair| {
            let [Some(before), Some(after)] = *pair else { return false };
            let node = plan.node(after);
            node.inputs
                .iter()
                .any(|input| input.source == Source::LastFrame(before) && is_first_frame(node, input))
        })
        .collect()
}

/// Whether an input is the first frame of its node: a field that holds one medium (family B, spec 2.4), or an item of `metadata.content`
/// with the role `first_frame` (family A, spec 2.3). References are items with other roles or of lists.
fn is_first_frame(node: &Node, input: &Input) -> bool {
    let steps: Vec<&str> = input.pointer.split('/').skip(1).collect();
    match steps.as_slice() {
        [_] => true,
        [outer, list, index, ..] => {
            let role = node.request.pointer(&format!("/{outer}/{list}/{index}/role"));
            role.and_then(Value::as_str) == Some("first_frame")
        }
        _ => false,
    }
}
