//! Files that a workflow includes, and files of values that the caller gives: read, bounded, and put in their place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::files::{self, Files};
use crate::limits;
use crate::load::{Options, ParamFile};
use crate::source::{Source, Span, Spanned};
use crate::syntax::{self, Entry, Param, Workflow};
use crate::yaml::{self, Yaml, YamlValue};

/// Adds what the workflow includes: parameters and defaults of the included files come before the workflow's own, and
/// the workflow's own replace them in their place.
pub(crate) fn add(
    workflow: &mut Workflow,
    source: &mut Source,
    files: &dyn Files,
    options: &Options,
    problems: &mut Problems,
) {
    let include = std::mem::take(&mut workflow.include);
    if include.is_empty() {
        return;
    }
    let bytes = source.text().len();
    let mut reading = Reading {
        source,
        files,
        options,
        problems,
        open: Vec::new(),
        seen: HashMap::new(),
        bytes,
        found: Found::default(),
    };
    reading.all(&include, Path::new(""));
    let Found { params, defaults } = reading.found;
    merge(params, &mut workflow.params, |param| &param.key, problems);
    merge(defaults, &mut workflow.defaults, |entry| &entry.key, problems);
}

/// Reads files of values for parameters. Their values are taken as they stand; no template is looked for in them.
pub(crate) fn param_files(given: &[ParamFile], source: &mut Source, problems: &mut Problems) -> Vec<Entry> {
    let mut found = Vec::new();
    for file in given {
        let Some(tree) = read(&file.name, file.text.clone(), source, problems) else { continue };
        match tree.value {
            YamlValue::Map(entries) => {
                found.extend(entries.into_iter().map(|(key, value)| Entry { key, value }));
            }
            YamlValue::Null => {}
            _ => problems.push(
                Diagnostic::error("wrong-type", tree.span, "a file of parameters is a map")
                    .label(format!("this is {}", tree.kind()))
                    .help("write `name: value` for each parameter"),
            ),
        }
    }
    found
}

/// Reads one file into a tree whose places run on behind the files before it.
fn read(name: &str, text: String, source: &mut Source, problems: &mut Problems) -> Option<Yaml> {
    let file = Source::new(name, text);
    let mut found = Problems::default();
    let tree = yaml::read(&file, &mut found);
    let start = source.add(file);
    problems.extend_from(found, start);
    tree.map(|tree| tree.offset_by(start))
}

#[derive(Default)]
struct Found {
    params: Vec<Param>,
    defaults: Vec<Entry>,
}

struct Reading<'a> {
    source: &'a mut Source,
    files: &'a dyn Files,
    options: &'a Options,
    problems: &'a mut Problems,
    /// The files that are being read, from the outermost, each with the place that includes it.
    open: Vec<(PathBuf, Span)>,
    /// The files that have been read.
    seen: HashMap<PathBuf, Span>,
    bytes: usize,
    found: Found,
}

impl Reading<'_> {
    fn all(&mut self, include: &[Spanned<String>], folder: &Path) {
        for name in include {
            if self.problems.full() {
                return;
            }
            self.one(name, folder);
        }
    }

    /// One file, after those that it includes itself. A file that several include is read once.
    fn one(&mut self, name: &Spanned<String>, folder: &Path) {
        let Some(path) = self.path(name, folder) else { return };
        if let Some(at) = self.open.iter().position(|(open, _)| *open == path) {
            let mut diagnostic = Diagnostic::error(
                "include-cycle",
                name.span,
                format!("`{}` includes itself", path.display()),
            );
            for (_, place) in &self.open[at..] {
                diagnostic = diagnostic.other(*place, "on the way here");
            }
            self.problems.push(diagnostic.help("move what both need into a file of its own"));
            return;
        }
        if self.seen.contains_key(&path) {
            return;
        }
        if self.seen.len() >= limits::MAX_INCLUDES || self.open.len() >= limits::MAX_INCLUDE_DEPTH {
            self.limit(name.span);
            return;
        }
        self.seen.insert(path.clone(), name.span);
        let Some(text) = self.text(name, &path) else { return };
        let shown = shown(self.source.name(), &path);
        let Some(tree) = read(&shown, text, self.source, self.problems) else { return };
        let fragment = syntax::fragment(&tree, self.problems);
        self.open.push((path.clone(), name.span));
        self.all(&fragment.include, path.parent().unwrap_or(Path::new("")));
        self.open.pop();
        self.found.params.extend(fragment.params);
        self.found.defaults.extend(fragment.defaults);
    }

    fn path(&mut self, name: &Spanned<String>, folder: &Path) -> Option<PathBuf> {
        let relative = folder.join(&name.value);
        let clean = relative.to_str().and_then(files::normalize_relative);
        let path =
            clean.or_else(|| (self.options.allow_outside && !name.value.is_empty()).then_some(relative));
        if path.is_none() {
            let message = format!("`{}`: a workflow's files lie in its own folder or below", name.value);
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
            Err(trouble) => Err(trouble.to_string()),
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
        let message = "this workflow includes too much";
        self.problems.push(Diagnostic::error("include-limit", span, message).help(format!(
            "there are at most {} included files, {} deep, of {} MiB together with the workflow",
            grouped(limits::MAX_INCLUDES as u128),
            limits::MAX_INCLUDE_DEPTH,
            limits::MAX_INCLUDED_BYTES / 1024 / 1024
        )));
    }
}

/// Puts what is included before what is there, which replaces it by name. Two included files may not say the same name.
fn merge<T>(included: Vec<T>, own: &mut Vec<T>, key: impl Fn(&T) -> &yaml::Key, problems: &mut Problems) {
    let mut merged: Vec<T> = Vec::with_capacity(included.len() + own.len());
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut later = Vec::new();
    for one in included {
        let name = key(&one).value.clone();
        if let Some(first) = at.get(&name) {
            later.push((key(&one).clone(), key(&merged[*first]).span));
        } else {
            at.insert(name, merged.len());
            merged.push(one);
        }
    }
    let replaced: Vec<String> = own.iter().map(|one| key(one).value.clone()).collect();
    for (key, first) in later {
        // What the workflow says itself settles it.
        if !replaced.contains(&key.value) {
            let message = format!("two included files say `{}`", key.value);
            problems.push(
                Diagnostic::error("included-twice", key.span, message)
                    .other(first, "first here")
                    .help("remove one, or say in the workflow which it is"),
            );
        }
    }
    for one in own.drain(..) {
        match at.get(&key(&one).value) {
            Some(place) => merged[*place] = one,
            None => merged.push(one),
        }
    }
    *own = merged;
}

/// An included file's name as the user knows it: beside the workflow's.
fn shown(workflow: &str, path: &Path) -> String {
    let folder = workflow.rfind(['/', '\\']).map_or("", |at| &workflow[..=at]);
    format!("{folder}{}", path.display())
}
