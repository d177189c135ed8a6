//! The clips of a film: which nodes it shows, their files, and what is recorded about them.

use std::path::{Path, PathBuf};

use engine::artifact_store::{ArtifactStore, Verify};
use engine::film::clip_facts;
use engine::preview::Preview;
use scheduler::Artifact;
use serde_json::Value;
use timeline::ClipFacts;
use timeline::export::{Alternative, ClipInfo, ExportContext};
use workflow::plan::{ClipSource, Film, NodeIx, Plan};

use super::relative_path;
use crate::error::CommandError;
use crate::ffmpeg;
use crate::shell;

/// Collects the clips of a film from plan and ledger.
pub(super) struct ClipCollector<'p> {
    pub(super) plan: &'p Plan,
    /// The workflow file, as the user named it.
    pub(super) file: &'p Path,
    pub(super) store: ArtifactStore,
    /// By node.
    pub(super) previews: &'p [Preview],
    /// By node, where it has one.
    pub(super) videos: &'p [Option<Artifact>],
}

impl ClipCollector<'_> {
    /// The nodes that a film shows, in its order.
    ///
    /// # Errors
    /// A pick is open, or clips have no video.
    pub(super) fn shown(&self, film: &Film) -> Result<Vec<NodeIx>, CommandError> {
        let file = shell::quote(&self.file.display().to_string());
        let mut open: Vec<&[NodeIx]> = Vec::new();
        let mut shown = Vec::with_capacity(film.clips.len());
        for clip in &film.clips {
            match &clip.source {
                ClipSource::Node(ix) => shown.push(*ix),
                ClipSource::Pick(candidates) => open.push(candidates),
            }
        }
        let picks: Vec<_> =
            self.plan.open_picks().into_iter().filter(|pick| open.contains(&pick.candidates)).collect();
        if !picks.is_empty() {
            let names: Vec<&str> = picks.iter().map(|pick| &*pick.name).collect();
            let message = format!("film `{}` waits for a pick: {}", film.output, names.join(", "));
            let hint =
                |name: &&str| format!("`runner pick {file} {}` lists the candidates", shell::quote(name));
            return Err(names.iter().map(hint).fold(CommandError::invalid(message), CommandError::hint));
        }
        let mut missing: Vec<NodeIx> =
            shown.iter().copied().filter(|ix| self.videos[ix.index()].is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(shown);
        }
        let names: Vec<&str> = missing.iter().map(|ix| self.plan.node(*ix).name.as_str()).collect();
        let arguments: Vec<String> = names.iter().map(|name| shell::quote(name)).collect();
        let message = format!("film `{}` has clips without a video: {}", film.output, names.join(", "));
        Err(CommandError::invalid(message)
            .hint(format!("render them: runner run {file} --from {}", arguments.join(" "))))
    }

    /// The folder of the clips, and so of the film.
    pub(super) fn folder(&self, shown: &[NodeIx]) -> Result<PathBuf, CommandError> {
        let first = shown.iter().find_map(|ix| self.videos[ix.index()].as_ref()?.path.parent());
        let folder = first.ok_or_else(|| CommandError::invalid("the film has no clips"))?;
        Ok(std::path::absolute(folder)?)
    }

    /// The facts about each clip's file.
    pub(super) fn facts(&self, shown: &[NodeIx]) -> Result<Vec<ClipFacts>, CommandError> {
        shown.iter().map(|ix| self.facts_of_clip(*ix)).collect()
    }

    fn facts_of_clip(&self, ix: NodeIx) -> Result<ClipFacts, CommandError> {
        let name = &self.plan.node(ix).name;
        let path = self.path(ix).ok_or_else(|| CommandError::unusable(format!("{name} has no file")))?;
        clip_facts(name, &path, &ffmpeg::find())
            .map_err(|error| CommandError::unusable(format!("{name}: {error}")))
    }

    /// What is recorded about the clips, for a file in `folder`.
    pub(super) fn context(
        &self,
        shown: &[NodeIx],
        facts: &[ClipFacts],
        folder: &Path,
        is_absolute: bool,
    ) -> ExportContext {
        let clips = shown.iter().zip(facts);
        ExportContext {
            clips: clips.map(|(ix, facts)| self.info(*ix, &facts.path, folder, is_absolute)).collect(),
        }
    }

    fn info(&self, ix: NodeIx, path: &Path, folder: &Path, is_absolute: bool) -> ClipInfo {
        let (node, preview) = (self.plan.node(ix), &self.previews[ix.index()]);
        let text = |name: &str| node.request.get(name).and_then(Value::as_str).map(str::to_owned);
        let seed = node.request.get("seed").or_else(|| node.request.pointer("/metadata/seed"));
        ClipInfo {
            shot: node.shot.to_string(),
            file: relative_path(folder, path),
            absolute: is_absolute.then(|| path.to_string_lossy().into_owned()),
            prompt: text("prompt"),
            seed: seed.and_then(Value::as_i64),
            model: Some(node.model.to_string()),
            task: preview.task.as_ref().map(|task| task.as_str().to_owned()),
            take: node.take,
            key: preview.key.clone(),
            alternatives: self.alternatives(ix, folder, is_absolute),
        }
    }

    /// The other takes and instances that could have been picked, where they have a video.
    fn alternatives(&self, ix: NodeIx, folder: &Path, is_absolute: bool) -> Vec<Alternative> {
        let groups = self.plan.pick_groups().iter().filter(|group| group.candidates.contains(&ix));
        let mut others: Vec<NodeIx> = groups.flat_map(|group| group.candidates.iter().copied()).collect();
        others.sort_unstable();
        others.dedup();
        let alternative = |other: NodeIx| {
            let facts = self.facts_of_clip(other).ok()?;
            Some(Alternative {
                label: facts.name,
                file: relative_path(folder, &facts.path),
                absolute: is_absolute.then(|| facts.path.to_string_lossy().into_owned()),
                pictures: Some(facts.pictures),
            })
        };
        others.into_iter().filter(|other| *other != ix).filter_map(alternative).collect()
    }

    /// The file of a node's video: under its readable name, else in the store.
    fn path(&self, ix: NodeIx) -> Option<PathBuf> {
        let artifact = self.videos[ix.index()].as_ref()?;
        let readable = std::path::absolute(&artifact.path).ok().filter(|path| path.is_file());
        readable.or_else(|| self.store.find(artifact, &Verify::Metadata).ok().flatten())
    }
}
