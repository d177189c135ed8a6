//! An editor's cut of clips that are still to be made becomes a workflow: clips become shots, and the cut their film.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::json;

use super::ImportOptions;
use super::listing::{FilmEntry, Ids, ListedShot, Listing};
use super::write;
use crate::edit::{flow_value, transition_value};
use crate::letters::name_slug;
use crate::limits;
use crate::plan::{Transition, TransitionKind};
use crate::prices::SOUND;
use crate::scaffold::ScaffoldError;
use crate::units::{EditTime, Speed};
use contract::Contract;

/// A clip of a cut. Times are those of the clip's own media.
#[derive(Clone, Debug, PartialEq)]
pub struct CutClip {
    /// The clip's name. It becomes the prompt of its shot.
    pub name: String,
    /// What becomes of it.
    pub source: CutSource,
    /// Where the shown part begins.
    pub start: Duration,
    /// How long it is shown; `None` for the whole.
    pub length: Option<Duration>,
    /// How fast it is played.
    pub speed: Speed,
    /// The transition to the next clip.
    pub transition: Option<Transition>,
    /// How many versions of the clip the cut knows.
    pub takes: u32,
}

/// What a clip of a cut becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutSource {
    /// A shot to be made.
    Shot,
    /// This file in the workflow's folder.
    File(String),
    /// A title with this text, on black.
    Title(String),
}

/// The workflow of a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedCut {
    /// The workflow's text.
    pub workflow: String,
    /// How many shots it lists.
    pub shots: usize,
    /// What the workflow does not have as the cut has it.
    pub notes: Vec<String>,
}

/// Makes a workflow of a cut. Clips of one name become one shot, as long as a video of the model can be so long; its length is what is shown of it,
/// with what its transitions need.
///
/// # Errors
/// The contract has no such model or aspect ratio.
pub fn import_cut(
    clips: &[CutClip],
    document: &str,
    options: &ImportOptions,
    contract: &Contract,
) -> Result<ImportedCut, ScaffoldError> {
    let model = options.picture.model(contract)?;
    let shape = options.picture.shape(contract)?;
    let mut notes = Vec::new();
    let uses = shots_of(clips, &model.durations, &mut notes);
    let mut ids = Ids::default();
    let shots: Vec<ListedShot> = uses.shots.iter().map(|shot| shot.listed(&mut ids)).collect();
    let film = clips.iter().zip(&uses.of_clips).map(|(clip, used)| match (used, &clip.source) {
        (Some(index), _) => entry(clip, "shot", &shots[*index].id, &uses.shots[*index]),
        (None, CutSource::Title(text)) => entry(clip, "title", text, &ShotUse::from_its_beginning()),
        (None, CutSource::File(file)) => entry(clip, "file", file, &ShotUse::from_its_beginning()),
        (None, CutSource::Shot) => unreachable!("each of them has a shot"),
    });
    let listing = Listing {
        about: vec!["Each prompt is the name of its clip: say what is seen.".to_owned()],
        film: film.collect(),
        shots,
        ..Listing::default()
    };
    let asks_for_sound = contract.field(&model.family, SOUND).is_some();
    let workflow = write::workflow(&listing, options, model, &shape, asks_for_sound, document);
    Ok(ImportedCut { workflow, shots: listing.shots.len(), notes })
}

/// A shot and the part of its clip's media that the cut shows.
struct ShotUse {
    name: String,
    start: Duration,
    end: Duration,
    /// The length of its video.
    seconds: Option<u32>,
    takes: u32,
}

struct ShotUses {
    shots: Vec<ShotUse>,
    /// By clip, its shot; `None` for a file.
    of_clips: Vec<Option<usize>>,
}

fn shots_of(clips: &[CutClip], durations: &RangeInclusive<u32>, notes: &mut Vec<String>) -> ShotUses {
    let longest = Duration::from_secs((*durations.end()).into());
    let mut uses = ShotUses { shots: Vec::new(), of_clips: Vec::with_capacity(clips.len()) };
    let mut last_of: HashMap<&str, usize> = HashMap::new();
    for (index, clip) in clips.iter().enumerate() {
        if clip.source != CutSource::Shot {
            uses.of_clips.push(None);
            continue;
        }
        let (start, end) = needed(clips, index);
        let joined = last_of.get(clip.name.as_str()).copied().filter(|shot| {
            let used: &ShotUse = &uses.shots[*shot];
            used.end.max(end).saturating_sub(used.start.min(start)) <= longest
        });
        let shot = joined.unwrap_or(uses.shots.len());
        if let Some(used) = uses.shots.get_mut(shot) {
            (used.start, used.end) = (used.start.min(start), used.end.max(end));
            used.takes = used.takes.max(clip.takes);
        } else {
            uses.shots.push(ShotUse {
                name: clip.name.clone(),
                start,
                end,
                seconds: None,
                takes: clip.takes,
            });
        }
        last_of.insert(&clip.name, shot);
        uses.of_clips.push(Some(shot));
    }
    for used in uses.shots.iter_mut().filter(|used| used.end > used.start) {
        let seconds = used.end.saturating_sub(used.start).as_micros().div_ceil(1_000_000);
        let within = seconds.clamp((*durations.start()).into(), (*durations.end()).into());
        if within < seconds {
            notes.push(format!(
                "`{}` is shown for {seconds} s, and the model renders at most {within}: the film shows its beginning",
                used.name
            ));
        }
        used.seconds = u32::try_from(within).ok();
    }
    uses
}

