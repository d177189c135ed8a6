//! What is to be rendered: a wish with everything settled, as the store keeps it. Two equal orders make the same
//! bytes.

use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    size::{Ratio, Size},
    wish::{Shape, Wish},
};

/// A task's order.
#[expect(clippy::struct_excessive_bools, reason = "the wire has that many switches")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) seconds: f64,
    pub(crate) size: Size,
    pub(crate) fast: bool,
    pub(crate) generate_audio: bool,
    pub(crate) watermark: bool,
    pub(crate) camera_fixed: bool,
    pub(crate) return_last_frame: bool,
    /// Given by the request, or drawn when it was accepted: a task that is rendered again is the same video.
    pub(crate) seed: i64,
    /// For audit only (spec 2.2 `user`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    pub(crate) inputs: Vec<Input>,
}

/// An asset of an order, kept in the data directory under its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Input {
    pub(crate) part: Part,
    pub(crate) digest: Digest,
    /// A picture's size, or that of a video's pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<Size>,
}

/// What an asset is for (spec 2.3 `role`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    FirstFrame,
    LastFrame,
    ReferenceImage,
    ReferenceVideo,
    ReferenceAudio,
}

impl Order {
    /// Settles a wish: the shape may follow the inputs, and the seed is drawn by the caller when none is given.
    pub(crate) fn settle(wish: &Wish, inputs: Vec<Input>, drawn_seed: i64) -> Self {
        let ratio = match wish.shape {
            Shape::Given(ratio) => ratio,
            Shape::FollowInput => leading_picture(&inputs).map_or(Ratio::WIDE, Ratio::of_picture),
        };
        Self {
            model: wish.model.clone(),
            prompt: wish.prompt.clone(),
            seconds: wish.seconds,
            size: wish.resolution.size(ratio),
            fast: wish.fast,
            generate_audio: wish.generate_audio,
            watermark: wish.watermark,
            camera_fixed: wish.camera_fixed,
            return_last_frame: wish.return_last_frame,
            seed: wish.seed.unwrap_or(drawn_seed),
            user: wish.user.clone(),
            inputs,
        }
    }

    pub(crate) fn video_ms(&self) -> u64 {
        (self.seconds * 1000.0).round() as u64
    }

    /// The duration as the wire has it: a string without needless decimals.
    pub(crate) fn seconds_text(&self) -> String {
        self.seconds.to_string()
    }
}

/// The picture whose shape an adaptive video takes: where it starts, else where it ends, else the first reference.
fn leading_picture(inputs: &[Input]) -> Option<Size> {
    let order = [Part::FirstFrame, Part::LastFrame, Part::ReferenceImage, Part::ReferenceVideo];
    order
        .into_iter()
        .find_map(|part| inputs.iter().find(|input| input.part == part && input.picture.is_some()))?
        .picture
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Resolution;

    fn wish(shape: Shape) -> Wish {
        Wish {
            model: "m".to_owned(),
            prompt: "p".to_owned(),
            seconds: 5.0,
            resolution: Resolution::P480,
            shape,
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

    fn picture(part: Part, width: u32, height: u32) -> Input {
        Input { part, digest: Digest::of(b""), picture: Some(Size { width, height }) }
    }

    #[test]
    fn adaptive_follows_the_frame_the_video_starts_on() {
        let inputs = vec![picture(Part::ReferenceImage, 100, 100), picture(Part::FirstFrame, 90, 160)];
        let order = Order::settle(&wish(Shape::FollowInput), inputs, 7);
        assert_eq!(order.size.to_string(), "480x854");
        assert_eq!(order.seed, 7);
        assert_eq!(Order::settle(&wish(Shape::FollowInput), Vec::new(), 7).size.to_string(), "854x480");
        let given = Shape::Given(Ratio::parse("1:1").unwrap());
        let order = Order::settle(&wish(given), vec![picture(Part::FirstFrame, 90, 160)], 7);
        assert_eq!(order.size.to_string(), "640x640");
    }

    #[test]
    fn seconds_are_written_without_needless_decimals() {
        let mut order = Order::settle(&wish(Shape::FollowInput), Vec::new(), 0);
        assert_eq!((order.seconds_text().as_str(), order.video_ms()), ("5", 5000));
        order.seconds = 4.5;
        assert_eq!((order.seconds_text().as_str(), order.video_ms()), ("4.5", 4500));
    }

    #[test]
    fn an_order_survives_its_stored_form() {
        let order = Order::settle(&wish(Shape::FollowInput), vec![picture(Part::LastFrame, 3, 2)], i64::MIN);
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<Order>(&text).unwrap(), order);
    }
}
