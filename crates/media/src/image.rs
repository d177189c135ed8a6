//! Still images: [`RgbImage`], and decoding and encoding of PNG, JPEG and WebP.

use std::io::Cursor;

use image::{ImageDecoder, ImageEncoder, ImageFormat, ImageReader};

use crate::{MediaError, MediaType};

/// The largest encoded image that [`decode_image`] accepts, in bytes (64 MiB).
pub const MAX_IMAGE_BYTES: usize = 64 << 20;
/// The largest image that [`decode_image`] accepts, in pixels (64 Mpx).
pub const MAX_IMAGE_PIXELS: u64 = 64 << 20;

/// An image: 8-bit RGB, rows from the top, no padding.
///
/// Invariant: there are exactly `width * height * 3` bytes, and neither side is zero.
#[derive(Clone, PartialEq, Eq)]
pub struct RgbImage {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl RgbImage {
    /// A black image. A side of 0 is taken as 1.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: vec![0; width as usize * height as usize * 3] }
    }

    /// An image from its bytes; `None` unless there are exactly `width * height * 3` of them and no side is zero.
    #[must_use]
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let expected = u64::from(width) * u64::from(height) * 3;
        (expected > 0 && pixels.len() as u64 == expected).then_some(Self { width, height, pixels })
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All bytes: `r, g, b` of each pixel, row after row.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// All bytes, to draw into.
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// One row of `width * 3` bytes. Panics when `y` is not below the height, as indexing does.
    #[must_use]
    pub fn row(&self, y: u32) -> &[u8] {
        let stride = self.width as usize * 3;
        &self.pixels[y as usize * stride..][..stride]
    }

    /// The pixel at `(x, y)`. Panics outside the image, as indexing does.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let row = self.row(y);
        let index = x as usize * 3;
        [row[index], row[index + 1], row[index + 2]]
    }

    /// Copies another image into this one with its upper left corner at `(x, y)`, as far as it is inside.
    pub(crate) fn paint(&mut self, (x, y): (u32, u32), image: &Self) {
        if x >= self.width {
            return;
        }
        let length = image.width.min(self.width - x) as usize * 3;
        let (stride, start) = (self.width as usize * 3, x as usize * 3);
        let rows = self.pixels.chunks_exact_mut(stride).skip(y as usize);
        for (row, from) in rows.zip(image.pixels.chunks_exact(image.width as usize * 3)) {
            row[start..start + length].copy_from_slice(&from[..length]);
        }
    }

    /// The image scaled to another size, filtered (Catmull-Rom). The aspect ratio is the caller's business.
    #[must_use]
    pub(crate) fn resized(&self, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let Some(view) = image::ImageBuffer::<image::Rgb<u8>, &[u8]>::from_raw(
            self.width,
            self.height,
            self.pixels.as_slice(),
        ) else {
            return Self::new(width, height);
        };
        let resized = image::imageops::resize(&view, width, height, image::imageops::FilterType::CatmullRom);
        Self { width, height, pixels: resized.into_raw() }
    }

    /// The image scaled to another size with its aspect ratio preserved, on black bars.
    #[must_use]
    pub(crate) fn letterboxed(&self, width: u32, height: u32) -> Self {
        let (inner_width, inner_height) = fit_inside((self.width, self.height), (width, height));
        let inner = self.resized(inner_width, inner_height);
        if (inner.width, inner.height) == (width, height) {
            return inner;
        }
        let mut framed = Self::new(width, height);
        // Even offsets keep the bar's edge on the chroma grid.
        let left = ((framed.width - inner.width) / 2) as usize & !1;
        let top = ((framed.height - inner.height) / 2) as usize & !1;
        let (inner_stride, stride) = (inner.width as usize * 3, framed.width as usize * 3);
        for (y, row) in inner.pixels.chunks_exact(inner_stride).enumerate() {
            framed.pixels[(top + y) * stride + left * 3..][..inner_stride].copy_from_slice(row);
        }
        framed
    }
}

impl std::fmt::Debug for RgbImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RgbImage({}x{})", self.width, self.height)
    }
}

/// The largest size with `inner`'s aspect ratio that fits into `outer`.
fn fit_inside(inner: (u32, u32), outer: (u32, u32)) -> (u32, u32) {
    let (iw, ih) = (u64::from(inner.0), u64::from(inner.1));
    let (ow, oh) = (u64::from(outer.0.max(1)), u64::from(outer.1.max(1)));
    let (width, height) =
        if iw * oh >= ih * ow { (ow, (ow * ih + iw / 2) / iw) } else { ((oh * iw + ih / 2) / ih, oh) };
    // A bar of one line on each side would not be visible.
    let snap = |side: u64, full: u64| if full - side.min(full) <= 2 { full } else { side.max(1) };
    (snap(width, ow) as u32, snap(height, oh) as u32)
}

