//! Axes in the forms of other tools and languages (`range(5)`, `1..5`, `{start: 1, end: 5}`, `noir|pastel`), for the help of an axis that is
//! none here.

use crate::yaml::{Key, Yaml, YamlValue};

/// Names of the first number, of the last one and of the distance.
const ENDS: [(&str, &[&str]); 3] = [
    ("from", &["from", "start", "first", "min", "minimum", "begin", "low", "lower"]),
    ("to", &["to", "end", "last", "max", "maximum", "stop", "until", "high", "upper"]),
    ("step", &["step", "by", "increment", "stride", "every"]),
];
/// Keys of a matrix of GitHub Actions that limit how it is run, with what limits a run here.
const OF_RUNS: [(&str, &str); 2] = [
    ("max_parallel", "remove it: `runner run --jobs N` limits how many run at a time"),
    ("fail_fast", "remove it: `runner run --fail-fast` stops after the first failure"),
];

/// Keys of other tools below which the axes of a matrix are.
const HOLDERS: [&str; 8] =
    ["matrix", "axes", "axis", "variables", "vars", "parameters", "params", "strategy"];
/// Words of other tools for what chooses the combinations of a matrix.
const FILTERS: [&str; 7] = ["filter", "filters", "where", "only", "when", "if", "condition"];
/// The help for a filter in a matrix.
pub(crate) const FILTER_HELP: &str =
    "leave combinations out with `exclude: [{look: pastel}]`, or write `when: look != 'pastel'` in the shot";

/// Maximum length of a text that help repeats, in bytes.
const MAX_TEXT_LEN: usize = 300;
/// Maximum number of values that help repeats.
const MAX_VALUES: usize = 20;

/// The whole numbers of a range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenRange {
    from: i64,
    to: i64,
    step: i64,
}

impl WrittenRange {
    /// The range as it is written here.
    pub(super) fn as_yaml(self) -> String {
        let Self { from, to, step } = self;
        if step == 1 {
            return format!("{{from: {from}, to: {to}}}");
        }
        format!("{{from: {from}, to: {to}, step: {step}}}")
    }

    /// The values, separated by commas, if they are few.
    fn values(self) -> Option<String> {
        let Self { from, to, step } = self;
        let count = to.checked_sub(from)?.checked_div(step)?;
        if !(0..=9).contains(&count) {
            return None;
        }
        let values: Vec<String> = (0..=count).map(|index| (from + index * step).to_string()).collect();
        Some(values.join(", "))
    }
}

/// The help for a key that is no axis, but limits how a matrix is run elsewhere.
fn key_of_run(key: &str) -> Option<&'static str> {
    let folded = key.to_lowercase().replace('-', "_");
    OF_RUNS.iter().find(|(name, _)| *name == folded).map(|(_, help)| *help)
}

/// The message and the help for a key of a matrix that is no axis: of a run, of axes, or of a filter.
pub(super) fn no_axis(key: &str, value: &Yaml) -> Option<(String, String)> {
    if let Some(help) = key_of_run(key) {
        return Some((format!("`{key}` is not an axis: it does not say what is rendered"), help.to_owned()));
    }
    if let Some(meant) = matrix_in_mapping(key, value) {
        let help = format!("write the axes directly below `matrix:`: `matrix: {meant}`");
        return Some((format!("`{key}` is not an axis: it holds axes"), help));
    }
    // A list may be the values of an axis of this name.
    let is_list = matches!(value.value, YamlValue::List(_));
    (is_filter(key) && !is_list)
        .then(|| (format!("`{key}` is not an axis, and a matrix has no filter"), FILTER_HELP.to_owned()))
}

/// Whether a key of a matrix was probably meant to choose among its combinations.
pub(crate) fn is_filter(key: &str) -> bool {
    FILTERS.contains(&key.to_lowercase().as_str())
}

/// The mapping of axes that is below a key which is none: `{matrix: {look: [a, b]}}`.
fn matrix_in_mapping(key: &str, value: &Yaml) -> Option<String> {
    let YamlValue::Map(entries) = &value.value else { return None };
    let is_axis_form = axis_in_mapping(entries).is_some()
        || entries.iter().any(|(key, _)| ["csv", "files", "from", "to"].contains(&key.value.as_str()));
    if entries.is_empty() || is_axis_form || !HOLDERS.contains(&key.to_lowercase().as_str()) {
        return None;
    }
    if let [(inner, value)] = entries.as_slice()
        && let Some(meant) = matrix_in_mapping(&inner.value, value)
    {
        return Some(meant);
    }
    let axis = |(key, value): &(Key, Yaml)| {
        let YamlValue::List(items) = &value.value else { return None };
        let is_short = items.len() <= MAX_VALUES && items.iter().all(is_word);
        let values: Vec<String> = items.iter().map(written).collect();
        is_short.then(|| format!("{}: [{}]", key.value, values.join(", ")))
    };
    let axes: Option<Vec<String>> = entries.iter().take(MAX_VALUES).map(axis).collect();
    Some(axes.map_or_else(|| "{look: [noir, pastel]}".to_owned(), |axes| format!("{{{}}}", axes.join(", "))))
}

