//! Titles of a film: cards on black, and texts over clips.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use media::{Overlay, OverlaySpan, Overlays, RgbImage, Still};
use text::{Align, Fonts, Mask, Style};
use timeline::Timeline;
use workflow::plan::{ClipSource, Film, Title, TitleStyle};

/// Free space at the sides, as a share of the frame's width: what television calls the title-safe area.
pub(crate) const SIDE_MARGIN: f32 = 0.07;
/// Where the last line of a lower third ends, from the top; and where there are subtitles below it.
const LOWER_EDGE: f32 = 0.86;
const EDGE_ABOVE_SUBTITLES: f32 = 0.72;
/// The size of further lines, as a share of the first one's.
const SECOND_SIZE: f32 = 0.55;
/// How long a title over a clip fades in, and out again, in seconds.
const FADE_SECONDS: f64 = 0.3;
/// The most lines of each of the two sizes.
const MAX_LINES: usize = 8;
/// The letters of titles: white that does not glare.
const INK: u8 = 240;
/// How dark the shadow behind letters over a clip is.
const SHADOW: f32 = 0.65;

/// The fonts of a film, shared by what draws its titles and its subtitles.
pub(crate) type SharedFonts = Arc<Mutex<Fonts>>;

/// The embedded fonts, and the film's own before them.
pub(crate) fn shared_fonts(own: Option<Vec<u8>>) -> Result<SharedFonts, text::FontError> {
    let mut fonts = Fonts::embedded();
    own.map_or(Ok(()), |font| fonts.add(font))?;
    Ok(Arc::new(Mutex::new(fonts)))
}

/// A title on black.
pub(crate) fn card(title: &Title, fonts: &SharedFonts) -> Still {
    let (title, fonts) = (title.clone(), Arc::clone(fonts));
    let name = title.text.lines().next().unwrap_or_default().to_owned();
    let draw = move |(width, height): (u32, u32)| {
        let mut image = RgbImage::new(width, height);
        let lines = Lines::draw(&title, (width, height), LOWER_EDGE, &fonts);
        lines.paint(&mut image);
        image
    };
    Still::Drawn { name, draw: Arc::new(draw) }
}

/// The titles that lie over clips of a film.
pub(crate) fn overlays(film: &Film, timeline: &Timeline, fonts: &SharedFonts) -> Overlays {
    let fade = (FADE_SECONDS * timeline.frame_rate.as_f64()).round() as u64;
    let mut titles = Vec::new();
    let mut spans = Vec::new();
    for item in &timeline.items {
        let Some(clip) = film.clips.get(item.clip).filter(|clip| clip.source != ClipSource::Card) else {
            continue;
        };
        let Some(title) = &clip.title else { continue };
        titles.push(title.clone());
        spans
            .push(OverlaySpan { frames: unshared_frames(timeline, item.clip, item.start..item.end()), fade });
    }
    let fonts = Arc::clone(fonts);
    let has_subtitles = film.subtitles.is_some_and(|subtitles| subtitles.burn);
    let edge = if has_subtitles { EDGE_ABOVE_SUBTITLES } else { LOWER_EDGE };
    let draw =
        move |index: usize, size: (u32, u32)| Lines::draw(titles.get(index)?, size, edge, &fonts).overlay();
    Overlays { spans, draw: Arc::new(draw) }
}

/// The frames of a clip in which no other one is seen.
fn unshared_frames(timeline: &Timeline, clip: usize, frames: Range<u64>) -> Range<u64> {
    let lead_in = timeline.transition_into(clip).map_or(0, |transition| transition.after);
    let lead_out =
        timeline.items.get(clip).and_then(|item| item.transition).map_or(0, |transition| transition.before);
    let (start, end) = (frames.start + lead_in, frames.end.saturating_sub(lead_out));
    if start < end { start..end } else { frames }
}

/// The lines of a title, drawn for frames of a size.
struct Lines {
    /// Masks with the position of their upper left corners.
    masks: Vec<((u32, u32), Mask)>,
    size: (u32, u32),
    /// The radius of the shadow.
    shadow: u32,
}

