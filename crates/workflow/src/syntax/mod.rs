//! The first phase: the file as a [`Workflow`], every value with its span. Keys are known and shapes checked; templates are not
//! rendered, and matrices not expanded.
//!
//! [`keys`] states every key of the format once; [`Mapping`] reads by it.

mod cast;
mod clip;
mod defaults;
mod dialogue;
mod entry;
mod file;
mod file_parts;
mod film;
mod film_spec;
mod fragment;
mod group;
pub(crate) mod keys;
mod mapping;
mod names;
mod param_kind;
mod params;
mod repeat;
mod secrets;
mod shot;
mod shot_ref;
mod soundtrack;
mod value;
mod workflow;
mod written_numbers;

pub(crate) use self::defaults::apply as apply_defaults;
pub use self::entry::Entry;
pub(crate) use self::file::read;
pub(crate) use self::film_spec::{
    ClipSourceSpec, MusicSpec, PosterSpec, SoundtrackSpec, TitleSpec, VoiceSpec,
};
pub use self::film_spec::{ClipSpec, FilmSpec};
pub(crate) use self::fragment::read as fragment;
pub(crate) use self::group::resolve as resolve_groups;
pub use self::keys::key_tables;
pub(crate) use self::mapping::Mapping;
pub use self::names::ShotRef;
pub(crate) use self::names::{RESERVED, bad_identifier, identifier, output_name, plain_name};
pub use self::param_kind::ParamKind;
pub use self::params::Param;
pub(crate) use self::repeat::{STEP, apply as apply_repeats};
pub(crate) use self::secrets::check as check_secrets;
pub(crate) use self::shot_ref::group_name;
pub(crate) use self::value::{
    expect_choice, expect_count, expect_duration, expect_text, one_or_many, report_wrong_type,
};
pub use self::workflow::{Character, Continues, Shot, Workflow};
pub(crate) use self::workflow::{Group, LineSpec, Repeats, Step};
pub(crate) use self::written_numbers::keep_written_names;
