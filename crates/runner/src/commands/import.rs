//! `runner import`: creates a workflow from a shot list or a screenplay, or takes a cut back into a film.

use std::io::Read as _;
use std::path::Path;

use contract::Contract;
use workflow::import::{Imported, Options, SourceKind};
use workflow::scaffold;

use super::atomic_write::{atomic_write, shell_quoted};
use super::import_cut::import_cut;
use super::init::picture;
use crate::args::ImportArgs;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load::MAX_FILE_BYTES;
use crate::terminal;

pub(crate) async fn import(args: ImportArgs) -> Result<Exit, CommandError> {
    if let Some(workflow) = &args.into {
        return import_cut(&args, workflow).await;
    }
    if args.list.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("otio")) {
        let file = shell_quoted(&args.list);
        return Err(CommandError::invalid(format!("{file} is a cut, not a shot list"))
            .hint(format!("name its workflow: runner import {file} --into WORKFLOW.yaml")));
    }
    import_list(&args)
}

fn import_list(args: &ImportArgs) -> Result<Exit, CommandError> {
    let is_screenplay =
        args.list.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fountain"));
    let kind = if is_screenplay { SourceKind::Screenplay } else { SourceKind::ShotList };
    let mut bytes = Vec::new();
    fs_err::File::open(&args.list)
        .and_then(|open| open.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| CommandError::invalid(format!("cannot read the file to import: {error}")))?;
    let output = args.output.clone().unwrap_or_else(|| args.list.with_extension("yaml"));
    let to_stdout = output == Path::new("-");
    let named = if to_stdout { &args.list } else { &output };
    let options = Options {
        name: scaffold::name_for(&named.file_stem().unwrap_or_default().to_string_lossy()),
        picture: picture(&args.model),
        chain_scenes: args.chain.is_some(),
        columns: args.columns.clone(),
    };
    let list = args.list.display().to_string();
    let Imported { workflow, shots, report } =
        workflow::import::import(&bytes, &list, kind, &options, Contract::embedded())
            .map_err(CommandError::invalid)?;
    if !report.diagnostics.is_empty() {
        err!("{}", report.render(terminal::has_color()));
    }
    let Some(text) = workflow else { return Ok(Exit::InvalidInput) };
    if to_stdout {
        out!("{text}");
        return Ok(Exit::Done);
    }
    if output == args.list {
        return Err(CommandError::invalid(format!("{} is the file to import itself", output.display()))
            .hint("name another file with --output"));
    }
    atomic_write(&output, &text, args.overwrite)?;
    let file = shell_quoted(&output);
    outln!("wrote {file}: {shots} {}\n\nnext: runner plan {file}", if shots == 1 { "shot" } else { "shots" });
    Ok(Exit::Done)
}
