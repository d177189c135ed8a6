//! Resolves a request's inputs (frames, files) to a URL at the service or to a data URI.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use workflow::MediaGateError;
use workflow::plan::{Frame, MediaSource, NodeIx};

use crate::artifact::file_sha256;
use crate::artifact_store::ArtifactStore;
use crate::blocking::run_blocking;
use crate::media_gate::MEDIA_GATE;
use crate::provider::Provider;
use crate::unchanged_copy::unchanged_copy;
use scheduler::{Artifact, Failure, FailureKind, RunState, Timestamp};

/// How long a frame's URL must remain valid to be used.
const URL_EXPIRY_MARGIN: Duration = Duration::from_mins(5);

/// Where an input's value comes from; decided before anything is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputSource {
    /// A URL at the service.
    Address(String),
    /// A frame of a video on disk.
    Frame {
        /// The path of the video.
        video: PathBuf,
        /// Its hash when it was downloaded, lower-case hex. The file is in the hands of the user since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
        /// The last frame, or the first.
        #[serde(rename = "last")]
        is_last: bool,
    },
    /// A frame of a local video.
    FileFrame {
        /// The path of the video.
        video: PathBuf,
        /// Its hash at planning time, lower-case hex.
        sha256: String,
        /// The last frame, or the first.
        #[serde(rename = "last")]
        is_last: bool,
    },
    /// A local file.
    File {
        path: PathBuf,
        /// Its hash at planning time, lower-case hex.
        sha256: String,
        /// For example `image/png`.
        media_type: String,
    },
}

impl InputSource {
    /// Whether the request refers to it by its URL.
    pub fn is_by_url(&self) -> bool {
        matches!(self, Self::Address(_))
    }
}

/// The source of each input of a node whose dependencies are done. With `is_inline`, frames are sent as data even where the service hosts them.
pub fn input_sources(
    node: NodeIx,
    state: &RunState,
    provider: &dyn Provider,
    workflow_dir: &Path,
    is_inline: bool,
    now: Timestamp,
) -> Vec<InputSource> {
    state
        .plan()
        .node(node)
        .inputs
        .iter()
        .map(|input| match &input.source {
            MediaSource::LastFrame(parent) => {
                let artifact = state.artifact(*parent);
                match artifact.and_then(|artifact| artifact.usable_last_frame_url(now, URL_EXPIRY_MARGIN)) {
                    Some(url)
                        if !is_inline
                            && input.bare.is_none()
                            // Another service may not be let in where this one hosts its frames.
                            && state.plan().node(*parent).service == state.plan().node(node).service
                            && provider.can_reach(url) =>
                    {
                        InputSource::Address(url.to_owned())
                    }
                    _ => frame(artifact, true),
                }
            }
            MediaSource::FirstFrame(parent) => frame(state.artifact(*parent), false),
            // A node that waits for a pick is never prepared; reading this frame would fail.
            MediaSource::Pick { frame: which, .. } => frame(None, *which == Frame::Last),
            MediaSource::FileFrame { path, sha256, frame } => InputSource::FileFrame {
                video: workflow_dir.join(path),
                sha256: sha256.clone(),
                is_last: *frame == Frame::Last,
            },
            MediaSource::File { path, sha256, media_type, .. } => InputSource::File {
                path: workflow_dir.join(path),
                sha256: sha256.clone(),
                media_type: media_type.clone(),
            },
        })
        .collect()
}

fn frame(video: Option<&Artifact>, is_last: bool) -> InputSource {
    let (video, sha256) = video.map(|video| (video.path.clone(), video.sha256.clone())).unzip();
    InputSource::Frame { video: video.unwrap_or_default(), sha256, is_last }
}

