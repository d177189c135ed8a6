//! MP4 (ISO/IEC 14496-12 and -14): reading and writing.

mod boxes;
mod cover;
mod entry;
mod esds;
mod fragments;
mod read;
mod tags;
mod top_level;
mod track;
mod write;
pub(crate) mod xmp;

pub(crate) use boxes::find;
pub use cover::{film_encoder, film_poster};
pub(crate) use entry::{avc1, mp4a, with_avcc, without_hints};
pub(crate) use esds::{AudioConfig, audio_config};
pub(crate) use read::Movie;
pub(crate) use tags::StoredTags;
pub use tags::{DigitalSource, FilmTags};
pub(crate) use track::{Sample, Track};
pub(crate) use write::{OutputKind, OutputSample, OutputTrack, write_movie};
