//! The identity of work: the node key.

use std::borrow::Cow;
use std::fmt;

use contract::canonical_json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Node, Said};

/// The identity of a node's work: SHA-256 over what the request says, with media replaced by their identities, the service's
/// identity and the salt; and a number, because the same request can be rendered several times: for several shots, as takes, or again. The
/// shot's id, its note, and the request for the last frame are not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeKey {
    request: [u8; 32],
    /// From 1.
    number: u32,
}

impl NodeKey {
    /// The first 12 hex digits, and the number if it is not 1: `0123456789ab-2`. For people and file names.
    pub fn short(&self) -> String {
        let digits = hex::encode(&self.request[..6]);
        if self.number == 1 { digits } else { format!("{digits}-{}", self.number) }
    }

    /// The key of another render of the same request.
    pub fn numbered(self, number: u32) -> Self {
        Self { number, ..self }
    }

    /// Which of the renders of its request it is, from 1. No number says anything about the others.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The key derived from this one with `salt`: other work with the same request.
    pub fn salted(&self, salt: &str) -> Self {
        let mut hasher = Hasher::new("node-key-salted/1");
        hasher.bytes(&self.request);
        hasher.text(salt);
        Self { request: hasher.finish(), number: self.number }
    }

    /// Reads 64 hex digits, and `#2` for another number than 1.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, number) = match text.split_once('#') {
            Some((digits, number)) => (digits, number.parse().ok().filter(|number| *number > 1)?),
            None => (text, 1),
        };
        let mut request = [0; 32];
        hex::decode_to_slice(digits, &mut request).ok()?;
        Some(Self { request, number })
    }
}

impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.request))?;
        if self.number == 1 { Ok(()) } else { write!(f, "#{}", self.number) }
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeKey({self})")
    }
}

impl Serialize for NodeKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("a node key is 64 hex digits, with a number after `#`"))
    }
}

/// The identity of an input's content, independent of its URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputIdentity(String);

impl InputIdentity {
    /// Content with this SHA-256 (lower-case hex).
    pub fn content(sha256: &str) -> Self {
        Self(format!("sha256:{sha256}"))
    }

    /// The last frame of a video with this SHA-256 (lower-case hex).
    pub fn last_frame_of(sha256: &str) -> Self {
        Self(format!("last-frame-of:sha256:{sha256}"))
    }

    /// The first frame of a video with this SHA-256 (lower-case hex).
    pub fn first_frame_of(sha256: &str) -> Self {
        Self(format!("first-frame-of:sha256:{sha256}"))
    }

    /// The identity as text, e.g. `last-frame-of:sha256:…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of a node's request, with number 1, once its inputs are known: `inputs[i]` is the identity of `node.inputs[i]`.
///
/// `service_identity` names the service (its origin and account, never its API key): the same request to another service is other
/// work.
pub fn key(node: &Node, service_identity: &str, inputs: &[InputIdentity]) -> NodeKey {
    let mut hasher = Hasher::new("node-key/1");
    hasher.text(service_identity);
    hasher.request(node);
    hasher.number(node.inputs.len() as u64);
    for (index, input) in node.inputs.iter().enumerate() {
        hasher.text(input.word.as_str());
        hasher.text(inputs.get(index).map_or("", InputIdentity::as_str));
    }
    hasher.optional(node.salt.as_deref());
    NodeKey { request: hasher.finish(), number: 1 }
}

/// What a node's request says, in the order of the names: where it stands on the wire is not a part of the key, so that a mended description of the
/// service pays for nothing again.
pub(crate) fn said(node: &Node) -> impl Iterator<Item = (&Said, Cow<'static, str>, Cow<'_, Value>)> {
    let mut said: Vec<_> = node.said.iter().map(|said| (said.name(), said)).collect();
    said.sort_by(|(one, _), (other, _)| one.cmp(other));
    said.into_iter().filter_map(|(name, said)| {
        let value = node.request.pointer(&said.at)?;
        Some((said, name, said.meaning(value)))
    })
}

/// SHA-256 over length-prefixed fields, so that different lists of fields never hash the same bytes.
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn new(domain: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.text(domain);
        hasher
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn optional(&mut self, text: Option<&str>) {
        self.number(u64::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    pub(crate) fn json(&mut self, value: &Value) {
        self.text(&canonical_json(value));
    }

    /// The model of a node, and what its request says.
    pub(crate) fn request(&mut self, node: &Node) {
        self.text(&node.model);
        for (_, name, value) in said(node) {
            self.text(&name);
            self.json(&value);
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
