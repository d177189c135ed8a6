//! `runner import`: creates a workflow from a shot list, or takes an editor's cut back into a film.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::Contract;
use workflow::import::{ImportOptions, ImportResult};
use workflow::scaffold;

use super::atomic_write::atomic_write;
use super::import_cut::import_cut;
use super::init::video_options;
use crate::args::{ImportArgs, OverrideArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::input_file::MAX_FILE_BYTES;
use crate::project_paths::display_path;
use crate::{shell, terminal};

pub(crate) async fn import(args: ImportArgs) -> Result<Exit, CommandError> {
    if let Some(workflow) = &args.into {
        return import_cut(&args, workflow).await;
    }
    if args.list.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("otio")) {
        let message =
            format!("{} is a cut: it is imported into the film of a workflow", display_path(&args.list));
        return Err(CommandError::invalid(message).hint("name the workflow with --into"));
    }
    refuse_unused(&args.overrides)?;
    import_list(&args)
}

/// Refuses options that would have no effect on a shot list.
fn refuse_unused(
    OverrideArgs { params, param_files, axes, service, rehearse, allow }: &OverrideArgs,
) -> Result<(), CommandError> {
    let unused = [
        (!params.is_empty(), "--param"),
        (!param_files.is_empty(), "--param-file"),
        (!axes.is_empty(), "--axis"),
        (service.is_some(), "--service"),
        (*rehearse, "--rehearse"),
        (!allow.is_empty(), "--allow"),
    ];
    match unused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(CommandError::invalid(format!("{option} has an effect with --into only"))
            .hint(format!("leave {option} out"))),
        None => Ok(()),
    }
}

fn import_list(args: &ImportArgs) -> Result<Exit, CommandError> {
    let mut bytes = Vec::new();
    fs_err::File::open(&args.list)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| CommandError::invalid(format!("cannot read the file to import: {error}")))?;
    let output = output(args);
    let options = options(args, &output);
    let list = args.list.display().to_string();
    let ImportResult { workflow, shots, report } =
        workflow::import::import(&bytes, &list, &options, Contract::embedded())
            .map_err(CommandError::invalid)?;
    if !report.diagnostics.is_empty() {
        err!("{}", report.render(terminal::has_color()));
    }
    let Some(text) = workflow else { return Ok(Exit::InvalidInput) };
    write(args, &output, &text, shots)
}

fn output(args: &ImportArgs) -> PathBuf {
    args.output.clone().unwrap_or_else(|| args.list.with_extension("yaml"))
}

fn options(args: &ImportArgs, output: &Path) -> ImportOptions {
    let named_after = if output == Path::new("-") { &args.list } else { output };
    ImportOptions {
        name: scaffold::name_for(&named_after.file_stem().unwrap_or_default().to_string_lossy()),
        video: video_options(&args.model),
        chain_scenes: args.chain.is_some(),
        columns: args.columns.clone(),
    }
}

fn write(args: &ImportArgs, output: &Path, text: &str, shots: usize) -> Result<Exit, CommandError> {
    if output == Path::new("-") {
        out!("{text}");
        return Ok(Exit::Done);
    }
    if output == args.list {
        return Err(CommandError::invalid(format!("{} is the file to import itself", display_path(output)))
            .hint("name another file with --output"));
    }
    atomic_write(output, text, args.overwrite)?;
    let file = shell::path(output);
    outln!("wrote {file}: {shots} {}\n\nnext: runner plan {file}", if shots == 1 { "shot" } else { "shots" });
    Ok(Exit::Done)
}
