//! Lighting by time of day: sun or moon, sky gradient, aerial perspective. All shading uses [`Light`].

use super::math::{Color, decay, lerp, mix, smooth};
use super::noise::Rng;
use super::prompt::{Cover, Hour};

/// A direction in the world: x east, y north (where the first frame looks), z up; unit length.
pub(crate) type Direction = [f32; 3];

/// The light of one time of day, in display colors.
struct HourRow {
    zenith: u32,
    middle: u32,
    horizon: u32,
    /// The horizon opposite the sun.
    away: u32,
    glow: u32,
    sun: u32,
    /// Sunlight on a surface facing it.
    sun_strength: f32,
    elevation_degrees: f32,
    /// 0 day, 1 night.
    stars: f32,
}

const fn row(hour: Hour) -> HourRow {
    match hour {
        Hour::Dawn => HourRow {
            zenith: 0x3c_5084,
            middle: 0x8f_8fb8,
            horizon: 0xf2_b698,
            away: 0x8a_86ac,
            glow: 0xff_b27c,
            sun: 0xff_b890,
            sun_strength: 1.3,
            elevation_degrees: 1.6,
            stars: 0.12,
        },
        Hour::Sunrise => HourRow {
            zenith: 0x4a_7cba,
            middle: 0xa6_b8d2,
            horizon: 0xff_dcaa,
            away: 0xb6_b4ca,
            glow: 0xff_c878,
            sun: 0xff_d29a,
            sun_strength: 2.4,
            elevation_degrees: 6.5,
            stars: 0.0,
        },
        Hour::Day => HourRow {
            zenith: 0x2e_6cb8,
            middle: 0x6f_a6dc,
            horizon: 0xc4_dcee,
            away: 0xb4_d2ea,
            glow: 0xf4_f2ea,
            sun: 0xff_f2dc,
            sun_strength: 3.2,
            elevation_degrees: 38.0,
            stars: 0.0,
        },
        Hour::Golden => HourRow {
            zenith: 0x4a_84c0,
            middle: 0x98_b6d0,
            horizon: 0xff_dfae,
            away: 0xbc_c0cc,
            glow: 0xff_cb84,
            sun: 0xff_c888,
            sun_strength: 3.0,
            elevation_degrees: 11.0,
            stars: 0.0,
        },
        Hour::Sunset => HourRow {
            zenith: 0x44_508e,
            middle: 0xa8_78a2,
            horizon: 0xff_ae6c,
            away: 0x98_86a8,
            glow: 0xff_8c40,
            sun: 0xff_9c58,
            sun_strength: 2.2,
            elevation_degrees: 3.6,
            stars: 0.03,
        },
        Hour::Dusk => HourRow {
            zenith: 0x18_2650,
            middle: 0x3a_558e,
            horizon: 0xd0_988a,
            away: 0x4c_5a88,
            glow: 0xf0_9058,
            sun: 0xe0_8868,
            sun_strength: 0.32,
            elevation_degrees: -1.2,
            stars: 0.35,
        },
        Hour::Night => HourRow {
            zenith: 0x0a_1230,
            middle: 0x13_234c,
            horizon: 0x2a_4270,
            away: 0x1e_3058,
            glow: 0x4a_6ca8,
            sun: 0xc4_d6ff,
            sun_strength: 0.34,
            elevation_degrees: 15.0,
            stars: 1.0,
        },
    }
}

/// The resolved light of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Light {
    /// Towards the sun, or at night the moon.
    pub(crate) sun: Direction,
    /// Its irradiance on a surface facing it.
    pub(crate) sunlight: Color,
    /// Irradiance of the whole sky on a horizontal surface.
    pub(crate) skylight: Color,
    pub(crate) zenith: Color,
    pub(crate) middle: Color,
    pub(crate) horizon: Color,
    pub(crate) away: Color,
    pub(crate) glow: Color,
    /// The disc itself.
    pub(crate) disc: Color,
    pub(crate) cloud_lit: Color,
    pub(crate) cloud_dark: Color,
    /// Share of the sky under cloud, 0..1.
    pub(crate) cover: f32,
    pub(crate) stars: f32,
    pub(crate) air: Air,
}

