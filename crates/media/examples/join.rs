//! Joins clips into a film, for viewing: `cargo run -p media --example join -- film.mp4 a.mp4 b.mp4`
#![expect(clippy::print_stdout, reason = "a tool for a person at a terminal")]

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let output = paths.next().ok_or("usage: join OUTPUT CLIP...")?;
    let clips: Vec<_> = paths.map(media::JoinClip::whole).collect();
    println!("{:?}", media::join(&clips, &output, &media::JoinOptions::default())?);
    Ok(())
}
