//! Parses a prompt into a [`SceneBrief`] by matching the phrases of the [`vocabulary`]. What the prompt leaves open stays
//! open; [`super::scene_spec`] resolves it from the seed.

mod vocabulary;

use super::math::Color;

/// The landscape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landscape {
    Mountains,
    Sea,
    Coast,
    Harbour,
    Lake,
    Desert,
    Snowfield,
    Forest,
    Meadow,
    City,
    Canyon,
}

/// The time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hour {
    Dawn,
    Sunrise,
    Day,
    Golden,
    Sunset,
    Dusk,
    Night,
}

/// The camera move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Static,
    DollyIn,
    PullBack,
    PanLeft,
    PanRight,
    TrackLeft,
    TrackRight,
    TiltUp,
    TiltDown,
    Orbit,
    Rise,
    Descend,
    Flyover,
}

/// The framing of the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Close,
    Medium,
    Wide,
    Aerial,
}

/// The grading style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Natural,
    Cinematic,
    Noir,
    Monochrome,
    Pastel,
    Film,
    Neon,
    Sepia,
    Dream,
}

/// The cloud cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    Clear,
    Broken,
    Overcast,
}

/// An object or event beside the landscape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Subject {
    Lighthouse,
    Breakwater,
    Walker,
    Boat,
    Birds,
    Embers,
    Lanterns,
    Fireflies,
    Door,
    Stairs,
    Lamp,
    Rain,
    Snow,
    Fog,
    Wind,
    Thunder,
    Storm,
    Calm,
    Aurora,
    Stars,
    Moon,
    Handheld,
    Autumn,
}

/// A set of [`Subject`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Subjects(u32);

impl Subjects {
    pub(crate) const fn insert(&mut self, subject: Subject) {
        self.0 |= 1 << subject as u32;
    }

    pub(crate) const fn has(self, subject: Subject) -> bool {
        self.0 & (1 << subject as u32) != 0
    }
}

impl std::fmt::Debug for Subjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(vocabulary::SUBJECTS.iter().filter(|s| self.has(**s))).finish()
    }
}

/// What a prompt specifies; `None` if it does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct SceneBrief {
    pub(crate) landscape: Option<Landscape>,
    pub(crate) hour: Option<Hour>,
    pub(crate) cover: Option<Cover>,
    pub(crate) movement: Option<Move>,
    pub(crate) framing: Option<Framing>,
    pub(crate) style: Option<Style>,
    pub(crate) subjects: Subjects,
    /// The color of the walker's clothes.
    pub(crate) coat: Option<Color>,
}

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Landscape(Landscape),
    Hour(Hour),
    Cover(Cover),
    Move(Move),
    Framing(Framing),
    Style(Style),
    Subject(Subject),
}

impl SceneBrief {
    /// Reads a prompt. The first mention of a place, hour, move, framing or look counts; subjects add up; what follows
    /// "no" or "without" is not asked for. Text without any known word gives the empty brief.
    pub(crate) fn read(prompt: &str) -> Self {
        let words = split(prompt);
        let mut brief = Self::default();
        let mut index = 0;
        while index < words.len() {
            let Some((length, meanings)) = longest_phrase(&words[index..]) else {
                index += 1;
                continue;
            };
            if !denied(&words[..index]) {
                for meaning in meanings {
                    brief.take(*meaning);
                }
            }
            index += length;
        }
        brief.coat = coat_color(&words);
        brief.complete()
    }

    fn take(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Landscape(it) => drop(self.landscape.get_or_insert(it)),
            Meaning::Hour(it) => drop(self.hour.get_or_insert(it)),
            Meaning::Cover(it) => drop(self.cover.get_or_insert(it)),
            Meaning::Move(it) => drop(self.movement.get_or_insert(it)),
            Meaning::Framing(it) => drop(self.framing.get_or_insert(it)),
            Meaning::Style(it) => drop(self.style.get_or_insert(it)),
            Meaning::Subject(it) => self.subjects.insert(it),
        }
    }

    /// Adds implied properties that do not depend on the seed: a lighthouse implies the sea, a storm implies clouds.
    fn complete(mut self) -> Self {
        use Subject as S;
        let subjects = self.subjects;
        let has = |subject| subjects.has(subject);
        if (has(S::Lamp) || has(S::Stairs)) && self.landscape.is_none() {
            self.subjects.insert(S::Lighthouse);
        }
        if self.subjects.has(S::Lighthouse) || has(S::Breakwater) {
            self.landscape = Some(match self.landscape {
                Some(Landscape::Harbour) => Landscape::Harbour,
                _ => Landscape::Coast,
            });
        }
        if has(S::Boat) && self.landscape.is_none() {
            self.landscape = Some(Landscape::Sea);
        }
        if has(S::Storm) {
            self.subjects.insert(S::Wind);
            self.cover.get_or_insert(Cover::Overcast);
            self.landscape.get_or_insert(Landscape::Sea);
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
        if has(S::Snow) && self.landscape.is_none() {
            self.landscape = Some(Landscape::Snowfield);
        }
        self
    }
}

