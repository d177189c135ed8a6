//! Changes single fields of a shot, or the list of a film, in the text of a workflow file. Comments, order and layout stay as they are.
//!
//! Invariant: the edited text is the same document as before, except for what is to be changed. What would change more, such as a value
//! that is shared through an anchor, is refused.

mod film_list;

use serde_json::{Value, json};

use crate::advice;
use crate::diagnostic::{Problems, did_you_mean};
use crate::letters::normalized;
use crate::plan::{Transition, TransitionKind};
use crate::scaffold::{field, scalar};
use crate::source::Source;
use crate::syntax::keys::{film as keys, name_of};
use crate::yaml::{Key, Yaml, YamlValue};

pub use self::film_list::{FilmList, ListEntry, film_entries, set_film_entries};

/// A transition as a film's entry writes it.
pub fn transition_value(transition: &Transition) -> Value {
    let length = transition.length.to_string();
    match transition.kind {
        TransitionKind::Dissolve => json!({ keys::DISSOLVE.name: length }),
        kind @ (TransitionKind::FadeBlack | TransitionKind::FadeWhite) => {
            json!({ keys::FADE.name: name_of(&kind, &keys::COLORS), keys::TRANSITION_LENGTH.name: length })
        }
        kind @ (TransitionKind::WipeLeft | TransitionKind::WipeRight) => {
            json!({ keys::WIPE.name: name_of(&kind, &keys::DIRECTIONS), keys::TRANSITION_LENGTH.name: length })
        }
    }
}

/// Why a field cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is not YAML, or has duplicate keys.
    #[error("the file cannot be read as YAML; `runner check` says why")]
    Invalid,
    /// No shot of the file has this id; it may be in an included file.
    #[error("the file has no shot `{shot}`; {help}")]
    NoShot { shot: String, help: String },
    /// The file has no such film; it may be in an included file.
    #[error("the film is not in this file; if it is in an included file, edit that file")]
    NoFilm,
    /// Only text and numbers can be written.
    #[error("`{name}` is not text or a number; edit it in the file")]
    NotScalar { name: String },
    /// The value is written in a way that cannot be changed on its own.
    #[error(
        "`{name}` cannot be changed on its own, because it is shared with other shots; edit it in the file"
    )]
    Shared { name: String },
}

/// A shot's own value of a field, as the file has it: a prompt is a template. `None` if the shot has none of its own.
///
/// # Errors
/// See [`EditError`].
pub fn own_field(text: &str, shot: &str, name: &str) -> Result<Option<Value>, EditError> {
    let (_, tree) = parse(text)?;
    let (_, item) = find(&tree, shot)?;
    Ok(item.get(name).map(|(_, value)| value.to_json()))
}

/// The id of the repeated shot that a name is a step of (`walk-2`); `None` where it is a shot of its own, or none. A change of a step is one of
/// the repeated shot, because its steps have everything in common.
pub fn repeated_shot(text: &str, shot: &str) -> Option<String> {
    let (_, tree) = parse(text).ok()?;
    let (_, item) = find(&tree, shot).ok()?;
    id(item).filter(|id| *id != *normalized(shot))
}

/// The text with another value, text or a number, for a field of a shot, or of the shot that it is a step of.
///
/// # Errors
/// See [`EditError`].
pub fn set_field(text: &str, shot: &str, name: &str, value: &Value) -> Result<String, EditError> {
    let (source, tree) = parse(text)?;
    let (index, item) = find(&tree, shot)?;
    let written = match value {
        Value::String(text) => scalar(text),
        Value::Number(number) => number.to_string(),
        _ => return Err(EditError::NotScalar { name: name.to_owned() }),
    };
    let mut expected = tree.to_json();
    expected["shots"][index][name] = value.clone();
    // On several lines where it is long, without the name and its colon.
    let folded = |indent: &str| match value {
        Value::String(text) => {
            field(indent, name, text)[indent.len() + name.len() + 2..].trim_end().to_owned()
        }
        _ => written.clone(),
    };
    let candidates = match item.get(name) {
        Some((key, old)) => {
            if matches!(old.value, YamlValue::List(_) | YamlValue::Map(_)) {
                return Err(EditError::NotScalar { name: name.to_owned() });
            }
            replaced(&source, key, old, [&folded(&indentation(&source, key)), &written, &quoted(value)])
        }
        None => match item.get("id") {
            Some((key, id)) => {
                let id_end = id.span.end();
                let line_end = text[id_end..].find('\n').map_or(text.len(), |end| id_end + end + 1);
                let indent = indentation(&source, key);
                let line = format!("{indent}{name}: {}\n", folded(&indent));
                let missing_break = if text[..line_end].ends_with('\n') { "" } else { "\n" };
                vec![
                    format!("{}{missing_break}{line}{}", &text[..line_end], &text[line_end..]),
                    // In a flow mapping.
                    format!("{}, {name}: {}{}", &text[..id_end], quoted(value), &text[id_end..]),
                ]
            }
            None => Vec::new(),
        },
    };
    let line_ends = |candidate: String| {
        if text.contains("\r\n") { candidate.replace("\r\n", "\n").replace('\n', "\r\n") } else { candidate }
    };
    let is_expected = |candidate: &String| parse(candidate).is_ok_and(|(_, tree)| tree.to_json() == expected);
    candidates
        .into_iter()
        .map(line_ends)
        .find(is_expected)
        .ok_or_else(|| EditError::Shared { name: name.to_owned() })
}

