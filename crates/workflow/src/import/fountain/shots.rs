//! Elements of a screenplay to shots: what belongs to one, how long it is, what its prompt says.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::super::dialogue::pieces;
use super::super::listing::{FilmEntry, Ids, ListedShot, Listing, SpokenLine};
use super::super::shots::{one_line, sentence};
use super::characters::Characters;
use super::parse::{Element, ElementKind, Part, Screenplay, Speech};
use super::phrases::{joined, setting, spoken, weight};
use crate::diagnostic::{Diagnostic, Problems};
use crate::letters::name_slug;
use crate::limits;
use crate::scaffold::scalar;
use crate::source::Span;

/// Letters that are spoken in a second: 150 words a minute.
const SPOKEN_LETTERS_PER_SECOND: u32 = 15;
/// Letters of action in a second of film: a page of a screenplay is a minute.
const ACTION_LETTERS_PER_SECOND: u32 = 50;
/// The shortest shot, where the model renders shorter ones, in seconds.
const MIN_SECONDS: u32 = 3;
/// Shots of a screenplay: some hours of film.
const MAX_SHOTS: usize = 5_000;

/// A shot under construction.
#[derive(Debug, Default)]
struct ShotBuilder {
    span: Span,
    action: String,
    speeches: Vec<String>,
    dialogue: Vec<SpokenLine>,
    cast: Vec<usize>,
    notes: Vec<String>,
    headings: Vec<String>,
    /// Letters that are spoken.
    spoken: u32,
    scene: usize,
}

impl ShotBuilder {
    fn is_empty(&self) -> bool {
        self.action.is_empty() && self.speeches.is_empty()
    }

    fn show(&mut self, character: usize) {
        if !self.cast.contains(&character) {
            self.cast.push(character);
        }
    }

    fn seconds(&self) -> u32 {
        let action = u32::try_from(weight(&self.action)).unwrap_or(u32::MAX) / ACTION_LETTERS_PER_SECOND;
        action.saturating_add(self.spoken.div_ceil(SPOKEN_LETTERS_PER_SECOND))
    }
}

/// A scene by its heading.
#[derive(Debug, Default)]
struct Scene {
    /// The place and the time as a part of a prompt.
    setting: String,
    /// What ids begin with.
    label: String,
}

struct Builder<'a> {
    characters: &'a Characters,
    max_seconds: u32,
    scenes: Vec<Scene>,
    open_shot: ShotBuilder,
    ended_shots: Vec<ShotBuilder>,
    /// Comments and notes for the next shot.
    headings: Vec<String>,
    notes: Vec<String>,
    film: Vec<Cut>,
}

/// What the film shows, and how it goes on.
#[derive(Debug)]
enum Cut {
    Shot(usize),
    Card(String),
    Transition(&'static str, &'static str),
}

/// The shots of a screenplay.
pub(super) fn listing(
    screenplay: &Screenplay,
    durations: &RangeInclusive<u32>,
    chain_scenes: bool,
    problems: &mut Problems,
) -> Listing {
    let (characters, beyond) = Characters::read(screenplay);
    let mut builder = Builder {
        characters: &characters,
        max_seconds: *durations.end(),
        scenes: vec![Scene { setting: String::new(), label: "opening".to_owned() }],
        open_shot: ShotBuilder::default(),
        ended_shots: Vec::new(),
        headings: Vec::new(),
        notes: Vec::new(),
        film: Vec::new(),
    };
    for element in &screenplay.elements {
        builder.add(element);
        if builder.ended_shots.len() > MAX_SHOTS {
            break;
        }
    }
    builder.end_shot();
    if let Some(beyond) = builder.ended_shots.get(MAX_SHOTS) {
        let message = format!("this screenplay has more than {MAX_SHOTS} shots");
        problems.push(
            Diagnostic::error("bad-screenplay", beyond.span, message)
                .help("import it in parts, such as acts"),
        );
        return Listing::default();
    }
    let Builder { scenes, ended_shots, film, .. } = builder;
    if ended_shots.is_empty() {
        problems.push(
            Diagnostic::error("no-shots", Span::default(), "this screenplay has no action and no dialogue")
                .help("a paragraph is action; a scene begins with a line such as `INT. LIGHTHOUSE - NIGHT`"),
        );
    }
    if beyond > 0 {
        let message = format!("{beyond} of its characters are not in the `cast`");
        let help = format!("a workflow has at most {} characters", limits::MAX_CHARACTERS);
        problems.push(Diagnostic::warning("unread-characters", Span::default(), message).help(help));
    }
    let shots = shots(ended_shots, &scenes, &characters, durations, chain_scenes, problems);
    let film = entries(&film, &shots);
    let shown: HashSet<&str> = shots.iter().flat_map(|shot| &shot.cast).map(String::as_str).collect();
    let title = screenplay.title_page.iter().filter(|(_, value)| !value.is_empty());
    let about = title.map(|(key, value)| format!("{key}: {value}")).collect();
    Listing { about, characters: characters.listed(|name| shown.contains(name)), film, shots }
}