/// Decodes a PNG, JPEG or WebP image, composited over black; applies the EXIF orientation.
///
/// # Errors
/// [`MediaError::TooLarge`] above [`MAX_IMAGE_BYTES`] or [`MAX_IMAGE_PIXELS`], [`MediaError::NotMedia`] for any other
/// format, [`MediaError::Damaged`] when decoding fails.
pub fn decode_image(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(MediaError::TooLarge {
            what: format!("an image of {} MiB", bytes.len() >> 20),
            limit: format!("{} MiB", MAX_IMAGE_BYTES >> 20),
        });
    }
    let (format, name) = image_format(bytes)
        .ok_or_else(|| MediaError::NotMedia("expected a PNG, JPEG or WebP image".to_owned()))?;
    if format == ImageFormat::Jpeg && !is_complete_jpeg(bytes) {
        return Err(MediaError::damaged("the JPEG image ends before its end marker"));
    }
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(MAX_IMAGE_PIXELS * 8);
    reader.limits(limits);
    // The decoder's own reason names its internals; only that something is not supported helps.
    let damaged = |error: image::ImageError| {
        let reason = match error {
            image::ImageError::Unsupported(error) => format!(": {error}"),
            _ => String::new(),
        };
        MediaError::Damaged(format!("the {name} image cannot be decoded{reason}"))
    };
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_IMAGE_PIXELS {
        return Err(MediaError::TooLarge {
            what: format!("an image of {width}x{height}"),
            limit: format!("{} megapixels", MAX_IMAGE_PIXELS >> 20),
        });
    }
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut picture = image::DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    let (width, height) = (picture.width(), picture.height());
    let pixels = if picture.color().has_alpha() {
        let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
        for &image::Rgba([r, g, b, alpha]) in picture.into_rgba8().pixels() {
            let over_black = |c: u8| ((u16::from(c) * u16::from(alpha) + 127) / 255) as u8;
            pixels.extend([over_black(r), over_black(g), over_black(b)]);
        }
        pixels
    } else {
        picture.into_rgb8().into_raw()
    };
    RgbImage::from_pixels(width, height, pixels).ok_or_else(|| MediaError::damaged("the image has no pixels"))
}

/// Encodes an image as PNG. Deterministic.
///
/// # Panics
/// Never: an [`RgbImage`] holds exactly the bytes that its size asks for.
#[must_use]
pub fn encode_png(image: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new_with_quality(
        &mut bytes,
        image::codecs::png::CompressionType::Fast,
        image::codecs::png::FilterType::Adaptive,
    );
    let written =
        encoder.write_image(image.pixels(), image.width(), image.height(), image::ExtendedColorType::Rgb8);
    debug_assert!(written.is_ok(), "a complete image always encodes");
    bytes
}

/// Whether the markers lead to the end marker (ITU-T T.81, annex B). The decoder fills up truncated scans without an error.
fn is_complete_jpeg(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        // In a scan, 0xff is followed by 0 or by a restart marker; before a marker it may be repeated.
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7);
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
    use super::*;

    fn gradient(width: u32, height: u32) -> RgbImage {
        let mut image = RgbImage::new(width, height);
        for (i, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            pixel.copy_from_slice(&[i as u8, (i / 7) as u8, 200]);
        }
        image
    }

    #[test]
    fn png_round_trip_is_lossless() {
        let image = gradient(37, 21);
        let bytes = encode_png(&image);
        assert_eq!(decode_image(&bytes).unwrap(), image);
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
    fn decode_image_truncated_jpeg_is_damaged() {
        let mut jpeg = Vec::new();
        let image = gradient(64, 48);
        let encoder = image::codecs::jpeg::JpegEncoder::new(&mut jpeg);
        encoder.write_image(image.pixels(), 64, 48, image::ExtendedColorType::Rgb8).unwrap();
        assert!(decode_image(&jpeg).is_ok());
        for length in [jpeg.len() - 2, jpeg.len() - 40, jpeg.len() / 2, 20] {
            assert!(matches!(decode_image(&jpeg[..length]), Err(MediaError::Damaged(_))), "{length}");
        }
    }

    #[test]
    fn decode_image_header_with_huge_dimensions_is_refused() {
        let mut bytes = encode_png(&gradient(16, 16));
        bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(decode_image(&bytes).is_err());
    }

    #[test]
    fn letterbox_keeps_the_aspect_ratio() {
        let boxed = gradient(40, 40).letterboxed(80, 40);
        assert_eq!((boxed.width(), boxed.height()), (80, 40));
        assert_eq!(boxed.pixel(0, 20), [0, 0, 0], "a bar on the left");
        assert_eq!(boxed.pixel(79, 20), [0, 0, 0], "a bar on the right");
        assert_eq!(boxed.pixel(40, 20)[2], 200, "the picture in the middle");
        assert_eq!(fit_inside((854, 480), (852, 480)), (852, 480));
        assert_eq!(fit_inside((1920, 1080), (1280, 720)), (1280, 720));
    }
}
