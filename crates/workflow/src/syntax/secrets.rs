//! Credentials in a file: a workflow is shared and committed; a key is read from the environment only.

use crate::diagnostic::{Diagnostic, Problems};
use crate::secret_text::{is_credential_name, is_token};
use crate::yaml::{Key, Yaml, YamlValue};

/// Reports every credential in a file.
pub(crate) fn check(tree: &Yaml, problems: &mut Problems) {
    match &tree.value {
        YamlValue::List(items) => items.iter().for_each(|item| check(item, problems)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                if is_credential_name(&key.value) && value.value != YamlValue::Null {
                    problems.push(named(key));
                } else {
                    check(value, problems);
                }
            }
        }
        YamlValue::Text(text) if is_token(text) => {
            problems.push(
                Diagnostic::error("secret-in-file", tree.span, "this value has the form of an API key")
                    .help(HELP),
            );
        }
        YamlValue::Text(_) | YamlValue::Number(_) | YamlValue::Bool(_) | YamlValue::Null => {}
    }
}

const HELP: &str = "remove it, and set the key where the program runs: `export RUNNER_API_KEY=…`; if the file was shared or committed, \
                    revoke the key at the service";

fn named(key: &Key) -> Diagnostic {
    let message = format!("`{}` does not belong in a file: whoever has the file has the key", key.value);
    Diagnostic::error("secret-in-file", key.span, message).help(HELP)
}
