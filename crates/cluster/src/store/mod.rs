//! The shared store: plans, specifications, files of workflows, videos and films, by the SHA-256 of their content.
//!
//! Invariant: an object appears whole or not at all, and what is uploaded has been compared with its name before.
//! Invariant: no name has another form than `KIND/SHA-256`, whoever asks for it.

mod error;
mod http;
mod location;
mod object_kind;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::artifact::{file_sha256, sha256};
use futures_util::StreamExt as _;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, WriteMultipart};
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use url::Url;

use crate::error::ClusterError;
use location::Location;

pub use error::{SharedStoreError, SharedStoreErrorKind};
pub use location::StoreOptions;
pub use object_kind::ObjectKind;

/// Size of a part of an upload. A file that is not larger is sent as one.
const PART_BYTES: usize = 8 << 20;
/// Parts of one upload that are sent at a time.
const MAX_CONCURRENT_PARTS: usize = 4;
/// How often an upload is tried whose content is another one when it is read back.
const MAX_UPLOADS: usize = 3;
/// Length of a SHA-256 in lower-case hex.
const HASH_LEN: usize = 64;

/// The shared store of a cluster.
#[derive(Clone)]
pub struct SharedStore(Arc<Location>);

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedStore").field(&self.url()).finish()
    }
}

/// An object of the store.
struct Object {
    name: String,
    path: ObjectPath,
}

impl SharedStore {
    /// The store at a URL: `file:///…` for a folder that all machines mount, which must exist; `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or
    /// `az://CONTAINER/PREFIX`, of which nothing is asked yet.
    ///
    /// # Errors
    /// When the URL or a setting cannot be used.
    pub fn open(url: &Url, options: &StoreOptions) -> Result<Self, ClusterError> {
        Ok(Self(Arc::new(Location::open(url, options)?)))
    }

    /// A store in the memory of this process, for tests that simulate a cluster.
    #[cfg(feature = "failpoints")]
    pub fn in_memory() -> Self {
        Self(Arc::new(Location::in_memory()))
    }

    /// Its URL, without credentials.
    pub fn url(&self) -> &str {
        &self.0.wording.store
    }

    /// Uploads a file whose hash is known, unless it is there, and reads it back to verify it.
    ///
    /// # Errors
    /// When it cannot be read or uploaded, has another hash, or what the store returns is something else.
    pub async fn put_file(&self, kind: ObjectKind, path: &Path, sha256: &str) -> Result<(), ClusterError> {
        let object = self.object(kind, sha256)?;
        let size = fs_err::metadata(path)?.len();
        // A file of a workflow is uploaded by every run that needs it, and verified by every worker that reads it.
        let is_trusted = self.0.is_remote && kind == ObjectKind::File;
        if self.is_stored(&object, size, sha256, is_trusted).await? {
            return Ok(());
        }
        for _ in 0..MAX_UPLOADS {
            self.upload(&object, path, size, sha256).await?;
            if self.hash(&object).await? == sha256 {
                return Ok(());
            }
        }
        Err(self.damaged(object.name))
    }

    /// Uploads bytes, unless they are there, and reads them back to verify them. Returns their hash.
    ///
    /// # Errors
    /// When they are too many to be read again ([`SharedStore::get`]), cannot be uploaded, or what the store returns is something else.
    pub async fn put(&self, kind: ObjectKind, bytes: Vec<u8>) -> Result<String, ClusterError> {
        let hash = sha256(&bytes);
        let object = self.object(kind, &hash)?;
        let (size, max_bytes) = (bytes.len() as u64, kind.max_bytes_in_memory());
        if size > max_bytes {
            return Err(too_large(object.name, size, max_bytes));
        }
        let payload = PutPayload::from(bytes);
        if self.is_stored(&object, payload.content_length() as u64, &hash, false).await? {
            return Ok(hash);
        }
        for _ in 0..MAX_UPLOADS {
            self.write(&object, payload.clone()).await?;
            if self.hash(&object).await? == hash {
                return Ok(hash);
            }
        }
        Err(self.damaged(object.name))
    }

    /// The content of an object, verified.
    ///
    /// # Errors
    /// When it is not there, damaged, or too large to be read into memory.
    pub async fn get(&self, kind: ObjectKind, hash: &str) -> Result<Vec<u8>, ClusterError> {
        let object = self.object(kind, hash)?;
        let max_bytes = kind.max_bytes_in_memory();
        let failed = |error| self.failed("read", &object, &error);
        let result = self.0.store.get(&object.path).await.map_err(failed)?;
        if result.meta.size > max_bytes {
            return Err(too_large(object.name, result.meta.size, max_bytes));
        }
        let size = result.meta.size;
        let Some(bytes) = read_bounded(result.into_stream(), max_bytes, size).await.map_err(failed)? else {
            return Err(too_large(object.name, max_bytes + 1, max_bytes));
        };
        if sha256(&bytes) != hash {
            return Err(self.damaged(object.name));
        }
        Ok(bytes)
    }

