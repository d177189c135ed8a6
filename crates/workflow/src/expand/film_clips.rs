//! The clips of a film: shots, files of one's own, and titles.

use super::ExpandCx;
use super::fields::{is_left_out, is_literal};
use super::film_edit::{self, ClipContent};
use super::film_files::{FilmFiles, Font};
use super::film_fit;
use super::resolve::{EXCLUDED, RefResolver};
use crate::diagnostic::{Diagnostic, Problems, grouped, shortened};
use crate::limits;
use crate::matrix::MatrixCell;
use crate::media_gate::MediaKind;
use crate::plan::{Clip, ClipSource, Node, Poster, Title, TitleStyle};
use crate::source::{Span, Spanned};
use crate::syntax::{
    self, ClipSourceSpec, ClipSpec, Entry, FilmSpec, PosterSpec, Shot, ShotRef, TitleSpec, Workflow, keys,
};
use crate::template::Scope;
use crate::units::EditTime;
use crate::yaml::YamlValue;

/// How long an image or a title on black is shown that states nothing.
const STILL_LENGTH: EditTime = EditTime::Micros(3_000_000);

/// A film in one cell of the workflow's matrix.
pub(super) struct FilmCell<'a, 'w> {
    pub(super) spec: &'w FilmSpec,
    pub(super) resolver: &'a RefResolver<'a, 'w>,
    pub(super) cell: &'a MatrixCell,
    /// What its templates may use.
    pub(super) scope: &'a Scope,
    /// Empty where they are not known.
    pub(super) nodes: &'a [Node],
    pub(super) cx: &'a ExpandCx<'w>,
}

