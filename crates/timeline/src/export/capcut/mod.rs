//! Drafts of CapCut and Jianying: folders of JSON files. The format is not published; fields and ids are those that public tools write and
//! read. Times are microseconds.

mod document;

use serde_json::{Value, json};
use workflow::plan::TransitionKind;
use workflow::units::FrameRate;

use self::document::{Document, Micros, range};
use super::sounds::tracks;
use super::{ExportContext, file_name, kind_name, title};
use crate::facts::ClipKind;
use crate::model::{Item, ItemTransition, Timeline};
use crate::subtitles::{Cue, spoken};

/// What a title on black shows: a draft has no picture without a file.
const BLACK: (&str, &[u8]) = ("black.png", include_bytes!("black.png"));
/// The folder of the draft, wherever it is.
const DRAFT_FOLDER: &str = "##_draftpath_placeholder_0E685133-18CE-45ED-8CB8-2904A212EC80_##";
/// How long a still image may be shown.
const STILL_DURATION: u64 = 3 * 3_600 * 1_000_000;

/// The programs that read drafts. A draft is marked as of one of them: each may refuse one of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftProgram {
    CapCut,
    /// The same program in China (剪映).
    Jianying,
}

/// Where text is in the picture, and how large.
struct TextStyle {
    /// Of the list of materials.
    kind: &'static str,
    /// The sizes of the first line and of those below it.
    sizes: (f64, f64),
    /// From the middle, upwards, in halves of the picture's height.
    y: f64,
}

const CARD: TextStyle = TextStyle { kind: "text", sizes: (15.0, 8.0), y: 0.0 };
const LOWER_THIRD: TextStyle = TextStyle { kind: "text", sizes: (8.0, 5.0), y: -0.6 };
const SUBTITLE: TextStyle = TextStyle { kind: "subtitle", sizes: (5.0, 5.0), y: -0.8 };

/// The files of a draft by name. The content stands under two names: one for Windows, one for macOS.
///
/// Clips, their ranges, speeds, levels and transitions are the main track; titles, subtitles, music and voices are tracks of their own. Clips
/// should have absolute paths.
pub fn draft(
    timeline: &Timeline,
    context: &ExportContext,
    cues: &[Cue],
    program: DraftProgram,
) -> Vec<(&'static str, Vec<u8>)> {
    let mut writer = Writer { document: Document::new(), timeline, context, program };
    writer.clips();
    writer.titles();
    writer.subtitles(cues);
    writer.sounds();
    let ((width, height), rate) = (timeline.size, timeline.frame_rate);
    let fields = json!({
        "name": title(timeline), "duration": micros(timeline.frames, rate), "fps": rate.as_f64(),
        "canvas_config": {"background": null, "width": width, "height": height, "ratio": "original"},
    });
    let (content, meta) = writer.document.finish(&format!("{program:?}"), fields);
    let content = content.to_string().into_bytes();
    let mut files = vec![
        ("draft_content.json", content.clone()),
        ("draft_info.json", content),
        ("draft_meta_info.json", meta.to_string().into_bytes()),
    ];
    if timeline.items.iter().any(|item| item.source.kind == ClipKind::Card) {
        files.push((BLACK.0, BLACK.1.to_vec()));
    }
    files
}

struct Writer<'a> {
    document: Document,
    timeline: &'a Timeline,
    context: &'a ExportContext,
    program: DraftProgram,
}

