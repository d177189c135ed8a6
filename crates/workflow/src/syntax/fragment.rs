//! Reads an included file: parameters, characters, defaults, groups and shots.

use super::keys::is_extension;
use super::keys::workflow::{DEFAULTS, FRAGMENT, FRAGMENT_VERSION, PARAMS, WORKFLOW};
use super::mapping::Mapping;
use super::{Character, Entry, Group, Param, Shot, cast, file, file_parts, group};
use crate::diagnostic::Problems;
use crate::source::Spanned;
use crate::yaml::Yaml;

/// The content of an included file.
#[derive(Debug, Default)]
pub(crate) struct Fragment {
    pub(crate) include: Vec<Spanned<String>>,
    pub(crate) params: Vec<Param>,
    pub(crate) cast: Vec<Character>,
    pub(crate) defaults: Vec<Entry>,
    pub(crate) groups: Vec<Group>,
    pub(crate) shots: Vec<Shot>,
}

/// The content of an included file, as far as it can be read.
pub(crate) fn read(tree: &Yaml, problems: &mut Problems) -> Fragment {
    let Some(map) = Mapping::open(tree, &FRAGMENT, tree.span, problems) else {
        return Fragment::default();
    };
    for (key, _) in map.others().filter(|(key, _)| !is_extension(&key.value)) {
        let diagnostic = FRAGMENT.unknown_key(key);
        problems.push(if WORKFLOW.has(&key.value) {
            diagnostic.help(format!("move `{}` to the workflow itself", key.value))
        } else {
            diagnostic
        });
    }
    if let Some((key, value)) = map.get(&FRAGMENT_VERSION) {
        file_parts::version(key, value, problems);
    }
    Fragment {
        include: file_parts::include(&map, problems),
        params: file_parts::params_of(&map, &PARAMS, true, problems),
        cast: cast::read(&map, true, problems),
        defaults: file_parts::defaults(&map, &DEFAULTS, problems),
        groups: group::read(&map, true, problems),
        shots: file::shots(&map, problems),
    }
}
