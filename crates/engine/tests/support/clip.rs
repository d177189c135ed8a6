//! A tiny real video, encoded once.

use std::sync::LazyLock;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

/// One tenth of a second, 32x32, silent.
pub(crate) static CLIP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let rate = FrameRate::new(30, 1).expect("a frame rate");
    let mut writer = ClipWriter::new(ClipSpec::new(32, 32, rate)).expect("a small clip is possible");
    for shade in 0..3_u8 {
        let mut frame = RgbImage::new(32, 32);
        frame.pixels_mut().fill(40 * shade);
        writer.push_frame(&frame).expect("a frame of the right size");
    }
    writer.finish().expect("a clip")
});
