//! The watermark (spec 2.2 `watermark`): the letters "AI" from a bitmap.

use media::RgbImage;

const LETTERS: [&[u8; 9]; 7] =
    [b"..##...##", b".#..#..##", b"#....#.##", b"#....#.##", b"######.##", b"#....#.##", b"#....#.##"];

/// Draws the watermark in the lower right corner, with a height of about a thirtieth of the short side.
pub(crate) fn stamp(image: &mut RgbImage) {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let cell = (width.min(height) / 200).max(1);
    let margin = cell * 6;
    let (columns, rows) = (LETTERS[0].len() * cell, LETTERS.len() * cell);
    if width < columns + margin * 2 || height < rows + margin * 2 {
        return;
    }
    let (left, top) = (width - margin - columns, height - margin - rows);
    for y in 0..rows {
        for x in 0..columns {
            let set = |px: usize, py: usize| LETTERS[py / cell][px / cell] == b'#';
            let shadow = x >= cell && y >= cell && set(x - cell, y - cell);
            let (target, share) = match (set(x, y), shadow) {
                (true, _) => (245_u32, 150_u32),
                (false, true) => (0, 60),
                (false, false) => continue,
            };
            let offset = ((top + y) * width + left + x) * 3;
            for value in &mut image.pixels_mut()[offset..offset + 3] {
                *value = ((u32::from(*value) * (256 - share) + target * share) >> 8) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watermark_stays_in_its_corner() {
        let mut image = RgbImage::new(320, 180);
        stamp(&mut image);
        let lit: Vec<usize> =
            image.pixels().chunks_exact(3).enumerate().filter(|(_, p)| p[0] > 0).map(|(i, _)| i).collect();
        assert!(!lit.is_empty());
        assert!(lit.iter().all(|i| i % 320 > 280 && i / 320 > 150));
    }

    #[test]
    fn tiny_image_gets_no_watermark() {
        let mut image = RgbImage::new(16, 16);
        stamp(&mut image);
        assert!(image.pixels().iter().all(|v| *v == 0));
    }
}
