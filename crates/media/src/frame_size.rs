//! The bound on the size of images.

/// The longest side of an image in pixels, read or written.
pub const MAX_SIDE: u32 = 8192;
