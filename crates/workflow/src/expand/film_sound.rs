//! The sound that lies over a film: its files, and the clips with which voices begin.

use super::film_clips::FilmCell;
use super::film_files::{self, FilmFiles};
use super::film_fit;
use crate::diagnostic::{Diagnostic, Problems, shortened};
use crate::media_gate::{MediaInfo, MediaKind};
use crate::plan::{Clip, FilmFile, Music, Soundtrack, Voice};
use crate::source::Spanned;
use crate::syntax::{Entry, MusicSpec, VoiceSpec, keys};
use crate::units::{Decibels, EditTime};

impl<'w> FilmCell<'_, 'w> {
    /// The sound of the film. What is invalid is reported and left out.
    pub(super) fn soundtrack(
        &self,
        clips: &[Clip],
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Soundtrack {
        let spec = &self.spec.soundtrack;
        let music = spec.music.as_ref().and_then(|music| self.music(music, files, problems));
        let voices: Vec<Voice> =
            spec.voices.iter().filter_map(|voice| self.voice(voice, clips, files, problems)).collect();
        if let Some(duck) = spec.music.as_ref().and_then(|music| music.duck.as_ref())
            && spec.voices.is_empty()
            && self.nobody_speaks(clips)
        {
            let message = "nobody speaks in this film: its music is not ducked";
            problems.push(
                Diagnostic::warning("no-dialogue", duck.span, message)
                    .help("write what is said in a shot, `dialogue: Who is there?`, or add a `voice`"),
            );
        }
        Soundtrack { music, voices, loudness: spec.loudness.as_ref().map(|loudness| loudness.value) }
    }

    fn nobody_speaks(&self, clips: &[Clip]) -> bool {
        let mut shown = clips.iter().flat_map(Clip::nodes).filter_map(|ix| self.nodes.get(ix.index()));
        !self.nodes.is_empty() && shown.all(|node| node.dialogue.is_none())
    }

    fn music(&self, spec: &'w MusicSpec, files: &mut FilmFiles, problems: &mut Problems) -> Option<Music> {
        let (file, info) = self.sound(&spec.file, &keys::soundtrack::MUSIC_FILE, files, problems)?;
        if let (Some(start), Some(length)) = (&spec.start, info.duration)
            && start.value.micros().is_some_and(|start| start >= length.as_micros())
        {
            let message = format!("`in: {}` is not in the music", start.value);
            problems.push(
                Diagnostic::error("bad-film", start.span, message)
                    .label(format!("the file has {length} s"))
                    .help(format!("begin within {length} s")),
            );
        }
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
        clips: &[Clip],
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Option<Voice> {
        let sound = self.sound(&spec.file, &keys::soundtrack::VOICE_FILE, files, problems);
        let clip = match &spec.at {
            None => 0,
            Some(shot_ref) => {
                let help = "`at` names a shot of the film, with which the voice begins";
                self.first_clip_of(shot_ref, clips, help, problems)?
            }
        };
        let delay: Option<EditTime> = value(spec.delay.as_ref());
        let gain: Decibels = value(spec.gain.as_ref()).unwrap_or_default();
        let (file, info) = sound?;
        let voice = Voice { file, clip, delay, gain };
        let span = spec.delay.as_ref().map_or_else(|| spec.file.span(), |delay| delay.span);
        film_fit::check_voice(&voice, info.duration, span, clips, self.nodes, problems);
        Some(voice)
    }

    fn sound(
        &self,
        entry: &'w Entry,
        key: &keys::KeySpec,
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Option<(FilmFile, MediaInfo)> {
        let (file, info) = files.medium(entry, key, self.scope, self.cx, problems)?;
        let name = file.path.display().to_string();
        if info.kind == MediaKind::Audio {
            let gate = self.cx.files.media_gate();
            if info.duration.is_some_and(|duration| duration > gate.max_sound_duration) {
                film_files::report(&name, entry.span(), &gate.sound_too_long(), problems);
                return None;
            }
            return Some((file, info));
        }
        let message =
            format!("`{}` cannot be used: it is no sound but {}", shortened(&name), info.media_type);
        problems.push(
            Diagnostic::error("bad-file", entry.span(), message)
                .help("name a sound file from the workflow's folder, such as `score.wav`"),
        );
        None
    }
}

fn value<T: Copy>(written: Option<&Spanned<T>>) -> Option<T> {
    written.map(|written| written.value)
}
