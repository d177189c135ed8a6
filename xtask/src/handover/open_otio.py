"""Opens an exported film with the library of OpenTimelineIO and writes it again. Arguments: the document, its frames, the copy."""

import os
import sys
from urllib.parse import unquote

import opentimelineio as otio

document, frames, copy = sys.argv[1], int(sys.argv[2]), sys.argv[3]
timeline = otio.adapters.read_from_file(document)
(track,) = timeline.video_tracks()
clips = [child for child in track if isinstance(child, otio.schema.Clip)]
assert timeline.duration().to_frames() == frames, timeline.duration()
card = clips[-1]
assert isinstance(card.media_reference, otio.schema.GeneratorReference), card.media_reference
assert card.media_reference.parameters["text"] == "THE END", card.media_reference
for clip in clips:
    for key, reference in clip.media_references().items():
        if clip is card:
            continue
        path = os.path.join(os.path.dirname(document), unquote(reference.target_url))
        assert os.path.isfile(path), f"{clip.name}: {key}: no file {path}"
        assert reference.name == os.path.basename(path), reference.name
    media, shown = clip.available_range(), clip.source_range
    assert media.start_time <= shown.start_time, f"{clip.name}: {shown} is not in {media}"
    assert shown.end_time_exclusive() <= media.end_time_exclusive(), f"{clip.name}: {shown} is not in {media}"
    # Handles of the transitions on both sides; fades need none.
    before, after = track.neighbors_of(clip)
    if isinstance(before, otio.schema.Transition) and not before.name.startswith("fade"):
        assert shown.start_time - before.in_offset >= media.start_time, f"{clip.name}: no head handle"
    if isinstance(after, otio.schema.Transition) and not after.name.startswith("fade"):
        assert shown.end_time_exclusive() + after.out_offset <= media.end_time_exclusive(), f"{clip.name}: no tail handle"
assert len(timeline.tracks.markers) == len(clips), "a chapter for each clip"
otio.adapters.write_to_file(timeline, copy, adapter_name="otio_json")
print(f"opentimelineio {otio.__version__}")
