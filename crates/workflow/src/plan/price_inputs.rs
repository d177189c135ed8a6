//! What determines the price of a request.

use serde::{Deserialize, Serialize};

use crate::units::{Interval, VideoDuration};

/// What determines the price of a request. Requests with equal inputs cost the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceInputs {
    /// The name of the service, if the request has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    pub model: String,
    /// The resolution; all resolutions of the model where the request leaves it to the service.
    pub resolutions: Vec<String>,
    /// Whether the video has audio.
    pub sound: bool,
    /// Whether there is a reference video: such tasks are charged differently (spec 2.2 rule 4).
    pub video_input: bool,
    /// Seconds of video; the range of the model where the request leaves it to the service.
    pub seconds: Interval<VideoDuration>,
}

impl PriceInputs {
    /// The resolution, where it is known.
    pub fn resolution(&self) -> Option<&str> {
        if let [only] = self.resolutions.as_slice() { Some(only) } else { None }
    }
}
