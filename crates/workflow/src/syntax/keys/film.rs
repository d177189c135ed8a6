//! The keys of a film and of its clips.

use super::{KeySpec, ObjectSpec, Shape, names_of};
use crate::limits;
use crate::plan::{Fit, TitleStyle, TransitionKind};

pub(crate) const OUTPUT: KeySpec = KeySpec::new(
    "output",
    Shape::OutputName,
    "the film's file name; default: the workflow's name",
    "output: lighthouse.mp4",
)
.templated();
pub(crate) const MATRIX: KeySpec = KeySpec::new(
    "matrix",
    Shape::Matrix,
    "make the film once per combination of values, which its templates and references to shots see; a file name without one of them gets all",
    "matrix: {shape: [wide, tall]}",
)
.templated();
pub(crate) const SIZE: KeySpec = KeySpec::new(
    "size",
    Shape::FrameSize,
    "columns and rows; default: the size that most clips have",
    "size: 1280x720",
);
pub(crate) const FIT: KeySpec = KeySpec::new(
    "fit",
    Shape::Choice(|| names_of(&FITS)),
    "how frames of another shape fill the film's frame: between black bars, cut off at the sides, or over themselves, blurred; default: `letterbox`",
    "fit: crop",
);
pub(crate) const FONT: KeySpec = KeySpec::new(
    "font",
    Shape::FileName,
    "a font file (TTF, OTF, TTC) in the workflow's folder for titles and for subtitles that are drawn; default: an embedded Noto Sans",
    "font: fonts/Inter.ttf",
)
.templated();
pub(crate) const FRAME_RATE: KeySpec = KeySpec::new(
    "frame_rate",
    Shape::FrameRate,
    "frames per second; default: the rate that most clips have",
    "frame_rate: 24",
);
pub(crate) const SUBTITLES: KeySpec = KeySpec::new(
    "subtitles",
    Shape::Subtitles,
    "subtitles from the `dialogue` of its shots, as files beside the film (SRT and WebVTT); default: none",
    "subtitles: dialogue",
);
pub(crate) const COLOR_MATCH: KeySpec = KeySpec::new(
    "color_match",
    Shape::Flag,
    "gives shots the colors of those that they continue, where the service has changed them a little; default: `false`",
    "color_match: true",
);
pub(crate) const POSTER: KeySpec = KeySpec::new(
    "poster",
    Shape::Poster,
    "the frame that stands for the film: in its metadata, and beside it as `NAME.jpg`; of a shot, the one in its middle; default: none",
    "poster: 3s",
);
pub(crate) const MUSIC: KeySpec = KeySpec::new(
    "music",
    Shape::Music,
    "music under the whole film; default: none",
    "music: {file: score.wav, gain: -12dB}",
);
pub(crate) const VOICE: KeySpec = KeySpec::new(
    "voice",
    Shape::Voices,
    "voices over the film, each beginning with a shot; default: none",
    "voice: [{file: vo/01.wav, at: lamp}]",
);
pub(crate) const LOUDNESS: KeySpec = KeySpec::new(
    "loudness",
    Shape::Loudness,
    "the loudness of the whole film; default: as it comes out",
    "loudness: -16 LUFS",
);
pub(crate) const SHOTS: KeySpec = KeySpec::new(
    "shots",
    Shape::Clips,
    "what is shown, in order: shots by their names, or mappings that edit them or show groups, files and titles; default: all shots in file order",
    "shots: [harbor, lamp]",
);

pub(crate) const FILM: ObjectSpec = ObjectSpec {
    noun: "film",
    keys: &[
        &OUTPUT,
        &MATRIX,
        &SIZE,
        &FIT,
        &FRAME_RATE,
        &COLOR_MATCH,
        &FONT,
        &SUBTITLES,
        &MUSIC,
        &VOICE,
        &LOUDNESS,
        &POSTER,
        &SHOTS,
    ],
    help: "write `output: lighthouse.mp4` below it, and the list of its `shots` where it does not show all",
    is_open: false,
};

pub(crate) const SHOT: KeySpec =
    KeySpec::new("shot", Shape::ShotRef, "the shot, one cell of it or one take", "shot: harbor");
pub(crate) const CLIP_GROUP: KeySpec = KeySpec::new(
    "group",
    Shape::Id,
    "all shots of a group in file order, instead of one shot",
    "group: storm",
);
pub(crate) const CLIP_FILE: KeySpec = KeySpec::new(
    "file",
    Shape::FileName,
    "a video or an image in the workflow's folder, instead of a shot",
    "file: stills/logo.png",
)
.templated();
pub(crate) const IN: KeySpec = KeySpec::new(
    "in",
    Shape::EditPosition,
    "where it begins; a negative position counts back from the clip's end; default: at the clip's beginning",
    "in: 0.5s",
);
pub(crate) const OUT: KeySpec =
    KeySpec::new("out", Shape::EditPosition, "where it ends; default: at the clip's end", "out: -10f");
pub(crate) const LENGTH: KeySpec =
    KeySpec::new("length", Shape::EditLength, "how long it is shown, instead of `out`", "length: 3s");
