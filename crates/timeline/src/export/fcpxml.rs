//! FCPXML 1.10 (Final Cut Pro XML).
//!
//! Times are rational seconds; those on the film's clock are multiples of its `frameDuration`, those in a source of the source's. Where a
//! `timeMap` changes the speed of a clip, those in the clip are as it is played.

use std::fmt::Write as _;

use workflow::plan::TransitionKind;
use workflow::units::FrameRate;

use super::sounds::{SoundClip, SoundRole, tracks};
use super::{ExportContext, file_name, kind_name, title, url};
use crate::clock::scale_up;
use crate::facts::ClipKind;
use crate::model::{Item, Timeline};
use crate::timecode::is_drop_frame;

/// Final Cut Pro's cross dissolve; Resolve goes by the name.
const DISSOLVE: (&str, &str) = ("Cross Dissolve", "FxPlug:4731E73A-8DAC-4113-9A30-AE85B1761265");

/// The film as FCPXML 1.10.
///
/// Final Cut Pro wants absolute URLs: clips should have absolute paths. Every transition that has its handles is written as a cross dissolve;
/// where it is something else, or has none, a marker at the item says what it is.
#[must_use]
pub fn fcpxml(timeline: &Timeline, context: &ExportContext) -> String {
    let mut resources = Resources::new(timeline);
    let assets: Vec<Option<usize>> =
        timeline.items.iter().map(|item| resources.asset(item, context)).collect();
    let sounds = timeline.items.first().map(|first| resources.connected_sounds(first, timeline, context));
    let sounds = sounds.unwrap_or_default();
    let name = escaped(title(timeline));
    let rate = timeline.frame_rate;
    let mut spine = String::new();
    for (index, (item, asset)) in timeline.items.iter().zip(assets).enumerate() {
        let anchored = if index == 0 { sounds.as_str() } else { "" };
        spine.push_str(&element(item, asset, timeline, context, anchored));
        if has_effect(timeline, index)
            && let Some(transition) = item.transition
        {
            let _ = writeln!(
                spine,
                "            <transition name=\"{}\" offset=\"{}\" duration=\"{}\"><filter-video ref=\"fx1\" name=\"{}\"/></transition>",
                DISSOLVE.0,
                seconds(item.end().saturating_sub(transition.before), rate),
                seconds(transition.frames(), rate),
                DISSOLVE.0,
            );
        }
    }
    let effect = if (0..timeline.items.len()).any(|index| has_effect(timeline, index)) {
        format!("    <effect id=\"fx1\" name=\"{}\" uid=\"{}\"/>\n", DISSOLVE.0, DISSOLVE.1)
    } else {
        String::new()
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE fcpxml>\n<fcpxml version=\"1.10\">\n  <resources>\n{formats}{assets}{effect}  </resources>\n  <library>\n    <event name=\"{name}\">\n      <project name=\"{name}\">\n        <sequence format=\"f1\" duration=\"{duration}\" tcStart=\"0s\" tcFormat=\"{counting}\" audioLayout=\"stereo\" audioRate=\"48k\">\n          <spine>\n{spine}          </spine>\n        </sequence>\n      </project>\n    </event>\n  </library>\n</fcpxml>\n",
        formats = resources.format_elements(),
        assets = resources.asset_elements,
        duration = seconds(timeline.frames, rate),
        counting = counting(rate),
    )
}

/// Formats and assets, each once.
struct Resources {
    /// Rate and size of `f1`, `f2`, ….
    formats: Vec<(FrameRate, (u32, u32))>,
    /// The URLs of `a1`, `a2`, ….
    urls: Vec<String>,
    asset_elements: String,
}

impl Resources {
    fn new(timeline: &Timeline) -> Self {
        Self {
            formats: vec![(timeline.frame_rate, timeline.size)],
            urls: Vec::new(),
            asset_elements: String::new(),
        }
    }

    /// The number of a format, from 1.
    fn format(&mut self, rate: FrameRate, size: (u32, u32)) -> usize {
        if let Some(index) = self.formats.iter().position(|format| *format == (rate, size)) {
            return index + 1;
        }
        self.formats.push((rate, size));
        self.formats.len()
    }

