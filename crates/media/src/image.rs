//! Still images: [`RgbImage`], scaling, and encoding of PNG.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use image::ImageEncoder;

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
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: vec![0; width as usize * height as usize * 3] }
    }

    /// An image from its bytes; `None` unless there are exactly `width * height * 3` of them and no side is zero.
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let expected = u64::from(width) * u64::from(height) * 3;
        (expected > 0 && pixels.len() as u64 == expected).then_some(Self { width, height, pixels })
    }

    /// Columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All bytes: `r, g, b` of each pixel, row after row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// All bytes, to draw into.
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// One row of `width * 3` bytes. Panics when `y` is not below the height, as indexing does.
    pub fn row(&self, y: u32) -> &[u8] {
        let stride = self.width as usize * 3;
        &self.pixels[y as usize * stride..][..stride]
    }

    /// The pixel at `(x, y)`. Panics outside the image, as indexing does.
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

    /// The image scaled to another size, filtered (Catmull-Rom), with the same result on every processor. The aspect ratio is the caller's business.
    pub(crate) fn resized(&self, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let mut resized = Self::new(width, height);
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom)).use_alpha(false);
        let from = TypedImageRef::<U8x3>::from_buffer(self.width, self.height, &self.pixels);
        let to = TypedImage::<U8x3>::from_buffer(width, height, &mut resized.pixels);
        if let (Ok(from), Ok(mut to)) = (from, to) {
            let result = Resizer::new().resize_typed(&from, &mut to, &options);
            // Errors are of regions outside of the image, and the region is the whole image.
            debug_assert!(result.is_ok(), "{result:?}");
        }
        resized
    }

    /// The image, made smaller if a side has more than `side` pixels.
    pub fn within(self, side: u32) -> Self {
        if self.width.max(self.height) <= side {
            return self;
        }
        let (width, height) = self.size_inside((side, side));
        self.resized(width, height)
    }

    /// The largest size with the image's aspect ratio that fits into another one.
    pub(crate) fn size_inside(&self, outer: (u32, u32)) -> (u32, u32) {
        fit_inside((self.width, self.height), outer)
    }

    /// The image scaled to another size with its aspect ratio preserved, on black bars.
    pub(crate) fn letterboxed(&self, width: u32, height: u32) -> Self {
        let (inner_width, inner_height) = self.size_inside((width, height));
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

/// Encodes an image as PNG. Deterministic.
///
/// # Panics
/// Never: an [`RgbImage`] holds exactly the bytes that its size asks for.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode_image;

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
    fn large_images_are_made_smaller() {
        let wide = gradient(90, 30);
        assert_eq!(wide.clone().within(90), wide);
        let small = wide.within(45);
        assert_eq!((small.width(), small.height()), (45, 15));
    }

    #[test]
    fn letterbox_keeps_the_aspect_ratio() {
        let boxed = gradient(40, 40).letterboxed(80, 40);
        assert_eq!((boxed.width(), boxed.height()), (80, 40));
        assert_eq!(boxed.pixel(0, 20), [0, 0, 0], "a bar on the left");
        assert_eq!(boxed.pixel(79, 20), [0, 0, 0], "a bar on the right");
        assert_eq!(boxed.pixel(40, 20)[2], 200, "the image in the middle");
        assert_eq!(fit_inside((854, 480), (852, 480)), (852, 480));
        assert_eq!(fit_inside((1920, 1080), (1280, 720)), (1280, 720));
    }
}
