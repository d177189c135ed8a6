//! FCPXML 1.10 (Final Cut Pro XML).
//!
//! Times are rational seconds; those on the film's clock are multiples of its `frameDuration`, those in a source of the source's. Where a
//! `timeMap` changes the speed of a clip, those in the clip are as it is played.

use std::fmt::Display;

use workflow::plan::TransitionKind;
use workflow::units::{Decibels, FrameRate};

use super::sounds::{SoundClip, SoundRole, tracks};
use super::xml::{XmlAttribute, XmlWriter};
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
pub fn fcpxml(timeline: &Timeline, context: &ExportContext) -> String {
    let mut resources = Resources::new(timeline);
    let assets: Vec<Option<usize>> =
        timeline.items.iter().map(|item| resources.asset(item, context)).collect();
    let sounds = resources.connected_sounds(timeline, context);
    let (name, rate) = (title(timeline), timeline.frame_rate);
    let mut xml = XmlWriter::new();
    xml.doctype("fcpxml");
    xml.element("fcpxml", &[("version", &"1.10")], |xml| {
        xml.element("resources", &[], |xml| resources.write(timeline, xml));
        xml.element("library", &[], |xml| {
            xml.element("event", &[("name", &name)], |xml| {
                xml.element("project", &[("name", &name)], |xml| {
                    let attributes: [XmlAttribute<'_>; 6] = [
                        ("format", &"f1"),
                        ("duration", &seconds(timeline.frames, rate)),
                        ("tcStart", &"0s"),
                        ("tcFormat", &counting(rate)),
                        ("audioLayout", &"stereo"),
                        ("audioRate", &"48k"),
                    ];
                    xml.element("sequence", &attributes, |xml| {
                        xml.element("spine", &[], |xml| spine(timeline, context, &assets, &sounds, xml));
                    });
                });
            });
        });
    });
    xml.into_string()
}

/// Formats and assets, each once.
struct Resources {
    /// Rate and size of `f1`, `f2`, ….
    formats: Vec<(FrameRate, (u32, u32))>,
    /// `a1`, `a2`, ….
    assets: Vec<Asset>,
}

/// A media file.
struct Asset {
    name: String,
    url: String,
    duration: String,
    /// The number of its video format.
    format: Option<usize>,
    has_sound: bool,
    metadata: Vec<(&'static str, String)>,
}

/// Music or a voice, on a lane below the spine.
struct ConnectedSound<'a> {
    sound: &'a SoundClip,
    lane: usize,
    asset: usize,
}

impl Resources {
    fn new(timeline: &Timeline) -> Self {
        Self { formats: vec![(timeline.frame_rate, timeline.size)], assets: Vec::new() }
    }

    /// The number of a format, from 1.
    fn format(&mut self, rate: FrameRate, size: (u32, u32)) -> usize {
        if let Some(index) = self.formats.iter().position(|format| *format == (rate, size)) {
            return index + 1;
        }
        self.formats.push((rate, size));
        self.formats.len()
    }

    /// The number of the asset with this URL, from 1.
    fn find(&self, url: &str) -> Option<usize> {
        Some(self.assets.iter().position(|asset| asset.url == url)? + 1)
    }

    fn add(&mut self, asset: Asset) -> usize {
        self.assets.push(asset);
        self.assets.len()
    }

    /// The number of an item's asset, from 1; `None` for a card.
    fn asset(&mut self, item: &Item, context: &ExportContext) -> Option<usize> {
        if item.source.kind == ClipKind::Card {
            return None;
        }
        let url = context.url(item);
        if let Some(number) = self.find(&url) {
            return Some(number);
        }
        let (source, info) = (&item.source, context.info(item));
        let format = self.format(source.frame_rate, source.size);
        let metadata = [
            ("runner.shot", (!info.shot.is_empty()).then(|| info.shot.clone())),
            ("runner.seed", info.seed.map(|seed| seed.to_string())),
            ("runner.model", info.model.clone()),
            ("runner.task", info.task.clone()),
            ("runner.take", info.take.map(|take| take.to_string())),
            ("runner.key", info.key.clone()),
        ];
        Some(self.add(Asset {
            name: file_name(&context.file(item)).to_owned(),
            url,
            duration: if source.is_still() {
                "0s".to_owned()
            } else {
                seconds(source.frames, source.frame_rate)
            },
            format: Some(format),
            has_sound: source.has_sound,
            metadata: metadata.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        }))
    }

