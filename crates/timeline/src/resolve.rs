//! From a film of the plan to its timeline.

use workflow::plan::{Clip, Film, Transition, TransitionKind};
use workflow::units::{EditTime, FrameRate, Speed};

use crate::clock::{FilmClock, Pace, scale_down, scale_up};
use crate::error::{Problem, ProblemKind, ResolveError};
use crate::facts::ClipFacts;
use crate::model::{Item, ItemTransition, Timeline};

/// The largest number of frames of a clip that is counted; those beyond it are not shown.
const MAX_FRAMES: u64 = 1 << 40;

/// The size of a film without videos.
const DEFAULT_SIZE: (u32, u32) = (1280, 720);

/// Resolves a film.
///
/// `facts` describe the clips of the film, in its order. `continued[i]` says that clip `i + 1` begins on the last frame of clip `i`
/// ([`crate::continuations`]); missing entries mean no.
///
/// - Film rate and size are the declared ones, else those that most videos have (the first of equally frequent ones); sizes are rounded
///   down to even numbers. Without any video they are 24 frames per second and 1280x720.
/// - What stands still has the film's rate, and as many frames as are shown, with the handles of its transitions.
/// - Positions in clips are rounded to frames at the clip's rate, lengths of transitions to frames at the film's. Half of a transition,
///   rounded down, lies before the cut.
/// - The length of a clip is rounded to frames of its own; where its speed is changed, to those of the film.
/// - Where a clip lacks frames for the handles of a transition, the cut moves into the clip by what is missing.
/// - At a cut between a clip that is used to its natural end and one that continues it and is used from its beginning, the last frame of
///   the first is left out: it would be shown twice, and a clip can be cut at its end without being encoded again.
///
/// # Errors
/// There are no clips, or edits that the clips' files do not allow: all of them.
pub fn resolve(film: &Film, facts: &[ClipFacts], continued: &[bool]) -> Result<Timeline, ResolveError> {
    if facts.is_empty() || film.clips.is_empty() {
        let film_name = film.output.clone();
        return Err(match film.clips.len() {
            0 => ResolveError::Empty { film: film_name },
            count => {
                let problems = (1..=count).map(no_facts).collect();
                ResolveError::Clips { film: film_name, problems }
            }
        });
    }
    let videos = || facts.iter().filter(|facts| !facts.is_still());
    let rate_of_videos = || most_common(videos().map(|facts| facts.frame_rate));
    let frame_rate = film.frame_rate.or_else(rate_of_videos).unwrap_or(FrameRate::CINEMA);
    let size = film.size.or_else(|| most_common(videos().map(|facts| facts.size))).unwrap_or(DEFAULT_SIZE);
    let even = |side: u32| (side & !1).max(2);
    let size = (even(size.0), even(size.1));
    let mut problems = Vec::new();
    let transitions = transitions(film, facts, frame_rate, &mut problems);
    let facts = &with_stills(film, facts, frame_rate, size, &transitions);
    let mut ranges = ranges(film, facts, frame_rate, &transitions, &mut problems);
    make_handles(film, facts, frame_rate, &transitions, &mut ranges, &mut problems);
    let mut dropped = vec![false; ranges.len()];
    if problems.is_empty() {
        for (index, is_continued) in continued.iter().enumerate() {
            if *is_continued && transitions.get(index) == Some(&None) {
                dropped[index] = drop_last(index, facts, &mut ranges);
            }
        }
    }
    let items = items(film, facts, frame_rate, &ranges, &transitions, &dropped, &mut problems);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.position);
        return Err(ResolveError::Clips { film: film.output.clone(), problems });
    }
    Ok(Timeline {
        output: film.output.clone(),
        frame_rate,
        size,
        frames: items.last().map_or(0, Item::end),
        items,
    })
}

/// Half-open range of frames of a source.
#[derive(Clone, Copy, Debug)]
struct FrameRange {
    start: u64,
    end: u64,
    /// How many frames of the film it is shown, where that does not follow from its own frames.
    film_frames: Option<u64>,
}

impl FrameRange {
    fn new(start: u64, end: u64) -> Self {
        Self { start, end, film_frames: None }
    }

    fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

fn no_facts(position: usize) -> Problem {
    Problem { position, clip: String::new(), kind: ProblemKind::NoFacts }
}

fn problem(index: usize, facts: &[ClipFacts], kind: ProblemKind) -> Problem {
    let clip = facts.get(index).map(|facts| facts.name.clone()).unwrap_or_default();
    Problem { position: index + 1, clip, kind }
}

/// The most frequent value, the first of equally frequent ones.
fn most_common<T: Copy + PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(existing, _)| *existing == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    // Of equal maxima, `max_by_key` returns the last.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

/// The film frames before and after the cuts of a clip in which it is shown beside its neighbours.
fn handles(index: usize, transitions: &[Option<ItemTransition>]) -> (u64, u64) {
    let playing = |index: usize| (*transitions.get(index)?).filter(|transition| transition.plays_handles());
    let into = index.checked_sub(1).and_then(playing);
    (into.map_or(0, |transition| transition.before), playing(index).map_or(0, |transition| transition.after))
}

/// The facts with frames for what stands still: as many as are shown, and those of its handles.
fn with_stills(
    film: &Film,
    facts: &[ClipFacts],
    rate: FrameRate,
    size: (u32, u32),
    transitions: &[Option<ItemTransition>],
) -> Vec<ClipFacts> {
    let mut facts = facts.to_vec();
    for (index, (facts, clip)) in facts.iter_mut().zip(&film.clips).enumerate() {
        if facts.is_still() {
            let length = clip.length.map_or(0, |length| u64::try_from(length.frames(rate)).unwrap_or(0));
            let (head, tail) = handles(index, transitions);
            facts.frame_rate = rate;
            facts.size = size;
            facts.frames = if length == 0 { 0 } else { length.min(MAX_FRAMES) + head + tail };
        }
    }
    facts
}

/// How fast a clip is played; what stands still has no speed.
fn speed(clip: &Clip, facts: &ClipFacts) -> Speed {
    if facts.is_still() { Speed::NORMAL } else { clip.speed }
}

/// What the film shows of each clip, before handles are made.
fn ranges(
    film: &Film,
    facts: &[ClipFacts],
    rate: FrameRate,
    transitions: &[Option<ItemTransition>],
    problems: &mut Vec<Problem>,
) -> Vec<FrameRange> {
    let mut ranges = Vec::with_capacity(film.clips.len());
    for (index, clip) in film.clips.iter().enumerate() {
        let range = facts.get(index).ok_or(ProblemKind::NoFacts).and_then(|facts| {
            if !facts.is_still() {
                return range(clip, facts, rate);
            }
            let (head, tail) = handles(index, transitions);
            let end = facts.frames.checked_sub(tail).filter(|end| *end > head);
            Ok(FrameRange::new(head, end.ok_or(ProblemKind::NoLength)?))
        });
        ranges.push(range.unwrap_or_else(|kind| {
            problems.push(problem(index, facts, kind));
            FrameRange::new(0, 0)
        }));
    }
    ranges
}

fn range(clip: &Clip, facts: &ClipFacts, rate: FrameRate) -> Result<FrameRange, ProblemKind> {
    let clip_frames = facts.frames.min(MAX_FRAMES);
    if clip_frames == 0 {
        return Err(ProblemKind::NoFrames);
    }
    // From the beginning; `None` before it.
    let position = |time: EditTime| {
        let frames = time.frames(facts.frame_rate);
        if time.is_negative() {
            clip_frames.checked_sub(frames.unsigned_abs())
        } else {
            u64::try_from(frames).ok()
        }
    };
    let start = match clip.start {
        None => 0,
        Some(time) => position(time)
            .filter(|start| *start < clip_frames)
            .ok_or(ProblemKind::InOutside { at: time, frames: clip_frames })?,
    };
    let mut film_frames = None;
    let end = match (clip.end, clip.length) {
        (Some(_), Some(_)) => return Err(ProblemKind::OutAndLength),
        (None, None) => clip_frames,
        (Some(time), None) => position(time)
            .filter(|end| (1..=clip_frames).contains(end))
            .ok_or(ProblemKind::OutOutside { at: time, frames: clip_frames })?,
        (None, Some(length)) => {
            let counted_at = if clip.speed.is_normal() { facts.frame_rate } else { rate };
            let mut frames = u64::try_from(length.frames(counted_at)).unwrap_or(0);
            if frames == 0 {
                return Err(ProblemKind::LengthNotPositive { length });
            }
            let rest = clip_frames - start;
            if !clip.speed.is_normal() {
                let pace = Pace::new(facts.frame_rate, clip.speed);
                film_frames = Some(frames);
                frames = scale_up(frames, rate, pace);
                if frames > rest {
                    let longest = scale_down(rest, pace, rate);
                    return Err(ProblemKind::LengthOutsideAtSpeed {
                        length,
                        speed: clip.speed,
                        frames: longest,
                    });
                }
            }
            if frames > rest {
                return Err(ProblemKind::LengthOutside { length, frames: rest });
            }
            start + frames
        }
    };
    if end <= start {
        return Err(ProblemKind::Nothing { start, end });
    }
    Ok(FrameRange { start, end, film_frames })
}

/// The transition at the end of each clip.
fn transitions(
    film: &Film,
    facts: &[ClipFacts],
    rate: FrameRate,
    problems: &mut Vec<Problem>,
) -> Vec<Option<ItemTransition>> {
    let last = film.clips.len().saturating_sub(1);
    let mut transitions = Vec::with_capacity(film.clips.len());
    for (index, clip) in film.clips.iter().enumerate() {
        let resolved = clip.transition.map(|transition| transition_at(transition, index == last, rate));
        transitions.push(match resolved {
            None => None,
            Some(Ok(transition)) => transition,
            Some(Err(kind)) => {
                problems.push(problem(index, facts, kind));
                None
            }
        });
    }
    transitions
}

/// `None` for one without length: a cut.
fn transition_at(
    Transition { kind, length }: Transition,
    is_last: bool,
    rate: FrameRate,
) -> Result<Option<ItemTransition>, ProblemKind> {
    let frames =
        u64::try_from(length.frames(rate)).map_err(|_| ProblemKind::TransitionNegative { length })?;
    if frames == 0 {
        return Ok(None);
    }
    Ok(Some(match (kind, is_last) {
        (TransitionKind::Dissolve | TransitionKind::WipeLeft | TransitionKind::WipeRight, true) => {
            return Err(ProblemKind::NoNextClip);
        }
        (TransitionKind::FadeBlack | TransitionKind::FadeWhite, true) => {
            ItemTransition { kind, before: frames, after: 0 }
        }
        (_, false) => ItemTransition { kind, before: frames / 2, after: frames - frames / 2 },
    }))
}

/// Moves cuts into the clips where they have no frames to play beyond them.
fn make_handles(
    film: &Film,
    facts: &[ClipFacts],
    rate: FrameRate,
    transitions: &[Option<ItemTransition>],
    ranges: &mut [FrameRange],
    problems: &mut Vec<Problem>,
) {
    let playing = |index: usize| (*transitions.get(index)?).filter(|transition| transition.plays_handles());
    for (index, (range, facts_here)) in ranges.iter_mut().zip(facts).enumerate() {
        if range.len() == 0 {
            // Its range is a problem already.
            continue;
        }
        let (into, out) = (index.checked_sub(1).and_then(playing), playing(index));
        let own = Pace::new(facts_here.frame_rate, speed(&film.clips[index], facts_here));
        let head = into.map_or(0, |transition| scale_up(transition.before, rate, own));
        let tail = out.map_or(0, |transition| scale_up(transition.after, rate, own));
        let start = range.start.max(head);
        let end = range.end.min(facts_here.frames.min(MAX_FRAMES).saturating_sub(tail));
        if start >= end {
            let kind = ProblemKind::TransitionsTooLong {
                head: into.map_or(0, ItemTransition::frames),
                tail: out.map_or(0, ItemTransition::frames),
                frames: scale_down(range.len(), own, rate),
            };
            problems.push(problem(index, facts, kind));
            continue;
        }
        if (start, end) != (range.start, range.end) {
            *range = FrameRange::new(start, end);
        }
    }
}

/// Leaves out the last frame of a clip if the next one begins on it. A clip of one frame keeps it.
fn drop_last(index: usize, facts: &[ClipFacts], ranges: &mut [FrameRange]) -> bool {
    let natural_end = facts.get(index).map(|facts| facts.frames);
    let from_beginning = ranges.get(index + 1).is_some_and(|next| next.start == 0);
    match ranges.get_mut(index) {
        Some(range) if from_beginning && Some(range.end) == natural_end && range.len() > 1 => {
            *range = FrameRange::new(range.start, range.end - 1);
            true
        }
        _ => false,
    }
}

fn items(
    film: &Film,
    facts: &[ClipFacts],
    rate: FrameRate,
    ranges: &[FrameRange],
    transitions: &[Option<ItemTransition>],
    dropped: &[bool],
    problems: &mut Vec<Problem>,
) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::with_capacity(film.clips.len());
    let mut clock = FilmClock::new(rate);
    for (index, (clip, source)) in film.clips.iter().zip(facts).enumerate() {
        let (range, transition) = (ranges[index], transitions[index]);
        let start = clock.now();
        match range.film_frames {
            Some(frames) => clock.add(frames, rate),
            None => clock.add(range.len(), Pace::new(source.frame_rate, speed(clip, source))),
        }
        let frames = clock.now().saturating_sub(start);
        let head = items.last().and_then(|before| before.transition).map_or(0, |into| into.after);
        let tail = transition.map_or(0, |out| out.before);
        if problems.iter().any(|reported| reported.position == index + 1) {
            // What follows from a problem is none of its own.
        } else if frames == 0 {
            problems.push(problem(index, facts, ProblemKind::TooShort));
        } else if head.saturating_add(tail) > frames {
            problems.push(problem(index, facts, ProblemKind::TransitionsTooLong { head, tail, frames }));
        }
        items.push(Item {
            clip: index,
            source: source.clone(),
            first: range.start,
            clip_frames: range.len(),
            start,
            frames,
            speed: speed(clip, source),
            transition,
            gain: clip.gain,
            mute: clip.mute,
            drops_last: dropped[index],
        });
    }
    items
}
