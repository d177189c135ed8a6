//! Numbers with their digits in groups: `1,000`, `1 000`, `1_000`.

/// Signs between groups; a point alone begins a fraction.
const SIGNS: [char; 6] = [',', ' ', '_', '\'', '\u{a0}', '\u{202f}'];

/// The whole number in a text whose digits are in groups of three, without the signs between them; `None` if they are not.
pub(crate) fn without_grouping(text: &str) -> Option<String> {
    let text = text.trim();
    let (minus, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let sign = digits.chars().find(|c| SIGNS.contains(c))?;
    let mut groups = digits.split(sign);
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|c| c.is_ascii_digit());
    let is_first = groups.next().is_some_and(|first| is_digits(first) && first.len() <= 3);
    let are_groups = groups.all(|group| group.len() == 3 && is_digits(group));
    (is_first && are_groups).then(|| format!("{minus}{}", digits.replace(sign, "")))
}

#[cfg(test)]
mod tests {
    use super::without_grouping;

    #[test]
    fn grouped_digits_are_one_number() {
        for (text, number) in [
            ("1,000", Some("1000")),
            ("1 000", Some("1000")),
            ("1_000", Some("1000")),
            ("-1'234'567", Some("-1234567")),
            ("12\u{202f}500", Some("12500")),
            ("1,5", None),
            ("1,0000", None),
            ("1000", None),
            ("1000,000", None),
            (",000", None),
            ("1, 000", None),
            ("1,000 x", None),
        ] {
            assert_eq!(without_grouping(text).as_deref(), number, "{text}");
        }
    }
}