impl Lines {
    fn draw(title: &Title, (width, height): (u32, u32), lower_edge: f32, fonts: &SharedFonts) -> Self {
        let mut fonts = fonts.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = title.text.split_once('\n').unwrap_or((&title.text, ""));
        let rest = rest.trim();
        // Of tall frames the width decides.
        let base = (width as f32 * 0.6).min(height as f32);
        let (share, align) = match title.style {
            TitleStyle::Card => (0.11, Align::Center),
            TitleStyle::LowerThird => (0.07, Align::Start),
        };
        let line = (width as f32 * (1.0 - 2.0 * SIDE_MARGIN)) as u32;
        let room = (height as f32 * 0.86) as u32;
        let mut size = base * share;
        // Long texts are set smaller, until they fit.
        let masks = loop {
            let style = Style { size, is_bold: true, align, width: line, lines: MAX_LINES };
            let small = Style { size: size * SECOND_SIZE, is_bold: false, ..style };
            let mut masks = vec![fonts.draw(first, &style).mask];
            masks.extend((!rest.is_empty()).then(|| fonts.draw(rest, &small).mask));
            let high: u32 = masks.iter().map(Mask::height).sum();
            if high <= room || size < 10.0 {
                break masks;
            }
            size *= 0.85;
        };
        let high: u32 = masks.iter().map(Mask::height).sum();
        let mut top = match title.style {
            TitleStyle::Card => height.saturating_sub(high) / 2,
            TitleStyle::LowerThird => ((height as f32 * lower_edge) as u32).saturating_sub(high),
        };
        let left = width.saturating_sub(line) / 2;
        let mut placed = Vec::new();
        for mask in masks {
            let next = top + mask.height();
            placed.push(((left, top), mask));
            top = next;
        }
        Self { masks: placed, size: (width, height), shadow: (size / 9.0).round().max(2.0) as u32 }
    }

    /// Onto black.
    fn paint(&self, image: &mut RgbImage) {
        self.for_each(|x, y, covered| {
            let offset = (y as usize * self.size.0 as usize + x as usize) * 3;
            let value = (u16::from(INK) * u16::from(covered) / 255) as u8;
            if let Some(pixel) = image.pixels_mut().get_mut(offset..offset + 3) {
                for channel in pixel {
                    *channel = (*channel).max(value);
                }
            }
        });
    }

    /// White ink over a soft dark shadow, which keeps it readable on any frame.
    fn overlay(&self) -> Option<Overlay> {
        let (left, top, right, bottom) = self.bounds()?;
        let margin = 2 * self.shadow;
        let even = |edge: u32| edge.saturating_sub(margin) & !1;
        let (x, y) = (even(left), even(top));
        let (width, height) = ((right + margin).min(self.size.0) - x, (bottom + margin).min(self.size.1) - y);
        let pixels = width as usize * height as usize;
        let mut ink = vec![0_u8; pixels];
        self.for_each(|column, row, covered| {
            let (Some(column), Some(row)) = (column.checked_sub(x), row.checked_sub(y)) else { return };
            if column < width && row < height {
                let value = &mut ink[row as usize * width as usize + column as usize];
                *value = (*value).max(covered);
            }
        });
        let mut shadow: Vec<f32> = ink.iter().map(|covered| f32::from(*covered) / 255.0).collect();
        for _ in 0..2 {
            shadow = blurred(&shadow, (width as usize, height as usize), self.shadow as usize);
        }
        let mut image = RgbImage::new(width, height);
        let mut opacity = vec![0_u8; pixels];
        for (index, covered) in ink.iter().enumerate() {
            let letter = f32::from(*covered) / 255.0;
            let dark = (shadow[index] * 2.2).min(1.0) * SHADOW;
            let all = letter + dark * (1.0 - letter);
            opacity[index] = (all * 255.0).round() as u8;
            let light = if all > 0.0 { f32::from(INK) * letter / all } else { 0.0 };
            image.pixels_mut()[index * 3..index * 3 + 3].fill(light.round() as u8);
        }
        Overlay::new((x, y), image, opacity)
    }