/// The text with a value replaced, in the styles to try.
fn replaced(source: &Source, key: &Key, old: &Yaml, styles: [&str; 3]) -> Vec<String> {
    let text = source.text();
    let after_key = after_colon(text, key.span.end());
    let start = text.len() - text[after_key..].trim_start_matches(' ').len();
    let (before, styles, end) = if text[start..].starts_with(['|', '>']) {
        // The span of a block scalar is its content, without the header.
        let header = text[start..].lines().next().unwrap_or_default();
        let end =
            start.max(old.span.start() + source.slice(old.span).trim_end().len()).max(start + header.len());
        let comment = header.find(" #").map(|comment_start| &header[comment_start..]).unwrap_or_default();
        let with_comment = |value: &str| match value.split_once('\n') {
            Some((first, rest)) => format!("{first}{comment}\n{rest}"),
            None => format!("{value}{comment}"),
        };
        (text[..start].to_owned(), styles.map(with_comment), end)
    } else if old.span.is_empty() {
        (format!("{} ", &text[..after_key]), styles.map(str::to_owned), after_key)
    } else {
        let end = old.span.start() + source.slice(old.span).trim_end().len();
        (text[..old.span.start()].to_owned(), styles.map(str::to_owned), end)
    };
    styles.iter().map(|value| format!("{before}{value}{}", &text[end..])).collect()
}

/// The offset after the colon of a key that ends here.
fn after_colon(text: &str, end: usize) -> usize {
    text[end..].find(':').map_or(end, |colon| end + colon + 1)
}

/// A value that is safe anywhere: JSON is YAML.
fn quoted(value: &Value) -> String {
    value.to_string()
}

/// The spaces before a key's column.
fn indentation(source: &Source, key: &Key) -> String {
    " ".repeat(source.position(key.span.start()).column.saturating_sub(1))
}

fn parse(text: &str) -> Result<(Source, Yaml), EditError> {
    let source = Source::new("", text);
    let mut problems = Problems::default();
    match advice::read(&source, &mut problems) {
        Some(tree) if !problems.any() => Ok((source, tree)),
        _ => Err(EditError::Invalid),
    }
}

