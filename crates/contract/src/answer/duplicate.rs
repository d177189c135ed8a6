//! The one exception to reading ids only where they stand: a refusal that says that the task exists already, and may name it. To take it for a
//! refusal would be to pay for the same task again.

/// What such a refusal says.
const WORDS: [&str; 3] = ["duplicate", "already", "exists"];
/// Characters of a word that may be an id, at least.
const MIN_ID_LEN: usize = 8;

/// Whether an error says that what was requested exists, and has a word that may be its id: one with a digit that is not in the request.
pub(super) fn may_name_duplicate(status: u16, body: &str, request: &str) -> bool {
    let says_so = || {
        body.split(|c: char| !c.is_alphanumeric())
            .any(|word| WORDS.iter().any(|said| word.eq_ignore_ascii_case(said)))
    };
    let has_id = || {
        body.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).any(|word| {
            let is_id = word.chars().count() >= MIN_ID_LEN && word.contains(|c: char| c.is_ascii_digit());
            is_id && !request.contains(word)
        })
    };
    matches!(status, 400 | 409 | 422) && says_so() && has_id()
}

#[cfg(test)]
mod tests {
    use super::may_name_duplicate;

    #[test]
    fn duplicate_is_one_with_a_new_word_that_may_be_an_id() {
        let request = r#"{"image":"https://a.test/frame-20261128.png","prompt":"take 20261128"}"#;
        for (message, may_name) in [
            ("duplicate of 5f0c9a1e-77d2-4c1b-9d51-0f3b6a1e2c44", true),
            ("already accepted, see cgt-20261128142319-x7k2p", true),
            ("Request already EXISTS: vid_8f3a1b2c9d", true),
            ("it exists (gen-9f8e7d)", true),
            ("task_already_exists: 1234567890", true),
            ("duplicate of task 17", false),
            ("already accepted", false),
            ("the frame frame-20261128 already exists", false),
            ("no such model 5f0c9a1e-77d2", false),
            ("the existing model duplicates 5f0c9a1e-77d2", false),
        ] {
            let body = format!(r#"{{"error":{{"message":"{message}","type":"invalid_request_error"}}}}"#);
            for status in [400, 409, 422] {
                assert_eq!(may_name_duplicate(status, &body, request), may_name, "{status} {body}");
            }
            assert!(!may_name_duplicate(429, &body, request), "{body}");
        }
    }
}
