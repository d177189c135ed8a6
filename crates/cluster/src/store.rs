//! The shared store: plans, specifications, files of workflows, videos and films, by the SHA-256 of their content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::artifact::{file_sha256, sha256};
use futures_util::StreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{
    ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, WriteMultipart,
};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use url::Url;

use crate::error::ClusterError;

/// Size of a part of an upload.
const PART_BYTES: usize = 8 << 20;
/// Parts of one upload that are sent at a time.
const MAX_CONCURRENT_PARTS: usize = 4;

/// A kind of object, the first part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

impl Kind {
    /// The name of an object with this content.
    #[must_use]
    pub fn name(self, sha256: &str) -> String {
        match self {
            Self::Artifact => format!("artifacts/{sha256}.mp4"),
            Self::File => format!("files/{sha256}"),
            Self::Plan => format!("plans/{sha256}.json"),
            Self::Spec => format!("specs/{sha256}.json"),
            Self::Film => format!("films/{sha256}"),
        }
    }
}

/// The shared store of a cluster.
#[derive(Debug, Clone)]
pub struct SharedStore {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
}

impl SharedStore {
    /// The store at a URL: `file:///…` for a folder that all machines mount, which must exist.
    ///
    /// # Errors
    /// When the URL names no store that this build can use.
    pub fn open(url: &Url) -> Result<Self, ClusterError> {
        if let ("file", Ok(folder)) = (url.scheme(), url.to_file_path()) {
            // Videos are paid for: they are on the disk before an event says so.
            let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
            return Ok(Self { store: Arc::new(store), prefix: ObjectPath::default() });
        }
        let (store, prefix) = object_store::parse_url(url)?;
        Ok(Self { store: Arc::from(store), prefix })
    }

    /// Uploads a file whose hash is known, unless it is there, and reads it back to verify it.
    ///
    /// # Errors
    /// When it cannot be read or uploaded, or what the store returns is something else.
    pub async fn put_file(&self, kind: Kind, path: &Path, sha256: &str) -> Result<(), ClusterError> {
        let name = kind.name(sha256);
        let object = self.object(&name);
        let size = fs_err::metadata(path)?.len();
        if self.size(&name).await? == Some(size) && self.hash(&object).await? == sha256 {
            return Ok(());
        }
        let mut file = tokio::fs::File::open(path).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(
            self.store.put_multipart_opts(&object, PutMultipartOptions::default()).await?,
            PART_BYTES,
        );
        let mut piece = vec![0_u8; 1 << 16];
        loop {
            let read = file.read(&mut piece).await?;
            if read == 0 {
                break;
            }
            upload.wait_for_capacity(MAX_CONCURRENT_PARTS).await?;
            upload.write(&piece[..read]);
        }
        upload.finish().await?;
        self.verify(name, &object, sha256).await
    }

    /// Uploads bytes, unless they are there, and reads them back to verify them. Returns their hash.
    ///
    /// # Errors
    /// When they cannot be uploaded, or what the store returns is something else.
    pub async fn put(&self, kind: Kind, bytes: Vec<u8>) -> Result<String, ClusterError> {
        let hash = sha256(&bytes);
        let name = kind.name(&hash);
        let object = self.object(&name);
        if self.size(&name).await? == Some(bytes.len() as u64) && self.hash(&object).await? == hash {
            return Ok(hash);
        }
        self.store.put_opts(&object, PutPayload::from(bytes), PutOptions::default()).await?;
        self.verify(name, &object, &hash).await?;
        Ok(hash)
    }

    /// The content of an object, verified.
    ///
    /// # Errors
    /// When it is not there or damaged.
    pub async fn get(&self, kind: Kind, hash: &str) -> Result<Vec<u8>, ClusterError> {
        let name = kind.name(hash);
        let bytes = self.store.get(&self.object(&name)).await?.bytes().await?;
        if sha256(&bytes) != hash {
            return Err(ClusterError::Damaged { name });
        }
        Ok(bytes.into())
    }

    /// Writes an object to a file, unless the file has that content. Whatever else is there is replaced.
    ///
    /// # Errors
    /// When it is not there or damaged, or the file cannot be written.
    pub async fn get_file(&self, kind: Kind, hash: &str, target: &Path) -> Result<(), ClusterError> {
        if target.is_file() && file_sha256(target)? == hash {
            return Ok(());
        }
        let name = kind.name(hash);
        let folder = target.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(folder)?;
        let (part, path) =
            tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?.into_parts();
        let mut part = tokio::fs::File::from_std(part);
        let mut stream = self.store.get(&self.object(&name)).await?.into_stream();
        let mut hasher = Sha256::new();
        while let Some(piece) = stream.next().await {
            let piece = piece?;
            hasher.update(&piece);
            part.write_all(&piece).await?;
        }
        part.sync_all().await?;
        if hex::encode(hasher.finalize()) != hash {
            return Err(ClusterError::Damaged { name });
        }
        make_readable(&path)?;
        path.persist(target).map_err(|error| error.error)?;
        Ok(())
    }

