//! Media of an instance: first frame, last frame and references, resolved to other instances, files or URLs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::cast::{Cast, CastList};
use super::dedup::DiagnosticDedup;
use super::expansion::{Expansion, Instance};
use super::fields::{is_left_out, is_literal};
use super::media::{self, LocalMedia, MediumSpec};
use super::resolve::{RefResolver, ResolvedRef};
use super::urls::is_data_uri;
use super::{ExpandCx, cast_media, request_size};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::media_gate::{MediaGateError, MediaKind};
use crate::plan::{Frame, MediaSource};
use crate::source::{Span, Spanned};
use crate::syntax::{self, ShotRef, Workflow};
use crate::template::Scope;
use crate::yaml::Yaml;

/// The role of a medium in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    FirstFrame,
    LastFrame,
    Reference(MediaKind),
}

/// A medium that an instance uses.
#[derive(Clone, Debug)]
pub(super) struct MediumUse {
    pub(super) slot: Slot,
    pub(super) medium: InputMedium,
    /// The shot's key that names it, and the span of the value.
    pub(super) key: &'static str,
    pub(super) span: Span,
}

/// Where the file names a medium: the key, the spans of key and value, the medium's role.
pub(super) struct MediumSite {
    pub(super) key: &'static str,
    pub(super) key_span: Span,
    pub(super) span: Span,
    pub(super) slot: Slot,
}

#[derive(Clone, Debug)]
pub(super) enum InputMedium {
    /// A string.
    Url(Arc<Value>),
    File(Arc<MediaSource>),
    /// A frame of another instance, or of one of several takes that is not picked yet.
    Instance {
        resolved: ResolvedRef,
        frame: Frame,
    },
}

/// The kind of an inspected medium, which a stated `type` has to agree with.
fn agreed_kind(stated: Option<MediaKind>, inspected: MediaKind) -> Result<MediaKind, MediaGateError> {
    match stated.filter(|stated| *stated != inspected) {
        None => Ok(inspected),
        Some(stated) => Err(MediaGateError {
            message: format!("`type` is `{}`, and the contents are {}", stated.as_str(), inspected.as_str()),
            help: "leave `type` out: it is derived from the contents".to_owned(),
        }),
    }
}

/// Whether each instance is continued: some instance uses its last frame.
///
/// All takes of a cell are marked if one of them is, so that picking another take changes no request.
pub(super) fn continued(media: &[Vec<MediumUse>], expansion: &Expansion<'_>) -> Vec<bool> {
    let mut cells = HashSet::new();
    for used in media.iter().flatten() {
        let continued: &[usize] = match &used.medium {
            InputMedium::Instance { resolved: ResolvedRef::Instance(index), frame: Frame::Last } => {
                std::slice::from_ref(index)
            }
            InputMedium::Instance { resolved: ResolvedRef::OpenPick(candidates), frame: Frame::Last } => {
                candidates
            }
            InputMedium::Instance { .. } | InputMedium::Url(_) | InputMedium::File(_) => &[],
        };
        cells.extend(continued.iter().map(|index| {
            let instance = &expansion.instances[*index];
            (instance.shot, instance.cell)
        }));
    }
    expansion.instances.iter().map(|instance| cells.contains(&(instance.shot, instance.cell))).collect()
}

/// An instance, and what its media are resolved with.
pub(super) struct MediaCx<'a, 'w> {
    pub(super) index: usize,
    pub(super) scope: &'a Scope,
    pub(super) cast: &'a Cast<'w>,
    /// The characters that it shows.
    pub(super) listed: &'a CastList,
    pub(super) cx: &'a ExpandCx<'w>,
}

/// Resolves the media of instances; reads and decodes each local file once.
pub(super) struct MediaResolver<'s, 'w> {
    resolver: &'s RefResolver<'s, 'w>,
    local: LocalMedia,
    /// The media of entries without templates that name no shot, by shot and key: those of every instance.
    literal: HashMap<(usize, &'static str), Vec<MediumUse>>,
    /// Media of all instances.
    count: usize,
}

impl<'s, 'w> MediaResolver<'s, 'w> {
    pub(super) fn new(resolver: &'s RefResolver<'s, 'w>) -> Self {
        Self { resolver, local: LocalMedia::default(), literal: HashMap::new(), count: 0 }
    }