impl Builder<'_> {
    fn add(&mut self, element: &Element) {
        match &element.kind {
            ElementKind::SceneHeading { text, number } => {
                self.end_shot();
                let label = number.as_deref().map(name_slug);
                let label = label.filter(|label| !label.is_empty());
                let label = label.unwrap_or_else(|| self.scenes.len().to_string());
                let number = number.as_ref().map_or_else(String::new, |number| format!("{number} "));
                self.headings.push(format!("{number}{text}"));
                self.scenes.push(Scene { setting: setting(text), label });
            }
            ElementKind::Action(text) => self.action(&one_line(text), element.span),
            ElementKind::Speech(speech) => self.speech(speech, element.span),
            ElementKind::Lyrics(text) => {
                let speech = Speech { parts: vec![Part::Line(text.clone())], ..Speech::default() };
                self.speech(&speech, element.span);
            }
            ElementKind::Transition(text) => self.transition(text),
            ElementKind::Centered(text) if text.trim().is_empty() => {}
            // What is longer than a title may be is read as action.
            ElementKind::Centered(text) if text.chars().count() > limits::MAX_TITLE_CHARS => {
                self.action(&one_line(text), element.span);
            }
            ElementKind::Centered(text) => {
                self.end_shot();
                self.film.push(Cut::Card(text.clone()));
            }
            ElementKind::Section(text) => {
                self.end_shot();
                self.headings.push(text.clone());
            }
            ElementKind::Synopsis(text) => {
                self.end_shot();
                self.notes.push(text.clone());
            }
            ElementKind::Note(text) if self.open_shot.is_empty() => self.notes.push(text.clone()),
            ElementKind::Note(text) => self.open_shot.notes.push(text.clone()),
            ElementKind::PageBreak => {}
        }
    }

    /// A paragraph of action begins a shot. In capitals alone it may be a transition.
    fn action(&mut self, text: &str, span: Span) {
        if text.is_empty() || self.is_transition(text) {
            return;
        }
        self.end_shot();
        text.clone_into(&mut self.open_shot.action);
        self.open_shot.span = span;
        for character in self.characters.named_in(text) {
            self.open_shot.show(character);
        }
    }

    fn is_transition(&mut self, text: &str) -> bool {
        let transitions =
            ["FADE IN", "FADE OUT", "FADE TO BLACK", "FADE TO WHITE", "CUT TO BLACK", "DISSOLVE TO"];
        let is_listed = transitions.contains(&text.trim_end_matches(['.', ':']).trim());
        if is_listed {
            self.transition(text);
        }
        is_listed
    }

    fn speech(&mut self, speech: &Speech, span: Span) {
        let lines = speech.parts.iter().filter_map(|part| match part {
            Part::Line(text) => Some(one_line(text)),
            Part::Parenthetical(_) => None,
        });
        let text = lines.collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        let letters = u32::try_from(weight(&text)).unwrap_or(u32::MAX);
        let letters_spoken = self.open_shot.spoken.saturating_add(letters);
        if !self.open_shot.speeches.is_empty()
            && letters_spoken.div_ceil(SPOKEN_LETTERS_PER_SECOND) > self.max_seconds
        {
            self.end_shot();
        }
        if self.open_shot.is_empty() {
            self.open_shot.span = span;
        }
        self.open_shot.spoken = self.open_shot.spoken.saturating_add(letters);
        if let Some(character) = self.characters.on_screen_speaker(speech) {
            self.open_shot.show(character);
        }
        let shown = self.characters.display_name(speech);
        self.open_shot.speeches.push(spoken(&shown, speech));
        let speaker = Some(shown).filter(|shown| !shown.is_empty());
        self.open_shot.dialogue.extend(pieces(SpokenLine { speaker, text }));
    }

    fn transition(&mut self, text: &str) {
        self.end_shot();
        let text = text.to_uppercase();
        let has = |word: &str| text.contains(word);
        let cut = if has("FADE IN") {
            return;
        } else if has("DISSOLVE") {
            Cut::Transition("dissolve", "12f")
        } else if has("WIPE") {
            Cut::Transition("wipe", "left")
        } else if has("FADE") && has("WHITE") {
            Cut::Transition("fade", "white")
        } else if has("FADE") || has("TO BLACK") {
            Cut::Transition("fade", "black")
        } else {
            return;
        };
        self.film.push(cut);
    }

    fn end_shot(&mut self) {
        let mut shot = std::mem::take(&mut self.open_shot);
        if shot.is_empty() {
            self.notes.append(&mut shot.notes);
            return;
        }
        shot.headings = std::mem::take(&mut self.headings);
        let mut notes = std::mem::take(&mut self.notes);
        notes.append(&mut shot.notes);
        shot.notes = notes;
        shot.scene = self.scenes.len() - 1;
        self.film.push(Cut::Shot(self.ended_shots.len()));
        self.ended_shots.push(shot);
    }
}

