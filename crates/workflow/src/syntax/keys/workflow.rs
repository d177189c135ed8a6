//! The keys of a workflow and of an included file, which shares some of them.

use super::{Shape, object};

object! { WORKFLOW = "workflow":
    VERSION = "version": Shape::Version,
    NAME = "name": Shape::Name,
    ALLOW = "allow": Shape::Codes,
    SERVICE = "service": Shape::Name,
    INCLUDE = "include": Shape::FileNames,
    PARAMS = "params": Shape::Params,
    CAST = "cast": Shape::Cast,
    DEFAULTS = "defaults": Shape::Fields,
    GROUPS = "groups": Shape::Groups,
    MATRIX = "matrix": Shape::Matrix,
    SHOTS = "shots": Shape::Shots,
    FILM = "film": Shape::Film,
    FILMS = "films": Shape::Films,
}

object! { FRAGMENT = "fragment":
    // The version of an included file, which may leave it out.
    FRAGMENT_VERSION = "version": Shape::Version,
    INCLUDE, PARAMS, CAST, DEFAULTS, GROUPS, SHOTS,
}

/// Flags of `runner run` that other tools have as keys of their files.
const FLAGS: [&str; 6] = ["max-cost", "max-tasks", "max-video-seconds", "jobs", "output-dir", "fail-fast"];

/// The flag of `runner run` that a key at the top level of a file probably stands for.
pub(crate) fn flag_for(key: &str) -> Option<&'static str> {
    let synonyms = [("budget", "max-cost"), ("concurrency", "jobs"), ("max_parallel", "jobs")];
    let letters = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let meant = synonyms.iter().find(|(synonym, _)| letters(synonym) == letters(key));
    meant.map(|(_, flag)| *flag).or_else(|| FLAGS.into_iter().find(|flag| letters(flag) == letters(key)))
}
