//! The stills and voices of the characters that an instance shows, as references.

use super::cast::{Cast, CastList, is_sound};
use super::dedup::DiagnosticDedup;
use super::fields::{is_left_out, is_literal};
use super::frames::{MediaCx, MediaResolver, MediumSite, MediumUse, Slot};
use super::media::{self, MediumSpec};
use super::urls::is_data_uri;
use crate::diagnostic::{Diagnostic, Problems};
use crate::media_gate::MediaKind;
use crate::source::Span;
use crate::syntax::keys::cast::{STILLS, VOICE};
use crate::syntax::keys::shot::CAST;
use crate::syntax::{Character, Entry, one_or_many};
use crate::yaml::Yaml;

/// A medium of a character.
struct CharacterMedium<'a> {
    value: &'a Yaml,
    entry: &'a Entry,
    kind: MediaKind,
    /// Where the shot names the character.
    named: Span,
}

/// The media of the characters in the order of the shot's `cast`: of each its stills, then its voice if that is a sound.
pub(super) fn of_characters<'w>(
    resolver: &mut MediaResolver<'_, 'w>,
    icx: &MediaCx<'_, 'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Vec<MediumUse> {
    let mut uses = Vec::new();
    for (index, named) in icx.listed.iter() {
        let character = icx.cast.character(*index);
        if let Some(entry) = &character.stills
            && let Some(stills) = icx.cx.templates.render(&entry.value, icx.scope, problems)
        {
            for still in one_or_many(&stills).iter().filter(|still| !is_left_out(still)) {
                let still = CharacterMedium { value: still, entry, kind: MediaKind::Image, named: *named };
                uses.extend(medium(resolver, &still, icx, dedup, problems));
            }
        }
        if let Some(entry) = &character.voice
            && let Some(voice) = icx.cx.templates.render(&entry.value, icx.scope, problems)
            && is_sound(&voice)
        {
            let voice = CharacterMedium { value: &voice, entry, kind: MediaKind::Audio, named: *named };
            uses.extend(medium(resolver, &voice, icx, dedup, problems));
        }
    }
    uses
}

/// Whether the media of these characters are the same in all instances.
pub(super) fn are_literal(cast: &Cast<'_>, listed: &CastList) -> bool {
    let is_literal = |character: &Character| {
        character.stills.iter().chain(&character.voice).all(|entry| is_literal(&entry.value))
    };
    listed.iter().all(|(index, _)| is_literal(cast.character(*index)))
}

/// One still or voice. Its problems are reported where the character is described, those of its use where the shot names the
/// character.
fn medium<'w>(
    resolver: &mut MediaResolver<'_, 'w>,
    medium: &CharacterMedium<'_>,
    icx: &MediaCx<'_, 'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Vec<MediumUse> {
    let CharacterMedium { value, entry, kind, named } = *medium;
    let key = if kind == MediaKind::Image { STILLS.name } else { VOICE.name };
    let Some(spec) = media::read(value, key, entry.key.span, problems) else { return Vec::new() };
    let span = value.span.or(entry.key.span);
    let mut refuse = |message: String, help: &str| {
        let diagnostic = Diagnostic::error("bad-medium", span, message);
        dedup.add(resolver.instance(icx.index), diagnostic.help(help));
        Vec::new()
    };
    let spec = match spec {
        MediumSpec::Shot { .. } => {
            let help = "a frame of a shot can be one of the `references` of another";
            return refuse(format!("`{key}` is a file or a URL, not a frame of a shot"), help);
        }
        MediumSpec::Url { url, kind: stated } => {
            let kind = if is_data_uri(&url) { stated } else { stated.or(Some(kind)) };
            MediumSpec::Url { url, kind }
        }
        file @ (MediumSpec::File { .. } | MediumSpec::FileFrame { .. }) => file,
    };
    let site = MediumSite { key, slot: Slot::Reference(kind), span, key_span: entry.key.span };
    let media = resolver.media(icx.index, spec, &site, icx.cx, dedup);
    if let Some(wrong) = media.iter().find_map(|used| match used.slot {
        Slot::Reference(actual) if actual != kind => Some(actual),
        _ => None,
    }) {
        let article = |kind| if kind == MediaKind::Video { "a" } else { "an" };
        let message = format!("`{key}` takes {} {} file", article(kind), kind.as_str());
        let diagnostic = Diagnostic::error("bad-medium", span, message)
            .label(format!("this is {} {}", article(wrong), wrong.as_str()))
            .help("other media can be among the `references` of a shot");
        dedup.add(resolver.instance(icx.index), diagnostic);
        return Vec::new();
    }
    media.into_iter().map(|used| MediumUse { key: CAST.name, span: named, ..used }).collect()
}