/// Reads all inputs and returns their values in order. Videos of shots are also looked up in `store`.
///
/// # Errors
/// When a file or a frame cannot be read, or is not what it was.
pub async fn load_inputs(
    inputs: Vec<InputSource>,
    store: Option<ArtifactStore>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Vec<String>, Failure> {
    // Nothing to read: most shots have no inputs.
    if inputs.iter().all(InputSource::is_by_url) {
        return inputs.into_iter().map(|input| value(input, None, &ffmpeg)).collect();
    }
    let filled = run_blocking(move || {
        let values: Vec<String> = inputs
            .into_iter()
            .map(|input| value(input, store.as_ref(), &ffmpeg))
            .collect::<Result<_, _>>()?;
        check_sum(&values).map(|()| values)
    });
    filled.await.unwrap_or_else(|error| Err(local(error.to_string())))
}

fn value(
    input: InputSource,
    store: Option<&ArtifactStore>,
    ffmpeg: &media::Ffmpeg,
) -> Result<String, Failure> {
    match input {
        InputSource::Address(url) => Ok(url),
        InputSource::FileFrame { video, sha256, is_last } => {
            if file_sha256(&video).map_err(|error| local(error.to_string()))? != sha256 {
                return Err(changed(&video));
            }
            value(InputSource::Frame { video, sha256: None, is_last }, store, ffmpeg)
        }
        InputSource::Frame { video, sha256, is_last } => {
            let video = match sha256 {
                Some(sha256) => unchanged_copy(&video, &sha256, store)?,
                None => video,
            };
            let taken = if is_last { ffmpeg.last_frame(&video) } else { ffmpeg.first_frame(&video) };
            let position = if is_last { "last" } else { "first" };
            let image = taken.map_err(|error| {
                local(format!("the {position} frame of {} cannot be taken: {error}", video.display()))
            })?;
            Ok(data_uri("image/png", &media::encode_png(&image)))
        }
        InputSource::File { path, sha256, media_type } => {
            let metadata = fs_err::metadata(&path).map_err(|error| local(error.to_string()))?;
            // It was one when the plan was made. Opening a pipe would wait for a writer.
            if !metadata.is_file() {
                return Err(changed(&path));
            }
            let size = metadata.len();
            if size > MEDIA_GATE.max_file_bytes {
                return Err(local(format!("{}: {}", path.display(), MEDIA_GATE.too_large().message)));
            }
            let bytes = fs_err::read(&path).map_err(|error| local(error.to_string()))?;
            // The same bytes passed the media gate when the plan was made.
            if crate::artifact::sha256(&bytes) != sha256 {
                return Err(changed(&path));
            }
            Ok(data_uri(&media_type, &bytes))
        }
    }
}

/// Bounds the inline data of one request. The plan has done so for files; frames of other shots are added here.
fn check_sum(values: &[String]) -> Result<(), Failure> {
    let inline = values.iter().filter(|value| value.starts_with("data:"));
    let sum = inline.map(|value| workflow::inline_bytes(value)).sum();
    if sum > MEDIA_GATE.max_request_bytes {
        let MediaGateError { message, help } = MEDIA_GATE.sum_too_large(sum);
        return Err(local(format!("{message}; {help}")));
    }
    Ok(())
}

fn changed(path: &Path) -> Failure {
    local(format!("{} has changed since the plan was made; run again", path.display()))
}

fn data_uri(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

fn local(message: String) -> Failure {
    Failure::new(FailureKind::Local, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured when the plan is made is what is measured here: the largest media that pass `check` are sent.
    #[test]
    fn sum_of_inline_media_is_that_of_their_contents() {
        for length in 0..20 {
            let uri = data_uri("image/png", &vec![7; length]);
            assert_eq!(workflow::inline_bytes(&uri), length as u64);
        }
        let half = (MEDIA_GATE.max_request_bytes / 2) as usize;
        let sum_of =
            |lengths: [usize; 2]| check_sum(&lengths.map(|length| data_uri("image/png", &vec![7; length])));
        assert!(sum_of([half, half]).is_ok());
        let refused = sum_of([half + 1, half]).unwrap_err();
        insta::assert_snapshot!(refused.message, @"the media of this shot have 23.1 MiB together; one request carries at most 23 MiB; compress or scale it down, or upload it and give its `https://` URL");
    }
}
