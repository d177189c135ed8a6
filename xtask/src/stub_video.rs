//! Small videos for stubs of the service.

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

/// 0.1 s, 64x64 pixels.
pub(crate) fn clip() -> Result<Vec<u8>, String> {
    let rate = FrameRate::new(30, 1).ok_or("invalid frame rate")?;
    let mut writer = ClipWriter::new(ClipSpec::new(64, 64, rate)).map_err(|error| error.to_string())?;
    for shade in 0..3_u8 {
        let mut frame = RgbImage::new(64, 64);
        frame.pixels_mut().fill(60 * shade);
        writer.push_frame(&frame).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())
}

/// The clip with content of its own: a `free` box that players skip makes the file unique.
pub(crate) fn named(clip: &[u8], name: &str) -> Vec<u8> {
    let mut video = clip.to_vec();
    let size = u32::try_from(8 + name.len()).unwrap_or(8);
    video.extend(size.to_be_bytes());
    video.extend(b"free");
    video.extend(name.as_bytes());
    video
}

/// Whether a file is the clip of this name.
pub(crate) fn is_named(video: &[u8], name: &str) -> bool {
    video.ends_with(name.as_bytes())
}
