//! MP4, H.264, AAC and still images without system packages: encode, probe, extract frames, join. Knows nothing of tasks.
//!
//! - [`ClipWriter`]: encodes frames and audio into an MP4 file
//! - [`probe`]: duration, tracks and codecs of a file
//! - [`first_frame`], [`last_frame`]: single frames, decoded exactly
//! - [`join`]: edits clips into a film
//! - [`write_proxy`]: a small version of a video
//! - [`contact_sheet`]: images side by side with labels
//! - [`decode_audio`]: PCM samples of an audio or video file
//! - [`Ffmpeg`]: the external program, for codecs that are not handled natively; located by the caller
//! - [`inspect`]: whether a file can be sent as an input; [`MediaType`]: formats by magic bytes
//! - [`RgbImage`]: the image type; [`decode_image`], [`image_size`], [`encode_png`]
//!
//! H.264 (8-bit 4:2:0, progressive) with AAC in MP4 is handled natively. Everything is synchronous; nothing prints, reads the
//! environment or touches the network.
//!
//! Floors, from the ground; a file uses what is below it:
//! 1. values: `rate`, `frame_size`, `fit`, `turn`, `color`, `sniff`, `error`, `cancellation`, `catch_panic`, `vector`
//! 2. codecs and containers: `h264`, `aac`, `wav`, `compressed_audio`, `image`, `image_decode`, `mp4`
//! 3. files: `presentation`, `probe`, `frames`, `frame`, `audio_buffer`, `ffmpeg`, `audio`, `inspect`, `verify`
//! 4. what is made: `clip`, `overlay`, `mosaic`, `poster`, `proxy`
//! 5. films: `join`

mod aac;
mod atomic_file;
mod audio;
mod audio_buffer;
mod audio_stream;
mod cancellation;
mod catch_panic;
mod clip;
mod color;
mod compressed_audio;
mod error;
mod ffmpeg;
mod fit;
mod frame;
mod frame_size;
mod frames;
mod h264;
mod image;
mod image_decode;
mod inspect;
mod join;
mod mosaic;
mod mp4;
mod overlay;
mod poster;
mod presentation;
mod probe;
mod proxy;
mod rate;
mod sniff;
mod turn;
mod vector;
mod verify;
mod wav;

pub use crate::atomic_file::{AtomicFile, replace_file, sync_folder_of};
pub use crate::audio::{AudioDecodeSpec, MAX_SOUND_BYTES, decode_audio, sound_duration};
pub use crate::audio_buffer::AudioBuffer;
pub use crate::cancellation::Cancellation;
pub use crate::clip::{AudioSpec, ClipSpec, ClipWriter};
pub use crate::error::MediaError;
pub use crate::ffmpeg::{Delivery, DeliveryFormat, Ffmpeg};
pub use crate::fit::Fit;
pub use crate::frame::{first_frame, first_frame_bytes, last_frame, last_frame_bytes, middle_frame};
pub use crate::frame_size::MAX_SIDE;
pub use crate::h264::Effort;
pub use crate::image::{RgbImage, encode_png};
pub use crate::image_decode::{MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS, decode_image, image_size};
pub use crate::inspect::{InputInfo, MAX_INPUT_BYTES, MAX_REQUEST_INPUT_BYTES, inspect, inspect_source};
pub use crate::join::{
    DrawStill, JoinClip, JoinOptions, JoinProgress, JoinReport, JoinSource, JoinTransition, Loudness,
    MAX_SOUND_DURATION, Music, OnJoinProgress, Soundtrack, Still, TransitionKind, Voice, join,
};
pub use crate::mosaic::{Mosaic, SheetTile, contact_sheet};
pub use crate::mp4::{DigitalSource, FilmTags, film_encoder, film_poster};
pub use crate::overlay::{DrawOverlay, Overlay, OverlaySpan, Overlays};
pub use crate::poster::poster;
pub use crate::probe::{AudioTrack, Probe, VideoTrack, probe, probe_bytes};
pub use crate::proxy::{needs_proxy, write_proxy};
pub use crate::rate::FrameRate;
pub use crate::sniff::{
    MediaKind, MediaType, VIDEO_EXTENSIONS, content_in_place_of_video, describe_content, video_extension,
};
