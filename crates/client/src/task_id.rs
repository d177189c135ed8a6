//! Validation of task ids before they become a path segment.

use crate::CallError;

const MAX_LEN: usize = 256;

/// Rejects ids that would change the path: `..`, separators, percent escapes.
pub(crate) fn check(task_id: &str) -> Result<(), CallError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~:-".contains(&byte);
    if task_id.is_empty()
        || task_id.len() > MAX_LEN
        || matches!(task_id, "." | "..")
        || !task_id.bytes().all(plain)
    {
        let shown: String = task_id.chars().take(64).collect();
        return Err(CallError::not_sent(format!(
            "{shown:?} cannot be a task id: ids are 1 to {MAX_LEN} letters, digits, `.`, `_`, `~`, `:` and `-`"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn task_id_that_would_change_the_path_is_refused() {
        for good in ["task_01HZX", "video-1.2:3~4", "0", "...", &"x".repeat(256)] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = "x".repeat(257);
        for bad in ["", ".", "..", "a/b", "a\\b", "%2e%2e", "a?b", "a#b", "a b", "a\n", "é", &long] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