    /// All media of one instance: first frame, last frame, references, those of the characters.
    pub(super) fn media_of(
        &mut self,
        icx: &MediaCx<'_, 'w>,
        dedup: &mut DiagnosticDedup,
        problems: &mut Problems,
    ) -> Vec<MediumUse> {
        let MediaCx { index, scope, cx, .. } = *icx;
        let workflow: &'w Workflow = self.resolver.workflow;
        let shot_index = self.resolver.expansion.instances[index].shot;
        let shot = &workflow.shots[shot_index];
        let mut uses = Vec::new();
        if self.count > limits::MAX_TOTAL_MEDIA {
            return uses;
        }
        if let Some(continues) = &shot.continues
            && let Some(medium) = self.continued_frame(index, &continues.shot, dedup)
        {
            uses.push(MediumUse {
                slot: Slot::FirstFrame,
                medium,
                key: "continues",
                span: continues.shot.span,
            });
        }
        let entries = [
            (shot.first_frame.as_ref(), "first_frame", Slot::FirstFrame),
            (shot.last_frame.as_ref(), "last_frame", Slot::LastFrame),
            (shot.references.as_deref(), "references", Slot::Reference(MediaKind::Image)),
        ];
        for (entry, key, slot) in entries {
            let Some(entry) = entry else { continue };
            if let Some(cached) = self.literal.get(&(shot_index, key)) {
                uses.extend(cached.iter().cloned());
                continue;
            }
            let (first, reported) = (uses.len(), dedup.total());
            let Some(rendered) = cx.templates.render(&entry.value, scope, problems) else { continue };
            let items = match slot {
                Slot::Reference(_) => syntax::one_or_many(&rendered),
                Slot::FirstFrame | Slot::LastFrame => std::slice::from_ref(&rendered),
            };
            // An optional picture of a table is one expression.
            let is_left_out = |item: &&Yaml| {
                let named = ["file", "url"].into_iter().filter_map(|member| item.get(member));
                !is_literal(&entry.value)
                    && (is_left_out(item) || named.into_iter().any(|(_, name)| is_left_out(name)))
            };
            for item in items.iter().filter(|item| !is_left_out(item)) {
                let Some(named) = media::read(item, key, entry.key.span, problems) else { continue };
                let site =
                    MediumSite { key, slot, span: item.span.or(entry.key.span), key_span: entry.key.span };
                uses.extend(self.media(index, named, &site, cx, dedup));
                if self.too_many(index, &uses, site.span, dedup) {
                    return Vec::new();
                }
            }
            let is_fixed = is_literal(&entry.value) && dedup.total() == reported;
            if is_fixed
                && !problems.any()
                && uses[first..].iter().all(|used| !matches!(used.medium, InputMedium::Instance { .. }))
            {
                self.literal.insert((shot_index, key), uses[first..].to_vec());
            }
        }
        if let Some(entry) = &shot.cast {
            self.add_characters(icx, is_literal(&entry.value), &mut uses, dedup, problems);
            if self.too_many(index, &uses, entry.key.span, dedup) {
                return Vec::new();
            }
        }
        self.count += uses.len();
        if self.count > limits::MAX_TOTAL_MEDIA {
            let message =
                format!("the instances up to this one take more than {} media", limits::MAX_TOTAL_MEDIA);
            let diagnostic = Diagnostic::error("matrix-too-large", shot.id.span, message);
            dedup.add(
                &self.resolver.expansion.instances[index],
                diagnostic.help("use fewer references or instances"),
            );
        }
        request_size::check_media(self.instance(index), &uses, cx, dedup);
        uses
    }

    /// Adds the media of the characters; `named_literally` says that all instances show the same.
    fn add_characters(
        &mut self,
        icx: &MediaCx<'_, 'w>,
        named_literally: bool,
        uses: &mut Vec<MediumUse>,
        dedup: &mut DiagnosticDedup,
        problems: &mut Problems,
    ) {
        let key = (self.instance(icx.index).shot, "cast");
        if let Some(cached) = self.literal.get(&key) {
            uses.extend(cached.iter().cloned());
            return;
        }
        let reported = dedup.total();
        let media = cast_media::of_characters(self, icx, dedup, problems);
        if named_literally
            && cast_media::are_literal(icx.cast, icx.listed)
            && dedup.total() == reported
            && !problems.any()
        {
            self.literal.insert(key, media.clone());
        }
        uses.extend(media);
    }

    /// Whether an instance has more media than a request may take, which is reported.
    fn too_many(&self, index: usize, uses: &[MediumUse], span: Span, dedup: &mut DiagnosticDedup) -> bool {
        if uses.len() <= limits::MAX_MEDIA {
            return false;
        }
        let message = format!("a request takes more than {} media", limits::MAX_MEDIA);
        let diagnostic = Diagnostic::error("matrix-too-large", span, message);
        let help = "name single instances, such as `{shot: looks@look=noir}`";
        dedup.add(self.instance(index), diagnostic.help(help));
        true
    }

    /// An instance by its index.
    pub(super) fn instance(&self, index: usize) -> &'s Instance {
        &self.resolver.expansion.instances[index]
    }

