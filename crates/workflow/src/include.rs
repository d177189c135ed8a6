//! Included files and parameter files: read within limits, and merged.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::advice;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::files::{self, Files};
use crate::limits;
use crate::options::ParamFile;
use crate::source::{Source, Span, Spanned};
use crate::syntax::{self, Character, Entry, Group, Param, Shot, Workflow};
use crate::yaml::{Key, Yaml, YamlValue};

/// Merges the included files: their parameters, characters, defaults, groups and shots come before the workflow's own, which override all but
/// shots.
pub(crate) fn add(workflow: &mut Workflow, source: &mut Source, files: &dyn Files, problems: &mut Problems) {
    let include = std::mem::take(&mut workflow.include);
    if include.is_empty() {
        return;
    }
    let bytes = source.text().len();
    let mut reader = IncludeReader {
        source,
        files,
        problems,
        open: Vec::new(),
        visited: HashMap::new(),
        bytes,
        included: IncludedEntries::default(),
    };
    reader.read_all(&include, Path::new(""));
    let IncludedEntries { params, cast, defaults, groups, shots, text_warnings } = reader.included;
    workflow.text_warnings.extend(text_warnings);
    merge(params, &mut workflow.params, |param| &param.key, problems);
    merge(cast, &mut workflow.cast, |character| &character.key, problems);
    merge(defaults, &mut workflow.defaults, |entry| &entry.key, problems);
    merge(groups, &mut workflow.groups, |group| &group.key, problems);
    let mut ids: HashMap<String, Span> = HashMap::new();
    for shot in shots.into_iter().chain(std::mem::take(&mut workflow.shots)) {
        if let Some(first) = ids.get(&shot.id.value) {
            let message = format!("two shots have the id `{}`", shot.id.value);
            let diagnostic =
                Diagnostic::error("duplicate-id", shot.id.span, message).other(*first, "first here");
            problems.push(diagnostic.help("give each shot an id of its own, those of included files too"));
            continue;
        }
        ids.insert(shot.id.value.clone(), shot.id.span);
        workflow.shots.push(shot);
    }
    if workflow.shots.is_empty() && !problems.any() {
        let message = "neither this file nor those that it includes have `shots`";
        problems.error("no-shots", include[0].span, message);
    }
}

/// Reads parameter files. Their values are literal: templates in them are not evaluated. Warnings of their
/// text are added to `warnings`.
pub(crate) fn param_files(
    param_files: &[ParamFile],
    source: &mut Source,
    warnings: &mut Vec<Diagnostic>,
    problems: &mut Problems,
) -> Vec<Entry> {
    let mut overrides = Vec::new();
    for file in param_files {
        let Some(tree) = read(&file.name, file.text.clone(), source, warnings, problems) else { continue };
        match tree.value {
            YamlValue::Map(entries) => {
                overrides.extend(entries.into_iter().map(|(key, value)| Entry { key, value }));
            }
            YamlValue::Null => {}
            _ => problems.push(
                Diagnostic::error("wrong-type", tree.span, "a parameter file must be a mapping")
                    .label(format!("this is {}", tree.kind()))
                    .help("write `name: value` for each parameter"),
            ),
        }
    }
    overrides
}

/// Parses a file, with spans that follow those of the files before it.
fn read(
    name: &str,
    text: String,
    source: &mut Source,
    warnings: &mut Vec<Diagnostic>,
    problems: &mut Problems,
) -> Option<Yaml> {
    let file = Source::new(name, text);
    let mut file_problems = Problems::default();
    let tree = advice::read(&file, &mut file_problems);
    let dropped = tree.as_ref().map(|tree| advice::text_warnings(tree, &file)).unwrap_or_default();
    let start = source.add(file);
    problems.extend_from(file_problems, start);
    warnings.extend(dropped.into_iter().map(|warning| warning.offset_by(start)));
    let tree = tree?.offset_by(start);
    syntax::check_secrets(&tree, problems);
    Some(tree)
}

#[derive(Default)]
struct IncludedEntries {
    params: Vec<Param>,
    cast: Vec<Character>,
    defaults: Vec<Entry>,
    groups: Vec<Group>,
    shots: Vec<Shot>,
    text_warnings: Vec<Diagnostic>,
}

struct IncludeReader<'a> {
    source: &'a mut Source,
    files: &'a dyn Files,
    problems: &'a mut Problems,
    /// The files that are being read, outermost first, each with the span that includes it.
    open: Vec<(PathBuf, Span)>,
    /// The files that were read.
    visited: HashMap<PathBuf, Span>,
    bytes: usize,
    included: IncludedEntries,
}

