//! Images that stand still in a film: files, and what the caller draws.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusty_h264::YuvFrame;

use super::frames::FrameForm;
use crate::color::rgb_to_i420;
use crate::{MAX_IMAGE_BYTES, MediaError, RgbImage, decode_image};

/// Draws an image of a size in pixels.
pub type DrawStill = Arc<dyn Fn((u32, u32)) -> RgbImage + Send + Sync>;

/// An image that stands still. It has no sound.
#[derive(Clone)]
pub enum Still {
    /// A PNG, JPEG or WebP image.
    Image(PathBuf),
    /// Drawn when it is shown.
    Drawn {
        /// What messages call it.
        name: String,
        draw: DrawStill,
    },
}

impl std::fmt::Debug for Still {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Still").field(&self.path()).finish()
    }
}

impl Still {
    /// The image's file; for a drawn one, its name.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Image(path) => path,
            Self::Drawn { name, .. } => Path::new(name),
        }
    }

    /// The frame in the film's form.
    pub(super) fn frame(&self, form: FrameForm) -> Result<YuvFrame, MediaError> {
        let image = match self {
            Self::Image(path) => decode_image(&read(path)?)?,
            Self::Drawn { draw, .. } => draw(form.size),
        };
        let mut frame = YuvFrame::black(form.size.0 as usize, form.size.1 as usize);
        rgb_to_i420(&image.fitted(form.fit, form.size), form.color, &mut frame);
        Ok(frame)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, MediaError> {
    let failed = |source| MediaError::Io { action: "cannot read the image", source };
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > MAX_IMAGE_BYTES as u64 {
        return Err(MediaError::TooLarge {
            what: format!("an image of {} MiB", length >> 20),
            limit: format!("{} MiB", MAX_IMAGE_BYTES >> 20),
        });
    }
    std::fs::read(path).map_err(failed)
}
