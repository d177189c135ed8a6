//! Refuses retired words in names, whole or as a part (`LastLooked`, `given_path`). docs/glossary.md lists them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::names::{Name, NameKind};

const PAGE: &str = "docs/glossary.md";
const HEADING: &str = "## Retired words";
/// Where the codes of diagnostics are.
const CODES: &str = "crates/workflow/src/diagnostic/codes.rs";
/// Schemas of JSON that the program reads or writes.
const SCHEMAS: [&str; 5] = [
    "docs/events.schema.json",
    "docs/manifest.schema.json",
    "docs/sidecar.schema.json",
    "docs/status.schema.json",
    "workflows/workflow.schema.json",
];

/// Standard terms that contain a retired word, and why they stay.
const ALLOWED: &[(&str, &str)] = &[
    ("not found", "the HTTP status 404 and `io::ErrorKind::NotFound`"),
    ("in place", "standard term for an operation without a copy"),
    ("known entries", "a field of the protocol of Restate"),
    ("ambiguous instance", "the code of a reference that several instances match"),
    ("ambiguous pick", "the code of a pick that several instances match"),
];

/// A retired word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RetiredWord {
    word: String,
    scope: Scope,
    /// The replacement that the glossary gives.
    instead: String,
}

/// The names in which the words of a row are refused, by the note behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Every name.
    All,
    /// `(as a type)`
    Types,
    /// `(constants)`
    Constants,
    /// `(constructor)`: functions with exactly this name.
    Constructors,
    /// `(as a name for keys)`: names that are this word and nothing else.
    Whole,
    /// `(alone, as a type)`
    WholeTypes,
}

pub(super) fn problems(root: &Path, declared: &[Name]) -> Result<Vec<String>, String> {
    let page = fs_err::read_to_string(root.join(PAGE)).map_err(|error| error.to_string())?;
    let retired = retired_words(&page)?;
    let mut all = declared.to_vec();
    for file in SCHEMAS {
        let text = fs_err::read_to_string(root.join(file)).map_err(|error| error.to_string())?;
        let schema = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        members(file, &schema, &mut all);
    }
    let code = |(code, _): &(&str, &str)| Name {
        file: CODES.to_owned(),
        kind: NameKind::Code,
        text: (*code).to_owned(),
    };
    all.extend(workflow::CODES.iter().map(code));
    Ok(check(&retired, &all))
}

/// The table below the heading; an error where it is missing or empty.
fn retired_words(page: &str) -> Result<Vec<RetiredWord>, String> {
    let (_, table) = page.split_once(HEADING).ok_or_else(|| format!("{PAGE}: no heading `{HEADING}`"))?;
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    let mut retired = Vec::new();
    for row in rows {
        let mut cells = row.trim_matches('|').splitn(2, '|').map(str::trim);
        let (words, instead) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let (words, note) = words.split_once(" (").unwrap_or((words, ""));
        for word in words.split(", ") {
            let scope = match note {
                "constants)" => Scope::Constants,
                "as a type)" => Scope::Types,
                "constructor)" => Scope::Constructors,
                "as a name for keys)" => Scope::Whole,
                "alone, as a type)" => Scope::WholeTypes,
                _ => Scope::All,
            };
            retired.push(RetiredWord { word: word.to_owned(), scope, instead: instead.to_owned() });
        }
    }
    if retired.is_empty() { Err(format!("{PAGE}: no table below `{HEADING}`")) } else { Ok(retired) }
}

/// The members of all objects that a schema describes, and its constants, such as kinds of events.
fn members(file: &str, schema: &Value, out: &mut Vec<Name>) {
    let name = |text: &str| Name { file: file.to_owned(), kind: NameKind::Member, text: text.to_owned() };
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                out.extend(properties.keys().map(|key| name(key)));
            }
            if let Some(Value::String(text)) = fields.get("const") {
                out.push(name(text));
            }
            fields.values().for_each(|value| members(file, value, out));
        }
        Value::Array(values) => values.iter().for_each(|value| members(file, value, out)),
        _ => {}
    }
}

