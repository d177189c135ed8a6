//! `OpenTimelineIO` (ASWF, file format of 0.15 and later): `Timeline.1`, `Stack.1`, `Track.1`, `Clip.2`, `Transition.1`, `Marker.2`, `LinearTimeWarp.1`.
//!
//! Members without a value are left out: readers refuse `null`. Ranges of clips are at their own rates, everything else is at the film's.

use serde_json::{Map, Value, json};
use workflow::plan::TransitionKind;
use workflow::units::FrameRate;

use super::sounds::{SoundClip, tracks};
use super::{ClipInfo, ExportContext, file_name, kind_name, title, url};
use crate::facts::ClipKind;
use crate::model::{Item, ItemTransition, Timeline};

/// The film as a document of `OpenTimelineIO`.
///
/// The first tracks are the video and the sound of the clips; those after them are music and voices.
/// Media are relative to the document where a clip has no absolute path. The reference of a clip is named as its file, and chapters are markers
/// of the stack, with the same name and comment: that is what editors look for. Alternatives are further media references. A changed speed is a
/// `LinearTimeWarp.1`; the range of such a clip is as long as it is played. A transition other than a dissolve is a `Custom_Transition` with its kind in `metadata.runner`.
pub fn otio(timeline: &Timeline, context: &ExportContext) -> String {
    let rate = timeline.frame_rate;
    let markers: Vec<Value> = timeline
        .chapters()
        .map(|chapter| {
            json!({
                "OTIO_SCHEMA": "Marker.2",
                "name": chapter.name,
                "comment": chapter.name,
                "color": "PURPLE",
                "marked_range": range(chapter.start, 1, rate),
            })
        })
        .collect();
    let mut children = vec![
        json!({"OTIO_SCHEMA": "Track.1", "name": "V1", "kind": "Video", "children": video(timeline, context)}),
        json!({"OTIO_SCHEMA": "Track.1", "name": "A1", "kind": "Audio", "children": audio(timeline, context)}),
    ];
    for (index, track) in tracks(&context.sounds).into_iter().enumerate() {
        let name = format!("A{}", index + 2);
        let children_of_track = sound_track(&track, rate);
        children.push(
            json!({"OTIO_SCHEMA": "Track.1", "name": name, "kind": "Audio", "children": children_of_track}),
        );
    }
    let document = json!({
        "OTIO_SCHEMA": "Timeline.1",
        "name": title(timeline),
        "metadata": {"runner": {
            "output": timeline.output,
            "size": format!("{}x{}", timeline.size.0, timeline.size.1),
            "frame_rate": rate.to_string(),
        }},
        "tracks": {
            "OTIO_SCHEMA": "Stack.1",
            "name": "tracks",
            "markers": markers,
            "children": children,
        },
    });
    format!("{document:#}\n")
}

fn video(timeline: &Timeline, context: &ExportContext) -> Vec<Value> {
    let mut children = Vec::new();
    for (index, item) in timeline.items.iter().enumerate() {
        children.push(clip(index, item, timeline.frame_rate, context));
        if let Some(outgoing) = item.transition {
            children.push(transition(outgoing, timeline.frame_rate));
        }
    }
    children
}

fn audio(timeline: &Timeline, context: &ExportContext) -> Vec<Value> {
    let items = timeline.items.iter().enumerate();
    items
        .map(|(index, item)| {
            if item.source.has_sound && !item.mute {
                clip(index, item, timeline.frame_rate, context)
            } else {
                let duration = duration(item, timeline.frame_rate);
                let range = json!({"OTIO_SCHEMA": "TimeRange.1", "start_time": time(0, item.source.frame_rate), "duration": duration});
                json!({"OTIO_SCHEMA": "Gap.1", "name": "", "source_range": range})
            }
        })
        .collect()
}

/// Music or voices: sound files with gaps between them, all at the film's rate.
fn sound_track(sounds: &[&SoundClip], rate: FrameRate) -> Vec<Value> {
    let mut children = Vec::new();
    let mut position = 0;
    for sound in sounds {
        if sound.start > position {
            let gap = range(0, sound.start - position, rate);
            children.push(json!({"OTIO_SCHEMA": "Gap.1", "name": "", "source_range": gap}));
        }
        let address = match &sound.absolute {
            Some(path) => url::absolute(path),
            None => url::relative(&sound.file),
        };
        let mut metadata = json!({"role": sound.role.name()});
        if !sound.gain.is_zero() {
            metadata["gain"] = sound.gain.to_string().into();
        }
        children.push(json!({
            "OTIO_SCHEMA": "Clip.2",
            "name": file_name(&sound.file),
            "metadata": {"runner": metadata},
            "source_range": range(sound.first, sound.frames, rate),
            "media_references": {"DEFAULT_MEDIA": reference(&sound.file, &address, Some(sound.available), rate)},
            "active_media_reference_key": "DEFAULT_MEDIA",
        }));
        position = sound.end();
    }
    children
}

