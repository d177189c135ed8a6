//! Deduplication of diagnostics: one mistake is reported once, with the number of instances that it affects.

use std::collections::{BTreeSet, HashMap};

use super::expansion::{ExpandedShot, Expansion, Instance};
use crate::diagnostic::{Diagnostic, Problems, Severity, quoted_list};
use crate::limits;
use crate::source::Span;

/// Diagnostics of instances, deduplicated and counted.
#[derive(Default)]
pub(super) struct DiagnosticDedup {
    occurrences: Vec<Occurrences>,
    /// Index into the list by code, primary span and deduplication key.
    indexes: HashMap<(&'static str, Span, String), usize>,
    /// The number of diagnostics added, duplicates included.
    total: usize,
    /// Whether some instances were skipped, so that the counts are lower bounds.
    is_truncated: bool,
}

struct Occurrences {
    diagnostic: Diagnostic,
    /// How many instances; none where it is about the shot as a whole.
    count: usize,
    first: String,
    shots: BTreeSet<usize>,
}

impl DiagnosticDedup {
    /// Adds a diagnostic. Diagnostics with the same code, span and message are duplicates.
    pub(super) fn add(&mut self, instance: &Instance, diagnostic: Diagnostic) {
        let key = diagnostic.message.clone();
        self.add_keyed(instance, key, diagnostic);
    }

    /// Adds a diagnostic. Those with the same code, span and `key` are duplicates; the message of the first is kept.
    pub(super) fn add_keyed(&mut self, instance: &Instance, key: String, diagnostic: Diagnostic) {
        self.total += 1;
        self.insert(instance, key, diagnostic);
    }

    /// Adds a warning. Warnings do not count towards the number at which further instances are skipped.
    pub(super) fn add_warning(&mut self, instance: &Instance, key: String, diagnostic: Diagnostic) {
        self.insert(instance, key, diagnostic);
    }

    /// Adds a warning of a shot as a whole.
    pub(super) fn add_of_shot(&mut self, shot: usize, diagnostic: Diagnostic) {
        let first = String::new();
        self.occurrences.push(Occurrences { diagnostic, count: 0, first, shots: BTreeSet::from([shot]) });
    }

    fn insert(&mut self, instance: &Instance, key: String, diagnostic: Diagnostic) {
        let identity = (diagnostic.code, diagnostic.primary.span, key);
        if let Some(index) = self.indexes.get(&identity) {
            let counted = &mut self.occurrences[*index];
            counted.count += 1;
            counted.shots.insert(instance.shot);
            return;
        }
        self.indexes.insert(identity, self.occurrences.len());
        self.occurrences.push(Occurrences {
            diagnostic,
            count: 1,
            first: instance.name.clone(),
            shots: BTreeSet::from([instance.shot]),
        });
    }

    /// The number of diagnostics added, duplicates included.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Whether so many have been added that further instances are skipped.
    pub(super) fn is_full(&mut self) -> bool {
        let is_full = self.total >= limits::MAX_INSTANCE_DIAGNOSTICS;
        self.is_truncated |= is_full;
        is_full
    }

    /// Records that some instances were skipped, so that the counts are lower bounds.
    pub(super) fn mark_truncated(&mut self) {
        self.is_truncated = true;
    }

    /// Pushes the diagnostics, each labelled with the number of instances affected if its shots have several. There is one warning for each
    /// code and cause.
    pub(super) fn flush(mut self, expansion: &Expansion<'_>, problems: &mut Problems) {
        let mut causes: HashMap<(&'static str, String), usize> = HashMap::new();
        let mut merged: Vec<Occurrences> = Vec::new();
        for occurrences in std::mem::take(&mut self.occurrences) {
            let Diagnostic { code, severity, message, .. } = &occurrences.diagnostic;
            if *severity == Severity::Warning {
                let known = *causes.entry((code, cause(message))).or_insert(merged.len());
                if let Some(known) = merged.get_mut(known) {
                    known.count += occurrences.count;
                    known.shots.extend(occurrences.shots);
                    continue;
                }
            }
            merged.push(occurrences);
        }
        for Occurrences { mut diagnostic, count, first, shots } in merged {
            let all: usize = shots
                .iter()
                .filter_map(|index| expansion.shots[*index].as_ref())
                .map(ExpandedShot::instance_count)
                .sum();
            if all > 1 && (count > 0 || shots.len() > 1) {
                let which = match (count, all) {
                    (count, all) if self.is_truncated && count < all => {
                        format!("in at least {count} instances, first `{first}`")
                    }
                    _ if shots.len() > 1 => {
                        let names = shots.iter().filter_map(|index| expansion.shots[*index].as_ref());
                        let names = names.map(|expanded| expanded.shot.id.value.as_str());
                        format!("in {} shots: {}", shots.len(), quoted_list(names, 3))
                    }
                    (count, all) if count >= all => format!("in all {all} instances, first `{first}`"),
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

/// What a message says beside the names in it.
fn cause(message: &str) -> String {
    message.split('`').step_by(2).collect()
}