/// The id of a shot.
fn id(item: &Yaml) -> Option<String> {
    match &item.get("id")?.1.value {
        YamlValue::Text(text) => Some(normalized(text).into_owned()),
        // An id such as `1` is a number in YAML.
        YamlValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A shot with its position in the list; for a step of a repeated one, that.
fn find<'t>(tree: &'t Yaml, shot: &str) -> Result<(usize, &'t Yaml), EditError> {
    let items = match tree.get("shots").map(|(_, shots)| &shots.value) {
        Some(YamlValue::List(items)) => items.as_slice(),
        _ => &[],
    };
    let shot_id = normalized(shot);
    let matching = items.iter().enumerate().find(|(_, item)| id(item).as_deref() == Some(&*shot_id));
    let is_step = |item: &Yaml| {
        // How many a template gives is not known here.
        let steps = |repeat: &Yaml| repeat.text().map_or(repeat.to_json().as_u64(), |_| Some(u64::MAX));
        let steps = item.get("repeat").and_then(|(_, repeat)| steps(repeat)).unwrap_or(0);
        let name = id(item).unwrap_or_default();
        let number = shot_id.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('-')?.parse().ok());
        number
            .is_some_and(|number: u64| (1..=steps).contains(&number) && shot_id == format!("{name}-{number}"))
    };
    let matching = matching.or_else(|| items.iter().enumerate().find(|(_, item)| is_step(item)));
    matching.ok_or_else(|| {
        let ids: Vec<String> = items.iter().filter_map(id).collect();
        let help = did_you_mean(shot, ids.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| "if it is in an included file, edit that file".to_owned());
        EditError::NoShot { shot: shot.to_owned(), help }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const FILE: &str = r#"# A film.
version: 1
name: film
defaults: {model: m, seed: 1}   # for all
shots:
  # the first
  - id: sea   # an id
    prompt: >-
      A grey sea. Rain
      in the air. {{ look }}

    # the seed was tried out
    seed: 1101 # lucky
  - {id: flow, prompt: "a flow", seconds: 4}
  -
    note: 'quoted '' note'
    id: 7
    prompt: plain text # and a comment
    salt:
film: {output: a.mp4}
"#;

    fn set(shot: &str, name: &str, value: &Value) -> String {
        let edited = set_field(FILE, shot, name, value).unwrap();
        let changed: Vec<String> = diff(FILE, &edited);
        changed.join("\n")
    }

    /// The lines that differ; lines that are the same at the beginning and at the end are left out.
    fn diff(old: &str, new: &str) -> Vec<String> {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
        let old = old[same..old.len() - rest].iter().map(|line| format!("-{line}"));
        old.chain(new[same..new.len() - rest].iter().map(|line| format!("+{line}"))).collect()
    }

    #[test]
    fn set_field_keeps_comments_and_layout() {
        let long = "word ".repeat(40);
        let edits = [
            ("sea", "prompt", json!("A blue sea: calm.")),
            ("sea", "prompt", json!(long.trim_end())),
            ("sea", "seed", json!(5)),
            ("flow", "prompt", json!("a, b: \"c\" {x}")),
            ("flow", "seed", json!(8)),
            ("7", "prompt", json!("one\ntwo")),
            ("7", "prompt", json!(long.trim_end())),
            ("7", "salt", json!("again")),
            ("7", "seed", json!("{{ 3 }}")),
        ];
        let edits = edits.map(|(shot, name, value)| format!("{shot} {name}\n{}\n", set(shot, name, &value)));
        insta::assert_snapshot!(edits.join("\n"));
    }

    #[test]
    fn set_field_refuses_what_would_change_other_shots() {
        let shared = "shots:\n- id: a\n  prompt: &p text\n- id: b\n  prompt: *p\n";
        let refused = set_field(shared, "a", "prompt", &json!("x"));
        assert_eq!(refused, Err(EditError::Shared { name: "prompt".to_owned() }));
        let message = |shot| set_field(FILE, shot, "prompt", &json!("x")).unwrap_err().to_string();
        assert_eq!(message("see"), "the file has no shot `see`; did you mean `sea`?");
        assert_eq!(
            message("thunder"),
            "the file has no shot `thunder`; if it is in an included file, edit that file"
        );
        assert_eq!(set_field("a: [", "a", "prompt", &json!("x")), Err(EditError::Invalid));
        let not_scalar = Err(EditError::NotScalar { name: "prompt".to_owned() });
        assert_eq!(set_field("shots: [{id: a, prompt: [1]}]", "a", "prompt", &json!("x")), not_scalar);
    }

    #[test]
    fn step_is_edited_as_its_repeated_shot() {
        let file = "shots:\n- id: walk\n  repeat: 3\n  prompt: step {{ step }}\n- {id: walk-9, prompt: b}\n";
        let edited = set_field(file, "walk-2", "prompt", &json!("on, {{ step }}")).unwrap();
        assert_eq!(edited, file.replace("step {{ step }}", "on, {{ step }}"));
        assert_eq!(own_field(file, "walk-3", "prompt").unwrap(), Some(json!("step {{ step }}")));
        assert_eq!(repeated_shot(file, "walk-1").as_deref(), Some("walk"));
        assert_eq!((repeated_shot(file, "walk"), repeated_shot(file, "walk-9")), (None, None));
        assert_eq!(repeated_shot("shots: [{id: 7, repeat: 2, prompt: a}]", "7-2").as_deref(), Some("7"));
        for shot in ["walk-0", "walk-4", "walk-02", "walk-"] {
            assert!(matches!(own_field(file, shot, "prompt"), Err(EditError::NoShot { .. })), "{shot}");
        }
    }

    #[test]
    fn own_field_is_the_template_of_the_file() {
        let prompt = own_field(FILE, "sea", "prompt").unwrap();
        assert_eq!(prompt, Some(json!("A grey sea. Rain in the air. {{ look }}")));
        assert_eq!(own_field(FILE, "flow", "seed").unwrap(), None);
    }

    proptest! {
        #[test]
        fn set_field_writes_any_text(text in "\\PC*|.*|[ a-z:#'\"{}%\n-]{0,200}", crlf: bool, shot in 0..3_usize) {
            let file = if crlf { FILE.replace('\n', "\r\n") } else { FILE.to_owned() };
            let shot = ["sea", "flow", "7"][shot];
            let edited = set_field(&file, shot, "prompt", &json!(text)).unwrap();
            prop_assert_eq!(own_field(&edited, shot, "prompt").unwrap(), Some(json!(text)));
            prop_assert_eq!(edited.matches('#').count() >= text.matches('#').count() + 5, true);
        }
    }
}
