//! Decoding of PNG, JPEG and WebP. The size is read from the header and bounded before a pixel is decoded.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, metadata::Orientation};

use crate::catch_panic::catch_panic;
use crate::{MediaError, MediaType, RgbImage};

/// The largest encoded image that [`decode_image`] accepts, in bytes (64 MiB).
pub const MAX_IMAGE_BYTES: usize = 64 << 20;
/// The largest image that [`decode_image`] accepts, in pixels (64 Mpx).
pub const MAX_IMAGE_PIXELS: u64 = 64 << 20;
/// The most memory that the pixels of one image may take as they are stored, in bytes: 64 Mpx of 8-bit RGBA, 32 Mpx of 16-bit RGBA.
const MAX_DECODED_BYTES: u64 = MAX_IMAGE_PIXELS * 4;

/// The most memory that a progressive JPEG may take, in bytes (400 MiB): its coefficients, of two bytes each, and its pixels.
const MAX_PROGRESSIVE_BYTES: u64 = 400 << 20;

/// An image whose header was read and bounded.
struct ImageHeader<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    orientation: Orientation,
    name: &'static str,
}

/// The size of a PNG, JPEG or WebP image as it is presented, from its header alone: nothing else is decoded.
///
/// # Errors
/// As [`decode_image`], as far as the header shows it.
pub fn image_size(bytes: &[u8]) -> Result<(u32, u32), MediaError> {
    ImageHeader::read(bytes).map(|header| header.size())
}

/// Decodes an image and drops it: whether it is whole, without the memory for its conversion. Returns its size.
pub(crate) fn check_image(bytes: &[u8]) -> Result<(u32, u32), MediaError> {
    let header = ImageHeader::read(bytes)?;
    let size = header.size();
    check_end(bytes)?;
    let mut pixels = vec![0; usize::try_from(header.decoder.total_bytes()).unwrap_or(usize::MAX)];
    let ImageHeader { decoder, name, .. } = header;
    catch_panic(|| decoder.read_image_boxed(&mut pixels))?.map_err(|error| damaged(name, error))?;
    Ok(size)
}

/// How long an image of this many pixels takes to decode, in pixels of a PNG or a baseline JPEG. Measured: 14 ns for a pixel of a WebP against 3 to 4;
/// for a progressive JPEG another 0.1 ns for each scan, and 140 ns for each byte.
pub(crate) fn decoding_work(bytes: &[u8], pixels: u64) -> u64 {
    const WEBP: u64 = 5;
    const SCANS_OF_A_PIXEL: u64 = 24;
    const PROGRESSIVE_BYTE: u64 = 48;
    match MediaType::sniff(bytes) {
        Some(MediaType::WebP) => pixels.saturating_mul(WEBP),
        Some(MediaType::Jpeg) if progressive_components(bytes).is_some() => {
            // In the data of a scan, 0xff is never followed by the byte of another marker.
            let scans = bytes.windows(2).filter(|pair| *pair == [0xff, 0xda]).count() as u64;
            let of_scans = pixels.saturating_mul(scans) / SCANS_OF_A_PIXEL;
            pixels.saturating_add(of_scans).saturating_add(bytes.len() as u64 * PROGRESSIVE_BYTE)
        }
        _ => pixels,
    }
}

/// Decodes a PNG, JPEG or WebP image, composited over black; applies the EXIF orientation.
///
/// # Errors
/// [`MediaError::TooLarge`] above [`MAX_IMAGE_BYTES`], [`MAX_IMAGE_PIXELS`] or 256 MiB of pixels, [`MediaError::NotMedia`] for any other
/// format, [`MediaError::Damaged`] when decoding fails or the file ends early.
pub fn decode_image(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    let ImageHeader { decoder, orientation, name } = ImageHeader::read(bytes)?;
    check_end(bytes)?;
    let decoded = catch_panic(|| DynamicImage::from_decoder(decoder))?;
    let mut image = decoded.map_err(|error| damaged(name, error))?;
    image.apply_orientation(orientation);
    let (width, height) = (image.width(), image.height());
    let pixels = if image.color().has_alpha() {
        let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
        for &image::Rgba([r, g, b, alpha]) in image.into_rgba8().pixels() {
            let over_black = |c: u8| ((u16::from(c) * u16::from(alpha) + 127) / 255) as u8;
            pixels.extend([over_black(r), over_black(g), over_black(b)]);
        }
        pixels
    } else {
        image.into_rgb8().into_raw()
    };
    RgbImage::from_pixels(width, height, pixels).ok_or_else(|| MediaError::damaged("the image has no pixels"))
}

/// The error for an encoded image above [`MAX_IMAGE_BYTES`].
pub(crate) fn too_many_bytes(length: u64) -> MediaError {
    MediaError::TooLarge {
        what: format!("an image of {} MiB", length >> 20),
        limit: format!("{} MiB", MAX_IMAGE_BYTES >> 20),
    }
}

