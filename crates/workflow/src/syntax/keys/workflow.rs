//! The keys of a workflow and of an included file, which shares some of them.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const VERSION: KeySpec =
    KeySpec::new("version", Shape::Version, "version of the file format", "version: 1").required();
pub(crate) const NAME: KeySpec = KeySpec::new(
    "name",
    Shape::Name,
    "the workflow's name, used for its output folder and film; default: the file's name",
    "name: lighthouse",
);
pub(crate) const INCLUDE: KeySpec = KeySpec::new(
    "include",
    Shape::FileNames,
    "files whose `params`, `cast`, `defaults`, `groups` and `shots` are merged in, named from this file's folder",
    "include: [looks.yaml]",
);
pub(crate) const ALLOW: KeySpec = KeySpec::new(
    "allow",
    Shape::Codes,
    "codes of warnings that are not shown",
    "allow: [service-may-refuse]",
);
pub(crate) const SERVICE: KeySpec = KeySpec::new(
    "service",
    Shape::Name,
    "the service of all shots that name no other, by its name in `services.yaml`; default: the one that the environment names, else the embedded one",
    "service: ark",
);
pub(crate) const PARAMS: KeySpec = KeySpec::new(
    "params",
    Shape::Params,
    "values for templates such as `{{ keeper }}`; a parameter may use those above it",
    "params: {keeper: an old woman}",
);
pub(crate) const CAST: KeySpec = KeySpec::new(
    "cast",
    Shape::Cast,
    "the characters, whom shots name in their `cast`",
    "cast: {keeper: a grey-bearded keeper in a yellow raincoat}",
);
pub(crate) const DEFAULTS: KeySpec = KeySpec::new(
    "defaults",
    Shape::Fields,
    "request fields for every shot, and `service`, `references`, `cast`, `takes`, `retry`, `timeout` and `note`; a shot's own value overrides them, and `null` removes them. A field that a shot's model family does not have is ignored there",
    "defaults: {seconds: 5}",
);
pub(crate) const GROUPS: KeySpec = KeySpec::new(
    "groups",
    Shape::Groups,
    "groups of shots, such as acts, with `params` and `defaults` of their own; a shot says which one is its `group`",
    "groups: {storm: {params: {weather: heavy rain}, defaults: {seconds: 8}}}",
);
pub(crate) const MATRIX: KeySpec = KeySpec::new(
    "matrix",
    Shape::Matrix,
    "expands the workflow once per combination of values: a film for each, and each shot over the axes that it uses",
    "matrix: {look: [noir, pastel]}",
)
.templated();
pub(crate) const SHOTS: KeySpec = KeySpec::new(
    "shots",
    Shape::Shots,
    "the shots, after those of included files; at least one in all",
    "shots: [{id: harbor, prompt: a quiet harbor}]",
)
.required();
pub(crate) const FILM: KeySpec = KeySpec::new(
    "film",
    Shape::Film,
    "the film that the shots are joined into; not together with `films`",
    "film: {output: lighthouse.mp4}",
);
pub(crate) const FILMS: KeySpec = KeySpec::new(
    "films",
    Shape::Films,
    "several films of the same shots",
    "films: [{output: long.mp4}, {output: short.mp4, shots: [harbor]}]",
);
pub(crate) const WORKFLOW: ObjectSpec = ObjectSpec {
    noun: "workflow",
    keys: &[
        &VERSION, &NAME, &ALLOW, &SERVICE, &INCLUDE, &PARAMS, &CAST, &DEFAULTS, &GROUPS, &MATRIX, &SHOTS,
        &FILM, &FILMS,
    ],
    help: "begin with `version: 1`, `name:` and a list of `shots:`",
    is_open: false,
};

/// The version of an included file, which may leave it out.
pub(crate) const FRAGMENT_VERSION: KeySpec =
    KeySpec::new("version", Shape::Version, "version of the file format", "version: 1");

pub(crate) const FRAGMENT: ObjectSpec = ObjectSpec {
    noun: "included file",
    keys: &[&FRAGMENT_VERSION, &INCLUDE, &PARAMS, &CAST, &DEFAULTS, &GROUPS, &SHOTS],
    help: "it holds `params:`, `cast:`, `defaults:`, `groups:` and `shots:`",
    is_open: false,
};

/// Flags of `runner run` that other tools have as keys of their files.
const FLAGS: [&str; 6] = ["max-cost", "max-tasks", "max-video-seconds", "jobs", "output-dir", "fail-fast"];

/// The flag of `runner run` that a key at the top level of a file probably stands for.
pub(crate) fn flag_for(key: &str) -> Option<&'static str> {
    let synonyms = [("budget", "max-cost"), ("concurrency", "jobs"), ("max_parallel", "jobs")];
    let letters = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let meant = synonyms.iter().find(|(synonym, _)| letters(synonym) == letters(key));
    meant.map(|(_, flag)| *flag).or_else(|| FLAGS.into_iter().find(|flag| letters(flag) == letters(key)))
}
