//! Outlines of requests: the request as it will be sent, with a description in place of every input.

use serde_json::{Map, Value, json};

use super::{Frame, MediaSource, NodeIx, Plan};

/// The one member of a placeholder. No request field has such a name.
const MARK: &str = "$input";

impl Plan {
    /// A node's request as it will be sent, with a placeholder that describes each input:
    /// `{"$input": {"last_frame_of": "door"}}`, `{"$input": {"first_frame_of": "door"}}`, the same with `_of_pick` and the names of the
    /// candidates where one of them is still to be picked, or
    /// `{"$input": {"file": "stills/keeper.png", "sha256": "…", "media_type": "image/png", "bytes": 1024}}`.
    pub fn request_outline(&self, ix: NodeIx) -> Map<String, Value> {
        let node = self.node(ix);
        let mut request = Value::Object(node.request.to_map());
        for input in &node.inputs {
            let source = match &input.source {
                MediaSource::LastFrame(from) => json!({ "last_frame_of": self.node(*from).name }),
                MediaSource::FirstFrame(from) => json!({ "first_frame_of": self.node(*from).name }),
                MediaSource::Pick { candidates, frame } => {
                    let which = match frame {
                        Frame::First => "first_frame_of_pick",
                        Frame::Last => "last_frame_of_pick",
                    };
                    json!({ which: candidates.iter().map(|ix| &self.node(*ix).name).collect::<Vec<_>>() })
                }
                MediaSource::File { path, sha256, media_type, bytes } => {
                    json!({ "file": path, "sha256": sha256, "media_type": media_type, "bytes": bytes })
                }
                MediaSource::FileFrame { path, sha256, frame } => {
                    json!({ "file": path, "sha256": sha256, "frame": frame })
                }
            };
            if let Some(slot) = request.pointer_mut(&input.pointer) {
                *slot = json!({ MARK: source });
            }
        }
        if let Value::Object(request) = request { request } else { Map::new() }
    }
}
