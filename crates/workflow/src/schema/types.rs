//! The runner's words as types. The schema is derived from them, and their comments are what an editor shows; the parser
//! reads the file by hand, since it keeps the place of every value.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

#[expect(clippy::zero_sized_map_values, reason = "only the shape of the values counts here")]
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("not" = { "required": ["film", "films"] }))]
pub(super) struct Workflow {
    /// The version of the language: 1.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// The workflow's name: letters, digits, `-` and `_`. The file's own where it is left out.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"), length(max = 64))]
    name: Option<String>,
    /// Files whose `params` and `defaults` are taken over, named from this file's folder: one, or a list.
    include: Option<Files>,
    /// Values for templates, such as `{{ keeper }}`. Each may use those above it; `-p name=value` gives another value. A map
    /// with `type`, `default`, `required` or `one_of` declares what values there may be.
    #[schemars(extend("propertyNames" = param_name()))]
    params: Option<BTreeMap<String, Param>>,
    /// Request fields for every shot. A field that a shot's family of models does not have is left out there.
    defaults: Option<Defaults>,
    /// Makes the whole workflow once for each combination of values: all shots and a film for each.
    matrix: Option<Matrix>,
    /// The shots, in order.
    #[schemars(length(min = 1))]
    shots: Vec<Shot>,
    /// The film that the shots are joined to.
    film: Option<Film>,
    /// Several films of the same shots.
    #[schemars(length(min = 1))]
    films: Option<Vec<Film>>,
    /// How many shots a chain may have before `check` warns of it.
    #[schemars(range(min = 1, max = 100_000))]
    max_chain: Option<u32>,
}

/// Request fields for every shot.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Defaults {}

/// One shot: a request, and a few words of the runner's.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "pick": ["takes"] }, "not" = { "required": ["continues", "first_frame"] }))]
pub(super) struct Shot {
    /// The shot's name: letters, digits, `-` and `_`. Other shots, the film and the files are named by it.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"), length(max = 64))]
    id: Text,
    /// A note for people. It changes nothing.
    note: Option<String>,
    /// Begins on the last frame of another shot: `id`, `id@axis=value` or `id#take`. The axes of that shot's matrix
    /// are this shot's too, those that are named here left out.
    #[schemars(extend("type" = ["string", "integer"]))]
    continues: Option<Text>,
    /// The image that the video begins on.
    first_frame: Option<Medium>,
    /// The image that the video ends on.
    last_frame: Option<Medium>,
    /// Images, videos and sounds that guide the video without being shown.
    references: Option<References>,
    /// Makes one instance for each combination of values: axes as lists, ranges, rows of a CSV table or names of files, then
    /// `exclude`, then `include`.
    matrix: Option<Matrix>,
    /// How many candidates to make.
    takes: Option<Count<100>>,
    /// Which of the takes other shots and the film use. Without one they wait until somebody picks: `runner pick`.
    pick: Option<Pick>,
    /// Shots that come before this one, though it takes no frame of theirs.
    needs: Option<References>,
    /// Whether the instance is made: true, false or an expression such as `look == 'noir'`.
    when: Option<When>,
    /// Sets otherwise identical work apart: another salt is another video.
    salt: Option<Salt>,
    /// How often the shot may be attempted in all, 1 where it is left out. Each attempt is a task that is paid for.
    retry: Option<Retry>,
    /// How long one attempt may take: seconds, or `90s`, `10m`, `1h30m`.
    timeout: Option<Salt>,
}

/// The film that the shots are joined to.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Film {
    /// Its file name, ending in `.mp4`. The workflow's name where it is left out.
    #[schemars(regex(pattern = r"(^[^/\\:.][^/\\:]*\.mp4$)|\{[{%]"))]
    output: Option<String>,
    /// The shots in the order in which they are shown; all of them, in the order of the file, where it is left out.
    shots: Option<References>,
}

/// A schema written by hand, for values of several forms.
macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident $(<const $bound:ident: u32>)? = $schema:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name $(<const $bound: u32>)?;

        impl $(<const $bound: u32>)? JsonSchema for $name $(<$bound>)? {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                match schemars::Schema::try_from($schema) {
                    Ok(schema) => schema,
                    Err(_) => schemars::Schema::default(),
                }
            }
        }
    )*};
}

fn param_name() -> Value {
    serde_json::json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": crate::syntax::RESERVED } })
}

fn template() -> Value {
    serde_json::json!({ "type": "string", "pattern": "\\{[{%]" })
}

