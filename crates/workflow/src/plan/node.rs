//! A node of a plan: a complete request, the sources of its inputs, and how it is to be executed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::Family;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cell, DialogueLine, NodeIx, Request, RetryKinds};
use crate::units::VideoDuration;

/// One video to be rendered. Equal parts are shared between nodes: a plan of 100,000 takes at most 1.5 KB a node (docs/benchmarks.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The instance's name: `door`, `harbor@lens=24mm,seed=1`, with takes `lamp#2`. Unique in the plan; made of
    /// letters and digits of any script (in normalization form C) and `@ = , . - _ #`.
    pub name: String,
    /// The id of the shot that it is an instance of.
    pub shot: Arc<str>,
    /// The id of the repeated shot that its shot is a step of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_of: Option<Arc<str>>,
    /// The group that its shot is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Arc<str>>,
    /// The matrix cell: axis to value, in the order of the file. Empty without a matrix.
    #[serde(default, skip_serializing_if = "Cell::is_empty")]
    pub cell: Cell,
    /// The render of its instance that it stands for, counted from 1: a take, or one that was asked for while another one is picked. `None`:
    /// whichever render counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<u32>,
    /// The picked render, if it stands for whichever counts. One that does not exist decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picked: Option<u32>,
    /// The author's note, for people only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// What is said in it, for people only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue: Option<Arc<[DialogueLine]>>,
    /// The model's id (spec 2.1).
    pub model: Arc<str>,
    /// The family that the model belongs to.
    pub family: Family,
    /// The complete request as on the wire (spec 2.2, 2.4), with `null` at the pointers of `inputs`.
    pub request: Request,
    /// The values that are filled in before it is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The requested length of the video; [`crate::DEFAULT_DURATION`] if the request does not state it.
    #[serde(rename = "seconds", with = "crate::units::seconds")]
    pub duration: VideoDuration,
    /// Distinguishes otherwise identical work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The maximum number of attempts, the first included.
    pub retry: u32,
    /// The failures after which it is retried.
    #[serde(default, skip_serializing_if = "RetryKinds::is_default")]
    pub retry_on: RetryKinds,
    /// The deadline of one attempt, after which its task is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Where the file defines the shot.
    pub location: Location,
}

/// A value that is filled into a request before it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// JSON pointer (RFC 6901) into the request.
    pub pointer: String,
    pub source: MediaSource,
    /// The request field that takes the value instead where it is data (a `data:` URI), not a URL. It is not part of the key: the same
    /// image in either place is the same work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_field: Option<Arc<str>>,
}

/// The source of an input. A URL is not an input: it is part of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MediaSource {
    /// The last frame of another node's video.
    LastFrame(NodeIx),
    /// The first frame of another node's video.
    FirstFrame(NodeIx),
    /// A frame of whichever of these takes or instances is picked; nobody has picked one yet, so the node is deferred.
    Pick {
        /// What there is to choose from, at least two.
        #[serde(rename = "takes")]
        candidates: Vec<NodeIx>,
        /// Which frame of the chosen one.
        frame: Frame,
    },
    /// A file beside the workflow, with the content that it had at planning time.
    File {
        /// Relative to the folder of the workflow file.
        path: PathBuf,
        /// SHA-256 of the content, lower-case hex.
        sha256: String,
        /// For example `image/png`.
        media_type: String,
        /// The content's length.
        bytes: u64,
    },
    /// A frame of a video beside the workflow, with the content that it had at planning time.
    FileFrame {
        /// Relative to the folder of the workflow file.
        path: PathBuf,
        /// SHA-256 of the video, lower-case hex.
        sha256: String,
        frame: Frame,
    },
}

/// Which frame of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// The frame that it begins on.
    First,
    /// The frame that it ends on.
    Last,
}

impl MediaSource {
    /// The nodes that it depends on: the one whose frame it is, or those to pick from.
    #[must_use]
    pub fn nodes(&self) -> &[NodeIx] {
        match self {
            Self::LastFrame(ix) | Self::FirstFrame(ix) => std::slice::from_ref(ix),
            Self::Pick { candidates, .. } => candidates,
            Self::File { .. } | Self::FileFrame { .. } => &[],
        }
    }
}

/// A location in a workflow file. Lines and columns are counted from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Node {
    /// The request with its inputs filled in: `values[i]` (a URL or a data URI) at the pointer of `inputs[i]`. Inputs without a value
    /// stay `null`. Data goes into [`Input::data_field`], where there is one.
    #[must_use]
    pub fn complete(&self, values: &[String]) -> Value {
        let mut request = Value::Object(self.request.to_map());
        for (input, value) in self.inputs.iter().zip(values) {
            if let Some(field) = input.data_field.as_deref().filter(|_| value.starts_with("data:")) {
                remove_content_item(&mut request, &input.pointer);
                request[field] = Value::String(value.clone());
            } else if let Some(slot) = request.pointer_mut(&input.pointer) {
                *slot = Value::String(value.clone());
            }
        }
        request
    }
}

/// Removes the item of `metadata.content` that a pointer leads into, and what is empty then.
fn remove_content_item(request: &mut Value, pointer: &str) {
    let index = pointer.split('/').nth(3).and_then(|index| index.parse::<usize>().ok());
    let Some(metadata) = request.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(content) = metadata.get_mut("content").and_then(Value::as_array_mut) else { return };
    if let Some(index) = index.filter(|index| *index < content.len()) {
        content.remove(index);
    }
    if content.is_empty() {
        metadata.remove("content");
    }
    if metadata.is_empty()
        && let Some(request) = request.as_object_mut()
    {
        request.remove("metadata");
    }
}
