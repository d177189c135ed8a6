//! Reads a prompt into a [`SceneBrief`]: finds the phrases of the [`vocabulary`] and counts their votes. What the prompt leaves open stays
//! open; [`super::scene_spec`] resolves it from the seed.

mod mentions;
mod notions;
mod tokens;
mod vocabulary;

use self::mentions::{Mention, Mentions};
use self::notions::Meaning;
use super::math::Color;
use crate::{PromptReading, ReadPhrase};

pub(crate) use self::notions::{
    Cover, Framing, Hour, Landscape, Location, Move, Set, Style, Subject, Subjects,
};

#[cfg(test)]
mod tests;

/// The longest list of words that a reading has.
const MAX_LISTED: usize = 200;
/// Figures of one kind.
const MAX_COUNT: u32 = 9;
/// How many a plural without a number means.
const PLURAL: u32 = 3;
/// Kinds of figures in one scene.
const MAX_KINDS: usize = 3;

/// What a prompt specifies; `None` if it does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct SceneBrief {
    pub(crate) location: Option<Location>,
    pub(crate) hour: Option<Hour>,
    pub(crate) cover: Option<Cover>,
    pub(crate) movement: Option<Move>,
    pub(crate) framing: Option<Framing>,
    pub(crate) style: Option<Style>,
    pub(crate) subjects: Subjects,
    /// The figures of the scene, the most prominent first.
    pub(crate) figures: Vec<FigureBrief>,
    /// The color of a person's clothes.
    pub(crate) coat: Option<Color>,
}

/// A kind of figure of which a prompt speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FigureBrief {
    pub(crate) subject: Subject,
    /// At least 1.
    pub(crate) count: u32,
    pub(crate) color: Option<Color>,
}

/// Votes for the values of one choice.
struct Votes<T>(Vec<(T, u32)>);

impl<T: PartialEq + Copy> Votes<T> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    fn add(&mut self, value: T, votes: u32) {
        match self.0.iter_mut().find(|(candidate, _)| *candidate == value) {
            Some((_, sum)) => *sum += votes,
            None => self.0.push((value, votes)),
        }
    }

    /// The value with the most votes; of several the one that was named first.
    fn winner(&self) -> Option<T> {
        let max_votes = self.0.iter().map(|(_, votes)| *votes).max()?;
        self.0.iter().find(|(_, votes)| *votes == max_votes).map(|(value, _)| *value)
    }
}

/// Which words of a prompt are read, and which are not.
pub(crate) fn reading(prompt: &str) -> PromptReading {
    let mentions = Mentions::find(prompt);
    let read = mentions.phrases.iter().filter(|mention| !mention.meanings.is_empty() && !mention.is_denied);
    let read = read.map(|mention| ReadPhrase {
        text: mentions.text(mention.start, mention.end()),
        meaning: mention.names.join(" "),
    });
    let mut unread = mentions.unread();
    unread.truncate(MAX_LISTED);
    PromptReading { read: read.take(MAX_LISTED).collect(), unread }
}

impl SceneBrief {
    /// Reads a prompt. Of places, hours, moves, framings and styles the one with the most votes counts, and of several the first; subjects add
    /// up; what is denied is not asked for. Text without any known word gives the empty brief.
    pub(crate) fn read(prompt: &str) -> Self {
        let mentions = Mentions::find(prompt);
        let mut brief = Self::default();
        let mut locations = Votes::new();
        let mut hours = Votes::new();
        let mut covers = Votes::new();
        let mut moves = Votes::new();
        let mut framings = Votes::new();
        let mut styles = Votes::new();
        let affirmed: Vec<&Mention> = mentions.phrases.iter().filter(|mention| !mention.is_denied).collect();
        let meanings =
            affirmed.iter().flat_map(|mention| mention.meanings.iter().map(move |it| (mention, it)));
        for (mention, (meaning, votes)) in meanings {
            match *meaning {
                // "Pans slowly to the left".
                Meaning::Move(Move::PanRight) if mentions.is_leftward(mention) => {
                    moves.add(Move::PanLeft, *votes);
                }
                Meaning::Move(Move::TrackRight) if mentions.is_leftward(mention) => {
                    moves.add(Move::TrackLeft, *votes);
                }
                Meaning::Location(it) => locations.add(it, *votes),
                Meaning::Hour(it) => hours.add(it, *votes),
                Meaning::Cover(it) => covers.add(it, *votes),
                Meaning::Move(it) => moves.add(it, *votes),
                Meaning::Framing(it) => framings.add(it, *votes),
                Meaning::Style(it) => styles.add(it, *votes),
                Meaning::Subject(it) => brief.subjects.insert(it),
                Meaning::Count(_) | Meaning::Color(_) | Meaning::Garment => {}
            }
        }
        (brief.location, brief.hour, brief.cover) = (locations.winner(), hours.winner(), covers.winner());
        (brief.movement, brief.framing, brief.style) = (moves.winner(), framings.winner(), styles.winner());
        let adjectives_after = mentions.language.has_adjectives_after();
        brief.figures = figures(&affirmed, adjectives_after);
        let garments = affirmed.iter().filter(|mention| mention.is_garment());
        let cloth: Vec<Color> =
            garments.filter_map(|garment| color_of(&affirmed, garment, adjectives_after)).collect();
        // Of several the one that is seen best.
        let is_colorful =
            |color: &&Color| color.0[..3].iter().fold(0.0, |max: f32, part| max.max(*part)) > 0.1;
        brief.coat = cloth.iter().find(is_colorful).or(cloth.first()).copied();
        brief.complete()
    }

