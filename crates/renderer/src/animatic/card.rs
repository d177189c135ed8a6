//! The card: what is known of a shot, set in type over its background.

use media::RgbImage;
use text::{Align, Fonts, Mask, Style};

use super::camera::Move;
use super::ink::{Area, InkLayer};
use super::numbers::ease;
use super::palette::Palette;
use super::prompt::{Beat, beats, least_width};
use super::still::cover;
use crate::Job;

/// So that nobody takes it for the paid video.
const MARK: &str = "REHEARSAL";
/// Before the end nothing of the card is seen for this long, in seconds: frames that are handed on are clean.
const CLEAN_SECONDS: f32 = 0.5;
const FADE_SECONDS: f32 = 0.25;
/// A given first frame is seen alone before the card.
const FIRST_FRAME_SECONDS: f32 = 0.5;
/// Beats are shown at least this long.
const MIN_BEAT_SECONDS: f32 = 1.2;
/// Letters that a beat takes besides its own.
const PAUSE_WEIGHT: u32 = 12;
/// Frames with a shorter side have no room for type, in pixels.
const MIN_SIDE: u32 = 120;
/// The part of the height in which the prompt stands: below it are titles and subtitles of films.
const PROMPT_BOTTOM: f32 = 0.42;
/// Sizes that are tried, as parts of the largest.
const SIZES: [f32; 8] = [1.0, 0.86, 0.74, 0.63, 0.54, 0.46, 0.39, 0.33];
/// The longest text that is set in lines of even length, in sizes of its font.
const MAX_EVENED_WIDTH: f32 = 80.0;
/// The height of a line, in sizes of its font, as [`Fonts::draw`] sets it.
const LINE_HEIGHT: f32 = 1.35;
const MAX_THUMBNAILS: usize = 6;

/// The type of a shot.
#[derive(Debug)]
pub(super) struct Card {
    header: InkLayer,
    beats: Vec<TimedLayer>,
    /// When the card begins to be seen, and is gone, in seconds.
    from: f32,
    until: f32,
    line: Area,
    palette: Palette,
    seconds: f32,
    /// By how much beats rise into their place, in pixels.
    rise: f32,
}

#[derive(Debug)]
struct TimedLayer {
    layer: InkLayer,
    span: Span,
}

/// When a beat is read, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: f32,
    pub(super) until: f32,
    /// Whether somebody speaks in it.
    pub(super) is_speech: bool,
}

/// What of the card is seen at a moment; of equal ones the same is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    header: u32,
    /// Each beat's strength, and how far below its place it is.
    beats: Vec<(u32, usize)>,
    line: u32,
}

impl Card {
    /// `None` where the frame has no room for it, or the shot is over before it could be read.
    pub(super) fn new(job: &Job, movement: Option<Move>, palette: &Palette) -> Option<Self> {
        let seconds = job.frames_total() as f32 / job.frame_rate as f32;
        let from = if job.first_frame.is_some() { FIRST_FRAME_SECONDS.min(seconds * 0.25) } else { 0.0 };
        let until = seconds - CLEAN_SECONDS;
        if job.width.min(job.height) < MIN_SIDE || until - from < 2.0 * FADE_SECONDS {
            return None;
        }
        let mut setter = Typesetter::new(job, palette);
        let (header, bottom) = setter.header(job, movement);
        let room = until - from;
        let beats = beats(&job.prompt, (room / MIN_BEAT_SECONDS) as usize);
        let weights: Vec<f32> = beats.iter().map(|beat| (beat.weight() + PAUSE_WEIGHT) as f32).collect();
        let all: f32 = weights.iter().sum();
        let mut at = from;
        let timed = beats.iter().zip(weights).map(|(beat, weight)| {
            let begin = at;
            at += room * weight / all;
            let span = Span { from: begin, until: at, is_speech: beat.speech.is_some() };
            TimedLayer { layer: setter.beat(beat, bottom), span }
        });
        let beats = timed.collect();
        Some(Self {
            header,
            beats,
            from,
            until,
            line: Area {
                x: 0.0,
                y: setter.height - setter.unit * 0.6,
                width: setter.width,
                height: setter.unit * 0.6,
            },
            palette: *palette,
            seconds,
            rise: setter.unit * 2.0,
        })
    }