    /// The smallest rectangle with ink: left, top, right, bottom.
    fn bounds(&self) -> Option<(u32, u32, u32, u32)> {
        let mut bounds: Option<(u32, u32, u32, u32)> = None;
        for ((left, top), mask) in &self.masks {
            let Some((columns, rows)) = mask.ink() else { continue };
            let rectangle = (left + columns.start, top + rows.start, left + columns.end, top + rows.end);
            bounds = Some(bounds.map_or(rectangle, |all| {
                (
                    all.0.min(rectangle.0),
                    all.1.min(rectangle.1),
                    all.2.max(rectangle.2),
                    all.3.max(rectangle.3),
                )
            }));
        }
        bounds
    }

    /// Calls a function with the position and coverage of each pixel with ink that is inside of the frame.
    fn for_each(&self, mut show: impl FnMut(u32, u32, u8)) {
        for ((left, top), mask) in &self.masks {
            for row in (0..mask.height()).take_while(|row| top + row < self.size.1) {
                for (column, covered) in (0_u32..).zip(mask.row(row)).filter(|(_, covered)| **covered > 0) {
                    if left + column < self.size.0 {
                        show(left + column, top + row, *covered);
                    }
                }
            }
        }
    }
}

/// Means over squares of `2 * radius + 1` pixels.
fn blurred(values: &[f32], (width, height): (usize, usize), radius: usize) -> Vec<f32> {
    let lines = |values: &[f32], count: usize, length: usize, index_of: &dyn Fn(usize, usize) -> usize| {
        let mut means = vec![0.0; values.len()];
        for line in 0..count {
            let mut sum: f32 = (0..radius.min(length)).map(|i| values[index_of(line, i)]).sum();
            for i in 0..length {
                if i + radius < length {
                    sum += values[index_of(line, i + radius)];
                }
                if i > radius {
                    sum -= values[index_of(line, i - radius - 1)];
                }
                means[index_of(line, i)] = sum / (2 * radius + 1) as f32;
            }
        }
        means
    };
    let across = lines(values, height, width, &|row, column| row * width + column);
    lines(&across, width, height, &|column, row| row * width + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str, style: TitleStyle) -> Title {
        Title { text: text.to_owned(), style }
    }

    fn lines(text: &str, style: TitleStyle, size: (u32, u32)) -> (u32, u32, u32, u32) {
        let fonts = shared_fonts(None).unwrap();
        Lines::draw(&title(text, style), size, LOWER_EDGE, &fonts).bounds().unwrap()
    }

    #[test]
    fn cards_stand_in_the_middle() {
        for size in [(640, 360), (360, 640)] {
            let (left, top, right, bottom) = lines("THE LAMP", TitleStyle::Card, size);
            let (x, y) = (left + right, top + bottom);
            assert!(x.abs_diff(size.0) < 8 && y.abs_diff(size.1) < size.1 / 20, "{size:?}: {x} {y}");
        }
    }

    #[test]
    fn lower_thirds_stand_on_the_left_and_low() {
        let (left, top, right, bottom) =
            lines("Ada\nkeeper of the light", TitleStyle::LowerThird, (640, 360));
        assert!((40..60).contains(&left) && right < 400, "{left} {right}");
        assert!(top > 240 && bottom < 320, "{top} {bottom}");
    }

    #[test]
    fn long_texts_fit() {
        let text = "A very long title that nobody should write, but somebody will. ".repeat(8);
        let (left, top, right, bottom) = lines(&text, TitleStyle::Card, (640, 360));
        assert!(left >= 40 && right <= 600 && top > 10 && bottom < 350, "{left} {top} {right} {bottom}");
    }

    #[test]
    fn overlay_is_dark_around_its_letters() {
        let fonts = shared_fonts(None).unwrap();
        let lines = Lines::draw(&title("I", TitleStyle::LowerThird), (640, 360), LOWER_EDGE, &fonts);
        assert!(lines.overlay().is_some());
        let mut image = RgbImage::new(640, 360);
        lines.paint(&mut image);
        assert!(image.pixels().contains(&INK));
        let values: Vec<f32> = (0..81).map(|index| if index == 40 { 9.0 } else { 0.0 }).collect();
        let soft = blurred(&values, (9, 9), 1);
        assert!((soft[40] - 1.0).abs() < 1e-5 && (soft[30] - 1.0).abs() < 1e-5 && soft[20].abs() < 1e-5);
    }
}
