//! Reading an `OpenAPI` document of any age.

use std::path::Path;

use contract::Contract;

/// The contract in a file; the error names the file and the place in it.
pub(super) fn read(file: &Path) -> Result<Contract, String> {
    let shown = file.display();
    let text = fs_err::read_to_string(file).map_err(|error| error.to_string())?;
    // Through the parser's own value, because that refuses a key that is given twice. JSON is YAML too.
    let yaml: serde_yaml::Value =
        serde_yaml::from_str(&text).map_err(|error| format!("{shown}: this is not valid YAML: {error}"))?;
    let document = serde_json::to_value(&yaml)
        .map_err(|error| format!("{shown}: this holds what JSON cannot: {error}; use strings as keys"))?;
    Contract::from_document(document).map_err(|error| format!("{shown}: {error}"))
}
