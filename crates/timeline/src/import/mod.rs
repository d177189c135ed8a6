//! An editor's cut, read back from `OpenTimelineIO`.

mod otio;
mod recut;
mod testing;

use workflow::plan::TransitionKind;
use workflow::units::{EditTime, FrameRate, Speed};

use crate::export::{ClipInfo, file_name};

pub use otio::{ReadError, read_otio};
pub use recut::{CandidateClip, Recut, RecutEntry, RecutError, recut};

/// The first video track of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedEdit {
    pub name: String,
    /// Its clips in order, the disabled ones included.
    pub items: Vec<ImportedItem>,
    /// What a film cannot have and was left out, in order.
    pub ignored: Vec<IgnoredElement>,
}

/// A clip of the cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedItem {
    /// What the document says about the clip's media.
    pub media: ImportedMedia,
    /// The part that is shown; `None` for the whole. Where the speed is changed, it is as long as it is played.
    pub range: Option<ImportedRange>,
    /// How fast it is played.
    pub speed: Speed,
    /// The transition to the next clip.
    pub transition: Option<ImportedTransition>,
    /// Whether it is a part of the film.
    pub is_enabled: bool,
}

/// What a document says about a clip's media. It is untrusted text, never a path to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedMedia {
    pub name: String,
    /// The instance that was exported.
    pub instance: Option<String>,
    /// The shot that was exported.
    pub shot: Option<String>,
    /// The node key that was exported.
    pub key: Option<String>,
    /// The name of the media file, without folders.
    pub file: Option<String>,
    /// Whether the editor chose another media reference than the one that was exported.
    pub is_alternative: bool,
}

/// A range of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedRange {
    pub start: u64,
    /// How many.
    pub frames: u64,
    /// Frames per second of both.
    pub rate: FrameRate,
}

/// A transition around the cut after a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedTransition {
    /// How it looks.
    pub kind: TransitionKind,
    pub frames: u64,
    /// Frames per second of the length.
    pub rate: FrameRate,
}

/// Something that a film cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredElement {
    /// Its index among the children of the track, from 0.
    pub child: usize,
    /// What it is, in words.
    pub what: String,
}

impl ImportedEdit {
    /// What a film cannot have, in words.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.ignored.iter().map(|ignored| format!("{} was left out (child {})", ignored.what, ignored.child))
    }
}

impl ImportedMedia {
    /// The index of the clip among those of the workflow, by what identifies it best: the file of the chosen alternative, the key, the
    /// instance, the file, and at last the shot, if only one clip is of it.
    ///
    /// `clips` are the clips of the workflow with their instances' names.
    pub fn matching(&self, clips: &[(&str, &ClipInfo)]) -> Option<usize> {
        let find =
            |is: &dyn Fn(&str, &ClipInfo) -> bool| clips.iter().position(|(name, info)| is(name, info));
        let by_file = || {
            let file = self.file.as_deref()?;
            find(&|_, info| file_name(&info.file) == file)
        };
        if self.is_alternative {
            return by_file();
        }
        let by_key = || self.key.as_ref().and_then(|key| find(&|_, info| info.key.as_ref() == Some(key)));
        let by_name = || self.instance.as_ref().and_then(|own| find(&|name, _| name == own));
        let by_shot = || {
            let shot = self.shot.as_ref()?;
            let mut all = clips.iter().enumerate().filter(|(_, (_, info))| info.shot == *shot);
            let (index, _) = all.next()?;
            all.next().is_none().then_some(index)
        };
        by_key().or_else(by_name).or_else(by_file).or_else(by_shot)
    }
}

fn frames(count: u64) -> EditTime {
    EditTime::Frames(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The most characters of a text that is passed on.
const MAX_TEXT_LEN: usize = 1_000;

fn bounded(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT_LEN).collect()
}
