//! The edit of a film whose clips are on disk.

pub(crate) mod sound;
pub(crate) mod subtitles;
mod tags;
pub(crate) mod titles;

use std::path::{Path, PathBuf};

use media::{DigitalSource, Ffmpeg, FilmTags, JoinClip, JoinSource, JoinTransition, MediaError, Still};
use scheduler::Failure;
use serde_json::json;
use sha2::{Digest, Sha256};
use timeline::{ClipFacts, ClipKind, ClipVideo, ResolveError, Timeline, continuations, resolve};
use workflow::plan::{Clip, ClipSource, Film, FilmFile, NodeIx, Plan, Poster, TransitionKind};
use workflow::units::FrameRate;

use crate::artifact::file_sha256;
use crate::artifact_store::ArtifactStore;
pub use subtitles::film_cues;
pub(crate) use tags::{ENCODER_NAME, film_tags};

use crate::unchanged_copy::unchanged_copy;

/// Raised when the same film of the same clips comes out differently, so that films are joined again.
const EDIT_VERSION: u32 = 5;

/// A clip that is on disk, or needs no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilmClip {
    /// The node that is shown; `None` for what the plan does not make.
    pub node: Option<NodeIx>,
    /// What it shows.
    pub kind: ClipKind,
    /// The name of the node or of the file, or the first line of the title.
    pub name: String,
    /// Its video or image; empty for a title on black.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hex; empty for a title on black.
    pub sha256: String,
}

/// The videos of clips, for [`timeline::continuations`].
pub fn clip_videos(clips: &[FilmClip]) -> Vec<ClipVideo<'_>> {
    clips.iter().map(|clip| ClipVideo { node: clip.node, sha256: &clip.sha256 }).collect()
}

/// The clips of a film, in order. `folder` is the workflow's; `video` is the path of a node's video, with its SHA-256. `None` where a video is
/// missing, or not picked.
pub fn film_clips(
    plan: &Plan,
    film: &Film,
    folder: &Path,
    video: impl Fn(NodeIx) -> Option<(PathBuf, String)>,
) -> Option<Vec<FilmClip>> {
    let own = |kind, file: &FilmFile| FilmClip {
        node: None,
        kind,
        name: file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: folder.join(&file.path),
        sha256: file.sha256.clone(),
    };
    let clip = |clip: &Clip| match &clip.source {
        ClipSource::Node(ix) => {
            let (path, sha256) = video(*ix)?;
            let name = plan.node(*ix).name.clone();
            Some(FilmClip { node: Some(*ix), kind: ClipKind::Video, name, path, sha256 })
        }
        ClipSource::Pick(_) => None,
        ClipSource::Video(file) => Some(own(ClipKind::Video, file)),
        ClipSource::Image(file) => Some(own(ClipKind::Image, file)),
        ClipSource::Card => {
            let title = clip.title.as_ref().and_then(|title| title.text.lines().next());
            Some(FilmClip {
                node: None,
                kind: ClipKind::Card,
                name: title.unwrap_or_default().to_owned(),
                path: PathBuf::new(),
                sha256: String::new(),
            })
        }
    };
    film.clips.iter().map(clip).collect()
}

/// The file of a film that the film, its poster or its subtitles would replace when it is written to `output_dir`: the film would be made of
/// itself, again and again.
pub fn replaced_input(film: &Film, workflow_dir: &Path, output_dir: &Path) -> Option<PathBuf> {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let film_file = output_dir.join(&film.output);
    let written: Vec<PathBuf> =
        ["mp4", "jpg", "srt", "vtt"].iter().map(|kind| real(film_file.with_extension(kind))).collect();
    film.files().map(|file| workflow_dir.join(&file.path)).find(|path| written.contains(&real(path.clone())))
}

/// Checks that the files of a film are those that the plan was made with.
///
/// # Errors
/// In words, when one cannot be read, or is not what it was.
pub(crate) fn check_files(film: &Film, folder: &Path) -> Result<(), String> {
    film.files().try_for_each(|file| {
        let path = folder.join(&file.path);
        let sha256 = file_sha256(&path).map_err(|error| error.to_string())?;
        if sha256 == file.sha256 {
            Ok(())
        } else {
            Err(format!("{} has changed since the plan was made; run again", path.display()))
        }
    })
}