/// Aerial perspective: extinction by haze and mist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Air {
    /// Extinction per metre, uniform haze.
    pub(crate) haze: f32,
    /// Extinction per metre of mist at the ground; decreases with height.
    pub(crate) mist: f32,
    /// Scale height of the mist in metres (1/e).
    pub(crate) mist_height: f32,
}

impl Air {
    /// The share of air light at forward distance `t`: 0 none, 1 opaque.
    #[inline]
    pub(crate) fn veil(self, t: f32, eye_height: f32, height: f32) -> f32 {
        let mean = 0.5 * (eye_height.max(0.0) + height.max(0.0));
        let thickness = self.haze + self.mist / (1.0 + (mean / self.mist_height) * (mean / self.mist_height));
        1.0 - decay(t * thickness)
    }
}

/// The part of the weather that light depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Murk {
    pub(crate) cover: Cover,
    /// 0..1.
    pub(crate) fog: f32,
    /// 0..1: how dark and heavy the clouds are.
    pub(crate) gloom: f32,
}

impl Light {
    pub(crate) fn new(hour: Hour, murk: Murk, sun_azimuth: f32, rng: &mut Rng) -> Self {
        let row = row(hour);
        let elevation = (row.elevation_degrees * rng.range(0.85, 1.15)).to_radians();
        let sun = [sun_azimuth.sin() * elevation.cos(), sun_azimuth.cos() * elevation.cos(), elevation.sin()];
        let warmth = rng.range(-0.05, 0.05);
        let hue = Color::new(1.0 + warmth, 1.0, 1.0 - warmth);
        let [zenith, middle, horizon, away, glow] =
            [row.zenith, row.middle, row.horizon, row.away, row.glow].map(|hex| Color::displayed(hex) * hue);
        let color = Color::surface(row.sun);
        let clouded = match murk.cover {
            Cover::Clear => 0.0,
            Cover::Broken => 0.12,
            Cover::Overcast => 0.88,
        };
        let night = matches!(hour, Hour::Night);
        let skylight = (zenith * 0.45 + middle * 0.35 + horizon * 0.2) * if night { 0.75 } else { 0.85 };
        let cloud_lit = mix(color * (row.sun_strength * 0.36), horizon, 0.35) * if night { 0.8 } else { 1.0 };
        let mut light = Self {
            sun,
            sunlight: color * row.sun_strength,
            skylight,
            zenith,
            middle,
            horizon,
            away,
            glow,
            disc: mix(color, Color::grey(1.0), 0.35) * if night { 2.4 } else { 9.0 },
            cloud_lit,
            cloud_dark: mix(middle, away, 0.5) * 0.62,
            cover: match murk.cover {
                Cover::Clear => rng.range(0.12, 0.24),
                Cover::Broken => rng.range(0.38, 0.52),
                Cover::Overcast => rng.range(0.82, 0.92),
            },
            stars: row.stars,
            air: Air { haze: 1.0 / 21_000.0, mist: 1.0 / 90_000.0, mist_height: 120.0 },
        };
        light.cloud_over(clouded, murk.gloom);
        light.thicken(murk.fog, clouded);
        light
    }

