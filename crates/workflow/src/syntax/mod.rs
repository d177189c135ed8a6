//! The first phase: the file as a [`Workflow`], every value with its place. Words are known and in their place;
//! what they hold is still templates, and no shot has been fanned out.

mod file;
mod fragment;
mod names;
mod params;
mod shot;
mod value;

use crate::source::{Span, Spanned};
use crate::yaml::{Key, Yaml};

pub(crate) use self::file::read;
#[cfg(test)]
pub(crate) use self::file::{FILM_KEYS, WORKFLOW_KEYS};
pub(crate) use self::fragment::read as fragment;
pub use self::names::ShotRef;
pub(crate) use self::names::{RESERVED, identifier, output_name, plain_name};
pub use self::params::{Param, ParamKind};
pub(crate) use self::shot::KEYS;
pub(crate) use self::value::{expect_count, expect_duration, expect_text, one_or_many};

/// A parsed workflow file.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// The workflow's name: `name`, or else the file's name without its ending.
    pub name: Spanned<String>,
    /// Where the file begins: the place of what concerns it as a whole.
    pub start: Span,
    /// Files whose parameters and defaults are taken over; empty once that is done.
    pub include: Vec<Spanned<String>>,
    /// Parameters in the order of the file, those of included files first; each may use those above it.
    pub params: Vec<Param>,
    /// Where `params` stands, or the file's beginning.
    pub params_span: Span,
    /// Values for parameters from files that the caller gives, in order; of several for one name the last counts.
    pub param_overrides: Vec<Entry>,
    /// What the workflow as a whole is fanned out over.
    pub matrix: Option<Entry>,
    /// Request fields for every shot.
    pub defaults: Vec<Entry>,
    /// The shots in the order of the file.
    pub shots: Vec<Shot>,
    /// The films, where any is wanted.
    pub films: Vec<FilmSpec>,
    /// How many shots a chain may have before that is surely a mistake.
    pub max_chain: Option<Spanned<u32>>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value, which may hold templates.
    pub value: Yaml,
}

impl Entry {
    /// The place that shows the entry best: a scalar's own, else its key's.
    #[must_use]
    pub fn span(&self) -> Span {
        match self.value.value {
            crate::yaml::YamlValue::List(_) | crate::yaml::YamlValue::Map(_) => self.key.span,
            _ => self.value.span.or(self.key.span),
        }
    }
}

/// What the file lists: a request plus a few words of the runner's.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The shot's id, unique in the file.
    pub id: Spanned<String>,
    /// A note for people; changes nothing.
    pub note: Option<Spanned<String>>,
    /// The shot on whose last frame this one begins.
    pub continues: Option<Continues>,
    /// What the video begins on.
    pub first_frame: Option<Entry>,
    /// What the video ends on.
    pub last_frame: Option<Entry>,
    /// What guides the video without being shown.
    pub references: Option<Entry>,
    /// What the shot is fanned out over.
    pub matrix: Option<Entry>,
    /// How many candidates to make.
    pub takes: Option<Entry>,
    /// Which of the takes others use.
    pub pick: Option<Entry>,
    /// Shots that have to be done before this one, though it takes no frame of theirs.
    pub needs: Vec<Spanned<ShotRef>>,
    /// Whether the instance is made at all.
    pub when: Option<Entry>,
    /// Sets otherwise identical work apart.
    pub salt: Option<Entry>,
    /// How often the shot may be attempted.
    pub retry: Option<Entry>,
    /// How long one attempt may take.
    pub timeout: Option<Entry>,
    /// Request fields, as the contract names them.
    pub fields: Vec<Entry>,
}

/// `continues`, with both its places.
#[derive(Clone, Debug)]
pub struct Continues {
    /// The word.
    pub key: Key,
    /// The shot that is named.
    pub shot: Spanned<ShotRef>,
}

/// What the file says of the film.
#[derive(Clone, Debug)]
pub struct FilmSpec {
    /// The word `film`, or the first word of one of several `films`.
    pub key: Key,
    /// The film's file name.
    pub output: Option<Entry>,
    /// Which shots, in which order; all where it is left out.
    pub shots: Option<Vec<Spanned<ShotRef>>>,
}