fn check(retired: &[RetiredWord], names: &[Name]) -> Vec<String> {
    let (mut problems, mut used) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        let mut words = format!(" {} ", split(&name.text).join(" "));
        for (term, _) in ALLOWED {
            let shorter = words.replace(&format!(" {term} "), " ");
            if shorter != words {
                used.insert(*term);
                words = shorter;
            }
        }
        for retired in retired {
            let applies = match retired.scope {
                Scope::All => true,
                Scope::Types => name.kind == NameKind::Type,
                Scope::Constants => name.kind == NameKind::Constant,
                Scope::WholeTypes => name.kind == NameKind::Type && words.trim() == retired.word,
                Scope::Constructors => name.kind == NameKind::Function && name.text == retired.word,
                // A field or a parameter may hold words.
                Scope::Whole => {
                    words.trim() == retired.word
                        && !matches!(name.kind, NameKind::Field | NameKind::Parameter)
                }
            };
            if applies && words.contains(&format!(" {} ", retired.word)) {
                problems.insert(format!(
                    "{}: {} `{}` contains `{}`; use {} ({PAGE})",
                    name.file, name.kind, name.text, retired.word, retired.instead
                ));
            }
        }
    }
    let unused = ALLOWED.iter().filter(|(term, _)| !used.contains(term));
    problems.extend(
        unused.map(|(term, _)| format!("xtask/src/tidy/retired_words.rs: `{term}` is allowed and not used")),
    );
    problems.into_iter().collect()
}

/// The words of a name in any case style, in lower case.
fn split(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let characters: Vec<char> = name.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(index + 1);
        let starts_word = character.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        if starts_word || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "## Retired words\n\nNot to be used.\n\n| Retired | Use instead |\n|---|---|\n\
        | looks, looked | lookup |\n| millis (as a type) | timestamp |\n| found | matches |\n| place | span |\n\
        | most, few (constants) | `MAX_…` |\n| of (constructor) | new |\n| words (as a name for keys) | keys |\n\
        | kind, record (alone, as a type) | of what |\n";

    fn refused(kind: NameKind, text: &str) -> bool {
        let retired = retired_words(GLOSSARY).unwrap();
        let name = Name { file: "a.rs".to_owned(), kind, text: text.to_owned() };
        check(&retired, &[name]).iter().any(|problem| problem.starts_with("a.rs"))
    }

    #[test]
    fn split_separates_words_in_every_case_style() {
        assert_eq!(split("lookUpHTTPServer2Go"), ["look", "up", "http", "server2", "go"]);
        assert_eq!(split("MOST_LINES"), ["most", "lines"]);
        assert_eq!(split("last-look"), ["last", "look"]);
    }

    #[test]
    fn retired_words_are_refused_whole_and_as_a_part() {
        for text in ["Looked", "LastLooked", "looked_at", "LOOKS", "last-looked"] {
            assert!(refused(NameKind::Type, text), "{text}");
        }
        for text in ["Look", "Lookup", "Outlook", "NotFound", "StatusNotFound", "sort_in_place"] {
            assert!(!refused(NameKind::Type, text), "{text}");
        }
    }

    #[test]
    fn retired_words_are_refused_in_fields_parameters_and_codes() {
        assert!(refused(NameKind::Field, "last_looked") && refused(NameKind::Parameter, "found"));
        assert!(refused(NameKind::Code, "bad-place") && !refused(NameKind::Code, "bad-span"));
    }

    #[test]
    fn notes_restrict_words_to_kinds_of_names() {
        assert!(refused(NameKind::Type, "Millis") && !refused(NameKind::Function, "as_millis"));
        assert!(refused(NameKind::Constant, "MOST_LINES") && refused(NameKind::Constant, "FEW"));
        assert!(!refused(NameKind::Function, "at_most"));
        assert!(refused(NameKind::Constant, "WORDS") && !refused(NameKind::Function, "retired_words"));
        assert!(refused(NameKind::Constant, "words") && !refused(NameKind::Parameter, "words"));
        assert!(refused(NameKind::Type, "Kind") && refused(NameKind::Type, "Record"));
        assert!(!refused(NameKind::Type, "StatusRecord") && !refused(NameKind::Variant, "Record"));
        assert!(!refused(NameKind::Field, "kind"));
        assert!(refused(NameKind::Function, "of") && !refused(NameKind::Function, "size_of"));
    }

    #[test]
    fn members_lists_properties_and_constants_of_a_schema() {
        let schema = serde_json::json!({"oneOf": [{"properties": {"event": {"const": "looked"}}}]});
        let mut all = Vec::new();
        members("a.json", &schema, &mut all);
        let texts: Vec<&str> = all.iter().map(|name| name.text.as_str()).collect();
        assert_eq!(texts, ["event", "looked"]);
    }
}