    /// The number of an item's asset, from 1; `None` for a card.
    fn asset(&mut self, item: &Item, context: &ExportContext) -> Option<usize> {
        if item.source.kind == ClipKind::Card {
            return None;
        }
        let url = context.url(item);
        if let Some(index) = self.urls.iter().position(|other| *other == url) {
            return Some(index + 1);
        }
        let (source, info) = (&item.source, context.info(item));
        let number = self.urls.len() + 1;
        let format = self.format(source.frame_rate, source.size);
        let sound = if source.has_sound {
            " hasAudio=\"1\" audioSources=\"1\" audioChannels=\"2\" audioRate=\"48000\""
        } else {
            ""
        };
        let mut data = String::new();
        for (key, value) in [
            ("shot", (!info.shot.is_empty()).then(|| info.shot.clone())),
            ("seed", info.seed.map(|seed| seed.to_string())),
            ("model", info.model.clone()),
            ("task", info.task.clone()),
            ("take", info.take.map(|take| take.to_string())),
            ("key", info.key.clone()),
        ] {
            if let Some(value) = value {
                let _ = write!(data, "<md key=\"runner.{key}\" value=\"{}\"/>", escaped(&value));
            }
        }
        let data = if data.is_empty() { data } else { format!("<metadata>{data}</metadata>") };
        let _ = writeln!(
            self.asset_elements,
            "    <asset id=\"a{number}\" name=\"{}\" start=\"0s\" duration=\"{}\" hasVideo=\"1\" format=\"f{format}\"{sound}><media-rep kind=\"original-media\" src=\"{}\"/>{data}</asset>",
            escaped(file_name(&context.file(item))),
            if source.is_still() { "0s".to_owned() } else { seconds(source.pictures, source.frame_rate) },
            escaped(&url),
        );
        self.urls.push(url);
        Some(number)
    }

    /// Music and voices, connected to the first element of the spine: each track is a lane below it.
    fn connected_sounds(&mut self, first: &Item, timeline: &Timeline, context: &ExportContext) -> String {
        let rate = timeline.frame_rate;
        let mut text = String::new();
        for (lane, track) in tracks(&context.sounds).into_iter().enumerate() {
            for sound in track {
                let number = self.sound_asset(sound, rate);
                let role = match sound.role {
                    SoundRole::Music => "music",
                    SoundRole::Voice => "dialogue",
                };
                let volume = if sound.gain.is_zero() {
                    String::new()
                } else {
                    format!("<adjust-volume amount=\"{}dB\"/>", sound.gain.as_f64())
                };
                let _ = write!(
                    text,
                    "<asset-clip ref=\"a{number}\" lane=\"-{}\" name=\"{}\" offset=\"{}\" start=\"{}\" duration=\"{}\" audioRole=\"{role}\">{volume}</asset-clip>",
                    lane + 1,
                    escaped(file_name(&sound.file)),
                    within(first, sound.start, rate),
                    seconds(sound.first, rate),
                    seconds(sound.frames, rate),
                );
            }
        }
        text
    }

    /// The number of a sound file's asset, from 1.
    fn sound_asset(&mut self, sound: &SoundClip, rate: FrameRate) -> usize {
        let url = match &sound.absolute {
            Some(path) => url::absolute(path),
            None => url::relative(&sound.file),
        };
        if let Some(index) = self.urls.iter().position(|other| *other == url) {
            return index + 1;
        }
        let number = self.urls.len() + 1;
        let _ = writeln!(
            self.asset_elements,
            "    <asset id=\"a{number}\" name=\"{}\" start=\"0s\" duration=\"{}\" hasAudio=\"1\" audioSources=\"1\" audioChannels=\"2\" audioRate=\"48000\"><media-rep kind=\"original-media\" src=\"{}\"/></asset>",
            escaped(file_name(&sound.file)),
            seconds(sound.available, rate),
            escaped(&url),
        );
        self.urls.push(url);
        number
    }

    fn format_elements(&self) -> String {
        let mut text = String::new();
        for (index, (rate, (width, height))) in self.formats.iter().enumerate() {
            let _ = writeln!(
                text,
                "    <format id=\"f{}\" name=\"FFVideoFormatRateUndefined\" frameDuration=\"{}\" width=\"{width}\" height=\"{height}\" colorSpace=\"1-1-1 (Rec. 709)\"/>",
                index + 1,
                seconds(1, *rate),
            );
        }
        text
    }
}

