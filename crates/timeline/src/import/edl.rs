//! The reader of CMX 3600 edit decision lists. What it reads is untrusted: sizes and counts are bounded, and nothing is opened.
//!
//! A list states no frame rate. The caller may know it; otherwise it is the lowest usual one that its frame numbers and its way of counting allow.

use workflow::plan::TransitionKind;
use workflow::units::{FrameRate, Speed};

use super::{
    IgnoredElement, ImportedEdit, ImportedItem, ImportedMedia, ImportedRange, ImportedTransition, Positions,
    bounded,
};
use crate::export::file_name;
use crate::timecode::{Timecode, nominal_rate};

/// The largest list that is read, in bytes.
const MAX_LIST_LEN: usize = 64 << 20;
/// The most events that are read.
const MAX_EVENTS: usize = 100_000;
/// The reel of black.
const BLACK: &str = "BL";

/// A list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdlError {
    /// The list is too large.
    #[error("the list has more than {} MiB", MAX_LIST_LEN >> 20)]
    TooLarge,
    /// The list has too many events.
    #[error("the list has more than {MAX_EVENTS} events")]
    TooMany,
    /// A line begins as an event does and cannot be read as one.
    #[error(
        "line {line} is no event: expected `001  REEL  V  C  00:00:00:00 00:00:04:00 01:00:00:00 01:00:04:00`, with first and last timecodes in order"
    )]
    Event {
        /// The line, from 1.
        line: usize,
    },
    /// There is no event with pictures.
    #[error("the list has no event with pictures")]
    Empty,
}

/// Reads an edit decision list: cuts, dissolves, wipes, fades through black, and speeds (`M2`).
///
/// `rate` is the rate of all timecodes in it; without one it is guessed. A dissolve begins at its edit point, as the format has it, and lies around
/// the cut of the result. Gaps, sound without pictures, keys and other wipes are listed in [`ImportedEdit::ignored`].
///
/// # Errors
/// See [`EdlError`].
pub fn read_edl(text: &str, rate: Option<FrameRate>) -> Result<ImportedEdit, EdlError> {
    if text.len() > MAX_LIST_LEN {
        return Err(EdlError::TooLarge);
    }
    let (title, events) = events(text)?;
    let rate = rate.unwrap_or_else(|| guessed_rate(text, &events));
    let mut reader = EdlReader {
        rate,
        edit: ImportedEdit {
            name: title,
            positions: Positions::Events,
            items: Vec::new(),
            ignored: Vec::new(),
        },
        record: None,
        is_black: false,
    };
    for event in &events {
        reader.event(event)?;
    }
    if reader.edit.items.is_empty() {
        return Err(EdlError::Empty);
    }
    Ok(reader.edit)
}

/// The lowest usual rate at which frames are counted as in the list.
fn guessed_rate(text: &str, events: &[EdlEvent<'_>]) -> FrameRate {
    let codes = || events.iter().flat_map(|event| &event.lines).flat_map(|line| line.codes);
    let is_dropping =
        codes().any(|code| code.is_drop_frame) || text.lines().any(|line| line.trim() == "FCM: DROP FRAME");
    let last = codes().map(|code| code.frames).max().unwrap_or_default();
    let (up, down) = match (last, is_dropping) {
        (0..30, true) => (30_000, 1_001),
        (_, true) => (60_000, 1_001),
        (0..24, _) => (24, 1),
        (24, _) => (25, 1),
        (25..30, _) => (30, 1),
        (30..50, _) => (50, 1),
        _ => (60, 1),
    };
    FrameRate::new(up, down).unwrap_or(FrameRate::CINEMA)
}

/// An event: its lines, and what its comments say.
struct EdlEvent<'t> {
    number: usize,
    line: usize,
    lines: Vec<EventLine<'t>>,
    from: Option<&'t str>,
    to: Option<&'t str>,
    effect: Option<&'t str>,
    /// Reel, frames per second, and the timecode from which it is played so.
    speeds: Vec<(&'t str, f64, Timecode)>,
}

#[derive(Clone, Copy)]
struct EventLine<'t> {
    reel: &'t str,
    has_pictures: bool,
    kind: EdlEventKind,
    /// The source's first and last, and the record's.
    codes: [Timecode; 4],
}

#[derive(Clone, Copy)]
enum EdlEventKind {
    Cut,
    Dissolve(u64),
    Wipe(u64),
    Key,
}

