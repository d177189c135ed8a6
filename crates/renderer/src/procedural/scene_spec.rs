//! [`SceneSpec`]: the brief with every open choice resolved from the seed.

use super::light::Murk;
use super::math::Color;
use super::noise::Rng;
use super::prompt::{
    Cover, FigureBrief, Framing, Hour, Landscape, Location, Move, SceneBrief, Set, Style, Subject, Subjects,
};
use super::puppet::{is_fast, is_on_ground};
use super::weather::{Motes, Weather, strikes};

/// The resolved parameters of a scene.
#[derive(Clone, Debug)]
pub(crate) struct SceneSpec {
    /// In place of a landscape, which is then not drawn.
    pub(crate) set: Option<Set>,
    pub(crate) landscape: Landscape,
    /// What is drawn as puppets, the most prominent first.
    pub(crate) figures: Vec<FigureBrief>,
    /// Someone on foot who is part of the place: on the breakwater, at the lighthouse's door.
    pub(crate) has_walker: bool,
    /// Whether the prompt names the framing.
    pub(crate) is_framed: bool,
    pub(crate) hour: Hour,
    pub(crate) murk: Murk,
    pub(crate) weather: Weather,
    pub(crate) style: Style,
    pub(crate) movement: Move,
    /// Amplitude of the camera move: full if the prompt names it, small if the seed chose it.
    pub(crate) eagerness: f32,
    pub(crate) framing: Framing,
    pub(crate) subjects: Subjects,
    pub(crate) coat: Color,
    /// The side of the land and the subject: -1 left, 1 right.
    pub(crate) side: f32,
    /// Handheld shake: 0 tripod, 1 shoulder.
    pub(crate) unrest: f32,
    pub(crate) is_calm: bool,
}

