//! The kinds of objects of the shared store.

/// A kind of object, the first part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A video, `artifacts/SHA256.mp4`.
    Artifact,
    /// A file of a workflow.
    File,
    /// A plan as JSON.
    Plan,
    /// A run's specification as JSON.
    Spec,
    /// A film, or a file beside it.
    Film,
}

impl ObjectKind {
    /// The name of an object with this content.
    pub fn name(self, sha256: &str) -> String {
        match self {
            Self::Artifact => format!("artifacts/{sha256}.mp4"),
            Self::File => format!("files/{sha256}"),
            Self::Plan => format!("plans/{sha256}.json"),
            Self::Spec => format!("specs/{sha256}.json"),
            Self::Film => format!("films/{sha256}"),
        }
    }

    /// The most bytes of an object that are read into memory: the content is compared with its name only afterwards, so that whatever is in its
    /// place would be read.
    pub(crate) const fn max_bytes_in_memory(self) -> u64 {
        match self {
            // The largest plans, of 100,000 requests, have some hundred megabytes.
            Self::Plan => 1 << 30,
            // Names, hashes and the renders of the workflow. The others are copied to files (`get_file`).
            Self::Spec | Self::Artifact | Self::File | Self::Film => 256 << 20,
        }
    }
}
