//! Parses a file into the tree, within the limits of [`crate::limits`].

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, Location, Spanned as Located};

use super::failure::{Failure, FailureKind};
use super::{Key, Yaml, YamlValue, tags};
use crate::limits;
use crate::source::{Source, Span, Spanned};

/// The tree, and what is wrong with the text. No tree if the text is not YAML. Of duplicate keys, the first is used.
pub(crate) fn parse(source: &Source) -> (Option<Yaml>, Vec<Failure>) {
    let failure = |error: &Error| Failure::new(error, source);
    match tree_of(source, DuplicateKeyPolicy::Error) {
        Ok(tree) => with_tags_refused(tree, Vec::new(), source),
        Err(error) if matches!(error.without_snippet(), Error::DuplicateMappingKey { .. }) => {
            // The parser stops at the first duplicate key. The file is read again with duplicates allowed, so that all of them and all
            // other problems are reported.
            match tree_of(source, DuplicateKeyPolicy::LastWins) {
                Ok(mut tree) => {
                    let mut failures = Vec::new();
                    drop_duplicates(&mut tree, &mut failures);
                    if failures.is_empty() {
                        failures.push(failure(&error));
                    }
                    with_tags_refused(tree, failures, source)
                }
                Err(other) => (None, vec![failure(&error), failure(&other)]),
            }
        }
        Err(error) => (None, vec![failure(&error)]),
    }
}

/// The parser drops tags: those that are not YAML's own are failures.
fn with_tags_refused(
    tree: Yaml,
    mut failures: Vec<Failure>,
    source: &Source,
) -> (Option<Yaml>, Vec<Failure>) {
    tags::refuse(&tree, source.text(), &mut failures);
    (Some(tree), failures)
}

fn drop_duplicates(tree: &mut Yaml, failures: &mut Vec<Failure>) {
    match &mut tree.value {
        YamlValue::List(items) => items.iter_mut().for_each(|item| drop_duplicates(item, failures)),
        YamlValue::Map(entries) => {
            let mut unique: Vec<(Key, Yaml)> = Vec::with_capacity(entries.len());
            let mut seen: HashMap<String, Span> = HashMap::new();
            for (key, mut value) in entries.drain(..) {
                drop_duplicates(&mut value, failures);
                if let Some(first) = seen.get(&key.value) {
                    let kind = FailureKind::RepeatedKey { key: key.value, first: Some(*first) };
                    failures.push(Failure { kind, span: key.span });
                } else {
                    seen.insert(key.value.clone(), key.span);
                    unique.push((key, value));
                }
            }
            *entries = unique;
        }
        _ => {}
    }
}

fn tree_of(source: &Source, duplicate_keys: DuplicateKeyPolicy) -> Result<Yaml, Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: limits::MAX_YAML_DEPTH,
            flow_nesting_limit: limits::MAX_YAML_DEPTH + 1,
            max_nodes: limits::MAX_YAML_NODES,
            max_events: limits::MAX_YAML_NODES * 3,
            max_aliases: limits::MAX_YAML_ALIASES,
            max_anchors: limits::MAX_YAML_ALIASES,
            max_recorded_anchor_events: limits::MAX_YAML_NODES * 3,
            max_recorded_anchor_bytes: limits::MAX_FILE_BYTES,
            max_total_scalar_bytes: limits::MAX_FILE_BYTES * 2,
            max_documents: 2,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: limits::MAX_YAML_NODES,
        },
        duplicate_keys: duplicate_keys,
        strict_booleans: true,
        with_snippet: false,
        leading_zero_numbers_as_strings: true,
    };
    let tree: Located<Raw> = serde_saphyr::from_str_with_options(source.text(), options)?;
    Ok(with_span(tree))
}

/// A value whose span is not known yet.
struct Raw(YamlValue);

fn with_span(located: Located<Raw>) -> Yaml {
    Yaml::new(located.value.0, span(located.defined))
}

fn span(location: Location) -> Span {
    let range = location.span();
    let start = range.byte_offset().unwrap_or_default() as usize;
    Span::new(start, start + range.byte_len().unwrap_or_default() as usize)
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Null))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Bool(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Number(number.into())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Number(number.into())))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Raw, E> {
        Number::from_f64(number)
            .map(|number| Raw(YamlValue::Number(number)))
            .ok_or_else(|| E::custom("a number here is finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Text(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw(YamlValue::Text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Located<Raw>>()? {
            items.push(with_span(item));
        }
        Ok(Raw(YamlValue::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Located<String>>()? {
            if key.value.len() > limits::MAX_RENDERED_BYTES {
                return Err(A::Error::invalid_length(key.value.len(), &"a shorter key"));
            }
            let value = map.next_value::<Located<Raw>>()?;
            entries.push((Spanned::new(key.value, span(key.defined)), with_span(value)));
        }
        Ok(Raw(YamlValue::Map(entries)))
    }
}
