//! The parsed file.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::Entry;
use super::film_spec::FilmSpec;
use super::names::ShotRef;
use super::params::Param;
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};
use crate::units::EditTime;
use crate::yaml::Key;

/// A parsed workflow file.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// The workflow's name: `name`, or else the file's name without its ending.
    pub name: Spanned<String>,
    /// The file's first key: the span of problems that concern the file as a whole.
    pub start: Span,
    /// The service of shots that name none.
    pub service: Option<Arc<Entry>>,
    /// Files whose parameters and defaults are merged in; empty once that is done.
    pub include: Vec<Spanned<String>>,
    /// Parameters in the order of the file, those of included files first; each may use those above it.
    pub params: Vec<Param>,
    /// Characters in the order of the file, those of included files first.
    pub cast: Vec<Character>,
    /// The key `params`, or the file's first key.
    pub params_span: Span,
    /// Values for parameters from the caller's files, in order; the last one for a name counts.
    pub param_overrides: Vec<Entry>,
    /// The matrix that the whole workflow is expanded over.
    pub matrix: Option<Entry>,
    /// Request fields for every shot.
    pub defaults: Vec<Entry>,
    /// The keys of shots in `defaults`. Shots without their own value share them.
    pub shot_defaults: Vec<Arc<Entry>>,
    /// Groups of shots in the order of the file, those of included files first.
    pub groups: Vec<Group>,
    /// The shots in the order of the file; the steps of repeated ones as shots of their own.
    pub shots: Vec<Shot>,
    /// The shots that were repeated.
    pub(crate) repeats: Repeats,
    /// The films that are to be joined.
    pub films: Vec<FilmSpec>,
    /// Warnings of what YAML drops from the text of the file and of those that it includes.
    pub(crate) text_warnings: Vec<Diagnostic>,
}

/// An entry of `shots`: a request, and the keys of the runner.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The shot's id, unique in the file.
    pub id: Spanned<String>,
    /// A note for people; no effect.
    pub note: Option<Spanned<Arc<str>>>,
    /// The name of its group, as the file has it; may be a template.
    pub group_entry: Option<Entry>,
    /// The name of its group.
    pub group_name: Option<Spanned<String>>,
    /// The index of its group among those of the workflow.
    pub group: Option<usize>,
    /// The service that renders it.
    pub service: Option<Arc<Entry>>,
    /// What is said; no effect on the request.
    pub dialogue: Vec<LineSpec>,
    /// The shot from whose last frame this one starts.
    pub continues: Option<Continues>,
    /// The image that the video starts with.
    pub first_frame: Option<Entry>,
    /// The image that the video ends with.
    pub last_frame: Option<Entry>,
    /// Media that guide the video without appearing in it.
    pub references: Option<Arc<Entry>>,
    /// The characters who are seen.
    pub cast: Option<Arc<Entry>>,
    /// The matrix that the shot is expanded over.
    pub matrix: Option<Entry>,
    /// How many steps it has, as the file has it; may be a template.
    pub repeat_entry: Option<Arc<Entry>>,
    /// How many steps it has, each of which continues the one before; none once the steps are shots.
    pub repeat: Option<Spanned<u32>>,
    /// The step that it is of a repeated shot.
    pub step: Option<Step>,
    /// How many candidates to render.
    pub takes: Option<Arc<Entry>>,
    /// Which of the takes, and of the instances, is used.
    pub pick: Option<Arc<Entry>>,
    /// Shots that must finish first, without using a frame of theirs.
    pub needs: Vec<Spanned<ShotRef>>,
    /// Whether the instance is rendered.
    pub when: Option<Entry>,
    /// Distinguishes otherwise identical work.
    pub salt: Option<Entry>,
    /// How many attempts a run may make, and after which failures.
    pub retry: Option<Arc<Entry>>,
    /// How long the task of one attempt may take at the service, and then the tries of its download together.
    pub timeout: Option<Arc<Entry>>,
    /// Request fields, as the contract names them.
    pub fields: Vec<Entry>,
}

/// A step of a repeated shot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The id of the repeated shot, as the file has it.
    pub shot: String,
    /// From 1.
    pub number: u32,
}

/// Shots that were repeated, by the ids that the file has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    /// How many steps each has.
    pub(crate) steps: HashMap<String, u32>,
    /// The index of its last step among the shots.
    pub(crate) last: HashMap<String, usize>,
}

impl Workflow {
    /// The services that shots name, where that is no template; some more than once.
    pub(crate) fn services(&self) -> impl Iterator<Item = &str> {
        self.shots.iter().filter_map(|shot| shot.service.as_ref()?.value.text())
    }

    /// The indexes of the shots by their ids; a repeated shot is its last step.
    pub(crate) fn shot_indexes(&self) -> HashMap<&str, usize> {
        let repeated = self.repeats.last.iter().map(|(id, index)| (id.as_str(), *index));
        let shots = self.shots.iter().enumerate().map(|(index, shot)| (shot.id.value.as_str(), index));
        repeated.chain(shots).collect()
    }

    /// The shots of a group, in file order.
    pub(crate) fn shots_of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a Shot> {
        let is_named = move |shot: &&Shot| self.group_of(shot).is_some_and(|own| own.key.value == group);
        self.shots.iter().filter(is_named)
    }

    /// The group of a shot.
    pub(crate) fn group_of(&self, shot: &Shot) -> Option<&Group> {
        self.groups.get(shot.group?)
    }

    /// The parameters of the workflow, then those of its groups.
    pub(crate) fn all_params(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().chain(self.groups.iter().flat_map(|group| &group.params))
    }

    /// The request fields for every shot, then those of the groups.
    pub(crate) fn all_defaults(&self) -> impl Iterator<Item = &Entry> {
        self.defaults.iter().chain(self.groups.iter().flat_map(|group| &group.defaults))
    }
}

/// Shots that have parameters and defaults in common, such as an act.
#[derive(Clone, Debug)]
pub struct Group {
    pub key: Key,
    /// Parameters in place of the workflow's; each may use those above it, and the workflow's.
    pub params: Vec<Param>,
    /// Request fields for its shots, before the workflow's.
    pub defaults: Vec<Entry>,
    /// The keys of shots in its `defaults`. Shots without their own value share them.
    pub shot_defaults: Vec<Arc<Entry>>,
}

/// A character of the cast.
#[derive(Clone, Debug)]
pub struct Character {
    pub key: Key,
    /// What the character looks like.
    pub description: Option<Entry>,
    /// Images of the character.
    pub stills: Option<Entry>,
    /// How the character sounds.
    pub voice: Option<Entry>,
    /// Whether it was declared in an included file.
    pub is_included: bool,
}

/// A line of dialogue.
#[derive(Clone, Debug)]
pub struct LineSpec {
    pub text: Entry,
    pub speaker: Option<Entry>,
    /// When it begins in the shot's video; not negative.
    pub at: Option<Spanned<EditTime>>,
    /// How long it takes; more than zero.
    pub length: Option<Spanned<EditTime>>,
}

/// `continues`, with the spans of key and value.
#[derive(Clone, Debug)]
pub struct Continues {
    pub key: Key,
    /// The shot that is named.
    pub shot: Spanned<ShotRef>,
}
