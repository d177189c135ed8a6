//! What one client does to the others: half requests, bodies that do not arrive, media that are waited for, bodies of many
//! small values. The service is a process of its own.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::victim::Victim;
use crate::bench::peak_megabytes;

/// Upper bound of a submission and a look at the health of another client, together.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Upper bound of the service's memory, in megabytes.
const MAX_MEMORY: f64 = 512.0;
const HALF_REQUESTS: usize = 4_200;
const BODIES: usize = 8;
const BODY_BYTES: usize = 31 << 20;
const CREATES: usize = 10_000;
const AT_ONCE: usize = 1_000;

pub(super) async fn measure(program: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let victim = Arc::new(Victim::start(program, &folder.path().join("data"), &mut Command::new("env"), "")?);
    let mut report = String::new();
    let mut exceeded = Vec::new();
    let mut record_wait = |label: &str, wait: Duration| {
        let _ = writeln!(report, "{label}: another client waits {:.0} ms at most", wait.as_secs_f64() * 1e3);
        if wait > MAX_WAIT {
            exceeded.push(format!("{label}: more than {} s", MAX_WAIT.as_secs()));
        }
    };
    record_wait("no attack", victim.longest_wait(Duration::from_secs(3)).await?);
    record_wait(&format!("{HALF_REQUESTS} half requests"), half_requests(&victim).await?);
    record_wait(&format!("{BODIES} bodies of 32 MiB that do not arrive"), slow_bodies(&victim).await?);
    record_wait(&format!("{BODIES} requests whose media are waited for"), slow_media(&victim).await?);
    let (wait, answers) = bombs(&victim).await?;
    record_wait(&format!("{BODIES} bodies of 31 MB with small values ({answers})"), wait);
    let at_once = submissions(&victim, AT_ONCE, AT_ONCE).await?;
    let all = submissions(&victim, CREATES - AT_ONCE, 64).await?;
    let _ = writeln!(
        report,
        "{AT_ONCE} submissions at once: {:.1} s; {} more on 64 connections: {:.1} s",
        at_once.as_secs_f64(),
        CREATES - AT_ONCE,
        all.as_secs_f64()
    );
    if let Some(peak) = peak_megabytes(victim.process()) {
        let _ = writeln!(report, "peak memory of the service: {peak:.0} MB");
        if peak > MAX_MEMORY {
            exceeded.push(format!("memory: more than {MAX_MEMORY:.0} MB"));
        }
    }
    if exceeded.is_empty() { Ok(report) } else { Err(format!("{report}{}", exceeded.join("\n"))) }
}

async fn connect(victim: &Victim) -> Result<TcpStream, String> {
    TcpStream::connect(victim.address).await.map_err(|error| error.to_string())
}

/// The head of a submission of the first key.
fn head(victim: &Victim, length: &str) -> String {
    format!(
        "POST /v1/videos HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n{length}\r\n\r\n",
        victim.keys[0]
    )
}

async fn half_requests(victim: &Arc<Victim>) -> Result<Duration, String> {
    let attacked = Arc::clone(victim);
    let attack = tokio::spawn(async move {
        let mut streams = Vec::new();
        loop {
            // Where one is closed, another takes its place.
            while streams.len() < HALF_REQUESTS {
                let Ok(mut stream) = connect(&attacked).await else { break };
                let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\nX-a: ").await;
                streams.push(stream);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            streams.retain_mut(|stream| stream.try_write(b"a").is_ok());
        }
    });
    let wait = victim.longest_wait(Duration::from_secs(20)).await;
    attack.abort();
    wait
}

async fn slow_bodies(victim: &Victim) -> Result<Duration, String> {
    let mut streams = Vec::new();
    for _ in 0..BODIES {
        let mut stream = connect(victim).await?;
        let text = head(victim, &format!("Content-Length: {}", 32 << 20));
        stream.write_all(format!("{text}{{").as_bytes()).await.map_err(|error| error.to_string())?;
        streams.push(stream);
    }
    victim.longest_wait(Duration::from_secs(12)).await
}

async fn slow_media(victim: &Victim) -> Result<Duration, String> {
    let silent = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let url = format!("http://{}/a.png", silent.local_addr().map_err(|error| error.to_string())?);
    let body = format!(r#"{{"model":"modelb-video-480p","prompt":"x","image":"{url}"}}"#);
    let mut streams = Vec::new();
    for _ in 0..BODIES {
        let mut stream = connect(victim).await?;
        let text = head(victim, "Transfer-Encoding: chunked");
        let text = format!("{text}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        stream.write_all(text.as_bytes()).await.map_err(|error| error.to_string())?;
        streams.push(stream);
    }
    victim.longest_wait(Duration::from_secs(10)).await
}

/// The longest wait, and how the bodies were answered.
async fn bombs(victim: &Arc<Victim>) -> Result<(Duration, String), String> {
    let item = r#"{"":0},"#;
    let items = item.repeat(BODY_BYTES / item.len());
    let body = format!(r#"{{"model":"m","prompt":"x","metadata":{{"x":[{items}0]}}}}"#);
    let request: Arc<str> =
        format!("{}{body}", head(victim, &format!("Content-Length: {}", body.len()))).into();
    let senders: Vec<_> = (0..BODIES)
        .map(|_| {
            let (victim, request) = (Arc::clone(victim), Arc::clone(&request));
            tokio::spawn(async move {
                let mut stream = connect(&victim).await?;
                stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
                let mut answer = vec![0; 4096];
                let read = stream.read(&mut answer).await.map_err(|error| error.to_string())?;
                let text = String::from_utf8_lossy(&answer[..read]).into_owned();
                Ok::<_, String>(text.split(' ').nth(1).unwrap_or_default().to_owned())
            })
        })
        .collect();
    let wait = victim.longest_wait(Duration::from_secs(5)).await?;
    let mut answers = Vec::new();
    for sender in senders {
        answers.push(sender.await.map_err(|error| error.to_string())??);
    }
    if answers.iter().any(|answer| answer != "400") {
        return Err(format!("bodies of many values were answered with {}", answers.join(", ")));
    }
    Ok((wait, "each 400".to_owned()))
}

async fn submissions(victim: &Arc<Victim>, count: usize, parallel: usize) -> Result<Duration, String> {
    let begin = Instant::now();
    let senders: Vec<_> = (0..parallel)
        .map(|first| {
            let victim = Arc::clone(victim);
            tokio::spawn(async move {
                for number in (first..count).step_by(parallel) {
                    loop {
                        let response = victim.submit(&format!("shot {number}")).await?;
                        match response.status().as_u16() {
                            200 => break,
                            // The rate of one key is limited.
                            429 => tokio::time::sleep(Duration::from_millis(200)).await,
                            status => return Err(format!("a submission was answered with {status}")),
                        }
                    }
                }
                Ok(())
            })
        })
        .collect();
    for sender in senders {
        sender.await.map_err(|error| error.to_string())??;
    }
    Ok(begin.elapsed())
}