    /// The media that a value names.
    pub(super) fn media(
        &mut self,
        index: usize,
        named: MediumSpec,
        site: &MediumSite,
        cx: &ExpandCx<'w>,
        dedup: &mut DiagnosticDedup,
    ) -> Vec<MediumUse> {
        let MediumSite { key, slot, span, key_span } = *site;
        let (media, kind, span) = match named {
            MediumSpec::Shot { reference, frame } => {
                let is_first_frame = key == "first_frame";
                let media = match slot {
                    Slot::Reference(_) => self.frames(index, &reference, frame, dedup),
                    Slot::FirstFrame | Slot::LastFrame => {
                        self.frame(index, &reference, frame, is_first_frame, dedup).into_iter().collect()
                    }
                };
                (media, MediaKind::Image, reference.span)
            }
            // Its declared media type is not considered, and neither is a `type` that is derived from that.
            MediumSpec::Url { url, .. } if is_data_uri(&url) => match self.local.data_uri(&url, cx) {
                Ok(inline) => (vec![InputMedium::Url(Arc::new(url.into()))], inline.kind, span),
                Err(MediaGateError { message, help }) => {
                    let diagnostic = Diagnostic::error("bad-medium", span, message).help(help);
                    dedup.add(&self.resolver.expansion.instances[index], diagnostic);
                    return Vec::new();
                }
            },
            MediumSpec::Url { url, kind } => {
                (vec![InputMedium::Url(Arc::new(url.into()))], kind.unwrap_or(MediaKind::Image), span)
            }
            MediumSpec::FileFrame { path, frame } => match self.local.file_frame(&path, frame, cx) {
                Ok(source) => (vec![InputMedium::File(Arc::new(source))], MediaKind::Image, span),
                Err(MediaGateError { message, help }) => {
                    let diagnostic = Diagnostic::error("bad-file", span, format!("`{path}`: {message}"));
                    dedup.add(&self.resolver.expansion.instances[index], diagnostic.help(help));
                    return Vec::new();
                }
            },
            MediumSpec::File { path, kind } => {
                let inspected = self.local.file(&path, cx);
                match inspected.and_then(|(source, actual)| Ok((source, agreed_kind(kind, actual)?))) {
                    Ok((source, kind)) => (vec![InputMedium::File(Arc::new(source))], kind, span),
                    Err(MediaGateError { message, help }) => {
                        let diagnostic = Diagnostic::error("bad-file", span, format!("`{path}`: {message}"));
                        dedup.add(&self.resolver.expansion.instances[index], diagnostic.help(help));
                        return Vec::new();
                    }
                }
            }
        };
        let slot = match slot {
            Slot::Reference(_) => Slot::Reference(kind),
            frame if kind == MediaKind::Image => frame,
            _ => {
                let diagnostic = Diagnostic::error("bad-medium", span, format!("`{key}` is an image"))
                    .label(format!(
                        "this is {} {}",
                        if kind == MediaKind::Audio { "an" } else { "a" },
                        kind.as_str()
                    ))
                    .other(key_span, "a frame is a still image");
                let help = match kind {
                    MediaKind::Video => "take a frame of it: `{file: clip.mp4, frame: last}`",
                    _ => "a sound can be one of the `references`",
                };
                dedup.add(&self.resolver.expansion.instances[index], diagnostic.help(help));
                return Vec::new();
            }
        };
        media.into_iter().map(|medium| MediumUse { slot, medium, key, span }).collect()
    }

    /// The last frame of what an instance continues.
    fn continued_frame(
        &self,
        user: usize,
        reference: &Spanned<ShotRef>,
        dedup: &mut DiagnosticDedup,
    ) -> Option<InputMedium> {
        let instance = &self.resolver.expansion.instances[user];
        let resolved = self.resolver.resolve_continued(instance, reference);
        let resolved = resolved.map_err(|diagnostic| dedup.add(instance, *diagnostic)).ok()??;
        Some(InputMedium::Instance { resolved, frame: Frame::Last })
    }

    /// A frame of the one instance that the reference names.
    fn frame(
        &self,
        user: usize,
        reference: &Spanned<ShotRef>,
        frame: Frame,
        is_first_frame: bool,
        dedup: &mut DiagnosticDedup,
    ) -> Option<InputMedium> {
        let instance = &self.resolver.expansion.instances[user];
        match self.resolver.resolve_one(instance, reference, is_first_frame) {
            Ok(resolved) => resolved.map(|resolved| InputMedium::Instance { resolved, frame }),
            Err(diagnostic) => {
                dedup.add(instance, *diagnostic);
                None
            }
        }
    }

    /// A frame of each of the instances that the reference names.
    fn frames(
        &self,
        user: usize,
        reference: &Spanned<ShotRef>,
        frame: Frame,
        dedup: &mut DiagnosticDedup,
    ) -> Vec<InputMedium> {
        let instance = &self.resolver.expansion.instances[user];
        match self.resolver.resolve_many(instance, reference) {
            Ok(all) => all.into_iter().map(|resolved| InputMedium::Instance { resolved, frame }).collect(),
            Err(diagnostic) => {
                dedup.add(instance, *diagnostic);
                Vec::new()
            }
        }
    }
}
