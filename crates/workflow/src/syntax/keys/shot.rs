//! The keys of a shot that are not request fields.

use super::{KeySpec, ObjectSpec, Shape};
use crate::limits;

pub(crate) const ID: KeySpec = KeySpec::new(
    "id",
    Shape::Id,
    "the shot's name, by which other shots, the film and its files refer to it",
    "id: harbor",
)
.required();
pub(crate) const NOTE: KeySpec =
    KeySpec::new("note", Shape::Prose, "a note for people; no effect", "note: opens wide and quiet");
pub(crate) const DIALOGUE: KeySpec = KeySpec::new(
    "dialogue",
    Shape::Dialogue,
    "what is said, for subtitles and the viewer; no effect on the request",
    "dialogue: Who is there?",
)
.templated();
pub(crate) const GROUP: KeySpec = KeySpec::new(
    "group",
    Shape::Id,
    "the group of `groups` whose `params` and `defaults` the shot has",
    "group: storm",
)
.templated();
pub(crate) const CONTINUES: KeySpec = KeySpec::new(
    "continues",
    Shape::ShotRef,
    "start from the last frame of another shot: `id`, `id@axis=value` or `id#take`",
    "continues: harbor",
);
pub(crate) const FIRST_FRAME: KeySpec = KeySpec::new(
    "first_frame",
    Shape::Medium,
    "the image that the video starts with; not together with `continues`",
    "first_frame: stills/harbor.png",
)
.templated();
pub(crate) const LAST_FRAME: KeySpec = KeySpec::new(
    "last_frame",
    Shape::Medium,
    "the image that the video ends with",
    "last_frame: stills/harbor.png",
)
.templated();
pub(crate) const REFERENCES: KeySpec = KeySpec::new(
    "references",
    Shape::Media,
    "images, videos and audio that guide the video without appearing in it",
    "references: [stills/harbor.png]",
)
.templated();
pub(crate) const CAST: KeySpec = KeySpec::new(
    "cast",
    Shape::Characters,
    "the characters who are seen: their descriptions go in front of the prompt, their stills after the `references`",
    "cast: [keeper, boy]",
)
.templated();
pub(crate) const MATRIX: KeySpec = KeySpec::new(
    "matrix",
    Shape::Matrix,
    "expand the shot once per combination of values",
    "matrix: {seed: [1, 2, 3]}",
)
.templated();
pub(crate) const REPEAT: KeySpec = KeySpec::new(
    "repeat",
    Shape::Count { max: limits::MAX_STEPS },
    "make the shot in so many steps, each of which continues the one before; `{{ step }}` is the number of the step",
    "repeat: 6",
)
.templated();
pub(crate) const TAKES: KeySpec = KeySpec::new(
    "takes",
    Shape::Count { max: limits::MAX_TAKES },
    "how many candidates to render",
    "takes: 3",
)
.templated();
pub(crate) const PICK: KeySpec = KeySpec::new(
    "pick",
    Shape::Pick,
    "which of the `takes` or other renders, or which instance of the `matrix`, is used. Without it, what uses a shot with takes waits for `runner pick`; of others the newest render that was asked for is used; all instances of a matrix are used, or none before the pick with `open`",
    "pick: 2",
)
.templated();
/// The take of a shot without a matrix.
pub(crate) const PICK_TAKE: KeySpec =
    KeySpec::new("pick", Shape::Count { max: limits::MAX_TAKES }, "which render is used", "pick: 2");
/// The take beside the axes of an instance. No axis has this name.
pub(crate) const PICK_TAKE_MEMBER: KeySpec =
    KeySpec::new("take", Shape::Count { max: limits::MAX_TAKES }, "which of the `takes` is used", "take: 2");
/// The value of `pick` for a choice that is made later.
pub(crate) const OPEN_PICK: &str = "open";
pub(crate) const NEEDS: KeySpec = KeySpec::new(
    "needs",
    Shape::ShotRefs,
    "shots that must finish first, without using a frame of theirs",
    "needs: [harbor]",
);
pub(crate) const WHEN: KeySpec = KeySpec::new(
    "when",
    Shape::Condition,
    "whether the shot is rendered, such as `look == 'noir'`",
    "when: look == 'noir'",
)
.templated();
pub(crate) const SALT: KeySpec = KeySpec::new(
    "salt",
    Shape::Scalar,
    "distinguishes otherwise identical work: another salt is another video",
    "salt: second try",
)
.templated();
pub(crate) const RETRY: KeySpec = KeySpec::new(
    "retry",
    Shape::Retry,
    "how many attempts a run may submit, and after which failures; default: 1. Each attempt is a task that is paid for",
    "retry: 3",
)
.templated();
pub(crate) const TIMEOUT: KeySpec = KeySpec::new(
    "timeout",
    Shape::Duration { max_seconds: limits::MAX_TIMEOUT_SECONDS },
    "how long the task of one attempt may take at the service; the tries of its download may together take as long again; default: one hour",
    "timeout: 20m",
)
.templated();

pub(crate) const SERVICE: KeySpec = KeySpec::new(
    "service",
    Shape::Name,
    "the service that renders it, by its name in `services.yaml`; default: the `service` of the file",
    "service: ark",
)
.templated();

/// What `defaults` may hold besides request fields. A shot's own value overrides it, and `null` removes it.
pub(crate) const DEFAULTS: ObjectSpec = ObjectSpec {
    noun: "`defaults`",
    keys: &[&SERVICE, &REFERENCES, &CAST, &TAKES, &PICK, &RETRY, &TIMEOUT, &NOTE],
    help: "write `defaults: {seconds: 5}`",
    is_open: true,
};

/// Why `defaults` does not hold a key of a shot.
pub(crate) fn no_default(name: &str) -> String {
    let reason = match name {
        "id" => "each shot has an id of its own",
        "continues" | "needs" => {
            "a shot cannot come after itself: write it in each shot that follows another"
        }
        "first_frame" | "last_frame" => "a frame belongs to one shot; `references` may be in `defaults`",
        "salt" => {
            "a salt tells a shot from others that request the same; for all shots there is `run --salt`"
        }
        "group" => "what all shots share is in `defaults` itself",
        "matrix" => "the `matrix` at the top level of the file is for all shots",
        _ => "write it in each shot",
    };
    reason.to_owned()
}

/// A shot. Its other keys are request fields, which the contract judges.
pub(crate) const SHOT: ObjectSpec = ObjectSpec {
    noun: "shot",
    keys: &[
        &ID,
        &NOTE,
        &GROUP,
        &SERVICE,
        &DIALOGUE,
        &CONTINUES,
        &FIRST_FRAME,
        &LAST_FRAME,
        &REFERENCES,
        &CAST,
        &MATRIX,
        &REPEAT,
        &TAKES,
        &PICK,
        &NEEDS,
        &WHEN,
        &SALT,
        &RETRY,
        &TIMEOUT,
    ],
    help: "write it as `- id: harbor` with its fields below, indented like `id`",
    is_open: true,
};