    /// Adds implied properties that do not depend on the seed: a lighthouse implies the sea, a storm implies clouds.
    fn complete(mut self) -> Self {
        use Subject as S;
        let subjects = self.subjects;
        let has = |subject| subjects.has(subject);
        if has(S::Child) || has(S::Robot) {
            // Drawn as they are, not as grown-ups.
            self.figures.retain(|figure| figure.subject != S::Person || !has(S::Child));
        }
        if (has(S::Lamp) || has(S::Stairs)) && self.location.is_none() {
            self.subjects.insert(S::Lighthouse);
        }
        if self.subjects.has(S::Lighthouse) || has(S::Breakwater) {
            let is_harbour = self.location == Some(Location::Land(Landscape::Harbour));
            let land = if is_harbour { Landscape::Harbour } else { Landscape::Coast };
            self.location = Some(Location::Land(land));
        }
        let afloat = [Landscape::Coast, Landscape::Harbour, Landscape::Lake].map(Location::Land);
        if has(S::Boat) && !self.location.is_some_and(|location| afloat.contains(&location)) {
            self.location = Some(Location::Land(Landscape::Sea));
        }
        if has(S::Storm) {
            self.subjects.insert(S::Wind);
            self.cover.get_or_insert(Cover::Overcast);
            self.location.get_or_insert(Location::Land(Landscape::Sea));
        }
        if (has(S::Rain) || has(S::Snow)) && self.cover.is_none() {
            self.cover = Some(Cover::Overcast);
        }
        if (has(S::Stars) || has(S::Moon) || has(S::Aurora) || has(S::Fireflies)) && self.hour.is_none() {
            self.hour = Some(Hour::Night);
        }
        if (has(S::Lamp) || has(S::Lanterns)) && self.hour.is_none() {
            self.hour = Some(Hour::Dusk);
        }
        if has(S::Snow) && self.location.is_none() {
            self.location = Some(Location::Land(Landscape::Snowfield));
        }
        if self.location.is_none() && self.style == Some(Style::Neon) {
            self.location = Some(Location::Land(Landscape::City));
        }
        if self.location.is_none() {
            self.location = self.figures.first().and_then(|figure| default_location(figure.subject));
        }
        self
    }
}

/// Where a figure is seen if no place is named.
const fn default_location(subject: Subject) -> Option<Location> {
    use Subject as S;
    match subject {
        S::Fish => Some(Location::Set(Set::Underwater)),
        S::Cup | S::Book | S::Candle | S::Table => Some(Location::Set(Set::Room)),
        S::Bottle | S::Device => Some(Location::Set(Set::Studio)),
        S::Car | S::Bus | S::Crowd => Some(Location::Land(Landscape::City)),
        S::Dog | S::Cat | S::Horse | S::Flower | S::Tree | S::House | S::Bird | S::Train | S::Bicycle => {
            Some(Location::Land(Landscape::Meadow))
        }
        _ => None,
    }
}

/// The kinds of figures, the most prominent first.
fn figures(mentions: &[&Mention], adjectives_after: bool) -> Vec<FigureBrief> {
    let mut figures: Vec<(FigureBrief, u32)> = Vec::new();
    for mention in mentions {
        for (subject, votes) in mention.figures() {
            // The number that stands at most two words before it, and not before another figure.
            let before = mentions.iter().rev().skip_while(|other| other.start >= mention.start);
            let mut near = before
                .take_while(|other| other.figures().next().is_none() && mention.start - other.end() <= 2);
            let stated = near.find_map(|other| other.count());
            let count = stated.or(mention.count()).unwrap_or(if mention.is_plural { PLURAL } else { 1 });
            let color = mention.color().map(Color::surface);
            let color = color.or_else(|| color_of(mentions, mention, adjectives_after));
            if let Some((figure, sum)) = figures.iter_mut().find(|(figure, _)| figure.subject == subject) {
                *sum += votes;
                figure.count = figure.count.max(count);
                figure.color = figure.color.or(color);
            } else {
                // Who is named first is likely what it is about.
                let first = if figures.is_empty() { 2 } else { 0 };
                let count = count.clamp(1, MAX_COUNT);
                figures.push((FigureBrief { subject, count, color }, votes + first));
            }
        }
    }
    // "She" alone is somebody; beside another figure it may be a ship.
    if figures.len() > 1 {
        figures.retain(|(figure, votes)| figure.subject != Subject::Person || *votes > 2);
    }
    // Stable: of equal votes the first.
    // Trees beside something else, and many of them, are the forest of the place.
    let first = figures.first().map(|(figure, _)| figure.subject);
    figures.retain(|(it, _)| it.subject != Subject::Tree || it.count == 1 && first == Some(Subject::Tree));
    figures.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
    figures.truncate(MAX_KINDS);
    figures.into_iter().map(|(figure, _)| figure).collect()
}

/// The color word next to a noun: at most two words before it, or after it where adjectives stand there.
fn color_of(mentions: &[&Mention], noun: &Mention, adjectives_after: bool) -> Option<Color> {
    let before = || {
        mentions
            .iter()
            .rev()
            .filter(|color| color.end() <= noun.start && noun.start - color.end() <= 1)
            .find_map(|color| color.color())
    };
    let after = || {
        mentions
            .iter()
            .filter(|color| color.start >= noun.end() && color.start - noun.end() <= 1)
            .find_map(|color| color.color())
    };
    let nearest = if adjectives_after { after().or_else(before) } else { before() };
    nearest.map(Color::surface)
}
