//! Subtitles of a film: the files beside it, and the overlays that draw them into its frames.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use media::{Overlay, OverlaySpan, Overlays, RgbImage};
use text::{Align, Fonts, Mask, Style};
use timeline::Timeline;
use timeline::subtitles::{self, Cue};
use workflow::plan::Plan;

use super::FilmClip;
use super::titles::{SIDE_MARGIN, SharedFonts};
use crate::cuts;

/// Free space below, as a share of the frame's height.
const LOWER_MARGIN: f32 = 0.06;
/// A line has at most this many letters (`timeline::subtitles`), about half as wide as high.
const LETTERS: f32 = 42.0;
const LETTER_WIDTH: f32 = 0.56;

/// The cues of a film of these clips, on its clock.
pub fn film_cues(plan: &Plan, timeline: &Timeline, clips: &[FilmClip]) -> Vec<Cue> {
    let line = |clip: &FilmClip| clip.node.and_then(|ix| plan.node(ix).dialogue.as_deref());
    let dialogue: Vec<_> = clips.iter().map(line).collect();
    subtitles::cues(timeline, &subtitles::lines(timeline, &dialogue))
}

/// The names of the subtitles of a film, with their texts.
fn files(film: &Path, cues: &[Cue]) -> [(PathBuf, String); 2] {
    [(film.with_extension("srt"), subtitles::srt(cues)), (film.with_extension("vtt"), subtitles::vtt(cues))]
}

/// Whether the subtitles of a film are beside it.
pub(crate) fn are_written(film: &Path) -> bool {
    files(film, &[]).iter().all(|(file, _)| file.is_file())
}

/// Writes the subtitles of a film beside it. Earlier versions stay under numbers, as those of the film do: somebody may have edited them.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn write(film: &Path, cues: &[Cue], scratch: &Path) -> io::Result<()> {
    for (file, text) in files(film, cues) {
        let new = scratch.join(file.file_name().unwrap_or_default());
        fs_err::write(&new, text)?;
        cuts::replace(&new, &file, &|_| false)?;
    }
    Ok(())
}

/// The overlays that draw cues into the frames of a film.
pub(crate) fn overlays(timeline: &Timeline, cues: Vec<Cue>, fonts: &SharedFonts) -> Overlays {
    let rate = timeline.frame_rate.as_f64();
    let frame = |time: std::time::Duration| (time.as_secs_f64() * rate).round() as u64;
    let span = |cue: &Cue| OverlaySpan { frames: frame(cue.start)..frame(cue.end), fade: 0 };
    let spans = cues.iter().map(span).collect();
    let fonts = Arc::clone(fonts);
    let draw = move |index: usize, size: (u32, u32)| {
        let cue = cues.get(index)?;
        let mut fonts = fonts.lock().unwrap_or_else(PoisonError::into_inner);
        draw(&mut fonts, &cue.text, size)
    };
    Overlays { spans, draw: Arc::new(draw) }
}

/// White letters with a dark outline at the lower edge.
fn draw(fonts: &mut Fonts, text: &str, (width, height): (u32, u32)) -> Option<Overlay> {
    let line = (width as f32 * (1.0 - 2.0 * SIDE_MARGIN)) as u32;
    let size = (height as f32 / 16.0).min(line as f32 / LETTERS / LETTER_WIDTH);
    let style = Style { size, is_bold: true, align: Align::Center, width: line, lines: 4 };
    let mask = fonts.draw(text, &style).mask;
    let outline = (size / 14.0).round().max(1.0) as u32;
    let (ink, opacity) = outlined(&mask, outline);
    let left = width.saturating_sub(ink.width()) / 2;
    let top = height.saturating_sub(ink.height() + (height as f32 * LOWER_MARGIN) as u32);
    Overlay::new((left, top), ink, opacity)
}

/// White ink on black that reaches `radius` pixels beyond it.
fn outlined(mask: &Mask, radius: u32) -> (RgbImage, Vec<u8>) {
    let (width, height) = (mask.width() + 2 * radius, mask.height() + 2 * radius);
    let mut ink = RgbImage::new(width, height);
    let mut opacity = vec![0_u8; width as usize * height as usize];
    let reach = i64::from(radius);
    let disc: Vec<(i64, i64)> = (-reach..=reach)
        .flat_map(|y| (-reach..=reach).map(move |x| (x, y)))
        .filter(|(x, y)| x * x + y * y <= reach * reach + reach)
        .collect();
    for y in 0..mask.height() {
        for (x, covered) in (0_i64..).zip(mask.row(y)).filter(|(_, covered)| **covered > 0) {
            for (dx, dy) in &disc {
                let (x, y) = ((x + reach + dx) as usize, (i64::from(y) + reach + dy) as usize);
                let value = &mut opacity[y * width as usize + x];
                *value = (*value).max(*covered);
            }
            let start = ((y + radius) as usize * width as usize + (x + reach) as usize) * 3;
            ink.pixels_mut()[start..start + 3].fill(*covered);
        }
    }
    (ink, opacity)
}
