//! Plans for tests, from a short notation.

#![allow(dead_code, reason = "each test uses its part of this support")]

use std::sync::Arc;

use serde_json::{Value, json};
use workflow::plan::Plan;

/// A plan of 4-second shots. Each is a name and, after `<`, the shot whose last frame it begins on: `["a", "b<a", "c"]`; where one of several is still
/// to be picked, all of them: `"b<a#1|a#2"`. With a film of all of them.
pub(crate) fn plan(shots: &[&str]) -> Arc<Plan> {
    plan_with(shots, |_| {})
}

/// As [`plan`], with a last word on each node's stored form.
pub(crate) fn plan_with(shots: &[&str], change: impl Fn(&mut Value)) -> Arc<Plan> {
    let names: Vec<&str> = shots.iter().map(|shot| shot.split('<').next().unwrap_or_default()).collect();
    let nodes: Vec<Value> = shots
        .iter()
        .map(|shot| {
            let (name, parent) = shot.split_once('<').map_or((*shot, None), |(name, parent)| (name, Some(parent)));
            let mut request = json!({
                "model": "modela-video-2-0-260128", "prompt": name, "seconds": "4", "return_last_frame": true,
            });
            let mut inputs = json!([]);
            if let Some(parent) = parent {
                let index_of = |parent: &str| names.iter().position(|name| *name == parent).expect("the parent is a shot");
                let parents: Vec<usize> = parent.split('|').map(index_of).collect();
                let source = match parents.as_slice() {
                    [only] => json!({ "last_frame": only }),
                    takes => json!({ "pick": { "takes": takes, "frame": "last" } }),
                };
                request["metadata"] =
                    json!({ "content": [{ "type": "image_url", "role": "first_frame", "image_url": { "url": null } }] });
                inputs = json!([{ "word": "first_frame", "pointer": "/metadata/content/0/image_url/url", "source": source }]);
            }
            let mut node = json!({
                "name": name, "shot": name, "model": "modela-video-2-0-260128", "family": "A", "request": request,
                "said": [{ "word": "prompt", "at": "/prompt" }, { "word": "seconds", "at": "/seconds" }], "inputs": inputs, "seconds": 4.0, "retry": 1,
                "location": { "file": "test.yaml", "line": 1, "column": 1 },
            });
            change(&mut node);
            node
        })
        .collect();
    let clips: Vec<Value> = (0..nodes.len()).map(|node| json!({ "source": { "node": node } })).collect();
    let location = json!({ "file": "test.yaml", "line": 1, "column": 1 });
    let form = json!({
        "version": 3, "name": "test", "nodes": nodes, "order": [],
        "films": [{ "output": "film.mp4", "clips": clips, "location": location }],
    });
    Arc::new(serde_json::from_value(form).expect("a sealed plan"))
}
