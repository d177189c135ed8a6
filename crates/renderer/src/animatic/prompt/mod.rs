//! What is read in a prompt: its beats, and the words of mood, camera and sound that cannot be misread.

mod beats;
mod tokens;
mod words;

pub(super) use self::beats::{Beat, beats, least_width};
use crate::animatic::camera::Move;
use crate::animatic::palette::{Hour, Mood, Season, Weather};
use crate::animatic::sound::Bed;

/// What a prompt names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub(super) mood: Mood,
    pub(super) movement: Option<Move>,
    pub(super) beds: Vec<Bed>,
}

impl Reading {
    /// Of several words for one thing the first counts.
    pub(super) fn of(prompt: &str) -> Self {
        let mut reading = Self::default();
        for meaning in words::meanings(prompt) {
            let (kind, name) = meaning.split_once(':').unwrap_or_default();
            match kind {
                "hour" => reading.mood.hour = reading.mood.hour.or(Hour::named(name)),
                "weather" => reading.mood.weather = reading.mood.weather.or(Weather::named(name)),
                "season" => reading.mood.season = reading.mood.season.or(Season::named(name)),
                "color" => reading.mood.color = reading.mood.color.or(u32::from_str_radix(name, 16).ok()),
                "look" if name == "pastel" => reading.mood.is_pastel = true,
                "look" => reading.mood.is_monochrome = true,
                "move" => reading.movement = reading.movement.or(Move::named(name)),
                _ => {}
            }
            if let Some(bed) = Bed::named(name).filter(|bed| !reading.beds.contains(bed)) {
                reading.beds.push(bed);
            }
        }
        reading
    }
}
