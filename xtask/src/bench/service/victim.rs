//! `runner serve` as a child process with two keys.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::http::client_builder;
use reqwest::{Client, Response};
use serde_json::{Value, json};

/// A running service; dropping it ends it.
pub(super) struct Victim {
    child: Child,
    pub(super) address: SocketAddr,
    /// Of the attacker and of a client that only submits.
    pub(super) keys: [String; 2],
    http: Client,
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Victim {
    /// Starts a service on a directory, in a shell that `before` has prepared.
    pub(super) fn start(
        program: &Path,
        data: &Path,
        shell: &mut Command,
        before: &str,
    ) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        // The renderer takes seconds and no processor time.
        let script = format!(
            "{before}\nfor name in greedy other; do \"$PROGRAM\" serve keys add $name --data \"$DATA\" 2>/dev/null; done\n\
             exec \"$PROGRAM\" serve --listen 127.0.0.1:0 --workers 2 --allow-private-media --limits \"$LIMITS\" --data \"$DATA\" \
             --renderer \"sh -c 'sleep 5; cp $CLIP output.mp4'\""
        );
        let clip = data.with_file_name("clip.mp4");
        fs_err::write(&clip, crate::stub_video::clip()?).map_err(|error| text(&error))?;
        let limits = data.with_file_name("limits.json");
        fs_err::write(&limits, r#"{"queued_tasks": 20000, "per_key": {"running_tasks": 20000}}"#)
            .map_err(|error| text(&error))?;
        shell
            .args(["sh", "-c", &script])
            .env("PROGRAM", program)
            .env("DATA", data)
            .env("CLIP", &clip)
            .env("LIMITS", &limits);
        let mut child =
            shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| text(&error))?;
        let out = child.stdout.take().ok_or("no output")?;
        let mut lines = BufReader::new(out).lines();
        let mut line = || lines.next().ok_or("the service does not start")?.map_err(|error| text(&error));
        let keys = [line()?, line()?];
        let url = line()?;
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let address = address.parse().map_err(|_| format!("not an address: {url}"))?;
        let http = client_builder().timeout(Duration::from_mins(1)).pool_max_idle_per_host(0);
        let http = http.build().map_err(|error| text(&error))?;
        Ok(Self { child, address, keys, http })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request of the second key on a new connection.
    pub(super) async fn submit(&self, prompt: &str) -> Result<Response, String> {
        let request = json!({"model": "modelb-video-480p", "prompt": prompt, "seconds": "1"});
        let post = self.http.post(self.url("/v1/videos")).bearer_auth(&self.keys[1]).json(&request);
        post.send().await.map_err(|error| error.to_string())
    }

    pub(super) async fn get(&self, path: &str) -> Result<(u16, Value), String> {
        let get = self.http.get(self.url(path)).bearer_auth(&self.keys[1]);
        let response = get.send().await.map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        Ok((status, response.json().await.map_err(|error| error.to_string())?))
    }

    /// Submits and looks at the health every quarter of a second; the longest wait.
    pub(super) async fn longest_wait(&self, time: Duration) -> Result<Duration, String> {
        let until = Instant::now() + time;
        let mut longest = Duration::ZERO;
        while Instant::now() < until {
            let begin = Instant::now();
            let response = self.submit("in between").await?;
            if response.status() != 200 {
                return Err(format!("a submission was answered with {}", response.status()));
            }
            let (status, _) = self.get("/healthz").await?;
            if status != 200 {
                return Err(format!("/healthz was answered with {status}"));
            }
            longest = longest.max(begin.elapsed());
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        Ok(longest)
    }
}