    /// Writes an object to a file, unless the file has that content. Whatever else is there is replaced.
    ///
    /// # Errors
    /// When it is not there or damaged, or the file cannot be written.
    pub async fn get_file(&self, kind: ObjectKind, hash: &str, target: &Path) -> Result<(), ClusterError> {
        let object = self.object(kind, hash)?;
        if is_file_with(target, hash).await? {
            return Ok(());
        }
        let folder = target.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(folder)?;
        let (part, path) =
            tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?.into_parts();
        let mut part = File::from_std(part);
        let failed = |error| self.failed("read", &object, &error);
        let mut stream = self.0.store.get(&object.path).await.map_err(failed)?.into_stream();
        let mut hasher = Sha256::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(failed)?;
            hasher.update(&chunk);
            part.write_all(&chunk).await?;
        }
        part.sync_all().await?;
        if hex::encode(hasher.finalize()) != hash {
            return Err(self.damaged(object.name));
        }
        make_readable(&path)?;
        path.persist(target).map_err(|error| error.error)?;
        Ok(())
    }

    /// Whether a video is in the store with its size. Its content is verified when it is read.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub async fn has(&self, kind: ObjectKind, hash: &str, bytes: u64) -> Result<bool, ClusterError> {
        let object = self.object(kind, hash)?;
        Ok(self.size(&object).await? == Some(bytes))
    }

    /// Reads JSON that was stored with [`SharedStore::put`].
    ///
    /// # Errors
    /// When it is not there, damaged, or of another version.
    pub async fn get_json<T: serde::de::DeserializeOwned>(
        &self,
        kind: ObjectKind,
        hash: &str,
    ) -> Result<T, ClusterError> {
        let bytes = self.get(kind, hash).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| ClusterError::Unreadable { what: kind.name(hash), reason: error.to_string() })
    }

    fn object(&self, kind: ObjectKind, hash: &str) -> Result<Object, ClusterError> {
        if !is_hash(hash) {
            let what = format!("an object of the shared store {}", self.url());
            return Err(ClusterError::Unreadable { what, reason: "its name is no SHA-256".to_owned() });
        }
        let name = kind.name(hash);
        let path = name.split('/').fold(self.0.prefix.clone(), ObjectPath::join);
        Ok(Object { name, path })
    }

    async fn is_stored(
        &self,
        object: &Object,
        size: u64,
        hash: &str,
        is_trusted: bool,
    ) -> Result<bool, ClusterError> {
        Ok(self.size(object).await? == Some(size) && (is_trusted || self.hash(object).await? == hash))
    }

    async fn size(&self, object: &Object) -> Result<Option<u64>, ClusterError> {
        match self.0.store.head(&object.path).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(error) => match self.failed("look up", object, &error) {
                ClusterError::Store(SharedStoreError { kind: SharedStoreErrorKind::Missing, .. }) => Ok(None),
                failed => Err(failed),
            },
        }
    }

    async fn hash(&self, object: &Object) -> Result<String, ClusterError> {
        let failed = |error| self.failed("read back", object, &error);
        let mut stream = self.0.store.get(&object.path).await.map_err(failed)?.into_stream();
        let mut hasher = Sha256::new();
        while let Some(chunk) = stream.next().await {
            hasher.update(&chunk.map_err(failed)?);
        }
        Ok(hex::encode(hasher.finalize()))
    }

    /// Uploads a file, if it has the hash. Up to [`MAX_CONCURRENT_PARTS`] parts and the one that is read are in memory.
    async fn upload(
        &self,
        object: &Object,
        path: &Path,
        size: u64,
        sha256: &str,
    ) -> Result<(), ClusterError> {
        let mut file = File::open(path).await?;
        if size <= PART_BYTES as u64 {
            let mut content = Vec::new();
            file.take(PART_BYTES as u64 + 1).read_to_end(&mut content).await?;
            if engine::artifact::sha256(&content) != sha256 {
                return Err(ClusterError::Changed { path: path.to_owned() });
            }
            return self.write(object, PutPayload::from(content)).await;
        }
        let started = self.0.store.put_multipart_opts(&object.path, PutMultipartOptions::default()).await;
        let started = started.map_err(|error| self.failed("write", object, &error))?;
        let mut upload = WriteMultipart::new_with_chunk_size(started, PART_BYTES);
        let error = match self.send_parts(object, &mut file, &mut upload).await {
            Ok(hash) if hash == sha256 => {
                let finished = upload.finish().await;
                return finished.map(drop).map_err(|error| self.failed("write", object, &error));
            }
            Ok(_) => ClusterError::Changed { path: path.to_owned() },
            Err(error) => error,
        };
        // The parts are of no use; what failed before is what is reported.
        if let Err(error) = upload.abort().await {
            tracing::debug!(%error, "parts of an upload are left in the shared store");
        }
        Err(error)
    }

    /// Sends a file in parts; returns its hash.
    async fn send_parts(
        &self,
        object: &Object,
        file: &mut File,
        upload: &mut WriteMultipart,
    ) -> Result<String, ClusterError> {
        let (mut hasher, mut buffer) = (Sha256::new(), vec![0_u8; 1 << 16]);
        loop {
            let read = file.read(&mut buffer).await?;
            if read == 0 {
                return Ok(hex::encode(hasher.finalize()));
            }
            hasher.update(&buffer[..read]);
            let capacity = upload.wait_for_capacity(MAX_CONCURRENT_PARTS).await;
            capacity.map_err(|error| self.failed("write", object, &error))?;
            upload.write(&buffer[..read]);
        }
    }

    async fn write(&self, object: &Object, content: PutPayload) -> Result<(), ClusterError> {
        let written = self.0.store.put_opts(&object.path, content, PutOptions::default()).await;
        written.map(drop).map_err(|error| self.failed("write", object, &error))
    }

    fn failed(&self, action: &str, object: &Object, error: &object_store::Error) -> ClusterError {
        let mut failed = self.0.wording.failed(format!("{action} {}", object.name), error);
        // An object that is written or that was written a moment ago is not missing: its bucket is.
        if failed.kind == SharedStoreErrorKind::Missing && action.starts_with("write") {
            failed.kind = SharedStoreErrorKind::NoStore;
        }
        ClusterError::Store(failed)
    }

    fn damaged(&self, name: String) -> ClusterError {
        ClusterError::Damaged { name, store: self.url().to_owned() }
    }
}

