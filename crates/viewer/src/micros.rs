//! Amounts of money as numbers of millionths.

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
use workflow::units::Money;

#[expect(clippy::ref_option, reason = "the signature that `serde(with)` calls")]
pub(crate) fn serialize<S: Serializer>(cost: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    cost.map(Money::as_micros).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    Ok(Option::deserialize(deserializer)?.map(Money::from_micros))
}