impl<'w> FilmCell<'_, 'w> {
    /// The clips of the film. What is invalid is reported and left out.
    pub(super) fn clips(
        &self,
        workflow: &'w Workflow,
        font: Option<&Font>,
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Vec<Clip> {
        let Some(specs) = &self.spec.clips else { return self.all_shots(workflow, problems) };
        if specs.is_empty() {
            problems.error("bad-film", self.spec.key.span, "this film shows nothing");
        }
        let mut clips = Vec::new();
        let mut transitions = Vec::new();
        let (mut left_out, mut is_last_left_out) = (None, false);
        for (index, spec) in specs.iter().enumerate() {
            if problems.full() || clips.len() > limits::MAX_CLIPS {
                break;
            }
            let is_last = index + 1 == specs.len();
            let title = spec.title.as_ref().and_then(|title| self.title(title, spec, font, files, problems));
            is_last_left_out = false;
            let shown = match &spec.source {
                ClipSourceSpec::Shot(shot) => self
                    .resolver
                    .clips(self.cell, shot)
                    .map(|shown| self.shots(shown, (shot, spec), title.as_ref(), is_last, problems)),
                ClipSourceSpec::Group(group) => self.group(group, spec, workflow, is_last, problems),
                ClipSourceSpec::File(file) => {
                    Ok(self.file(file, spec, title, is_last, files, problems).into_iter().collect())
                }
                ClipSourceSpec::Card => {
                    let name = title.as_ref().map_or("", |title| &title.text);
                    film_edit::check(spec, &ClipContent::still(name), is_last, problems);
                    Ok(vec![still(spec, ClipSource::Card, title)])
                }
            };
            match shown {
                Ok(shown) => {
                    clips.extend(shown);
                    transitions
                        .resize(clips.len(), spec.transition.as_ref().map(|transition| transition.span));
                }
                // The film does without it, as without those of a shot's instances that are excluded.
                Err(diagnostic) if diagnostic.code == EXCLUDED => {
                    left_out.get_or_insert(diagnostic);
                    is_last_left_out = true;
                }
                Err(diagnostic) => problems.push(*diagnostic),
            }
        }
        match (clips.last_mut(), left_out) {
            (None, Some(diagnostic)) => problems.push(*diagnostic),
            // What it would go over into is not there.
            (Some(last), _) if is_last_left_out => {
                last.transition = last.transition.filter(|transition| transition.kind.is_fade());
            }
            _ => {}
        }
        film_fit::check_transitions(&clips, &transitions, self.nodes, problems);
        clips
    }

    fn all_shots(&self, workflow: &'w Workflow, problems: &mut Problems) -> Vec<Clip> {
        let shown = self.instances(workflow.shots.iter(), self.spec.key.span, problems);
        shown.into_iter().map(|(_, source)| Clip::whole(source)).collect()
    }

    /// The instances of shots that are not named one by one, each with its shot. Excluded ones are left out.
    fn instances<'s>(
        &self,
        shots: impl Iterator<Item = &'s Shot>,
        span: Span,
        problems: &mut Problems,
    ) -> Vec<(&'s str, ClipSource)> {
        let mut instances = Vec::new();
        for shot in shots {
            let id = &shot.id.value;
            let everything = ShotRef { shot: id.clone(), cell: None, take: None };
            match self.resolver.clips(self.cell, &Spanned::new(everything, span)) {
                Ok(shown) => instances.extend(shown.into_iter().map(|source| (id.as_str(), source))),
                Err(diagnostic) if diagnostic.code == EXCLUDED => {}
                Err(diagnostic) => problems.push(*diagnostic),
            }
        }
        instances
    }

    /// All shots of a group. Levels and speed are those of each; the transition follows the last one.
    fn group(
        &self,
        group: &Spanned<String>,
        spec: &ClipSpec,
        workflow: &'w Workflow,
        is_last: bool,
        problems: &mut Problems,
    ) -> Result<Vec<Clip>, Box<Diagnostic>> {
        let broken_before = problems.any();
        let shown = self.instances(workflow.shots_of(&group.value), group.span, problems);
        if shown.is_empty() && !broken_before && !problems.any() {
            let message = format!("all shots of the group `{}` are excluded by `when`", group.value);
            let diagnostic = Diagnostic::error(EXCLUDED, group.span, message);
            return Err(Box::new(diagnostic.help("remove it here too, or change the `when` of its shots")));
        }
        let inner = ClipSpec { transition: None, ..spec.clone() };
        let count = shown.len();
        let clip = |(index, (shot, source)): (usize, (&str, ClipSource))| {
            let is_end = index + 1 == count;
            let spec = if is_end { spec } else { &inner };
            film_edit::check(
                spec,
                &ClipContent::nodes(shot, &source, self.nodes),
                is_last && is_end,
                problems,
            );
            spec.with_source(source, None)
        };
        Ok(shown.into_iter().enumerate().map(clip).collect())
    }

    fn shots(
        &self,
        shown: Vec<ClipSource>,
        (shot, spec): (&Spanned<ShotRef>, &ClipSpec),
        title: Option<&Title>,
        is_last: bool,
        problems: &mut Problems,
    ) -> Vec<Clip> {
        let (name, count) = (shot.value.to_string(), shown.len());
        let clip = |(index, source): (usize, ClipSource)| {
            let shown = ClipContent::nodes(&name, &source, self.nodes);
            film_edit::check(spec, &shown, is_last && index + 1 == count, problems);
            spec.with_source(source, title.cloned())
        };
        shown.into_iter().enumerate().map(clip).collect()
    }

    fn file(
        &self,
        entry: &'w Entry,
        spec: &ClipSpec,
        title: Option<Title>,
        is_last: bool,
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Option<Clip> {
        let (file, info) = files.medium(entry, &keys::film::CLIP_FILE, self.scope, self.cx, problems)?;
        let name = file.path.display().to_string();
        match info.kind {
            MediaKind::Video => {
                film_edit::check(spec, &ClipContent::file(&name, info.duration), is_last, problems);
                Some(spec.with_source(ClipSource::Video(file), title))
            }
            MediaKind::Image => {
                film_edit::check(spec, &ClipContent::still(&name), is_last, problems);
                refuse_on_image(spec, &name, problems);
                Some(still(spec, ClipSource::Image(file), title))
            }
            MediaKind::Audio => {
                let message = format!("`{}` has no frames: it is {}", shortened(&name), info.media_type);
                let help = "name a video or an image; sounds lie over the film as `music` or `voice`";
                problems.push(Diagnostic::error("bad-file", entry.span(), message).help(help));
                None
            }
        }
    }

    /// The frame that stands for the film.
    pub(super) fn poster(&self, clips: &[Clip], problems: &mut Problems) -> Option<Poster> {
        match self.spec.poster.as_ref()? {
            PosterSpec::At(time) => Some(Poster::At(time.value)),
            PosterSpec::Shot(shot) => {
                let help = "`poster` names a shot of the film, or a time such as `3s`";
                self.first_clip_of(shot, clips, help, problems).map(Poster::Clip)
            }
        }
    }

    /// The index of the clip in which a shot is shown first; `None` if `when` excludes the shot. That it is not shown otherwise is reported.
    pub(super) fn first_clip_of(
        &self,
        shot: &'w Spanned<ShotRef>,
        clips: &[Clip],
        help: &str,
        problems: &mut Problems,
    ) -> Option<usize> {
        let shown = match self.resolver.clips(self.cell, shot) {
            Ok(shown) => shown,
            Err(diagnostic) if diagnostic.code == EXCLUDED => return None,
            Err(diagnostic) => {
                problems.push(*diagnostic);
                return None;
            }
        };
        let clip = clips.iter().position(|clip| shown.contains(&clip.source));
        if clip.is_none() && !clips.is_empty() {
            let message = format!("the film does not show `{}`", shot.value);
            problems.push(Diagnostic::error("bad-film", shot.span, message).help(help));
        }
        clip
    }

    fn title(
        &self,
        spec: &'w TitleSpec,
        clip: &ClipSpec,
        font: Option<&Font>,
        files: &mut FilmFiles,
        problems: &mut Problems,
    ) -> Option<Title> {
        let mut value = self.cx.templates.render(&spec.text.value, self.scope, problems)?;
        if !is_literal(&spec.text.value) {
            if is_left_out(&value) && !matches!(clip.source, ClipSourceSpec::Card) {
                return None;
            }
            // Such as a year out of a table.
            if let YamlValue::Number(number) = &value.value {
                value.value = YamlValue::Text(number.to_string());
            }
        }
        let text = syntax::expect_text(&value, &keys::film::TITLE, spec.text.key.span, problems)?;
        let text = Spanned::new(text.value.trim().to_owned(), spec.text.span());
        let refuse = |message: String, help: &str, problems: &mut Problems| {
            problems.push(Diagnostic::error("bad-film", text.span, message).help(help));
            None
        };
        if text.value.is_empty() {
            return refuse("this title is empty".to_owned(), "write its text, or remove `title`", problems);
        }
        if text.value.chars().count() > limits::MAX_TITLE_CHARS {
            let max_chars = grouped(limits::MAX_TITLE_CHARS as u128);
            let message = format!("this title has more than {max_chars} characters");
            return refuse(message, "shorten it, or spread it over several clips", problems);
        }
        files.check_characters(&text, font);
        let default = match clip.source {
            ClipSourceSpec::Card => TitleStyle::Card,
            ClipSourceSpec::Shot(_) | ClipSourceSpec::Group(_) | ClipSourceSpec::File(_) => {
                TitleStyle::LowerThird
            }
        };
        Some(Title { text: text.value, style: spec.style.unwrap_or(default) })
    }
}

/// What stands still has a length.
fn still(spec: &ClipSpec, source: ClipSource, title: Option<Title>) -> Clip {
    let clip = spec.with_source(source, title);
    Clip { length: clip.length.or(Some(STILL_LENGTH)), ..clip }
}

fn refuse_on_image(spec: &ClipSpec, name: &str, problems: &mut Problems) {
    let written = [
        ("in", spec.start.as_ref().map(|time| time.span)),
        ("out", spec.end.as_ref().map(|time| time.span)),
        ("speed", spec.speed.as_ref().map(|speed| speed.span)),
        ("gain", spec.gain.as_ref().map(|gain| gain.span)),
    ];
    for (key, span) in written {
        if let Some(span) = span {
            let message = format!("`{}` is an image, which has no `{key}`", shortened(name));
            problems.push(
                Diagnostic::error("bad-film", span, message).help("say how long it is shown: `seconds: 2`"),
            );
        }
    }
}
