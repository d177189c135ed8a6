//! A writer of bounded text.

use std::io;

use crate::limits;

/// A writer that fails once [`limits::MAX_RENDERED_BYTES`] are exceeded, which stops the template.
#[derive(Debug, Default)]
pub(super) struct BoundedWriter {
    pub(super) text: Vec<u8>,
    /// Whether the limit was exceeded.
    pub(super) is_full: bool,
}

impl io::Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > limits::MAX_RENDERED_BYTES {
            self.is_full = true;
            return Err(io::Error::other("too much text"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
