//! The keys of the file format as JSON Schema: an object for each mapping, a schema for each shape of a value.

use serde_json::{Map, Value, json};

use super::{film_shapes, template};
use crate::diagnostic::warning_codes;
use crate::limits;
use crate::syntax::RESERVED;
use crate::syntax::keys::{
    EXTENSION_PREFIX, KeySpec, ObjectSpec, Shape, cast, dialogue, film, group, matrix, medium, params, retry,
    shot, soundtrack, workflow,
};

/// A reference to one of [`definitions`].
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// The mappings that others refer to, by name. Those of `Defaults` and `Shot` have no request fields yet.
pub(super) fn definitions() -> Map<String, Value> {
    let mut shot = described(&shot::SHOT, "One shot: a request, and the keys of the runner.");
    shot["not"] = json!({ "required": [shot::CONTINUES.name, shot::FIRST_FRAME.name] });
    let mut medium = object(&medium::MEDIUM);
    medium["not"] = json!({ "required": [medium::FRAME.name, medium::URL.name] });
    let file = json!({ "type": "string", "description": "a file in the workflow's folder, or a URL" });
    let mut matrix = object(&matrix::MATRIX);
    matrix["additionalProperties"] = reference("Axis");
    let definitions = [
        ("Parameter", parameter()),
        ("Character", described(&cast::CHARACTER, "A character of the cast.")),
        ("Medium", json!({ "anyOf": [file, medium] })),
        ("Defaults", described(&shot::DEFAULTS, "Request fields, and some keys of shots, for every shot.")),
        ("Retry", json!({ "anyOf": [count(limits::MAX_ATTEMPTS), object(&retry::RETRY)] })),
        ("Group", described(&group::GROUP, "A group of shots with parameters and defaults of their own.")),
        ("Matrix", matrix),
        ("Axis", axis()),
        ("Shot", shot),
        ("Line", described(&dialogue::LINE, "A line of dialogue.")),
        ("Film", described(&film::FILM, "The film that the shots are joined into.")),
        ("Subtitles", described(&film::SUBTITLE_KEYS, "Subtitles of a film.")),
        ("Music", described(&soundtrack::MUSIC, "Music under a film.")),
        ("Voice", described(&soundtrack::VOICE, "A voice over a film.")),
        ("Clip", film_shapes::clip()),
        ("Transition", film_shapes::transition()),
    ];
    definitions.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// The whole file.
pub(super) fn workflow() -> Value {
    let mut schema = object(&workflow::WORKFLOW);
    schema["not"] = json!({ "required": [workflow::FILM.name, workflow::FILMS.name] });
    // Included files may bring all shots.
    schema["required"] = json!([workflow::VERSION.name]);
    schema["anyOf"] =
        json!([{ "required": [workflow::SHOTS.name] }, { "required": [workflow::INCLUDE.name] }]);
    schema["patternProperties"] = json!({ format!("^{EXTENSION_PREFIX}"): {} });
    // The number of a take needs takes: those of the shot, or of `defaults` here, in a group or in an included file. A mapping may pick an
    // instance of a matrix that another shot or the workflow has.
    let takes = json!({ "required": [shot::TAKES.name] });
    schema["if"] = json!({ "not": { "anyOf": [
        { "required": [workflow::INCLUDE.name] },
        { "required": [workflow::GROUPS.name] },
        { "properties": { workflow::DEFAULTS.name: takes }, "required": [workflow::DEFAULTS.name] },
    ] } });
    schema["then"] = json!({ "properties": { workflow::SHOTS.name: { "items": {
        "if": {
            "properties": { shot::PICK.name: { "type": "integer" } },
            "required": [shot::PICK.name],
        },
        "then": takes,
    } } } });
    schema
}

fn parameter() -> Value {
    let is_declaration: Vec<Value> =
        params::DECLARATION_KEYS.iter().map(|key| json!({ "required": [key.name] })).collect();
    json!({
        "description": "A value, or a declaration of what values there may be.",
        "if": { "type": "object", "anyOf": is_declaration },
        "then": object(&params::PARAM),
    })
}

/// The values of an axis.
fn axis() -> Value {
    json!({
        "anyOf": [
            { "type": "array", "minItems": 1 },
            object(&matrix::RANGE),
            object(&matrix::CSV_AXIS),
            object(&matrix::FILES_AXIS),
            template(),
        ],
    })
}

pub(super) fn described(keys: &ObjectSpec, description: &str) -> Value {
    let mut schema = object(keys);
    schema["description"] = json!(description);
    schema
}

/// A mapping by the table of its keys.
fn object(object: &ObjectSpec) -> Value {
    let properties: Map<String, Value> =
        object.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        object.keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
    let mut schema =
        json!({ "type": "object", "additionalProperties": object.is_open(), "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The value of a key: its shape, a template where one may stand, `null` where the key may be absent.
fn property(key: &KeySpec) -> Value {
    let mut forms = vec![shape(key.shape)];
    if key.is_template() && forms[0].get("type") != Some(&json!("string")) {
        forms.push(template());
    }
    // An empty `continues` is more likely a mistake than a way to leave it out.
    if !key.is_required() && !matches!(key.shape, Shape::ShotRef | Shape::Any) {
        forms.push(json!({ "type": "null" }));
    }
    let mut schema = match <[Value; 1]>::try_from(forms) {
        Ok([only]) if only.get("$ref").is_none() => only,
        Ok([only]) => json!({ "allOf": [only] }),
        Err(forms) => json!({ "anyOf": forms }),
    };
    schema["description"] = json!(key.doc());
    schema
}

fn count(max: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": max })
}

fn one_or_many(item: &Value) -> Value {
    json!({ "anyOf": [item, { "type": "array", "items": item }] })
}

fn shape(shape: Shape) -> Value {
    let text = || json!({ "type": "string" });
    // Letters of any script, as far as a pattern in all dialects can tell them from other characters.
    let name = r"^[^\u0000-/:-@\[-`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f][^\u0000-,./:-@\[-^`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f]*$";
    let shot_ref = json!({ "type": ["string", "integer"] });
    match shape {
        Shape::Version => json!({ "type": "integer", "minimum": 1, "maximum": 1 }),
        Shape::Text | Shape::Prose | Shape::FileName | Shape::FilePattern | Shape::Url | Shape::Poster => {
            text()
        }
        Shape::Name => json!({ "type": "string", "pattern": name, "maxLength": limits::MAX_NAME_CHARS }),
        Shape::Id => {
            json!({ "type": ["string", "integer"], "pattern": name, "maxLength": limits::MAX_NAME_CHARS })
        }
        Shape::Number => json!({ "type": "number" }),
        Shape::Seconds { max } => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": max }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count { max } => count(max),
        Shape::Duration { max_seconds } => {
            json!({ "type": ["number", "string"], "exclusiveMinimum": 0, "maximum": max_seconds })
        }
        Shape::OutputName => {
            json!({ "type": "string", "pattern": r"(^[^/\\:.][^/\\:]*\.mp4$)|\{[{%]" })
        }
        Shape::Condition => json!({ "type": ["boolean", "string"] }),
        Shape::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Values => json!({ "type": "array", "minItems": 1 }),
        Shape::FileNames | Shape::Characters => one_or_many(&text()),
        Shape::Codes => one_or_many(&json!({ "enum": warning_codes().collect::<Vec<_>>() })),
        Shape::Choice(values) => json!({ "enum": values() }),
        Shape::Choices(values) => {
            let item = json!({ "anyOf": [{ "enum": values() }, template()] });
            json!({ "anyOf": [{ "enum": values() }, { "type": "array", "minItems": 1, "items": item }] })
        }
        Shape::ShotRef => shot_ref,
        Shape::ShotRefs => one_or_many(&shot_ref),
        Shape::Medium | Shape::CharacterVoice => reference("Medium"),
        Shape::Media | Shape::Stills => one_or_many(&reference("Medium")),
        Shape::Cast => json!({
            "type": "object",
            "maxProperties": limits::MAX_CHARACTERS,
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": RESERVED } },
            "additionalProperties": { "anyOf": [text(), reference("Character")] },
        }),
        Shape::Params => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": RESERVED } },
            "additionalProperties": reference("Parameter"),
        }),
        Shape::Groups => json!({
            "type": "object",
            "maxProperties": limits::MAX_GROUPS,
            "propertyNames": { "pattern": name, "maxLength": limits::MAX_NAME_CHARS },
            "additionalProperties": reference("Group"),
        }),
        Shape::Fields => reference("Defaults"),
        Shape::Matrix => reference("Matrix"),
        Shape::Axes => {
            let axes = json!({ "type": "object", "additionalProperties": reference("Axis") });
            one_or_many(&axes)
        }
        Shape::Rules => json!({
            "type": "array", "maxItems": limits::MAX_MATRIX_RULES, "items": { "type": "object" },
        }),
        Shape::Retry => reference("Retry"),
        Shape::Pick => json!({ "anyOf": [
            count(limits::MAX_TAKES),
            { "const": shot::OPEN_PICK },
            {
                "type": "object",
                "minProperties": 1,
                "properties": { shot::PICK_TAKE_MEMBER.name: {
                    "anyOf": [count(limits::MAX_TAKES), template()],
                } },
            },
        ] }),
        Shape::Shots => {
            json!({ "type": "array", "minItems": 1, "items": reference("Shot") })
        }
        Shape::Film => reference("Film"),
        Shape::Films => {
            json!({ "type": "array", "minItems": 1, "items": reference("Film") })
        }
        Shape::Clips => {
            let clip = json!({ "anyOf": [shot_ref, reference("Clip")] });
            one_or_many(&clip)
        }
        Shape::Dialogue => {
            let text = json!({ "type": ["string", "number"] });
            let line = json!({ "anyOf": [text, reference("Line")] });
            json!({ "anyOf": [
                { "type": ["string", "number"] },
                reference("Line"),
                { "type": "array", "items": line, "maxItems": limits::MAX_DIALOGUE_LINES },
            ] })
        }
        Shape::FrameSize => json!({ "type": "string", "pattern": r"^\s*\d+\s*[x×]\s*\d+\s*$" }),
        Shape::FrameRate => json!({ "type": ["number", "string"], "minimum": 1, "maximum": 120 }),
        Shape::EditPosition => json!({ "type": "string", "pattern": r"^\s*-?\s*[\d.].*[a-z]\s*$" }),
        Shape::EditLength => json!({ "type": "string", "pattern": r"^\s*[\d.].*[a-z]\s*$" }),
        Shape::Speed => json!({ "anyOf": [
            { "type": "number", "minimum": 0.1, "maximum": 10 },
            { "type": "string", "pattern": r"^\s*[\d.]+\s*%?\s*$" },
        ] }),
        Shape::Decibels => json!({ "type": "string", "pattern": r"^\s*[+-]?[\d.]+\s*[dD][bB]\s*$" }),
        Shape::Attenuation => json!({ "type": "string", "pattern": r"^\s*\+?[\d.]+\s*[dD][bB]\s*$" }),
        Shape::Transition => json!({ "anyOf": [reference("Transition"), { "const": "cut" }] }),
        Shape::Subtitles => {
            json!({ "anyOf": [reference("Subtitles"), { "const": film::DIALOGUE }] })
        }
        Shape::Music => json!({ "anyOf": [text(), reference("Music")] }),
        Shape::Voices => {
            let voice = json!({ "anyOf": [text(), reference("Voice")] });
            json!({ "anyOf": [voice, { "type": "array", "items": voice, "maxItems": limits::MAX_VOICES }] })
        }
        Shape::Loudness => json!({ "type": "string", "pattern": r"^\s*-[\d.]+\s*[lL][uU][fF][sS]\s*$" }),
        // All but the first are of price tables and lists of services, which have no schema.
        Shape::Any
        | Shape::Money
        | Shape::Currency
        | Shape::Exchange
        | Shape::Date
        | Shape::Prices
        | Shape::Services
        | Shape::Limits
        | Shape::Models => json!({}),
    }
}