    /// When each beat is read.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        self.beats.iter().map(|beat| beat.span)
    }

    /// What is seen after so many seconds.
    pub(super) fn shown(&self, time: f32) -> Shown {
        let strength = |from: f32, until: f32, begins_at_once: bool| {
            let begin = if begins_at_once { 1.0 } else { ease(from, from + FADE_SECONDS, time) };
            (begin.min(ease(0.0, FADE_SECONDS, until - time)) * 256.0) as u32
        };
        let begins_at_once = self.from <= 0.0;
        let header = strength(self.from, self.until, begins_at_once);
        if header == 0 {
            return Shown::default();
        }
        let beats = self.spans().enumerate().map(|(index, beat)| {
            let seen = strength(beat.from, beat.until, begins_at_once && index == 0);
            let is_here = beat.from <= time && time < beat.until;
            let is_rising = !(begins_at_once && index == 0);
            let below = if is_rising {
                (1.0 - ease(beat.from, beat.from + 2.0 * FADE_SECONDS, time)) * self.rise
            } else {
                0.0
            };
            if is_here { (seen, below.round() as usize) } else { (0, 0) }
        });
        // In steps: a line that moves in each frame would cost as much as a camera that does.
        let quarters = (time * 4.0).floor() / 4.0;
        Shown { header, beats: beats.collect(), line: (quarters / self.seconds * self.line.width) as u32 }
    }

    /// Lays over a frame what is seen.
    pub(super) fn lay(&self, shown: &Shown, frame: &mut RgbImage) {
        self.header.lay(frame, shown.header, 0);
        for (beat, (strength, rise)) in self.beats.iter().zip(&shown.beats) {
            beat.layer.lay(frame, *strength, *rise);
        }
        if shown.header > 0 {
            let mut line = InkLayer::new(self.line);
            line.rounded(self.line, 0.0, self.palette.near, 0.6);
            line.rounded(Area { width: shown.line as f32, ..self.line }, 0.0, self.palette.accent, 1.0);
            line.lay(frame, shown.header, 0);
        }
    }
}

/// Measures of a frame, and the fonts.
struct Typesetter<'p> {
    fonts: Fonts,
    palette: &'p Palette,
    width: f32,
    height: f32,
    /// A hundredth of the side of a square as large as the frame.
    unit: f32,
    margin: f32,
}

/// A drawn text with the size of its ink.
struct Set {
    mask: Mask,
    width: f32,
    height: f32,
}

impl<'p> Typesetter<'p> {
    fn new(job: &Job, palette: &'p Palette) -> Self {
        let (width, height) = (job.width as f32, job.height as f32);
        let unit = (width * height).sqrt() / 100.0;
        Self {
            fonts: Fonts::embedded(),
            palette,
            width,
            height,
            unit,
            margin: (5.0 * unit).min(width * 0.07),
        }
    }

    fn set(&mut self, text: &str, size: f32, is_bold: bool, width: f32, lines: usize) -> Set {
        let style = Style { size, is_bold, align: Align::Start, width: width.max(1.0) as u32, lines };
        let mask = self.fonts.draw(text, &style).mask;
        let ink = mask.ink().map_or(0, |(columns, _)| columns.end);
        Set { width: ink as f32, height: mask.height() as f32, mask }
    }

    /// The largest size at which a text fits, set in lines of even length.
    fn fitted(&mut self, text: &str, largest: f32, is_bold: bool, (width, height): (f32, f32)) -> Set {
        let mut fitting = None;
        let least = least_width(text);
        for part in SIZES {
            let size = (largest * part).max(9.0);
            // To set a text takes longer than to see that it cannot fit.
            let is_last = part <= SIZES[SIZES.len() - 1];
            if !is_last && (least * size / width).ceil() * size * LINE_HEIGHT > height {
                continue;
            }
            let set = self.set(text, size, is_bold, width, 40);
            let fits = set.height <= height;
            fitting = Some((size, set));
            if fits {
                break;
            }
        }
        let Some((size, mut set)) = fitting else { return self.set(text, largest, is_bold, width, 1) };
        if set.height > height {
            let lines = ((height / (size * LINE_HEIGHT).ceil()) as usize).max(1);
            return self.set(text, size, is_bold, width, lines);
        }
        // The narrowest column with as many lines leaves no word alone in the last one. Of long texts nobody sees it.
        if !text.contains(' ') || least > MAX_EVENED_WIDTH {
            return set;
        }
        let (mut narrow, mut wide) = (width * 0.45, width);
        for _ in 0..4 {
            let middle = (narrow + wide) * 0.5;
            let next = self.set(text, size, is_bold, middle, 40);
            if next.height > set.height {
                narrow = middle;
            } else {
                (wide, set) = (middle, next);
            }
        }
        set
    }

