//! The storyboard panel: drawn once for a shot, blended over its frames.

use media::RgbImage;
use text::{Align, Fonts, Mask, Style};

use super::camera_icon;
use super::layer::{Area, InkLayer, Rgb};
use crate::Job;
use crate::procedural::{Move, cover};

/// The text on the frame, so that nobody takes it for the paid video.
const MARK: &str = "REHEARSAL";

const PAPER: Rgb = [14, 17, 23];
const INK: Rgb = [240, 241, 243];
const QUIET: Rgb = [166, 174, 186];
const ACCENT: Rgb = [246, 178, 64];

/// The full panel is seen for this long, in seconds; then the lower third.
const FULL_SECONDS: f32 = 1.5;
/// Before the end nothing is seen for this long, so that frames that are handed on are clean.
const CLEAN_SECONDS: f32 = 0.5;
const FADE_SECONDS: f32 = 0.25;
/// Frames with a shorter side have no room for text, in pixels.
const MIN_SIDE: u32 = 120;
/// The height of the lower third, in units.
const STRIP: f32 = 30.0;
/// Frames and references that are shown as thumbnails.
const MAX_THUMBNAILS: usize = 5;

/// What the panel says besides the job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shot {
    pub(crate) movement: Move,
}

/// The panel of a shot.
#[derive(Debug)]
pub(crate) struct Panel {
    full: InkLayer,
    slim: InkLayer,
    clock: Clock,
    seconds: f32,
    frame_rate: f32,
    bar: Area,
}

/// How strongly the parts are seen, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visibility {
    pub(super) full: f32,
    pub(super) slim: f32,
}

/// When what is seen, for a moment of a shot.
pub(super) fn visibility(time: f32, seconds: f32) -> Visibility {
    let end = seconds - CLEAN_SECONDS;
    // Of a short shot the full panel alone is seen, and of a shorter one nothing.
    if end < 2.0 * FADE_SECONDS {
        return Visibility { full: 0.0, slim: 0.0 };
    }
    let has_slim = end > FULL_SECONDS + 3.0 * FADE_SECONDS;
    let full_end = if has_slim { FULL_SECONDS + FADE_SECONDS } else { end };
    let ramp = |from: f32| ((time - from) / FADE_SECONDS).clamp(0.0, 1.0);
    let fall = |until: f32| ((until - time) / FADE_SECONDS).clamp(0.0, 1.0);
    let slim = if has_slim { ramp(FULL_SECONDS).min(fall(end)) } else { 0.0 };
    Visibility { full: ramp(0.0).min(fall(full_end)), slim }
}

impl Panel {
    /// Draws the panel; `None` where the frame has no room for it.
    pub(crate) fn new(job: &Job, shot: Shot) -> Option<Self> {
        if job.width.min(job.height) < MIN_SIDE {
            return None;
        }
        let mut drawing = PanelMetrics::new(job);
        let full = drawing.full(job, shot);
        let (slim, clock, bar) = drawing.slim(job, shot);
        Some(Self {
            full,
            slim,
            clock,
            bar,
            seconds: job.frames_total() as f32 / job.frame_rate as f32,
            frame_rate: job.frame_rate as f32,
        })
    }

    /// Lays the panel over the frame with this index.
    pub(crate) fn lay(&self, frame: u32, image: &mut RgbImage) {
        let time = frame as f32 / self.frame_rate;
        let seen = visibility(time, self.seconds);
        self.full.lay(image, seen.full);
        self.slim.lay(image, seen.slim);
        let strength = seen.full.max(seen.slim);
        if strength > 0.0 {
            let mut bar =
                InkLayer::new(Area { width: self.bar.width * (time / self.seconds).max(0.004), ..self.bar });
            bar.rounded(Area { x: 0.0, width: self.bar.width, ..self.bar }, 0.0, ACCENT, 1.0);
            bar.lay(image, strength);
            self.clock.lay(time, image, strength);
        }
    }
}

/// Seconds that count, in the corner of the panel.
#[derive(Debug)]
struct Clock {
    /// `0` to `9` and the point.
    digits: Vec<Mask>,
    /// Width of a digit and of the point.
    advance: (f32, f32),
    /// The right end and the top of the text.
    corner: (f32, f32),
}

impl Clock {
    fn lay(&self, time: f32, frame: &mut RgbImage, strength: f32) {
        let text = format!("{time:.1}");
        let height = self.digits.first().map_or(0, Mask::height) as f32;
        let wide = |c: char| if c == '.' { self.advance.1 } else { self.advance.0 };
        let width: f32 = text.chars().map(wide).sum();
        let mut x = self.corner.0 - width;
        let mut layer = InkLayer::new(Area { x, y: self.corner.1, width: width + self.advance.0, height });
        for c in text.chars() {
            let index = c.to_digit(10).map_or(10, |digit| digit as usize);
            if let Some(mask) = self.digits.get(index) {
                layer.text(mask, (x, self.corner.1), INK);
            }
            x += wide(c);
        }
        layer.lay(frame, strength);
    }
}

