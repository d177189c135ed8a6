//! `runner view`: writes the page that shows a workflow's clips and films, with its manifest, and opens it.

mod axes;
mod clip_command;
mod manifest;
mod posters;
mod proxies;

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::artifact_store::Verify;
use engine::preview::survey;
use viewer::Manifest;
use workflow::plan::Plan;

use crate::args::{EngineAddressArgs, Format, OverrideArgs, ViewArgs};
use crate::backend;
use crate::clock::now;
use crate::commands::atomic_write::atomic_write;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::hints;
use crate::input_file::LoadError;
use crate::load;
use crate::named_workflow::NamedWorkflow;
use crate::output_folder;
use crate::picks::PickStore;
use crate::price_table::PriceTable;
use crate::project_paths::{ProjectPaths, display_path};
use crate::records::Records;
use crate::shell;
use crate::shutdown::interruptible;
use crate::unknown_work::{self, VideoFolders};

/// Beside the clips.
pub(crate) const MANIFEST: &str = "manifest.json";
const PAGE: &str = "index.html";

pub(crate) async fn view(args: ViewArgs) -> Result<Exit, CommandError> {
    let page = if args.target.is_dir() {
        if args.output_dir.is_some() {
            return Err(CommandError::invalid(
                "--output-dir is the folder of a workflow file, not of a folder",
            ));
        }
        from_manifest(&args.target)?
    } else {
        let viewed = ViewedFile {
            file: &args.target,
            overrides: &args.overrides,
            engine: &args.engine,
            output_dir: args.output_dir.as_deref(),
        };
        match from_workflow(viewed).await? {
            Page::Written(page) => page,
            Page::Invalid(error) => return Ok(error.report(Format::Text)),
            Page::Interrupted => {
                errln!(
                    "interrupted: the page was not written; `runner view {}` continues",
                    shell::path(&args.target)
                );
                return Ok(Exit::Interrupted);
            }
        }
    };
    outln!("{}", display_path(&page));
    if !args.no_open && std::io::stdout().is_terminal() {
        open_in_browser(&page);
    }
    Ok(Exit::Done)
}

/// `run --open`: writes and opens the page of a workflow that has just run.
pub(crate) async fn show(viewed: ViewedFile<'_>) -> Result<(), CommandError> {
    match from_workflow(viewed).await? {
        Page::Written(page) => {
            errln!("{}", display_path(&page));
            if std::io::stderr().is_terminal() {
                open_in_browser(&page);
            }
        }
        // It was valid when the run began.
        Page::Invalid(error) => drop(error.report(Format::Text)),
        Page::Interrupted => errln!("interrupted: the page was not written"),
    }
    Ok(())
}

/// Writes the page of a workflow again after a run, where there is one. A run has not failed because this does.
pub(crate) async fn refresh(viewed: ViewedFile<'_>, plan: &Plan) -> Result<(), CommandError> {
    let paths = ProjectPaths::for_workflow(viewed.file)?;
    let services = backend::planned_without_keys(plan)?;
    let folder = output_folder::of(&paths, plan, &services, viewed.output_dir)?;
    if folder.join(PAGE).exists()
        && folder.join(MANIFEST).exists()
        && let Err(error) = from_workflow(viewed).await
    {
        errln!("the page {} was not written again: {}", display_path(&folder.join(PAGE)), error.message);
    }
    Ok(())
}

/// Opens a page with the program that the system has for it. It is not an error if there is none: its address is printed.
pub(crate) fn open_in_browser(page: impl AsRef<std::ffi::OsStr>) {
    if let Err(error) = open::that_detached(page) {
        errln!("cannot open it: {error}");
    }
}

/// Writes the page of an output folder again, from its manifest.
fn from_manifest(folder: &Path) -> Result<PathBuf, CommandError> {
    let manifest = read_manifest(folder)?.ok_or_else(|| {
        CommandError::invalid(format!("{} has no {MANIFEST}", display_path(folder)))
            .hint("name the workflow file: runner view FILE")
    })?;
    write_page(folder, &manifest)
}

/// The manifest in a folder; `None` where it has none.
pub(crate) fn read_manifest(folder: &Path) -> Result<Option<Manifest>, CommandError> {
    let file = &folder.join(MANIFEST);
    // Opening a pipe would wait for a writer.
    if std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(CommandError::invalid(format!("{} is not a regular file", display_path(file))));
    }
    // One byte more than it may have, so that the bound is noticed.
    let bound = viewer::MAX_MANIFEST_BYTES as u64 + 1;
    let mut text = String::new();
    let read = fs_err::File::open(file).and_then(|file| file.take(bound).read_to_string(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CommandError::unusable(error)),
    }
    let manifest = Manifest::from_json(&text)
        .map_err(|error| CommandError::invalid(format!("{}: {error}", display_path(file))))?;
    Ok(Some(manifest))
}

/// What became of the page of a workflow.
enum Page {
    Written(PathBuf),
    Invalid(LoadError),
    Interrupted,
}

/// A workflow file whose clips are shown, with the arguments of the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewedFile<'a> {
    pub(crate) file: &'a Path,
    /// What changes its requests.
    pub(crate) overrides: &'a OverrideArgs,
    pub(crate) engine: &'a EngineAddressArgs,
    /// The folder of the clips, where it is another one than that of the workflow.
    pub(crate) output_dir: Option<&'a Path>,
}

