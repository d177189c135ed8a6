"""Opens exported drafts with the public libraries for them and writes them again. Arguments: the folder of the drafts, the film's seconds."""

import os
import sys

import pycapcut
import pyJianYingDraft

folder, duration = sys.argv[1], round(float(sys.argv[2]) * 1_000_000)
PLACEHOLDER = "##_draftpath_placeholder_0E685133-18CE-45ED-8CB8-2904A212EC80_##"


def check(library, name, transitions, fade_outs):
    script = library.DraftFolder(folder).duplicate_as_template(name, name + ".copy")
    assert script.duration == duration, (script.duration, duration)
    video, titles = script.imported_tracks[:2]
    assert video.track_type == library.TrackType.video, video.track_type
    assert titles.track_type == library.TrackType.text, titles.track_type
    assert video.end_time == duration, (video.end_time, duration)
    materials = {material["id"]: material for kind in script.imported_materials.values() for material in kind}
    end, used = 0, []
    for segment in video.segments:
        shown, played = segment.target_timerange, segment.source_timerange
        material = materials[segment.material_id]
        assert shown.start == end, (shown, end)
        assert played.end <= material["duration"], (played, material)
        path = material["path"].replace(PLACEHOLDER, os.path.join(folder, name))
        assert os.path.isabs(path) and os.path.isfile(path), path
        end = shown.end
        for reference in segment.raw_data["extra_material_refs"]:
            material = materials[reference]
            if material["type"] == "transition":
                used.append((material["resource_id"], material["effect_id"]))
                assert used[-1] in transitions, f"{library.__name__} knows no transition {material}"
            for animation in material.get("animations", []):
                used.append((animation["resource_id"], animation["id"]))
                assert used[-1] in fade_outs, f"{library.__name__} knows no animation {animation}"
    assert len(used) == len(video.segments), used
    script.replace_text(titles, 0, "FIN")
    script.save()
    copy = library.DraftFolder(folder).load_template(name + ".copy")
    assert copy.duration == duration and "FIN" in copy.imported_materials["texts"][0]["content"]


def ids(effects):
    return {(effect.value.resource_id, effect.value.effect_id) for effect in effects}


check(pyJianYingDraft, "Jianying", ids(pyJianYingDraft.TransitionType), ids(pyJianYingDraft.OutroType))
check(pycapcut, "CapCut", ids(pycapcut.TransitionType), ids(pycapcut.OutroType))
print("pyJianYingDraft and pycapcut")
