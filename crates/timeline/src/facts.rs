//! What resolution has to know about clips and is not in the film.

use std::path::PathBuf;

use serde_json::Value;
use workflow::plan::{ClipSource, Frame, Input, MediaSource, Node, NodeIx, Plan};
use workflow::units::FrameRate;

/// What a clip shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipKind {
    Video,
    /// An image that stands still.
    Image,
    /// A title on black, without a file.
    Card,
}

/// The facts about what a clip shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipFacts {
    /// What it shows. Frames, rate and size of what stands still are those that the film needs: [`crate::resolve()`] fills them in.
    pub kind: ClipKind,
    /// The name of the instance that it shows; that of the file, or the text of the card.
    pub name: String,
    /// The file. It is not read here.
    pub path: PathBuf,
    /// How many frames it has.
    pub frames: u64,
    /// Its frames per second.
    pub frame_rate: FrameRate,
    /// Columns and rows of its frames.
    pub size: (u32, u32),
    /// Whether it has sound.
    pub has_sound: bool,
}

impl ClipFacts {
    /// What stands still.
    pub fn still(kind: ClipKind, name: String, path: PathBuf) -> Self {
        Self { kind, name, path, frames: 0, frame_rate: FrameRate::CINEMA, size: (0, 0), has_sound: false }
    }

    /// Whether it is no video.
    pub fn is_still(&self) -> bool {
        self.kind != ClipKind::Video
    }
}

/// The video that a clip of a film shows.
#[derive(Clone, Copy, Debug)]
pub struct ClipVideo<'a> {
    /// The node: for a pick, the one that was chosen; `None` for a clip of no node.
    pub node: Option<NodeIx>,
    /// SHA-256 of its video, lower-case hex; empty where it is not known, and where there is none.
    pub sha256: &'a str,
}

impl<'a> ClipVideo<'a> {
    /// The video of an entry of a film, as far as the plan says it.
    pub fn from_source(source: &'a ClipSource) -> Self {
        match source {
            ClipSource::Node(ix) => Self { node: Some(*ix), sha256: "" },
            ClipSource::Video(file) => Self { node: None, sha256: &file.sha256 },
            ClipSource::Pick(_) | ClipSource::Image(_) | ClipSource::Card => Self { node: None, sha256: "" },
        }
    }
}

/// For each pair of neighbours among the clips of a film, whether the second begins on the last frame of the first (`continues`, or a
/// `first_frame` that names the last frame of the other or of its file). One less than there are clips. A node that continues an open pick
/// does not count.
pub fn continuations(plan: &Plan, shown: &[ClipVideo<'_>]) -> Vec<bool> {
    let is_last_frame = |source: &MediaSource, before: &ClipVideo<'_>| match source {
        MediaSource::LastFrame(ix) => before.node == Some(*ix),
        MediaSource::FileFrame { sha256, frame: Frame::Last, .. } => before.sha256 == sha256,
        MediaSource::FileFrame { .. }
        | MediaSource::FirstFrame(_)
        | MediaSource::Pick { .. }
        | MediaSource::File { .. } => false,
    };
    shown
        .windows(2)
        .map(|pair| {
            let [before, ClipVideo { node: Some(after), .. }] = pair else { return false };
            let node = plan.node(*after);
            node.inputs
                .iter()
                .any(|input| is_last_frame(&input.source, before) && is_first_frame(node, input))
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
