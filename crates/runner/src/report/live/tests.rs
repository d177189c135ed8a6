//! Frames of the live view.