impl IncludeReader<'_> {
    fn read_all(&mut self, include: &[Spanned<String>], folder: &Path) {
        for name in include {
            if self.problems.full() {
                return;
            }
            self.read_one(name, folder);
        }
    }

    /// Reads a file after those that it includes itself. A file that is included several times is read once.
    fn read_one(&mut self, name: &Spanned<String>, folder: &Path) {
        let Some(path) = self.path(name, folder) else { return };
        if let Some(start) = self.open.iter().position(|(open, _)| *open == path) {
            let mut diagnostic = Diagnostic::error(
                "include-cycle",
                name.span,
                format!("`{}` includes itself", path.display()),
            );
            for (_, span) in &self.open[start..] {
                diagnostic = diagnostic.other(*span, "on the way here");
            }
            self.problems.push(diagnostic.help("move what both need into a file of its own"));
            return;
        }
        if self.visited.contains_key(&path) {
            return;
        }
        if self.visited.len() >= limits::MAX_INCLUDES || self.open.len() >= limits::MAX_INCLUDE_DEPTH {
            self.limit(name.span);
            return;
        }
        self.visited.insert(path.clone(), name.span);
        let Some(text) = self.text(name, &path) else { return };
        let shown = display_path(self.source.name(), &path);
        let warnings = &mut self.included.text_warnings;
        let Some(tree) = read(&shown, text, self.source, warnings, self.problems) else { return };
        let fragment = syntax::fragment(&tree, self.problems);
        self.open.push((path.clone(), name.span));
        self.read_all(&fragment.include, path.parent().unwrap_or(Path::new("")));
        self.open.pop();
        self.included.params.extend(fragment.params);
        self.included.cast.extend(fragment.cast);
        self.included.defaults.extend(fragment.defaults);
        self.included.groups.extend(fragment.groups);
        self.included.shots.extend(fragment.shots);
    }

    fn path(&mut self, name: &Spanned<String>, folder: &Path) -> Option<PathBuf> {
        if name.value.contains("://") {
            let message = format!("`{}` is a web address, and only files are included", name.value);
            let help = "save it beside the workflow, and name the file";
            self.problems.push(Diagnostic::error("bad-include", name.span, message).help(help));
            return None;
        }
        let relative = folder.join(&name.value);
        let path = relative.to_str().and_then(files::normalize_relative);
        if path.is_none() {
            let message = format!("`{}` is outside the workflow's folder", name.value);
            self.problems.push(Diagnostic::error("bad-include", name.span, message).help(
                "name the file from the folder of the file that includes it, with `/` between folders",
            ));
        }
        path
    }

    fn text(&mut self, name: &Spanned<String>, path: &Path) -> Option<String> {
        let left = limits::MAX_INCLUDED_BYTES.saturating_sub(self.bytes);
        let text = match self.files.read(path, left as u64) {
            Ok(bytes) => {
                self.bytes += bytes.len();
                String::from_utf8(bytes).map_err(|_| "this file is not UTF-8 text".to_owned())
            }
            Err(files::FileError::TooLarge) => {
                self.limit(name.span);
                return None;
            }
            Err(error) => Err(error.to_string()),
        };
        match text {
            Ok(text) => Some(text),
            Err(why) => {
                let message = format!("`{}`: {why}", path.display());
                self.problems.push(
                    Diagnostic::error("bad-include", name.span, message)
                        .help("files are named from the folder of the file that includes them"),
                );
                None
            }
        }
    }

    fn limit(&mut self, span: Span) {
        let message = "this workflow includes too many files";
        self.problems.push(Diagnostic::error("include-limit", span, message).help(format!(
            "there are at most {} included files, {} deep, of {} MiB together with the workflow",
            grouped(limits::MAX_INCLUDES as u128),
            limits::MAX_INCLUDE_DEPTH,
            limits::MAX_INCLUDED_BYTES / 1024 / 1024
        )));
    }
}

/// Merges included entries with the workflow's own, which override them by name. The same name in two included files is an error,
/// unless the workflow has it too.
fn merge<T>(included: Vec<T>, own: &mut Vec<T>, key: impl Fn(&T) -> &Key, problems: &mut Problems) {
    let mut merged: Vec<T> = Vec::with_capacity(included.len() + own.len());
    let mut index_of: HashMap<String, usize> = HashMap::new();
    let mut later = Vec::new();
    for entry in included {
        let name = key(&entry).value.clone();
        if let Some(first) = index_of.get(&name) {
            later.push((key(&entry).clone(), key(&merged[*first]).span));
        } else {
            index_of.insert(name, merged.len());
            merged.push(entry);
        }
    }
    let replaced: HashSet<String> = own.iter().map(|entry| key(entry).value.clone()).collect();
    for (key, first) in later {
        // The workflow's own entry overrides both.
        if !replaced.contains(&key.value) {
            let message = format!("two included files set `{}`", key.value);
            problems.push(
                Diagnostic::error("included-twice", key.span, message)
                    .other(first, "first here")
                    .help("remove one, or set it in the workflow"),
            );
        }
    }
    for entry in own.drain(..) {
        match index_of.get(&key(&entry).value) {
            Some(index) => merged[*index] = entry,
            None => merged.push(entry),
        }
    }
    *own = merged;
}

/// An included file's name for messages: relative like the workflow's.
fn display_path(workflow: &str, path: &Path) -> String {
    let folder = workflow.rfind(['/', '\\']).map_or("", |separator| &workflow[..=separator]);
    format!("{folder}{}", path.display())
}