/// Collects the manifest of a workflow, and writes it with the page.
async fn from_workflow(viewed: ViewedFile<'_>) -> Result<Page, CommandError> {
    let plan = match load::load(viewed.file, viewed.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(Page::Invalid(error)),
    };
    let paths = ProjectPaths::for_workflow(viewed.file)?;
    let records = Records::open(&paths, viewed.engine, Some(plan.name())).await?;
    let (folder, manifest) = match collect(&plan, viewed, &records).await? {
        Ok(collected) => collected,
        Err(error) => return Ok(Page::Invalid(error)),
    };
    let with_proxies = interruptible(move |tools| {
        proxies::make(&folder, &manifest, tools);
        if tools.cancellation.is_cancelled() {
            return Err(CommandError::unusable("interrupted"));
        }
        Ok((folder, manifest))
    });
    let Some((folder, mut manifest)) = with_proxies.await? else { return Ok(Page::Interrupted) };
    proxies::enter(&folder, &mut manifest);
    hint_at_videos_in_another_folder(viewed, &folder, &manifest);
    let text = serde_json::to_string_pretty(&manifest).map_err(CommandError::unusable)?;
    atomic_write(&folder.join(MANIFEST), format!("{text}\n"), true)?;
    write_page(&folder, &manifest).map(Page::Written)
}

/// Collects the manifest of a plan, and makes the posters that are missing. Returns the folder of the clips with it.
pub(crate) async fn collect(
    plan: &Arc<Plan>,
    viewed: ViewedFile<'_>,
    records: &Records,
) -> Result<Result<(PathBuf, Manifest), LoadError>, CommandError> {
    let collected = collect_without_posters(plan, viewed, records).await?;
    let Ok((folder, mut manifest)) = collected else { return Ok(collected) };
    fs_err::create_dir_all(&folder)?;
    posters::make(&folder, &mut manifest);
    proxies::enter(&folder, &mut manifest);
    Ok(Ok((folder, manifest)))
}

/// Collects the manifest of a plan. Returns the folder of the clips with it, which may not exist.
pub(crate) async fn collect_without_posters(
    plan: &Arc<Plan>,
    viewed: ViewedFile<'_>,
    records: &Records,
) -> Result<Result<(PathBuf, Manifest), LoadError>, CommandError> {
    let ViewedFile { file, overrides, engine, output_dir } = viewed;
    let workflow = NamedWorkflow::new(file, &engine.suffix()).with_arguments(overrides, None, output_dir);
    let paths = ProjectPaths::for_workflow(file)?;
    let services = records.services_without_keys(plan)?;
    let folder = output_folder::of(&paths, plan, &services, output_dir)?;
    let keys = records.key_resolver(plan, &services.identity).await?;
    let (mut previews, mut videos) =
        survey(plan, records.work(), &keys, &services.accounts, &Verify::Metadata).await?;
    hints::name_commands(&mut previews, &workflow);
    if !services.is_free() {
        let folders = VideoFolders { paths: &paths, output_dir: &folder };
        unknown_work::mark(plan, records, &keys, folders, &workflow, engine, &mut previews).await?;
    }
    records.localize(&previews, &mut videos, &folder).await?;
    let prices = match PriceTable::load(None, file) {
        Ok(prices) => prices,
        Err(error) => return Ok(Err(error)),
    };
    let project = manifest::ManifestInputs {
        plan,
        file,
        named: &workflow,
        arguments: NamedWorkflow::new(file, &engine.suffix()).with_arguments(overrides, None, None).in_full(),
        ratings: PickStore::new(file, &paths).ratings().map_err(CommandError::invalid)?,
        workflow_folder: &paths.folder,
        folder: &folder,
        records: records.work(),
        previews: &previews,
        videos: &videos,
        // The embedded service is free, whatever the price table says.
        currency: prices.filter(|_| !services.is_free()).map(|prices| prices.prices.currency().to_owned()),
        store: paths.store(),
    };
    let manifest = project.manifest(now()).await?;
    Ok(Ok((folder, manifest)))
}

/// Says how videos get into the folder of the page, where they are in another one.
fn hint_at_videos_in_another_folder(viewed: ViewedFile<'_>, folder: &Path, manifest: &Manifest) {
    let missing = manifest.clips.iter().filter(|clip| clip.sha256.is_some() && clip.file.is_none()).count();
    if missing == 0 {
        return;
    }
    let (videos, are) = if missing == 1 { ("video", "is") } else { ("videos", "are") };
    let run = NamedWorkflow::new(viewed.file, &viewed.engine.suffix());
    let run = run.with_arguments(viewed.overrides, None, Some(folder));
    errln!(
        "{missing} {videos} {are} not in {}, the folder of this page, so it does not show them\nhint: without a submission, this puts them there: runner run {}",
        display_path(folder),
        run.in_full()
    );
}

fn write_page(folder: &Path, manifest: &Manifest) -> Result<PathBuf, CommandError> {
    let page = folder.join(PAGE);
    atomic_write(&page, viewer::page(manifest).map_err(CommandError::unusable)?, true)?;
    Ok(page)
}
