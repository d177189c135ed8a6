//! Shared stores in the cloud, against a stand-in on loopback that fails in the ways that stores fail.

#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

mod cloud;

use std::path::PathBuf;
use std::time::Duration;

use axum::http::Method;
use cluster::store::{ObjectKind, SharedStoreError, SharedStoreErrorKind};
use cluster::{ClusterError, SharedStore, StoreOptions};
use engine::artifact::{file_sha256, sha256};
use tempfile::TempDir;
use url::Url;

use cloud::{Cloud, Fault};

/// Credentials that must appear nowhere but in the place for them.
const SECRET: &str = "canary-secret-0123456789";
/// Two whole parts of an upload, and some of a third.
const LARGE: usize = (16 << 20) + 4_321;

/// The longest wait for anything; a store that is silent for a shorter time is waited for.
const STORE_TIMEOUT: Duration = Duration::from_mins(2);

fn open(url: &str, settings: &[(&str, &str)], stall_timeout: Duration) -> SharedStore {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let options = StoreOptions { settings, stall_timeout, ..StoreOptions::default() };
    SharedStore::open(&Url::parse(url).expect("a URL"), &options).expect("it can be opened")
}

fn open_s3(address: &str, url: &str) -> SharedStore {
    open_s3_with(address, url, STORE_TIMEOUT)
}

fn open_s3_with(address: &str, url: &str, stall_timeout: Duration) -> SharedStore {
    let settings = [
        ("AWS_ENDPOINT_URL", address),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
    ];
    open(url, &settings, stall_timeout)
}

/// A store that is compatible with S3, and a client of it.
async fn s3() -> (Cloud, SharedStore) {
    let (cloud, address) = Cloud::start("AWS4-HMAC-SHA256 Credential=AKID/").await;
    let store = open_s3(&address, "s3://films/by/hash");
    (cloud, store)
}

/// A file with that many bytes, and its hash.
fn file(bytes: usize) -> (TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("video.mp4");
    let content: Vec<u8> = (0..bytes).map(|index| (index % 251) as u8).collect();
    fs_err::write(&path, content).expect("a file");
    let hash = file_sha256(&path).expect("its hash");
    (folder, path, hash)
}

fn kind(result: Result<impl std::fmt::Debug, ClusterError>) -> SharedStoreErrorKind {
    match result {
        Err(ClusterError::Store(error)) => {
            assert!(!error.to_string().contains(SECRET), "{error}");
            error.kind
        }
        result => panic!("an error of the store is expected: {result:?}"),
    }
}

/// A small and a large file to the store and back.
async fn round_trip(cloud: &Cloud, store: &SharedStore, root: &str) {
    let (folder, small, small_hash) = file(1_000);
    let (_large_folder, large, large_hash) = file(LARGE);
    for (path, hash) in [(&small, &small_hash), (&large, &large_hash)] {
        store.put_file(ObjectKind::Artifact, path, hash).await.expect("stored");
        let size = fs_err::metadata(path).expect("the file").len();
        assert!(store.has(ObjectKind::Artifact, hash, size).await.expect("asked"));
        assert!(!store.has(ObjectKind::Film, hash, size).await.expect("asked"));
        let copy = folder.path().join("copies").join(hash);
        store.get_file(ObjectKind::Artifact, hash, &copy).await.expect("a copy");
        assert_eq!(file_sha256(&copy).expect("its hash"), **hash);
        let object = cloud.object(&format!("{root}artifacts/{hash}.mp4")).expect("the object");
        assert_eq!(sha256(&object), **hash);
    }
    let plan = store.put(ObjectKind::Plan, b"{}".to_vec()).await.expect("stored");
    assert_eq!(store.get(ObjectKind::Plan, &plan).await.expect("read"), b"{}");
    assert_eq!(cloud.parts(), 0);
    assert!(!cloud.requests().contains(SECRET) && !format!("{store:?}").contains(SECRET));
}