impl Writer<'_> {
    /// The time between two frames of the film.
    fn span(&self, start: u64, end: u64) -> Micros {
        let rate = self.timeline.frame_rate;
        (micros(start, rate), micros(end, rate) - micros(start, rate))
    }

    fn clips(&mut self) {
        let mut segments = Vec::new();
        for (index, item) in self.timeline.items.iter().enumerate() {
            let target = self.span(item.start, item.end());
            let material = self.picture(item);
            let speed = item.speed.as_f64();
            let mut references = vec![self.document.material("speeds", json!({"speed": speed}))];
            let is_last = index + 1 == self.timeline.items.len();
            references.extend(item.transition.and_then(|of| self.transition(of, target.1, is_last)));
            let volume = if item.mute { 0.0 } else { item.gain.amplitude() };
            let fields = json!({
                "source_timerange": range(source(item, target.1)), "speed": speed, "volume": volume,
                "extra_material_refs": references,
            });
            segments.push(self.document.segment(material, target, fields));
        }
        self.document.track("video", "", &segments);
    }

    /// The material that an item shows.
    fn picture(&mut self, item: &Item) -> String {
        let (source, info) = (&item.source, self.context.info(item));
        let path = match (&info.absolute, source.kind) {
            (_, ClipKind::Card) => format!("{DRAFT_FOLDER}/{}", BLACK.0),
            (Some(path), _) => path.clone(),
            (None, _) => self.context.file(item),
        };
        let (width, height) = info.size.unwrap_or(source.size);
        let (kind, duration) = match source.kind {
            ClipKind::Video => ("video", micros(source.frames, source.frame_rate)),
            ClipKind::Image | ClipKind::Card => ("photo", STILL_DURATION),
        };
        let name = file_name(&path);
        let fields = json!({
            "material_name": name, "type": kind, "duration": duration, "width": width, "height": height,
            "has_audio": source.has_sound,
        });
        self.document.media("videos", kind, name, &path, fields)
    }

    /// The material of a transition; none where the programs have none.
    fn transition(&mut self, transition: ItemTransition, shown: u64, is_last: bool) -> Option<String> {
        let (resource, in_jianying) = match (is_last, transition.kind) {
            (false, TransitionKind::Dissolve) => ("6724845717472416269", "322577"),
            (false, TransitionKind::FadeBlack) => ("6724239388189921806", "321493"),
            (false, TransitionKind::FadeWhite) => ("6724845376098013708", "322575"),
            (false, TransitionKind::WipeLeft) => ("6724849999336706573", "2917283"),
            (false, TransitionKind::WipeRight) => ("6724849898857959950", "2917284"),
            (true, TransitionKind::FadeBlack) => ("6798320902548230669", "624707"),
            (true, _) => return None,
        };
        let effect = if self.program == DraftProgram::CapCut { resource } else { in_jianying };
        let (name, duration) =
            (kind_name(transition.kind), micros(transition.frames(), self.timeline.frame_rate));
        if is_last {
            let start = shown.saturating_sub(duration);
            let fields = json!({"duration": duration, "id": effect, "name": name, "resource_id": resource, "start": start});
            let animation = self.document.object("animation", fields);
            return Some(self.document.material("material_animations", json!({"animations": [animation]})));
        }
        let fields = json!({
            "duration": duration, "effect_id": effect, "is_overlap": transition.plays_handles(), "name": name,
            "resource_id": resource,
        });
        Some(self.document.material("transitions", fields))
    }

    fn titles(&mut self) {
        let mut segments = Vec::new();
        for item in &self.timeline.items {
            let target = self.span(item.start, item.end());
            let is_card = item.source.kind == ClipKind::Card;
            let style = if is_card { &CARD } else { &LOWER_THIRD };
            let title = self.context.info(item).title.as_ref().or(is_card.then_some(&item.source.name));
            segments.extend(title.map(|title| self.text(title, target, style)));
        }
        self.document.track("text", "titles", &segments);
    }

    /// Subtitles on as few tracks as possible: segments of a track do not overlap.
    fn subtitles(&mut self, cues: &[Cue]) {
        let mut tracks: Vec<(u64, Vec<Value>)> = Vec::new();
        for cue in cues {
            let [start, end] =
                [cue.start, cue.end].map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
            let segment = self.text(&spoken(cue), (start, end.saturating_sub(start)), &SUBTITLE);
            match tracks.iter_mut().find(|(until, _)| *until <= start) {
                Some((until, segments)) => {
                    *until = end;
                    segments.push(segment);
                }
                None => tracks.push((end, vec![segment])),
            }
        }
        for (_, segments) in tracks {
            self.document.track("text", "subtitles", &segments);
        }
    }

    /// A segment of text, whose material has its own JSON in it. Letters are counted in UTF-16.
    fn text(&mut self, text: &str, target: Micros, style: &TextStyle) -> Value {
        let [first, all] =
            [text.lines().next().unwrap_or_default(), text].map(|text| text.encode_utf16().count());
        let lines = [(0, first, style.sizes.0), (first, all, style.sizes.1)]
            .into_iter()
            .filter(|(from, to, _)| from < to);
        let styles: Vec<Value> = lines
            .map(|(from, to, size)| self.document.object("style", json!({"range": [from, to], "size": size})))
            .collect();
        let content = json!({"styles": styles, "text": text}).to_string();
        let material = self.document.material("texts", json!({"content": content, "type": style.kind}));
        let mut clip = self.document.object("segment", json!({}))["clip"].take();
        clip["transform"]["y"] = style.y.into();
        self.document.segment(material, target, json!({"clip": clip, "render_index": 15_000}))
    }

    /// Music and voices.
    fn sounds(&mut self) {
        for track in tracks(&self.context.sounds) {
            let mut segments = Vec::new();
            let role = track.first().map_or("", |sound| sound.role.name());
            for sound in track {
                let target = self.span(sound.start, sound.end());
                let (path, name) = (sound.absolute.as_ref().unwrap_or(&sound.file), file_name(&sound.file));
                let duration = micros(sound.available, self.timeline.frame_rate);
                let fields = json!({"name": name, "duration": duration});
                let material = self.document.media("audios", "music", name, path, fields);
                let speed = self.document.material("speeds", json!({"speed": 1.0}));
                let first = micros(sound.first, self.timeline.frame_rate);
                let played = range((first, target.1.min(duration.saturating_sub(first))));
                let fields = json!({
                    "clip": null, "source_timerange": played, "volume": sound.gain.amplitude(),
                    "extra_material_refs": [speed],
                });
                segments.push(self.document.segment(material, target, fields));
            }
            self.document.track("audio", role, &segments);
        }
    }
}

/// What is played of an item's file in the time that it is shown.
fn source(item: &Item, shown: u64) -> Micros {
    if item.source.is_still() {
        return (0, shown);
    }
    let [start, end] = [item.first, item.source.frames].map(|frame| micros(frame, item.source.frame_rate));
    let played = item.speed.played(std::time::Duration::from_micros(shown)).as_micros();
    (start, u64::try_from(played).unwrap_or(u64::MAX).min(end.saturating_sub(start)))
}

/// The nearest microsecond of a frame.
fn micros(frame: u64, rate: FrameRate) -> u64 {
    let (up, down) =
        (u128::from(frame) * u128::from(rate.denominator()) * 1_000_000, u128::from(rate.numerator()));
    u64::try_from((up + down / 2) / down).unwrap_or(u64::MAX)
}
