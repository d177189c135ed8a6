//! The data of the viewer, version 4: what a workflow's output folder contains and how it came to be.

use scheduler::{StatusKind, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workflow::units::{Money, VideoDuration};

use crate::{command, micros};

/// The version of the format.
pub const MANIFEST_VERSION: u32 = 4;

/// Maximum length of a manifest, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 256 << 20;

/// The clips and films of a workflow. Times are milliseconds since the Unix epoch, amounts of money millionths of
/// `currency`; `null` is unknown or does not apply. Members are added without a new version: ignore what you do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`]; no other one is read.
    pub version: u32,
    /// The program that has written it.
    pub generator: String,
    /// When it was written.
    #[schemars(with = "i64")]
    pub created_at: Timestamp,
    /// The workflow.
    pub workflow: Workflow,
    /// The currency of the price table.
    pub currency: Option<String>,
    /// The shots in the order of the file.
    pub shots: Vec<Shot>,
    /// Every instance of every shot, in the plan's order.
    pub clips: Vec<Clip>,
    /// The films.
    pub films: Vec<Film>,
}

/// The workflow of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// Its file, as the user named it.
    pub file: String,
    /// A title for people.
    pub title: Option<String>,
    /// The file and its overrides, as `runner pick` takes them; empty where that would be no command of this program.
    #[serde(default)]
    pub arguments: String,
}

/// A shot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shot {
    /// Its id.
    pub id: String,
    /// Its axes in the order of the file, with the values that occur.
    pub axes: Vec<Axis>,
    /// Its number of takes; 1 without takes.
    pub takes: u32,
    /// The picked clip, a take or an instance; `null` if there is nothing to pick or nothing is picked.
    pub pick: Option<String>,
    /// The author's note.
    pub note: Option<String>,
}

/// An axis of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// The values that occur, in the order of the axis.
    pub values: Vec<Value>,
}

/// One instance of a shot, with its video if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clip {
    /// The name of the instance: `storm@look=noir,seed=3`, `door#2`.
    pub id: String,
    /// Its shot.
    pub shot: String,
    /// Axis to value, in the order of the file.
    pub cell: Map<String, Value>,
    /// The take, from 1.
    pub take: Option<u32>,
    /// Its state: of the work that the workflow's present text asks for, in whatever run.
    pub state: StatusKind,
    /// Whether it is the picked take or instance.
    pub is_picked: bool,
    /// How its video is rated: from 1 to 5, and 0 is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    /// The video, relative to the manifest, with `/` between folders.
    pub file: Option<String>,
    /// A frame of it, likewise.
    pub poster: Option<String>,
    /// A small version for grids of many clips, likewise.
    pub proxy: Option<String>,
    /// SHA-256 of the video, lower-case hex.
    pub sha256: Option<String>,
    /// What `runner ledger adopt --from-folder` records of a paid video: its sidecar (`docs/sidecar.schema.json`), without the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Value>,
    /// Size of the video in bytes.
    pub bytes: Option<u64>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// Length in seconds; as requested while there is no video.
    #[schemars(with = "Option<f64>")]
    pub seconds: Option<VideoDuration>,
    /// Frames per second.
    pub frame_rate: Option<f64>,
    /// Whether it has sound.
    pub has_audio: Option<bool>,
    /// The model.
    pub model: String,
    /// The model's family.
    pub family: String,
    /// The prompt.
    pub prompt: Option<String>,
    /// The seed.
    pub seed: Option<i64>,
    /// What is said in it.
    pub dialogue: Option<String>,
    /// The request, with inputs described instead of included.
    pub request: Value,
    /// The beginning of its key; `null` until the videos that it continues exist.
    pub key: Option<String>,
    /// The service's task.
    pub task: Option<String>,
    /// What was reserved for the latest task with its key.
    #[serde(default, with = "micros")]
    #[schemars(with = "Option<u64>")]
    pub cost: Option<Money>,
    /// From its submission to its video.
    pub elapsed_ms: Option<u64>,
    /// All attempts of its name, oldest first, those of earlier texts included.
    pub attempts: Vec<Attempt>,
    /// The renders of its instance, where there are several and they are no takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renders: Vec<Render>,
    /// Why the present text has no video.
    pub failure: Option<String>,
    /// The clips that it depends on.
    pub parents: Vec<Parent>,
    /// The command that renders it, or renders it again; empty where it is not one of this program's.
    pub command: String,
}

