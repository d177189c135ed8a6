//! Synthesis of the sound track: weather, water, animals, streets and quiet chords, normalized in loudness.

mod filter;
mod life;
mod loudness;
mod music;
mod nature;
mod presence;
pub(crate) mod reference;
mod reverb;

use super::figure::Walker;
use super::noise::Rng;
use super::prompt::{Framing, Hour, Landscape, Set, Subject};
use super::scene_spec::SceneSpec;

/// Samples per second and channel.
pub const RATE: u32 = 48_000;

/// The sound of a chain is one for this long, in seconds.
const MAX_CONTINUED_SECONDS: f32 = 180.0;

/// Steps a second of figures, as they are drawn.
const FIGURE_CADENCE: f32 = 1.9;

/// The sound sources of a shot with levels from 0 (absent) to 1 (loudest).
#[derive(Clone, Debug, Default)]
pub(crate) struct Soundscape {
    surf: f32,
    lapping: f32,
    wind: f32,
    rain: f32,
    /// Seconds at which thunder rolls in.
    thunder: Vec<f32>,
    traffic: f32,
    crickets: f32,
    songbirds: f32,
    gulls: f32,
    fire: f32,
    /// Seconds at which a fog horn sounds.
    horn: Vec<f32>,
    /// Steps a second and how hard the ground is, 0 snow to 1 stone.
    steps: Option<(f32, f32)>,
    engine: f32,
    rails: f32,
    /// Voices that murmur.
    voices: u32,
    /// Whether there are chords: only if the prompt asks for music.
    has_music: bool,
    mood: Mood,
}

/// The character of the chords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mood {
    #[default]
    Warm,
    Bright,
    Grave,
    Tense,
}

pub(crate) struct Mix {
    samples: Vec<[f32; 2]>,
}

impl Mix {
    fn new(samples: usize) -> Self {
        Self { samples: vec![[0.0; 2]; samples] }
    }

    /// Adds a mono value, panned from left (-1) to right (1).
    #[inline]
    fn add(&mut self, index: usize, value: f32, pan: f32) {
        if let Some(slot) = self.samples.get_mut(index) {
            slot[0] += value * (1.0 - pan.max(0.0));
            slot[1] += value * (1.0 + pan.min(0.0));
        }
    }
}

