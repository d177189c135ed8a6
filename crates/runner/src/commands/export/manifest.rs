//! The C2PA manifest of a film: what made it, and of which clips (C2PA 2.1, "Content Credentials").
//!
//! The clips are ingredients of the film. Manifests that their services have put into them are kept within the film's own.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use c2pa::{Builder, Context, SigningAlg, create_signer};
use engine::film::FilmClip;
use media::{DigitalSource, MediaType};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde_json::json;

use crate::args::SigningAlgorithm;

/// IPTC's vocabulary of digital source types.
const SOURCE_TYPES: &str = "http://cv.iptc.org/newscodes/digitalsourcetype/";

/// Who signs.
pub(super) struct Identity {
    /// A chain of certificates in PEM, the signer's first.
    pub(super) certificates: Vec<u8>,
    /// PKCS #8 in PEM.
    pub(super) private_key: SecretSlice<u8>,
    pub(super) algorithm: SigningAlgorithm,
}

/// Why a film is not signed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignError {
    #[error("certificate and private key: {0}")]
    Identity(#[source] Box<c2pa::Error>),
    #[error("{name}: {source}")]
    Clip { name: String, source: Box<c2pa::Error> },
    #[error("{0}")]
    Manifest(#[source] Box<c2pa::Error>),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl From<c2pa::Error> for SignError {
    fn from(error: c2pa::Error) -> Self {
        Self::Manifest(Box::new(error))
    }
}

/// Writes `film` with a manifest to `output`. `source` is that of its pictures; `None` if no clip was generated.
pub(super) fn sign(
    film: &Path,
    output: &Path,
    clips: &[FilmClip],
    source: Option<DigitalSource>,
    identity: &Identity,
) -> Result<(), SignError> {
    let signer = create_signer::from_keys(
        &identity.certificates,
        identity.private_key.expose_secret(),
        algorithm(identity.algorithm),
        None,
    )
    .map_err(|error| SignError::Identity(Box::new(error)))?;
    // What was signed is read again. Whether somebody trusts the certificate is the reader's decision, and nothing is asked of the network.
    let settings = json!({"verify": {"verify_after_sign": true, "verify_trust": false, "ocsp_fetch": false}});
    let context = Context::new().with_settings(settings.to_string().as_str())?;
    let title = film.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = json!([{"name": "runner", "version": env!("CARGO_PKG_VERSION")}]);
    let definition = json!({"title": title, "format": "video/mp4", "claim_generator_info": program});
    let mut builder = Builder::from_context(context).with_definition(definition.to_string())?;
    let labels = add_clips(&mut builder, clips)?;
    builder.add_action(json!({"action": "c2pa.created", "digitalSourceType": source_type(source, clips)}))?;
    for label in labels {
        builder.add_action(json!({"action": "c2pa.placed", "parameters": {"ingredientIds": [label]}}))?;
    }
    let mut from = fs_err::File::open(film)?.into_file();
    let mut to = File::options().read(true).write(true).create_new(true).open(output)?;
    builder.sign(&*signer, "video/mp4", &mut from, &mut to)?;
    Ok(())
}

/// Adds each file that is shown once, with its own manifest where it has one. Returns their labels.
fn add_clips(builder: &mut Builder, clips: &[FilmClip]) -> Result<Vec<String>, SignError> {
    let mut seen = BTreeSet::new();
    let mut labels = Vec::new();
    for clip in clips.iter().filter(|clip| !clip.sha256.is_empty() && seen.insert(clip.sha256.as_str())) {
        let mut file = fs_err::File::open(&clip.path)?.into_file();
        // Other formats cannot hold a manifest.
        let Some(format) = format(&mut file)? else { continue };
        let label = format!("clip-{}", labels.len() + 1);
        let ingredient = json!({"title": clip.name, "relationship": "componentOf", "label": label});
        builder
            .add_ingredient_from_stream(ingredient.to_string(), format, &mut file)
            .map_err(|source| SignError::Clip { name: clip.name.clone(), source: Box::new(source) })?;
        labels.push(label);
    }
    Ok(labels)
}

/// The media type of a file, for which C2PA has a place in the file.
fn format(file: &mut File) -> std::io::Result<Option<&'static str>> {
    use std::io::{Read as _, Seek as _};

    let mut head = [0; 16];
    let length = file.read(&mut head)?;
    file.rewind()?;
    Ok(MediaType::sniff(&head[..length]).and_then(|media_type| match media_type {
        MediaType::Mp4 => Some("video/mp4"),
        MediaType::QuickTime => Some("video/quicktime"),
        MediaType::Png => Some("image/png"),
        MediaType::Jpeg => Some("image/jpeg"),
        MediaType::WebP => Some("image/webp"),
        _ => None,
    }))
}

/// Films of generated clips are what their clips are; with files of the user's own they are composites.
fn source_type(source: Option<DigitalSource>, clips: &[FilmClip]) -> String {
    let is_mixed = clips.iter().any(|clip| clip.node.is_none() && !clip.sha256.is_empty());
    let name = match (source, is_mixed) {
        (None, _) => "composite",
        (Some(DigitalSource::TrainedAlgorithmicMedia), false) => "trainedAlgorithmicMedia",
        (Some(DigitalSource::TrainedAlgorithmicMedia), true) => "compositeWithTrainedAlgorithmicMedia",
        (Some(DigitalSource::AlgorithmicMedia), false) => "algorithmicMedia",
        (Some(DigitalSource::AlgorithmicMedia), true) => "compositeSynthetic",
    };
    format!("{SOURCE_TYPES}{name}")
}

