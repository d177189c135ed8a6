//! `runner export`: writes a film's edit in a format of editors, or the film itself in another format. Submits nothing and asks no service.

pub(super) mod clips;
mod draft_folder;
mod film_to_export;
mod video;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Ledger;
use engine::artifact_store::Verify;
use engine::preview::{Preview, key_resolver, survey};
use scheduler::Artifact;
use timeline::export::{self, DraftProgram};
use timeline::{ResolveError, subtitles};
use workflow::plan::{Film, Plan};

use self::clips::ClipCollector;
use crate::args::{ExportArgs, ExportFormatArgs, Format};
use crate::backend;
use crate::commands::atomic_write::atomic_write;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::output_folder;
use crate::project_paths::{ProjectPaths, display_path};

pub(crate) async fn export(args: ExportArgs) -> Result<Exit, CommandError> {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let film = film(&plan, args.film.as_deref())?;
    let project = FilmProject::read(&plan, &args.workflow.file).await?;
    let collector = project.collector();
    let film_clips = collector.film_clips(film)?;
    if let Some(format) = args.format.video {
        return video::export(&args, format.into(), &project, film, &film_clips).await;
    }
    let format = ExportFormat::from(&args.format);
    let output = match &args.output {
        Some(output) => std::path::absolute(output)?,
        None => collector
            .folder(film, &film_clips)?
            .join(film.output.trim_end_matches(".mp4"))
            .with_added_extension(format.extension()),
    };
    let folder = output.parent().unwrap_or(Path::new("."));
    let facts = ClipCollector::facts(&film_clips)?;
    let nodes: Vec<_> = film_clips.iter().map(|clip| clip.node).collect();
    let continued = timeline::continuations(&plan, &engine::film::clip_videos(&film_clips));
    let timeline = timeline::resolve(film, &facts, &continued).map_err(not_resolvable)?;
    let is_absolute = args.absolute || matches!(format, ExportFormat::Fcpxml | ExportFormat::Draft(_));
    let mut context = collector.context(film, &film_clips, &facts, folder, is_absolute);
    if !matches!(format, ExportFormat::Srt | ExportFormat::Vtt) {
        context.sounds = collector.sounds(film, &timeline, folder, is_absolute)?;
    }
    let dialogue: Vec<_> =
        nodes.iter().map(|ix| ix.and_then(|ix| plan.node(ix).dialogue.as_deref())).collect();
    let cues = subtitles::cues(&timeline, &subtitles::lines(&timeline, &dialogue));
    if cues.is_empty() && matches!(format, ExportFormat::Srt | ExportFormat::Vtt) {
        let message = format!("nobody speaks in film `{}`: none of its shots has `dialogue`", film.output);
        return Err(
            CommandError::invalid(message).hint("write what is said in a shot: `dialogue: Who is there?`")
        );
    }
    let text = match format {
        ExportFormat::Otio => export::otio(&timeline, &context),
        ExportFormat::Fcpxml => export::fcpxml(&timeline, &context),
        ExportFormat::Srt => subtitles::srt(&cues),
        ExportFormat::Vtt => subtitles::vtt(&cues),
        ExportFormat::Draft(program) => {
            let files = export::draft(&timeline, &context, &cues, program);
            return draft_folder::write(&output, &files, args.overwrite);
        }
    };
    atomic_write(&output, text, args.overwrite)?;
    outln!("{}", display_path(&output));
    Ok(Exit::Done)
}

/// A plan with its videos.
pub(super) struct FilmProject<'p> {
    plan: &'p Plan,
    file: &'p Path,
    paths: ProjectPaths,
    output_folder: PathBuf,
    ledger: Option<Ledger>,
    previews: Vec<Preview>,
    videos: Vec<Option<Artifact>>,
}

