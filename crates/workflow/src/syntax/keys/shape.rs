//! The shape of a key's value.

use std::fmt;

use crate::diagnostic::grouped;
use crate::limits;
use crate::units::{Decibels, FrameRate, Loudness, Speed};

/// The shape of a key's value, displayed as in messages and the guide: `a whole number from 1 to 100`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// The number 1.
    Version,
    Text,
    /// A text of several words.
    Prose,
    /// Letters, digits, `-` and `_`.
    Name,
    /// A name, or a number that is read as text.
    Id,
    Number,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count {
        max: u64,
    },
    /// A number of seconds above 0.
    Seconds {
        max: u64,
    },
    /// Seconds as a number, or text with units.
    Duration {
        max_seconds: u64,
    },
    /// A name that ends in `.mp4`, without folders.
    OutputName,
    /// `true`, `false`, or an expression as text.
    Condition,
    /// Text, a number, `true` or `false`.
    Scalar,
    Any,
    /// A list that is not empty.
    Values,
    FileName,
    /// One file name, or a list.
    FileNames,
    /// A file name with `*`, `?` or `**`.
    FilePattern,
    Url,
    /// One of a list of texts.
    Choice(fn() -> Vec<&'static str>),
    /// One or several of a list of texts.
    Choices(fn() -> Vec<&'static str>),
    /// One or several codes of warnings.
    Codes,
    /// A shot, a cell or a take by its name.
    ShotRef,
    /// One or several of them.
    ShotRefs,
    /// An image, video or sound.
    Medium,
    /// One or several of them.
    Media,
    /// Names with characters.
    Cast,
    /// Names with groups of shots.
    Groups,
    /// One or several characters by their names.
    Characters,
    /// One or several images.
    Stills,
    /// Text, or a sound.
    CharacterVoice,
    /// Names with values or declarations.
    Params,
    Fields,
    Matrix,
    /// Axes by name, or a list of such mappings.
    Axes,
    /// A list of mappings of axis names to values.
    Rules,
    /// A number of attempts, or a mapping.
    Retry,
    /// A take, an instance, or `open`.
    Pick,
    Shots,
    Film,
    Films,
    /// The clips of a film: shots by their names, or mappings.
    Clips,
    /// Text, or a list of lines.
    Dialogue,
    /// Columns and rows.
    FrameSize,
    FrameRate,
    /// Frames or seconds, counted back from the end where negative.
    EditPosition,
    /// Frames or seconds.
    EditLength,
    /// A factor, or a percentage.
    Speed,
    Decibels,
    /// Decibels by which something gets quieter, without a sign.
    Attenuation,
    Transition,
    /// A time, or a shot.
    Poster,
    /// A source, or a mapping.
    Subtitles,
    /// A sound file, or a mapping.
    Music,
    /// One or several sound files or mappings.
    Voices,
    /// LUFS.
    Loudness,
    /// A decimal without sign.
    Money,
    Currency,
    /// A currency and a rate.
    Exchange,
    Date,
    Prices,
    /// Names with services.
    Services,
    Limits,
    /// Ids with models.
    Models,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Version => "the number 1",
            Self::Text | Self::Prose => "text",
            Self::Name | Self::Id => {
                return write!(
                    f,
                    "a name of letters and digits of any script, `-` and `_`, at most {} characters",
                    limits::MAX_NAME_CHARS
                );
            }
            Self::Number => "a number",
            Self::Flag => "`true` or `false`",
            Self::Count { max } => {
                return write!(f, "a whole number from 1 to {}", grouped(u128::from(*max)));
            }
            Self::Seconds { max } => {
                return write!(f, "a number above 0, at most {}", grouped(u128::from(*max)));
            }
            Self::Duration { .. } => "seconds, or a duration such as `90s`, `10m` or `1h30m`",
            Self::OutputName => "a file name that ends in `.mp4`",
            Self::Condition => "`true`, `false` or an expression",
            Self::Scalar => "text or a number",
            Self::Any => "any value",
            Self::Values => "a list of values",
            Self::FileName => "a file name",
            Self::FileNames => "a file name, or a list of them",
            Self::FilePattern => "a pattern of file names",
            Self::Url => "a URL",
            Self::Choice(values) => return f.write_str(&one_of(&values())),
            Self::Choices(values) => return write!(f, "one or several of {}", one_of(&values())),
            Self::Codes => "a code, or a list of codes",
            Self::ShotRef => "a shot",
            Self::ShotRefs => "a shot, or a list of shots",
            Self::Medium => "a file, a URL or a frame of a shot",
            Self::Media => "a file, a URL or a frame of a shot, or a list of them",
            Self::Dialogue => "text, or a list of lines",
            Self::Cast => "a mapping of names to characters",
            Self::Groups => "a mapping of names to groups",
            Self::Characters => "a character, or a list of characters",
            Self::Stills => "an image file or a URL, or a list of them",
            Self::CharacterVoice => "text, or a sound as a file or a URL",
            Self::Params => "a mapping of names to values",
            Self::Fields => "a mapping of request fields",
            Self::Matrix => "a mapping of axes",
            Self::Axes => "a mapping of axes, or a list of such mappings",
            Self::Rules => "a list of mappings",
            Self::Retry => {
                return write!(
                    f,
                    "a whole number from 1 to {}, or a mapping with `attempts` and `on`",
                    limits::MAX_ATTEMPTS
                );
            }
            Self::Pick => {
                return write!(
                    f,
                    "a whole number from 1 to {}, a mapping of axes to values, or `open`",
                    limits::MAX_TAKES
                );
            }
            Self::Shots => "a list of shots",
            Self::Film => "a mapping with keys such as `output` and `shots`",
            Self::Films => "a list of films",
            Self::Clips => "a shot, or a list of shots and of mappings",
            Self::FrameSize => "columns and rows such as `1280x720`, both even",
            Self::FrameRate => {
                let (min, max) = (FrameRate::MIN, FrameRate::MAX);
                return write!(f, "frames per second from {min} to {max}, such as `24` or `30000/1001`");
            }
            Self::EditPosition => "frames such as `12f` or seconds such as `0.5s`, also negative",
            Self::EditLength => "frames such as `12f` or seconds such as `0.5s`",
            Self::Speed => {
                return write!(f, "a factor from {} to {}, such as `0.5` or `150%`", Speed::MIN, Speed::MAX);
            }
            Self::Decibels => {
                return write!(f, "decibels from -{0} to {0}, such as `-6dB`", Decibels::MAX);
            }
            Self::Attenuation => {
                return write!(f, "decibels from 0 to {}, such as `8dB`", Decibels::MAX);
            }
            Self::Poster => "frames such as `12f` or seconds such as `0.5s`, also negative, or a shot",
            Self::Transition => "a mapping such as `{dissolve: 12f}`",
            Self::Subtitles => "`dialogue`, or a mapping such as `{burn: true}`",
            Self::Music => "a sound file, or a mapping such as `{file: score.wav, gain: -12dB}`",
            Self::Voices => {
                "a sound file or a mapping such as `{file: vo/01.wav, at: lamp}`, or a list of them"
            }
            Self::Loudness => {
                let (min, max) = (Loudness::MIN, Loudness::MAX);
                return write!(f, "a loudness from {min} LUFS to {max} LUFS, such as `-16 LUFS`");
            }
            Self::Money => "an amount of money such as 0.05",
            Self::Currency => "three capital letters, such as USD",
            Self::Exchange => "a mapping such as `{currency: USD, rate: 0.14}`",
            Self::Date => "a date such as 2026-01-31",
            Self::Prices => "a list of prices",
            Self::Services => "a mapping of names to services",
            Self::Limits => "a mapping such as `{jobs: 10}`",
            Self::Models => "a mapping of ids to models",
        };
        f.write_str(text)
    }
}

/// `` `a`, `b` or `c` ``.
fn one_of(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}
