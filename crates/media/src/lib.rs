//! Video and sound files without system packages: clips are written, probed, looked into and joined. Knows nothing of tasks.
//!
//! - [`ClipWriter`]: pictures and sound in, an MP4 file out
//! - [`probe`]: what a file is
//! - [`first_frame`], [`last_frame`]: single pictures, decoded exactly
//! - [`join`]: clips into a film
//! - [`decode_sound`]: samples of a piece of sound
//! - [`Tools`]: ffmpeg, for what is not handled natively; found by the caller
//! - [`RgbImage`]: the one picture type; [`decode_image`], [`encode_png`], [`image_media_type`]
//!
//! H.264 (8-bit 4:2:0, progressive) with AAC in MP4 is handled natively. Everything is synchronous; nothing prints, reads the
//! environment or touches the network.

mod aac;
mod clip;
mod colour;
mod error;
mod ffmpeg;
mod frame;
mod guard;
mod h264;
mod image;
mod join;
mod mp4;
mod pictures;
mod probe;
mod rate;
mod sound;
mod wav;

pub use crate::clip::{AudioSpec, ClipSpec, ClipWriter, MAX_SIDE};
pub use crate::error::MediaError;
pub use crate::ffmpeg::Tools;
pub use crate::frame::{first_frame, first_frame_bytes, last_frame, last_frame_bytes};
pub use crate::image::{
    MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS, RgbImage, decode_image, encode_png, image_media_type,
};
pub use crate::join::{JoinOptions, Joined, join};
pub use crate::probe::{AudioTrack, Probe, VideoTrack, probe, probe_bytes};
pub use crate::rate::FrameRate;
pub use crate::sound::{Sound, SoundSpec, decode_sound};
