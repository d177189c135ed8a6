//! Rain, snow and fog in front of the background.

use media::RgbImage;

use super::numbers::{Rng, wave};
use super::palette::{Palette, Rgb, Weather};

/// What falls or drifts.
#[derive(Debug)]
pub(super) struct Particles {
    weather: Weather,
    /// Place across and down as shares, and two numbers from 0 to 1 of its own.
    all: Vec<[f32; 4]>,
    color: Rgb,
}

const DROPS: usize = 64;
const FLAKES: usize = 130;

impl Particles {
    /// `None` for weather in which nothing is to be seen.
    pub(super) fn new(weather: Option<Weather>, palette: &Palette, rng: &mut Rng) -> Option<Self> {
        let weather = weather?;
        let count = match weather {
            Weather::Rain => DROPS,
            Weather::Storm => DROPS * 2,
            Weather::Snow => FLAKES,
            Weather::Fog => 5,
            Weather::Overcast | Weather::Wind => return None,
        };
        let all = (0..count).map(|_| [rng.unit(), rng.unit(), rng.unit(), rng.unit()]).collect();
        let color =
            if weather == Weather::Fog { palette.glow } else { palette.glow.map(|value| value.max(196)) };
        Some(Self { weather, all, color })
    }

    /// Draws them as they are after so many seconds.
    pub(super) fn draw(&self, seconds: f32, image: &mut RgbImage) {
        let (width, height) = (image.width() as f32, image.height() as f32);
        let pixel = (height.min(width) / 480.0).max(0.5);
        for [across, down, own, other] in &self.all {
            match self.weather {
                Weather::Fog => self.band(*down, *own, seconds * (0.02 + 0.03 * other) + across, image),
                Weather::Snow => {
                    let fall = down + seconds * (0.10 + 0.10 * own);
                    let sway = 0.012 * wave(seconds * 0.35 + other) + seconds * 0.012;
                    let x = (across + sway - (across + sway).floor()) * width;
                    let y = (fall - fall.floor()) * (height + 8.0 * pixel) - 4.0 * pixel;
                    self.dot((x, y), (1.0 + 1.8 * own * other) * pixel, image);
                }
                Weather::Rain | Weather::Storm | Weather::Overcast | Weather::Wind => {
                    let is_storm = self.weather == Weather::Storm;
                    let (slant, speed) = if is_storm { (0.45, 2.4) } else { (0.12, 1.7) };
                    let fall = down + seconds * speed * (0.8 + 0.4 * own);
                    let length = height * (0.035 + 0.03 * own);
                    let y = (fall - fall.floor()) * (height + length) - length;
                    // Where the wind blows in from the side as well.
                    let x = across * (width + slant * height) - slant * height + slant * y;
                    self.streak((x, y), length, slant, pixel, image);
                }
            }
        }
    }

    /// A slanted line one or two pixels wide.
    fn streak(&self, (x, y): (f32, f32), length: f32, slant: f32, pixel: f32, image: &mut RgbImage) {
        let wide = (pixel.round() as i64).max(1);
        for step in 0..length as i64 {
            let left = ((x + slant * step as f32) * 256.0).round() as i64;
            let share = (left & 255) as u32;
            for (offset, strength) in (0..=wide).map(|offset| {
                let cover = if offset == 0 {
                    256 - share
                } else if offset == wide {
                    share
                } else {
                    256
                };
                (offset, (cover * 84) >> 8)
            }) {
                self.blend((left >> 8) + offset, y as i64 + step, strength, image);
            }
        }
    }

    fn dot(&self, (x, y): (f32, f32), radius: f32, image: &mut RgbImage) {
        let reach = radius.ceil() as i64 + 1;
        for (dx, dy) in (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy))) {
            let (px, py) = (x.floor() as i64 + dx, y.floor() as i64 + dy);
            let (ox, oy) = (px as f32 + 0.5 - x, py as f32 + 0.5 - y);
            let inside = radius + 0.5 - (ox * ox + oy * oy).sqrt();
            self.blend(px, py, (inside.clamp(0.0, 1.0) * 200.0) as u32, image);
        }
    }

    /// A soft layer of fog across the frame, thicker here and there.
    fn band(&self, down: f32, own: f32, drift: f32, image: &mut RgbImage) {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let (middle, reach) = ((0.45 + 0.5 * down) * height as f32, (0.08 + 0.10 * own) * height as f32);
        let thickness: Vec<u32> = (0..width)
            .map(|x| (150.0 + 70.0 * wave(x as f32 / height as f32 * 0.4 + drift)) as u32)
            .collect();
        for (y, row) in image.pixels_mut().chunks_exact_mut(width * 3).enumerate() {
            let off = (y as f32 - middle) / reach;
            let falloff = (1.0 - off * off).max(0.0);
            let strength = (falloff * falloff * 110.0) as u32;
            if strength == 0 {
                continue;
            }
            for (pixel, thickness) in row.chunks_exact_mut(3).zip(&thickness) {
                let alpha = (strength * thickness) >> 8;
                for (value, ink) in pixel.iter_mut().zip(self.color) {
                    *value = ((u32::from(ink) * alpha + u32::from(*value) * (256 - alpha)) >> 8) as u8;
                }
            }
        }
    }

    fn blend(&self, x: i64, y: i64, strength: u32, image: &mut RgbImage) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= image.width() as usize || y >= image.height() as usize {
            return;
        }
        let offset = (y * image.width() as usize + x) * 3;
        for (value, ink) in image.pixels_mut()[offset..offset + 3].iter_mut().zip(self.color) {
            *value = ((u32::from(ink) * strength + u32::from(*value) * (256 - strength)) >> 8) as u8;
        }
    }
}