#[tokio::test]
async fn s3_keeps_files_by_hash() {
    let (cloud, store) = s3().await;
    round_trip(&cloud, &store, "/films/by/hash/").await;
}

#[tokio::test]
async fn google_cloud_storage_keeps_files_by_hash() {
    // Without OAuth, as its emulators are, there is no token.
    let (cloud, address) = Cloud::start("").await;
    let key = format!(
        "{{\"private_key\": \"{SECRET}\", \"private_key_id\": \"a\", \"client_email\": \"a\", \"disable_oauth\": true}}"
    );
    let settings = [("GOOGLE_BASE_URL", address.as_str()), ("GOOGLE_SERVICE_ACCOUNT_KEY", key.as_str())];
    round_trip(&cloud, &open("gs://films/by/hash", &settings, STORE_TIMEOUT), "/films/by/hash/").await;
}

#[tokio::test]
async fn azure_keeps_files_by_hash() {
    let (cloud, address) = Cloud::start("SharedKey account:").await;
    let settings = [
        ("AZURE_STORAGE_ENDPOINT", address.as_str()),
        ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
        // In base64.
        ("AZURE_STORAGE_ACCOUNT_KEY", "Y2FuYXJ5LXNlY3JldC0wMTIzNDU2Nzg5"),
    ];
    round_trip(&cloud, &open("az://films/by/hash", &settings, STORE_TIMEOUT), "/films/by/hash/").await;
}

#[tokio::test]
async fn faults_that_pass_are_survived() {
    let (cloud, store) = s3().await;
    let (folder, path, hash) = file(LARGE);
    // The beginning of the upload, two parts, the end; reading back; and reading.
    cloud.fail(Method::HEAD, Fault::Status(503));
    cloud.fail(Method::POST, Fault::Status(500));
    cloud.fail(Method::PUT, Fault::Status(500));
    cloud.fail(Method::PUT, Fault::Status(429));
    cloud.fail(Method::POST, Fault::Status(500));
    cloud.fail(Method::GET, Fault::Cut);
    store.put_file(ObjectKind::Artifact, &path, &hash).await.expect("stored");
    assert_eq!(cloud.parts(), 0);
    cloud.fail(Method::GET, Fault::Status(500));
    cloud.fail(Method::GET, Fault::Cut);
    let copy = folder.path().join("copy.mp4");
    store.get_file(ObjectKind::Artifact, &hash, &copy).await.expect("a copy");
    assert_eq!(file_sha256(&copy).expect("its hash"), hash);
}

#[tokio::test]
async fn uploads_are_not_repeated() {
    let (cloud, store) = s3().await;
    let (_folder, path, hash) = file(1_000);
    for kind in [ObjectKind::Artifact, ObjectKind::File] {
        store.put_file(kind, &path, &hash).await.expect("stored");
    }
    let (puts, gets) = (cloud.count(&Method::PUT), cloud.count(&Method::GET));
    assert_eq!((puts, gets), (2, 2), "each is uploaded and read back");
    for kind in [ObjectKind::Artifact, ObjectKind::File] {
        store.put_file(kind, &path, &hash).await.expect("stored");
    }
    assert_eq!(cloud.count(&Method::PUT), puts);
    // A video is verified again; a file of a workflow is verified by whoever reads it.
    assert_eq!(cloud.count(&Method::GET), gets + 1);
}

#[tokio::test]
async fn content_that_is_damaged_on_its_way_is_uploaded_again() {
    let (cloud, store) = s3().await;
    for bytes in [1_000, LARGE] {
        let (_folder, path, hash) = file(bytes);
        cloud.fail(Method::PUT, Fault::Corrupt);
        store.put_file(ObjectKind::Artifact, &path, &hash).await.expect("stored");
        let object = cloud.object(&format!("/films/by/hash/artifacts/{hash}.mp4")).expect("the object");
        assert_eq!(sha256(&object), hash);
    }
    assert_eq!(cloud.parts(), 0);
}

