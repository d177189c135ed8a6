//! Small versions of the clips of a shot of which there are many, made once for each video: a grid plays up to 25 of them at once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use media::Ffmpeg;
use scheduler::StatusKind;
use viewer::{Clip, Manifest};

/// The folder of the proxies, beside the page.
const FOLDER: &str = "proxies";
/// Up to this many clips play in a grid as they are.
const MAX_FULL: usize = 9;
/// More clips than this would take minutes.
const MAX_CLIPS: usize = 400;

/// Enters the proxies that exist.
pub(super) fn enter(folder: &Path, manifest: &mut Manifest) {
    for clip in &mut manifest.clips {
        let name = file_name(clip).map(|name| format!("{FOLDER}/{name}"));
        clip.proxy = name.filter(|name| folder.join(name).is_file());
    }
}

/// Makes the proxies that are missing, on all cores. A clip that cannot be read has none, and neither has one that is small itself.
pub(super) fn make(folder: &Path, manifest: &Manifest, ffmpeg: &Ffmpeg) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let done = || manifest.clips.iter().filter(|clip| clip.state == StatusKind::Done);
    for clip in done() {
        *counts.entry(&clip.shot).or_default() += 1;
    }
    let is_many = |clip: &&Clip| counts.get(&*clip.shot).is_some_and(|count| *count > MAX_FULL);
    let is_large = |clip: &Clip| {
        clip.width.zip(clip.height).is_none_or(|(width, height)| media::needs_proxy(width, height))
    };
    let proxies = folder.join(FOLDER);
    let missing: Vec<(&Clip, String)> = done()
        .filter(|clip| is_many(clip) && is_large(clip))
        .filter_map(|clip| Some((clip, file_name(clip)?)))
        .filter(|(_, name)| !proxies.join(name).exists())
        .collect();
    if missing.len() > MAX_CLIPS {
        errln!(
            "{} clips have no small version, and at most {MAX_CLIPS} are made at once: grids play {MAX_FULL} of them in step",
            missing.len()
        );
        return;
    }
    if missing.is_empty() || fs_err::create_dir_all(&proxies).is_err() {
        return;
    }
    errln!("making small versions of {} clips for grids of more than {MAX_FULL}", missing.len());
    let next = Mutex::new(missing.into_iter());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    if ffmpeg.cancellation.is_cancelled() {
                        return;
                    }
                    let next_clip = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((clip, name)) = next_clip else { return };
                    let Some(file) = &clip.file else { continue };
                    let video = folder.join(file);
                    if let Err(error) = media::write_proxy(&video, &proxies.join(name), ffmpeg)
                        && !ffmpeg.cancellation.is_cancelled()
                    {
                        tracing::warn!(file = %video.display(), %error, "no small version can be made");
                    }
                }
            });
        }
    });
}

/// The name of a clip's proxy, which depends on the content of the video.
fn file_name(clip: &Clip) -> Option<String> {
    let sha256 = clip.sha256.as_ref().filter(|_| clip.state == StatusKind::Done && clip.file.is_some())?;
    Some(format!("{}.mp4", sha256.get(..16)?))
}