impl<'a> ImageHeader<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, MediaError> {
        if bytes.len() > MAX_IMAGE_BYTES {
            return Err(too_many_bytes(bytes.len() as u64));
        }
        let (format, name) = image_format(bytes)
            .ok_or_else(|| MediaError::NotMedia("expected a PNG, JPEG or WebP image".to_owned()))?;
        // The header of a JPEG may itself be cut off.
        if format == ImageFormat::Jpeg {
            check_end(bytes)?;
        }
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = image::Limits::default();
        limits.max_alloc = Some(MAX_IMAGE_PIXELS * 8);
        reader.limits(limits);
        let decoder = catch_panic(|| reader.into_decoder())?.map_err(|error| damaged(name, error))?;
        let mut decoder: Box<dyn ImageDecoder + 'a> = Box::new(decoder);
        let (width, height) = decoder.dimensions();
        let too_large = |limit: String| {
            Err(MediaError::TooLarge { what: format!("an image of {width}x{height}"), limit })
        };
        if u64::from(width) * u64::from(height) > MAX_IMAGE_PIXELS {
            return too_large(format!("{} megapixels", MAX_IMAGE_PIXELS >> 20));
        }
        if decoder.total_bytes() > MAX_DECODED_BYTES {
            let megapixels = MAX_DECODED_BYTES / u64::from(decoder.color_type().bytes_per_pixel().max(1));
            return too_large(format!("{} megapixels of this color depth", megapixels >> 20));
        }
        // All scans of a progressive JPEG are collected before a pixel is made.
        if let Some(components) = progressive_components(bytes) {
            let per_pixel = 2 * u64::from(components) + u64::from(decoder.color_type().bytes_per_pixel());
            let max_pixels = MAX_PROGRESSIVE_BYTES / per_pixel;
            if u64::from(width) * u64::from(height) > max_pixels {
                return too_large(format!("{} megapixels of a progressive JPEG", max_pixels >> 20));
            }
        }
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        Ok(Self { decoder, orientation, name })
    }

    fn size(&self) -> (u32, u32) {
        let (width, height) = self.decoder.dimensions();
        let swaps = matches!(
            self.orientation,
            Orientation::Rotate90
                | Orientation::Rotate270
                | Orientation::Rotate90FlipH
                | Orientation::Rotate270FlipH
        );
        if swaps { (height, width) } else { (width, height) }
    }
}

/// The decoder's own reason names its internals; only that something is not supported helps.
fn damaged(name: &str, error: image::ImageError) -> MediaError {
    let reason = match error {
        image::ImageError::Unsupported(error) => format!(": {error}"),
        _ => String::new(),
    };
    MediaError::Damaged(format!("the {name} image cannot be decoded{reason}"))
}

/// Refuses a file that ends before its format says: decoders fill up what is missing, or do not read to the end.
fn check_end(bytes: &[u8]) -> Result<(), MediaError> {
    let (is_complete, reason) = match MediaType::sniff(bytes) {
        Some(MediaType::Jpeg) => (is_complete_jpeg(bytes), "the JPEG image ends before its end marker"),
        Some(MediaType::Png) => (is_complete_png(bytes), "the PNG image ends before its last chunk (IEND)"),
        Some(MediaType::WebP) => (is_complete_webp(bytes), "the WebP image is shorter than its header says"),
        _ => return Ok(()),
    };
    if is_complete { Ok(()) } else { Err(MediaError::damaged(reason)) }
}

/// Whether the markers lead to the end marker (ITU-T T.81, annex B). The decoder fills up truncated scans without an error.
fn is_complete_jpeg(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        let Some(index) = rest.windows(2).position(is_marker) else { return false };
        let (marker, segment) = (rest[index + 1], &rest[index + 2..]);
        if marker == 0xd9 {
            return true;
        }
        let Some(&[high, low]) = segment.first_chunk() else { return false };
        // The length counts itself.
        let length = usize::from(u16::from_be_bytes([high, low])).max(2);
        let Some(after) = segment.get(length..) else { return false };
        rest = after;
    }
}

/// The number of components of a progressive JPEG; `None` for any other image (ITU-T T.81, B.2.2).
fn progressive_components(bytes: &[u8]) -> Option<u8> {
    let mut rest = bytes.strip_prefix(&[0xff, 0xd8])?;
    loop {
        let index = rest.windows(2).position(is_marker)?;
        let (marker, segment) = (rest[index + 1], &rest[index + 2..]);
        match marker {
            0xc2 | 0xc6 | 0xca | 0xce => return segment.get(7).copied(),
            // The frame header of another process, or the first scan.
            0xc0 | 0xc1 | 0xc3 | 0xc5 | 0xc7 | 0xc9 | 0xcb | 0xcd | 0xcf | 0xda => return None,
            _ => {}
        }
        let length = segment.first_chunk().map(|length| usize::from(u16::from_be_bytes(*length)))?;
        rest = segment.get(length..)?;
    }
}

/// Whether two bytes are a marker: in a scan, 0xff is followed by 0 or by a restart marker; before a marker it may be repeated.
fn is_marker(pair: &[u8]) -> bool {
    pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7)
}