/// The axis that a text was probably meant as, in the form that it has here.
pub(super) fn axis_in_text(text: &str) -> Option<String> {
    let text = text.trim();
    let needs_quotes = text.contains(['{', '}', '[', ']', '\n', '"', '#']) || text.contains(": ");
    if text.is_empty() || text.len() > MAX_TEXT_LEN || needs_quotes {
        return None;
    }
    if let Some(range) = range_in_text(text) {
        return Some(range.as_yaml());
    }
    let is_word = !text.contains([',', '|', ';', ' ']);
    if is_word && let Some(form) = file_form(text) {
        return Some(form);
    }
    let items: Vec<&str> = ["|", ";", ","]
        .iter()
        .find(|sign| text.contains(**sign))
        .map_or(vec![text], |sign| text.split(sign).map(str::trim).filter(|item| !item.is_empty()).collect());
    Some(format!("[{}]", items.join(", ")))
}

/// `{csv: …}` for the name of a table, `{files: …}` for a pattern of names.
fn file_form(text: &str) -> Option<String> {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    if ending.is_some_and(|ending| ["csv", "tsv"].contains(&ending.as_str())) {
        return Some(format!("{{csv: {text}}}"));
    }
    text.contains('*').then(|| format!("{{files: \"{text}\"}}"))
}

/// The axis that a mapping was probably meant as: a range with other names for its ends, or a table or files under another name.
pub(super) fn axis_in_mapping(entries: &[(Key, Yaml)]) -> Option<String> {
    if let [(key, value)] = entries {
        return match &value.value {
            YamlValue::Text(text) if let Some(range) = range_in_text(text) => Some(range.as_yaml()),
            YamlValue::Text(text) => file_form(text),
            YamlValue::List(items) if key.value == "range" => match items.as_slice() {
                [from, to] => Some(format!("{{from: {}, to: {}}}", number(from)?, number(to)?)),
                _ => None,
            },
            _ => None,
        };
    }
    let mut ends = [None, None, None];
    for (key, value) in entries {
        let folded = key.value.to_lowercase();
        let index = ENDS.iter().position(|(_, names)| names.contains(&folded.as_str()))?;
        ends[index] = Some(number(value)?);
    }
    let [from, to, step] = ends;
    let step = step.map_or_else(String::new, |step| format!(", step: {step}"));
    Some(format!("{{from: {}, to: {}{step}}}", from?, to?))
}

fn number(value: &Yaml) -> Option<String> {
    let YamlValue::Number(number) = &value.value else { return None };
    Some(number.to_string())
}

/// The range that a text is: `1..3`, `1..=3`, `1-3`, `1:3`, `1 to 3`, `range(3)`.
pub(super) fn range_in_text(text: &str) -> Option<WrittenRange> {
    let text = text.trim();
    if let Some(arguments) = text.strip_prefix("range(").and_then(|rest| rest.strip_suffix(')')) {
        return range_of_call(arguments);
    }
    let signs = ["..=", "...", "..", "\u{2026}", " to ", "\u{2013}", "-", ":"];
    let (sign, (from, to)) = signs.into_iter().find_map(|sign| Some((sign, text.split_once(sign)?)))?;
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    // `9:16` is a ratio.
    let is_range = from < to && (sign != ":" || (0..=1).contains(&from));
    is_range.then_some(WrittenRange { from, to, step: 1 })
}

/// `range(5)` of Python, Jinja and others: from 0, and without the end.
fn range_of_call(arguments: &str) -> Option<WrittenRange> {
    let arguments: Vec<i64> =
        arguments.split(',').map(|argument| argument.trim().parse().ok()).collect::<Option<_>>()?;
    let (from, end, step) = match arguments[..] {
        [end] => (0, end, 1),
        [from, end] => (from, end, 1),
        [from, end, step] if step > 0 => (from, end, step),
        _ => return None,
    };
    let to = end.checked_sub(1)?;
    (from < to).then_some(WrittenRange { from, to, step })
}

/// What a list of values was probably meant as.
pub(super) enum MeantList {
    /// A range.
    Range(WrittenRange),
    /// These values, separated by commas.
    Values(String),
}

