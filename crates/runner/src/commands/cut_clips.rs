//! The clips of an editor's cut as a new workflow has them: files of the workflow's folder, or shots to be made.

use std::path::Path;
use std::time::Duration;

use timeline::import::{ImportedEdit, ImportedItem};
use workflow::import::{CutClip, CutSource};
use workflow::plan::Transition;
use workflow::units::{EditTime, FrameRate};

const HOUR: Duration = Duration::from_hours(1);

/// The clips that the cut shows, and what of it they cannot have.
pub(super) fn cut_clips(edit: &ImportedEdit, folder: &Path) -> (Vec<CutClip>, Vec<String>) {
    let mut notes: Vec<String> = edit.notes().collect();
    let hidden = edit.items.iter().filter(|item| !item.is_enabled).count();
    if hidden > 0 {
        notes.push(format!("{hidden} disabled in the cut: left out"));
    }
    let clips = edit.items.iter().filter(|item| item.is_enabled).map(|item| clip(item, folder, &mut notes));
    (clips.collect(), notes)
}

fn clip(item: &ImportedItem, folder: &Path, notes: &mut Vec<String>) -> CutClip {
    let media = &item.media;
    let probed_file =
        media.file.as_ref().and_then(|name| Some((name, media::probe(&folder.join(name)).ok()?)));
    let (start, length) = match item.range {
        Some(range) => (time(range.start, range.rate), Some(time(range.frames, range.rate))),
        None => (Duration::ZERO, None),
    };
    let mut clip = CutClip {
        name: media.shot.as_ref().or(media.file.as_ref()).unwrap_or(&media.name).clone(),
        source: match (&media.title, &probed_file) {
            (Some(text), _) => CutSource::Title(text.clone()),
            (None, Some((name, _))) => CutSource::File((*name).clone()),
            (None, None) => CutSource::Shot,
        },
        start,
        length,
        speed: item.speed,
        transition: item.transition.map(|transition| Transition {
            kind: transition.kind,
            length: EditTime::from_duration(time(transition.frames, transition.rate)),
        }),
        takes: media.alternatives,
    };
    if let Some((name, probe)) = probed_file {
        // Cameras count from another timecode than zero, most of them from a whole hour.
        if clip.start >= probe.duration {
            clip.start = since_the_hour(clip.start);
        }
        if clip.start >= probe.duration {
            notes.push(format!(
                "`{name}` is shorter than what the cut shows of it: it is shown from its beginning"
            ));
            clip.start = Duration::ZERO;
        }
    }
    clip
}

fn since_the_hour(time: Duration) -> Duration {
    Duration::new(time.as_secs() % HOUR.as_secs(), time.subsec_nanos())
}

/// The time of a frame, in whole microseconds as a film's list has it.
fn time(frames: u64, rate: FrameRate) -> Duration {
    let micros =
        u128::from(frames) * 1_000_000 * u128::from(rate.denominator()) / u128::from(rate.numerator());
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