fn algorithm(algorithm: SigningAlgorithm) -> SigningAlg {
    match algorithm {
        SigningAlgorithm::Es256 => SigningAlg::Es256,
        SigningAlgorithm::Es384 => SigningAlg::Es384,
        SigningAlgorithm::Es512 => SigningAlg::Es512,
        SigningAlgorithm::Ps256 => SigningAlg::Ps256,
        SigningAlgorithm::Ps384 => SigningAlg::Ps384,
        SigningAlgorithm::Ps512 => SigningAlg::Ps512,
        SigningAlgorithm::Ed25519 => SigningAlg::Ed25519,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use c2pa::{Reader, ValidationState};
    use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
    use timeline::ClipKind;
    use workflow::plan::NodeIx;

    use super::*;

    fn identity(key: &[u8]) -> Identity {
        Identity {
            certificates: include_bytes!("../../../tests/signing/certificates.pem").to_vec(),
            private_key: SecretSlice::from(key.to_vec()),
            algorithm: SigningAlgorithm::Es256,
        }
    }

    const KEY: &[u8] = include_bytes!("../../../tests/signing/key.pem");

    fn video(path: &Path, gray: u8) {
        let mut writer = ClipWriter::new(ClipSpec::new(64, 48, FrameRate::new(8, 1).unwrap())).unwrap();
        let mut picture = RgbImage::new(64, 48);
        picture.pixels_mut().fill(gray);
        (0..8).for_each(|_| writer.push_frame(&picture).unwrap());
        fs_err::write(path, writer.finish().unwrap()).unwrap();
    }

    fn clip(name: &str, path: PathBuf, node: Option<usize>) -> FilmClip {
        FilmClip {
            node: node.map(NodeIx::new),
            kind: ClipKind::Video,
            name: name.to_owned(),
            sha256: path.to_string_lossy().into_owned(),
            path,
        }
    }

    fn reader(path: &Path) -> Reader {
        let settings = json!({"verify": {"verify_trust": false}}).to_string();
        let context = Context::new().with_settings(settings.as_str()).unwrap();
        Reader::from_context(context)
            .with_stream("video/mp4", fs_err::File::open(path).unwrap().into_file())
            .unwrap()
    }

    /// A clip that its service has signed, one without a manifest, the first one again, and a title, which is no file.
    #[test]
    fn film_has_its_clips_and_their_manifests() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for (name, gray) in [("plain.mp4", 40), ("sea.mp4", 90), ("film.mp4", 140)] {
            video(&file(name), gray);
        }
        let trained = Some(DigitalSource::TrainedAlgorithmicMedia);
        sign(&file("plain.mp4"), &file("door.mp4"), &[], trained, &identity(KEY)).unwrap();
        let title =
            FilmClip { kind: ClipKind::Card, sha256: String::new(), ..clip("A title", PathBuf::new(), None) };
        let clips = [
            clip("door", file("door.mp4"), Some(0)),
            clip("sea", file("sea.mp4"), Some(1)),
            clip("door", file("door.mp4"), Some(0)),
            title,
        ];
        sign(&file("film.mp4"), &file("signed.mp4"), &clips, trained, &identity(KEY)).unwrap();

        let signed = reader(&file("signed.mp4"));
        assert_eq!(signed.validation_state(), ValidationState::Valid, "{}", signed.json());
        let manifest = signed.active_manifest().unwrap();
        assert_eq!(manifest.title(), Some("film.mp4"));
        let titles: Vec<_> = manifest.ingredients().iter().map(|ingredient| ingredient.title()).collect();
        assert_eq!(titles, [Some("door"), Some("sea")]);
        // The manifest of the first clip is kept within that of the film.
        assert!(manifest.ingredients()[0].active_manifest().is_some());
        assert!(manifest.ingredients()[1].active_manifest().is_none());
        assert_eq!(signed.manifests().len(), 2);
        let actions = signed.json();
        assert!(
            actions.contains("digitalsourcetype/trainedAlgorithmicMedia") && actions.contains("c2pa.placed")
        );
        // It still plays, and a changed picture is found.
        assert_eq!(media::probe(&file("signed.mp4")).unwrap().video.unwrap().frames, 8);
        let mut bytes = fs_err::read(file("signed.mp4")).unwrap();
        let mdat = bytes.windows(4).rposition(|name| name == b"mdat").unwrap();
        bytes[mdat + 40] ^= 1;
        fs_err::write(file("changed.mp4"), bytes).unwrap();
        assert_eq!(reader(&file("changed.mp4")).validation_state(), ValidationState::Invalid);
    }

    #[test]
    fn unusable_identity_is_refused_without_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let film = folder.path().join("film.mp4");
        video(&film, 90);
        let output = folder.path().join("signed.mp4");
        let error = sign(&film, &output, &[], None, &identity(b"no key")).unwrap_err();
        assert!(matches!(error, SignError::Identity(_)), "{error}");
        assert!(!output.exists());
    }

    #[test]
    fn source_type_depends_on_what_is_shown() {
        let generated = clip("door", "door.mp4".into(), Some(0));
        let own = clip("logo", "logo.png".into(), None);
        let name =
            |source, clips: &[FilmClip]| source_type(source, clips).rsplit('/').next().unwrap().to_owned();
        let trained = Some(DigitalSource::TrainedAlgorithmicMedia);
        assert_eq!(name(trained, std::slice::from_ref(&generated)), "trainedAlgorithmicMedia");
        assert_eq!(name(trained, &[generated.clone(), own.clone()]), "compositeWithTrainedAlgorithmicMedia");
        let preview = Some(DigitalSource::AlgorithmicMedia);
        assert_eq!(name(preview, std::slice::from_ref(&generated)), "algorithmicMedia");
        assert_eq!(name(preview, &[generated, own.clone()]), "compositeSynthetic");
        assert_eq!(name(None, &[own]), "composite");
    }
}
