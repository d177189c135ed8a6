//! Collects a manifest from the plan and the ledger.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path};
use std::sync::Arc;

use contract::Word;
use engine::artifact_store::ArtifactStore;
use engine::film::{film_clips, film_cues, film_timeline, up_to_date_source};
use engine::ledger::{LedgerError, RecordedRender};
use engine::preview::{Preview, states};
use engine::records::{ShotAttempt, WorkRecords};
use scheduler::{Artifact, AttemptState, LastAttempt, StatusKind, Timestamp};
use serde_json::{Value, json};
use timeline::subtitles::Cue;
use timeline::{Item, Timeline};
use viewer::{
    Attempt, Caption, Clip, Cut, CutKind, Film, FilmState, Manifest, Parent, ParentKind, Render, Shot,
};
use workflow::plan::{self, ClipSource, DialogueLine, MediaSource, Node, NodeIx, PickGroup, PickKind, Plan};
use workflow::units::{EditTime, Money};

use super::axes::axes;
use super::clip_command::clip_command;
use crate::ffmpeg;
use crate::named_workflow::NamedWorkflow;

/// What a manifest is made of.
pub(super) struct ManifestInputs<'p> {
    pub(super) plan: &'p Plan,
    /// The workflow file, as the user named it.
    pub(super) file: &'p Path,
    /// The file and its overrides, in commands that take no folder.
    pub(super) arguments: String,
    /// The file with the arguments that determine its shots, in commands.
    pub(super) named: &'p NamedWorkflow,
    /// Where the files of the workflow are.
    pub(super) workflow_folder: &'p Path,
    /// The folder of the manifest.
    pub(super) folder: &'p Path,
    pub(super) records: Option<&'p dyn WorkRecords>,
    /// By node.
    pub(super) previews: &'p [Preview],
    /// By node, where it has one.
    pub(super) videos: &'p [Option<Artifact>],
    /// By the SHA-256 of a video.
    pub(super) ratings: BTreeMap<String, u8>,
    pub(super) currency: Option<String>,
    /// Where the descriptions of the videos are.
    pub(super) store: ArtifactStore,
}