impl Clip {
    /// How many tasks the service accepted for it: not submissions that it refused or never received.
    pub fn accepted_tasks(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.task.is_some()).count()
    }

    /// The most that all of its tasks cost, also those that failed or were for an earlier text. Manifests without costs of attempts have that of the
    /// latest task.
    pub fn total_cost(&self) -> Option<Money> {
        let costs = self.attempts.iter().filter_map(|attempt| attempt.cost);
        costs.reduce(Money::saturating_add).or(self.cost)
    }
}

/// A render of a clip's instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Render {
    /// Its number, which `runner pick` takes.
    pub number: u32,
    /// The beginning of its key. Where it is not that of the clip but for its number, the request was another one.
    pub key: String,
    /// Its video, relative to the manifest.
    pub file: Option<String>,
    /// A frame of it, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poster: Option<String>,
    /// SHA-256 of the video, lower-case hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Size of the video.
    pub bytes: Option<u64>,
    /// When its task ended, or was submitted.
    #[schemars(with = "i64")]
    pub made_at: Timestamp,
    /// Whether it was asked for with `run --rerun`.
    pub is_asked: bool,
    /// Whether it is the one that counts.
    pub counts: bool,
    /// The most that its task cost, as the cost of its clip.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "micros")]
    #[schemars(with = "Option<u64>")]
    pub cost: Option<Money>,
}

/// An attempt at a clip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Its id.
    pub attempt: String,
    /// The beginning of the key that it was for. Where it is not that of the clip, the request was another one.
    pub key: Option<String>,
    /// The service's task.
    pub task: Option<String>,
    /// When its intent was recorded.
    #[schemars(with = "Option<i64>")]
    pub intended_at: Option<Timestamp>,
    /// What became of it.
    pub result: String,
    /// The last error.
    pub message: Option<String>,
    /// The most that its task cost, as the cost of its clip.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "micros")]
    #[schemars(with = "Option<u64>")]
    pub cost: Option<Money>,
}

/// A clip that another one depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parent {
    /// Its id.
    pub clip: String,
    /// How.
    pub kind: ParentKind,
}

/// How a clip depends on another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParentKind {
    /// It begins or ends on a frame of it.
    Continues,
    /// A frame of it is a reference.
    Reference,
    /// It comes after it.
    Needs,
    /// It continues it if it is picked.
    Pick,
}

/// A film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Film {
    /// Its file name.
    pub name: String,
    /// The file, relative to the manifest.
    pub file: Option<String>,
    /// A frame of it.
    pub poster: Option<String>,
    /// Its length in seconds.
    #[schemars(with = "Option<f64>")]
    pub seconds: Option<VideoDuration>,
    /// Its state.
    pub state: FilmState,
    /// What it shows, in order.
    pub cuts: Vec<Cut>,
    /// What is said in it, at its times; none where it is drawn into the frames.
    pub captions: Vec<Caption>,
}

/// A caption of a film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caption {
    /// When it begins, in seconds.
    pub start: f64,
    /// When it ends, in seconds.
    pub end: f64,
    /// Who speaks.
    pub speaker: Option<String>,
    /// What is said, in at most two lines.
    pub text: String,
}

/// The state of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilmState {
    /// It exists.
    Done,
    /// Some of its clips have no video yet.
    Pending,
    /// A take must be picked first.
    Unpicked,
    /// Its clips exist, and it does not: the next run joins it.
    NotJoined,
    /// Its clips exist, and the last run could not join it.
    Failed,
}

/// A part of a film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// The clip; of several takes of which none is picked, the first. Of a file its name, of a title its text.
    pub clip: String,
    /// What it shows.
    pub kind: CutKind,
    /// Where it begins, in seconds.
    pub start: f64,
    /// Its length in seconds.
    pub seconds: Option<f64>,
}

/// What a part of a film shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutKind {
    /// A clip of the manifest.
    Shot,
    /// A video or image of one's own.
    File,
    /// A title on black.
    Title,
}

/// The member of a manifest that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Why a text is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is longer than any manifest.
    #[error("it has {bytes} bytes; a manifest has at most {MAX_MANIFEST_BYTES}")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// It is not JSON of this form.
    #[error("it is not a manifest: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is not a JSON object.
    #[error("it is not a manifest: a manifest is a JSON object")]
    NotAnObject,
    /// Another version of this program has written it.
    #[error(
        "it has version {version}, and this program reads version {MANIFEST_VERSION}: where its workflow is, `runner view` writes it again"
    )]
    Version { version: u32 },
}

