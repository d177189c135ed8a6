//! Sidecars: JSON files beside paid videos in the artifact store, from which a lost ledger is rebuilt ([`crate::adopt`]).
//!
//! A sidecar is durable before the event that records its video. One without a record is harmless: the task is in flight, and its video is
//! downloaded again.
//!
//! Invariant: the API key and the inputs of the request are never in a sidecar.
//! Invariant: what a sidecar says is used only after the hash of its video was verified. Its names contain no paths.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use scheduler::{Artifact, AttemptId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workflow::plan::{NodeIx, NodeKey, Plan};
use workflow::units::{self, Money};

/// The version of the format.
pub const SIDECAR_VERSION: u32 = 1;

/// Maximum length of a sidecar, in bytes.
pub const MAX_SIDECAR_BYTES: usize = 1 << 20;

/// What the video `SHA256.mp4` beside it is, in the file `SHA256.KEY.json`. Times are milliseconds since the Unix epoch, amounts of money
/// millionths of `currency`; `null` is unknown or does not apply. Members are added without a new version: ignore what you do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sidecar {
    /// [`SIDECAR_VERSION`]; no other one is read.
    pub version: u32,
    /// The key of the work: 64 lower-case hex digits of its request; then `#` and a number, where it is not the first render of that.
    pub key: String,
    /// SHA-256 of the video, 64 lower-case hex digits.
    pub sha256: String,
    /// SHA-256 of the video that was downloaded first for the same task, where the service has delivered it again with other bytes: keys of
    /// shots that continue the video are made of it.
    pub first_sha256: Option<String>,
    /// Size of the video in bytes.
    pub bytes: u64,
    /// The identity of the service, as it is part of the key.
    pub service: String,
    /// The service's task.
    pub task: Option<String>,
    /// The attempt that submitted it.
    pub attempt: String,
    /// The instance of the shot: `storm@look=noir,seed=3`, `door#2`.
    pub shot: String,
    /// The name of the workflow.
    pub workflow: String,
    /// Its file.
    pub file: Option<String>,
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt: Option<String>,
    /// The seed.
    pub seed: Option<i64>,
    /// The request, with inputs described instead of included.
    pub request: Option<Value>,
    /// The videos that it was made after.
    pub parents: Vec<SidecarParent>,
    /// Its number in the list of renders of the instance.
    pub render: u32,
    /// Whether it was asked for with `run --rerun`: without a pick, the newest of these counts.
    pub asked: bool,
    /// What was reserved for the task.
    #[serde(with = "units::micros")]
    #[schemars(with = "Option<u64>")]
    pub reserved_cost: Option<Money>,
    /// The currency of the price table.
    pub currency: Option<String>,
    /// When the video was complete on disk.
    pub completed_at: Timestamp,
}

/// A shot that the shot of a sidecar depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SidecarParent {
    /// The instance.
    pub shot: String,
    /// Its key.
    pub key: String,
}

/// Why a file is not used as a sidecar.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is longer than any sidecar.
    #[error("it has more than {MAX_SIDECAR_BYTES} bytes, the maximum of a sidecar")]
    TooLarge,
    /// It is not JSON of this form.
    #[error("it is not a sidecar: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another version of the format.
    #[error("it has version {version}, and this program reads version {SIDECAR_VERSION}")]
    Version {
        /// Its version.
        version: u32,
    },
    /// A hash of another form.
    #[error("its `{member}` is not 64 lower-case hex digits")]
    Digits {
        /// The member.
        member: &'static str,
    },
    /// A key of another form.
    #[error(
        "its `key` is not 64 lower-case hex digits, with a number after `#` where it is not the first render of its request"
    )]
    Key,
    /// The name of the file belongs to another sidecar.
    #[error("its name is not that of its video and key")]
    Name,
}

/// The version of a sidecar, whatever else is in it.
#[derive(Deserialize)]
struct SidecarVersion {
    version: u32,
}

/// What is recorded of a task before its video exists.
#[derive(Clone, Copy)]
pub(crate) struct TaskRecord<'a> {
    pub(crate) key: NodeKey,
    pub(crate) service: &'a str,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) attempt: &'a AttemptId,
    pub(crate) file: Option<&'a str>,
    pub(crate) render: u32,
    pub(crate) is_asked: bool,
    pub(crate) currency: Option<&'a str>,
}