fn shots(
    ended_shots: Vec<ShotBuilder>,
    scenes: &[Scene],
    characters: &Characters,
    durations: &RangeInclusive<u32>,
    chain_scenes: bool,
    problems: &mut Problems,
) -> Vec<ListedShot> {
    let (min, max) = (*durations.start(), *durations.end());
    let mut ids = Ids::default();
    let mut shots: Vec<ListedShot> = Vec::with_capacity(ended_shots.len());
    let mut scene = usize::MAX;
    let mut number = 0;
    for shot in ended_shots {
        let begins_scene = shot.scene != scene;
        number = if begins_scene { 1 } else { number + 1 };
        scene = shot.scene;
        let Scene { setting, label } = &scenes[scene];
        let seconds = shot.seconds();
        if seconds > max {
            let message = format!("this takes about {seconds} s, and the model renders at most {max}");
            problems.push(
                Diagnostic::warning("length-changed", shot.span, message)
                    .help("split it: each paragraph, and each speech after one, becomes a shot"),
            );
        }
        let sentences: Vec<String> = std::iter::once(setting.clone())
            .chain(std::iter::once(sentence(&shot.action)))
            .chain(shot.speeches)
            .filter(|part| !part.is_empty())
            .collect();
        let prompt = sentences.join(" ");
        if prompt.len() > limits::MAX_TEMPLATE_BYTES / 2 || shot.dialogue.len() > limits::MAX_DIALOGUE_LINES {
            let message = "this is too long for the prompt of a shot";
            problems
                .push(Diagnostic::error("bad-screenplay", shot.span, message).help("split the paragraph"));
            continue;
        }
        let before = shots.last().filter(|_| chain_scenes && !begins_scene);
        let continues = before.map(|before: &ListedShot| before.id.clone());
        shots.push(ListedShot {
            continues,
            id: ids.free(&format!("{label}-{number}")).0,
            headings: shot.headings,
            prompt,
            note: joined(&shot.notes),
            is_audible: !shot.dialogue.is_empty(),
            dialogue: shot.dialogue,
            cast: shot.cast.into_iter().map(|index| characters.name(index).to_owned()).collect(),
            seconds: Some(seconds.max(MIN_SECONDS).clamp(min, max)),
            takes: None,
        });
    }
    shots
}

/// The clips of the film, if it has more than shots with cuts between them.
fn entries(film: &[Cut], shots: &[ListedShot]) -> Vec<FilmEntry> {
    if film.iter().all(|cut| matches!(cut, Cut::Shot(_))) {
        return Vec::new();
    }
    let mut entries: Vec<FilmEntry> = Vec::new();
    for (index, cut) in film.iter().enumerate() {
        match cut {
            Cut::Shot(shot) => {
                let Some(shot) = shots.get(*shot) else { continue };
                entries.push(FilmEntry { members: vec![("shot", shot.id.clone())] });
            }
            Cut::Card(title) => {
                let title = scalar(&crate::scaffold::prompt(title));
                entries.push(FilmEntry { members: vec![("title", title)] });
            }
            Cut::Transition(kind, value) => {
                // Nothing follows the last clip: it can only fade.
                let is_last = film[index..].iter().all(|cut| matches!(cut, Cut::Transition(..)));
                let Some(entry) = entries.last_mut() else { continue };
                let has_one = entry.members.iter().any(|(key, _)| *key == "transition");
                if !has_one && (!is_last || *kind == "fade") {
                    entry.members.push(("transition", format!("{{{kind}: {value}}}")));
                }
            }
        }
    }
    entries
}
