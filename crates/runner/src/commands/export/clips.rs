//! The clips of a film: which nodes it shows, their files, and what is recorded about them.

use std::path::{Path, PathBuf};

use engine::artifact_store::{ArtifactStore, Verify};
use engine::film::{FilmClip, clip_facts, film_clips};
use engine::preview::Preview;
use scheduler::Artifact;
use timeline::export::{Alternative, ClipInfo, ExportContext, SoundClip, SoundFile, sounds};
use timeline::{ClipFacts, ClipKind, Timeline};
use workflow::plan::{Clip, ClipSource, Film, Node, NodeIx, Plan};

use super::relative_path;
use crate::error::CommandError;
use crate::ffmpeg;
use crate::shell;

/// Collects the clips of a film from plan and ledger.
pub(in crate::commands) struct ClipCollector<'p> {
    pub(in crate::commands) plan: &'p Plan,
    /// The workflow file, as the user named it.
    pub(in crate::commands) file: &'p Path,
    pub(in crate::commands) workflow_folder: &'p Path,
    /// The default output folder of the workflow.
    pub(in crate::commands) output_folder: PathBuf,
    pub(in crate::commands) store: ArtifactStore,
    /// By node.
    pub(in crate::commands) previews: &'p [Preview],
    /// By node, where it has one.
    pub(in crate::commands) videos: &'p [Option<Artifact>],
}

