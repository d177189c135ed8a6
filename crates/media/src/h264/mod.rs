//! H.264: parameter sets, encoding, decoding.

mod bits;
mod decode;
mod encode;
mod header;
mod parameters;

pub(crate) use decode::{DecoderConfig, VideoDecoder};
pub(crate) use encode::{ParameterSets, StreamSpec, VideoEncoder};
