//! The bound on the size of pictures.

/// The longest side of a picture in pixels, read or written.
pub const MAX_SIDE: u32 = 8192;
