//! Several files of one task's video: the service has delivered it again with other bytes.

use scheduler::{Artifact, KeyResolver};
use workflow::plan::{NodeIx, NodeKey};

use super::collect::Collector;
use super::recordable::Video;
use crate::ledger::{Ledger, LedgerError};

impl Collector<'_> {
    /// The file that stands for a video in the keys of what continues it, of those that the service has delivered for its task: the first one
    /// that the key of other work is made of, or else the one that its description names.
    pub(super) fn first_delivery(
        &self,
        keys: &KeyResolver,
        node: NodeIx,
        video: &Video,
        artifacts: &[Option<Artifact>],
    ) -> Result<Option<String>, LedgerError> {
        if video.other_deliveries.is_empty() {
            return Ok(None);
        }
        let own = &video.artifact.sha256;
        for file in video.other_deliveries.iter().rev().chain([own]) {
            let candidate = video.artifact.clone().delivered_after(Some(file));
            let artifact = |parent: NodeIx| {
                if parent == node { Some(&candidate) } else { artifacts[parent.index()].as_ref() }
            };
            for next in self.adoption.plan.successors(node) {
                let plan = self.adoption.plan;
                let next_keys = keys.key(plan, next, artifact).zip(keys.counting_key(plan, next, artifact));
                if let Some((key, base)) = next_keys
                    && self.has_work(key, base)?
                {
                    return Ok(Some(file.clone()));
                }
            }
        }
        Ok(video.other_deliveries.last().cloned())
    }

    /// Whether work with this key, or the rerun of it that counts, is described, named by a file, or on record.
    fn has_work(&self, key: NodeKey, base: NodeKey) -> Result<bool, LedgerError> {
        Ok(self.descriptions.any(key, base, |_| true)
            || self.files.contains_key(&key.short())
            || is_on_record(self.ledger, key)?)
    }
}

/// Whether an attempt holds a key or has had its video.
pub(super) fn is_on_record(ledger: Option<&Ledger>, key: NodeKey) -> Result<bool, LedgerError> {
    ledger.map_or(Ok(false), |ledger| ledger.has_work(&key.to_string()))
}
