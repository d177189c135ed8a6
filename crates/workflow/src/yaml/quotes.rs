//! Text in quotes that YAML ends too early or refuses: with an apostrophe in single quotes, or with the escapes of other languages.

/// The text of a value in quotes as a YAML scalar, if only its quoting is wrong: `'it's dark'`, `'it\'s dark'`, `"the keeper\'s coat"`,
/// `"costs \$5"`.
pub(super) fn requoted(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    let text = if quote == '\'' {
        let text = inner.replace("\\'", "'").replace("''", "'");
        if text.contains(['"', '\\']) {
            return None;
        }
        text
    } else {
        without_needless_escapes(inner)?
    };
    Some(format!("\"{text}\""))
}

/// The content of double quotes without the backslashes before signs that need none there; `None` if a backslash or a quote remains that
/// YAML would refuse, as in `C:\stills`.
fn without_needless_escapes(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    let mut is_changed = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => return None,
            '\\' => match chars.next()? {
                escaped @ ('\\' | '"' | '/' | 'n' | 't' | 'r' | 'e' | '0') => text.extend(['\\', escaped]),
                sign if sign.is_ascii_punctuation() => {
                    text.push(sign);
                    is_changed = true;
                }
                _ => return None,
            },
            c => text.push(c),
        }
    }
    is_changed.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::requoted;

    #[test]
    fn requoted_text_is_the_one_that_was_meant() {
        for (value, text) in [
            (r#""the keeper\'s coat""#, Some(r#""the keeper's coat""#)),
            (r#""costs \$5""#, Some(r#""costs $5""#)),
            (r#""a \"b\" at 50\%""#, Some(r#""a \"b\" at 50%""#)),
            (r"'it\'s dark'", Some(r#""it's dark""#)),
            ("'it's dark'", Some(r#""it's dark""#)),
            (r#"'it's "dark"'"#, None),
            (r#""C:\stills\a.png""#, None),
            (r#""x" rain"#, None),
            ("plain", None),
            ("'", None),
        ] {
            assert_eq!(requoted(value).as_deref(), text, "{value}");
        }
    }
}
