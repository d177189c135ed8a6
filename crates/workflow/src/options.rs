//! What the caller of the compiler asks for.

use std::collections::{BTreeMap, BTreeSet};

use crate::services::Services;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values for parameters; the last one for a name counts. Each is text, parsed by the parameter's type; without a type, as
    /// a number or boolean where it reads as one.
    pub params: Vec<(String, String)>,
    /// Parameter files. `params` overrides them, and later files override earlier ones.
    pub param_files: Vec<ParamFile>,
    /// Axis overrides: a name, and values separated by commas. They replace the values of the axis wherever it is, or add it to
    /// the workflow's matrix.
    pub axes: Vec<(String, String)>,
    /// Recorded picks. A `pick` in the file overrides them.
    pub picks: Picks,
    /// Codes of warnings that are dropped, beside those that the file allows.
    pub allow: Vec<&'static str>,
    /// The services that shots may name.
    pub services: Services,
    /// The service of all shots, whatever the file says; one of `services`.
    pub service: Option<String>,
    /// Whether the embedded service stands in for all of them.
    pub rehearse: bool,
    /// What was asked for with `--rerun`, by workflow and instance.
    pub asked: BTreeMap<String, BTreeMap<String, AskedRenders>>,
}

/// A parameter file: a YAML or JSON mapping of names to values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFile {
    /// Its name in messages.
    pub name: String,
    pub text: String,
}

/// The renders of an instance that were asked for with `--rerun`, by their numbers in the instance's list of renders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedRenders {
    /// The one that is still to be made.
    pub open: Option<u32>,
    /// The newest one that is done.
    pub done: Option<u32>,
}

impl AskedRenders {
    /// The highest number.
    pub fn highest(self) -> Option<u32> {
        self.open.max(self.done)
    }
}

/// Picks that the caller has recorded. A `pick` in the file overrides them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picks {
    /// Render by the name of a shot or instance: `lamp`, `lamp@look=noir`. Of a shot with `takes`, render 2 is take 2.
    pub takes: BTreeMap<String, u32>,
    /// Picked instances of a shot by their cells, as instance names write them: `look=noir,seed=3`. One for each cell of the workflow's
    /// matrix.
    pub cells: BTreeMap<String, BTreeSet<String>>,
}

impl Picks {
    /// Whether nothing is picked.
    pub fn is_empty(&self) -> bool {
        self.takes.is_empty() && self.cells.is_empty()
    }
}