    /// The mark, what is known besides the prompt, the camera and the references; and where they end.
    fn header(&mut self, job: &Job, movement: Option<Move>) -> (InkLayer, f32) {
        let (margin, unit) = (self.margin, self.unit);
        let mut layer =
            InkLayer::new(Area { width: self.width, height: self.height * PROMPT_BOTTOM, ..Area::default() });
        let size = (unit * 2.5).max(9.0);
        let mark = self.set(MARK, size * 0.86, true, self.width, 1);
        let pad = size * 0.45;
        let tag = Area { x: margin, y: margin * 0.8, width: mark.width + 2.0 * pad, height: mark.height };
        layer.rounded(tag, mark.height * 0.22, self.palette.ink, 1.0);
        layer.text(&mark.mask, (tag.x + pad, tag.y), self.palette.paper);
        let mut right = self.width - margin;
        if let Some(movement) = movement {
            let label = self.set(movement.label(), size, false, self.width * 0.4, 1);
            let icon = Area {
                x: right - label.width - size * 3.2,
                y: tag.y + tag.height * 0.12,
                width: size * 2.5,
                height: tag.height * 0.76,
            };
            movement.draw(&mut layer, icon, self.palette.accent);
            layer.text(&label.mask, (right - label.width, tag.y), self.palette.ink);
            right = icon.x - size;
        }
        // Below the mark where there is no room beside it.
        let is_beside = right - tag.x - tag.width > 18.0 * size;
        let facts_at =
            if is_beside { (tag.x + tag.width + size, tag.y) } else { (margin, tag.bottom() + unit) };
        let facts_width = if is_beside { right - facts_at.0 } else { self.width - 2.0 * margin };
        let facts = self.set(&facts(job), size, false, facts_width, 2);
        let facts_height = facts.height.min(if is_beside { tag.height } else { facts.height });
        layer.text(&facts.mask, facts_at, self.palette.quiet);
        let bottom = tag.bottom().max(facts_at.1 + facts_height) + 2.0 * unit;
        let thumbs = self.thumbnails(job, &mut layer, bottom);
        (layer, thumbs.unwrap_or(bottom))
    }

    /// References with their numbers, in a row; and where they end, if there are any.
    fn thumbnails(&mut self, job: &Job, layer: &mut InkLayer, top: f32) -> Option<f32> {
        let videos = job.reference_videos.len().min(job.references.len() / 2);
        let images = job.references.len() - 2 * videos;
        let numbered =
            job.references.iter().enumerate().filter_map(|(index, image)| match index.checked_sub(images) {
                None => Some((format!("image {}", index + 1), image)),
                // The first frame of each video.
                Some(frame) => (frame % 2 == 0).then(|| (format!("video {}", frame / 2 + 1), image)),
            });
        let high = (self.unit * 9.0).max(24.0);
        let mut left = self.margin;
        let mut bottom = None;
        for (label, image) in numbered.take(MAX_THUMBNAILS) {
            let wide = (high * (image.width() as f32 / image.height() as f32).clamp(0.5, 2.0)).round();
            if left + wide > self.width - self.margin {
                break;
            }
            layer.image(&cover(image, (wide as u32).max(2), high as u32), (left, top));
            let label = self.set(&label, (self.unit * 2.0).max(8.0), false, wide, 1);
            layer.text(&label.mask, (left, top + high), self.palette.quiet);
            bottom = Some(top + high + label.height + self.unit);
            left += wide + self.unit * 1.5;
        }
        bottom
    }

    /// A beat below the header: its text, and what is said in it.
    fn beat(&mut self, beat: &Beat, top: f32) -> InkLayer {
        let (margin, unit) = (self.margin, self.unit);
        let width = self.width - 2.0 * margin;
        let column = width;
        let bottom = self.height * PROMPT_BOTTOM;
        let room = (bottom - top).max(unit * 6.0);
        let largest = (unit * 9.0).min(self.height * 0.12);
        let mut layer = InkLayer::new(Area { x: 0.0, y: top, width: self.width, height: room + unit * 8.0 });
        let mut y = top + unit;
        let speech_share = match (&beat.speech, beat.text.is_empty()) {
            (None, _) => 0.0,
            (Some(_), true) => 1.0,
            (Some(_), false) => 0.5,
        };
        if !beat.text.is_empty() {
            let text = self.fitted(&beat.text, largest, true, (column, room * (1.0 - speech_share) - unit));
            layer.text(&text.mask, (margin, y), self.palette.ink);
            y += text.height + unit * 2.0;
        }
        if let Some(speech) = &beat.speech {
            let indent = unit * 3.0;
            let text = self.fitted(
                speech,
                largest * 0.8,
                false,
                (column - indent, room * speech_share - unit * 2.0),
            );
            let bar = Area { x: margin, y: y + unit * 0.5, width: unit * 0.7, height: text.height - unit };
            layer.rounded(bar, unit * 0.35, self.palette.accent, 1.0);
            layer.text(&text.mask, (margin + indent, y), self.palette.ink);
        }
        layer
    }
}

/// Model, length, ratio and seed.
fn facts(job: &Job) -> String {
    let mut facts = Vec::new();
    if !job.model.is_empty() {
        facts.push(job.model.clone());
    }
    facts.push(format!("{} s", (job.seconds * 100.0).round() / 100.0));
    facts.push(ratio(job.width, job.height));
    facts.push(format!("seed {}", job.seed as i64));
    facts.join("   ")
}

/// The nearest of the usual ratios.
fn ratio(width: u32, height: u32) -> String {
    let common_ratios = [(16, 9), (9, 16), (4, 3), (3, 4), (1, 1), (21, 9), (9, 21), (3, 2), (2, 3)];
    let exact = f64::from(width) / f64::from(height);
    let near = |(w, h): &(u32, u32)| (f64::from(*w) / f64::from(*h) / exact - 1.0).abs();
    let (w, h) =
        common_ratios.into_iter().min_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or((width, height));
    if near(&(w, h)) < 0.03 { format!("{w}:{h}") } else { format!("{width}x{height}") }
}
