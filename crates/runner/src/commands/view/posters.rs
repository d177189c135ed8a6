//! Posters of clips, their renders and films, made once for each video, and what its header says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use scheduler::StatusKind;
use viewer::{CutKind, Manifest, ParentKind};

use crate::ffmpeg;

/// The folder of the posters, beside the page.
const FOLDER: &str = "posters";
/// The longer side, in pixels: twice the width of a card.
const MAX_SIDE: u32 = 480;

/// A video that needs a poster.
struct VideoFile {
    path: PathBuf,
    /// Whether it begins with a frame of another clip.
    continues: bool,
    /// The poster's file name, which depends on the content of the video.
    name: String,
}

/// What the page needs to know about a video.
#[derive(Debug, Clone, Default)]
struct VideoInfo {
    poster: Option<String>,
    frame_rate: Option<f64>,
    has_audio: Option<bool>,
}

/// Makes the posters that are missing, on all cores, and enters them in the manifest. A video without a readable frame has
/// none.
pub(super) fn make(folder: &Path, manifest: &mut Manifest) {
    let mut videos = HashMap::new();
    for clip in &manifest.clips {
        let continues = clip.parents.iter().any(|parent| parent.kind == ParentKind::Continues);
        let done = Some((&clip.file, &clip.sha256)).filter(|_| clip.state == StatusKind::Done);
        let renders = clip.renders.iter().map(|render| (&render.file, &render.sha256));
        for video in done.into_iter().chain(renders) {
            if let (Some(file), Some(sha256)) = video {
                let middle = if continues { "-middle" } else { "" };
                let name = format!("{}{middle}.jpg", &sha256[..sha256.len().min(16)]);
                videos.insert(file.clone(), VideoFile { path: folder.join(file), continues, name });
            }
        }
    }
    for file in manifest.films.iter().filter_map(|film| film.file.as_ref()) {
        let path = folder.join(file);
        videos.insert(
            file.clone(),
            VideoFile { name: format!("film-{}.jpg", film_digest(&path)), path, continues: false },
        );
    }
    let infos = make_all(&folder.join(FOLDER), videos);
    let info = |file: &Option<String>| file.as_ref().and_then(|file| infos.get(file)).cloned();
    for render in manifest.clips.iter_mut().flat_map(|clip| &mut clip.renders) {
        render.poster = info(&render.file).and_then(|info| info.poster);
    }
    for clip in manifest.clips.iter_mut().filter(|clip| clip.state == StatusKind::Done) {
        let VideoInfo { poster, frame_rate, has_audio } = info(&clip.file).unwrap_or_default();
        (clip.poster, clip.frame_rate, clip.has_audio) = (poster, frame_rate, has_audio);
    }
    let posters: HashMap<&str, &String> =
        manifest.clips.iter().filter_map(|clip| Some((clip.id.as_str(), clip.poster.as_ref()?))).collect();
    for film in &mut manifest.films {
        // One that begins with a title begins black: its first shot says more.
        let begins_with_title = film.cuts.first().is_some_and(|cut| cut.kind == CutKind::Title);
        let first = film.cuts.iter().find(|cut| cut.kind == CutKind::Shot).filter(|_| begins_with_title);
        let first = first.and_then(|cut| posters.get(cut.clip.as_str())).map(|poster| (*poster).clone());
        film.poster = info(&film.file).and_then(|info| first.or(info.poster));
    }
}

/// Changes with the film: a film is joined again under its name.
fn film_digest(path: &Path) -> String {
    let metadata = std::fs::metadata(path).ok();
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let text = format!("{} {:?} {modified:?}", path.display(), metadata.map(|metadata| metadata.len()));
    engine::artifact::sha256(text.as_bytes())[..16].to_owned()
}

/// The posters of all videos, by the file's name in the manifest.
fn make_all(folder: &Path, videos: HashMap<String, VideoFile>) -> HashMap<String, VideoInfo> {
    let results = Mutex::new(HashMap::new());
    if videos.is_empty() || fs_err::create_dir_all(folder).is_err() {
        return HashMap::new();
    }
    let ffmpeg = ffmpeg::find();
    let next = Mutex::new(videos.into_iter());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some((file, video)) = next.lock().unwrap_or_else(PoisonError::into_inner).next()
                    else {
                        return;
                    };
                    let info = make_one(folder, &video, &ffmpeg);
                    results.lock().unwrap_or_else(PoisonError::into_inner).insert(file, info);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn make_one(folder: &Path, video: &VideoFile, ffmpeg: &media::Ffmpeg) -> VideoInfo {
    let probe = match ffmpeg.probe(&video.path) {
        Ok(probe) => probe,
        Err(error) => {
            tracing::warn!(file = %video.path.display(), %error, "a video cannot be read");
            return VideoInfo::default();
        }
    };
    let path = folder.join(&video.name);
    let has_poster = path.exists() || {
        let poster =
            media::poster(&video.path, MAX_SIDE, video.continues, ffmpeg).map_err(|error| error.to_string());
        let result =
            poster.and_then(|bytes| media::replace_file(&path, &bytes).map_err(|error| error.to_string()));
        if let Err(error) = &result {
            tracing::warn!(file = %video.path.display(), %error, "no poster can be made");
        }
        result.is_ok()
    };
    VideoInfo {
        poster: has_poster.then(|| format!("{FOLDER}/{}", video.name)),
        frame_rate: probe.video.as_ref().map(|track| track.frame_rate.as_f64()),
        has_audio: Some(probe.audio.is_some()),
    }
}