impl MeantList {
    /// The axis as a file has it.
    pub(super) fn as_yaml(&self) -> String {
        match self {
            Self::Range(range) => range.as_yaml(),
            Self::Values(values) => format!("[{values}]"),
        }
    }

    /// Its values as the command line has them, if they are few.
    pub(super) fn as_override(&self) -> Option<String> {
        match self {
            Self::Range(range) => range.values(),
            Self::Values(values) => Some(values.clone()),
        }
        .map(|values| values.replace(", ", ","))
    }
}

/// What a list of values was probably meant as, and what is wrong with it, if values of it look like a range or a list.
pub(super) fn list_meant(items: &[Yaml]) -> Option<(&'static str, MeantList)> {
    if let [Yaml { value: YamlValue::List(items), .. }] = items {
        if items.len() > MAX_VALUES {
            return None;
        }
        let items: Option<Vec<String>> =
            items.iter().map(|item| is_word(item).then(|| written(item))).collect();
        return Some(("has one value, which is a list", MeantList::Values(items?.join(", "))));
    }
    let is_dots = |item: &Yaml| {
        item.text()
            .is_some_and(|text| text == "\u{2026}" || (text.len() > 1 && text.bytes().all(|c| c == b'.')))
    };
    if items.iter().any(is_dots) {
        return Some(("has dots as a value", MeantList::Range(range_of_dots(items, is_dots)?)));
    }
    let range_in = |item: &Yaml| {
        let text = item.text()?;
        let range = range_in_text(text)?;
        // `24-70` is the name of a lens.
        (text.contains("..") || (items.len() == 1 && (0..=1).contains(&range.from))).then_some(range)
    };
    match items {
        [only] => Some(("has one value, which looks like a range", MeantList::Range(range_in(only)?))),
        items if items.len() <= MAX_VALUES && items.iter().any(|item| range_in(item).is_some()) => {
            let values = items.iter().map(|item| match range_in(item) {
                Some(range) => range.values(),
                None => is_word(item).then(|| written(item)),
            });
            let values: Vec<String> = values.collect::<Option<_>>()?;
            Some(("has a value that looks like a range", MeantList::Values(values.join(", "))))
        }
        _ => None,
    }
}

/// The range of `[1, 2, ..., 5]`: numbers, dots and the last number.
fn range_of_dots(items: &[Yaml], is_dots: impl Fn(&Yaml) -> bool) -> Option<WrittenRange> {
    let whole = |item: &Yaml| match &item.value {
        YamlValue::Number(number) => number.as_i64(),
        _ => None,
    };
    let [first @ .., dots, last] = items else { return None };
    let first: Vec<i64> = first.iter().map(whole).collect::<Option<_>>()?;
    let (from, to) = (*first.first()?, whole(last)?);
    let step = first.get(1).map_or(1, |second| second.saturating_sub(from));
    (is_dots(dots) && from < to && step > 0).then_some(WrittenRange { from, to, step })
}

/// Whether a value is a number, or text that needs no quotes in a list.
pub(super) fn is_word(value: &Yaml) -> bool {
    match &value.value {
        YamlValue::Number(_) => true,
        YamlValue::Text(text) => {
            !text.is_empty()
                && text.chars().all(|c| c.is_alphanumeric() || " _-.".contains(c))
                && text.trim() == text
        }
        _ => false,
    }
}

pub(super) fn written(value: &Yaml) -> String {
    value.text().map_or_else(|| value.to_json().to_string(), str::to_owned)
}

/// The mapping of axes that a list of mappings was probably meant as: `[{look: noir}, {look: pastel}]` names the values of one axis.
pub(super) fn matrix_in_list(items: &[Yaml]) -> Option<String> {
    if items.len() > MAX_VALUES {
        return None;
    }
    let mut axes: Vec<(&str, Vec<String>)> = Vec::new();
    for item in items {
        let YamlValue::Map(entries) = &item.value else { return None };
        let [(key, value)] = entries.as_slice() else { return None };
        let values = match &value.value {
            YamlValue::List(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let values: Vec<String> =
            values.iter().map(|value| is_word(value).then(|| written(value))).collect::<Option<_>>()?;
        match axes.iter_mut().find(|(axis, _)| *axis == key.value) {
            Some((_, all)) => all.extend(values),
            None => axes.push((&key.value, values)),
        }
    }
    let axes: Vec<String> =
        axes.iter().map(|(axis, values)| format!("{axis}: [{}]", values.join(", "))).collect();
    (!axes.is_empty()).then(|| format!("{{{}}}", axes.join(", ")))
}
