//! Proxies: what they see, and what never goes through one.

use std::sync::{Arc, Mutex};

use client::{CallError, Client, ClientConfig, Proxies};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{KEY, Server, answer, config, json_response, prepared, task};

/// A proxy that refuses every tunnel, and what it was sent.
async fn refusing_proxy() -> (Server, Arc<Mutex<String>>) {
    let requests = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&requests);
    let proxy = Server::handling(move |mut stream, _| {
        let log = Arc::clone(&log);
        async move {
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).await.unwrap_or_default();
            log.lock()
                .expect("no test panics with the lock")
                .push_str(&String::from_utf8_lossy(&buffer[..length]));
            let _ = stream
                .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
                .await;
        }
    })
    .await;
    (proxy, requests)
}

fn proxies_via(proxy: &Server, no_proxy: Option<&str>) -> Proxies {
    let mut url = proxy.url.clone();
    url.set_username("me").expect("a user name");
    url.set_password(Some("proxy-secret")).expect("a password");
    Proxies { https: Some(url.clone()), http: Some(url), no_proxy: no_proxy.map(str::to_owned) }
}

#[tokio::test]
async fn proxy_gets_a_tunnel_request_without_the_key() {
    let (proxy, requests) = refusing_proxy().await;
    let base = "https://service.invalid/v1".parse().expect("a URL");
    let config = ClientConfig { proxies: proxies_via(&proxy, Some("other.invalid")), ..config(&base) };
    assert!(!format!("{config:?}").contains("proxy-secret"));
    let client = Client::new(config).expect("a client");
    let error = client.create(&prepared()).await.expect_err("no tunnel");
    assert!(matches!(error, CallError::NotSent { .. }), "nothing was sent to the service: {error}");
    assert!(!error.to_string().contains("proxy-secret"), "{error}");
    let requests = requests.lock().expect("no test panics with the lock").clone();
    assert!(requests.starts_with("CONNECT service.invalid:443 HTTP/1.1\r\n"), "{requests}");
    assert!(requests.to_lowercase().contains("proxy-authorization: basic "), "{requests}");
    assert!(!requests.contains(KEY), "{requests}");
}

#[tokio::test]
async fn loopback_is_never_reached_through_a_proxy() {
    let (proxy, requests) = refusing_proxy().await;
    let server = Server::answering(|request| match request.method.as_str() {
        "POST" => json_response(200, &task("queued")),
        _ => answer(200, &[], "video"),
    })
    .await;
    let port = server.url.port().expect("a port");
    for base in [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")] {
        let config =
            ClientConfig { proxies: proxies_via(&proxy, None), ..config(&base.parse().expect("a URL")) };
        let client = Client::new(config).expect("a client");
        client.create(&prepared()).await.expect("accepted");
        client.fetch(&format!("{base}/v.mp4")).await.expect("found");
    }
    assert_eq!(*requests.lock().expect("no test panics with the lock"), "");
}

#[tokio::test]
async fn no_proxy_hosts_are_reached_directly() {
    let (proxy, requests) = refusing_proxy().await;
    let base = "https://service.invalid".parse().expect("a URL");
    let config = ClientConfig { proxies: proxies_via(&proxy, Some(".invalid")), ..config(&base) };
    let client = Client::new(config).expect("a client");
    client.create(&prepared()).await.expect_err("there is no such host");
    assert_eq!(*requests.lock().expect("no test panics with the lock"), "");
}

/// The proxy would read the key: a service at an http URL is reached directly, and only other hosts through the proxy.
#[tokio::test]
async fn http_service_is_never_reached_through_a_proxy() {
    let (proxy, requests) = refusing_proxy().await;
    for base in [
        "http://nas.invalid:8080",
        "http://nas.invalid",
        "http://NAS.invalid./v1",
        "http://[::ffff:127.0.0.1]:1",
    ] {
        let base = base.parse().expect("a URL");
        let config = ClientConfig { proxies: proxies_via(&proxy, Some("other.invalid")), ..config(&base) };
        let client = Client::new(config).expect("a client");
        let error = client.create(&prepared()).await.expect_err("there is no such host");
        assert!(matches!(error, CallError::NotSent { .. }), "{error}");
        client.get("task_1").await.expect_err("there is no such host");
        client.content("task_1").await.map(|_| ()).expect_err("there is no such host");
        assert_eq!(*requests.lock().expect("no test panics with the lock"), "", "{base}");
    }
    let base = "http://nas.invalid:8080".parse().expect("a URL");
    let client =
        Client::new(ClientConfig { proxies: proxies_via(&proxy, None), ..config(&base) }).expect("a client");
    client.fetch("http://files.invalid/v.mp4").await.map(|_| ()).expect_err("the proxy refuses");
    let requests = requests.lock().expect("no test panics with the lock").clone();
    assert!(requests.starts_with("GET http://files.invalid/v.mp4 HTTP/1.1\r\n"), "{requests}");
    assert!(!requests.contains(KEY), "{requests}");
}
