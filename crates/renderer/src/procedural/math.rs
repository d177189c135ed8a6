//! Numeric helpers: linear-light colors, interpolation and easing, fast approximations.

use std::ops::{Add, AddAssign, Mul, Sub};
use std::sync::LazyLock;

/// A color in linear light (Rec. 709 primaries), scene-referred: 1.0 is bright but not clipped.
///
/// Four lanes, so that a color fits a vector register; the fourth is free for associated data (a height, an opacity).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(16))]
pub(crate) struct Color(pub(crate) [f32; 4]);

impl Color {
    pub(crate) const BLACK: Self = Self([0.0; 4]);

    pub(crate) const fn new(r: f32, g: f32, b: f32) -> Self {
        Self([r, g, b, 0.0])
    }

    pub(crate) const fn grey(v: f32) -> Self {
        Self([v, v, v, 0.0])
    }

    pub(crate) const fn with(self, fourth: f32) -> Self {
        let Self([r, g, b, _]) = self;
        Self([r, g, b, fourth])
    }

    pub(crate) const fn fourth(self) -> f32 {
        self.0[3]
    }

    /// The linear-light value of a display color `0xRRGGBB`: surface colors are chosen this way.
    pub(crate) fn surface(hex: u32) -> Self {
        static LINEAR: LazyLock<[f32; 256]> =
            LazyLock::new(|| std::array::from_fn(|value| display_to_linear(value as f32 / 255.0)));
        let channel = |shift: u32| LINEAR[((hex >> shift) & 0xff) as usize];
        Self::new(channel(16), channel(8), channel(0))
    }

    /// The scene-referred value that the tone curve maps to display color `0xRRGGBB`; skies and lights are specified this way.
    pub(crate) fn displayed(hex: u32) -> Self {
        let Self([r, g, b, _]) = Self::surface(hex);
        Self::new(uncurve(r), uncurve(g), uncurve(b))
    }

    pub(crate) fn luma(self) -> f32 {
        let [r, g, b, _] = self.0;
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }
}

impl Add for Color {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]])
    }
}

impl AddAssign for Color {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Sub for Color {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]])
    }
}

impl Mul<f32> for Color {
    type Output = Self;
    #[inline]
    fn mul(self, k: f32) -> Self {
        let a = self.0;
        Self([a[0] * k, a[1] * k, a[2] * k, a[3] * k])
    }
}

impl Mul for Color {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]])
    }
}

/// Linear interpolation; `t` outside 0..1 extrapolates.
#[inline]
pub(crate) fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// Linear interpolation of colors.
#[inline]
pub(crate) fn mix(a: Color, b: Color, t: f32) -> Color {
    a + (b - a) * t
}

/// Smoothstep: 0 below `from`, 1 above `to`; also with `from` > `to`.
#[inline]
pub(crate) fn smooth(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// `exp(-x)` for `x >= 0`, with about 1 % error, for per-pixel use.
#[inline]
pub(crate) fn decay(x: f32) -> f32 {
    let y = (1.0 - x * (1.0 / 16.0)).max(0.0);
    let y = y * y;
    let y = y * y;
    let y = y * y;
    y * y
}

/// `floor` as an integer, without the library call that older instruction sets need.
#[inline]
pub(crate) fn floor(x: f32) -> i32 {
    let i = x as i32;
    i - i32::from((i as f32) > x)
}

/// The cell of a coordinate and the fraction within it, for interpolation. At a border it may be fraction 1 of the previous
/// cell, which interpolates to the same value. For |coordinate| below four million.
#[inline]
pub(crate) fn cell(x: f32) -> (i32, f32) {
    // Adding a large number leaves the rounded integer in the low bits.
    const SHIFT: f32 = 12_582_912.0;
    let i = ((x - 0.5 + SHIFT).to_bits() as i32).wrapping_sub(SHIFT.to_bits() as i32);
    (i, x - i as f32)
}

#[inline]
pub(crate) fn fract(x: f32) -> f32 {
    x - floor(x) as f32
}

/// The tone curve: scene-referred light to display-linear 0..1 (Narkowicz 2016, a fit of the ACES reference transform).
pub(crate) fn curve(x: f32) -> f32 {
    let x = x.max(0.0);
    ((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)).clamp(0.0, 1.0)
}

/// The brightest display-linear value that [`uncurve`] gives back exactly.
const BRIGHTEST: f32 = 0.80;

/// The inverse of [`curve`], up to [`BRIGHTEST`].
fn uncurve(y: f32) -> f32 {
    // The curve's shoulder is steep to invert; what is brighter than this is only ever nearly white.
    let y = y.clamp(0.0, BRIGHTEST);
    let (a, b, c) = (2.51 - 2.43 * y, 0.03 - 0.59 * y, -0.14 * y);
    ((b * b - 4.0 * a * c).sqrt() - b) / (2.0 * a)
}

/// Display value (0..1, sRGB-like) to linear light.
pub(crate) fn display_to_linear(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to display value (0..1).
pub(crate) fn linear_to_display(v: f32) -> f32 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}