/// Measures of a frame, and the fonts.
struct PanelMetrics {
    fonts: Fonts,
    width: f32,
    height: f32,
    /// One unit: a 480th of the height of a wide frame.
    unit: f32,
    margin: f32,
}

/// A drawn text with the width of its ink.
struct Line {
    mask: Mask,
    width: f32,
    height: f32,
}

impl PanelMetrics {
    fn new(job: &Job) -> Self {
        let (width, height) = (job.width as f32, job.height as f32);
        let unit = (width * height).sqrt() / 640.0;
        Self { fonts: Fonts::embedded(), width, height, unit, margin: (18.0 * unit).min(width * 0.04) }
    }

    fn text(&mut self, text: &str, size: f32, bold: bool, width: f32, lines: usize) -> Line {
        let style = Style {
            size: size * self.unit,
            is_bold: bold,
            align: Align::Start,
            width: width.max(1.0) as u32,
            lines,
        };
        let mask = self.fonts.draw(text, &style).mask;
        let ink = mask.ink().map_or(0, |(columns, _)| columns.end);
        Line { width: ink as f32, height: mask.height() as f32, mask }
    }

    /// The mark on a tag of its own color; returns its right edge.
    fn mark(&mut self, layer: &mut InkLayer, (x, y): (f32, f32), size: f32) -> (f32, f32) {
        let line = self.text(MARK, size, true, self.width, 1);
        let pad = size * 0.5 * self.unit;
        let area = Area { x, y, width: line.width + pad * 2.0, height: line.height };
        layer.rounded(area, line.height * 0.25, ACCENT, 1.0);
        layer.text(&line.mask, (x + pad, y), PAPER);
        (x + area.width, line.height)
    }

    /// The panel of the beginning.
    fn full(&mut self, job: &Job, shot: Shot) -> InkLayer {
        let (unit, margin) = (self.unit, self.margin);
        let inner = self.width - 2.0 * margin;
        let pad = 14.0 * unit;
        let icon = Area { x: 0.0, y: 0.0, width: 74.0 * unit, height: 42.0 * unit };
        let text_width = inner - 3.0 * pad - icon.width;
        let upright = self.height > self.width;
        let prompt =
            self.text(&one_paragraph(&job.prompt), 19.0, false, text_width, if upright { 7 } else { 4 });
        let facts = self.text(&facts(job), 12.5, false, text_width, if upright { 3 } else { 1 });
        let note = self.text(&note(job), 11.0, false, text_width, 2);
        let camera = self.text(camera_icon::name(shot.movement), 12.5, false, icon.width + pad, 1);
        let mark_height = self.text(MARK, 12.0, true, self.width, 1).height;
        let gap = 6.0 * unit;
        let text_height = mark_height + gap + prompt.height + gap + facts.height + note.height;
        let height = text_height.max(icon.height + camera.height + mark_height + 2.0 * gap) + 2.0 * pad;
        let thumbnails = thumbnails(job, 62.0 * unit, inner);
        let top = self.height - STRIP * unit - height;
        let thumbs_top = top - margin * 0.6 - 62.0 * unit;
        let layer_top = if thumbnails.is_empty() { top } else { thumbs_top - 4.0 * unit }.max(0.0);
        let mut layer =
            InkLayer::new(Area { x: 0.0, y: layer_top, width: self.width, height: self.height - layer_top });
        self.clock(job, &mut layer, self.height - (STRIP + 3.0) * 0.5 * unit);
        let card = Area { x: margin, y: top, width: inner, height };
        layer.rounded(card, 10.0 * unit, PAPER, 0.84);
        let x = margin + pad;
        let mut y = top + pad;
        self.mark(&mut layer, (x, y), 12.0);
        y += mark_height + gap;
        layer.text(&prompt.mask, (x, y), INK);
        y += prompt.height + gap;
        layer.text(&facts.mask, (x, y), QUIET);
        y += facts.height;
        layer.text(&note.mask, (x, y), QUIET);
        let icon = Area { x: margin + inner - pad - icon.width, y: top + pad + mark_height + gap, ..icon };
        camera_icon::draw(&mut layer, icon, shot.movement, QUIET, ACCENT);
        let label_x = icon.x + (icon.width - camera.width) * 0.5;
        layer.text(&camera.mask, (label_x, icon.y + icon.height + 2.0 * unit), INK);
        let mut left = margin;
        for image in thumbnails {
            let (wide, high) = (image.width() as f32, image.height() as f32);
            let border = 2.0 * unit;
            let frame = Area {
                x: left,
                y: thumbs_top - border,
                width: wide + 2.0 * border,
                height: high + 2.0 * border,
            };
            layer.rounded(frame, border, INK, 1.0);
            layer.image(&image, (left + border, thumbs_top));
            left += frame.width + 8.0 * unit;
        }
        layer
    }

