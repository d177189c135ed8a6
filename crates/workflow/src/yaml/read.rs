//! Parses a file into the tree, within the limits of [`crate::limits`].

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, Location, Spanned as Located};

use super::{
    Key, Yaml, YamlValue, error as parse_error, foreign_signs, items, joined_keys, source_text, split_numbers,
};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::source::{Source, Span, Spanned};

/// The tree; `None` if the text is not YAML. Duplicate keys are reported, and the first is used.
pub(crate) fn read(source: &Source, problems: &mut Problems) -> Option<Yaml> {
    match parse(source, DuplicateKeyPolicy::Error) {
        Ok(tree) if let Some(mistake) = mistake_in_keys(&tree, source) => {
            problems.push(mistake);
            None
        }
        Ok(mut tree) => {
            joined_keys::split(&mut tree, source, problems);
            source_text::restore(&mut tree, source, problems);
            split_numbers::join(&mut tree, source, problems);
            Some(tree)
        }
        Err(error) if parse_error::is_duplicate_key(&error) => read_with_duplicates(source, &error, problems),
        Err(error) => {
            problems.push(parse_error::explain(&error, source));
            None
        }
    }
}

/// What the parser has taken for a key, or for a part of one.
fn mistake_in_keys(tree: &Yaml, source: &Source) -> Option<Diagnostic> {
    foreign_signs::in_keys(tree, source).or_else(|| items::in_keys(tree, source))
}

/// The parser stops at the first duplicate key. The file is read again with duplicates allowed, so that all of them and all
/// other problems are reported.
fn read_with_duplicates(source: &Source, first: &Error, problems: &mut Problems) -> Option<Yaml> {
    let mut tree = match parse(source, DuplicateKeyPolicy::LastWins) {
        Ok(tree) => tree,
        Err(error) => {
            problems.push(parse_error::explain(first, source));
            problems.push(parse_error::explain(&error, source));
            return None;
        }
    };
    if let Some(mistake) = mistake_in_keys(&tree, source) {
        problems.push(mistake);
        return None;
    }
    let mut has_duplicates = false;
    drop_duplicates(&mut tree, &mut |original, dropped| {
        has_duplicates = true;
        problems.push(
            Diagnostic::error(
                "duplicate-key",
                dropped.span,
                format!("the key `{}` is duplicate", dropped.value),
            )
            .label("again here")
            .other(original.span, "first here")
            .help(duplicate_help(dropped, source)),
        );
    });
    if !has_duplicates {
        problems.push(parse_error::explain(first, source));
    }
    joined_keys::split(&mut tree, source, problems);
    source_text::restore(&mut tree, source, problems);
    split_numbers::join(&mut tree, source, problems);
    Some(tree)
}

/// The help for a duplicate key. A second `id` probably begins an item whose dash is missing.
fn duplicate_help(key: &Key, source: &Source) -> String {
    let line = source.text().get(key.span.start()..).and_then(|rest| rest.lines().next());
    let item = line.map(str::trim_end).filter(|item| key.value == "id" && !item.contains([',', '}', '`']));
    match item {
        Some(item) => format!(
            "keep one of the two; if another shot begins here, write `- {item}`, its dash below the one above"
        ),
        None => "keep one of the two".to_owned(),
    }
}

fn drop_duplicates(tree: &mut Yaml, report: &mut impl FnMut(&Key, &Key)) {
    match &mut tree.value {
        YamlValue::List(items) => items.iter_mut().for_each(|item| drop_duplicates(item, report)),
        YamlValue::Map(entries) => {
            let mut unique: Vec<(Key, Yaml)> = Vec::with_capacity(entries.len());
            let mut seen = std::collections::HashMap::new();
            for (key, mut value) in entries.drain(..) {
                drop_duplicates(&mut value, report);
                if let Some(first) = seen.get(&key.value) {
                    let (first, _): &(Key, Yaml) = &unique[*first];
                    report(first, &key);
                } else {
                    seen.insert(key.value.clone(), unique.len());
                    unique.push((key, value));
                }
            }
            *entries = unique;
        }
        _ => {}
    }
}

fn parse(source: &Source, duplicate_keys: DuplicateKeyPolicy) -> Result<Yaml, Error> {
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
                return Err(A::Error::custom("this key is far too long"));
            }
            let value = map.next_value::<Located<Raw>>()?;
            entries.push((Spanned::new(key.value, span(key.defined)), with_span(value)));
        }
        Ok(Raw(YamlValue::Map(entries)))
    }
}
