//! The edit of a film whose clips are on disk.

use std::path::{Path, PathBuf};

use media::{Ffmpeg, FilmTags, JoinClip, JoinTransition, MediaError};
use sha2::{Digest, Sha256};
use timeline::{ClipFacts, ResolveError, Timeline, continuations, resolve};
use workflow::plan::{Film, NodeIx, Plan, TransitionKind};
use workflow::units::FrameRate;

/// Raised when the same film of the same clips comes out differently, so that films are joined again.
const EDIT_VERSION: u32 = 3;

/// A clip that is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilmClip {
    /// The node that is shown.
    pub node: NodeIx,
    /// Its video.
    pub path: PathBuf,
    /// SHA-256 of the video, lower-case hex.
    pub sha256: String,
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

/// SHA-256 over the clips' hashes, the edit, and what the film says about itself: the same digest is the same film.
pub(crate) fn film_digest(plan: &Plan, film: &Film, clips: &[FilmClip], tags: &FilmTags) -> String {
    let nodes: Vec<NodeIx> = clips.iter().map(|clip| clip.node).collect();
    let edits: Vec<_> = film
        .clips
        .iter()
        .map(|clip| (clip.start, clip.end, clip.length, clip.transition, clip.gain, clip.mute))
        .collect();
    let hashes: Vec<&str> = clips.iter().map(|clip| clip.sha256.as_str()).collect();
    // Not the program that makes it: another version of it is no reason to make the film again.
    let source = tags.source.map(|source| format!("{source:?}"));
    let tags = (&tags.title, &tags.comment, &tags.description, source, &tags.chapters);
    let said = || nodes.iter().map(|ix| plan.node(*ix).dialogue.as_deref()).collect::<Vec<_>>();
    let subtitles = film.subtitles.map(|subtitles| (subtitles.burn, said()));
    let ducks = film.soundtrack.music.as_ref().is_some_and(|music| !music.duck.is_zero());
    let sound = (&film.soundtrack, ducks.then(said));
    let form = (film.size, film.frame_rate, subtitles, sound);
    let parts = (EDIT_VERSION, form, hashes, edits, continuations(plan, &nodes), tags);
    // Texts, numbers and lists of them have a JSON form.
    hex::encode(Sha256::digest(serde_json::to_vec(&parts).unwrap_or_default()))
}

/// What has to be known about the file of a clip.
///
/// # Errors
/// When it cannot be read.
pub fn clip_facts(name: &str, path: &Path, ffmpeg: &Ffmpeg) -> Result<ClipFacts, MediaError> {
    let probe = ffmpeg.probe(path)?;
    let video = probe.video.as_ref();
    let rate =
        video.and_then(|video| FrameRate::new(video.frame_rate.numerator(), video.frame_rate.denominator()));
    Ok(ClipFacts {
        name: name.to_owned(),
        path: path.to_owned(),
        pictures: video.map_or(0, |video| video.frames),
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
    let facts = clips.iter().map(|clip| clip_facts(&plan.node(clip.node).name, &clip.path, ffmpeg));
    let facts: Vec<ClipFacts> = facts.collect::<Result<_, _>>()?;
    let nodes: Vec<NodeIx> = clips.iter().map(|clip| clip.node).collect();
    Ok(resolve(film, &facts, &continuations(plan, &nodes))?)
}

/// The clips of a timeline as they are joined.
pub(crate) fn join_clips(timeline: &Timeline) -> Vec<JoinClip> {
    let mut continues = false;
    let mut clips = Vec::with_capacity(timeline.items.len());
    for item in &timeline.items {
        clips.push(JoinClip {
            path: item.source.path.clone(),
            first: item.first,
            frames: Some(item.frames),
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
        });
        continues = item.drops_last;
    }
    clips
}