impl ManifestInputs<'_> {
    pub(super) async fn manifest(&self, now: Timestamp) -> Result<Manifest, LedgerError> {
        let generator = format!("runner {}", env!("CARGO_PKG_VERSION"));
        let file = self.file.display().to_string();
        let mut manifest = Manifest::new(generator, self.plan.name().to_owned(), file, now);
        manifest.currency.clone_from(&self.currency);
        manifest.workflow.arguments.clone_from(&self.arguments);
        let chosen = self.chosen();
        manifest.shots = self.shots(&chosen);
        // By shot and node.
        let mut attempts: HashMap<Arc<str>, HashMap<String, Vec<ShotAttempt>>> = HashMap::new();
        for (_, node) in self.plan.nodes() {
            if let (Some(records), false) = (self.records, attempts.contains_key(&node.shot)) {
                let by_node = attempts.entry(Arc::clone(&node.shot)).or_default();
                for record in records.attempts_of_shot(&node.shot).await? {
                    by_node.entry(record.node.clone()).or_default().push(record);
                }
            }
        }
        let of_node = |node: &Node| {
            let records = attempts.get(&node.shot).and_then(|by_node| by_node.get(&node.name));
            records.map_or(&[][..], Vec::as_slice)
        };
        let latest = self.plan.nodes().filter_map(|(ix, node)| self.latest(ix, of_node(node)));
        let in_runs = match self.records {
            Some(records) => {
                let runs = latest.filter(|latest| latest.state.needs_run()).map(|latest| latest.run.clone());
                records.states_in_runs(&runs.collect()).await?
            }
            None => HashMap::new(),
        };
        // All of its events are read: only where it decides something.
        let decides = !self.plan.films().is_empty() || self.plan.edges().next().is_some();
        let last_run = match self.records.filter(|_| decides) {
            Some(records) => records.last_run(self.plan.name(), self.file).await?,
            None => None,
        };
        let last = |ix| {
            let latest = self.latest(ix, of_node(self.plan.node(ix)))?;
            Some(LastAttempt { state: latest.state, in_run: in_runs.get(&latest.attempt).copied() })
        };
        let was_cut_off = |ix| last_run.as_ref().is_some_and(|run| run.has_cut_off(&self.plan.node(ix).name));
        let states = states(self.plan, self.previews, last, was_cut_off);
        let renders = match self.records {
            Some(records) => records.several_renders(self.plan.name()).await?,
            None => HashMap::new(),
        };
        for (ix, node) in self.plan.nodes() {
            let renders = renders.get(&node.name).map_or(&[][..], Vec::as_slice);
            let clip = Clip {
                renders: renders.iter().map(|render| self.render(ix, render)).collect(),
                ..self.clip(ix, of_node(node), states[ix.index()], chosen.contains(&ix))
            };
            manifest.clips.push(clip);
        }
        for (index, film) in self.plan.films().iter().enumerate() {
            let has_failed = last_run.as_ref().is_some_and(|run| run.projection.has_failed_film(index));
            manifest.films.push(self.film(film, has_failed).await?);
        }
        Ok(manifest)
    }

    /// The takes and instances that are picked, on record or in the file, and the takes that a film or a clip names.
    fn chosen(&self) -> HashSet<NodeIx> {
        let in_films =
            self.plan.films().iter().flat_map(|film| &film.clips).filter_map(|clip| match &clip.source {
                ClipSource::Node(ix) => Some(*ix),
                ClipSource::Pick(_) | ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => None,
            });
        let continued =
            self.plan.nodes().flat_map(|(_, node)| &node.inputs).filter_map(|input| match &input.source {
                MediaSource::LastFrame(ix) | MediaSource::FirstFrame(ix) => Some(*ix),
                MediaSource::Pick { .. } | MediaSource::File { .. } | MediaSource::FileFrame { .. } => None,
            });
        let with_takes = |ix: &NodeIx| self.plan.node(*ix).take.is_some();
        let picked = self.plan.pick_groups().iter().filter_map(|group| match group.picked.as_slice() {
            [only] => Some(*only),
            _ => None,
        });
        in_films.chain(continued).filter(with_takes).chain(picked).collect()
    }

    /// Whether a clip is the picked one of all instances of its shot.
    fn is_only_pick(&self, ix: NodeIx) -> bool {
        let shot = &self.plan.node(ix).shot;
        let is_of_shot = |group: &&PickGroup| {
            group.kind == PickKind::Cell
                && group.candidates.first().is_some_and(|first| self.plan.node(*first).shot == *shot)
        };
        let mut groups = self.plan.pick_groups().iter().filter(is_of_shot);
        matches!((groups.next(), groups.next()), (Some(group), None) if group.picked == [ix])
    }

    fn shots(&self, chosen: &HashSet<NodeIx>) -> Vec<Shot> {
        let mut shots: Vec<Shot> = Vec::new();
        let mut cells: Vec<Vec<&plan::Cell>> = Vec::new();
        let mut indexes: HashMap<&str, usize> = HashMap::new();
        for (ix, node) in self.plan.nodes() {
            let index = *indexes.entry(&node.shot).or_insert_with(|| {
                shots.push(Shot {
                    id: node.shot.to_string(),
                    axes: Vec::new(),
                    takes: 1,
                    pick: None,
                    note: node.note.as_deref().map(str::to_owned),
                });
                cells.push(Vec::new());
                shots.len() - 1
            });
            cells[index].push(&node.cell);
            let shot = &mut shots[index];
            shot.takes = shot.takes.max(node.take.unwrap_or(1));
            if chosen.contains(&ix) && (node.cell.is_empty() || self.is_only_pick(ix)) {
                shot.pick = Some(node.name.clone());
            }
        }
        shots.iter_mut().zip(cells).for_each(|(shot, cells)| shot.axes = axes(&cells));
        shots
    }

    /// The latest attempt at what the present text asks for. `records`: of the node, the latest first.
    fn latest<'r>(&self, ix: NodeIx, records: &'r [ShotAttempt]) -> Option<&'r ShotAttempt> {
        let key = self.previews[ix.index()].full_key?;
        records.iter().find(|record| record.key == Some(key))
    }

    fn clip(&self, ix: NodeIx, records: &[ShotAttempt], state: StatusKind, is_picked: bool) -> Clip {
        let node = self.plan.node(ix);
        let preview = &self.previews[ix.index()];
        let video = self.videos[ix.index()].as_ref();
        let request = Value::Object(self.plan.request_outline(ix));
        let latest = self.latest(ix, records);
        let cost = latest.and_then(|latest| self.cost(latest));
        let failure = latest.and_then(|latest| latest.failure.clone());
        let rendered = records.iter().find(|record| record.task.is_some() && record.task == preview.task);
        let elapsed = rendered.and_then(|record| record.elapsed).filter(|_| video.is_some());
        let seed = node.seed();
        Clip {
            id: node.name.clone(),
            shot: node.shot.to_string(),
            cell: node.cell.iter().map(|(axis, value)| (axis.to_owned(), value.clone())).collect(),
            take: node.take,
            state,
            is_picked,
            rating: video.and_then(|video| self.ratings.get(&video.sha256).copied()),
            file: video.and_then(|video| self.relative(&video.path)),
            poster: None,
            proxy: None,
            sha256: video.map(|video| video.sha256.clone()),
            description: video
                .zip(preview.full_key)
                .and_then(|(video, key)| self.store.description(&video.sha256, &key)),
            bytes: video.map(|video| video.bytes),
            width: video.map(|video| video.width),
            height: video.map(|video| video.height),
            seconds: Some(video.map_or(node.duration, |video| video.duration.into())),
            frame_rate: None,
            has_audio: None,
            model: node.model.to_string(),
            family: serialized(&node.family),
            prompt: node.prompt().map(str::to_owned),
            seed,
            dialogue: dialogue(node),
            key: preview.key.clone(),
            task: preview.task.as_ref().map(|task| task.as_str().to_owned()),
            cost,
            elapsed_ms: elapsed.and_then(|elapsed| u64::try_from(elapsed.as_millis()).ok()),
            attempts: records.iter().rev().map(|record| self.attempt(record)).collect(),
            renders: Vec::new(),
            failure: (state != StatusKind::Done).then(|| preview.why.clone().or(failure)).flatten(),
            parents: self.parents(ix, node),
            command: clip_command(self.named, preview, state),
            request,
        }
    }

    /// The most that an attempt cost. Nothing is reserved for a submission that was refused.
    fn cost(&self, record: &ShotAttempt) -> Option<Money> {
        let is_reserved = record.task.is_some() || record.state.holds_key();
        record.reserved_cost.filter(|_| is_reserved && self.currency.is_some())
    }

    fn render(&self, ix: NodeIx, render: &RecordedRender) -> Render {
        let row = &render.row;
        let video = row.artifact.as_ref().filter(|_| row.state == AttemptState::Completed);
        Render {
            number: render.render,
            key: render.key.short(),
            file: video.and_then(|video| self.relative(&video.path)),
            poster: None,
            sha256: video.map(|video| video.sha256.clone()),
            bytes: video.map(|video| video.bytes),
            made_at: row.ended_at.or(row.submitted_at).unwrap_or(row.intended_at),
            is_asked: render.is_asked,
            counts: self.previews[ix.index()].full_key == Some(render.key),
            cost: row.reservation.cost.filter(|_| self.currency.is_some()),
        }
    }

    fn attempt(&self, record: &ShotAttempt) -> Attempt {
        Attempt {
            attempt: record.attempt.to_string(),
            key: record.key.map(|key| key.short()),
            task: record.task.as_ref().map(|task| task.as_str().to_owned()),
            intended_at: Some(record.intended_at),
            result: record.state.as_str().to_owned(),
            message: record.failure.clone(),
            cost: self.cost(record),
        }
    }

    /// A path below the manifest's folder, with `/` between its parts.
    fn relative(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(self.folder).ok()?;
        let parts: Option<Vec<&str>> = inside
            .components()
            .map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        path.exists().then_some(parts?.join("/"))
    }

    fn parents(&self, ix: NodeIx, node: &Node) -> Vec<Parent> {
        let mut parents: Vec<Parent> = Vec::new();
        let mut add = |ix: NodeIx, kind: ParentKind| {
            let parent = Parent { clip: self.plan.node(ix).name.clone(), kind };
            if !parents.iter().any(|existing| existing.clip == parent.clip) {
                parents.push(parent);
            }
        };
        for input in &node.inputs {
            let is_reference = !matches!(input.word, Word::FirstFrame | Word::LastFrame);
            let kind = match &input.source {
                MediaSource::Pick { .. } => ParentKind::Pick,
                _ if is_reference => ParentKind::Reference,
                _ => ParentKind::Continues,
            };
            input.source.nodes().iter().for_each(|parent| add(*parent, kind));
        }
        self.plan.predecessors(ix).into_iter().for_each(|parent| add(parent, ParentKind::Needs));
        parents
    }

    /// `has_failed`: the last run could not join it.
    async fn film(&self, film: &plan::Film, has_failed: bool) -> Result<Film, LedgerError> {
        let path = self.folder.join(&film.output);
        let recorded = match self.records {
            Some(records) => records.film(self.plan, &path).await?,
            None => None,
        };
        let is_unpicked = film.clips.iter().any(|clip| matches!(clip.source, ClipSource::Pick(_)));
        let video = |ix: NodeIx| {
            self.videos[ix.index()].as_ref().map(|video| (video.path.clone(), video.sha256.clone()))
        };
        let clips = film_clips(self.plan, film, self.workflow_folder, video);
        let is_complete = clips.is_some();
        let is_up_to_date = clips
            .as_ref()
            .zip(recorded.as_ref())
            .is_some_and(|(clips, recorded)| up_to_date_source(self.plan, film, clips, recorded).is_some());
        // Where the edit does not fit the clips, the run says so.
        let edit = clips
            .and_then(|clips| Some((film_timeline(self.plan, film, &clips, &ffmpeg::find()).ok()?, clips)));
        // Frames with subtitles need no captions.
        let is_burnt = film.subtitles.is_some_and(|subtitles| subtitles.burn);
        let (cuts, captions) = match &edit {
            Some((timeline, _)) if is_burnt => (cuts(film, timeline), Vec::new()),
            Some((timeline, clips)) => (
                cuts(film, timeline),
                film_cues(self.plan, timeline, clips).into_iter().map(caption).collect(),
            ),
            None => (self.expected_cuts(film), Vec::new()),
        };
        // An earlier cut is still its file, and plays.
        let state = match (is_up_to_date, is_unpicked, is_complete) {
            (true, ..) => FilmState::Done,
            (false, true, _) => FilmState::Unpicked,
            (false, false, false) => FilmState::Pending,
            (false, false, true) if has_failed => FilmState::Failed,
            (false, false, true) => FilmState::NotJoined,
        };
        Ok(Film {
            name: film.output.clone(),
            file: recorded.as_ref().map(|_| film.output.clone()),
            poster: None,
            seconds: recorded.map(|film| film.duration.into()),
            state,
            cuts,
            captions,
        })
    }
}

