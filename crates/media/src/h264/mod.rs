//! H.264: parameter sets, encoding, decoding.

mod bits;
mod decode;
mod encode;
mod header;
mod merge;
mod parameters;

pub(crate) use decode::{DecoderConfig, VideoDecoder};
pub(crate) use encode::{ParameterSets, StreamSpec, VideoEncoder};
pub(crate) use header::{ParameterSetIds, VideoSignal};
pub(crate) use merge::{Configuration, begins_with_idr};