/// Splits into lower-case words, also at apostrophes, hyphens and between digits and letters ("16mm" is "16" "mm").
fn split(prompt: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    // Nobody writes more; somebody sends more.
    for c in prompt.chars().take(8_000) {
        let splits_number =
            current.chars().next_back().is_some_and(|last| last.is_ascii_digit() != c.is_ascii_digit());
        if !c.is_alphanumeric() || splits_number {
            if !current.is_empty() {
                words.push(std::mem::take(&mut current));
            }
            if !c.is_alphanumeric() {
                continue;
            }
        }
        current.extend(c.to_lowercase());
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

/// The longest phrase that `words` begin with, and its meaning.
fn longest_phrase(words: &[String]) -> Option<(usize, &'static [Meaning])> {
    vocabulary::PHRASES
        .iter()
        .flat_map(|(phrases, meanings)| phrases.iter().map(move |phrase| (*phrase, *meanings)))
        .filter_map(|(phrase, meanings)| Some((match_length(phrase, words)?, meanings)))
        .max_by_key(|(length, _)| *length)
}

/// How many words `phrase` covers at the start of `words`, if it is there.
fn match_length(phrase: &str, words: &[String]) -> Option<usize> {
    let mut length = 0;
    for part in phrase.split(' ') {
        if !same_word(part, words.get(length)?) {
            return None;
        }
        length += 1;
    }
    Some(length)
}

/// Equal up to the endings of plurals and verbs: wave, waves; walk, walks, walking.
fn same_word(entry: &str, word: &str) -> bool {
    let Some(ending) = word.strip_prefix(entry) else {
        // story, stories; pine, pining is not meant.
        return entry.strip_suffix('y').and_then(|stem| word.strip_prefix(stem)) == Some("ies");
    };
    ending.is_empty() || (entry.len() >= 3 && matches!(ending, "s" | "es" | "ing" | "y" | "ed"))
}

fn denied(before: &[String]) -> bool {
    let last = before.last().map(String::as_str);
    let second = before.len().checked_sub(2).map(|i| before[i].as_str());
    matches!(last, Some("no" | "without" | "not"))
        || (matches!(last, Some("any" | "a" | "the" | "more"))
            && matches!(second, Some("no" | "without" | "not")))
}

/// The color word standing at most two words before a garment.
fn coat_color(words: &[String]) -> Option<Color> {
    let garment = words.iter().position(|w| vocabulary::GARMENTS.contains(&w.as_str()))?;
    let near = &words[garment.saturating_sub(2)..garment];
    let (_, hex) = near.iter().rev().find_map(|w| vocabulary::COLOURS.iter().find(|(name, _)| name == w))?;
    Some(Color::surface(*hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A brief in one line, the parts that were said only.
    fn brief(prompt: &str) -> String {
        let b = SceneBrief::read(prompt);
        let mut said = Vec::new();
        said.extend(b.landscape.map(|it| format!("{it:?}")));
        said.extend(b.hour.map(|it| format!("{it:?}")));
        said.extend(b.cover.map(|it| format!("{it:?}")));
        said.extend(b.movement.map(|it| format!("{it:?}")));
        said.extend(b.framing.map(|it| format!("{it:?}")));
        said.extend(b.style.map(|it| format!("{it:?}")));
        said.push(format!("{:?}", b.subjects));
        said.join(" ")
    }

    #[test]
    fn phrases_select_brief() {
        let table = [
            ("drone flyover of mountains at sunset", "Mountains Sunset Flyover Aerial {}"),
            ("City at NIGHT, in rain", "City Night Overcast {Rain}"),
            ("a keeper walks along the breakwater, golden hour", "Coast Golden {Breakwater, Walker}"),
            ("the lamp turns on", "Coast Dusk {Lighthouse, Lamp}"),
            ("push-in on a lighthouse at blue hour", "Coast Dusk DollyIn {Lighthouse}"),
            ("16mm, snow falling on a pine forest", "Forest Overcast Film {Snow}"),
            ("black and white dunes", "Desert Monochrome {}"),
            ("fishing boats in the harbour at dawn, gulls", "Harbour Dawn {Boat, Birds}"),
            ("storm over the sea, lightning", "Sea Overcast {Wind, Thunder, Storm}"),
            ("slow pan to the left over a misty lake", "Lake PanLeft {Fog}"),
            ("35 mm film, overcast light", "Overcast Film {}"),
            ("the camera does not matter", "{}"),
        ];
        for (prompt, expected) in table {
            assert_eq!(brief(prompt), expected, "for {prompt:?}");
        }
    }

    #[test]
    fn negated_phrases_are_ignored() {
        assert_eq!(brief("a meadow without rain, no fog, not a boat"), "Meadow {}");
    }

    #[test]
    fn unknown_text_gives_empty_brief() {
        for prompt in ["", "   ", "\u{0}\u{feff}", "夜の港", "&&&&&", &"x".repeat(100_000)] {
            assert_eq!(brief(prompt), "{}", "for {:?}", prompt.chars().take(20).collect::<String>());
        }
    }

    #[test]
    fn coat_color_precedes_garment() {
        assert_eq!(SceneBrief::read("a keeper in a yellow raincoat").coat, Some(Color::surface(0xe8_b41c)));
        assert_eq!(SceneBrief::read("a keeper in a raincoat by a red door").coat, None);
    }
}
