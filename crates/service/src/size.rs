//! Frame sizes in pixels from resolution and aspect ratio.
//!
//! The spec names resolutions and ratios but no sizes (spec 2.2, 2.4). Here a resolution stands for an *area*, that of
//! its 16:9 frame (480p: 854x480), and every ratio gets about as many pixels: a tier costs the same to render at any
//! aspect ratio, and a square 720p is 960x960, not 720x720. Sides are even, as 4:2:0 subsampling requires.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The size of a frame or an image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    /// Parses `<width>x<height>`; `None` for other text and for sides outside 1 to 16384.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const MAX_SIDE: u32 = 16_384;
        let (width, height) = text.split_once('x')?;
        let side = |text: &str| text.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
        Some(Self { width: side(width)?, height: side(height)? })
    }

    pub(crate) fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// An output resolution: the number of lines of its 16:9 frame (`720p` is 720).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Resolution(u32);

impl Resolution {
    pub(crate) const P480: Self = Self(480);
    pub(crate) const P720: Self = Self(720);
    pub(crate) const P1080: Self = Self(1080);

    /// Parses text such as `480p`, with 2 to 4320 lines.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_suffix('p')?.parse().ok()?;
        (2..=4320).contains(&lines).then_some(Self(lines))
    }

    /// The tier with the number of pixels nearest to that of a size, for requests that give only `size`.
    pub(crate) fn nearest(size: Size) -> Self {
        let distance = |tier: &Self| {
            let tier = tier.area().ln();
            (tier - (size.pixels() as f64).ln()).abs()
        };
        [Self::P480, Self::P720, Self::P1080]
            .into_iter()
            .min_by(|left, right| distance(left).total_cmp(&distance(right)))
            .unwrap_or(Self::P720)
    }

    fn area(self) -> f64 {
        let lines = f64::from(self.0);
        f64::from(even(lines * 16.0 / 9.0)) * lines
    }

    /// The size of a frame of this resolution and aspect ratio.
    pub(crate) fn size(self, ratio: Ratio) -> Size {
        let height = (self.area() / ratio.0).sqrt();
        Size { width: even(height * ratio.0), height: even(height) }
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}p", self.0)
    }
}

/// An aspect ratio: width over height, always between 9:21 and 21:9.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio(f64);

/// The ratios that the spec names, and 9:21.
const NAMED: [(f64, f64); 7] =
    [(21.0, 9.0), (16.0, 9.0), (4.0, 3.0), (1.0, 1.0), (3.0, 4.0), (9.0, 16.0), (9.0, 21.0)];

impl Ratio {
    pub(crate) const WIDE: Self = Self(16.0 / 9.0);

    /// Parses text such as `16:9`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (width, height) = text.split_once(':')?;
        let (width, height): (u32, u32) = (width.parse().ok()?, height.parse().ok()?);
        (width > 0 && height > 0).then(|| Self::bounded(f64::from(width) / f64::from(height)))
    }

    /// The named ratio nearest to a size.
    pub(crate) fn nearest_named(size: Size) -> Self {
        let exact = Self::exact(size).ln();
        let distance = |ratio: &f64| (ratio.ln() - exact).abs();
        let nearest = NAMED
            .iter()
            .map(|(width, height)| width / height)
            .min_by(|left, right| distance(left).total_cmp(&distance(right)));
        nearest.map_or(Self::WIDE, Self)
    }

    /// The ratio of an input image: the nearest named ratio if within 2 % (so that a frame of an 854x480 video gives
    /// 854x480 again), else its own.
    pub(crate) fn from_input(size: Size) -> Self {
        let named = Self::nearest_named(size);
        let own = Self::exact(size);
        if (own / named.0 - 1.0).abs() < 0.02 { named } else { Self::bounded(own) }
    }

    fn exact(size: Size) -> f64 {
        f64::from(size.width.max(1)) / f64::from(size.height.max(1))
    }

    fn bounded(ratio: f64) -> Self {
        Self(ratio.clamp(9.0 / 21.0, 21.0 / 9.0))
    }
}

/// The even number nearest to a length.
fn even(length: f64) -> u32 {
    ((length / 2.0).round() as u32).max(1) * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(resolution: &str, ratio: &str) -> String {
        Resolution::parse(resolution).unwrap().size(Ratio::parse(ratio).unwrap()).to_string()
    }

    #[test]
    fn sizes_by_resolution_and_ratio() {
        let row = |ratio: &str| {
            let sizes = ["480p", "720p", "1080p"].map(|tier| sized(tier, ratio));
            format!("{ratio:>5} {}", sizes.join(" "))
        };
        let table = ["21:9", "16:9", "4:3", "1:1", "3:4", "9:16"].map(row).join("\n");
        insta::assert_snapshot!(table, @r"
         21:9 978x420 1466x628 2200x942
         16:9 854x480 1280x720 1920x1080
          4:3 740x554 1108x832 1662x1248
          1:1 640x640 960x960 1440x1440
          3:4 554x740 832x1108 1248x1662
         9:16 480x854 720x1280 1080x1920
        ");
    }

    #[test]
    fn ratio_from_input_snaps_to_named_and_is_bounded() {
        let follow =
            |width, height| Resolution::P480.size(Ratio::from_input(Size { width, height })).to_string();
        assert_eq!(follow(854, 480), "854x480");
        assert_eq!(follow(1280, 720), "854x480");
        assert_eq!(follow(1000, 1000), "640x640");
        assert_eq!(follow(3000, 2000), "784x522");
        // Ratios are bounded by 21:9.
        assert_eq!(follow(5000, 10), "978x420");
        assert_eq!(follow(1, 8000), "420x978");
    }

    #[test]
    fn nearest_resolution_and_ratio_of_size() {
        let size = |text| Size::parse(text).unwrap();
        assert_eq!(Resolution::nearest(size("1280x720")), Resolution::P720);
        assert_eq!(Resolution::nearest(size("640x480")), Resolution::P480);
        assert_eq!(Resolution::nearest(size("1080x1920")), Resolution::P1080);
        assert_eq!(Ratio::nearest_named(size("1024x768")), Ratio::parse("4:3").unwrap());
        assert_eq!(Ratio::nearest_named(size("720x1280")), Ratio::parse("9:16").unwrap());
        assert_eq!(Ratio::nearest_named(size("1920x1088")), Ratio::WIDE);
    }

    #[test]
    fn parse_rejects_malformed_text() {
        for text in ["", "x", "10", "0x10", "10x0", "-1x5", "1x99999999999", "a1x2", "16385x2"] {
            assert_eq!(Size::parse(text), None, "{text}");
        }
        for text in ["p", "0p", "720", "99999p", "-4p"] {
            assert_eq!(Resolution::parse(text), None, "{text}");
        }
        for text in ["", "16", "16:0", "0:9", "a:b"] {
            assert_eq!(Ratio::parse(text), None, "{text}");
        }
    }
}
