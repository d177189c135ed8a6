//! Commands in a manifest, which may come from anybody.

/// Whether a text is one command of this program, with plain and quoted words: it is copied into a shell, and a manifest may come from anybody.
pub(crate) fn is_of_runner(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=@,+:%# ".contains(letter);
    let Some(mut rest) = text.strip_prefix("runner ") else { return false };
    while let Some(letter) = rest.chars().next() {
        rest = if let Some(quoted) = rest.strip_prefix('\'') {
            let Some((_, after)) = quoted.split_once('\'') else { return false };
            after
        } else if let Some(quoted) = rest.strip_prefix("$'") {
            // An escaped quote is part of it.
            let mut is_escaped = false;
            let end = quoted.find(|letter| {
                let ends = letter == '\'' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                ends
            });
            let Some(end) = end else { return false };
            &quoted[end + 1..]
        } else if let Some(after) = rest.strip_prefix("\\'") {
            after
        } else if is_plain(letter) {
            &rest[letter.len_utf8()..]
        } else {
            return false;
        };
    }
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::is_of_runner;

    #[test]
    fn commands_of_others_are_removed() {
        for command in [
            "runner run film.yaml --only storm@look=noir,seed=3#2",
            "runner run 'my film.yaml' --rerun 'it'\\''s; rm -rf ~'",
            "runner run $'a\\033\\'; rm b.yaml' --only a",
        ] {
            assert!(is_of_runner(command), "{command}");
        }
        for command in [
            "",
            "rm -rf ~",
            "runner run a.yaml; rm -rf ~",
            "runner run a.yaml\nrm -rf ~",
            "runner run $(rm -rf ~)",
            "runner run `rm -rf ~`",
            "runner run 'a.yaml",
            "runner run $'a\\'",
            "runner run a > b",
            "runner run a | sh",
            "runner run \"$(sh)\"",
            "runner run a.yaml &",
            "runner run \u{202e}a",
        ] {
            assert!(!is_of_runner(command), "{command}");
        }
    }
}
