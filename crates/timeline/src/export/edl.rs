//! CMX 3600 edit decision lists.
//!
//! A line is an event number, a reel of at most 8 characters, the tracks, the kind of edit (`C`, `D nnn`, `Wnnn nnn`), and the source's and
//! the record's first and last timecode, the last exclusive. A dissolve begins at its edit point, so the edit point lies at the beginning of the
//! transition's window; it is two lines with one number: the outgoing clip with length 0, then the incoming one.

use std::fmt::Write as _;

use workflow::plan::TransitionKind;

use super::{ExportContext, file_name, kind_name, one_line, title};
use crate::clock::{Pace, scale_down};
use crate::facts::ClipKind;
use crate::model::{Item, ItemTransition, Timeline};
use crate::timecode::{is_drop_frame, nominal_rate};

/// The reel of black.
const BLACK: &str = "BL";
/// The most characters of a title.
const MAX_TITLE_LEN: usize = 70;

/// The film as a CMX 3600 edit decision list. The record begins at 01:00:00:00.
///
/// All timecodes are at the film's rate. Reels are numbered (`S0001`), and comments name their files. A fade goes to the reel `BL` and comes
/// from it; a wipe is `W001` with its direction in a comment. A changed speed is a line `M2` with the frames per second at which the clip is
/// played. Levels of sound and sizes do not fit into the format.
#[must_use]
pub fn edl(timeline: &Timeline, context: &ExportContext) -> String {
    let counting = if is_drop_frame(timeline.frame_rate) { "DROP FRAME" } else { "NON-DROP FRAME" };
    let name: String = one_line(title(timeline)).chars().take(MAX_TITLE_LEN).collect();
    let mut list = List::new(timeline, format!("TITLE: {name}\nFCM: {counting}\n\n"));
    let reels = reels(timeline, context);
    for (index, item) in timeline.items.iter().enumerate() {
        let segment = Segment::new(item, &reels[index]);
        // What was played of this item in the window before its own cut belongs to its own event.
        let end = item.end().saturating_sub(item.transition.map_or(0, |transition| transition.before));
        match timeline.transition_into(index) {
            // A clip that is nothing but its transition has no event of its own.
            None if end <= item.start => {}
            None => list.cut(&segment, item.start, end),
            Some(transition) => {
                let before = &timeline.items[index - 1];
                let outgoing = Segment::new(before, &reels[index - 1]);
                list.incoming(&outgoing, &segment, transition, item.start, end);
            }
        }
        if index + 1 == timeline.items.len()
            && let Some(transition) = item.transition
        {
            list.fade_out(&segment, transition, end, item.end());
        }
    }
    list.text
}

/// A reel per file: `S0001`, …. Cards are black, with their text as the clip's name.
fn reels(timeline: &Timeline, context: &ExportContext) -> Vec<(String, String)> {
    let mut files: Vec<String> = Vec::new();
    timeline
        .items
        .iter()
        .map(|item| {
            if item.source.kind == ClipKind::Card {
                return (BLACK.to_owned(), one_line(&item.source.name));
            }
            let file = context.file(item);
            let number = files.iter().position(|other| *other == file).unwrap_or_else(|| {
                files.push(file.clone());
                files.len() - 1
            });
            (format!("S{:04}", number + 1), one_line(file_name(&file)))
        })
        .collect()
}

/// A source on the film's clock.
struct Segment<'a> {
    reel: &'a str,
    file: &'a str,
    tracks: &'static str,
    item: &'a Item,
}

impl<'a> Segment<'a> {
    fn new(item: &'a Item, (reel, file): &'a (String, String)) -> Self {
        let tracks = if item.source.has_sound && !item.mute { "AA/V" } else { "V" };
        Self { reel, file, tracks, item }
    }
}

struct List<'a> {
    timeline: &'a Timeline,
    text: String,
    event: usize,
    /// The first frame of the record: an hour.
    record: u64,
}

impl<'a> List<'a> {
    fn new(timeline: &'a Timeline, text: String) -> Self {
        let per_hour = nominal_rate(timeline.frame_rate) * 3_600;
        // Drop-frame counting leaves out 108 (216) numbers an hour.
        let dropped = if is_drop_frame(timeline.frame_rate) { per_hour / 1_000 } else { 0 };
        Self { timeline, text, event: 0, record: per_hour - dropped }
    }

