//! The plan: a sealed, acyclic graph of complete requests, and the films made of them. It contains no templates.
//!
//! A [`Plan`] is made by [`crate::seal`] or deserialized from its own serialized form, which is checked again.
//!
//! Invariants: the graph has no cycle; node names are unique; the pointer of every input leads to a `null` in its request; every clip
//! of a film is a node or a choice among nodes; film names are unique.

mod cell;
mod dialogue;
mod edge;
mod film;
mod graph;
mod key;
mod node;
mod node_ix;
mod outline;
mod parts;
mod pick;
mod price_inputs;
mod request;
mod retry;
mod said;
mod select;
mod selection;
mod serialized_plan;
mod soundtrack;

pub use contract::canonical_json;

pub use self::cell::Cell;
pub use self::dialogue::DialogueLine;
pub use self::edge::Edge;
pub use self::film::{
    Clip, ClipSource, Film, FilmFile, Fit, Poster, Subtitles, Title, TitleStyle, Transition, TransitionKind,
};
pub use self::graph::Plan;
pub(crate) use self::key::Hasher;
pub use self::key::{InputIdentity, NodeKey, key};
pub(crate) use self::node::split_data_uri;
pub use self::node::{Bare, DataField, Frame, Input, Location, MediaSource, Node};
pub use self::node_ix::NodeIx;
pub use self::parts::{KeyPart, PartChange, PartValue, input_name, key_parts, part_changes};
pub use self::pick::{OpenPick, PickGroup, PickKind};
pub use self::price_inputs::PriceInputs;
pub use self::request::Request;
pub(crate) use self::request::json_text_eq;
pub use self::retry::{RetryKinds, RetryOn};
pub use self::said::Said;
pub use self::select::UnknownName;
pub use self::selection::Selection;
pub use self::serialized_plan::InvalidPlan;
pub(crate) use self::serialized_plan::frame_edges;
pub use self::soundtrack::{Music, Soundtrack, Voice};
