//! What is said in a video.

use serde::{Deserialize, Serialize};

use crate::units::EditTime;

/// A line of dialogue. It is no part of the request, and of no key: nothing is rendered again for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueLine {
    /// What is said; not blank.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// When it begins, from the beginning of the video; `None`: after the line before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<EditTime>,
    /// How long it takes; `None`: until the next line begins, or the video ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<EditTime>,
}
