//! Films are joined on a worker, from videos and files of the shared store.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use engine::effects::{FilmFolders, join_film};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use scheduler::{Event, Failure, FailureKind, Film, Timestamp};
use serde::{Deserialize, Serialize};
use workflow::plan::NodeIx;

use crate::effects::{EffectError, local};
use crate::messages::{Answer, Answers, Join, RUN};
use crate::store::ObjectKind;
use crate::worker::Worker;

/// Folders between a scratch folder and the workflow's files in it, so that paths that begin with `..` stay inside.
const NESTING: &str = "w/w/w/w/w/w/w/w";

/// The service that joins films.
#[derive(Debug, Clone)]
pub(crate) struct FilmService(pub(crate) Arc<Worker>);

/// A file of a film, in the shared store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFilmFile {
    /// Relative to the output folder.
    pub path: PathBuf,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// A joined film with its files, the film itself first.
type JoinedFilm = (Film, Vec<StoredFilmFile>);

#[service(name = "Films")]
impl FilmService {
    /// Joins a film and reports it to the run.
    #[handler]
    async fn join(&self, ctx: Context<'_>, message: Json<Join>) -> Result<(), HandlerError> {
        let (run, seq, index) = (message.0.run.clone(), message.0.seq, message.0.index);
        let worker = Arc::clone(&self.0);
        let effect = ctx.run(move || async move {
            let joined = match join(&worker, message.0).await {
                Ok(joined) => Ok(joined),
                Err(EffectError::Failure(failure)) => Err(failure),
                Err(EffectError::Outage(error)) => return Err(error.into()),
            };
            Ok(Json((joined, worker.clock.now())))
        });
        let Json((joined, time)): Json<(Result<JoinedFilm, Failure>, Timestamp)> =
            effect.name("join").await?;
        let event = match joined {
            Ok((film, files)) => {
                let target = RequestTarget::object(RUN, run.as_str(), "film_joined");
                ctx.request::<_, ()>(target, Json((index, files))).call().await?;
                Event::FilmJoined { index, film }
            }
            Err(failure) => Event::JoinFailed { index, failure },
        };
        let target = RequestTarget::object(RUN, run.as_str(), "step");
        let _handle = ctx
            .request::<_, ()>(
                target,
                Json(Answers { time, answers: vec![Answer { seq, events: vec![event] }] }),
            )
            .send();
        Ok(())
    }
}

async fn join(worker: &Arc<Worker>, message: Join) -> Result<JoinedFilm, EffectError> {
    let _effect = worker.in_progress.begin();
    let loaded = worker.spec(&message.spec).await?;
    let scratch = tempfile::tempdir()?;
    let workflow = scratch.path().join(NESTING);
    fs_err::create_dir_all(&workflow)?;
    for file in &loaded.spec.files {
        if !is_below_scratch(&file.path) {
            let reason = format!("{} is outside of what a worker can hold", file.path.display());
            return Err(local(&reason).into());
        }
        worker.store.get_file(ObjectKind::File, &file.sha256, &workflow.join(&file.path)).await?;
    }
    let mut videos: Vec<(NodeIx, PathBuf, String)> = Vec::new();
    for (node, sha256) in message.videos {
        // By number: a hash that comes from outside is no file name.
        let path = scratch.path().join("videos").join(format!("{}.mp4", videos.len()));
        worker.store.get_file(ObjectKind::Artifact, &sha256, &path).await?;
        videos.push((node, path, sha256));
    }
    let output = scratch.path().join("out");
    fs_err::create_dir_all(&output)?;
    let (ffmpeg, source, index) = (Arc::clone(&worker.ffmpeg), worker.digital_source, message.index);
    let (plan, folder) = (Arc::clone(&loaded.plan), output.clone());
    let joined = tokio::task::spawn_blocking(move || {
        let film = plan.films().get(index).ok_or_else(|| local(&"the plan has no such film"))?;
        if !is_file_name(&film.output) {
            return Err(local(&format!("`{}` is no file name, so the film is not written", film.output)));
        }
        let video = |node| {
            let (_, path, sha256) = videos.iter().find(|(video_node, ..)| *video_node == node)?;
            Some((path.clone(), sha256.clone()))
        };
        let clips = engine::film::film_clips(&plan, film, &workflow, video)
            .ok_or_else(|| local(&"a clip of the film has no video"))?;
        let folders = FilmFolders { workflow: &workflow, output: &folder };
        let film = join_film(&plan, index, &clips, folders, source, &ffmpeg)?;
        let files = written_files(&folder, &film.path).map_err(|error| local(&error))?;
        Ok((film, files))
    });
    let (film, written) =
        joined.await.map_err(|error| Failure::new(FailureKind::Local, error.to_string()))??;
    let mut files = Vec::new();
    for (path, sha256) in written {
        worker.store.put_file(ObjectKind::Film, &path, &sha256).await?;
        files.push(StoredFilmFile { path: relative(&path, &output), sha256 });
    }
    let path = relative(&film.path, &output);
    Ok((Film { path, ..film }, files))
}

/// The files of a folder with their SHA-256, the film first. Reads whole films: for a thread for blocking work.
fn written_files(folder: &Path, film: &Path) -> std::io::Result<Vec<(PathBuf, String)>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable_by_key(|path| (path != film, path.clone()));
    let hashed = paths.into_iter().map(|path| {
        let sha256 = engine::artifact::file_sha256(&path)?;
        Ok((path, sha256))
    });
    hashed.collect()
}

fn relative(path: &Path, folder: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

/// Whether a name leads to a file of the folder that it is joined to.
fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}

/// Whether a path relative to the workflow's folder stays inside of a worker's scratch folder.
pub(crate) fn is_below_scratch(path: &Path) -> bool {
    let mut depth = NESTING.split('/').count();
    path.components().all(|part| match part {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => match depth.checked_sub(1) {
            Some(parent_depth) => {
                depth = parent_depth;
                true
            }
            None => false,
        },
        Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_inside_of_the_scratch_folder() {
        for path in ["a.png", "../stills/a.png", "../../../../../../../../a.png", "./b/../a.png"] {
            assert!(is_below_scratch(Path::new(path)), "{path}");
        }
        for path in ["/etc/passwd", "../../../../../../../../../a.png"] {
            assert!(!is_below_scratch(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn films_are_written_under_file_names_only() {
        assert!(is_file_name("film.mp4"));
        for name in ["", "..", "../film.mp4", "a/film.mp4", "/film.mp4", "film.mp4/", "./film.mp4"] {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
