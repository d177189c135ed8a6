//! Values as YAML text that reads back as the same value.

use serde::Serialize;

/// A value as a YAML document; in words, why it cannot be written.
pub(crate) fn to_yaml<T: Serialize>(value: &T) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())
}