impl Soundscape {
    pub(crate) fn new(spec: &SceneSpec, walker: Option<&Walker>, lighthouse: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "soundscape");
        let has = |subject| spec.has(subject);
        let weather = &spec.weather;
        let storm = has(Subject::Storm);
        let night = matches!(spec.hour, Hour::Night | Hour::Dusk);
        let morning = matches!(spec.hour, Hour::Dawn | Hour::Sunrise);
        let outdoors = spec.set.is_none();
        let is_landscape = |landscape| outdoors && spec.landscape == landscape;
        let figure = |subject| spec.figures.iter().any(|figure| figure.subject == subject);
        let land =
            outdoors && matches!(spec.landscape, Landscape::Forest | Landscape::Meadow | Landscape::Lake);
        Self {
            surf: match spec.landscape {
                _ if !outdoors => 0.0,
                Landscape::Coast => 0.75,
                Landscape::Sea => 0.62,
                Landscape::Harbour => 0.28,
                _ => 0.0,
            } * if storm {
                1.3
            } else if spec.is_calm {
                0.55
            } else {
                1.0
            },
            lapping: if outdoors && matches!(spec.landscape, Landscape::Lake | Landscape::Harbour) {
                0.5
            } else {
                0.0
            },
            wind: match spec.landscape {
                _ if !outdoors => 0.0,
                Landscape::Mountains | Landscape::Snowfield | Landscape::Desert | Landscape::Canyon => {
                    0.34 + weather.wind * 0.5
                }
                Landscape::City => 0.05,
                _ => 0.08 + weather.wind * 0.42,
            },
            // Behind the window it is quieter.
            rain: weather.rain * if outdoors { 0.7 } else { 0.3 },
            thunder: weather.strikes.iter().map(|strike| strike + rng.range(0.35, 1.3)).collect(),
            traffic: if is_landscape(Landscape::City) { 0.6 } else { 0.0 },
            crickets: if night && land && weather.rain == 0.0 && weather.snow == 0.0 { 0.4 } else { 0.0 },
            songbirds: if !night && land && weather.rain == 0.0 {
                if morning { 0.6 } else { 0.34 }
            } else {
                0.0
            },
            gulls: if outdoors && spec.is_watery() && !land && !storm && !night { 0.4 } else { 0.0 },
            fire: if has(Subject::Embers) { 0.5 } else { 0.0 },
            horn: if lighthouse && (weather.fog > 0.4 || (night && rng.chance(0.5))) {
                vec![rng.range(0.7, 1.2), rng.range(8.0, 9.0)]
            } else {
                Vec::new()
            },
            steps: steps(spec, walker),
            engine: if [Subject::Car, Subject::Bus, Subject::Motorcycle].into_iter().any(figure) {
                0.5
            } else {
                0.0
            },
            rails: if figure(Subject::Train) { 0.5 } else { 0.0 },
            voices: match (figure(Subject::Crowd), has(Subject::Speech)) {
                (true, _) => 7,
                (false, true) => 1,
                (false, false) => 0,
            },
            has_music: has(Subject::Music),
            mood: match spec.hour {
                _ if storm => Mood::Tense,
                Hour::Night => Mood::Grave,
                Hour::Dusk if rng.chance(0.5) => Mood::Grave,
                Hour::Dawn | Hour::Sunrise | Hour::Day => Mood::Bright,
                _ => Mood::Warm,
            },
        }
    }

    /// Synthesises `frames` stereo samples at [`RATE`], interleaved, with soft ends and even loudness.
    pub(crate) fn render(&self, frames: usize, seed: u64) -> Vec<f32> {
        let mut mix = self.mix(frames, seed);
        let loudness = loudness::measure(&mix);
        loudness::level(&mut mix, loudness);
        loudness::fade_ends(&mut mix);
        mix.samples.into_iter().flatten().collect()
    }

    /// Synthesises the `frames` samples that follow `start` seconds after the beginning of the same sound: at the level of its first `measured`
    /// seconds, so that a shot that continues another sounds on.
    pub(crate) fn render_from(&self, start: f32, measured: f32, frames: usize, seed: u64) -> Vec<f32> {
        // Everything before is synthesised too, because noise has a memory; after this long the sound begins again.
        let skipped = (start % MAX_CONTINUED_SECONDS * RATE as f32) as usize;
        let mut mix = self.mix(skipped + frames, seed);
        let first = ((measured * RATE as f32) as usize).min(mix.samples.len());
        let loudness = loudness::measure(&Mix { samples: mix.samples[..first].to_vec() });
        mix.samples.drain(..skipped);
        loudness::level(&mut mix, loudness);
        loudness::fade_ends(&mut mix);
        mix.samples.into_iter().flatten().collect()
    }

    fn mix(&self, frames: usize, seed: u64) -> Mix {
        let mut mix = Mix::new(frames);
        let stream = |name: &str| Rng::new(seed, name);
        nature::surf(&mut mix, self.surf, &mut stream("surf"));
        nature::lapping(&mut mix, self.lapping, &mut stream("lapping"));
        nature::wind(&mut mix, self.wind, &mut stream("wind"));
        nature::rain(&mut mix, self.rain, &mut stream("rain"));
        nature::fire(&mut mix, self.fire, &mut stream("fire"));
        life::crickets(&mut mix, self.crickets, &mut stream("crickets"));
        life::traffic(&mut mix, self.traffic, &mut stream("traffic"));
        presence::tone(&mut mix, 0.05, &mut stream("tone"));
        presence::engine(&mut mix, self.engine, &mut stream("engine"));
        presence::rails(&mut mix, self.rails, &mut stream("rails"));
        presence::murmur(&mut mix, self.voices, 0.9, &mut stream("murmur"));
        if let Some((cadence, hardness)) = self.steps {
            life::steps(&mut mix, cadence, hardness, &mut stream("steps"));
        }
        // What has an echo goes through the room.
        let mut far = Mix::new(frames);
        for onset in &self.thunder {
            nature::thunder(&mut far, *onset, &mut stream("thunder"));
        }
        for onset in &self.horn {
            life::horn(&mut far, *onset);
        }
        life::songbirds(&mut far, self.songbirds, &mut stream("songbirds"));
        life::gulls(&mut far, self.gulls, &mut stream("gulls"));
        if self.has_music {
            music::chords(&mut far, self.mood, &mut stream("music"));
        }
        reverb::add(&far, &mut mix, 0.36);
        mix
    }
}

/// The steps of whoever walks, and how hard the ground is.
fn steps(spec: &SceneSpec, walker: Option<&Walker>) -> Option<(f32, f32)> {
    let hardness = match spec.landscape {
        _ if spec.set == Some(Set::Room) => 0.7,
        Landscape::Snowfield | Landscape::Desert => 0.1,
        Landscape::Meadow | Landscape::Forest => 0.3,
        Landscape::Coast | Landscape::Sea | Landscape::Lake if walker.is_none() => 0.2,
        _ => 0.9,
    };
    let figure =
        spec.figures.first().filter(|figure| matches!(figure.subject, Subject::Person | Subject::Child));
    let walks = spec.framing != Framing::Close && !matches!(spec.set, Some(Set::Studio | Set::Underwater));
    let cadence = walker.filter(|walker| walker.pace > 0.0).map(Walker::cadence);
    cadence.or(figure.filter(|_| walks).map(|_| FIGURE_CADENCE)).map(|cadence| (cadence, hardness))
}

#[cfg(test)]
mod tests;
