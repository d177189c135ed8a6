//! A cloud store on loopback with the three protocols that the cluster speaks, and with faults.
//!
//! Objects are what S3, Google Cloud Storage (its XML API, which is that of S3) and Azure Blob Storage have in common: whole objects, uploads in
//! parts that appear when they are completed, ranges.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use engine::artifact::sha256;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// It is answered with this status, and nothing is done.
    Status(u16),
    /// The body of the answer ends in the middle, with the connection.
    Cut,
    /// Content is stored, or returned, with another first byte.
    Corrupt,
    /// The answer comes late.
    Slow(Duration),
}

/// The store; clones share it.
#[derive(Clone, Default)]
pub(super) struct Cloud(Arc<Mutex<Contents>>);

#[derive(Default)]
struct Contents {
    objects: BTreeMap<String, Vec<u8>>,
    /// Parts of uploads that are not completed, by the upload and the number of the part; blocks of Azure by object and id.
    parts: BTreeMap<(String, String), Vec<u8>>,
    faults: VecDeque<(Method, Fault)>,
    /// Method, path and query of each request.
    requests: Vec<(Method, String)>,
    /// How `Authorization` has to begin.
    authorization: String,
}

impl Cloud {
    /// Listens on a free port of loopback until the test ends. Requests need an `Authorization` that begins with this text.
    pub(super) async fn start(authorization: &str) -> (Self, String) {
        let cloud = Self::default();
        authorization.clone_into(&mut cloud.contents().authorization);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let router = Router::new().fallback(handle).with_state(cloud.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (cloud, address)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().expect("no panic")
    }

    /// The next request with this method that no earlier fault was for fails like this.
    pub(super) fn fail(&self, method: Method, fault: Fault) {
        self.contents().faults.push_back((method, fault));
    }

    /// How many requests with this method there were.
    pub(super) fn count(&self, method: &Method) -> usize {
        self.contents().requests.iter().filter(|(request_method, _)| request_method == method).count()
    }

    /// All requests as text.
    pub(super) fn requests(&self) -> String {
        let contents = self.contents();
        contents
            .requests
            .iter()
            .flat_map(|(method, target)| [method.as_str(), " ", target.as_str(), "\n"])
            .collect()
    }

    /// An object, by the path with its bucket.
    pub(super) fn object(&self, path: &str) -> Option<Vec<u8>> {
        self.contents().objects.get(path).cloned()
    }

    /// How many parts are left of uploads that were neither completed nor given up.
    pub(super) fn parts(&self) -> usize {
        self.contents().parts.len()
    }
}

async fn handle(State(cloud): State<Cloud>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let query = url::form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
    let query: HashMap<String, String> = query.into_owned().collect();
    let path =
        percent_encoding::percent_decode_str(head.uri.path()).decode_utf8().expect("UTF-8").into_owned();
    let fault = {
        let mut contents = cloud.contents();
        let target = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        contents.requests.push((head.method.clone(), target));
        let next = contents.faults.iter().position(|(method, _)| *method == head.method);
        next.and_then(|next| contents.faults.remove(next)).map(|(_, fault)| fault)
    };
    let mut content = axum::body::to_bytes(body, usize::MAX).await.expect("a body").to_vec();
    match fault {
        Some(Fault::Status(status)) => {
            return error(StatusCode::from_u16(status).expect("a status"), "InternalError");
        }
        Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
        Some(Fault::Corrupt) if !content.is_empty() => content[0] ^= 1,
        _ => {
            // What is signed is the hash of what was sent.
            let signed = head.headers.get("x-amz-content-sha256").and_then(|hash| hash.to_str().ok());
            if signed.is_some_and(|hash| hash != sha256(&content)) {
                return error(StatusCode::BAD_REQUEST, "XAmzContentSHA256Mismatch");
            }
        }
    }
    let authorization = head.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let is_authorized = authorization.unwrap_or_default().starts_with(&cloud.contents().authorization);
    if !is_authorized {
        return error(StatusCode::FORBIDDEN, "AccessDenied");
    }
    if path.starts_with("/missing/") {
        return error(StatusCode::NOT_FOUND, "NoSuchBucket");
    }
    let mut contents = cloud.contents();
    match head.method {
        Method::PUT => put(&mut contents, path, &query, content),
        Method::POST => post(&mut contents, path, &query),
        Method::DELETE => {
            let upload = query.get("uploadId").cloned().unwrap_or_default();
            contents.parts.retain(|(upload_id, _), _| *upload_id != upload);
            StatusCode::NO_CONTENT.into_response()
        }
        Method::GET | Method::HEAD => match contents.objects.get(&path) {
            Some(object) => get(&head.method, &head.headers, object.clone(), fault),
            None => error(StatusCode::NOT_FOUND, "NoSuchKey"),
        },
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn put(contents: &mut Contents, path: String, query: &HashMap<String, String>, content: Vec<u8>) -> Response {
    let tag = [(header::ETAG, format!("\"{}\"", sha256(&content)))];
    let parameter = |name: &str| query.get(name).cloned().unwrap_or_default();
    if query.contains_key("uploadId") {
        contents.parts.insert((parameter("uploadId"), format!("{:0>6}", parameter("partNumber"))), content);
        return (StatusCode::OK, tag).into_response();
    }
    match parameter("comp").as_str() {
        "block" => {
            contents.parts.insert((path, parameter("blockid")), content);
        }
        "blocklist" => {
            let list = String::from_utf8(content).expect("XML");
            let ids = list.split("<Uncommitted>").skip(1).map(|rest| rest.split('<').next().expect("an id"));
            let parts =
                ids.map(|id| contents.parts.remove(&(path.clone(), id.to_owned())).expect("the block"));
            let content: Vec<u8> = parts.collect::<Vec<_>>().concat();
            contents.objects.insert(path, content);
        }
        _ => {
            contents.objects.insert(path, content);
        }
    }
    (StatusCode::CREATED, tag).into_response()
}

/// Begins an upload in parts, or completes it.
fn post(contents: &mut Contents, path: String, query: &HashMap<String, String>) -> Response {
    let Some(upload) = query.get("uploadId") else {
        let id = contents.requests.len();
        let answer = format!(
            "<InitiateMultipartUploadResult><UploadId>upload-{id}</UploadId></InitiateMultipartUploadResult>"
        );
        return answer.into_response();
    };
    let keys: Vec<_> = contents.parts.keys().filter(|(upload_id, _)| upload_id == upload).cloned().collect();
    // Completing an upload again changes nothing.
    if !keys.is_empty() {
        let parts: Vec<Vec<u8>> = keys.iter().filter_map(|key| contents.parts.remove(key)).collect();
        contents.objects.insert(path, parts.concat());
    }
    "<CompleteMultipartUploadResult><ETag>\"done\"</ETag></CompleteMultipartUploadResult>".into_response()
}

fn get(method: &Method, headers: &HeaderMap, mut object: Vec<u8>, fault: Option<Fault>) -> Response {
    let tag = format!("\"{}\"", sha256(&object));
    let total = object.len();
    let first = headers.get(header::RANGE).and_then(|range| {
        range.to_str().ok()?.strip_prefix("bytes=")?.split('-').next()?.parse::<usize>().ok()
    });
    let mut response = Response::builder()
        .header(header::ETAG, tag)
        .header(header::LAST_MODIFIED, "Tue, 24 Nov 2026 10:00:00 GMT")
        .header(header::CONTENT_TYPE, "application/octet-stream");
    if let Some(first) = first {
        response = response
            .status(StatusCode::PARTIAL_CONTENT)
            .header(header::CONTENT_RANGE, format!("bytes {first}-{}/{total}", total.saturating_sub(1)));
        object.drain(..first.min(total));
    }
    response = response.header(header::CONTENT_LENGTH, HeaderValue::from(object.len()));
    let body = match fault {
        _ if *method == Method::HEAD => Body::empty(),
        Some(Fault::Cut) => {
            object.truncate(object.len() / 2);
            let pieces = [Ok(Bytes::from(object)), Err(std::io::Error::other("cut"))];
            Body::from_stream(futures_util::stream::iter(pieces))
        }
        Some(Fault::Corrupt) => {
            object[0] ^= 1;
            Body::from(object)
        }
        _ => Body::from(object),
    };
    response.body(body).expect("a response")
}

fn error(status: StatusCode, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>as the test asks</Message></Error>");
    (status, body).into_response()
}
