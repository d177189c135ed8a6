//! Reads a fragment: a file of parameters and defaults that workflows include.

use super::{Entry, Param, file};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean};
use crate::source::Spanned;
use crate::yaml::{Yaml, YamlValue};

const KEYS: [&str; 4] = ["version", "include", "params", "defaults"];

/// What an included file brings.
#[derive(Debug, Default)]
pub(crate) struct Fragment {
    pub(crate) include: Vec<Spanned<String>>,
    pub(crate) params: Vec<Param>,
    pub(crate) defaults: Vec<Entry>,
}

/// What is in a fragment's tree, as far as it is one.
pub(crate) fn read(tree: &Yaml, problems: &mut Problems) -> Fragment {
    let mut fragment = Fragment::default();
    let YamlValue::Map(entries) = &tree.value else {
        problems.push(
            Diagnostic::error("wrong-type", tree.span, "an included file is a map")
                .label(format!("this is {}", tree.kind()))
                .help("it holds `params:`, `defaults:` or both"),
        );
        return fragment;
    };
    for (key, value) in entries {
        match key.value.as_str() {
            "version" => file::version(key, value, problems),
            "include" => fragment.include = file::include(key, value, problems),
            "params" => fragment.params = file::params(key, value, true, problems),
            "defaults" => fragment.defaults = file::defaults(key, value, problems),
            other => {
                let help = match other {
                    "shots" | "film" | "films" | "matrix" => "it stands in the workflow itself".to_owned(),
                    _ => did_you_mean(other, KEYS)
                        .unwrap_or_else(|| "the keys here are `params`, `defaults` and `include`".to_owned()),
                };
                let message = format!("`{other}` is not a key of an included file");
                problems.push(Diagnostic::error("unknown-key", key.span, message).help(help));
            }
        }
    }
    fragment
}