impl Manifest {
    /// A manifest without shots.
    pub fn new(generator: String, workflow: String, file: String, created_at: Timestamp) -> Self {
        Self {
            version: MANIFEST_VERSION,
            generator,
            created_at,
            workflow: Workflow { name: workflow, file, title: None, arguments: String::new() },
            currency: None,
            shots: Vec::new(),
            clips: Vec::new(),
            films: Vec::new(),
        }
    }

    /// Reads a manifest. It may come from anybody: paths that lead out of its folder
    /// are removed, and so are commands that are not one of this program's.
    ///
    /// # Errors
    /// When it is too long, malformed, or of another version.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        if text.len() > MAX_MANIFEST_BYTES {
            return Err(ManifestError::TooLarge { bytes: text.len() });
        }
        // Structures are read from arrays as well.
        if !text.trim_start().starts_with('{') {
            return Err(ManifestError::NotAnObject);
        }
        // First: another version may have other members.
        let Version { version } = serde_json::from_str(text)?;
        if version != MANIFEST_VERSION {
            return Err(ManifestError::Version { version });
        }
        let mut manifest: Self = serde_json::from_str(text)?;
        let clips = manifest.clips.iter_mut().flat_map(|clip| {
            let renders = clip.renders.iter_mut().flat_map(|render| [&mut render.file, &mut render.poster]);
            [&mut clip.file, &mut clip.poster, &mut clip.proxy].into_iter().chain(renders)
        });
        let films = manifest.films.iter_mut().flat_map(|film| [&mut film.file, &mut film.poster]);
        for path in clips.chain(films) {
            *path = path.take().filter(|path| is_inside(path));
        }
        for clip in manifest.clips.iter_mut().filter(|clip| !command::is_of_runner(&clip.command)) {
            clip.command.clear();
        }
        let arguments = &mut manifest.workflow.arguments;
        if !command::is_of_runner(&format!("runner pick {arguments}")) {
            arguments.clear();
        }
        Ok(manifest)
    }
}

/// Whether a path stays in its folder, on every system.
fn is_inside(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    path.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_out_of_the_folder_are_removed() {
        for inside in ["clip.mp4", "posters/a b#1.jpg", "é/%2e%2e/x.mp4"] {
            assert!(is_inside(inside), "{inside}");
        }
        for outside in
            ["", "/etc/passwd", "../x.mp4", "a/../../x", "a//b", "C:\\x", "http://host/x", "a\\..\\x"]
        {
            assert!(!is_inside(outside), "{outside}");
        }
        let mut manifest = manifest();
        let text = r#"{"id":"a","shot":"a","cell":{},"state":"done","is_picked":false,"file":"../a","poster":"../b","proxy":"../c","model":"m","family":"B",
            "request":{},"attempts":[],"parents":[],"command":"","renders":[{"number":1,"key":"k","file":"../d","poster":"../e","made_at":1,
            "is_asked":false,"counts":true}]}"#;
        manifest.clips.push(serde_json::from_str(text).unwrap());
        let read = Manifest::from_json(&serde_json::to_string(&manifest).unwrap()).unwrap();
        assert!(!serde_json::to_string(&read).unwrap().contains(".."));
    }

    fn manifest() -> Manifest {
        Manifest::new("runner".to_owned(), "film".to_owned(), "film.yaml".to_owned(), Timestamp(1))
    }

    #[test]
    fn manifests_of_other_versions_are_refused() {
        let mut manifest = manifest();
        let text = |manifest: &Manifest| serde_json::to_string(manifest).unwrap();
        assert_eq!(Manifest::from_json(&text(&manifest)).unwrap(), manifest);
        for version in [MANIFEST_VERSION - 1, MANIFEST_VERSION + 1] {
            manifest.version = version;
            let refused = Manifest::from_json(&text(&manifest));
            assert!(matches!(refused, Err(ManifestError::Version { version: other }) if other == version));
        }
        assert!(matches!(Manifest::from_json("[]"), Err(ManifestError::NotAnObject)));
        assert!(matches!(Manifest::from_json("{}"), Err(ManifestError::Malformed(_))));
        let later = r#"{"version":9,"clips":{}}"#;
        assert!(matches!(Manifest::from_json(later), Err(ManifestError::Version { version: 9 })));
    }
}