    /// Whether a video is in the store with its size. Its content is verified when it is read.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub async fn has(&self, kind: Kind, hash: &str, bytes: u64) -> Result<bool, ClusterError> {
        Ok(self.size(&kind.name(hash)).await? == Some(bytes))
    }

    /// Reads JSON that was stored with [`SharedStore::put`].
    ///
    /// # Errors
    /// When it is not there, damaged, or of another version.
    pub async fn get_json<T: serde::de::DeserializeOwned>(
        &self,
        kind: Kind,
        hash: &str,
    ) -> Result<T, ClusterError> {
        let bytes = self.get(kind, hash).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| ClusterError::Unreadable { what: kind.name(hash), reason: error.to_string() })
    }

    fn object(&self, name: &str) -> ObjectPath {
        name.split('/').fold(self.prefix.clone(), ObjectPath::join)
    }

    async fn size(&self, name: &str) -> Result<Option<u64>, ClusterError> {
        match self.store.head(&self.object(name)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn hash(&self, object: &ObjectPath) -> Result<String, ClusterError> {
        let mut stream = self.store.get(object).await?.into_stream();
        let mut hasher = Sha256::new();
        while let Some(piece) = stream.next().await {
            hasher.update(&piece?);
        }
        Ok(hex::encode(hasher.finalize()))
    }

    async fn verify(&self, name: String, object: &ObjectPath, hash: &str) -> Result<(), ClusterError> {
        if self.hash(object).await? == hash { Ok(()) } else { Err(ClusterError::Damaged { name }) }
    }
}

/// Temporary files are private; videos are as other files of the user.
#[cfg(unix)]
fn make_readable(path: &Path) -> std::io::Result<()> {
    fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// The hash in the name of a video in the store; `None` for another name.
#[must_use]
pub fn artifact_hash(path: &Path) -> Option<&str> {
    path.strip_prefix("artifacts").ok()?.to_str()?.strip_suffix(".mp4")
}

/// The name of a video in the store, as events of a run have it.
#[must_use]
pub fn artifact_path(sha256: &str) -> PathBuf {
    PathBuf::from(Kind::Artifact.name(sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> SharedStore {
        SharedStore::open(&Url::from_directory_path(folder).expect("an absolute path")).expect("a folder")
    }

    #[tokio::test]
    async fn objects_are_verified_by_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let hash = store.put(Kind::File, b"lamp".to_vec()).await.expect("stored");
        assert_eq!(store.get(Kind::File, &hash).await.expect("read"), b"lamp");
        let copy = folder.path().join("out/lamp.txt");
        store.get_file(Kind::File, &hash, &copy).await.expect("a copy");
        assert_eq!(fs_err::read(&copy).expect("the copy"), b"lamp");
        let object = folder.path().join(Kind::File.name(&hash));
        fs_err::write(&object, b"lump").expect("damage");
        assert!(matches!(store.get(Kind::File, &hash).await, Err(ClusterError::Damaged { .. })));
        fs_err::remove_file(&copy).expect("removed");
        assert!(matches!(store.get_file(Kind::File, &hash, &copy).await, Err(ClusterError::Damaged { .. })));
        assert!(!copy.exists());
        // An upload replaces what is damaged.
        store.put(Kind::File, b"lamp".to_vec()).await.expect("stored");
        assert_eq!(fs_err::read(&object).expect("the object"), b"lamp");
    }

    #[tokio::test]
    async fn files_of_several_parts_are_stored_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("video.mp4");
        let content: Vec<u8> = (0..PART_BYTES * 2 + 17).map(|at| (at % 251) as u8).collect();
        fs_err::write(&file, &content).expect("a file");
        let store_folder = tempfile::tempdir().expect("a folder");
        let store = open(store_folder.path());
        let hash = file_sha256(&file).expect("its hash");
        store.put_file(Kind::Artifact, &file, &hash).await.expect("stored");
        assert!(store.has(Kind::Artifact, &hash, content.len() as u64).await.expect("asked"));
        assert_eq!(store.get(Kind::Artifact, &hash).await.expect("read"), content);
        assert!(store.put_file(Kind::Artifact, &file, &sha256(b"other")).await.is_err());
        assert_eq!(artifact_hash(&artifact_path(&hash)), Some(hash.as_str()));
    }
}
