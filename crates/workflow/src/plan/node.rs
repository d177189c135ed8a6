//! A node of a plan: a complete request, the sources of its inputs, and how it is to be executed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::{Family, Word};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cell, DialogueLine, NodeIx, PriceInputs, Request, RetryKinds, Said};
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
    /// The name of the service that it is sent to. `None`: the one of whoever runs the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Arc<str>>,
    /// The model's id (spec 2.1).
    pub model: Arc<str>,
    /// The family that the model belongs to.
    pub family: Family,
    /// The complete request as on the wire (spec 2.2, 2.4), with `null` at the pointers of `inputs`.
    pub request: Request,
    /// What it says, and where: the runner's words, and the service's own fields. That, and the inputs, is what the video depends on.
    #[serde(default, skip_serializing_if = "<[Said]>::is_empty")]
    pub said: Arc<[Said]>,
    /// The values that are filled in before it is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// What its price depends on.
    #[serde(default)]
    pub price: Arc<PriceInputs>,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What it is: a frame or a reference.
    pub word: Word,
    /// JSON pointer (RFC 6901) into the request.
    pub pointer: Arc<str>,
    pub source: MediaSource,
    /// The request field that takes the value instead where it is data (a `data:` URI), not a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_field: Option<Box<DataField>>,
    /// How it is written where the service takes neither a URL nor a data URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare: Option<Box<Bare>>,
}

/// A medium that is sent as Base64 without `data:…,`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bare {
    /// The JSON pointer of its media type, where the request has one.
    pub media_type_at: Option<String>,
}

/// A request field that takes the only medium of a request where it is data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataField {
    pub name: Arc<str>,
    /// The JSON pointer of the part that is left out then.
    pub instead_of: Arc<str>,
}

/// The source of an input. A URL is not an input: it is part of the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// The frame that it begins on.
    First,
    /// The frame that it ends on.
    Last,
}

impl MediaSource {
    /// The nodes that it depends on: the one whose frame it is, or those to pick from.
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
    /// What its request says of a word.
    pub fn word(&self, word: Word) -> Option<&Value> {
        let said = self.said.iter().find(|said| said.word == Some(word))?;
        self.request.pointer(&said.at)
    }

    /// The prompt.
    pub fn prompt(&self) -> Option<&str> {
        self.word(Word::Prompt).and_then(Value::as_str)
    }

    /// The seed.
    pub fn seed(&self) -> Option<i64> {
        self.word(Word::Seed).and_then(Value::as_i64)
    }

    /// The request with its inputs filled in: `values[i]` (a URL or a data URI) at the pointer of `inputs[i]`. Inputs without a value
    /// stay `null`. Data goes into [`Input::data_field`], where there is one.
    pub fn complete(&self, values: &[String]) -> Value {
        let mut request = Value::Object(self.request.to_map());
        for (input, value) in self.inputs.iter().zip(values) {
            if let (Some(bare), Some((media_type, data))) = (&input.bare, split_data_uri(value)) {
                let slots = [(Some(&*input.pointer), data), (bare.media_type_at.as_deref(), media_type)];
                for (at, text) in slots {
                    if let Some(slot) = at.and_then(|at| request.pointer_mut(at)) {
                        *slot = text.into();
                    }
                }
            } else if let Some(data) = input.data_field.as_ref().filter(|_| value.starts_with("data:")) {
                remove(&mut request, &data.instead_of);
                request[&*data.name] = Value::String(value.clone());
            } else if let Some(slot) = request.pointer_mut(&input.pointer) {
                *slot = Value::String(value.clone());
            }
        }
        request
    }
}

/// The media type and the Base64 of a data URI (RFC 2397).
pub(crate) fn split_data_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix("data:")?.split_once(";base64,")
}

/// Removes what is at a pointer, and what is empty then.
fn remove(request: &mut Value, pointer: &str) {
    let Some((parent, token)) = pointer.rsplit_once('/') else { return };
    let is_empty = match request.pointer_mut(parent) {
        Some(Value::Array(items)) => {
            if let Some(index) = token.parse().ok().filter(|index: &usize| *index < items.len()) {
                items.remove(index);
            }
            items.is_empty()
        }
        Some(Value::Object(members)) => {
            members.remove(token);
            members.is_empty()
        }
        _ => false,
    };
    if is_empty && !parent.is_empty() {
        remove(request, parent);
    }
}