    /// Music and voices: each track is a lane.
    fn connected_sounds<'a>(
        &mut self,
        timeline: &Timeline,
        context: &'a ExportContext,
    ) -> Vec<ConnectedSound<'a>> {
        let mut connected = Vec::new();
        for (index, track) in tracks(&context.sounds).into_iter().enumerate() {
            for sound in track {
                let url = match &sound.absolute {
                    Some(path) => url::absolute(path),
                    None => url::relative(&sound.file),
                };
                let asset = self.find(&url).unwrap_or_else(|| {
                    self.add(Asset {
                        name: file_name(&sound.file).to_owned(),
                        url,
                        duration: seconds(sound.available, timeline.frame_rate),
                        format: None,
                        has_sound: true,
                        metadata: Vec::new(),
                    })
                });
                connected.push(ConnectedSound { sound, lane: index + 1, asset });
            }
        }
        connected
    }

    fn write(&self, timeline: &Timeline, xml: &mut XmlWriter) {
        for (index, (rate, (width, height))) in self.formats.iter().enumerate() {
            xml.empty(
                "format",
                &[
                    ("id", &format_args!("f{}", index + 1)),
                    ("name", &"FFVideoFormatRateUndefined"),
                    ("frameDuration", &seconds(1, *rate)),
                    ("width", width),
                    ("height", height),
                    ("colorSpace", &"1-1-1 (Rec. 709)"),
                ],
            );
        }
        for (index, asset) in self.assets.iter().enumerate() {
            asset.write(index + 1, xml);
        }
        if (0..timeline.items.len()).any(|index| has_effect(timeline, index)) {
            xml.empty("effect", &[("id", &"fx1"), ("name", &DISSOLVE.0), ("uid", &DISSOLVE.1)]);
        }
    }
}

impl Asset {
    fn write(&self, number: usize, xml: &mut XmlWriter) {
        let id = format!("a{number}");
        let format = self.format.map(|format| format!("f{format}"));
        let mut attributes: Vec<XmlAttribute<'_>> =
            vec![("id", &id), ("name", &self.name), ("start", &"0s"), ("duration", &self.duration)];
        if let Some(format) = &format {
            attributes.extend([("hasVideo", &"1" as _), ("format", format as _)]);
        }
        if self.has_sound {
            let sound: [XmlAttribute<'_>; 4] = [
                ("hasAudio", &"1"),
                ("audioSources", &"1"),
                ("audioChannels", &"2"),
                ("audioRate", &"48000"),
            ];
            attributes.extend(sound);
        }
        xml.element("asset", &attributes, |xml| {
            xml.empty("media-rep", &[("kind", &"original-media"), ("src", &self.url)]);
            if !self.metadata.is_empty() {
                xml.element("metadata", &[], |xml| {
                    for (key, value) in &self.metadata {
                        xml.empty("md", &[("key", key), ("value", value)]);
                    }
                });
            }
        });
    }
}

