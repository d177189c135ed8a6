//! Reads an OpenAPI document, of this or an earlier revision, as a contract.

use std::path::Path;

use contract::Contract;

/// The contract in a file; errors name the file and the location in it.
pub(super) fn read(file: &Path) -> Result<Contract, String> {
    let name = file.display();
    let text = fs_err::read_to_string(file).map_err(|error| error.to_string())?;
    // `serde_yaml::Value` rejects duplicate keys. JSON is parsed as YAML, which includes it.
    let yaml: serde_yaml::Value =
        serde_yaml::from_str(&text).map_err(|error| format!("{name}: invalid YAML: {error}"))?;
    let document = serde_json::to_value(&yaml)
        .map_err(|error| format!("{name}: not representable as JSON: {error}; use strings as keys"))?;
    Contract::from_document(document).map_err(|error| format!("{name}: {error}"))
}