/// How long an item is on its track: a change of speed changes it only in what it shows.
fn duration(item: &Item, film: FrameRate) -> Value {
    if item.speed.is_normal() {
        time(item.clip_frames, item.source.frame_rate)
    } else {
        time(item.frames, film)
    }
}

fn clip(index: usize, item: &Item, film: FrameRate, context: &ExportContext) -> Value {
    let (info, own) = (context.info(item), item.source.frame_rate);
    let mut references = Map::new();
    let default = if item.source.kind == ClipKind::Card {
        generator(item)
    } else {
        reference(&context.file(item), &context.url(item), Some(item.source.frames), own)
    };
    references.insert("DEFAULT_MEDIA".to_owned(), default);
    for alternative in &info.alternatives {
        let url = match &alternative.absolute {
            Some(path) => url::absolute(path),
            None => url::relative(&alternative.file),
        };
        let value = reference(&alternative.file, &url, alternative.frames, own);
        references.entry(alternative.label.clone()).or_insert(value);
    }
    let mut clip = json!({
        "OTIO_SCHEMA": "Clip.2",
        "name": item.source.name,
        "metadata": {
            "runner": metadata(item, info),
            // Video and sound of a clip are linked in Premiere by equal ids.
            "PremierePro_OTIO": {"LinkID": (index + 1).to_string()},
        },
        "source_range": {
            "OTIO_SCHEMA": "TimeRange.1",
            "start_time": time(item.first, own),
            "duration": duration(item, film),
        },
        "media_references": references,
        "active_media_reference_key": "DEFAULT_MEDIA",
    });
    // Premiere drops other effects of a clip that has one of no effect.
    if !item.speed.is_normal() {
        clip["effects"] = json!([{
            "OTIO_SCHEMA": "LinearTimeWarp.1",
            "name": "speed",
            "effect_name": "LinearTimeWarp",
            "time_scalar": item.speed.as_f64(),
        }]);
    }
    clip
}

/// A card has no file: editors make it with a title of their own.
fn generator(item: &Item) -> Value {
    json!({
        "OTIO_SCHEMA": "GeneratorReference.1",
        "name": item.source.name,
        "generator_kind": "Title",
        "parameters": {"text": item.source.name},
        "available_range": range(0, item.source.frames, item.source.frame_rate),
    })
}

fn reference(file: &str, url: &str, frames: Option<u64>, rate: FrameRate) -> Value {
    let mut value = json!({"OTIO_SCHEMA": "ExternalReference.1", "name": file_name(file), "target_url": url});
    if let (Some(frames), Some(members)) = (frames, value.as_object_mut()) {
        members.insert("available_range".to_owned(), range(0, frames, rate));
    }
    value
}

fn metadata(item: &Item, info: &ClipInfo) -> Value {
    let mut members = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.insert(name.to_owned(), value);
        }
    };
    add("instance", Some(item.source.name.as_str().into()));
    add("shot", (!info.shot.is_empty()).then(|| info.shot.as_str().into()));
    add("title", info.title.as_deref().map(Into::into));
    add("prompt", info.prompt.as_deref().map(Into::into));
    add("seed", info.seed.map(Into::into));
    add("model", info.model.as_deref().map(Into::into));
    add("task", info.task.as_deref().map(Into::into));
    add("take", info.take.map(Into::into));
    add("key", info.key.as_deref().map(Into::into));
    add("gain", (!item.gain.is_zero()).then(|| item.gain.to_string().into()));
    add("mute", item.mute.then_some(true.into()));
    members.into()
}

fn transition(transition: ItemTransition, rate: FrameRate) -> Value {
    let name = kind_name(transition.kind);
    let schema = match transition.kind {
        TransitionKind::Dissolve => "SMPTE_Dissolve",
        TransitionKind::FadeBlack
        | TransitionKind::FadeWhite
        | TransitionKind::WipeLeft
        | TransitionKind::WipeRight => "Custom_Transition",
    };
    json!({
        "OTIO_SCHEMA": "Transition.1",
        "name": name,
        "transition_type": schema,
        "metadata": {"runner": {"kind": name}},
        "in_offset": time(transition.before, rate),
        "out_offset": time(transition.after, rate),
    })
}

fn range(start: u64, length: u64, rate: FrameRate) -> Value {
    json!({"OTIO_SCHEMA": "TimeRange.1", "start_time": time(start, rate), "duration": time(length, rate)})
}

fn time(frames: u64, rate: FrameRate) -> Value {
    json!({"OTIO_SCHEMA": "RationalTime.1", "rate": rate.as_f64(), "value": frames as f64})
}