/// The items with their transitions. What is connected belongs to the first one.
fn spine(
    timeline: &Timeline,
    context: &ExportContext,
    assets: &[Option<usize>],
    sounds: &[ConnectedSound<'_>],
    xml: &mut XmlWriter,
) {
    let rate = timeline.frame_rate;
    for (index, (item, asset)) in timeline.items.iter().zip(assets).enumerate() {
        let connected = if index == 0 { sounds } else { &[] };
        element(item, *asset, timeline, context, connected, xml);
        if let Some(transition) = item.transition.filter(|_| has_effect(timeline, index)) {
            let offset = seconds(item.end().saturating_sub(transition.before), rate);
            let duration = seconds(transition.frames(), rate);
            let attributes: [XmlAttribute<'_>; 3] =
                [("name", &DISSOLVE.0), ("offset", &offset), ("duration", &duration)];
            xml.element("transition", &attributes, |xml| {
                xml.empty("filter-video", &[("ref", &"fx1"), ("name", &DISSOLVE.0)]);
            });
        }
    }
}

/// An item of the spine: a clip of an asset, a still image of one, or a gap for a card.
fn element(
    item: &Item,
    asset: Option<usize>,
    timeline: &Timeline,
    context: &ExportContext,
    connected: &[ConnectedSound<'_>],
    xml: &mut XmlWriter,
) {
    let (source, film) = (&item.source, timeline.frame_rate);
    let (id, counting) = (asset.map(|number| format!("a{number}")), counting(film));
    let (offset, start, duration) =
        (seconds(item.start, film), played(item.first, item), seconds(item.frames, film));
    let mut attributes: Vec<XmlAttribute<'_>> = Vec::new();
    if let Some(id) = &id {
        attributes.push(("ref", id));
    }
    attributes.extend([
        ("name", &source.name as _),
        ("offset", &offset as _),
        ("start", &start as _),
        ("duration", &duration as _),
    ]);
    let name = match (asset, source.kind) {
        (Some(_), ClipKind::Image) => "video",
        (Some(_), _) => {
            attributes.push(("tcFormat", &counting));
            if item.mute {
                attributes.push(("srcEnable", &"video"));
            }
            "asset-clip"
        }
        (None, _) => "gap",
    };
    xml.element(name, &attributes, |xml| content(item, timeline, context, connected, xml));
}

/// In the order of the document type: note, timing, adjustments, what is connected, markers.
fn content(
    item: &Item,
    timeline: &Timeline,
    context: &ExportContext,
    connected: &[ConnectedSound<'_>],
    xml: &mut XmlWriter,
) {
    let (source, film) = (&item.source, timeline.frame_rate);
    if let Some(prompt) = &context.info(item).prompt {
        xml.text("note", prompt);
    }
    if source.frame_rate != film {
        xml.empty("conform-rate", &[("scaleEnabled", &"0")]);
    }
    if !item.speed.is_normal() {
        let end = (played(source.frames, item), seconds(source.frames, source.frame_rate));
        xml.element("timeMap", &[("frameSampling", &"floor"), ("preservesPitch", &"1")], |xml| {
            for (time, value) in [("0s".to_owned(), "0s".to_owned()), end] {
                xml.empty("timept", &[("time", &time), ("value", &value), ("interp", &"linear")]);
            }
        });
    }
    if source.has_sound && !item.mute && !item.gain.is_zero() {
        volume(item.gain, xml);
    }
    for connected in connected {
        connected.write(item, film, xml);
    }
    let (start, frame) = (played(item.first, item), seconds(1, film));
    xml.empty(
        "chapter-marker",
        &[("start", &start), ("duration", &frame), ("value", &source.name), ("posterOffset", &"0s")],
    );
    let mut marker = |start: &str, value: &dyn Display| {
        xml.empty("marker", &[("start", &start), ("duration", &frame), ("value", value)]);
    };
    if let Some(transition) = item.transition.filter(|transition| transition.kind != TransitionKind::Dissolve)
    {
        let end = played(item.first + item.clip_frames - 1, item);
        marker(&end, &format_args!("{} of {} frames", kind_name(transition.kind), transition.frames()));
    }
    if let Some(title) = context.info(item).title.as_ref().filter(|_| source.kind != ClipKind::Card) {
        marker(&start, &format_args!("title: {title}"));
    }
}

impl ConnectedSound<'_> {
    /// Connected to `first`, the first element of the spine.
    fn write(&self, first: &Item, rate: FrameRate, xml: &mut XmlWriter) {
        let Self { sound, lane, asset } = self;
        let role = match sound.role {
            SoundRole::Music => "music",
            SoundRole::Voice => "dialogue",
        };
        let attributes: [XmlAttribute<'_>; 7] = [
            ("ref", &format!("a{asset}")),
            ("lane", &format!("-{lane}")),
            ("name", &file_name(&sound.file)),
            ("offset", &within(first, sound.start, rate)),
            ("start", &seconds(sound.first, rate)),
            ("duration", &seconds(sound.frames, rate)),
            ("audioRole", &role),
        ];
        xml.element("asset-clip", &attributes, |xml| {
            if !sound.gain.is_zero() {
                volume(sound.gain, xml);
            }
        });
    }
}

fn volume(gain: Decibels, xml: &mut XmlWriter) {
    xml.empty("adjust-volume", &[("amount", &format_args!("{}dB", gain.as_f64()))]);
}

/// Whether the transition after an item is written: both clips have frames for its whole window. A fade to black at the end needs none.
fn has_effect(timeline: &Timeline, index: usize) -> bool {
    let Some((item, transition)) = timeline.items.get(index).and_then(|item| Some((item, item.transition?)))
    else {
        return false;
    };
    let beyond = item.source.frames.saturating_sub(item.first.saturating_add(item.clip_frames));
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

/// How long frames of an item's source are played at its speed, as rational seconds.
fn played(frames: u64, item: &Item) -> String {
    if item.speed.is_normal() {
        return seconds(frames, item.source.frame_rate);
    }
    let (numerator, denominator) = item.pace().parts();
    let (up, down) = (u128::from(frames) * u128::from(denominator), u128::from(numerator));
    if up == 0 { "0s".to_owned() } else { format!("{up}/{down}s") }
}