/// The title and the events.
fn events(text: &str) -> Result<(String, Vec<EdlEvent<'_>>), EdlError> {
    let (mut title, mut events) = (String::new(), Vec::<EdlEvent<'_>>::new());
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("TITLE:") {
            title = bounded(name.trim());
        } else if let Some(comment) = line.strip_prefix('*') {
            if let Some(event) = events.last_mut() {
                event.comment(comment.trim());
            }
        } else if let Some(change) = line.strip_prefix("M2") {
            if let Some(event) = events.last_mut() {
                event.speed(change);
            }
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let wrong = EdlError::Event { line: index + 1 };
            let (number, read) = event_line(line).ok_or(wrong)?;
            let is_same = |event: &&mut EdlEvent<'_>| event.number == number && !event.has_comments();
            if let Some(event) = events.last_mut().filter(is_same) {
                event.lines.push(read);
                continue;
            }
            if events.len() == MAX_EVENTS {
                return Err(EdlError::TooMany);
            }
            events.push(EdlEvent {
                number,
                line: index + 1,
                lines: vec![read],
                from: None,
                to: None,
                effect: None,
                speeds: Vec::new(),
            });
        }
    }
    Ok((title, events))
}

/// `002  S0002  AA/V  D  012  00:00:00:00 00:00:04:23 01:00:04:12 01:00:09:11`
fn event_line(line: &str) -> Option<(usize, EventLine<'_>)> {
    let fields: Vec<&str> = line.split_whitespace().take(16).collect();
    let (head, codes) = fields.split_at_checked(fields.len().checked_sub(4)?)?;
    let mut read = codes.iter().map(|code| Timecode::parse(code));
    let codes = [read.next()??, read.next()??, read.next()??, read.next()??];
    let (number, reel, tracks, kind, length) = match *head {
        [number, reel, tracks, kind] => (number, reel, tracks, kind, None),
        [number, reel, tracks, kind, length] => (number, reel, tracks, kind, Some(length)),
        _ => return None,
    };
    let length = || length?.parse().ok();
    let kind = match kind {
        "C" => EdlEventKind::Cut,
        "D" => EdlEventKind::Dissolve(length()?),
        wipe if wipe.starts_with('W') => EdlEventKind::Wipe(length()?),
        key if key.starts_with('K') => EdlEventKind::Key,
        _ => return None,
    };
    let has_pictures = tracks == "B" || tracks.contains('V');
    Some((number.parse().ok()?, EventLine { reel, has_pictures, kind, codes }))
}

impl<'t> EdlEvent<'t> {
    fn has_comments(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.effect.is_some() || !self.speeds.is_empty()
    }

    fn comment(&mut self, comment: &'t str) {
        let Some((name, value)) = comment.split_once(':') else { return };
        let value = Some(value.trim()).filter(|value| !value.is_empty());
        match name.trim() {
            "FROM CLIP NAME" => self.from = value,
            "TO CLIP NAME" => self.to = value,
            "EFFECT NAME" => self.effect = value,
            _ => {}
        }
    }

    /// `S0001    012.0                00:00:01:00`
    fn speed(&mut self, change: &'t str) {
        let mut fields = change.split_whitespace();
        let (Some(reel), Some(rate), Some(code)) = (fields.next(), fields.next(), fields.next()) else {
            return;
        };
        if let (Ok(rate), Some(code)) = (rate.parse(), Timecode::parse(code)) {
            self.speeds.push((reel, rate, code));
        }
    }

    /// The speed of a line: of its reel, from its first frame, or else from any.
    fn speed_of(&self, line: &EventLine<'_>, rate: FrameRate) -> Option<f64> {
        let of_reel = || self.speeds.iter().filter(|(reel, ..)| *reel == line.reel);
        let exact = of_reel().find(|(.., code)| *code == line.codes[0]);
        let (_, per_second, _) = exact.or_else(|| of_reel().next())?;
        Some(per_second / nominal_rate(rate) as f64)
    }
}

struct EdlReader {
    rate: FrameRate,
    edit: ImportedEdit,
    /// Where the record ends.
    record: Option<u64>,
    /// Whether the last clip went to black and nothing came after it.
    is_black: bool,
}

impl EdlReader {
    fn ignore(&mut self, event: &EdlEvent<'_>, element: &str) {
        self.edit.ignored.push(IgnoredElement { child: event.number, what: element.to_owned() });
    }

    fn event(&mut self, event: &EdlEvent<'_>) -> Result<(), EdlError> {
        let pictures: Vec<EventLine<'_>> =
            event.lines.iter().copied().filter(|line| line.has_pictures).collect();
        let (outgoing, incoming) = match *pictures.as_slice() {
            [] => {
                self.ignore(event, "sound without pictures");
                return Ok(());
            }
            [incoming] => (None, incoming),
            // A clip that goes over into the next has its own frames here, if any.
            [outgoing, incoming, ..] => (Some(outgoing), incoming),
        };
        if let Some(line) = outgoing.filter(|line| line.codes[2] != line.codes[3]) {
            self.clip(event, &line, EdlEventKind::Cut, event.from)?;
        }
        let name = match incoming.kind {
            EdlEventKind::Cut | EdlEventKind::Key => event.from.or(event.to),
            EdlEventKind::Dissolve(_) | EdlEventKind::Wipe(_) => event.to,
        };
        if matches!(incoming.kind, EdlEventKind::Dissolve(_))
            && outgoing.is_some_and(|line| line.reel == BLACK)
        {
            return self.clip_out_of_black(event, &incoming, name);
        }
        self.clip(event, &incoming, incoming.kind, name)
    }

