//! Posters: small images that stand for a video in a list.

use std::path::Path;

use image::ImageEncoder as _;

use crate::{Ffmpeg, MediaError, RgbImage};

/// JPEG quality: no visible blocks at the size of a thumbnail.
const QUALITY: u8 = 82;

/// A video that begins darker than this mean (of 255) fades in: its last frame says more.
const MIN_BRIGHTNESS: u64 = 14;

/// A JPEG of a video's first frame, or of its last one if the first is black, scaled down to at most `max_side` pixels. Of a video that
/// `continues` another, whose frame is the first one, it is the frame in the middle.
///
/// # Errors
/// As [`Ffmpeg::first_frame`].
pub fn poster(path: &Path, max_side: u32, continues: bool, ffmpeg: &Ffmpeg) -> Result<Vec<u8>, MediaError> {
    let frame = if continues { ffmpeg.middle_frame(path)? } else { ffmpeg.first_frame(path)? };
    let frame = if brightness(&frame) < MIN_BRIGHTNESS { ffmpeg.last_frame(path)? } else { frame };
    let longest = frame.width().max(frame.height()).max(1);
    let scaled = |side: u32| {
        let side = u64::from(side) * u64::from(max_side.min(longest)) / u64::from(longest);
        u32::try_from(side).unwrap_or(u32::MAX).max(1)
    };
    jpeg(&frame.resized(scaled(frame.width()), scaled(frame.height())))
}

pub(crate) fn jpeg(image: &RgbImage) -> Result<Vec<u8>, MediaError> {
    let mut bytes = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, QUALITY)
        .write_image(image.pixels(), image.width(), image.height(), image::ExtendedColorType::Rgb8)
        .map_err(|error| MediaError::Damaged(format!("the poster cannot be encoded: {error}")))?;
    Ok(bytes)
}

/// The mean of all samples.
fn brightness(image: &RgbImage) -> u64 {
    let sum: u64 = image.pixels().iter().map(|sample| u64::from(*sample)).sum();
    sum / (image.pixels().len() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClipSpec, ClipWriter, FrameRate, decode_image};

    fn clip(shades: &[u8]) -> tempfile::NamedTempFile {
        let mut writer = ClipWriter::new(ClipSpec::new(320, 180, FrameRate::new(24, 1).unwrap())).unwrap();
        for shade in shades {
            writer
                .push_frame(&RgbImage::from_pixels(320, 180, vec![*shade; 320 * 180 * 3]).unwrap())
                .unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), writer.finish().unwrap()).unwrap();
        file
    }

    #[test]
    fn poster_is_a_small_jpeg_of_a_visible_frame() {
        let shade = |shades: &[u8], side: u32| {
            let continues = shades.len() > 2 && shades[1] == 200;
            let jpeg = poster(clip(shades).path(), side, continues, &Ffmpeg::default()).unwrap();
            let image = decode_image(&jpeg).unwrap();
            (image.width(), image.height(), image.pixel(9, 9)[0].abs_diff(200) < 6)
        };
        assert_eq!(shade(&[200, 100, 50], 160), (160, 90, true));
        assert_eq!(shade(&[0, 100, 200], 160), (160, 90, true));
        assert_eq!(shade(&[100, 200, 50], 160), (160, 90, true));
        assert_eq!(shade(&[200, 200], 4_000), (320, 180, true));
    }
}
