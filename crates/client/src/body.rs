//! Reading answers: never more than the bound, and never with the key in it.

use futures_util::StreamExt;
use progenitor_client::ByteStream;
use secrecy::{ExposeSecret, SecretString};

use crate::CallError;

/// Reads a body to its end, at most `bound` bytes.
pub(crate) async fn read(stream: ByteStream, bound: usize) -> Result<Vec<u8>, CallError> {
    let mut stream = stream.into_inner();
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| CallError::of_transport(&error))?;
        if body.len() + chunk.len() > bound {
            return Err(CallError::lost(format!(
                "the answer is longer than the {bound} bytes that are read"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads the beginning of a body whose whole does not matter.
pub(crate) async fn read_beginning(stream: ByteStream, bound: usize) -> Vec<u8> {
    let mut stream = stream.into_inner();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = stream.next().await {
        let room = bound - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == bound {
            break;
        }
    }
    body
}

/// A text with the key blotted out: some services repeat it in their answers.
///
/// A word as short as `test` is not worth hiding, and blotting it out everywhere would garble what is kept.
pub(crate) fn without_key(text: &str, key: &SecretString) -> String {
    const SHORTEST_SECRET: usize = 12;
    let key = key.expose_secret();
    if key.len() < SHORTEST_SECRET { text.to_owned() } else { text.replace(key, "[redacted]") }
}

#[cfg(test)]
mod tests {
    use super::without_key;

    #[test]
    fn secrets_are_blotted_out_and_words_are_not() {
        let text = "wrong key sk-0123456789abcdef, not an embedded one";
        let hidden = "wrong key [redacted], not an embedded one";
        assert_eq!(without_key(text, &"sk-0123456789abcdef".to_owned().into()), hidden);
        assert_eq!(without_key(text, &"embedded".to_owned().into()), text);
    }
}
