//! Small test clips, and measurements of them.

use std::path::{Path, PathBuf};

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

pub(crate) const RATE: u32 = 24;

/// A soft sky over a moving pattern: something of everything, different for each `seed` and each `frame`.
pub(crate) fn sample_image(width: u32, height: u32, seed: u32, frame: u32) -> RgbImage {
    let mut image = RgbImage::new(width, height);
    for y in 0..height {
        for x in 0..width {
            let sky = y * 200 / height;
            let wave = (((x + frame * 2 + seed * 31) as f32 * 0.12).sin() * 30.0) as i32;
            let ground = if y > height / 2 { wave } else { 0 };
            let offset = ((y * width + x) * 3) as usize;
            let shade = |base: i32| base.clamp(0, 255) as u8;
            image.pixels_mut()[offset..offset + 3].copy_from_slice(&[
                shade(40 + sky as i32 + ground + (seed * 17 % 60) as i32),
                shade(60 + sky as i32 / 2 + ground),
                shade(200 - sky as i32 / 2 - ground),
            ]);
        }
    }
    image
}

/// A sine of 440 Hz at half level.
pub(crate) fn tone(sample_rate: u32, channels: u16, seconds: f64) -> Vec<f32> {
    let frames = (seconds * f64::from(sample_rate)).round() as u32;
    (0..frames)
        .flat_map(|i| {
            let value = (i as f32 * 440.0 * std::f32::consts::TAU / sample_rate as f32).sin() * 0.5;
            std::iter::repeat_n(value, usize::from(channels))
        })
        .collect()
}

/// What a test clip is to be.
#[derive(Clone, Copy)]
pub(crate) struct Recipe {
    pub(crate) size: (u32, u32),
    pub(crate) rate: u32,
    pub(crate) frames: u32,
    pub(crate) seed: u32,
    pub(crate) sound: Option<(u32, u16)>,
}

pub(crate) const PLAIN: Recipe = Recipe { size: (160, 96), rate: RATE, frames: 12, seed: 0, sound: None };

impl Recipe {
    pub(crate) fn make(self) -> Vec<u8> {
        let rate = FrameRate::new(self.rate, 1).unwrap();
        let mut spec = ClipSpec::new(self.size.0, self.size.1, rate);
        if let Some((sample_rate, channels)) = self.sound {
            spec = spec.with_audio(sample_rate, channels);
        }
        let mut writer = ClipWriter::new(spec).unwrap();
        for frame in 0..self.frames {
            writer.push_frame(&sample_image(self.size.0, self.size.1, self.seed, frame)).unwrap();
        }
        if let Some((sample_rate, channels)) = self.sound {
            writer
                .push_audio(&tone(sample_rate, channels, f64::from(self.frames) / f64::from(self.rate)))
                .unwrap();
        }
        writer.finish().unwrap()
    }

    pub(crate) fn write(self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, self.make()).unwrap();
        path
    }
}

/// Peak signal to noise ratio in decibels.
pub(crate) fn psnr(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let squares = |(x, y): (&u8, &u8)| f64::from(x.abs_diff(*y)).powi(2);
    let mean = a.pixels().iter().zip(b.pixels()).map(squares).sum::<f64>() / a.pixels().len() as f64;
    if mean == 0.0 { f64::INFINITY } else { 10.0 * (255.0f64.powi(2) / mean).log10() }
}
