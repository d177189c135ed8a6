//! Labels of clips in images: what distinguishes a clip, and its state.

use media::RgbImage;
use scheduler::StatusKind;
use text::{Align, Fonts, Mask, Style};
use viewer::{Clip, Manifest};

/// Colors of the first line, of the second one, and of the background.
const NAME: [u8; 3] = [236, 238, 242];
const DETAIL: [u8; 3] = [160, 166, 178];
const BACKGROUND: [u8; 3] = [16, 18, 22];

/// The name of a clip takes at most this many lines.
const NAME_LINES: usize = 2;

/// The labels of clips, all of one size: as wide as asked, as high as the highest needs.
pub(super) fn labels(manifest: &Manifest, width: u32) -> Vec<RgbImage> {
    let mut fonts = Fonts::embedded();
    let size = (width as f32 / 18.0).clamp(10.0, 26.0);
    let of_one_shot = manifest.clips.windows(2).all(|pair| pair[0].shot == pair[1].shot);
    let style = |lines| Style { size, is_bold: false, align: Align::Start, width, lines };
    let texts: Vec<(Mask, Mask)> = manifest
        .clips
        .iter()
        .map(|clip| {
            let name = fonts.draw(&name(clip, of_one_shot), &Style { is_bold: true, ..style(NAME_LINES) });
            (name.mask, fonts.draw(&detail(clip), &style(1)).mask)
        })
        .collect();
    let height = texts.iter().map(|(name, detail)| name.height() + detail.height()).max().unwrap_or(0);
    let margin = size as u32 / 4;
    let padded = (height + 2 * margin).next_multiple_of(2);
    texts
        .iter()
        .map(|(name, detail)| {
            let mut label = RgbImage::new(width, padded);
            for pixel in label.pixels_mut().chunks_exact_mut(3) {
                pixel.copy_from_slice(&BACKGROUND);
            }
            draw_mask(&mut label, name, margin, NAME);
            draw_mask(&mut label, detail, margin + name.height(), DETAIL);
            label
        })
        .collect()
}

/// What tells a clip from the others: its cell and its take where all are of one shot.
fn name(clip: &Clip, of_one_shot: bool) -> String {
    if !of_one_shot || (clip.cell.is_empty() && clip.take.is_none()) {
        return clip.id.clone();
    }
    let cell = clip.cell.iter().map(|(axis, value)| {
        format!("{axis}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    });
    cell.chain(clip.take.map(|take| format!("take {take}"))).collect::<Vec<_>>().join(", ")
}

/// Its state if there is no video; otherwise what one wants to know beside the name.
fn detail(clip: &Clip) -> String {
    if clip.state != StatusKind::Done {
        return clip.state.as_str().to_owned();
    }
    let picked = clip.is_picked.then(|| "picked".to_owned());
    let seed = clip.seed.filter(|_| !clip.cell.contains_key("seed")).map(|seed| format!("seed {seed}"));
    let seconds = clip.seconds.map(|seconds| format!("{:.1} s", seconds.as_secs_f64()));
    picked.into_iter().chain(seed).chain(seconds).collect::<Vec<_>>().join("   ")
}

/// Paints ink into a label, `top` pixels from its upper edge.
fn draw_mask(label: &mut RgbImage, mask: &Mask, top: u32, color: [u8; 3]) {
    let stride = label.width() as usize * 3;
    let rows = label.pixels_mut().chunks_exact_mut(stride).skip(top as usize);
    for (row, y) in rows.zip(0..mask.height()) {
        for (pixel, coverage) in row.chunks_exact_mut(3).zip(mask.row(y)) {
            for (value, color) in pixel.iter_mut().zip(color) {
                let (covered, rest) = (u32::from(*coverage), 255 - u32::from(*coverage));
                *value = ((u32::from(color) * covered + u32::from(*value) * rest + 127) / 255) as u8;
            }
        }
    }
}