fn caption(cue: Cue) -> Caption {
    let (start, end) = (cue.start.as_secs_f64(), cue.end.as_secs_f64());
    Caption { start, end, speaker: cue.speaker, text: cue.text }
}

impl ManifestInputs<'_> {
    /// The clips of a film that is not complete, without their edits, as far as their lengths are known.
    fn expected_cuts(&self, film: &plan::Film) -> Vec<Cut> {
        let mut start = 0.0;
        let mut cuts = Vec::new();
        for clip in &film.clips {
            let Some(ix) = clip.nodes().first() else {
                let length = clip.length.and_then(EditTime::to_duration);
                let seconds = length.map(|length| length.as_secs_f64());
                cuts.push(Cut { clip: own_name(clip), kind: cut_kind(clip), start, seconds });
                start += seconds.unwrap_or_default();
                continue;
            };
            let seconds = self.videos[ix.index()].as_ref().map(|video| video.duration.as_secs_f64());
            cuts.push(Cut { clip: self.plan.node(*ix).name.clone(), kind: CutKind::Shot, start, seconds });
            start += seconds.unwrap_or_else(|| self.plan.node(*ix).duration.as_millis() as f64 / 1e3);
        }
        cuts
    }
}

fn cut_kind(clip: &plan::Clip) -> CutKind {
    match clip.source {
        ClipSource::Node(_) | ClipSource::Pick(_) => CutKind::Shot,
        ClipSource::Video(_) | ClipSource::Image(_) => CutKind::File,
        ClipSource::Card => CutKind::Title,
    }
}

/// The name of a clip that no node makes.
fn own_name(clip: &plan::Clip) -> String {
    match clip.source.file() {
        Some(file) => file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        None => clip.title.as_ref().map(|title| title.text.clone()).unwrap_or_default(),
    }
}

/// The items of a timeline in seconds.
fn cuts(film: &plan::Film, timeline: &Timeline) -> Vec<Cut> {
    let seconds = |frames: u64| frames as f64 / timeline.frame_rate.as_f64();
    let cut = |item: &Item| Cut {
        clip: item.source.name.clone(),
        kind: film.clips.get(item.clip).map_or(CutKind::Shot, cut_kind),
        start: seconds(item.start),
        seconds: Some(seconds(item.frames)),
    };
    timeline.items.iter().map(cut).collect()
}

/// An enum as the ledger and the contract write it.
fn serialized(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// What is said in a video, a line each.
fn dialogue(node: &Node) -> Option<String> {
    let line = |line: &DialogueLine| match &line.speaker {
        Some(speaker) => format!("{speaker}: {}", line.text),
        None => line.text.clone(),
    };
    Some(node.dialogue.as_deref()?.iter().map(line).collect::<Vec<_>>().join("\n"))
}
