//! Encodes raw frames from standard input and says how long that took, to compare speed, size and quality:
//!
//! ```sh
//! ffmpeg -v error -f lavfi -i mandelbrot=s=854x480:r=24 -t 5 -f rawvideo -pix_fmt rgb24 - \
//!   | cargo run -p media --example encode_raw -- 854 480 24 out.mp4
//! ```
#![expect(clippy::print_stdout, reason = "a tool for a person at a terminal")]

use std::io::Read;
use std::time::{Duration, Instant};

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [width, height, rate, output] = arguments.as_slice() else {
        return Err("usage: encode_raw WIDTH HEIGHT RATE OUTPUT < rgb24".into());
    };
    let rate = FrameRate::new(rate.parse()?, 1).ok_or("a rate of zero")?;
    let spec = ClipSpec::new(width.parse()?, height.parse()?, rate).with_audio(48_000, 2);
    let mut image = RgbImage::new(spec.width, spec.height);
    let mut writer = ClipWriter::new(spec)?;
    let mut input = std::io::stdin().lock();
    let mut encoding = Duration::ZERO;
    while input.read_exact(image.pixels_mut()).is_ok() {
        let start = Instant::now();
        writer.push_frame(&image)?;
        encoding += start.elapsed();
    }
    let samples = rate.duration_of(writer.frames()).as_secs_f64() * 48_000.0;
    let tone: Vec<f32> = (0..samples as u32 * 2).map(|i| (i as f32 * 0.03).sin() * 0.2).collect();
    writer.push_audio(&tone)?;
    let frames = writer.frames();
    let start = Instant::now();
    let bytes = writer.finish()?;
    let finishing = start.elapsed();
    let seconds = rate.duration_of(frames).as_secs_f64();
    println!(
        "{frames} frames at {:.0} per second, finished in {finishing:.2?}, {:.2} Mb/s",
        frames as f64 / encoding.as_secs_f64(),
        bytes.len() as f64 * 8e-6 / seconds
    );
    std::fs::write(output, bytes)?;
    Ok(())
}