    /// Applies cloud cover: grayer, flatter, darker with gloom.
    fn cloud_over(&mut self, amount: f32, gloom: f32) {
        let dim = lerp(1.0, 0.55, gloom);
        let tint = Color::new(0.93, 0.99, 1.07);
        let flat = Color::grey(mix(self.horizon, self.middle, 0.5).luma()) * tint;
        for (slot, level) in [
            (&mut self.zenith, 0.78),
            (&mut self.middle, 0.92),
            (&mut self.horizon, 1.05),
            (&mut self.away, 0.98),
            (&mut self.glow, 1.05),
        ] {
            // Some of the hour's own color stays: an overcast sunset is still a sunset.
            let grey = mix(flat * level, *slot, lerp(0.26, 0.1, gloom)) * dim;
            *slot = mix(*slot, grey, amount);
        }
        self.sunlight = self.sunlight * lerp(1.0, 0.16, amount);
        self.disc = self.disc * lerp(1.0, 0.05, amount);
        self.stars *= 1.0 - amount;
        let soft = mix(self.middle, self.horizon, 0.5);
        self.skylight = mix(self.skylight, soft * 1.05, amount * 0.8);
        self.skylight = self.skylight * lerp(1.0, 0.72, gloom * amount);
        self.cloud_lit = mix(self.cloud_lit, soft * 1.12, amount * 0.8);
        self.cloud_dark = mix(self.cloud_dark, soft * lerp(0.62, 0.34, gloom), amount);
    }

    fn thicken(&mut self, fog: f32, clouded: f32) {
        self.air.haze *= 1.0 + clouded * 1.2;
        self.air.haze += fog * fog / 900.0;
        self.air.mist += fog / 420.0;
        self.air.mist_height = lerp(120.0, 38.0, fog.min(1.0));
        let flat = mix(self.horizon, self.middle, 0.5);
        let veil = fog * 0.7;
        self.horizon = mix(self.horizon, flat, veil * 0.5);
        self.middle = mix(self.middle, flat, veil);
        self.zenith = mix(self.zenith, flat, veil * 0.6);
        self.sunlight = self.sunlight * (1.0 - 0.6 * fog);
        self.stars *= 1.0 - fog;
        self.disc = self.disc * (1.0 - 0.7 * fog);
        self.cover = lerp(self.cover, self.cover * 0.4, fog * 0.6);
    }

    /// The sky without clouds in a direction of unit length; below the horizon it is the horizon's.
    pub(crate) fn sky(&self, direction: Direction) -> Color {
        let [x, y, z] = direction;
        let up = z.max(0.0);
        let flat = (x * x + y * y).sqrt().max(1e-4);
        let sun_flat = (self.sun[0] * self.sun[0] + self.sun[1] * self.sun[1]).sqrt().max(1e-4);
        let facing = 0.5 + 0.5 * (x * self.sun[0] + y * self.sun[1]) / (flat * sun_flat);
        let low = mix(self.away, self.horizon, facing * facing);
        let high = mix(self.middle, self.zenith, smooth(0.08, 0.75, up));
        let base = mix(low, high, 1.0 - decay(up * 6.5));
        let toward = (x * self.sun[0] + y * self.sun[1] + z * self.sun[2]).max(0.0);
        let p2 = toward * toward;
        let p8 = p2 * p2 * p2 * p2;
        let p64 = p8 * p8 * p8 * p8 * p8 * p8 * p8 * p8;
        let p512 = p64 * p64 * p64 * p64 * p64 * p64 * p64 * p64;
        let hugging = decay(up * 2.2);
        base + self.glow * (p8 * 0.16 * hugging + p64 * 0.26 + p512 * 0.42)
    }

    /// The color at infinite distance in a horizontal direction.
    pub(crate) fn distance(&self, x: f32, y: f32) -> Color {
        let flat = (x * x + y * y).sqrt().max(1e-4);
        // Seen against land the air is cooler than the bare horizon: half of it is lit by the blue above.
        mix(self.sky([x / flat, y / flat, 0.03]), self.middle, 0.38)
    }

    /// Light on a surface with normal `n`, of which the sun sees the share `lit` and the sky the share `open`.
    #[inline]
    pub(crate) fn on(&self, n: Direction, lit: f32, open: f32) -> Color {
        let facing = (n[0] * self.sun[0] + n[1] * self.sun[1] + n[2] * self.sun[2]).max(0.0);
        let dome = 0.55 + 0.45 * n[2];
        self.sunlight * (facing * lit) + self.skylight * (dome * open)
    }
}