/// Whether the chunks lead to the last one (W3C PNG, 5.3).
fn is_complete_png(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        // A checksum follows the data.
        let Some(next) = length.checked_add(4).and_then(|length| after.get(length..)) else { return false };
        if head[4..] == *b"IEND" {
            return true;
        }
        rest = next;
    }
    false
}

/// Whether the file is as long as its RIFF header says.
fn is_complete_webp(bytes: &[u8]) -> bool {
    let size = bytes.get(4..8).and_then(|size| size.first_chunk()).map(|size| u32::from_le_bytes(*size));
    size.is_some_and(|size| u64::from(size) + 8 <= bytes.len() as u64)
}

/// The format and its name in messages.
fn image_format(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    match MediaType::sniff(bytes)? {
        MediaType::Png => Some((ImageFormat::Png, "PNG")),
        MediaType::Jpeg => Some((ImageFormat::Jpeg, "JPEG")),
        MediaType::WebP => Some((ImageFormat::WebP, "WebP")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use image::ImageEncoder as _;

    use super::*;
    use crate::encode_png;

    fn gradient(width: u32, height: u32) -> RgbImage {
        let mut image = RgbImage::new(width, height);
        for (i, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            pixel.copy_from_slice(&[i as u8, (i / 7) as u8, 200]);
        }
        image
    }

    #[test]
    fn decode_image_unknown_format_and_damaged_differ() {
        assert!(matches!(decode_image(b"GIF89a..."), Err(MediaError::NotMedia(_))));
        assert!(matches!(decode_image(b""), Err(MediaError::NotMedia(_))));
        let mut bytes = encode_png(&gradient(16, 16));
        bytes.truncate(60);
        assert!(matches!(decode_image(&bytes), Err(MediaError::Damaged(_))));
    }

    #[test]
    fn decode_image_header_with_huge_dimensions_is_refused() {
        let mut bytes = encode_png(&gradient(16, 16));
        bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(decode_image(&bytes).is_err());
    }

    #[test]
    fn truncated_image_of_any_length_is_damaged() {
        let image = gradient(64, 48);
        let (mut jpeg, mut webp) = (Vec::new(), Vec::new());
        let color = image::ExtendedColorType::Rgb8;
        image::codecs::jpeg::JpegEncoder::new(&mut jpeg).write_image(image.pixels(), 64, 48, color).unwrap();
        let encoder = image::codecs::webp::WebPEncoder::new_lossless(&mut webp);
        encoder.write_image(image.pixels(), 64, 48, color).unwrap();
        for encoded in [encode_png(&image), jpeg, webp] {
            assert_eq!(check_image(&encoded).unwrap(), (64, 48));
            assert_eq!(image_size(&encoded).unwrap(), (64, 48));
            for length in (12..encoded.len()).step_by(7).chain([encoded.len() - 1]) {
                let error = check_image(&encoded[..length]).unwrap_err();
                assert!(matches!(error, MediaError::Damaged(_)), "{length} of {}: {error}", encoded.len());
                assert!(decode_image(&encoded[..length]).is_err(), "{length} of {}", encoded.len());
            }
        }
    }

    #[test]
    fn progressive_jpegs_are_bounded_with_their_coefficients() {
        let image = gradient(64, 48);
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new(&mut jpeg);
        encoder.write_image(image.pixels(), 64, 48, image::ExtendedColorType::Rgb8).unwrap();
        let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        let mut of_size = |marker: u8, width: u16, height: u16| {
            jpeg[frame + 1] = marker;
            jpeg[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
            jpeg[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
            image_size(&jpeg).map_err(|error| error.to_string())
        };
        assert_eq!(of_size(0xc0, 8192, 7424), Ok((8192, 7424)));
        assert_eq!(of_size(0xc2, 8192, 5464), Ok((8192, 5464)));
        assert_eq!(
            of_size(0xc2, 8192, 7424).unwrap_err(),
            "an image of 8192x7424 is too large: the limit is 44 megapixels of a progressive JPEG"
        );
    }

    #[test]
    fn decoding_work_is_more_for_slow_formats() {
        let scan = [0xff, 0xda, 0, 2, 0x5a, 0xff, 0, 0xda, 0xff, 0xd0];
        let jpeg = |process: u8, scans: usize| {
            [&[0xff, 0xd8, 0xff, process, 0, 17, 8, 0, 16, 0, 16, 3][..], &[0; 9], &scan.repeat(scans)]
                .concat()
        };
        assert_eq!(decoding_work(&jpeg(0xc0, 1), 1_000_000), 1_000_000);
        let of_bytes = |scans| 48 * jpeg(0xc2, scans).len() as u64;
        assert_eq!(decoding_work(&jpeg(0xc2, 96), 1_000_000), 5_000_000 + of_bytes(96));
        assert_eq!(decoding_work(b"RIFF\0\0\0\0WEBPVP8 ", 1_000_000), 5_000_000);
        assert_eq!(decoding_work(b"\x89PNG\r\n\x1a\n", 7), 7);
    }
}