fn retry_on() -> Value {
    serde_json::json!({ "enum": crate::plan::RetryOn::ALL.map(crate::plan::RetryOn::as_str) })
}

fn medium() -> Value {
    serde_json::json!({
        "anyOf": [
            { "type": "string", "description": "a file in the workflow's folder, or a URL" },
            {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "shot": { "type": ["string", "integer"], "description": "a shot: `id`, `id@axis=value` or `id#take`" },
                    "frame": { "enum": ["first", "last"], "description": "which frame of the shot; the last where it is left out" },
                    "file": { "type": "string", "description": "a file in the workflow's folder" },
                    "url": { "type": "string", "description": "an address that the service can fetch, or a data URI" },
                    "type": { "enum": ["image", "video", "audio"], "description": "what it is, where its name does not say" },
                },
            },
        ],
    })
}

fn axis() -> Value {
    serde_json::json!({
        "anyOf": [
            { "type": "array", "minItems": 1 },
            { "type": "object", "required": ["from", "to"], "additionalProperties": false, "properties": {
                "from": { "type": ["number", "string"] },
                "to": { "type": ["number", "string"] },
                "step": { "type": ["number", "string"] },
            } },
            { "type": "object", "required": ["csv"], "additionalProperties": false, "properties": {
                "csv": { "type": "string", "description": "a table: each row is a value, a map of its columns" },
            } },
            { "type": "object", "required": ["files"], "additionalProperties": false, "properties": {
                "files": { "type": "string", "description": "a pattern such as `stills/*.png`: each file's name is a value" },
            } },
            template(),
        ],
    })
}

fn declaration() -> Value {
    serde_json::json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "type": { "enum": ["text", "integer", "number", "boolean", "list", "map"], "description": "what kind of value it takes" },
            "default": { "description": "its value unless another is given" },
            "required": { "type": "boolean", "description": "whether a value has to be given" },
            "one_of": { "type": "array", "minItems": 1, "description": "the values that it may have" },
            "min": { "type": "number", "description": "the least number that it may be" },
            "max": { "type": "number", "description": "the greatest number that it may be" },
            "note": { "type": "string", "description": "a note for people" },
        },
    })
}

forms! {
    /// A value, or a declaration.
    Param = serde_json::json!({
        "if": { "type": "object", "anyOf": [{ "required": ["type"] }, { "required": ["default"] }, { "required": ["required"] }, { "required": ["one_of"] }] },
        "then": declaration(),
    });
    /// One file, or several.
    Files = serde_json::json!({ "type": ["string", "array", "null"], "items": { "type": "string" } });
    /// A whole number, nothing, or a template.
    Pick = serde_json::json!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 100 }, { "type": "null" }, template()] });
    /// Text, or a number that is read as text.
    Text = serde_json::json!({ "type": ["string", "integer"] });
    /// A whole number, or a template.
    Count<const MOST: u32> = serde_json::json!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": MOST }, template()] });
    /// One medium.
    Medium = medium();
    /// One or several.
    References = serde_json::json!({ "anyOf": [medium(), { "type": "array", "items": medium() }, { "type": "integer" }] });
    /// Axes, `include`, `exclude`.
    Matrix = serde_json::json!({
        "anyOf": [{
            "type": "object",
            "properties": {
                "include": { "type": ["array", "null"], "items": { "type": "object" },
                    "description": "adds values to the combinations they fit, or a combination of their own" },
                "exclude": { "type": ["array", "null"], "items": { "type": "object" },
                    "description": "takes away the combinations that have these values" },
                "zip": { "type": ["object", "array"], "additionalProperties": axis(),
                    "items": { "type": "object", "additionalProperties": axis() },
                    "description": "axes of equally many values, which move together" },
            },
            "additionalProperties": axis(),
        }, template()],
    });
    /// A truth, or an expression.
    When = serde_json::json!({ "type": ["boolean", "string"] });
    /// Text or a number.
    Salt = serde_json::json!({ "type": ["string", "number", "boolean", "null"] });
    /// A number of attempts, by itself, or with the failures after which there is another.
    Retry = serde_json::json!({
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": 10 },
            { "type": "object", "required": ["attempts"], "additionalProperties": false,
              "properties": {
                  "attempts": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 10 }, template()] },
                  "on": {
                      "description": "after which failures there is another attempt; failed, transient and output-moderated where it is left out",
                      "anyOf": [retry_on(), { "type": "array", "minItems": 1, "items": { "anyOf": [retry_on(), template()] } }, template()],
                  },
              } },
            template(),
        ],
    });
}
