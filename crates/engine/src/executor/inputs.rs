//! Frames and files into the request: by the address where the service keeps them, or as a data URI.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scheduler::{Failure, FailureKind, Millis, RunState};
use workflow::plan::{Frame, NodeIx, Source};

use crate::blocking::blocking;
use crate::provider::Provider;

/// How much longer a frame's address must last to be relied upon.
const MARGIN: Duration = Duration::from_mins(5);
/// The largest file that is put into a request.
const LARGEST_FILE: u64 = 20 << 20;

/// Where an input's value comes from, decided before any of it is read.
pub(super) enum Given {
    /// The service keeps it here.
    Address(String),
    /// A frame of a video on disk.
    Frame { video: PathBuf, last: bool },
    /// A file of the user's.
    File { path: PathBuf, sha256: String, media_type: String },
}

impl Given {
    pub(super) fn is_by_url(&self) -> bool {
        matches!(self, Self::Address(_))
    }
}

/// Decides for each input of a node where it comes from. The nodes before it are done.
pub(super) fn gather(
    node: NodeIx,
    state: &RunState,
    provider: &dyn Provider,
    sources: &Path,
    inline: bool,
    now: Millis,
) -> Vec<Given> {
    state
        .plan()
        .node(node)
        .inputs
        .iter()
        .map(|input| match &input.source {
            Source::LastFrame(parent) => {
                let made = state.artifact(*parent);
                match made.and_then(|made| made.usable_last_frame_url(now, MARGIN)) {
                    Some(url) if !inline && provider.reaches(url) => Given::Address(url.to_owned()),
                    _ => frame(made.map(|made| made.path.clone()), true),
                }
            }
            Source::FirstFrame(parent) => frame(state.artifact(*parent).map(|made| made.path.clone()), false),
            // Nodes that wait for a pick are never prepared; a frame of nothing fails where it would be read.
            Source::Pick { frame: which, .. } => frame(None, *which == Frame::Last),
            Source::File { path, sha256, media_type, .. } => Given::File {
                path: sources.join(path),
                sha256: sha256.clone(),
                media_type: media_type.clone(),
            },
        })
        .collect()
}

fn frame(video: Option<PathBuf>, last: bool) -> Given {
    Given::Frame { video: video.unwrap_or_default(), last }
}

/// Reads what is to be read and answers with the inputs' values, in order.
pub(super) async fn fill(given: Vec<Given>, tools: Arc<media::Tools>) -> Result<Vec<String>, Failure> {
    // Most shots begin with nothing but words.
    if given.iter().all(Given::is_by_url) {
        return given.into_iter().map(|input| value(input, &tools)).collect();
    }
    let filled = blocking(move || given.into_iter().map(|input| value(input, &tools)).collect());
    filled.await.unwrap_or_else(|error| Err(local(error.to_string())))
}

fn value(given: Given, tools: &media::Tools) -> Result<String, Failure> {
    match given {
        Given::Address(url) => Ok(url),
        Given::Frame { video, last } => {
            let taken = if last { tools.last_frame(&video) } else { tools.first_frame(&video) };
            let which = if last { "last" } else { "first" };
            let image = taken.map_err(|error| {
                local(format!("the {which} frame of {} cannot be taken: {error}", video.display()))
            })?;
            Ok(data_uri("image/png", &media::encode_png(&image)))
        }
        Given::File { path, sha256, media_type } => {
            let size = fs_err::metadata(&path).map_err(|error| local(error.to_string()))?.len();
            if size > LARGEST_FILE {
                return Err(local(format!(
                    "{} has {size} bytes; at most {LARGEST_FILE} can be sent",
                    path.display()
                )));
            }
            let bytes = fs_err::read(&path).map_err(|error| local(error.to_string()))?;
            if crate::artifact::sha256(&bytes) != sha256 {
                return Err(local(format!(
                    "{} has changed since the plan was made; run again",
                    path.display()
                )));
            }
            Ok(data_uri(&media_type, &bytes))
        }
    }
}

fn data_uri(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

fn local(message: String) -> Failure {
    Failure::new(FailureKind::Local, message)
}
