//! Inline media: data URIs (RFC 2397) and bare Base64.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;

use crate::api_error::ApiError;

/// Accepts Base64 with or without padding.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD_ENGINE: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_ENGINE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Base64-encoded bytes.
#[derive(Debug)]
pub(super) struct EncodedMedia {
    text: String,
    /// Byte offset of the Base64 in the text.
    offset: usize,
}

impl EncodedMedia {
    /// Parses a data URI. Its media type is ignored; the bytes are validated later.
    pub(super) fn data_uri(text: String) -> Result<Self, ApiError> {
        let Some(comma) = text.find(',') else {
            let message = "a data URI has a comma between its description and its data";
            return Err(ApiError::invalid("invalid_data_uri", message));
        };
        let coding = text[..comma].rsplit(';').next().unwrap_or_default();
        if !coding.trim().eq_ignore_ascii_case("base64") {
            let message = "a data URI of media is written in Base64, as in `data:image/png;base64,…`";
            return Err(ApiError::invalid("invalid_data_uri", message));
        }
        Ok(Self { text, offset: comma + 1 })
    }

    /// Base64 without a data URI around it.
    pub(super) fn bare(text: String) -> Self {
        Self { text, offset: 0 }
    }

    /// The bytes, at most `limit` of them.
    pub(super) fn decode(self, limit: usize) -> Result<Bytes, ApiError> {
        let text = &self.text[self.offset..];
        // Four characters are three bytes. Twice the limit allows for white space.
        if text.len() / 4 * 3 > limit.saturating_mul(2) {
            return Err(too_large(limit));
        }
        let stripped: String;
        let text = if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
            stripped = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
            &stripped
        } else {
            text
        };
        let engine = if text.contains(['-', '_']) { URL_ENGINE } else { STANDARD_ENGINE };
        let bytes = engine.decode(text).map_err(|error| {
            ApiError::invalid("invalid_base64", format!("neither a URL nor readable Base64: {error}"))
        })?;
        if bytes.is_empty() {
            return Err(ApiError::invalid("invalid_media", "the media item is empty"));
        }
        if bytes.len() > limit {
            return Err(too_large(limit));
        }
        Ok(Bytes::from(bytes))
    }
}

/// The error for media larger than the limit.
pub(super) fn too_large(limit: usize) -> ApiError {
    let limit = if limit >= 1 << 20 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
    ApiError::invalid("media_too_large", format!("the media item is larger than the limit of {limit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Result<Bytes, String> {
        EncodedMedia::data_uri(text.to_owned())
            .and_then(|encoded| encoded.decode(100))
            .map_err(|error| error.code.into())
    }

    #[test]
    fn data_uri_variants_are_decoded() {
        for good in [
            "data:image/png;base64,aGVsbG8=",
            "data:image/png;base64,aGVsbG8",
            "data:;base64,aGVsbG8=",
            "DATA:image/png;charset=x;BASE64,aGVs\n bG8=",
        ] {
            assert_eq!(uri(good).as_deref(), Ok(&b"hello"[..]), "{good}");
        }
        assert_eq!(uri("data:x;base64,-_8=").as_deref(), Ok(&[0xfb, 0xff][..]));
    }

    #[test]
    fn malformed_data_uris_are_rejected() {
        let code = |text: &str| uri(text).unwrap_err();
        assert_eq!(code("data:image/png;base64"), "invalid_data_uri");
        assert_eq!(code("data:image/png,hello"), "invalid_data_uri");
        assert_eq!(code("data:image/png;base64,h*llo"), "invalid_base64");
        assert_eq!(code("data:image/png;base64,"), "invalid_media");
        assert_eq!(code(&format!("data:;base64,{}", "A".repeat(140))), "media_too_large");
        assert_eq!(code(&format!("data:;base64,{}", "A".repeat(4000))), "media_too_large");
    }
}