/// Whether there is a file with this content. It may be a whole film: it is read on a thread for blocking work.
pub(crate) async fn is_file_with(path: &Path, hash: &str) -> Result<bool, ClusterError> {
    if !path.is_file() {
        return Ok(false);
    }
    let path = path.to_owned();
    let hashed = tokio::task::spawn_blocking(move || file_sha256(&path)).await;
    Ok(hashed.map_err(std::io::Error::other)?? == hash)
}

/// The content of a stream; `None` if it is larger than `max_bytes`, whatever size was announced.
async fn read_bounded(
    mut stream: impl futures_util::Stream<Item = object_store::Result<bytes::Bytes>> + Unpin,
    max_bytes: u64,
    size: u64,
) -> object_store::Result<Option<Vec<u8>>> {
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        if (content.len() + chunk.len()) as u64 > max_bytes {
            return Ok(None);
        }
        content.extend_from_slice(&chunk);
    }
    Ok(Some(content))
}

fn too_large(name: String, size: u64, max_bytes: u64) -> ClusterError {
    let reason = format!("it has {size} bytes or more, and {max_bytes} are read at most");
    ClusterError::Unreadable { what: name, reason }
}

/// Whether a text is a SHA-256 in lower-case hex.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == HASH_LEN && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
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
pub fn artifact_hash(path: &Path) -> Option<&str> {
    path.strip_prefix("artifacts").ok()?.to_str()?.strip_suffix(".mp4").filter(|hash| is_hash(hash))
}

