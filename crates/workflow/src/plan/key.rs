//! What makes two nodes the same work: the node key, and the fingerprint that counts occurrences.

use std::borrow::Cow;
use std::fmt;

use contract::{canonical_json, canonical_object};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Node;

/// The identity of a node's work: SHA-256 over the canonical request with media replaced by what identifies them,
/// the service's identity, the salt, the take and the occurrence. A shot's id and note are not part of it, nor is
/// whether its last frame is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeKey([u8; 32]);

impl NodeKey {
    /// The first 12 hex digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        hex::encode(&self.0[..6])
    }

    /// The key of the same work, set apart by `salt`.
    #[must_use]
    pub fn salted(&self, salt: &str) -> Self {
        let mut hasher = Hasher::new("node-key-salted/1");
        hasher.bytes(&self.0);
        hasher.text(salt);
        Self(hasher.finish())
    }

    /// The raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
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
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a node key is 64 hex digits"))
    }
}

/// What identifies an input's content, whatever URL it is reached under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputIdentity(String);

impl InputIdentity {
    /// Content with this SHA-256 (lower-case hex).
    #[must_use]
    pub fn content(sha256: &str) -> Self {
        Self(format!("sha256:{sha256}"))
    }

    /// The last frame of a video with this SHA-256 (lower-case hex).
    #[must_use]
    pub fn last_frame_of(sha256: &str) -> Self {
        Self(format!("last-frame-of:sha256:{sha256}"))
    }

    /// The first frame of a video with this SHA-256 (lower-case hex).
    #[must_use]
    pub fn first_frame_of(sha256: &str) -> Self {
        Self(format!("first-frame-of:sha256:{sha256}"))
    }

    /// The identity as text, e.g. `last-frame-of:sha256:…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of a node whose inputs are known: `inputs[i]` identifies what goes to the place of `node.inputs[i]`.
///
/// `service_identity` names the service that is asked (its origin and account, never its key): the same request to
/// another service is other work.
#[must_use]
pub fn key(node: &Node, service_identity: &str, inputs: &[InputIdentity]) -> NodeKey {
    let mut hasher = Hasher::new("node-key/1");
    hasher.text(service_identity);
    hasher.request(node);
    hasher.number(node.inputs.len() as u64);
    for (at, input) in node.inputs.iter().enumerate() {
        hasher.text(&input.pointer);
        hasher.text(inputs.get(at).map_or("", InputIdentity::as_str));
    }
    hasher.optional(node.salt.as_deref());
    hasher.number(u64::from(node.take.unwrap_or(0)));
    hasher.number(u64::from(node.occurrence));
    NodeKey(hasher.finish())
}

/// Request fields that ask for something beside the video and so make it no other video (spec 2.2, 2.3). That a finished
/// shot is continued after all must not make it again.
const BY_PRODUCTS: [&str; 1] = ["return_last_frame"];

/// The fields of the request that decide what the video is.
pub(crate) fn deciding_fields(node: &Node) -> impl Iterator<Item = (&str, Cow<'_, Value>)> {
    let is_by_product = |name: &str| BY_PRODUCTS.contains(&name);
    node.request.iter().filter(move |(name, _)| !is_by_product(name)).map(move |(name, value)| match value {
        Value::Object(members)
            if name == "metadata" && members.keys().any(|member| is_by_product(member)) =>
        {
            let mut members = members.clone();
            members.retain(|member, _| !is_by_product(member));
            (name, Cow::Owned(Value::Object(members)))
        }
        _ => (name, Cow::Borrowed(value)),
    })
}

/// The deciding fields as canonical JSON.
fn request_without_by_products(node: &Node) -> String {
    let fields: Vec<_> = deciding_fields(node).collect();
    canonical_object(fields.iter().map(|(name, value)| (*name, &**value)))
}

/// The structural identity of a node before any input is known: request, where its inputs come from, salt, take.
pub(crate) type Fingerprint = [u8; 32];

/// A SHA-256 over fields that are told apart: each is written with its length, so that no two lists of fields
/// run together to the same bytes.
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

    /// The request of a node, without what asks for by-products.
    pub(crate) fn request(&mut self, node: &Node) {
        self.text(&request_without_by_products(node));
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
