//! Quantities as numbers of a unit.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Money, VideoDuration};

/// A quantity that a number of units represents.
pub trait NumberOf<Unit>: Sized {
    /// The type of the number.
    type Number;

    /// The number of units; of what the ledger stores, at most [`i64::MAX`], the largest integer of SQLite.
    fn to_number(&self) -> Self::Number;

    /// The quantity of so many units; `None` if there is no such quantity, such as a negative duration.
    fn from_number(number: Self::Number) -> Option<Self>;
}

/// Millionths of a currency's unit.
#[derive(Debug, Clone, Copy)]
pub enum Micros {}

#[derive(Debug, Clone, Copy)]
pub enum Milliseconds {}

#[derive(Debug, Clone, Copy)]
pub enum Seconds {}

impl NumberOf<Micros> for Money {
    type Number = i64;

    fn to_number(&self) -> i64 {
        i64::try_from(self.as_micros()).unwrap_or(i64::MAX)
    }

    fn from_number(micros: i64) -> Option<Self> {
        u64::try_from(micros).ok().map(Self::from_micros)
    }
}

impl NumberOf<Milliseconds> for VideoDuration {
    type Number = i64;

    fn to_number(&self) -> i64 {
        i64::try_from(self.as_millis()).unwrap_or(i64::MAX)
    }

    fn from_number(millis: i64) -> Option<Self> {
        u64::try_from(millis).ok().map(Self::from_millis)
    }
}

impl NumberOf<Seconds> for VideoDuration {
    type Number = f64;

    fn to_number(&self) -> f64 {
        self.as_secs_f64()
    }

    fn from_number(seconds: f64) -> Option<Self> {
        Duration::try_from_secs_f64(seconds).ok().map(Self::from)
    }
}

impl NumberOf<Milliseconds> for Duration {
    type Number = u64;

    fn to_number(&self) -> u64 {
        u64::try_from(self.as_millis()).unwrap_or(u64::MAX)
    }

    fn from_number(millis: u64) -> Option<Self> {
        Some(Self::from_millis(millis))
    }
}

impl NumberOf<Seconds> for Duration {
    type Number = f64;

    fn to_number(&self) -> f64 {
        self.as_secs_f64()
    }

    fn from_number(seconds: f64) -> Option<Self> {
        Self::try_from_secs_f64(seconds).ok()
    }
}

impl<Unit, T: NumberOf<Unit>> NumberOf<Unit> for Option<T> {
    type Number = Option<T::Number>;

    fn to_number(&self) -> Self::Number {
        self.as_ref().map(T::to_number)
    }

    fn from_number(number: Self::Number) -> Option<Self> {
        match number {
            None => Some(None),
            Some(number) => T::from_number(number).map(Some),
        }
    }
}

fn serialize<Unit, T, S>(quantity: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: NumberOf<Unit, Number: Serialize>,
    S: Serializer,
{
    quantity.to_number().serialize(serializer)
}

fn deserialize<'de, Unit, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: NumberOf<Unit, Number: Deserialize<'de>>,
    D: Deserializer<'de>,
{
    let number = Deserialize::deserialize(deserializer)?;
    T::from_number(number).ok_or_else(|| de::Error::custom("the number is negative, or too large"))
}

macro_rules! serialized_as {
    ($(#[$doc:meta])* $module:ident: $unit:ident) => {
        $(#[$doc])*
        pub mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use super::{NumberOf, $unit};

            /// Writes a quantity, or an optional one, as a number.
            ///
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<T, S>(quantity: &T, serializer: S) -> Result<S::Ok, S::Error>
            where
                T: NumberOf<$unit, Number: Serialize>,
                S: Serializer,
            {
                super::serialize::<$unit, T, S>(quantity, serializer)
            }

            /// Reads a quantity, or an optional one, from a number.
            ///
            /// # Errors
            /// If there is no number, or no such quantity.
            pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
            where
                T: NumberOf<$unit, Number: Deserialize<'de>>,
                D: Deserializer<'de>,
            {
                super::deserialize::<$unit, T, D>(deserializer)
            }
        }
    };
}

serialized_as! {
    /// Money as an integer: millionths of the currency's unit. For `#[serde(with = …)]`.
    micros: Micros
}
serialized_as! {
    /// Durations as integers: milliseconds. For `#[serde(with = …)]`.
    millis: Milliseconds
}
serialized_as! {
    /// Durations as floating-point numbers: seconds. For `#[serde(with = …)]`.
    seconds: Seconds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct TestRecord {
        #[serde(with = "micros")]
        cost: Money,
        #[serde(default, with = "micros")]
        reserved: Option<Money>,
        #[serde(with = "millis")]
        video_ms: VideoDuration,
        #[serde(with = "seconds")]
        requested: VideoDuration,
        #[serde(with = "seconds")]
        played: Duration,
        #[serde(with = "millis")]
        took_ms: Option<Duration>,
    }

    #[test]
    fn quantities_are_written_as_numbers_of_their_units() {
        let record = TestRecord {
            cost: Money::from_micros(50_000),
            reserved: None,
            video_ms: VideoDuration::from_secs(5),
            requested: VideoDuration::from_secs(5),
            played: Duration::from_nanos(5_041_666_666),
            took_ms: Some(Duration::from_millis(1_500)),
        };
        let json = r#"{"cost":50000,"reserved":null,"video_ms":5000,"requested":5.0,"played":5.041666666,"took_ms":1500}"#;
        assert_eq!(serde_json::to_string(&record).unwrap(), json);
        assert_eq!(serde_json::from_str::<TestRecord>(json).unwrap(), record);
        let without = json.replace(r#""reserved":null,"#, "");
        assert_eq!(serde_json::from_str::<TestRecord>(&without).unwrap(), record);
        for (from, to) in [("50000", "-1"), (":5000", ":-1"), ("5.0,", "-5.0,"), ("1500", "1e300")] {
            serde_json::from_str::<TestRecord>(&json.replace(from, to)).expect_err(to);
        }
    }

    #[test]
    fn numbers_saturate_at_the_largest_that_sqlite_stores() {
        assert_eq!(Money::from_micros(u64::MAX).to_number(), i64::MAX);
        assert_eq!(NumberOf::<Milliseconds>::to_number(&VideoDuration::from_millis(u64::MAX)), i64::MAX);
        assert_eq!(Money::from_number(-1), None);
    }

    proptest! {
        /// A length that was stored, read and stored again has the same bytes.
        #[test]
        fn duration_in_seconds_round_trips(nanos in 0..1_000_000_000_000_000_u64) {
            let duration = Duration::from_nanos(nanos);
            let number = NumberOf::<Seconds>::to_number(&duration);
            prop_assert_eq!(<Duration as NumberOf<Seconds>>::from_number(number), Some(duration));
        }
    }
}