/// The name of a video in the store, as events of a run have it.
pub fn artifact_path(sha256: &str) -> PathBuf {
    PathBuf::from(ObjectKind::Artifact.name(sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> SharedStore {
        let url = Url::from_directory_path(folder).expect("an absolute path");
        SharedStore::open(&url, &StoreOptions::default()).expect("a folder")
    }

    #[tokio::test]
    async fn objects_are_verified_by_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let hash = store.put(ObjectKind::File, b"lamp".to_vec()).await.expect("stored");
        assert_eq!(store.get(ObjectKind::File, &hash).await.expect("read"), b"lamp");
        let copy = folder.path().join("out/lamp.txt");
        store.get_file(ObjectKind::File, &hash, &copy).await.expect("a copy");
        assert_eq!(fs_err::read(&copy).expect("the copy"), b"lamp");
        let object = folder.path().join(ObjectKind::File.name(&hash));
        fs_err::write(&object, b"lump").expect("damage");
        assert!(matches!(store.get(ObjectKind::File, &hash).await, Err(ClusterError::Damaged { .. })));
        fs_err::remove_file(&copy).expect("removed");
        assert!(matches!(
            store.get_file(ObjectKind::File, &hash, &copy).await,
            Err(ClusterError::Damaged { .. })
        ));
        assert!(!copy.exists());
        // An upload replaces what is damaged.
        store.put(ObjectKind::File, b"lamp".to_vec()).await.expect("stored");
        assert_eq!(fs_err::read(&object).expect("the object"), b"lamp");
    }

    #[tokio::test]
    async fn files_of_several_parts_are_stored_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("video.mp4");
        let content: Vec<u8> = (0..PART_BYTES * 2 + 17).map(|index| (index % 251) as u8).collect();
        fs_err::write(&file, &content).expect("a file");
        let store_folder = tempfile::tempdir().expect("a folder");
        let store = open(store_folder.path());
        let hash = file_sha256(&file).expect("its hash");
        store.put_file(ObjectKind::Artifact, &file, &hash).await.expect("stored");
        assert!(store.has(ObjectKind::Artifact, &hash, content.len() as u64).await.expect("asked"));
        assert_eq!(store.get(ObjectKind::Artifact, &hash).await.expect("read"), content);
        // What the file does not contain is not stored under its name, not even for a moment.
        let other_hash = sha256(b"other");
        let changed = store.put_file(ObjectKind::Artifact, &file, &other_hash).await;
        assert!(matches!(changed, Err(ClusterError::Changed { .. })), "{changed:?}");
        assert!(!store.has(ObjectKind::Artifact, &other_hash, content.len() as u64).await.expect("asked"));
        let left = fs_err::read_dir(store_folder.path().join("artifacts")).expect("the folder").count();
        assert_eq!(left, 1, "nothing is left of the upload");
        assert_eq!(artifact_hash(&artifact_path(&hash)), Some(hash.as_str()));
    }

    #[tokio::test]
    async fn hostile_names_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (folder.path().join("store"), folder.path().join("secret"));
        fs_err::create_dir_all(&inside).expect("a folder");
        fs_err::write(&outside, b"secret").expect("a file");
        let store = open(&inside);
        let target = folder.path().join("out/copy");
        for hash in [
            "../../secret",
            "..%2f..%2fsecret",
            "/etc/passwd",
            "",
            "A",
            &"g".repeat(HASH_LEN),
            &"A".repeat(HASH_LEN),
        ] {
            for kind in
                [ObjectKind::Artifact, ObjectKind::File, ObjectKind::Plan, ObjectKind::Spec, ObjectKind::Film]
            {
                assert!(
                    matches!(store.get(kind, hash).await, Err(ClusterError::Unreadable { .. })),
                    "{hash}"
                );
                assert!(store.get_file(kind, hash, &target).await.is_err(), "{hash}");
                assert!(store.put_file(kind, &outside, hash).await.is_err(), "{hash}");
                assert!(store.has(kind, hash, 6).await.is_err(), "{hash}");
            }
            assert_eq!(artifact_hash(&artifact_path(hash)), None, "{hash}");
        }
        assert!(!target.parent().is_some_and(Path::exists));
        assert_eq!(fs_err::read_dir(&inside).expect("the folder").count(), 0);
    }

    #[tokio::test]
    async fn objects_that_are_too_large_are_not_read_into_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let hash = sha256(b"a small one");
        for (kind, max) in [(ObjectKind::Plan, 1 << 30), (ObjectKind::Spec, 256 << 20)] {
            let object = folder.path().join(kind.name(&hash));
            fs_err::create_dir_all(object.parent().expect("a folder")).expect("a folder");
            // A hole of the file takes no space.
            fs_err::File::create(&object).expect("a file").set_len(max + 1).expect("a size");
            let read = store.get(kind, &hash).await;
            assert!(matches!(read, Err(ClusterError::Unreadable { .. })), "{kind:?}");
        }
    }

    #[test]
    fn file_that_is_here_is_hashed_beside_other_tasks() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let copy = folder.path().join("copy.mp4");
        fs_err::write(&copy, b"a film").expect("a file");
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.max_blocking_threads(1).build().expect("a runtime").block_on(async {
            // The only thread for blocking work is taken until another task has had its turn.
            let (turn, taken) = std::sync::mpsc::channel();
            let taken = tokio::task::spawn_blocking(move || taken.recv());
            let other_task = tokio::spawn(async move { turn.send(()) });
            store.get_file(ObjectKind::Film, &sha256(b"a film"), &copy).await.expect("it is here");
            assert!(other_task.is_finished(), "the thread was blocked");
            taken.await.expect("no panic").expect("its turn");
        });
    }

    #[tokio::test]
    async fn stream_that_is_longer_than_its_size_is_cut_off() {
        let chunk = || Ok(bytes::Bytes::from_static(b"lamp"));
        let chunks = |count: u32| futures_util::stream::iter((0..count).map(move |_| chunk()));
        assert_eq!(read_bounded(chunks(2), 8, 4).await.expect("read"), Some(b"lamplamp".to_vec()));
        assert_eq!(read_bounded(chunks(3), 8, 4).await.expect("read"), None);
    }
}
