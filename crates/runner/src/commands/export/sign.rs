//! `runner export --sign`: the finished film with a signed C2PA manifest.

use engine::film::FilmClip;
use workflow::plan::Film;

use super::FilmProject;
use crate::args::ExportArgs;
use crate::error::CommandError;
use crate::exit::Exit;

#[cfg(not(feature = "sign"))]
pub(super) fn export(
    _: &ExportArgs,
    _: &FilmProject<'_>,
    _: &Film,
    _: &[FilmClip],
) -> Result<Exit, CommandError> {
    Err(CommandError::invalid("this program was built without the feature `sign`")
        .hint("build one that has it: cargo install --path crates/runner --features sign"))
}

#[cfg(feature = "sign")]
pub(super) fn export(
    args: &ExportArgs,
    project: &FilmProject<'_>,
    film: &Film,
    film_clips: &[FilmClip],
) -> Result<Exit, CommandError> {
    use secrecy::SecretSlice;

    use super::film_to_export::FilmToExport;
    use super::manifest::{self, Identity};

    let (Some(certificates), Some(key)) = (&args.signing.certificates, &args.signing.private_key) else {
        return Err(CommandError::invalid("--sign needs a certificate and its private key")
            .hint("name them: --certificates chain.pem --private-key key.pem"));
    };
    let read = |path: &std::path::Path| {
        fs_err::read(path).map_err(|error| CommandError::invalid(format!("cannot read: {error}")))
    };
    let identity = Identity {
        certificates: read(certificates)?,
        private_key: SecretSlice::from(read(key)?),
        algorithm: args.signing.algorithm,
    };
    let finished = FilmToExport::new(args, project, film, film_clips, "signed.mp4")?;
    let scratch = finished.scratch()?;
    let new = scratch.path().join("film");
    let source = film_clips.iter().any(|clip| clip.node.is_some()).then_some(finished.source);
    manifest::sign(&finished.path, &new, film_clips, source, &identity)
        .map_err(|error| CommandError::invalid(format!("the film cannot be signed: {error}")))?;
    finished.publish(&new)?;
    Ok(Exit::Done)
}