    /// The lower third that follows, the clock, and the bar along the lower edge.
    fn slim(&mut self, job: &Job, shot: Shot) -> (InkLayer, Clock, Area) {
        let (unit, margin) = (self.unit, self.margin);
        let height = STRIP * unit;
        let top = self.height - height;
        let mut layer = InkLayer::new(Area { x: 0.0, y: top, width: self.width, height });
        layer.rounded(Area { x: 0.0, y: top, width: self.width, height }, 0.0, PAPER, 0.66);
        let mark_height = self.text(MARK, 10.0, true, self.width, 1).height;
        let middle = top + (height - 3.0 * unit) * 0.5;
        let (mut x, _) = self.mark(&mut layer, (margin, middle - mark_height * 0.5), 10.0);
        x += 10.0 * unit;
        let (clock, clock_width) = self.clock(job, &mut layer, middle);
        let icon = Area {
            x: self.width - margin - clock_width - 44.0 * unit,
            y: middle - 9.0 * unit,
            width: 32.0 * unit,
            height: 18.0 * unit,
        };
        camera_icon::draw(&mut layer, icon, shot.movement, QUIET, ACCENT);
        let line = self.text(&one_paragraph(&job.prompt), 13.0, false, icon.x - x - 10.0 * unit, 1);
        layer.text(&line.mask, (x, middle - line.height * 0.5), INK);
        let bar = Area { x: 0.0, y: self.height - 3.0 * unit, width: self.width, height: 3.0 * unit };
        (layer, clock, bar)
    }

    /// The clock of the lower third, and the width of it with the shot's length, which is drawn into the layer.
    fn clock(&mut self, job: &Job, layer: &mut InkLayer, middle: f32) -> (Clock, f32) {
        let digits: Vec<Line> = "0123456789."
            .chars()
            .map(|c| self.text(&c.to_string(), 13.0, true, 30.0 * self.unit, 1))
            .collect();
        let advance = |lines: &[Line]| lines.iter().map(|line| line.width).fold(0.0, f32::max) + self.unit;
        let advance = (advance(&digits[..10]), advance(&digits[10..]));
        let length = self.text(&format!("/ {} s", shortest(job.seconds)), 13.0, false, self.width, 1);
        let left = self.width - self.margin - length.width;
        let top = middle - length.height * 0.5;
        layer.text(&length.mask, (left, top), QUIET);
        let width = length.width + advance.0 * 3.0 + advance.1 + 8.0 * self.unit;
        let digits = digits.into_iter().map(|line| line.mask).collect();
        (Clock { digits, advance, corner: (left - 5.0 * self.unit, top) }, width)
    }
}

/// Length, ratio, seed, model and inputs.
fn facts(job: &Job) -> String {
    let mut facts = vec![
        format!("{} s", shortest(job.seconds)),
        ratio(job.width, job.height),
        format!("seed {}", job.seed as i64),
    ];
    let count = |number: usize, singular: &str, plural: &str| match number {
        0 => None,
        1 => Some(format!("1 {singular}")),
        number => Some(format!("{number} {plural}")),
    };
    facts.extend(job.first_frame.as_ref().map(|_| "first frame".to_owned()));
    facts.extend(job.last_frame.as_ref().map(|_| "last frame".to_owned()));
    facts.extend(count(job.references.len(), "reference", "references"));
    facts.extend(job.reference_audio.as_ref().map(|_| "reference audio".to_owned()));
    facts.extend((!job.generate_audio).then(|| "no sound".to_owned()));
    facts.join("  ·  ")
}

fn note(job: &Job) -> String {
    if job.model.is_empty() {
        "Drawn on this machine from words of the prompt, not by a video model".to_owned()
    } else {
        format!("Drawn on this machine from words of the prompt, not by {}", job.model)
    }
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

fn shortest(seconds: f64) -> String {
    ((seconds * 100.0).round() / 100.0).to_string()
}

fn one_paragraph(prompt: &str) -> String {
    prompt.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Frames and references in small, as high as given, as far as they fit into the width.
fn thumbnails(job: &Job, height: f32, width: f32) -> Vec<RgbImage> {
    let all = job.first_frame.iter().chain(&job.last_frame).chain(&job.references);
    let mut left = width;
    let mut small = Vec::new();
    for image in all.take(MAX_THUMBNAILS) {
        let aspect = (image.width() as f32 / image.height() as f32).clamp(0.4, 2.4);
        let wide = (height * aspect).max(2.0);
        left -= wide + height * 0.2;
        if left < 0.0 {
            break;
        }
        small.push(cover(image, wide as u32, height as u32));
    }
    small
}