impl<'p> FilmProject<'p> {
    /// Reads the ledger beside a workflow file.
    pub(super) async fn read(plan: &'p Arc<Plan>, file: &'p Path) -> Result<Self, CommandError> {
        let paths = ProjectPaths::for_workflow(file)?;
        let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
        let services = backend::planned_without_keys(plan)?;
        let keys = key_resolver(plan, ledger.as_ref(), &services.identity)?;
        let (previews, videos) =
            survey(plan, ledger.as_ref(), &keys, &services.accounts, &Verify::Metadata).await?;
        let output_folder = output_folder::of(&paths, plan, &services, None)?;
        Ok(Self { plan, file, paths, output_folder, ledger, previews, videos })
    }

    pub(super) fn collector(&self) -> ClipCollector<'_> {
        ClipCollector {
            plan: self.plan,
            file: self.file,
            workflow_folder: &self.paths.folder,
            output_folder: self.output_folder.clone(),
            store: self.paths.store(),
            previews: &self.previews,
            videos: &self.videos,
        }
    }
}

/// Formats of the exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Otio,
    Fcpxml,
    Srt,
    Vtt,
    Draft(DraftProgram),
}

impl From<&ExportFormatArgs> for ExportFormat {
    /// One of the flags is set.
    fn from(args: &ExportFormatArgs) -> Self {
        match args {
            ExportFormatArgs { fcpxml: true, .. } => Self::Fcpxml,
            ExportFormatArgs { srt: true, .. } => Self::Srt,
            ExportFormatArgs { vtt: true, .. } => Self::Vtt,
            ExportFormatArgs { capcut: true, .. } => Self::Draft(DraftProgram::CapCut),
            ExportFormatArgs { jianying: true, .. } => Self::Draft(DraftProgram::Jianying),
            ExportFormatArgs { .. } => Self::Otio,
        }
    }
}

impl ExportFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Otio => "otio",
            Self::Fcpxml => "fcpxml",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
            Self::Draft(DraftProgram::CapCut) => "capcut",
            Self::Draft(DraftProgram::Jianying) => "jianying",
        }
    }
}

/// The film of a name, or the only one.
pub(super) fn film<'p>(plan: &'p Plan, name: Option<&str>) -> Result<&'p Film, CommandError> {
    let names = || plan.films().iter().map(|film| film.output.as_str()).collect::<Vec<_>>().join(", ");
    match (name, plan.films()) {
        (_, []) => Err(CommandError::invalid("the workflow has no film").hint("add `film:` to the file")),
        (None, [only]) => Ok(only),
        (None, _) => Err(CommandError::invalid(format!("the workflow has several films: {}", names()))
            .hint("name one with --film")),
        (Some(name), films) => films
            .iter()
            .find(|film| film.output == name || film.output.strip_suffix(".mp4") == Some(name))
            .ok_or_else(|| {
                CommandError::invalid(format!("the workflow has no film `{name}`"))
                    .hint(format!("its films: {}", names()))
            }),
    }
}

/// The edit does not fit the clips: a line for each problem.
pub(super) fn not_resolvable(error: ResolveError) -> CommandError {
    match &error {
        ResolveError::Empty { .. } => CommandError::invalid(error),
        ResolveError::Clips { film, problems } => {
            let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
            CommandError::invalid(format!("film `{film}` cannot be edited:{}", lines.concat()))
        }
    }
}

/// The path from a folder to a file, with `/` between the steps; the absolute path where there is none. Both are absolute.
fn relative_path(folder: &Path, file: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return file.to_string_lossy().into_owned();
    }
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|step| step.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_path_leads_from_folder_to_file() {
        let cases = [
            ("/films/out", "/films/out/a.mp4", "a.mp4"),
            ("/films/edit", "/films/out/sea/a.mp4", "../out/sea/a.mp4"),
            ("/x", "/films/a.mp4", "../films/a.mp4"),
        ];
        for (folder, file, expected) in cases {
            assert_eq!(relative_path(Path::new(folder), Path::new(file)), expected);
        }
    }
}
