//! The colors of a shot: by the words of its mood, and where it names none by a hue of its own.

use super::numbers::{Rng, lerp};

/// 8-bit RGB.
pub(super) type Rgb = [u8; 3];
/// The same, 0 to 255, before it is rounded.
type Color = [f32; 3];

macro_rules! named {
    ($name:ident { $($value:ident = $text:literal),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $name { $($value),+ }

        impl $name {
            /// The value of a name in the table of words.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$value),)+ _ => None }
            }
        }
    };
}

named!(Hour { Dawn = "dawn", Sunrise = "sunrise", Day = "day", Golden = "golden", Sunset = "sunset", Dusk = "dusk", Night = "night" });
named!(Weather { Rain = "rain", Storm = "storm", Snow = "snow", Fog = "fog", Overcast = "overcast", Wind = "wind" });
named!(Season { Winter = "winter", Spring = "spring", Summer = "summer", Autumn = "autumn" });

/// What a prompt says of light and weather.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mood {
    pub(super) hour: Option<Hour>,
    pub(super) weather: Option<Weather>,
    pub(super) season: Option<Season>,
    /// `0xRRGGBB`.
    pub(super) color: Option<u32>,
    pub(super) is_monochrome: bool,
    /// Light colors with little saturation.
    pub(super) is_pastel: bool,
}

/// The colors of a shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Palette {
    /// The sky, from its upper edge to its lower one.
    pub(super) top: Rgb,
    pub(super) bottom: Rgb,
    /// The light in it.
    pub(super) glow: Rgb,
    pub(super) far: Rgb,
    pub(super) near: Rgb,
    /// Type on the sky, and type that is less important.
    pub(super) ink: Rgb,
    pub(super) quiet: Rgb,
    /// Type on ink.
    pub(super) paper: Rgb,
    pub(super) accent: Rgb,
}

impl Palette {
    pub(super) fn new(mood: &Mood, rng: &mut Rng) -> Self {
        let any = rng.unit();
        let hue = mood.season.map_or(any, |season| season.hue() + 0.06 * (any - 0.5));
        let shade = rng.between(-0.03, 0.05);
        let [mut top, mut bottom, mut far, mut near] = match mood.hour {
            Some(hour) => hour.colors().map(|color| turned(color, rng.between(-0.02, 0.02))),
            None => [(0.0, 0.46, 0.17), (0.05, 0.42, 0.40), (0.02, 0.40, 0.25), (-0.02, 0.48, 0.11)]
                .map(|(turn, saturation, light)| hsl(hue + turn, saturation, light + shade)),
        };
        let is_pale =
            matches!(mood.weather, Some(Weather::Snow | Weather::Fog)) || mood.season == Some(Season::Winter);
        if mood.hour.is_none() && is_pale {
            [top, bottom, far, near] =
                [hsl(hue, 0.10, 0.66), hsl(hue, 0.14, 0.86), hsl(hue, 0.12, 0.70), hsl(hue, 0.16, 0.52)];
        }
        let mut all = [&mut top, &mut bottom, &mut far, &mut near];
        if let Some((tint, share)) = mood.season.map(Season::tint) {
            for color in &mut all {
                **color = mix(**color, lit_as(tint, **color), share);
            }
        }
        match mood.weather {
            Some(Weather::Rain | Weather::Overcast | Weather::Storm) => {
                let dark = if mood.weather == Some(Weather::Storm) { 0.72 } else { 0.88 };
                for color in &mut all {
                    **color = grey(**color, 0.55).map(|value| value * dark);
                }
            }
            Some(Weather::Fog) => {
                let mist = mix(*all[1], [200.0; 3], 0.35);
                for color in &mut all {
                    **color = mix(grey(**color, 0.4), mist, 0.45);
                }
            }
            Some(Weather::Snow) => {
                for color in &mut all {
                    **color = grey(**color, 0.35);
                }
            }
            Some(Weather::Wind) | None => {}
        }
        if let Some(color) = mood.color.map(rgb) {
            near = mix(near, lit_as(color, near), 0.85);
            far = mix(far, lit_as(color, far), 0.35);
            bottom = mix(bottom, lit_as(color, bottom), 0.2);
        }
        let mut accent = mood.color.map_or_else(|| hsl(hue + 0.08, 0.75, 0.62), rgb);
        if mood.hour.is_some() && mood.color.is_none() {
            accent = [246.0, 178.0, 64.0];
        }
        if mood.is_pastel {
            let share = if mood.hour == Some(Hour::Night) { 0.2 } else { 0.5 };
            for color in [&mut top, &mut bottom, &mut far, &mut near] {
                *color = mix(*color, [246.0; 3], share);
            }
        }
        if mood.is_monochrome {
            for color in [&mut top, &mut bottom, &mut far, &mut near, &mut accent] {
                *color = grey(*color, 1.0);
            }
        }
        // Type stands on the upper half of the sky.
        let ground = mix(top, bottom, 0.35);
        let is_light = luma(ground) > 128.0;
        let (ink, quiet) = if is_light {
            ([18.0, 22.0, 30.0], mix([18.0, 22.0, 30.0], ground, 0.28))
        } else {
            ([244.0, 244.0, 240.0], mix([244.0, 244.0, 240.0], ground, 0.32))
        };
        let contrast = |color: Color| {
            let away = if is_light { [0.0; 3] } else { [255.0; 3] };
            let steps = (0..8).map(|step| mix(color, away, step as f32 * 0.12));
            steps.into_iter().find(|color| (luma(*color) - luma(ground)).abs() > 80.0).unwrap_or(away)
        };
        Self {
            top: rounded(top),
            bottom: rounded(bottom),
            glow: rounded(mix(bottom, [255.0; 3], 0.30)),
            far: rounded(far),
            near: rounded(near),
            ink: rounded(ink),
            quiet: rounded(quiet),
            paper: if is_light { [244, 244, 240] } else { [18, 22, 30] },
            accent: rounded(contrast(accent)),
        }
    }
}