    /// Lines of one event: reel, tracks, kind, source range, record range, the last two in film frames.
    fn line(&mut self, reel: &str, tracks: &str, kind: &str, source: (u64, u64), record: (u64, u64)) {
        let code = |frame: u64| self.timeline.timecode(frame);
        let (event, base) = (self.event, self.record);
        let line = format!(
            "{event:03}  {reel:<8} {tracks:<5} {kind:<8} {} {} {} {}\n",
            code(source.0),
            code(source.1),
            code(base + record.0),
            code(base + record.1)
        );
        self.text.push_str(&line);
    }

    fn comment(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "* {name}: {value}");
    }

    /// The frame of a source that is shown at a film frame, both at the film's rate.
    fn source_at(&self, item: &Item, frame: u64) -> u64 {
        let film = self.timeline.frame_rate;
        let first = scale_down(item.first, item.source.frame_rate, film);
        // The film's frames as those of the source at its speed.
        let played = |frames: u64| scale_down(frames, film, Pace::new(film, item.speed));
        match frame.checked_sub(item.start) {
            Some(after) => first + played(after),
            None => first.saturating_sub(played(item.start - frame)),
        }
    }

    /// The line of a changed speed (`M2`), after the lines of an event and before its comments.
    fn speed(&mut self, segment: &Segment<'_>, from: u64) {
        if !segment.item.speed.is_normal() {
            let per_second = nominal_rate(self.timeline.frame_rate) as f64 * segment.item.speed.as_f64();
            let code = self.timeline.timecode(from);
            let _ = writeln!(self.text, "M2   {:<8} {per_second:05.1}                {code}", segment.reel);
        }
    }

    fn cut(&mut self, segment: &Segment<'_>, start: u64, end: u64) {
        self.event += 1;
        let source = (self.source_at(segment.item, start), self.source_at(segment.item, end));
        self.line(segment.reel, segment.tracks, "C", source, (start, end));
        self.speed(segment, source.0);
        self.comment("FROM CLIP NAME", segment.file);
    }

    /// An item after a transition. `cut` and `end` are where the film goes from one item to the next, and where this one's event ends.
    fn incoming(
        &mut self,
        outgoing: &Segment<'_>,
        segment: &Segment<'_>,
        transition: ItemTransition,
        cut: u64,
        end: u64,
    ) {
        let begin = cut.saturating_sub(transition.before);
        match transition.kind {
            TransitionKind::Dissolve => {
                let kind = format!("D    {:03}", transition.frames());
                self.mix(outgoing, segment, &kind, begin, end);
            }
            TransitionKind::WipeLeft | TransitionKind::WipeRight => {
                let kind = format!("W001 {:03}", transition.frames());
                self.mix(outgoing, segment, &kind, begin, end);
                self.comment("EFFECT NAME", &kind_name(transition.kind).replace('-', " ").to_uppercase());
            }
            TransitionKind::FadeBlack | TransitionKind::FadeWhite => {
                self.fade_out(outgoing, transition, begin, cut);
                self.event += 1;
                let source = (self.source_at(segment.item, cut), self.source_at(segment.item, end));
                self.line(BLACK, segment.tracks, "C", (0, 0), (cut, cut));
                let kind = format!("D    {:03}", transition.after);
                self.line(segment.reel, segment.tracks, &kind, source, (cut, end));
                self.speed(segment, source.0);
                self.comment("TO CLIP NAME", segment.file);
            }
        }
    }

    fn mix(&mut self, outgoing: &Segment<'_>, segment: &Segment<'_>, kind: &str, begin: u64, end: u64) {
        self.event += 1;
        let out = self.source_at(outgoing.item, begin);
        let source = (self.source_at(segment.item, begin), self.source_at(segment.item, end));
        self.line(outgoing.reel, outgoing.tracks, "C", (out, out), (begin, begin));
        self.line(segment.reel, segment.tracks, kind, source, (begin, end));
        self.speed(outgoing, out);
        self.speed(segment, source.0);
        self.comment("FROM CLIP NAME", outgoing.file);
        self.comment("TO CLIP NAME", segment.file);
    }

    /// A clip goes to black in the film frames from `begin` to `end`.
    fn fade_out(&mut self, segment: &Segment<'_>, transition: ItemTransition, begin: u64, end: u64) {
        self.event += 1;
        let out = self.source_at(segment.item, begin);
        self.line(segment.reel, segment.tracks, "C", (out, out), (begin, begin));
        let length = end.saturating_sub(begin);
        self.line(BLACK, segment.tracks, &format!("D    {length:03}"), (0, length), (begin, end));
        self.speed(segment, out);
        self.comment("FROM CLIP NAME", segment.file);
        if transition.kind == TransitionKind::FadeWhite {
            self.comment("EFFECT NAME", "FADE TO WHITE");
        }
    }
}
