//! One mistake is one diagnostic, in however many instances it shows.

use std::collections::{BTreeSet, HashMap};

use super::fan::{Draft, Fan, Fanned};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::Span;

/// Diagnostics of instances, the same ones counted together.
#[derive(Default)]
pub(super) struct Tally {
    found: Vec<Counted>,
    /// By code, place, and what makes diagnostics at one place alike.
    known: HashMap<(&'static str, Span, String), usize>,
}

struct Counted {
    diagnostic: Diagnostic,
    count: usize,
    first: String,
    shots: BTreeSet<usize>,
}

impl Tally {
    /// Adds a diagnostic; those of one code at one place that say the same are one.
    pub(super) fn add(&mut self, draft: &Draft, diagnostic: Diagnostic) {
        let said = diagnostic.message.clone();
        self.add_alike(draft, said, diagnostic);
    }

    /// Adds a diagnostic; those of one code at one place with the same `alike` are one, and the first one speaks.
    pub(super) fn add_alike(&mut self, draft: &Draft, alike: String, diagnostic: Diagnostic) {
        let identity = (diagnostic.code, diagnostic.primary.span, alike);
        if let Some(at) = self.known.get(&identity) {
            let counted = &mut self.found[*at];
            counted.count += 1;
            counted.shots.insert(draft.shot);
            return;
        }
        self.known.insert(identity, self.found.len());
        self.found.push(Counted {
            diagnostic,
            count: 1,
            first: draft.name.clone(),
            shots: BTreeSet::from([draft.shot]),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Hands the diagnostics over, each saying in how many instances it shows where there are several.
    pub(super) fn flush(self, fan: &Fan<'_>, problems: &mut Problems) {
        for Counted { mut diagnostic, count, first, shots } in self.found {
            let all: usize =
                shots.iter().filter_map(|at| fan.shots[*at].as_ref()).map(Fanned::instances).sum();
            if all > 1 {
                let which = match (count, all) {
                    (count, _) if shots.len() > 1 => format!("in {count} instances, first `{first}`"),
                    (count, all) if count == all => format!("in all {all} instances, first `{first}`"),
                    (1, all) => format!("in 1 of {all} instances, `{first}`"),
                    (count, all) => format!("in {count} of {all} instances, first `{first}`"),
                };
                let label = &mut diagnostic.primary.text;
                *label = if label.is_empty() { which } else { format!("{label}, {which}") };
            }
            problems.push(diagnostic);
        }
    }
}
