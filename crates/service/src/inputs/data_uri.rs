//! Assets inside the request: data URIs (RFC 2397) and bare Base64.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;

use crate::refusal::Refusal;

/// Padding is often left out by those who write Base64 by hand.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD_ENGINE: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_ENGINE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Bytes written as text.
#[derive(Debug)]
pub(super) struct Encoded {
    text: String,
    /// Where in the text the Base64 begins.
    begin: usize,
}

impl Encoded {
    /// Takes a data URI apart. What it says of its media type is not believed: the bytes are looked at.
    pub(super) fn data_uri(text: String) -> Result<Self, Refusal> {
        let Some(comma) = text.find(',') else {
            let message = "a data URI has a comma between its description and its data";
            return Err(Refusal::invalid("invalid_data_uri", message));
        };
        let coding = text[..comma].rsplit(';').next().unwrap_or_default();
        if !coding.trim().eq_ignore_ascii_case("base64") {
            let message = "a data URI of media is written in Base64, as in `data:image/png;base64,…`";
            return Err(Refusal::invalid("invalid_data_uri", message));
        }
        Ok(Self { text, begin: comma + 1 })
    }

    /// Base64 without any wrapping.
    pub(super) fn bare(text: String) -> Self {
        Self { text, begin: 0 }
    }

    /// The bytes, at most `limit` of them.
    pub(super) fn decode(self, limit: usize) -> Result<Bytes, Refusal> {
        let text = &self.text[self.begin..];
        // Four letters are three bytes; what is far too long is not even decoded.
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
            Refusal::invalid("invalid_base64", format!("neither a URL nor readable Base64: {error}"))
        })?;
        if bytes.is_empty() {
            return Err(Refusal::invalid("invalid_media", "the asset is empty"));
        }
        if bytes.len() > limit {
            return Err(too_large(limit));
        }
        Ok(Bytes::from(bytes))
    }
}

/// An asset with more bytes than are taken.
pub(super) fn too_large(limit: usize) -> Refusal {
    let limit = if limit >= 1 << 20 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
    Refusal::invalid("media_too_large", format!("the asset is larger than {limit}, the most that is taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Result<Bytes, String> {
        Encoded::data_uri(text.to_owned())
            .and_then(|encoded| encoded.decode(100))
            .map_err(|refusal| refusal.code.into())
    }

    #[test]
    fn data_uris_in_all_their_dress() {
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
    fn what_is_wrong_is_named() {
        let code = |text: &str| uri(text).unwrap_err();
        assert_eq!(code("data:image/png;base64"), "invalid_data_uri");
        assert_eq!(code("data:image/png,hello"), "invalid_data_uri");
        assert_eq!(code("data:image/png;base64,h*llo"), "invalid_base64");
        assert_eq!(code("data:image/png;base64,"), "invalid_media");
        assert_eq!(code(&format!("data:;base64,{}", "A".repeat(140))), "media_too_large");
        assert_eq!(code(&format!("data:;base64,{}", "A".repeat(4000))), "media_too_large");
    }
}