    /// A clip that comes from black.
    fn clip_out_of_black(
        &mut self,
        event: &EdlEvent<'_>,
        line: &EventLine<'_>,
        name: Option<&str>,
    ) -> Result<(), EdlError> {
        let EdlEventKind::Dissolve(frames) = line.kind else { return Ok(()) };
        let fade = self.edit.items.last_mut().and_then(|item| item.transition.as_mut());
        let named_card = event.from.is_some();
        match fade.filter(|_| self.is_black && !named_card) {
            Some(fade) => fade.frames = fade.frames.saturating_add(frames),
            // A card is black with a name.
            None if named_card => return self.clip(event, line, line.kind, name),
            None => self.ignore(event, "a fade from black"),
        }
        self.clip(event, line, EdlEventKind::Cut, name)
    }

    fn clip(
        &mut self,
        event: &EdlEvent<'_>,
        line: &EventLine<'_>,
        kind: EdlEventKind,
        name: Option<&str>,
    ) -> Result<(), EdlError> {
        let [source, source_end, start, end] = line.codes.map(|code| code.frame(self.rate));
        let wrong = EdlError::Event { line: event.line };
        let frames = end.checked_sub(start).filter(|_| source_end >= source).ok_or(wrong)?;
        if self.record.is_some_and(|record| record < start) {
            self.ignore(event, "a gap");
        }
        self.record = Some(end);
        let length = match kind {
            EdlEventKind::Cut => 0,
            EdlEventKind::Dissolve(length) | EdlEventKind::Wipe(length) => length.min(frames),
            EdlEventKind::Key => {
                self.ignore(event, "a key");
                return Ok(());
            }
        };
        if line.reel == BLACK && name.is_none() {
            self.black(event, length, frames);
            return Ok(());
        }
        let own = event.speed_of(line, self.rate);
        let speed = own.map_or(Some(Speed::NORMAL), Speed::from_f64);
        if speed.is_none() {
            self.ignore(event, "a speed that no film has");
        }
        let speed = speed.unwrap_or_default();
        let before = match self.edit.items.last_mut() {
            Some(last) if length > 0 => {
                // The cut is in the middle of the window.
                let before = length / 2;
                if let Some(range) = &mut last.range {
                    range.frames = range.frames.saturating_add(before);
                }
                let kind = if matches!(kind, EdlEventKind::Wipe(_)) {
                    wipe(event.effect)
                } else {
                    Some(TransitionKind::Dissolve)
                };
                let rate = self.rate;
                last.transition = Some(ImportedTransition {
                    kind: kind.unwrap_or(TransitionKind::WipeLeft),
                    frames: length,
                    rate,
                });
                if kind.is_none() {
                    self.ignore(event, "the pattern of a wipe (it becomes one to the left)");
                }
                before
            }
            _ => 0,
        };
        self.is_black = false;
        let played = (before as f64 * speed.as_f64()).round() as u64;
        self.edit.items.push(ImportedItem {
            media: media(line.reel, name),
            range: Some(ImportedRange {
                start: source.saturating_add(played),
                frames: frames - before,
                rate: self.rate,
            }),
            speed,
            transition: None,
            is_enabled: true,
        });
        Ok(())
    }

    /// Black after the last clip, which fades to it for a number of frames.
    fn black(&mut self, event: &EdlEvent<'_>, fade: u64, frames: u64) {
        let rate = self.rate;
        let kind = match event.effect {
            Some("FADE TO WHITE") => TransitionKind::FadeWhite,
            _ => TransitionKind::FadeBlack,
        };
        if let Some(last) = self.edit.items.last_mut().filter(|_| fade > 0) {
            if let Some(range) = &mut last.range {
                range.frames = range.frames.saturating_add(fade);
            }
            last.transition = Some(ImportedTransition { kind, frames: fade, rate });
            self.is_black = true;
        }
        if frames > fade {
            self.ignore(event, "black");
        }
    }
}

fn wipe(effect: Option<&str>) -> Option<TransitionKind> {
    match effect? {
        "WIPE LEFT" => Some(TransitionKind::WipeLeft),
        "WIPE RIGHT" => Some(TransitionKind::WipeRight),
        _ => None,
    }
}

/// The media by its clip's name, or else its reel. A card has the name of what it says.
fn media(reel: &str, name: Option<&str>) -> ImportedMedia {
    let text = bounded(name.unwrap_or(reel));
    let title = (reel == BLACK).then(|| text.clone());
    let file = title.is_none().then(|| file_name(&text).to_owned());
    ImportedMedia {
        instance: title.clone(),
        title,
        name: text,
        file,
        alternatives: 1,
        ..ImportedMedia::default()
    }
}