impl ClipCollector<'_> {
    /// The clips of a film, in its order.
    ///
    /// # Errors
    /// A pick is open, or clips have no video.
    pub(in crate::commands) fn film_clips(&self, film: &Film) -> Result<Vec<FilmClip>, CommandError> {
        let file = shell::path(self.file);
        let mut open_picks: Vec<&[NodeIx]> = Vec::new();
        let mut nodes = Vec::with_capacity(film.clips.len());
        for clip in &film.clips {
            match &clip.source {
                ClipSource::Node(ix) => nodes.push(*ix),
                ClipSource::Pick(candidates) => open_picks.push(candidates),
                ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => {}
            }
        }
        let picks: Vec<_> =
            self.plan.open_picks().into_iter().filter(|pick| open_picks.contains(&pick.candidates)).collect();
        if !picks.is_empty() {
            let names: Vec<&str> = picks.iter().map(|pick| &*pick.name).collect();
            let message = format!("film `{}` waits for a pick: {}", film.output, names.join(", "));
            let hint =
                |name: &&str| format!("`runner pick {file} {}` lists the candidates", shell::quote(name));
            return Err(names.iter().map(hint).fold(CommandError::invalid(message), CommandError::hint));
        }
        let mut missing: Vec<NodeIx> =
            nodes.iter().copied().filter(|ix| self.videos[ix.index()].is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let clips = film_clips(self.plan, film, self.workflow_folder, |ix| {
            Some((self.path(ix)?, self.videos[ix.index()].as_ref()?.sha256.clone()))
        });
        if let Some(clips) = clips {
            return Ok(clips);
        }
        let names: Vec<&str> = missing.iter().map(|ix| self.plan.node(*ix).name.as_str()).collect();
        let arguments: Vec<String> = names.iter().map(|name| shell::quote(name)).collect();
        let message = format!("film `{}` has clips without a video: {}", film.output, names.join(", "));
        Err(CommandError::invalid(message)
            .hint(format!("render them: runner run {file} --from {}", arguments.join(" "))))
    }

    /// The folder of the film: of those of its clips and the workflow's own one, which has a film of that name. Clips that an earlier run
    /// of another workflow paid for are on record where that one stored them.
    pub(in crate::commands) fn folder(
        &self,
        film: &Film,
        film_clips: &[FilmClip],
    ) -> Result<PathBuf, CommandError> {
        let nodes = film_clips.iter().filter_map(|clip| clip.node);
        let mut folders = nodes.filter_map(|ix| self.videos[ix.index()].as_ref()?.path.parent());
        let first = folders.clone().next();
        let has_film = |folder: &&Path| folder.join(&film.output).is_file();
        let own = self.output_folder.as_path();
        let folder = [own].into_iter().chain(folders.by_ref()).find(has_film);
        let folder = folder.or_else(|| own.is_dir().then_some(own)).or(first).unwrap_or(self.workflow_folder);
        Ok(std::path::absolute(folder)?)
    }

    /// The facts about each clip.
    pub(in crate::commands) fn facts(film_clips: &[FilmClip]) -> Result<Vec<ClipFacts>, CommandError> {
        let facts = |clip: &FilmClip| {
            let path = std::path::absolute(&clip.path).unwrap_or_else(|_| clip.path.clone());
            match clip.kind {
                ClipKind::Video => clip_facts(&clip.name, &path, &ffmpeg::find())
                    .map_err(|error| CommandError::unusable(format!("{}: {error}", clip.name))),
                kind => Ok(ClipFacts::still(kind, clip.name.clone(), path)),
            }
        };
        film_clips.iter().map(facts).collect()
    }

    /// What is recorded about the clips, for a file in `folder`.
    pub(in crate::commands) fn context(
        &self,
        film: &Film,
        film_clips: &[FilmClip],
        facts: &[ClipFacts],
        folder: &Path,
        is_absolute: bool,
    ) -> ExportContext {
        let clips = film.clips.iter().zip(film_clips).zip(facts);
        let info = |((clip, film_clip), facts): ((&Clip, &FilmClip), &ClipFacts)| {
            let title = clip.title.as_ref().map(|title| title.text.clone());
            match (film_clip.node, film_clip.kind) {
                (Some(ix), _) => ClipInfo { title, ..self.info(ix, &facts.path, folder, is_absolute) },
                (None, ClipKind::Card) => ClipInfo { title, ..ClipInfo::default() },
                (None, _) => ClipInfo {
                    title,
                    size: image_size(facts),
                    file: relative_path(folder, &facts.path),
                    absolute: is_absolute.then(|| facts.path.to_string_lossy().into_owned()),
                    ..ClipInfo::default()
                },
            }
        };
        ExportContext { clips: clips.map(info).collect(), ..ExportContext::default() }
    }

    /// Music and voices of a film, for a file in `folder`.
    pub(in crate::commands) fn sounds(
        &self,
        film: &Film,
        timeline: &Timeline,
        folder: &Path,
        is_absolute: bool,
    ) -> Result<Vec<SoundClip>, CommandError> {
        sounds(&film.soundtrack, timeline, |path| {
            let path = self.workflow_folder.join(path);
            let duration = media::sound_duration(&path, &ffmpeg::find())
                .map_err(|error| CommandError::unusable(format!("a sound of the film: {error}")))?;
            let absolute = is_absolute.then(|| path.to_string_lossy().into_owned());
            Ok(SoundFile { file: relative_path(folder, &path), absolute, duration })
        })
    }

    /// All videos of nodes, and what is recorded about them.
    pub(in crate::commands) fn videos(&self) -> Vec<(NodeIx, ClipFacts, ClipInfo)> {
        let video = |(ix, node): (NodeIx, &Node)| {
            let path = self.path(ix)?;
            let facts = clip_facts(&node.name, &path, &ffmpeg::find()).ok()?;
            let info = self.info(ix, &path, self.workflow_folder, false);
            Some((ix, facts, info))
        };
        self.plan.nodes().filter_map(video).collect()
    }

    fn info(&self, ix: NodeIx, path: &Path, folder: &Path, is_absolute: bool) -> ClipInfo {
        let (node, preview) = (self.plan.node(ix), &self.previews[ix.index()]);
        ClipInfo {
            shot: node.shot.to_string(),
            file: relative_path(folder, path),
            absolute: is_absolute.then(|| path.to_string_lossy().into_owned()),
            size: None,
            title: None,
            prompt: node.prompt().map(str::to_owned),
            seed: node.seed(),
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
        let mut candidates: Vec<NodeIx> = groups.flat_map(|group| group.candidates.iter().copied()).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let alternative = |candidate: NodeIx| {
            let name = &self.plan.node(candidate).name;
            let facts = clip_facts(name, &self.path(candidate)?, &ffmpeg::find()).ok()?;
            Some(Alternative {
                label: facts.name,
                file: relative_path(folder, &facts.path),
                absolute: is_absolute.then(|| facts.path.to_string_lossy().into_owned()),
                frames: Some(facts.frames),
            })
        };
        candidates.into_iter().filter(|candidate| *candidate != ix).filter_map(alternative).collect()
    }

    /// The file of a node's video: under its readable name, else in the store.
    fn path(&self, ix: NodeIx) -> Option<PathBuf> {
        let artifact = self.videos[ix.index()].as_ref()?;
        let readable = std::path::absolute(&artifact.path).ok().filter(|path| path.is_file());
        readable.or_else(|| self.store.find(artifact, &Verify::Metadata).ok().flatten())
    }
}

/// Columns and rows of an image; `None` for what is none or cannot be read.
fn image_size(facts: &ClipFacts) -> Option<(u32, u32)> {
    let image = (facts.kind == ClipKind::Image).then(|| fs_err::read(&facts.path).ok())??;
    media::image_size(&image).ok()
}