/// The part of its media that a clip needs: what is shown, and what its transitions play beyond the cuts.
fn needed(clips: &[CutClip], index: usize) -> (Duration, Duration) {
    let clip = &clips[index];
    let Some(length) = clip.length else { return (clip.start, clip.start) };
    let window = |transition: Option<Transition>| match transition {
        Some(Transition { kind: TransitionKind::FadeBlack | TransitionKind::FadeWhite, .. }) | None => None,
        Some(transition) => transition.length.to_duration(),
    };
    let half = |window: Option<Duration>| window.unwrap_or_default() / 2;
    let before = half(index.checked_sub(1).and_then(|before| window(clips[before].transition)));
    let after = if index + 1 < clips.len() { half(window(clip.transition)) } else { Duration::ZERO };
    let end = clip.start.saturating_add(clip.speed.played(length.saturating_add(after)));
    (clip.start.saturating_sub(clip.speed.played(before)), end)
}

impl ShotUse {
    const fn from_its_beginning() -> Self {
        Self { name: String::new(), start: Duration::ZERO, end: Duration::ZERO, seconds: None, takes: 1 }
    }

    fn listed(&self, ids: &mut Ids) -> ListedShot {
        let stem = match self.name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() && (1..=4).contains(&ending.len()) => stem,
            _ => &self.name,
        };
        let slug = name_slug(stem);
        let (id, _) = ids.free(if slug.is_empty() { "shot" } else { &slug });
        let words: Vec<&str> = stem.split(|c: char| c == '_' || c.is_whitespace()).collect();
        let prompt = words.join(" ").trim().to_owned();
        ListedShot {
            prompt: if prompt.is_empty() { id.clone() } else { prompt },
            id,
            seconds: self.seconds,
            takes: (self.takes > 1).then(|| u64::from(self.takes).min(limits::MAX_TAKES)),
            ..ListedShot::default()
        }
    }
}

fn entry(clip: &CutClip, kind: &'static str, name: &str, used: &ShotUse) -> FilmEntry {
    let mut members = vec![(kind, flow_value(&json!(name)))];
    let mut time = |key, time| members.push((key, EditTime::from_duration(time).to_string()));
    let start = clip.start.saturating_sub(used.start);
    // Of a shot, the video's length is known.
    let total = used.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    if !start.is_zero() {
        time("in", start);
    }
    if let Some(length) = clip.length {
        let shown = clip.speed.played(length);
        if total.is_none_or(|total| start.saturating_add(shown) < total) {
            time("length", length);
        }
    }
    if !clip.speed.is_normal() {
        members.push(("speed", clip.speed.as_f64().to_string()));
    }
    if let Some(transition) = &clip.transition {
        members.push(("transition", flow_value(&transition_value(transition))));
    }
    FilmEntry { members }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Severity;
    use crate::scaffold::PictureOptions;

    fn clip(name: &str, start: f64, length: f64) -> CutClip {
        CutClip {
            name: name.to_owned(),
            source: CutSource::Shot,
            start: Duration::from_secs_f64(start),
            length: Some(Duration::from_secs_f64(length)),
            speed: Speed::NORMAL,
            transition: None,
            takes: 1,
        }
    }

    fn imported(clips: &[CutClip]) -> ImportedCut {
        let options = ImportOptions {
            name: "rough-cut".to_owned(),
            picture: PictureOptions { family: "A".to_owned(), model: None, aspect: "16:9".to_owned() },
            chain_scenes: false,
            columns: Vec::new(),
        };
        import_cut(clips, "rough-cut.edl", &options, Contract::embedded()).unwrap()
    }

    #[test]
    fn clips_become_shots_and_the_cut_their_film() {
        let dissolve = Transition { kind: TransitionKind::Dissolve, length: EditTime::Micros(500_000) };
        let clips = [
            CutClip { transition: Some(dissolve), ..clip("Beach_wide.mov", 3_600.0, 4.25) },
            CutClip { speed: Speed::from_f64(2.0).unwrap(), ..clip("pier.mov", 10.0, 2.0) },
            CutClip { source: CutSource::File("logo.mp4".to_owned()), ..clip("logo.mp4", 1.0, 1.5) },
            CutClip { source: CutSource::Title("The end: \"7\"".to_owned()), ..clip("", 0.0, 1.5) },
            clip("Beach_wide.mov", 3_605.0, 2.0),
            CutClip { takes: 3, ..clip("Beach_wide.mov", 4_000.0, 40.0) },
            CutClip { length: None, ..clip("🌊", 0.0, 0.0) },
        ];
        let imported = imported(&clips);
        insta::assert_snapshot!(format!("{}\n# {:?}", imported.workflow, imported.notes));
        let outcome = crate::check(
            imported.workflow.as_bytes(),
            "rough-cut.yaml",
            &crate::InMemory::default(),
            &crate::Options::default(),
            Contract::embedded(),
        );
        // The one file is missing here.
        let errors: Vec<_> = outcome
            .report
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| diagnostic.code)
            .collect();
        assert_eq!(errors, ["bad-file"], "{}", outcome.report.render(false));
    }
}