pub(crate) const SECONDS: KeySpec = KeySpec::new(
    "seconds",
    Shape::Seconds { max: limits::MAX_CLIP_SECONDS },
    "the same in seconds; default: 3 for images and titles, which stand still",
    "seconds: 2",
);
pub(crate) const SPEED: KeySpec = KeySpec::new(
    "speed",
    Shape::Speed,
    "how fast it is played; `length` and `seconds` count what is shown, `in` and `out` the clip itself; its sound keeps its pitch",
    "speed: 0.5",
);
pub(crate) const TITLE: KeySpec = KeySpec::new(
    "title",
    Shape::Prose,
    "what is written over the clip, or on black where there is no `shot` and no `file`; lines after the first are smaller",
    "title: THE LAMP",
)
.templated();
pub(crate) const STYLE: KeySpec = KeySpec::new(
    "style",
    Shape::Choice(|| names_of(&STYLES)),
    "where the title stands: in the middle, or on the left in the lower third; default: `card` on black, else `lower-third`",
    "style: card",
);
pub(crate) const TRANSITION: KeySpec = KeySpec::new(
    "transition",
    Shape::Transition,
    "how the next clip replaces it; default: a cut",
    "transition: {dissolve: 12f}",
);
pub(crate) const GAIN: KeySpec =
    KeySpec::new("gain", Shape::Decibels, "the change of its sound's level", "gain: -6dB");
pub(crate) const MUTE: KeySpec = KeySpec::new("mute", Shape::Flag, "leaves its sound out", "mute: true");

/// A clip of a film, where it is edited.
pub(crate) const CLIP: ObjectSpec = ObjectSpec {
    noun: "clip",
    keys: &[
        &SHOT,
        &CLIP_GROUP,
        &CLIP_FILE,
        &TITLE,
        &STYLE,
        &IN,
        &OUT,
        &LENGTH,
        &SECONDS,
        &SPEED,
        &TRANSITION,
        &GAIN,
        &MUTE,
    ],
    help: "write the name of a shot, `{shot: harbor, in: 0.5s, out: -10f}`, `{group: storm}`, `{file: logo.png, seconds: 2}` or `{title: THE LAMP}`",
    is_open: false,
};

pub(crate) const DISSOLVE: KeySpec = KeySpec::new(
    "dissolve",
    Shape::EditLength,
    "one clip fades into the other, for this long",
    "dissolve: 12f",
);
pub(crate) const FADE: KeySpec = KeySpec::new(
    "fade",
    Shape::Choice(|| names_of(&COLORS)),
    "the clip fades to this color, and the next one from it",
    "fade: black",
);
pub(crate) const WIPE: KeySpec = KeySpec::new(
    "wipe",
    Shape::Choice(|| names_of(&DIRECTIONS)),
    "the next clip is uncovered in this direction",
    "wipe: left",
);
pub(crate) const TRANSITION_LENGTH: KeySpec = KeySpec::new(
    "length",
    Shape::EditLength,
    "how long a fade or a wipe takes; default: `0.5s`",
    "length: 1s",
);

/// The values of [`FIT`].
pub(crate) const FITS: [(&str, Fit); 3] =
    [("letterbox", Fit::Letterbox), ("crop", Fit::Crop), ("blur", Fit::Blur)];

/// The values of [`STYLE`].
pub(crate) const STYLES: [(&str, TitleStyle); 2] =
    [("card", TitleStyle::Card), ("lower-third", TitleStyle::LowerThird)];

/// The values of [`FADE`].
pub(crate) const COLORS: [(&str, TransitionKind); 2] =
    [("black", TransitionKind::FadeBlack), ("white", TransitionKind::FadeWhite)];

/// The values of [`WIPE`].
pub(crate) const DIRECTIONS: [(&str, TransitionKind); 2] =
    [("left", TransitionKind::WipeLeft), ("right", TransitionKind::WipeRight)];

/// The value of [`FROM`].
pub(crate) const DIALOGUE: &str = "dialogue";

pub(crate) const TRANSITION_KINDS: ObjectSpec = ObjectSpec {
    noun: "transition",
    keys: &[&DISSOLVE, &FADE, &WIPE, &TRANSITION_LENGTH],
    help: "write `{dissolve: 12f}`, `{fade: black}` or `{wipe: left}`",
    is_open: false,
};

pub(crate) const FROM: KeySpec = KeySpec::new(
    "from",
    Shape::Choice(|| vec![DIALOGUE]),
    "where the lines come from; default: `dialogue`",
    "from: dialogue",
);
pub(crate) const BURN: KeySpec = KeySpec::new(
    "burn",
    Shape::Flag,
    "also draws them into the film's frames, which are encoded again where they are",
    "burn: true",
);

/// Subtitles of a film.
pub(crate) const SUBTITLE_KEYS: ObjectSpec = ObjectSpec {
    noun: "`subtitles`",
    keys: &[&FROM, &BURN],
    help: "write `subtitles: dialogue`, or `subtitles: {burn: true}`",
    is_open: false,
};
