//! How the stored frames of a track are presented: turned upright by the display matrix, with square pixels.

use crate::RgbImage;
use crate::frame_size::MAX_SIDE;
use crate::h264::DecoderConfig;
use crate::mp4::Track;
use crate::turn::Turn;

/// Pixels whose sides differ by less than this share are taken for square: encoders write such ratios to reach an exact 16:9, and the
/// difference is at most a few columns.
const SQUARE_TOLERANCE: f64 = 0.005;
/// Maximum accepted pixel aspect ratio.
const MAX_PIXEL_ASPECT: f64 = 8.0;

/// Presentation of a track's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Presentation {
    /// `None` where the matrix asks for more than quarter turns and mirroring.
    turn: Option<Turn>,
    /// Width and height of a pixel, in any unit.
    pixel: (u32, u32),
}

impl Presentation {
    /// Of a video track: its own pixel aspect ratio (`pasp`), else that of its H.264 stream.
    pub(crate) fn from_track(track: &Track) -> Self {
        let pasp = track.configuration(*b"pasp").and_then(|pasp| {
            let (width, height) = (pasp.first_chunk()?, pasp.get(4..)?.first_chunk()?);
            Some((u32::from_be_bytes(*width), u32::from_be_bytes(*height)))
        });
        let of_stream = || {
            let config = DecoderConfig::parse(track.configuration(*b"avcC")?).ok()?;
            config.sps.pixel_aspect
        };
        let is_stated = |pixel: &(u32, u32)| pixel.0 > 0 && pixel.1 > 0;
        Self {
            turn: track.turn,
            pixel: pasp.filter(is_stated).or_else(|| of_stream().filter(is_stated)).unwrap_or((1, 1)),
        }
    }

    /// From what ffprobe says: degrees in any direction, since only the size depends on them, and the shape of a pixel.
    pub(crate) fn from_rotation(degrees: f64, pixel: Option<(u32, u32)>) -> Self {
        let is_sideways = (degrees.rem_euclid(180.0) - 90.0).abs() < 1.0;
        let turn = if is_sideways { Turn::QUARTER } else { Turn::NONE };
        Self { turn: Some(turn), pixel: pixel.unwrap_or((1, 1)) }
    }

    /// Whether the stored frames are presented as they are.
    pub(crate) fn is_plain(self) -> bool {
        self.turn == Some(Turn::NONE) && self.stretch().is_none()
    }

    /// Whether the frames can be turned here.
    pub(crate) fn is_supported(self) -> bool {
        self.turn.is_some()
    }

    /// The size of presented frames. No side is shorter than it is stored, unless the other one would be too long.
    pub(crate) fn size(self, (width, height): (u32, u32)) -> (u32, u32) {
        let (mut presented_width, mut presented_height) = (f64::from(width), f64::from(height));
        if let Some(ratio) = self.stretch() {
            if ratio > 1.0 {
                presented_width *= ratio;
            } else {
                presented_height /= ratio;
            }
            let excess = (presented_width.max(presented_height) / f64::from(MAX_SIDE)).max(1.0);
            (presented_width, presented_height) = (presented_width / excess, presented_height / excess);
        }
        let rounded = |side: f64| (side.round() as u32).max(1);
        let (width, height) = (rounded(presented_width), rounded(presented_height));
        if self.turn.is_some_and(Turn::swaps_sides) { (height, width) } else { (width, height) }
    }

    /// A stored frame as it is presented.
    pub(crate) fn apply(self, image: RgbImage) -> RgbImage {
        let (width, height) = self.size((image.width(), image.height()));
        let turned = self.turn.unwrap_or(Turn::NONE).apply(image);
        if (turned.width(), turned.height()) == (width, height) {
            return turned;
        }
        turned.resized(width, height)
    }

    /// The width of a pixel relative to its height; `None` where it is square or cannot be.
    fn stretch(self) -> Option<f64> {
        let ratio = f64::from(self.pixel.0) / f64::from(self.pixel.1.max(1));
        let is_possible = (1.0 / MAX_PIXEL_ASPECT..=MAX_PIXEL_ASPECT).contains(&ratio);
        (is_possible && (ratio - 1.0).abs() >= SQUARE_TOLERANCE).then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: i32 = 0x1_0000;
    const IDENTITY: [i32; 9] = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x4000_0000];

    /// Turned clockwise by quarter turns.
    fn clockwise(quarters: u32) -> [i32; 9] {
        let (cos, sin) = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters as usize];
        [cos * ONE, sin * ONE, 0, -sin * ONE, cos * ONE, 0, 0, 0, 0x4000_0000]
    }

    fn turned(matrix: &[i32; 9]) -> Vec<u8> {
        // 1 2 3
        // 4 5 6
        let image = RgbImage::from_pixels(3, 2, (1..=6).flat_map(|value| [value; 3]).collect()).unwrap();
        let image = Turn::from_matrices(matrix, &IDENTITY).unwrap().apply(image);
        image.pixels().iter().step_by(3).copied().collect()
    }

    #[test]
    fn frames_are_turned_by_the_matrix() {
        assert_eq!(turned(&clockwise(0)), [1, 2, 3, 4, 5, 6]);
        assert_eq!(turned(&clockwise(1)), [4, 1, 5, 2, 6, 3]);
        assert_eq!(turned(&clockwise(2)), [6, 5, 4, 3, 2, 1]);
        assert_eq!(turned(&clockwise(3)), [3, 6, 2, 5, 1, 4]);
        let mirrored = [-ONE, 0, 0, 0, ONE, 0, 0, 0, 0x4000_0000];
        assert_eq!(turned(&mirrored), [3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn matrices_of_track_and_movie_are_combined() {
        assert_eq!(Turn::from_matrices(&clockwise(1), &clockwise(3)), Some(Turn::NONE));
        let half = Turn::from_matrices(&clockwise(2), &IDENTITY);
        assert_eq!(Turn::from_matrices(&clockwise(1), &clockwise(1)), half);
        assert_eq!(Turn::from_matrices(&[0; 9], &IDENTITY), Some(Turn::NONE));
        let double = [2 * ONE, 0, 0, 0, 2 * ONE, 0, 0, 0, 0x4000_0000];
        assert_eq!(Turn::from_matrices(&double, &IDENTITY), Some(Turn::NONE));
        let tilted = [46_341, 46_341, 0, -46_341, 46_341, 0, 0, 0, 0x4000_0000];
        assert_eq!(Turn::from_matrices(&tilted, &IDENTITY), None);
        assert_eq!(Turn::from_matrices(&[i32::MIN; 9], &[i32::MAX; 9]), None);
    }

    #[test]
    fn pixels_are_made_square_without_a_loss() {
        let size = |pixel, size| Presentation { turn: Some(Turn::NONE), pixel }.size(size);
        assert_eq!(size((4, 3), (640, 480)), (853, 480));
        assert_eq!(size((3, 4), (640, 480)), (640, 640));
        assert_eq!(size((1, 1), (640, 480)), (640, 480));
        // 854x480 as exact 16:9.
        assert_eq!(size((1280, 1281), (854, 480)), (854, 480));
        assert_eq!(size((1, 1_000), (640, 480)), (640, 480));
        assert_eq!(size((0, 0), (640, 480)), (640, 480));
        assert_eq!(size((8, 1), (4096, 480)), (8192, 120));
        let quarter = Turn::from_matrices(&clockwise(1), &IDENTITY);
        assert_eq!(Presentation { turn: quarter, pixel: (4, 3) }.size((640, 480)), (480, 853));
    }
}
