//! Films: which clips are edited together, in which order, under which name.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Location, NodeIx, Soundtrack};
use crate::units::{Decibels, EditTime, FrameRate, Speed};

/// A film that a plan's nodes make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Film {
    /// A plain file name that ends in `.mp4`, without folders. Unique among the films of a plan.
    pub output: String,
    /// Columns and rows, both even; `None` for the size that most clips have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// How frames of another shape fill the film's frame.
    #[serde(default, skip_serializing_if = "Fit::is_default")]
    pub fit: Fit,
    /// The font of its titles and of subtitles that are drawn; `None` for the embedded ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub font: Option<FilmFile>,
    /// `None` for the rate that most clips have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_rate: Option<FrameRate>,
    /// Its subtitles; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitles: Option<Subtitles>,
    /// Whether clips get the colors of those that they continue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub color_match: bool,
    /// The frame that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poster: Option<Poster>,
    /// The sound that lies over the clips.
    #[serde(default, skip_serializing_if = "Soundtrack::is_empty")]
    pub soundtrack: Soundtrack,
    /// The clips in order. A node may appear more than once.
    pub clips: Vec<Clip>,
    /// Where the file defines the film.
    pub location: Location,
}

/// How frames are brought to a film's size where their shape is another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The whole frame between black bars.
    #[default]
    Letterbox,
    /// The frame fills the film's; what is beyond it is cut off on both sides.
    Crop,
    /// The whole frame over itself, enlarged, blurred and darkened.
    Blur,
}

impl Fit {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A file of a film, in the workflow's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilmFile {
    /// From the workflow's folder.
    pub path: PathBuf,
    /// SHA-256 of its contents, lower-case hex.
    pub sha256: String,
}

/// The frame that stands for a film in lists. It is stored in its metadata and beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Poster {
    /// The one at this time of the film; a negative one counts back from its end.
    At(EditTime),
    /// The one in the middle of the clip with this index.
    Clip(usize),
}

/// Subtitles of a film, from the dialogue of its shots. They are written beside the film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subtitles {
    /// Whether they are also drawn into its frames.
    #[serde(default)]
    pub burn: bool,
}

/// One clip of a film and how it is edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    pub source: ClipSource,
    /// The position in the source at which it begins; negative positions count back from the source's end. Default: the beginning.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub start: Option<EditTime>,
    /// The position in the source before which it ends. Default: the source's end.
    #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
    pub end: Option<EditTime>,
    /// How long it is shown, instead of an end: in film time, whatever its speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<EditTime>,
    /// How fast it is played.
    #[serde(default, skip_serializing_if = "Speed::is_normal")]
    pub speed: Speed,
    /// What is written over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// How the next clip replaces it; `None` for a cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The change of its sound's level.
    #[serde(default, skip_serializing_if = "Decibels::is_zero")]
    pub gain: Decibels,
    /// Whether its sound is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mute: bool,
}

/// The content of a clip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClipSource {
    /// The video of this node.
    Node(NodeIx),
    /// The video of whichever of these takes or instances is picked; nobody has picked one yet.
    Pick(Vec<NodeIx>),
    /// A video of one's own.
    Video(FilmFile),
    /// An image of one's own. The clip has a length.
    Image(FilmFile),
    /// Black: its title is all that is shown. The clip has a length.
    Card,
}

/// A text over a clip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    /// The first line is large, further ones are smaller.
    pub text: String,
    /// Where it stands.
    pub style: TitleStyle,
}

/// Where a title stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TitleStyle {
    /// In the middle of the frame.
    Card,
    /// On the left in the lower third.
    LowerThird,
}

/// A transition to the next clip. It takes no time of its own: it plays what both clips have beyond the cut (their handles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    pub kind: TransitionKind,
    /// How long it is; half of it lies before the cut.
    pub length: EditTime,
}

/// How a transition looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransitionKind {
    /// One clip fades into the other.
    Dissolve,
    /// To black and from black.
    FadeBlack,
    /// To white and from white.
    FadeWhite,
    /// The next clip is uncovered from the right to the left.
    WipeLeft,
    /// The next clip is uncovered from the left to the right.
    WipeRight,
}

impl TransitionKind {
    /// Whether it goes to a color and back, so that it may stand at the end of a film.
    pub fn is_fade(self) -> bool {
        matches!(self, Self::FadeBlack | Self::FadeWhite)
    }
}

impl Film {
    /// The files that it is made of, besides the videos of nodes.
    pub fn files(&self) -> impl Iterator<Item = &FilmFile> {
        let clips = self.clips.iter().filter_map(|clip| clip.source.file());
        clips.chain(self.soundtrack.files()).chain(&self.font)
    }
}

impl Clip {
    /// The whole of a source, with a cut after it.
    pub fn whole(source: ClipSource) -> Self {
        Self {
            source,
            start: None,
            end: None,
            length: None,
            speed: Speed::NORMAL,
            title: None,
            transition: None,
            gain: Decibels::default(),
            mute: false,
        }
    }

    /// The nodes that it depends on: the one that is shown, or those to pick from.
    pub fn nodes(&self) -> &[NodeIx] {
        self.source.nodes()
    }
}

impl ClipSource {
    /// Its file in the workflow's folder.
    pub fn file(&self) -> Option<&FilmFile> {
        match self {
            Self::Video(file) | Self::Image(file) => Some(file),
            Self::Node(_) | Self::Pick(_) | Self::Card => None,
        }
    }

    /// The nodes that it depends on: the one that is shown, or those to pick from.
    pub fn nodes(&self) -> &[NodeIx] {
        match self {
            Self::Node(ix) => std::slice::from_ref(ix),
            Self::Pick(candidates) => candidates,
            Self::Video(_) | Self::Image(_) | Self::Card => &[],
        }
    }
}