/// The clips with the copies of the shots' videos that have the content on record still: what was changed since would be another film.
///
/// # Errors
/// When one has no such copy.
pub(crate) fn unchanged_clips(clips: Vec<FilmClip>, store: &ArtifactStore) -> Result<Vec<FilmClip>, Failure> {
    let unchanged = |clip: FilmClip| {
        let path = match clip.node {
            Some(_) => unchanged_copy(&clip.path, &clip.sha256, Some(store))?,
            None => clip.path,
        };
        Ok(FilmClip { path, ..clip })
    };
    clips.into_iter().map(unchanged).collect()
}

/// Why the edit of a film cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// A clip cannot be read.
    #[error(transparent)]
    Clip(#[from] MediaError),
    /// The edit does not fit the clips.
    #[error(transparent)]
    Edit(#[from] ResolveError),
}

/// SHA-256 over the clips' hashes, the edit, and the film's metadata: the same digest is the same film.
pub(crate) fn film_digest(plan: &Plan, film: &Film, clips: &[FilmClip], tags: &FilmTags) -> String {
    let nodes: Vec<Option<NodeIx>> = clips.iter().map(|clip| clip.node).collect();
    let edits: Vec<_> = film
        .clips
        .iter()
        .map(|clip| (clip.start, clip.end, clip.length, clip.transition, clip.gain, clip.mute, &clip.title))
        .collect();
    let hashes: Vec<&str> = clips.iter().map(|clip| clip.sha256.as_str()).collect();
    // Not the program that makes it: another version of it is no reason to make the film again.
    let source = tags.source.map(|source| format!("{source:?}"));
    let tags = (&tags.title, &tags.comment, &tags.description, source, &tags.chapters);
    let dialogue = || -> Vec<_> {
        let line = |ix: &Option<NodeIx>| ix.and_then(|ix| plan.node(ix).dialogue.as_deref());
        nodes.iter().map(line).collect()
    };
    let subtitles = film.subtitles.map(|subtitles| (subtitles.burn, dialogue()));
    let ducks = film.soundtrack.music.as_ref().is_some_and(|music| !music.duck.is_zero());
    let sound = (&film.soundtrack, ducks.then(dialogue));
    let font = film.font.as_ref().map(|font| &font.sha256);
    let form = (film.size, film.fit, film.frame_rate, font, subtitles, sound);
    let parts = (EDIT_VERSION, form, hashes, edits, continuations(plan, &clip_videos(clips)), tags);
    // What is optional is added only where it is stated, so that other films are not joined again.
    let speeds: Vec<_> = film
        .clips
        .iter()
        .map(|clip| clip.speed)
        .enumerate()
        .filter(|(_, speed)| !speed.is_normal())
        .collect();
    // Texts, numbers and lists of them have a JSON form.
    let mut hashed = serde_json::to_vec(&parts).unwrap_or_default();
    let mut hash_member = |name: &str, value: Option<serde_json::Value>| {
        if let Some(value) = value {
            hashed.extend(serde_json::to_vec(&(name, value)).unwrap_or_default());
        }
    };
    hash_member("speed", (!speeds.is_empty()).then(|| json!(speeds)));
    hash_member("color_match", film.color_match.then(|| json!(true)));
    hash_member("poster", film.poster.map(|poster| json!(poster)));
    hex::encode(Sha256::digest(hashed))
}

/// What a film that is on record says about the source of its frames; `None` if it does not show these clips in this edit, as a run would join
/// them now.
pub fn up_to_date_source(
    plan: &Plan,
    film: &Film,
    clips: &[FilmClip],
    recorded: &scheduler::Film,
) -> Option<DigitalSource> {
    // The service that made the clips is not known here.
    [DigitalSource::TrainedAlgorithmicMedia, DigitalSource::AlgorithmicMedia].into_iter().find(|source| {
        let tags = film_tags(plan, film, clips, *source);
        film_digest(plan, film, clips, &tags) == recorded.clips_digest
    })
}

/// What has to be known about the file of a video.
///
/// # Errors
/// When it cannot be read.
pub fn clip_facts(name: &str, path: &Path, ffmpeg: &Ffmpeg) -> Result<ClipFacts, MediaError> {
    let probe = ffmpeg.probe(path)?;
    let video = probe.video.as_ref();
    let rate =
        video.and_then(|video| FrameRate::new(video.frame_rate.numerator(), video.frame_rate.denominator()));
    Ok(ClipFacts {
        kind: ClipKind::Video,
        name: name.to_owned(),
        path: path.to_owned(),
        frames: video.map_or(0, |video| video.frames),
        frame_rate: rate.unwrap_or(FrameRate::CINEMA),
        size: video.map_or((0, 0), |video| (video.width, video.height)),
        has_sound: probe.audio.is_some(),
    })
}

/// Resolves the edit of a film. `clips` are those of the film in order.
///
/// # Errors
/// When a clip cannot be read, or the edit does not fit the clips.
pub fn film_timeline(
    plan: &Plan,
    film: &Film,
    clips: &[FilmClip],
    ffmpeg: &Ffmpeg,
) -> Result<Timeline, FilmError> {
    let facts = clips.iter().map(|clip| match clip.kind {
        ClipKind::Video => clip_facts(&clip.name, &clip.path, ffmpeg),
        kind => Ok(ClipFacts::still(kind, clip.name.clone(), clip.path.clone())),
    });
    let facts: Vec<ClipFacts> = facts.collect::<Result<_, _>>()?;
    Ok(resolve(film, &facts, &continuations(plan, &clip_videos(clips)))?)
}

/// The frame of a film that is its poster.
pub(crate) fn poster_frame(poster: Poster, timeline: &Timeline) -> u64 {
    match poster {
        Poster::At(time) => {
            let frames = time.frames(timeline.frame_rate);
            let from_end = timeline.frames.saturating_sub(frames.unsigned_abs());
            if time.is_negative() { from_end } else { frames.unsigned_abs() }
        }
        Poster::Clip(clip) => timeline.items.get(clip).map_or(0, |item| item.start + item.frames / 2),
    }
}

/// The clips of a timeline as they are joined. `matched[i]` says that clip `i + 1` gets the colors of clip `i`; missing entries mean no. `card`
/// draws the title of the clip with this index in the film.
pub(crate) fn join_clips(
    timeline: &Timeline,
    matched: &[bool],
    card: &dyn Fn(usize) -> Still,
) -> Vec<JoinClip> {
    let mut continues = false;
    let mut clips = Vec::with_capacity(timeline.items.len());
    for item in &timeline.items {
        clips.push(JoinClip {
            source: match item.source.kind {
                ClipKind::Video => JoinSource::Video(item.source.path.clone()),
                ClipKind::Image => JoinSource::Still(Still::Image(item.source.path.clone())),
                ClipKind::Card => JoinSource::Still(card(item.clip)),
            },
            first: item.first,
            frames: Some(item.frames),
            speed: item.speed.as_f64(),
            transition: item.transition.map(|transition| JoinTransition {
                kind: match transition.kind {
                    TransitionKind::Dissolve => media::TransitionKind::Dissolve,
                    TransitionKind::FadeBlack => media::TransitionKind::FadeBlack,
                    TransitionKind::FadeWhite => media::TransitionKind::FadeWhite,
                    TransitionKind::WipeLeft => media::TransitionKind::WipeLeft,
                    TransitionKind::WipeRight => media::TransitionKind::WipeRight,
                },
                before: transition.before,
                after: transition.after,
            }),
            gain: if item.mute { 0.0 } else { item.gain.amplitude() },
            continues,
            matches_previous: item.clip > 0 && matched.get(item.clip - 1) == Some(&true),
        });
        continues = item.drops_last;
    }
    clips
}

#[cfg(test)]
mod tests {
    use workflow::plan::{Location, Soundtrack};

    use super::*;

    #[test]
    fn changed_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("a.png"), "one").unwrap();
        let file = FilmFile { path: "a.png".into(), sha256: crate::artifact::sha256(b"one") };
        let film = Film {
            output: "film.mp4".into(),
            size: None,
            fit: workflow::plan::Fit::default(),
            font: None,
            frame_rate: None,
            subtitles: None,
            color_match: false,
            poster: None,
            soundtrack: Soundtrack::default(),
            clips: vec![Clip::whole(ClipSource::Image(file))],
            location: Location { file: "film.yaml".into(), line: 1, column: 1 },
        };
        assert_eq!(check_files(&film, folder.path()), Ok(()));
        fs_err::write(folder.path().join("a.png"), "two").unwrap();
        let refused = check_files(&film, folder.path()).unwrap_err();
        assert!(refused.ends_with("a.png has changed since the plan was made; run again"), "{refused}");
        fs_err::remove_file(folder.path().join("a.png")).unwrap();
        assert!(check_files(&film, folder.path()).unwrap_err().contains("a.png"));
    }
}
