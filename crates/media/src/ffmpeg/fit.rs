//! The filter graphs that bring frames to a film's size.

use crate::Fit;
use crate::fit::BLUR_BRIGHTNESS;

/// Filters that bring frames to a size in this crate's color. `dar` is the ratio of the presented sides, whatever the shape of the pixels;
/// ffmpeg turns frames upright by itself.
pub(super) fn filters(fit: Fit, (width, height): (u32, u32)) -> String {
    let is_wider = format!("gte(dar,{width}/{height})");
    let (wide, high) = (format!("round({height}*dar/2)*2"), format!("round({width}/dar/2)*2"));
    let color = "out_color_matrix=bt709:out_range=tv:flags=bicubic";
    let inside = format!(
        "scale=w='if({is_wider},{width},max({wide},2))':h='if({is_wider},max({high},2),{height})':{color},setsar=1"
    );
    let around = format!(
        "scale=w='if({is_wider},max({wide},{width}),{width})':h='if({is_wider},{height},max({high},{height}))':{color},setsar=1,\
         crop={width}:{height}"
    );
    match fit {
        Fit::Letterbox => format!("{inside},pad={width}:{height}:(ow-iw)/2:(oh-ih)/2,format=yuv420p"),
        Fit::Crop => format!("{around},format=yuv420p"),
        Fit::Blur => {
            let darker = |black: u32| format!("{black}+(val-{black})*{BLUR_BRIGHTNESS}/256");
            let (luma, chroma) = (darker(16), darker(128));
            format!(
                "split[a][b];[a]{around},format=yuv420p,scale=max(iw/24\\,2):max(ih/24\\,2):flags=area,\
                 scale={width}:{height}:flags=bicubic,lutyuv=y='{luma}':u='{chroma}':v='{chroma}'[c];\
                 [b]{inside},format=yuv420p[d];[c][d]overlay=(W-w)/2:(H-h)/2,format=yuv420p"
            )
        }
    }
}
