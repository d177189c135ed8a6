//! H.264: parameter sets, encoding, decoding.

mod bits;
mod decode;
mod encode;
mod header;
mod merge;
mod parameters;
mod repetition;
mod slice_header;

pub(crate) use decode::{DecoderConfig, VideoChecker, VideoDecoder};
pub use encode::Effort;
pub(crate) use encode::{CodedPicture, ParameterSets, StreamSpec, VideoEncoder};
pub(crate) use header::{ParameterSetIds, VideoSignal};
pub(crate) use merge::{Configuration, begins_with_idr};