/// An item of the spine: a clip of an asset, a still image of one, or a gap for a card.
fn element(
    item: &Item,
    asset: Option<usize>,
    timeline: &Timeline,
    context: &ExportContext,
    anchored: &str,
) -> String {
    let (source, film) = (&item.source, timeline.frame_rate);
    let mut inner = String::new();
    // In the order of the document type: note, timing, adjustments, what is connected, markers.
    if let Some(prompt) = &context.info(item).prompt {
        let _ = write!(inner, "<note>{}</note>", escaped(prompt));
    }
    if source.frame_rate != film {
        inner.push_str("<conform-rate scaleEnabled=\"0\"/>");
    }
    if !item.speed.is_normal() {
        let point = |time: &str, value: &str| {
            format!("<timept time=\"{time}\" value=\"{value}\" interp=\"linear\"/>")
        };
        let (played, all) = (played(source.pictures, item), seconds(source.pictures, source.frame_rate));
        let (begin, end) = (point("0s", "0s"), point(&played, &all));
        let _ = write!(inner, "<timeMap frameSampling=\"floor\" preservesPitch=\"1\">{begin}{end}</timeMap>");
    }
    if source.has_sound && !item.mute && !item.gain.is_zero() {
        let _ = write!(inner, "<adjust-volume amount=\"{}dB\"/>", item.gain.as_f64());
    }
    inner.push_str(anchored);
    let start = played(item.first, item);
    let _ = write!(
        inner,
        "<chapter-marker start=\"{start}\" duration=\"{}\" value=\"{}\" posterOffset=\"0s\"/>",
        seconds(1, film),
        escaped(&source.name),
    );
    if let Some(transition) = item.transition.filter(|transition| transition.kind != TransitionKind::Dissolve)
    {
        let _ = write!(
            inner,
            "<marker start=\"{}\" duration=\"{}\" value=\"{} of {} frames\"/>",
            played(item.first + item.pictures - 1, item),
            seconds(1, film),
            kind_name(transition.kind),
            transition.frames(),
        );
    }
    if let Some(title) = context.info(item).title.as_ref().filter(|_| source.kind != ClipKind::Card) {
        let _ = write!(
            inner,
            "<marker start=\"{start}\" duration=\"{}\" value=\"title: {}\"/>",
            seconds(1, film),
            escaped(title),
        );
    }
    let attributes = format!(
        "name=\"{}\" offset=\"{}\" start=\"{start}\" duration=\"{}\"",
        escaped(&source.name),
        seconds(item.start, film),
        seconds(item.frames, film),
    );
    match (asset, source.kind) {
        (Some(asset), ClipKind::Image) => {
            format!("            <video ref=\"a{asset}\" {attributes}>{inner}</video>\n")
        }
        (Some(asset), _) => format!(
            "            <asset-clip ref=\"a{asset}\" {attributes} tcFormat=\"{}\"{}>{inner}</asset-clip>\n",
            counting(film),
            if item.mute { " srcEnable=\"video\"" } else { "" },
        ),
        (None, _) => format!("            <gap {attributes}>{inner}</gap>\n"),
    }
}

/// Whether the transition after an item is written: both clips have pictures for its whole window. A fade to black at the end needs none.
fn has_effect(timeline: &Timeline, index: usize) -> bool {
    let Some((item, transition)) = timeline.items.get(index).and_then(|item| Some((item, item.transition?)))
    else {
        return false;
    };
    let beyond = item.source.pictures.saturating_sub(item.first.saturating_add(item.pictures));
    let needed = |frames: u64, item: &Item| scale_up(frames, timeline.frame_rate, item.pace());
    match timeline.items.get(index + 1) {
        None => transition.kind == TransitionKind::FadeBlack,
        Some(next) => {
            needed(transition.after, item) <= beyond && needed(transition.before, next) <= next.first
        }
    }
}

fn counting(rate: FrameRate) -> &'static str {
    if is_drop_frame(rate) { "DF" } else { "NDF" }
}

/// A number of frames as rational seconds: `114/24s`.
fn seconds(frames: u64, rate: FrameRate) -> String {
    rational(u128::from(frames) * u128::from(rate.denominator()), u128::from(rate.numerator()))
}

fn rational(up: u128, down: u128) -> String {
    match (up, down) {
        (0, _) => "0s".to_owned(),
        (up, 1) => format!("{up}s"),
        (up, down) => format!("{up}/{down}s"),
    }
}

/// A frame of the film on the clock of its first element, on which that begins where its clip does.
fn within(first: &Item, frame: u64, film: FrameRate) -> String {
    let (numerator, denominator) = first.pace().parts();
    let (begin, per) = (u128::from(first.first) * u128::from(denominator), u128::from(numerator));
    let (offset, film_per) =
        (u128::from(frame) * u128::from(film.denominator()), u128::from(film.numerator()));
    if per == film_per {
        return rational(begin + offset, per);
    }
    rational(begin * film_per + offset * per, per * film_per)
}

/// How long pictures of an item's source are played at its speed, as rational seconds.
fn played(pictures: u64, item: &Item) -> String {
    if item.speed.is_normal() {
        return seconds(pictures, item.source.frame_rate);
    }
    let (numerator, denominator) = item.pace().parts();
    let (up, down) = (u128::from(pictures) * u128::from(denominator), u128::from(numerator));
    if up == 0 { "0s".to_owned() } else { format!("{up}/{down}s") }
}

/// Text as content or attribute (XML 1.0, 2.2 and 2.4); characters that XML cannot contain become spaces.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
