//! [`RenderSpec`]: a request with every default resolved, as stored with its task. Equal specs render to equal bytes.

use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    request::{AspectRatio, VideoRequest},
    size::{Ratio, Size},
};

/// A request with every default resolved: what is rendered for a task.
#[expect(clippy::struct_excessive_bools, reason = "the API has that many switches")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RenderSpec {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) seconds: f64,
    pub(crate) size: Size,
    pub(crate) fast: bool,
    pub(crate) generate_audio: bool,
    pub(crate) watermark: bool,
    pub(crate) camera_fixed: bool,
    pub(crate) return_last_frame: bool,
    /// From the request, or drawn at acceptance, so that rendering a task again gives the same video.
    pub(crate) seed: i64,
    /// For audit only (spec 2.2 `user`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    pub(crate) inputs: Vec<MediaInput>,
}

/// A media input, stored in the data directory under its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MediaInput {
    pub(crate) role: MediaRole,
    pub(crate) digest: Digest,
    /// The size of the image, or of the frames of a video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<Size>,
}

/// The role of a media input (spec 2.3 `role`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MediaRole {
    FirstFrame,
    LastFrame,
    ReferenceImage,
    ReferenceVideo,
    ReferenceAudio,
}

impl RenderSpec {
    /// Resolves a request: the aspect ratio may follow the inputs; `default_seed` is used if the request has none.
    pub(crate) fn resolve(request: &VideoRequest, inputs: Vec<MediaInput>, default_seed: i64) -> Self {
        let ratio = match request.aspect_ratio {
            AspectRatio::Fixed(ratio) => ratio,
            AspectRatio::FollowInput => leading_size(&inputs).map_or(Ratio::WIDE, Ratio::from_input),
        };
        Self {
            model: request.model.clone(),
            prompt: request.prompt.clone(),
            seconds: request.seconds,
            size: request.resolution.size(ratio),
            fast: request.fast,
            generate_audio: request.generate_audio,
            watermark: request.watermark,
            camera_fixed: request.camera_fixed,
            return_last_frame: request.return_last_frame,
            seed: request.seed.unwrap_or(default_seed),
            user: request.user.clone(),
            inputs,
        }
    }

    pub(crate) fn video_ms(&self) -> u64 {
        (self.seconds * 1000.0).round() as u64
    }

    /// The duration as in the API: a decimal string without trailing zeros.
    pub(crate) fn seconds_text(&self) -> String {
        self.seconds.to_string()
    }
}

/// The size that an adaptive video takes its ratio from: first frame, else last frame, else the first reference.
fn leading_size(inputs: &[MediaInput]) -> Option<Size> {
    let spec =
        [MediaRole::FirstFrame, MediaRole::LastFrame, MediaRole::ReferenceImage, MediaRole::ReferenceVideo];
    spec.into_iter()
        .find_map(|role| inputs.iter().find(|input| input.role == role && input.size.is_some()))?
        .size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Resolution;

    fn request(aspect_ratio: AspectRatio) -> VideoRequest {
        VideoRequest {
            model: "m".to_owned(),
            prompt: "p".to_owned(),
            seconds: 5.0,
            resolution: Resolution::P480,
            aspect_ratio,
            fast: false,
            generate_audio: false,
            watermark: false,
            camera_fixed: false,
            return_last_frame: false,
            seed: None,
            user: None,
            media: Vec::new(),
        }
    }

    fn input(role: MediaRole, width: u32, height: u32) -> MediaInput {
        MediaInput { role, digest: Digest::sha256(b""), size: Some(Size { width, height }) }
    }

    #[test]
    fn adaptive_ratio_follows_first_frame() {
        let inputs = vec![input(MediaRole::ReferenceImage, 100, 100), input(MediaRole::FirstFrame, 90, 160)];
        let spec = RenderSpec::resolve(&request(AspectRatio::FollowInput), inputs, 7);
        assert_eq!(spec.size.to_string(), "480x854");
        assert_eq!(spec.seed, 7);
        assert_eq!(
            RenderSpec::resolve(&request(AspectRatio::FollowInput), Vec::new(), 7).size.to_string(),
            "854x480"
        );
        let square = AspectRatio::Fixed(Ratio::parse("1:1").unwrap());
        let spec = RenderSpec::resolve(&request(square), vec![input(MediaRole::FirstFrame, 90, 160)], 7);
        assert_eq!(spec.size.to_string(), "640x640");
    }

    #[test]
    fn seconds_text_has_no_trailing_zeros() {
        let mut spec = RenderSpec::resolve(&request(AspectRatio::FollowInput), Vec::new(), 0);
        assert_eq!((spec.seconds_text().as_str(), spec.video_ms()), ("5", 5000));
        spec.seconds = 4.5;
        assert_eq!((spec.seconds_text().as_str(), spec.video_ms()), ("4.5", 4500));
    }

    #[test]
    fn serialized_spec_round_trips() {
        let spec = RenderSpec::resolve(
            &request(AspectRatio::FollowInput),
            vec![input(MediaRole::LastFrame, 3, 2)],
            i64::MIN,
        );
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<RenderSpec>(&text).unwrap(), spec);
    }
}
