//! Currencies, dates and amounts as people write them, for the help of a value in another form.

use crate::units::Money;

/// Signs and names of currencies, each of one currency only: `¥` is that of two.
const CURRENCIES: [(&str, &str); 15] = [
    ("€", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("$", "USD"),
    ("us$", "USD"),
    ("usd$", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("us dollar", "USD"),
    ("us dollars", "USD"),
    ("£", "GBP"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("yen", "JPY"),
    ("rmb", "CNY"),
];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The code of the currency that was meant.
pub(super) fn suggested_currency(text: &str) -> Option<String> {
    let folded = text.trim().to_lowercase().replace(['-', '_'], " ");
    if let Some((_, code)) = CURRENCIES.iter().find(|(name, _)| *name == folded) {
        return Some((*code).to_owned());
    }
    let is_code = folded.len() == 3 && folded.bytes().all(|byte| byte.is_ascii_lowercase());
    is_code.then(|| folded.to_uppercase())
}

/// The date that was meant; `None` if it may be one of two, as in `03/04/2026`.
pub(super) fn suggested_date(text: &str) -> Option<String> {
    // What follows a date is a time of day.
    let text = text.trim();
    let day = text.split_once('T').map_or(text, |(day, time)| if time.contains(':') { day } else { text });
    let parts: Vec<&str> =
        day.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let number = |text: &str| {
        let ordinal = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| text.strip_suffix(ending));
        ordinal.unwrap_or(text).parse::<u32>().ok()
    };
    let month = |text: &str| {
        let text = text.to_lowercase();
        let index = MONTHS.iter().position(|month| text.len() >= 3 && text.starts_with(month));
        index.and_then(|index| u32::try_from(index + 1).ok())
    };
    let (year, month, day) = match parts[..] {
        [digits] if digits.len() == 8 && digits.is_ascii() => {
            (number(&digits[..4])?, number(&digits[4..6])?, number(&digits[6..])?)
        }
        [year, month_or_name, day] if year.len() == 4 => {
            (number(year)?, number(month_or_name).or_else(|| month(month_or_name))?, number(day)?)
        }
        [first, second, year] if year.len() == 4 => {
            let year = number(year)?;
            match (number(first), number(second), month(first), month(second)) {
                // Dots are for days before months only.
                (Some(day), Some(month), ..) if text.contains('.') || day > 12 || day == month => {
                    (year, month, day)
                }
                (Some(month), Some(day), ..) if day > 12 => (year, month, day),
                (None, Some(day), Some(month), _) | (Some(day), None, _, Some(month)) => (year, month, day),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(format!("{year:04}-{month:02}-{day:02}")).filter(|date| is_date(date))
}

/// The amount that was meant: without the sign of a currency, and with a point before its fraction.
pub(super) fn suggested_amount(text: &str) -> Option<String> {
    let amount = text.trim_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let is_sign = |sign: &str| sign.trim().is_empty() || suggested_currency(sign).is_some();
    let (before, after) = text.split_once(amount).filter(|_| !amount.is_empty())?;
    if !is_sign(before) || !is_sign(after) {
        return None;
    }
    let amount = match amount.split_once(',') {
        // Three digits after a comma may be thousands.
        Some((_, fraction)) if fraction.len() == 3 => return None,
        Some(_) => amount.replace(',', "."),
        None => amount.to_owned(),
    };
    Money::parse(&amount).is_ok().then_some(amount)
}

/// `YYYY-MM-DD`, with a month and a day that exist.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |text: &str, length: usize| {
        (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let year: u32 = year;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days: u32 = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_date_rejects_nonexistent_days() {
        for right in ["2026-01-31", "2024-02-29", "2000-02-29"] {
            assert!(is_date(right), "{right}");
        }
        for wrong in
            ["2026-02-29", "1900-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-00", "today", ""]
        {
            assert!(!is_date(wrong), "{wrong}");
        }
    }

    #[test]
    fn suggested_values_are_those_that_were_meant() {
        for (text, currency) in [
            ("EURO", Some("EUR")),
            ("eur", Some("EUR")),
            ("€", Some("EUR")),
            ("euros", Some("EUR")),
            ("£", Some("GBP")),
            ("$", Some("USD")),
            ("US-Dollar", Some("USD")),
            ("¥", None),
            ("credits", None),
        ] {
            assert_eq!(suggested_currency(text).as_deref(), currency, "{text}");
        }
        for (text, date) in [
            ("15.03.2026", Some("2026-03-15")),
            ("5.3.2026", Some("2026-03-05")),
            ("2026-3-5", Some("2026-03-05")),
            ("2026/03/05", Some("2026-03-05")),
            ("03/15/2026", Some("2026-03-15")),
            ("15/03/2026", Some("2026-03-15")),
            ("March 15, 2026", Some("2026-03-15")),
            ("15 Mar 2026", Some("2026-03-15")),
            ("20260315", Some("2026-03-15")),
            ("2026-03-15T00:00:00Z", Some("2026-03-15")),
            ("03/04/2026", None),
            ("2026-02-30", None),
            ("2026-03", None),
            ("today", None),
        ] {
            assert_eq!(suggested_date(text).as_deref(), date, "{text}");
        }
        for (text, amount) in [
            ("$0.12", Some("0.12")),
            ("0.12 €", Some("0.12")),
            ("EUR 0.12", Some("0.12")),
            ("0,12", Some("0.12")),
            ("1,000", None),
            ("-1", None),
            ("5e-2", None),
            ("free", None),
        ] {
            assert_eq!(suggested_amount(text).as_deref(), amount, "{text}");
        }
    }
}
