//! Reads one shot: its words are told from request fields, which the contract judges later.

use super::{Continues, Entry, Shot, file, plain_name, value};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::Spanned;
use crate::yaml::{Key, Yaml, YamlValue};

/// The words of a shot. Every other key is a request field.
pub(crate) const KEYS: [&str; 14] = [
    "id",
    "note",
    "continues",
    "first_frame",
    "last_frame",
    "references",
    "matrix",
    "takes",
    "pick",
    "needs",
    "when",
    "salt",
    "retry",
    "timeout",
];

/// The shot that a list item holds; nothing where it has no usable id.
pub(super) fn read(item: &Yaml, problems: &mut Problems) -> Option<Shot> {
    let YamlValue::Map(entries) = &item.value else {
        problems.push(
            Diagnostic::error("wrong-type", item.span, "a shot is a map")
                .label(format!("this is {}", item.kind()))
                .help("write it as `- id: …` with its fields below"),
        );
        return None;
    };
    let id = id(item, entries, problems);
    let mut shot = Shot {
        id: id.clone().unwrap_or_else(|| Spanned::new(String::new(), item.span)),
        note: None,
        continues: None,
        first_frame: None,
        last_frame: None,
        references: None,
        matrix: None,
        takes: None,
        pick: None,
        needs: Vec::new(),
        when: None,
        salt: None,
        retry: None,
        timeout: None,
        fields: Vec::new(),
    };
    for (key, value) in entries {
        let entry = || Some(Entry { key: key.clone(), value: value.clone() });
        match key.value.as_str() {
            "id" => {}
            "note" => shot.note = value::expect_text(value, "note", key.span, problems),
            "continues" => {
                shot.continues = file::reference("continues", key.span, value, problems)
                    .map(|shot| Continues { key: key.clone(), shot });
            }
            "needs" => shot.needs = file::references(key, value, problems),
            "first_frame" => shot.first_frame = entry(),
            "last_frame" => shot.last_frame = entry(),
            "references" => shot.references = entry(),
            "matrix" => shot.matrix = entry(),
            "takes" => shot.takes = entry(),
            "pick" => shot.pick = entry(),
            "when" => shot.when = entry(),
            "salt" => shot.salt = entry(),
            "retry" => shot.retry = entry(),
            "timeout" => shot.timeout = entry(),
            _ => shot.fields.extend(entry()),
        }
    }
    if let (Some(continues), Some(first_frame)) = (&shot.continues, &shot.first_frame) {
        problems.push(
            Diagnostic::error("two-first-frames", first_frame.key.span, "this shot has two first frames")
                .label("one is set here")
                .other(continues.key.span, "the other is the last frame of the shot named here")
                .help("keep `continues` or `first_frame`"),
        );
        shot.first_frame = None;
    }
    if let (Some(pick), None) = (&shot.pick, &shot.takes) {
        problems.push(
            Diagnostic::error(
                "bad-pick",
                pick.key.span,
                "`pick` chooses among takes, and this shot has none",
            )
            .help("add `takes:` or remove `pick`"),
        );
    }
    id.map(|_| shot)
}

fn id(item: &Yaml, entries: &[(Key, Yaml)], problems: &mut Problems) -> Option<Spanned<String>> {
    let Some((key, value)) = item.get("id") else {
        let place = entries.first().map_or(item.span, |(key, _)| key.span);
        problems.push(
            Diagnostic::error("missing-key", place, "this shot has no `id`")
                .help("give it one: other shots, the film and its files are named by it"),
        );
        return None;
    };
    // An id such as `1` is a number to YAML.
    let id = match &value.value {
        YamlValue::Number(number) if number.is_u64() => Spanned::new(number.to_string(), value.span),
        _ => value::expect_text(value, "id", key.span, problems)?,
    };
    if let Err(message) = plain_name(&id.value) {
        problems.error("bad-name", id.span.or(key.span), message);
        return None;
    }
    Some(id)
}