impl Hour {
    /// Upper and lower sky, far and near.
    #[expect(clippy::unreadable_literal, reason = "colors are written so")]
    fn colors(self) -> [Color; 4] {
        match self {
            Self::Dawn => [0x2e3c62, 0xc9a2a6, 0x6a6a92, 0x2a3050],
            Self::Sunrise => [0x5b7fb4, 0xf9c58c, 0xb98a86, 0x4c4766],
            Self::Day => [0x7fb2de, 0xd3e6ef, 0x9dbfd0, 0x4f7f8f],
            Self::Golden => [0x8c6a4a, 0xf4c06c, 0xb98545, 0x5a3b22],
            Self::Sunset => [0x43396f, 0xf0804e, 0xa2505c, 0x3a2440],
            Self::Dusk => [0x1e2450, 0x96607e, 0x4a3f6c, 0x181a38],
            Self::Night => [0x060a18, 0x1a2648, 0x121b36, 0x04060f],
        }
        .map(rgb)
    }
}

impl Season {
    fn hue(self) -> f32 {
        match self {
            Self::Winter => 0.58,
            Self::Spring => 0.93,
            Self::Summer => 0.27,
            Self::Autumn => 0.07,
        }
    }

    /// The tint that it gives to everything, and how much of it.
    #[expect(clippy::unreadable_literal, reason = "colors are written so")]
    fn tint(self) -> (Color, f32) {
        match self {
            Self::Winter => (rgb(0x9fc4e4), 0.45),
            Self::Spring => (rgb(0xe0a8c0), 0.40),
            Self::Summer => (rgb(0x86c06a), 0.30),
            Self::Autumn => (rgb(0xd07a30), 0.50),
        }
    }
}

fn rgb(number: u32) -> Color {
    [(number >> 16) as u8, (number >> 8) as u8, number as u8].map(f32::from)
}

pub(super) fn rounded(color: Color) -> Rgb {
    color.map(|value| (value + 0.5).clamp(0.0, 255.0) as u8)
}

fn mix(from: Color, to: Color, share: f32) -> Color {
    [0, 1, 2].map(|channel| lerp(from[channel], to[channel], share))
}

pub(super) fn luma([red, green, blue]: Color) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn grey(color: Color, share: f32) -> Color {
    mix(color, [luma(color); 3], share)
}

/// A color as light as another one.
fn lit_as(color: Color, other: Color) -> Color {
    let (own, wanted) = (luma(color).max(1.0), luma(other));
    let scaled = color.map(|value| (value * wanted / own).min(255.0));
    // Where it would be brighter than its strongest channel can be, white fills up.
    let missing = (wanted - luma(scaled)).max(0.0);
    scaled.map(|value| (value + missing).min(255.0))
}

/// A color with its hue turned by a part of a turn.
fn turned(color: Color, turn: f32) -> Color {
    let (low, high) = (color.into_iter().fold(255.0, f32::min), color.into_iter().fold(0.0, f32::max));
    let shifted = hsl(hue(color) + turn, 1.0, 0.5).map(|value| lerp(low, high, value / 255.0));
    lit_as(shifted, color)
}

fn hue(color: Color) -> f32 {
    let [red, green, blue] = color;
    let (low, high) = (red.min(green).min(blue), red.max(green).max(blue));
    let range = (high - low).max(1e-3);
    if high <= red {
        (green - blue) / range / 6.0
    } else if high <= green {
        (2.0 + (blue - red) / range) / 6.0
    } else {
        (4.0 + (red - green) / range) / 6.0
    }
}

/// A color of a hue in turns, and of saturation and lightness from 0 to 1.
fn hsl(hue: f32, saturation: f32, light: f32) -> Color {
    let chroma = (1.0 - (2.0 * light - 1.0).abs()) * saturation;
    [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|offset| {
        let turned = hue + offset;
        let ramp = ((turned - turned.floor()) * 6.0 - 3.0).abs() - 1.0;
        (light + chroma * (ramp.clamp(0.0, 1.0) - 0.5)) * 255.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_readable_on_every_mood() {
        use Hour as H;
        let hours = [
            None,
            Some(H::Dawn),
            Some(H::Sunrise),
            Some(H::Day),
            Some(H::Golden),
            Some(H::Sunset),
            Some(H::Dusk),
            Some(H::Night),
        ];
        let weathers =
            [None, Some(Weather::Rain), Some(Weather::Storm), Some(Weather::Snow), Some(Weather::Fog)];
        for (seed, hour) in hours.into_iter().enumerate() {
            for weather in weathers {
                let mood = Mood { hour, weather, ..Mood::default() };
                let palette = Palette::new(&mood, &mut Rng::new(seed as u64));
                let light = |color: Rgb| luma(color.map(f32::from));
                let ground = 0.65 * light(palette.top) + 0.35 * light(palette.bottom);
                let contrast = (light(palette.ink) - ground).abs();
                assert!(contrast > 90.0, "{mood:?}: {contrast}");
            }
        }
    }

    #[test]
    fn prompts_without_a_mood_have_hues_of_their_own() {
        let palette = |seed| Palette::new(&Mood::default(), &mut Rng::new(seed));
        assert_ne!(palette(1).bottom, palette(2).bottom);
        let monochrome = Mood { is_monochrome: true, ..Mood::default() };
        let [red, green, blue] = Palette::new(&monochrome, &mut Rng::new(1)).bottom;
        assert!(red == green && green == blue);
    }
}