#[tokio::test]
async fn wrong_content_of_a_name_is_refused() {
    let (cloud, store) = s3().await;
    let (folder, path, hash) = file(1_000);
    store.put_file(ObjectKind::Artifact, &path, &hash).await.expect("stored");
    let copy = folder.path().join("copies/video.mp4");
    for _ in 0..2 {
        cloud.fail(Method::GET, Fault::Corrupt);
    }
    let read = store.get_file(ObjectKind::Artifact, &hash, &copy).await;
    assert!(matches!(read, Err(ClusterError::Damaged { .. })), "{read:?}");
    let left = fs_err::read_dir(folder.path().join("copies")).expect("the folder").count();
    assert_eq!(left, 0, "neither the file nor a part of it is left");
    assert!(matches!(store.get(ObjectKind::Artifact, &hash).await, Err(ClusterError::Damaged { .. })));
    // Every time that it is read back: the store is at fault.
    let (_folder, other_file, other_hash) = file(2_000);
    for _ in 0..9 {
        cloud.fail(Method::GET, Fault::Corrupt);
    }
    let stored = store.put_file(ObjectKind::Artifact, &other_file, &other_hash).await;
    assert!(matches!(stored, Err(ClusterError::Damaged { .. })), "{stored:?}");
}

#[tokio::test]
async fn store_that_is_silent_is_asked_again() {
    let (cloud, address) = Cloud::start("AWS4-HMAC-SHA256 Credential=AKID/").await;
    let (_folder, path, hash) = file(1_000);
    // Slower than usual.
    let store = open_s3(&address, "s3://films/by/hash");
    cloud.fail(Method::PUT, Fault::Slow(Duration::from_millis(300)));
    store.put_file(ObjectKind::Artifact, &path, &hash).await.expect("stored");
    assert_eq!(cloud.count(&Method::PUT), 1);
    // Slower than it may be: the first answer would come after the test.
    let store = open_s3_with(&address, "s3://films/by/hash", Duration::from_secs(1));
    cloud.fail(Method::GET, Fault::Slow(Duration::from_hours(1)));
    let read = tokio::time::timeout(STORE_TIMEOUT, store.get(ObjectKind::Artifact, &hash)).await;
    read.expect("it is asked again").expect("read");
}

#[tokio::test]
async fn errors_say_which_store_denies_what() {
    let (_cloud, address) = Cloud::start("AWS4-HMAC-SHA256 Credential=OTHER/").await;
    let denied = open_s3(&address, "s3://films").put(ObjectKind::Plan, b"{}".to_vec()).await;
    let Err(ClusterError::Store(error)) = denied else { panic!("it is denied: {denied:?}") };
    let SharedStoreError { store, kind: SharedStoreErrorKind::Denied, .. } = &error else {
        panic!("it is denied: {error:?}")
    };
    assert_eq!(store, "s3://films");
    let text = error.to_string();
    assert!(text.contains("s3://films denies to look up plans/") && !text.contains(SECRET), "{text}");

    let (_cloud, address) = Cloud::start("AWS4-HMAC-SHA256 Credential=AKID/").await;
    let missing = open_s3(&address, "s3://missing");
    assert_eq!(kind(missing.put(ObjectKind::Plan, b"{}".to_vec()).await), SharedStoreErrorKind::NoStore);
    let store = open_s3(&address, "s3://films");
    assert_eq!(kind(store.get(ObjectKind::Plan, &sha256(b"other")).await), SharedStoreErrorKind::Missing);
    // A port that is taken, so that nobody else listens on it, and on which nobody listens.
    let closed = tokio::net::TcpSocket::new_v4().expect("a socket");
    closed.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let gone = open_s3(&format!("http://{}", closed.local_addr().expect("its address")), "s3://films");
    assert_eq!(kind(gone.get(ObjectKind::Plan, &sha256(b"other")).await), SharedStoreErrorKind::Unavailable);
}
