//! The sound that lies over a film: its files, and the clips with which voices begin.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::ExpandCx;
use super::media::path_inside;
use super::resolve::RefResolver;
use crate::diagnostic::{Diagnostic, Problems};
use crate::files::FileError;
use crate::matrix::Cell;
use crate::media_gate::{MediaError, MediaKind};
use crate::plan::{Clip, Music, Node, SoundFile, Soundtrack, Voice};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entry, FilmSpec, MusicSpec, VoiceSpec, keys};
use crate::template::Scope;
use crate::units::{Decibels, EditTime};

/// Sound files of films, each read once.
#[derive(Default)]
pub(super) struct SoundFiles {
    known: HashMap<String, Result<SoundFile, MediaError>>,
}

/// A film in one cell of the workflow's matrix.
pub(super) struct FilmCell<'a, 'w> {
    pub(super) spec: &'w FilmSpec,
    pub(super) resolver: &'a RefResolver<'a, 'w>,
    pub(super) cell: &'a Cell,
    /// What its templates may use.
    pub(super) scope: &'a Scope,
    pub(super) clips: &'a [Clip],
    /// Empty where they are not known.
    pub(super) nodes: &'a [Node],
}

impl<'w> FilmCell<'_, 'w> {
    /// The sound of the film. What is invalid is reported and left out.
    pub(super) fn soundtrack(
        &self,
        files: &mut SoundFiles,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Soundtrack {
        let spec = &self.spec.soundtrack;
        let music = spec.music.as_ref().and_then(|music| self.music(music, files, cx, problems));
        let voices: Vec<Voice> =
            spec.voices.iter().filter_map(|voice| self.voice(voice, files, cx, problems)).collect();
        if let Some(duck) = spec.music.as_ref().and_then(|music| music.duck.as_ref())
            && spec.voices.is_empty()
            && self.nobody_speaks()
        {
            let message = "nobody speaks in this film: its music is not ducked";
            problems.push(
                Diagnostic::warning("no-dialogue", duck.span, message)
                    .help("write what is said in a shot, `dialogue: Who is there?`, or add a `voice`"),
            );
        }
        Soundtrack { music, voices, loudness: spec.loudness.as_ref().map(|loudness| loudness.value) }
    }

    fn nobody_speaks(&self) -> bool {
        let mut shown = self.clips.iter().flat_map(Clip::nodes).filter_map(|ix| self.nodes.get(ix.index()));
        !self.nodes.is_empty() && shown.all(|node| node.dialogue.is_none())
    }

    fn music(
        &self,
        spec: &'w MusicSpec,
        files: &mut SoundFiles,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Music> {
        let file = self.file(&spec.file, &keys::soundtrack::MUSIC_FILE, files, cx, problems)?;
        Some(Music {
            file,
            gain: value(spec.gain.as_ref()).unwrap_or_default(),
            start: value(spec.start.as_ref()),
            repeat: spec.repeat,
            fade_in: value(spec.fade_in.as_ref()),
            fade_out: value(spec.fade_out.as_ref()),
            duck: value(spec.duck.as_ref()).unwrap_or_default(),
        })
    }

    fn voice(
        &self,
        spec: &'w VoiceSpec,
        files: &mut SoundFiles,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Voice> {
        let file = self.file(&spec.file, &keys::soundtrack::VOICE_FILE, files, cx, problems);
        let clip = match &spec.at {
            None => 0,
            Some(at) => match self.resolver.clips(self.cell, at) {
                Ok(shown) => {
                    let clip = self.clips.iter().position(|clip| shown.contains(&clip.source));
                    if clip.is_none() && !self.clips.is_empty() {
                        let message = format!("the film does not show `{}`", at.value);
                        problems.push(
                            Diagnostic::error("bad-film", at.span, message)
                                .help("`at` names a shot of the film, with which the voice begins"),
                        );
                    }
                    clip?
                }
                Err(diagnostic) => {
                    problems.push(*diagnostic);
                    return None;
                }
            },
        };
        let delay: Option<EditTime> = value(spec.delay.as_ref());
        let gain: Decibels = value(spec.gain.as_ref()).unwrap_or_default();
        Some(Voice { file: file?, clip, delay, gain })
    }

    fn file(
        &self,
        entry: &'w Entry,
        key: &keys::KeySpec,
        files: &mut SoundFiles,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<SoundFile> {
        let value = cx.templates.render(&entry.value, self.scope, problems)?;
        let name = syntax::expect_text(&value, key, entry.key.span, problems)?;
        let known = files.known.entry(name.value.clone()).or_insert_with(|| inspect(&name.value, cx));
        match known {
            Ok(file) => Some(file.clone()),
            Err(error) => {
                report(&name.value, entry.span(), error, problems);
                None
            }
        }
    }
}

fn value<T: Copy>(written: Option<&Spanned<T>>) -> Option<T> {
    written.map(|written| written.value)
}

fn report(name: &str, span: Span, error: &MediaError, problems: &mut Problems) {
    let message = format!("`{}` cannot be used: {}", super::shortened(name), error.message);
    problems.push(Diagnostic::error("bad-file", span, message).help(error.help.clone()));
}

fn inspect(path: &str, cx: &ExpandCx<'_>) -> Result<SoundFile, MediaError> {
    let refuse = |message: String| MediaError {
        message,
        help: "name a sound file from the workflow's folder, such as `score.wav`".to_owned(),
    };
    let inside = path_inside(path, cx).map_err(refuse)?;
    let gate = cx.files.media_gate();
    let bytes = cx.files.read(&inside, gate.max_sound_bytes).map_err(|error| match error {
        FileError::TooLarge => gate.sound_too_large(),
        other => refuse(other.to_string()),
    })?;
    let info = (gate.inspect)(&bytes)?;
    if info.kind != MediaKind::Audio {
        return Err(refuse(format!("it is no sound but {}", info.media_type)));
    }
    Ok(SoundFile { path: inside, sha256: hex::encode(Sha256::digest(&bytes)) })
}
