//! How an image fills a film of another shape.

use crate::RgbImage;

/// How images are brought to a film's size where their shape is another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The whole image between black bars.
    #[default]
    Letterbox,
    /// The image fills the frame; what is beyond it is cut off on both sides.
    Crop,
    /// The whole image over itself, enlarged, blurred and darkened.
    Blur,
}

/// How much smaller the image is that is enlarged again for a blurred background.
const BLUR_STEP: u32 = 24;
/// The brightness of a blurred background, in 256ths.
pub(crate) const BLUR_BRIGHTNESS: u16 = 140;

impl RgbImage {
    /// The image in another size, with its aspect ratio preserved.
    pub(crate) fn fitted(&self, fit: Fit, (width, height): (u32, u32)) -> Self {
        match fit {
            Fit::Letterbox => self.letterboxed(width, height),
            Fit::Crop => self.cropped(width, height),
            Fit::Blur => {
                let (inner_width, inner_height) = self.size_inside((width, height));
                let inner = self.resized(inner_width, inner_height);
                if (inner_width, inner_height) == (width, height) {
                    return inner;
                }
                let mut framed = self.blurred(width, height);
                // Even offsets keep the image's edge on the chroma grid.
                let offset = |outer: u32, inner: u32| ((outer - inner) / 2) & !1;
                framed.paint((offset(width, inner_width), offset(height, inner_height)), &inner);
                framed
            }
        }
    }

    /// The middle of the image, as much of it as has the shape of this size.
    fn cropped(&self, width: u32, height: u32) -> Self {
        let (own, target) = ((self.width(), self.height()), (width.max(1), height.max(1)));
        let wide = u64::from(own.0) * u64::from(target.1);
        let high = u64::from(own.1) * u64::from(target.0);
        let part = |side: u32, shared_side: u64, full_side: u64| {
            let length = (u64::from(side) * shared_side).div_ceil(full_side.max(1));
            u32::try_from(length).unwrap_or(side).clamp(1, side)
        };
        let size =
            if wide > high { (part(own.0, high, wide), own.1) } else { (own.0, part(own.1, wide, high)) };
        if size == own {
            return self.resized(width, height);
        }
        let (left, top) = ((own.0 - size.0) / 2, (own.1 - size.1) / 2);
        let columns = left as usize * 3..(left + size.0) as usize * 3;
        let rows = (top..top + size.1).flat_map(|y| &self.row(y)[columns.clone()]);
        Self::from_pixels(size.0, size.1, rows.copied().collect())
            .unwrap_or_else(|| self.clone())
            .resized(width, height)
    }

    fn blurred(&self, width: u32, height: u32) -> Self {
        let small = self.cropped(width.div_ceil(BLUR_STEP).max(2), height.div_ceil(BLUR_STEP).max(2));
        let mut large = small.softened().resized(width, height);
        for value in large.pixels_mut() {
            *value = (u16::from(*value) * BLUR_BRIGHTNESS / 256) as u8;
        }
        large
    }

    /// Each pixel as the mean of its neighbourhood of 3 by 3.
    fn softened(&self) -> Self {
        let mut soft = self.clone();
        let (width, height) = (self.width(), self.height());
        let around = |coordinate: u32, end: u32| coordinate.saturating_sub(1)..=(coordinate + 1).min(end - 1);
        for y in 0..height {
            for x in 0..width {
                let mut sums = [0_u16; 3];
                let mut count = 0;
                for (x, y) in around(y, height).flat_map(|y| around(x, width).map(move |x| (x, y))) {
                    sums.iter_mut().zip(self.pixel(x, y)).for_each(|(sum, value)| *sum += u16::from(value));
                    count += 1;
                }
                let offset = (y as usize * width as usize + x as usize) * 3;
                soft.pixels_mut()[offset..offset + 3].copy_from_slice(&sums.map(|sum| (sum / count) as u8));
            }
        }
        soft
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red on the left, green in the middle, blue on the right.
    fn flag() -> RgbImage {
        let row = [[200, 0, 0]; 10].into_iter().chain([[0, 200, 0]; 40]).chain([[0, 0, 200]; 10]);
        let row: Vec<u8> = row.flatten().collect();
        RgbImage::from_pixels(60, 30, row.repeat(30)).unwrap()
    }

    #[test]
    fn crop_fills_the_frame_with_the_middle() {
        let cropped = flag().fitted(Fit::Crop, (40, 40));
        assert_eq!((cropped.width(), cropped.height()), (40, 40));
        for x in [0, 20, 39] {
            assert_eq!(cropped.pixel(x, 20), [0, 200, 0], "column {x}");
        }
        let tall = flag().fitted(Fit::Crop, (120, 20));
        assert_eq!((tall.pixel(2, 10), tall.pixel(117, 10)), ([200, 0, 0], [0, 0, 200]));
    }

    #[test]
    fn blur_shows_all_of_the_image_over_a_dark_background() {
        let framed = flag().fitted(Fit::Blur, (60, 60));
        assert_eq!((framed.pixel(2, 30), framed.pixel(30, 30)), ([200, 0, 0], [0, 200, 0]));
        let [red, green, blue] = framed.pixel(30, 4);
        assert!((60..140).contains(&green) && red < 30 && blue < 30, "{red} {green} {blue}");
        assert_eq!(flag().fitted(Fit::Blur, (120, 60)), flag().resized(120, 60));
    }

    #[test]
    fn letterbox_is_black_beside_the_image() {
        assert_eq!(flag().fitted(Fit::Letterbox, (60, 60)).pixel(30, 4), [0, 0, 0]);
    }
}
