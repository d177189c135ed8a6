//! Formats in which a film is handed over to editors.
//!
//! Each is a function from a timeline and what is known about its clips to the text of a file; a draft is a folder of several.

mod capcut;
mod csv;
mod fcpxml;
mod otio;
mod sounds;
mod url;
mod xml;

pub use capcut::{DraftProgram, draft};
pub use csv::{csv_row, inert_text};
pub use fcpxml::fcpxml;
pub use otio::otio;
pub use sounds::{SoundClip, SoundFile, SoundRole, sounds};
pub(crate) use url::file_name;
pub use xml::{XmlAttribute, XmlWriter};

use workflow::plan::TransitionKind;

use crate::facts::ClipKind;
use crate::model::{Item, Timeline};

/// What is known about the clips of a film besides their edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportContext {
    /// One per clip of the film, in its order. Missing ones are exported with what the timeline has.
    pub clips: Vec<ClipInfo>,
    /// Music and voices: [`sounds`].
    pub sounds: Vec<SoundClip>,
}

/// What is known about a clip. What is absent or empty is left out of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClipInfo {
    /// The id of the shot.
    pub shot: String,
    /// The clip's file relative to the folder of the exported file, with `/` between the steps.
    pub file: String,
    /// The same as an absolute path, where the exported file is to refer to it by that.
    pub absolute: Option<String>,
    /// Columns and rows of an image; those of a video are in the timeline.
    pub size: Option<(u32, u32)>,
    /// What is written over it, or on its card.
    pub title: Option<String>,
    /// What was asked of the service.
    pub prompt: Option<String>,
    /// The seed in the request.
    pub seed: Option<i64>,
    pub model: Option<String>,
    /// The service's id of the task.
    pub task: Option<String>,
    /// The take, from 1.
    pub take: Option<u32>,
    pub key: Option<String>,
    /// Other videos that could be shown instead, such as other takes.
    pub alternatives: Vec<Alternative>,
}

/// A video that could be shown instead of a clip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alternative {
    /// How it is told apart from the clip: `take 2`. Unique among the alternatives of a clip.
    pub label: String,
    /// As in [`ClipInfo::file`].
    pub file: String,
    /// As in [`ClipInfo::absolute`].
    pub absolute: Option<String>,
    /// How many frames it has, at the clip's rate.
    pub frames: Option<u64>,
}

/// The information about a clip that has none.
static NO_INFO: ClipInfo = ClipInfo {
    shot: String::new(),
    file: String::new(),
    absolute: None,
    size: None,
    title: None,
    prompt: None,
    seed: None,
    model: None,
    task: None,
    take: None,
    key: None,
    alternatives: Vec::new(),
};

impl ExportContext {
    fn info(&self, item: &Item) -> &ClipInfo {
        self.clips.get(item.clip).unwrap_or(&NO_INFO)
    }

    /// The relative path of an item's file; without one, its file name. Empty for a card.
    fn file(&self, item: &Item) -> String {
        let info = self.info(item);
        if item.source.kind == ClipKind::Card {
            String::new()
        } else if info.file.is_empty() {
            file_name(&item.source.path.to_string_lossy()).to_owned()
        } else {
            info.file.clone()
        }
    }

    /// The URL of an item's file: absolute if there is an absolute path, else relative.
    fn url(&self, item: &Item) -> String {
        match &self.info(item).absolute {
            Some(path) => url::absolute(path),
            None => url::relative(&self.file(item)),
        }
    }
}

/// The film's name: its file name without the extension.
fn title(timeline: &Timeline) -> &str {
    timeline.output.strip_suffix(".mp4").unwrap_or(&timeline.output)
}

/// The name of a transition in a workflow file.
pub(crate) fn kind_name(kind: TransitionKind) -> &'static str {
    match kind {
        TransitionKind::Dissolve => "dissolve",
        TransitionKind::FadeBlack => "fade-black",
        TransitionKind::FadeWhite => "fade-white",
        TransitionKind::WipeLeft => "wipe-left",
        TransitionKind::WipeRight => "wipe-right",
    }
}
