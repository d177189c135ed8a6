//! Values as YAML text that reads back as the same value.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as a YAML document.
///
/// # Errors
/// The value cannot be written as YAML, such as a map whose keys are maps; in words.
pub fn to_yaml<T: Serialize>(value: &T) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())
}

/// Reads back what [`to_yaml`] has written. User input is read as a tree with spans instead.
///
/// # Errors
/// The text is not YAML, or not such a value; as a message.
pub fn from_yaml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}