impl Sidecar {
    /// The sidecar of a node's video; `parent` is the key of a node. See [`Self::with_video`].
    pub(crate) fn for_node(
        plan: &Plan,
        node: NodeIx,
        record: TaskRecord<'_>,
        parent: impl Fn(NodeIx) -> Option<NodeKey>,
    ) -> Self {
        let request = Value::Object(plan.request_outline(node));
        let parents = plan.predecessors(node).into_iter().filter_map(|ix| {
            Some(SidecarParent { shot: plan.node(ix).name.clone(), key: parent(ix)?.to_string() })
        });
        Self {
            version: SIDECAR_VERSION,
            key: record.key.to_string(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 0,
            service: record.service.to_owned(),
            task: record.task.map(|task| task.as_str().to_owned()),
            attempt: record.attempt.to_string(),
            shot: plan.node(node).name.clone(),
            workflow: plan.name().to_owned(),
            file: record.file.map(str::to_owned),
            model: plan.node(node).model.to_string(),
            prompt: plan.node(node).prompt().map(str::to_owned),
            seed: plan.node(node).seed(),
            parents: parents.collect(),
            request: Some(request),
            render: record.render,
            asked: record.is_asked,
            reserved_cost: None,
            currency: record.currency.map(str::to_owned),
            completed_at: Timestamp::default(),
        }
    }

    /// The same with its video.
    pub(crate) fn with_video(self, video: &Artifact, completed_at: Timestamp) -> Self {
        let Artifact { sha256, first_sha256, bytes, .. } = video.clone();
        Self { sha256, first_sha256, bytes, completed_at, ..self }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        file_name(&self.sha256, &self.key)
    }

    /// The same without what describes the request, which nothing is adopted by.
    pub(crate) fn without_request(self) -> Self {
        Self { request: None, prompt: None, parents: Vec::new(), ..self }
    }

    /// Its text, without the request where it would be too long with it.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        if text.len() >= MAX_SIDECAR_BYTES {
            text = serde_json::to_vec_pretty(&self.clone().without_request())?;
        }
        text.push(b'\n');
        Ok(text)
    }

    /// Reads a sidecar, which may come from anybody.
    ///
    /// # Errors
    /// When it is too long, malformed, or of another version.
    pub fn from_json(text: &[u8]) -> Result<Self, SidecarError> {
        if text.len() > MAX_SIDECAR_BYTES {
            return Err(SidecarError::TooLarge);
        }
        let SidecarVersion { version } = serde_json::from_slice(text)?;
        if version != SIDECAR_VERSION {
            return Err(SidecarError::Version { version });
        }
        let sidecar: Self = serde_json::from_slice(text)?;
        if NodeKey::parse(&sidecar.key).is_none_or(|key| key.to_string() != sidecar.key) {
            return Err(SidecarError::Key);
        }
        if !is_digest(&sidecar.sha256) {
            return Err(SidecarError::Digits { member: "sha256" });
        }
        if sidecar.first_sha256.as_deref().is_some_and(|first| !is_digest(first)) {
            return Err(SidecarError::Digits { member: "first_sha256" });
        }
        Ok(sidecar)
    }

    /// Reads the sidecar in a file.
    pub(crate) fn read(path: &Path) -> Result<Self, SidecarError> {
        // Links lead elsewhere, and a pipe would never end.
        if !std::fs::symlink_metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file").into());
        }
        let mut text = Vec::new();
        // One byte more than it may have, so that the bound is noticed.
        std::fs::File::open(path)?.take(MAX_SIDECAR_BYTES as u64 + 1).read_to_end(&mut text)?;
        let sidecar = Self::from_json(&text)?;
        if path.file_name().is_none_or(|name| *name != *sidecar.file_name()) {
            return Err(SidecarError::Name);
        }
        Ok(sidecar)
    }
}

/// The name of the sidecar of a video for a key.
pub(crate) fn file_name(sha256: &str, key: &str) -> String {
    format!("{sha256}.{}.json", key.replace('#', "-"))
}

/// The content hash and the key in the name of a sidecar.
pub(crate) fn parse_name(name: &str) -> Option<(&str, NodeKey)> {
    let (sha256, key) = name.strip_suffix(".json")?.split_once('.')?;
    let key = NodeKey::parse(&key.replace('-', "#")).filter(|_| is_digest(sha256))?;
    (file_name(sha256, &key.to_string()) == name).then_some((sha256, key))
}