impl SceneSpec {
    pub(crate) fn resolve(brief: &SceneBrief, camera_fixed: bool, seconds: f32, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "setting");
        let subjects = brief.subjects;
        let has = |subject| subjects.has(subject);
        let open = rng.pick(&[
            Landscape::Mountains,
            Landscape::Lake,
            Landscape::Coast,
            Landscape::Meadow,
            Landscape::Sea,
            Landscape::Desert,
        ]);
        let landscape = match brief.location {
            Some(Location::Land(landscape)) => landscape,
            Some(Location::Set(_)) | None => open,
        };
        let set = match brief.location {
            Some(Location::Set(set)) => Some(set),
            _ => None,
        };
        let is_at_light =
            [Subject::Lighthouse, Subject::Breakwater, Subject::Door, Subject::Stairs, Subject::Lamp]
                .into_iter()
                .any(has);
        let has_walker = set.is_none() && is_at_light && has(Subject::Person);
        let mut figures = brief.figures.clone();
        figures.retain(|figure| !(has_walker && figure.subject == Subject::Person));
        if set.is_some() {
            figures.retain(|figure| !matches!(figure.subject, Subject::House | Subject::Tree));
        }
        let fast = figures.first().is_some_and(|figure| is_fast(figure.subject)) && set.is_none();
        let storm = has(Subject::Storm);
        let cover = brief.cover.unwrap_or_else(|| {
            if landscape == Landscape::City {
                Cover::Clear
            } else {
                rng.pick(&[Cover::Clear, Cover::Broken, Cover::Broken])
            }
        });
        let hour = brief.hour.unwrap_or_else(|| match (cover, landscape) {
            _ if storm => rng.pick(&[Hour::Dusk, Hour::Day, Hour::Day]),
            (Cover::Overcast, _) => Hour::Day,
            (_, Landscape::City) => rng.pick(&[Hour::Dusk, Hour::Night, Hour::Sunset]),
            // Figures are seen best by day.
            _ if !brief.figures.is_empty()
                || brief.location.is_some_and(|location| matches!(location, Location::Set(_))) =>
            {
                rng.pick(&[Hour::Day, Hour::Day, Hour::Golden, Hour::Sunrise])
            }
            (_, Landscape::Canyon) => rng.pick(&[Hour::Golden, Hour::Sunrise, Hour::Day]),
            _ => rng.pick(&[Hour::Golden, Hour::Sunset, Hour::Sunrise, Hour::Golden, Hour::Dawn]),
        });
        let style = brief.style.unwrap_or(Style::Natural);
        let fog: f32 = if has(Subject::Fog) { rng.range(0.55, 0.8) } else { 0.0 };
        let rain = match (has(Subject::Rain), storm) {
            (true, true) => 1.0,
            (true, false) => rng.range(0.5, 0.75),
            // A storm brings rain, except where it is cold.
            (false, true) if !has(Subject::Snow) => 0.6,
            _ => 0.0,
        };
        let snow =
            if has(Subject::Snow) { if has(Subject::Wind) { 0.9 } else { rng.range(0.4, 0.6) } } else { 0.0 };
        let wind = if storm {
            rng.range(0.88, 1.0)
        } else if has(Subject::Wind) {
            rng.range(0.6, 0.72)
        } else if has(Subject::Calm) {
            rng.range(0.02, 0.08)
        } else {
            rng.range(0.22, 0.42)
        };
        let motes = [
            (Subject::Embers, Motes::Embers),
            (Subject::Fireflies, Motes::Fireflies),
            (Subject::Lanterns, Motes::Lanterns),
        ]
        .into_iter()
        .find_map(|(subject, motes)| has(subject).then_some(motes));
        let lightning = has(Subject::Thunder) || (storm && rng.chance(0.6));
        let weather = Weather {
            rain,
            snow,
            fog: fog.max(rain * 0.26).max(snow * 0.25).max(if storm { 0.3 } else { 0.0 }),
            wind,
            strikes: if lightning { strikes(seconds, &mut rng) } else { Vec::new() },
            motes,
        };
        let framing = brief.framing.unwrap_or(if has(Subject::Lamp) || has(Subject::Door) {
            Framing::Close
        } else if has(Subject::Stairs) {
            Framing::Medium
        } else {
            Framing::Wide
        });
        let gentle = rng.pick(&[Move::DollyIn, Move::DollyIn, Move::TrackRight, Move::TrackLeft, Move::Rise]);
        let movement = match (camera_fixed, brief.movement) {
            (true, _) => Move::Static,
            (false, Some(movement)) => movement,
            (false, None) if has(Subject::Stairs) => Move::Rise,
            (false, None) if fast => rng.pick(&[Move::TrackLeft, Move::TrackRight]),
            (false, None) if has(Subject::Person) || has(Subject::Door) => Move::DollyIn,
            (false, None) => gentle,
        };
        let unrest = match (camera_fixed, has(Subject::Handheld), movement) {
            (true, ..) => 0.0,
            (_, true, _) => 1.0,
            (.., Move::Static) => 0.0,
            _ if storm => 0.45,
            _ => 0.12,
        };
        let cloth = [0x2c_3440, 0x3a_2c28, 0x28_322c, 0x4a_3a30, 0x6c_2a24].map(Color::surface);
        Self {
            set,
            landscape,
            has_walker,
            is_framed: brief.framing.is_some(),
            hour,
            murk: Murk { cover, fog: weather.fog, gloom: if storm { 1.0 } else { rain * 0.6 } },
            weather,
            style,
            movement,
            eagerness: if brief.movement.is_some() || fast { 1.0 } else { 0.55 },
            figures,
            framing,
            subjects,
            coat: brief.coat.unwrap_or_else(|| rng.pick(&cloth)),
            side: rng.sign(),
            unrest,
            is_calm: has(Subject::Calm),
        }
    }

    pub(crate) const fn has(&self, subject: Subject) -> bool {
        self.subjects.has(subject)
    }

    pub(crate) fn location(&self) -> Location {
        self.set.map_or(Location::Land(self.landscape), Location::Set)
    }

    /// Whether someone or something stands or drives on the ground near the camera.
    pub(crate) fn is_on_foot(&self) -> bool {
        self.has_walker || self.figures.iter().any(|figure| is_on_ground(figure.subject))
    }

    /// Whether the scene has water at sea level.
    pub(crate) const fn is_watery(&self) -> bool {
        matches!(self.landscape, Landscape::Sea | Landscape::Coast | Landscape::Harbour | Landscape::Lake)
    }

    /// Whether that water is the open sea, with swell.
    pub(crate) const fn is_open_water(&self) -> bool {
        matches!(self.landscape, Landscape::Sea | Landscape::Coast)
    }
}
