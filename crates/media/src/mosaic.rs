//! Images side by side, each over its label: contact sheets.

use crate::{MediaError, RgbImage};

/// Pixels between tiles and around them.
const GAP: u32 = 8;
/// Background, and what stands for an image that does not exist.
const BACKGROUND: [u8; 3] = [16, 18, 22];
const NO_IMAGE: [u8; 3] = [38, 42, 50];

/// Tiles in rows, all of one size, on a dark background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mosaic {
    count: u32,
    columns: u32,
    tile: (u32, u32),
    label_height: u32,
}

impl Mosaic {
    /// A layout of `count` tiles with images of `tile` pixels (width, height) over labels of the same width and of `label_height` pixels. Sides
    /// are made even.
    pub fn new(count: usize, columns: usize, tile: (u32, u32), label_height: u32) -> Self {
        let even = |side: u32| side.max(2) & !1;
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        Self {
            count,
            columns: u32::try_from(columns).unwrap_or(u32::MAX).clamp(1, count),
            tile: (even(tile.0), even(tile.1)),
            label_height: label_height & !1,
        }
    }

    /// Width and height of a tile's image.
    pub fn tile(&self) -> (u32, u32) {
        self.tile
    }

    /// Width and height of a tile's label.
    pub fn label(&self) -> (u32, u32) {
        (self.tile.0, self.label_height)
    }

    /// Width and height of the whole image, both even.
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.pitch();
        let rows = self.count.div_ceil(self.columns);
        (
            self.columns.saturating_mul(width).saturating_add(GAP),
            rows.saturating_mul(height).saturating_add(GAP),
        )
    }

    /// From one tile to the next.
    fn pitch(&self) -> (u32, u32) {
        (self.tile.0.saturating_add(GAP), self.tile.1.saturating_add(self.label_height).saturating_add(GAP))
    }

    /// Left and upper edge of a tile's image.
    fn image_at(&self, index: usize) -> (u32, u32) {
        let index = index as u32;
        let (width, height) = self.pitch();
        (GAP + index % self.columns * width, GAP + index / self.columns * height)
    }

    /// Left and upper edge of a tile's label.
    fn label_at(&self, index: usize) -> (u32, u32) {
        let (x, y) = self.image_at(index);
        (x, y + self.tile.1)
    }

    /// The background with labels, and an empty tile for each image.
    fn background<'a>(&self, labels: impl Iterator<Item = &'a RgbImage>) -> Result<RgbImage, MediaError> {
        let (width, height) = self.size();
        if u64::from(width) * u64::from(height) > crate::MAX_IMAGE_PIXELS {
            return Err(MediaError::TooLarge {
                what: format!("an image of {width}x{height}"),
                limit: format!("{} megapixels", crate::MAX_IMAGE_PIXELS >> 20),
            });
        }
        let mut canvas = filled(width, height, BACKGROUND);
        let empty = filled(self.tile.0, self.tile.1, NO_IMAGE);
        for (index, label) in labels.enumerate().take(self.count as usize) {
            canvas.paint(self.image_at(index), &empty);
            canvas.paint(self.label_at(index), label);
        }
        Ok(canvas)
    }
}

fn filled(width: u32, height: u32, color: [u8; 3]) -> RgbImage {
    let mut image = RgbImage::new(width, height);
    for pixel in image.pixels_mut().chunks_exact_mut(3) {
        pixel.copy_from_slice(&color);
    }
    image
}

/// An image of a contact sheet.
#[derive(Clone, Debug)]
pub struct SheetTile {
    /// The image, of any size; `None` if it does not exist.
    pub image: Option<RgbImage>,
    /// Its label, of the size of [`Mosaic::label`].
    pub label: RgbImage,
}

/// Images side by side, scaled to the size of the tiles without changing their shape.
///
/// # Errors
/// [`MediaError::TooLarge`] for more pixels than [`crate::MAX_IMAGE_PIXELS`].
pub fn contact_sheet(mosaic: &Mosaic, tiles: &[SheetTile]) -> Result<RgbImage, MediaError> {
    let mut canvas = mosaic.background(tiles.iter().map(|tile| &tile.label))?;
    let (width, height) = mosaic.tile();
    for (index, tile) in tiles.iter().enumerate().take(mosaic.count as usize) {
        if let Some(image) = &tile.image {
            canvas.paint(mosaic.image_at(index), &image.letterboxed(width, height));
        }
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_lie_in_rows_with_their_labels() {
        let mosaic = Mosaic::new(5, 3, (101, 61), 21);
        assert_eq!((mosaic.tile(), mosaic.label(), mosaic.size()), ((100, 60), (100, 20), (332, 184)));
        let image = filled(50, 30, [200, 10, 10]);
        let label = filled(100, 20, [0, 200, 0]);
        let tile = |image: Option<&RgbImage>| SheetTile { image: image.cloned(), label: label.clone() };
        let tiles = [Some(&image), None, Some(&image), None, Some(&image)].map(tile);
        let sheet = contact_sheet(&mosaic, &tiles).unwrap();
        assert_eq!((sheet.width(), sheet.height()), (332, 184));
        let expected = [[200, 10, 10], NO_IMAGE];
        for (index, (x, y)) in [(8, 8), (116, 8), (224, 8), (8, 96), (116, 96)].into_iter().enumerate() {
            assert_eq!(sheet.pixel(x + 50, y + 30), expected[index % 2], "{index}");
            assert_eq!(sheet.pixel(x + 99, y + 79), [0, 200, 0], "{index}");
            assert_eq!(sheet.pixel(x - 1, y - 1), BACKGROUND, "{index}");
        }
        assert_eq!(sheet.pixel(224 + 50, 96 + 30), BACKGROUND, "the last row is not full");
    }

    #[test]
    fn sheets_have_a_largest_size() {
        let mosaic = Mosaic::new(usize::MAX, usize::MAX, (u32::MAX, u32::MAX), u32::MAX);
        assert!(matches!(contact_sheet(&mosaic, &[]), Err(MediaError::TooLarge { .. })));
        assert_eq!(Mosaic::new(0, 0, (0, 0), 0).size(), (18, 18));
    }
}