/// The paths of the sidecars in a folder, sorted. None where there is no such folder.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().and_then(parse_name).is_some() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// The sidecars in a folder, by name.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn read_folder(folder: &Path) -> io::Result<Vec<(PathBuf, Result<Sidecar, SidecarError>)>> {
    let read = |path: PathBuf| {
        let sidecar = Sidecar::read(&path);
        (path, sidecar)
    };
    Ok(paths(folder)?.into_iter().map(read).collect())
}

/// The JSON Schema of a sidecar.
pub fn schema() -> Value {
    schemars::schema_for!(Sidecar).to_value()
}

/// Whether a text is a SHA-256, and therefore no path.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && is_hex(text)
}

pub(crate) fn is_hex(text: &str) -> bool {
    text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sidecar() -> Value {
        json!({
            "version": 1, "key": "a".repeat(64), "sha256": "b".repeat(64), "first_sha256": "c".repeat(64), "bytes": 9, "service": "https://example.com",
            "task": "t1", "attempt": "r.1", "shot": "door", "workflow": "film", "file": "film.yaml", "model": "m",
            "prompt": "a door", "seed": 7, "request": { "prompt": "a door" }, "parents": [], "render": 1, "asked": false,
            "reserved_cost": 5, "currency": "USD", "completed_at": 1, "added_later": true
        })
    }

    fn read(value: &Value) -> Result<Sidecar, SidecarError> {
        Sidecar::from_json(value.to_string().as_bytes())
    }

    #[test]
    fn sidecar_round_trips_and_ignores_new_members() {
        let read = read(&sidecar()).unwrap();
        let written: Value = serde_json::from_slice(&read.to_json().unwrap()).unwrap();
        let mut expected = sidecar();
        expected.as_object_mut().unwrap().remove("added_later");
        assert_eq!(written, expected, "members and their forms");
        assert_eq!(Sidecar::from_json(&read.to_json().unwrap()).unwrap(), read);
        let name = read.file_name();
        let key = NodeKey::parse(&"a".repeat(64)).unwrap();
        assert_eq!(parse_name(&name), Some((&*"b".repeat(64), key)));
        let second = file_name(&"b".repeat(64), &key.numbered(2).to_string());
        assert_eq!(parse_name(&second), Some((&*"b".repeat(64), key.numbered(2))));
    }

    #[test]
    fn sidecar_of_hostile_content_is_refused() {
        let with = |member: &str, value: Value| {
            let mut changed = sidecar();
            changed[member] = value;
            read(&changed).unwrap_err().to_string()
        };
        let refusals = [
            with("version", json!(2)),
            with("key", json!("../../../etc/passwd")),
            with("key", json!("A".repeat(64))),
            with("sha256", json!("a/../b")),
            with("first_sha256", json!("../b")),
            with("bytes", json!(-1)),
            with("key", json!(format!("{}#1", "a".repeat(64)))),
            with("prompt", json!("x".repeat(MAX_SIDECAR_BYTES))),
        ];
        insta::assert_snapshot!(refusals.join("\n"), @r"
        it has version 2, and this program reads version 1
        its `key` is not 64 lower-case hex digits, with a number after `#` where it is not the first render of its request
        its `key` is not 64 lower-case hex digits, with a number after `#` where it is not the first render of its request
        its `sha256` is not 64 lower-case hex digits
        its `first_sha256` is not 64 lower-case hex digits
        it is not a sidecar: invalid value: integer `-1`, expected u64 at line 1 column 254
        its `key` is not 64 lower-case hex digits, with a number after `#` where it is not the first render of its request
        it has more than 1048576 bytes, the maximum of a sidecar
        ");
    }

    #[test]
    fn sidecar_too_long_is_written_without_its_request() {
        let long =
            Sidecar { request: Some(json!("x".repeat(MAX_SIDECAR_BYTES))), ..read(&sidecar()).unwrap() };
        let written = Sidecar::from_json(&long.to_json().unwrap()).unwrap();
        assert_eq!((written.request, written.key), (None, long.key));
    }

    #[test]
    fn name_of_sidecar_is_two_digests() {
        let (sha256, key) = ("0".repeat(64), "f".repeat(64));
        assert!(parse_name(&format!("{sha256}.{key}.json")).is_some());
        for name in [
            format!("{sha256}.mp4"),
            format!("{sha256}.json"),
            format!("{}.part.json", &sha256[..24]),
            format!("{sha256}.{}.json", &key[..12]),
            format!("{sha256}.{key}.json.json"),
            "../x.json".to_owned(),
        ] {
            assert_eq!(parse_name(&name), None, "{name}");
        }
    }
}
