//! Reading response bodies up to a limit, and redacting the API key in them.

use futures_util::StreamExt;
use progenitor_client::ByteStream;
use secrecy::{ExposeSecret, SecretString};

use crate::CallError;

/// Reads a whole body of at most `limit` bytes.
pub(crate) async fn read(stream: ByteStream, limit: usize) -> Result<Vec<u8>, CallError> {
    let mut stream = stream.into_inner();
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| CallError::from_transport(&error))?;
        if body.len() + chunk.len() > limit {
            return Err(CallError::indeterminate(format!(
                "the response is longer than the limit of {limit} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads at most the first `limit` bytes of a body.
pub(crate) async fn read_beginning(stream: ByteStream, limit: usize) -> Vec<u8> {
    let mut stream = stream.into_inner();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = stream.next().await {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    body
}

/// Replaces the API key in a text: some services echo it in error messages.
///
/// Keys shorter than 12 bytes, such as `test`, are left: they are no secrets, and replacing them would garble the text.
pub(crate) fn redact_key(text: &str, key: &SecretString) -> String {
    const MIN_SECRET_LEN: usize = 12;
    let key = key.expose_secret();
    if key.len() < MIN_SECRET_LEN { text.to_owned() } else { text.replace(key, "[redacted]") }
}

#[cfg(test)]
mod tests {
    use super::redact_key;

    #[test]
    fn redact_key_replaces_long_keys_only() {
        let text = "wrong key sk-0123456789abcdef, not an embedded one";
        let hidden = "wrong key [redacted], not an embedded one";
        assert_eq!(redact_key(text, &"sk-0123456789abcdef".to_owned().into()), hidden);
        assert_eq!(redact_key(text, &"embedded".to_owned().into()), text);
    }
}
