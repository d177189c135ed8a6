//! Amounts of money: whole millionths of a currency's unit.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of money in millionths of the currency's unit. Written as a decimal: `0.05`, `12.00`, `0.000125`. The
/// price table states the currency.
///
/// Sums saturate: an amount that does not fit is greater than any cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Money(u64);

/// Why a text is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseMoneyError {
    /// It is not digits with at most one decimal point.
    #[error("an amount is written with digits and a point, such as 0.05")]
    NotDecimal,
    /// It has more than six digits after the point.
    #[error("an amount has at most six digits after the point")]
    TooFine,
    /// It does not fit.
    #[error("this amount is too large")]
    TooLarge,
}

const MICROS: u64 = 1_000_000;
const DIGITS: usize = 6;

impl Money {
    pub const ZERO: Self = Self(0);

    /// An amount in millionths of the currency's unit.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The amount in millionths of the currency's unit.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The sum, or the greatest amount there is.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero where the other is greater.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Reads a decimal without sign: `0.05`, `12`, `.5`.
    ///
    /// # Errors
    /// [`ParseMoneyError`] says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, ParseMoneyError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return Err(ParseMoneyError::NotDecimal);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > DIGITS {
            return Err(ParseMoneyError::TooFine);
        }
        let number = |text: &str| match text {
            "" => Ok(0),
            text => text.parse::<u64>().map_err(|_| ParseMoneyError::TooLarge),
        };
        let micros = number(&format!("{fraction:0<DIGITS$}"))?;
        let whole = number(whole)?.checked_mul(MICROS).ok_or(ParseMoneyError::TooLarge)?;
        whole.checked_add(micros).map(Self).ok_or(ParseMoneyError::TooLarge)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:0DIGITS$}", self.0 % MICROS);
        let shown = fraction.trim_end_matches('0').len().max(2);
        f.pad(&format!("{}.{}", self.0 / MICROS, &fraction[..shown]))
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::saturating_add)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn money_parses_exactly_or_rejects() {
        for (text, micros) in
            [("0.05", 50_000), ("12", 12_000_000), (".5", 500_000), ("1.", 1_000_000), ("0.0000010", 1)]
        {
            assert_eq!(Money::parse(text), Ok(Money(micros)), "{text}");
        }
        for wrong in ["", ".", "-1", "+1", "1e3", "1,5", "1_000", " 1", "0x1", "1.2.3", "∞", "１"] {
            assert_eq!(Money::parse(wrong), Err(ParseMoneyError::NotDecimal), "{wrong}");
        }
        assert_eq!(Money::parse("0.0000001"), Err(ParseMoneyError::TooFine));
        assert_eq!(Money::parse("99999999999999999999"), Err(ParseMoneyError::TooLarge));
        assert_eq!(Money::parse("18446744073709.551616"), Err(ParseMoneyError::TooLarge));
    }

    #[test]
    fn money_sums_are_exact() {
        let tenth = Money::parse("0.1").unwrap();
        assert_eq!((0..10).map(|_| tenth).sum::<Money>().to_string(), "1.00");
        assert_eq!(Money(u64::MAX).saturating_add(tenth), Money(u64::MAX));
        assert_eq!(tenth.saturating_sub(Money(u64::MAX)), Money::ZERO);
    }

    proptest! {
        #[test]
        fn money_display_round_trips(micros: u64) {
            let money = Money::from_micros(micros);
            prop_assert_eq!(Money::parse(&money.to_string()), Ok(money));
            let json = serde_json::to_string(&money).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), money);
        }
    }
}
