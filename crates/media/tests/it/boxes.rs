//! Rewriting of MP4 files box by box: fixtures that this project's own encoder does not write.

/// Appends a box.
pub(crate) fn put(out: &mut Vec<u8>, name: [u8; 4], payload: &[u8]) {
    out.extend((payload.len() as u32 + 8).to_be_bytes());
    out.extend(name);
    out.extend(payload);
}

/// The boxes in `bytes`: names and payloads.
pub(crate) fn boxes(mut bytes: &[u8]) -> Vec<([u8; 4], &[u8])> {
    let mut boxes = Vec::new();
    while bytes.len() >= 8 {
        let size = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        boxes.push((bytes[4..8].try_into().unwrap(), &bytes[8..size]));
        bytes = &bytes[size..];
    }
    boxes
}

/// The payload of the box at the end of a path.
pub(crate) fn payload<'a>(bytes: &'a [u8], path: &[&[u8; 4]]) -> &'a [u8] {
    path.iter().fold(bytes, |inside, name| {
        boxes(inside).into_iter().find(|(other, _)| other == *name).expect("the box is there").1
    })
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|field| u32::from_be_bytes(field.try_into().unwrap())).collect()
}

fn full(version_and_flags: u32, fields: &[u32]) -> Vec<u8> {
    [version_and_flags].iter().chain(fields).flat_map(|field| field.to_be_bytes()).collect()
}

/// How a fragment says where its data are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// `default-base-is-moof`.
    Moof,
    Absolute,
    /// Nothing: after the data of the track before, without offsets in its runs but the first one's.
    Previous,
}

/// Form of a fragmented file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragments {
    pub(crate) base: Base,
    /// Samples of each track in a fragment.
    pub(crate) samples: usize,
    /// Whether the index lists the first fragment itself.
    pub(crate) first_in_index: bool,
}

struct TrackData<'a> {
    id: u32,
    raw: &'a [u8],
    duration: u32,
    /// Data and sync flag of each sample.
    samples: Vec<(&'a [u8], bool)>,
}

/// The same clip in fragments. The clip is one of this project's encoder.
pub(crate) fn fragmented(file: &[u8], form: Fragments) -> Vec<u8> {
    let moov = payload(file, &[b"moov"]);
    let tracks: Vec<TrackData<'_>> = boxes(moov)
        .into_iter()
        .filter(|(name, _)| name == b"trak")
        .map(|(_, raw)| track_data(file, raw))
        .collect();
    let listed = if form.first_in_index { form.samples } else { 0 };
    let mut out = Vec::new();
    put(&mut out, *b"ftyp", payload(file, &[b"ftyp"]));
    let index_size = index(moov, &tracks, listed, 0).len();
    let begin = (out.len() + index_size + 8) as u32;
    out.extend(index(moov, &tracks, listed, begin));
    if listed > 0 {
        let data: Vec<u8> = tracks
            .iter()
            .flat_map(|track| &track.samples[..listed.min(track.samples.len())])
            .flat_map(|(data, _)| data.to_vec())
            .collect();
        put(&mut out, *b"mdat", &data);
    }
    let longest = tracks.iter().map(|track| track.samples.len()).max().unwrap();
    for (number, first) in (listed..longest).step_by(form.samples).enumerate() {
        let size = fragment(&tracks, form, number, first, 0, 0).0.len();
        let (moof, data) = fragment(&tracks, form, number, first, size, out.len());
        out.extend(moof);
        put(&mut out, *b"mdat", &data);
    }
    out
}

fn track_data<'a>(file: &'a [u8], raw: &'a [u8]) -> TrackData<'a> {
    let table = payload(raw, &[b"mdia", b"minf", b"stbl"]);
    let sizes = &numbers(payload(table, &[b"stsz"]))[3..];
    let chunks = &numbers(payload(table, &[b"stco"]))[2..];
    let runs = &numbers(payload(table, &[b"stsc"]))[2..];
    let duration = numbers(payload(table, &[b"stts"]))[3];
    let sync = boxes(table).into_iter().find(|(name, _)| name == b"stss");
    let sync = sync.map(|(_, stss)| numbers(stss)[2..].to_vec());
    let mut samples = Vec::new();
    for (i, chunk) in (1u32..).zip(chunks) {
        let count = runs.chunks_exact(3).rfind(|run| run[0] <= i).unwrap()[1];
        let mut offset = *chunk as usize;
        for _ in 0..count {
            let size = sizes[samples.len()] as usize;
            let number = samples.len() as u32 + 1;
            samples.push((
                &file[offset..offset + size],
                sync.as_ref().is_none_or(|sync| sync.contains(&number)),
            ));
            offset += size;
        }
    }
    TrackData { id: numbers(payload(raw, &[b"tkhd"]))[3], raw, duration, samples }
}

/// `moov` with the first samples of each track, whose data begin at `begin`.
fn index(moov: &[u8], tracks: &[TrackData<'_>], listed: usize, begin: u32) -> Vec<u8> {
    let mut inner = Vec::new();
    put(&mut inner, *b"mvhd", payload(moov, &[b"mvhd"]));
    let mut begin = begin;
    for track in tracks {
        let samples = &track.samples[..listed.min(track.samples.len())];
        put(&mut inner, *b"trak", &short_track(track.raw, samples, track.duration, begin));
        begin += samples.iter().map(|(data, _)| data.len() as u32).sum::<u32>();
    }
    let mut extends = Vec::new();
    for track in tracks {
        put(&mut extends, *b"trex", &full(0, &[track.id, 1, track.duration, 0, 0x0001_0000]));
    }
    put(&mut inner, *b"mvex", &extends);
    let mut out = Vec::new();
    put(&mut out, *b"moov", &inner);
    out
}

fn short_track(raw: &[u8], samples: &[(&[u8], bool)], duration: u32, begin: u32) -> Vec<u8> {
    let count = samples.len() as u32;
    let mut out = Vec::new();
    for (name, inner) in boxes(raw) {
        let sizes = samples.iter().map(|(data, _)| data.len() as u32);
        match &name {
            // The length of the edit is not known in advance.
            b"edts" => {
                let edit = numbers(payload(inner, &[b"elst"]));
                let mut list = Vec::new();
                put(&mut list, *b"elst", &full(0, &[1, 0, edit[3], edit[4]]));
                put(&mut out, *b"edts", &list);
            }
            b"mdia" | b"minf" | b"stbl" => {
                put(&mut out, name, &short_track(inner, samples, duration, begin));
            }
            b"stts" if count > 0 => put(&mut out, *b"stts", &full(0, &[1, count, duration])),
            b"stsc" if count > 0 => put(&mut out, *b"stsc", &full(0, &[1, 1, count, 1])),
            b"stco" if count > 0 => put(&mut out, *b"stco", &full(0, &[1, begin])),
            b"stts" | b"stsc" | b"stco" => put(&mut out, name, &full(0, &[0])),
            b"stsz" => {
                let fields: Vec<u32> = [0, count].into_iter().chain(sizes).collect();
                put(&mut out, *b"stsz", &full(0, &fields));
            }
            b"stss" => {
                let sync: Vec<u32> =
                    (1..).zip(samples).filter(|(_, (_, sync))| *sync).map(|(number, _)| number).collect();
                let fields: Vec<u32> = [sync.len() as u32].into_iter().chain(sync).collect();
                put(&mut out, *b"stss", &full(0, &fields));
            }
            _ => put(&mut out, name, inner),
        }
    }
    out
}

/// A `moof` of `moof_size` bytes at `moof_offset`, and the data of its samples.
fn fragment(
    tracks: &[TrackData<'_>],
    form: Fragments,
    number: usize,
    first: usize,
    moof_size: usize,
    moof_offset: usize,
) -> (Vec<u8>, Vec<u8>) {
    let (mut inner, mut data) = (Vec::new(), Vec::new());
    put(&mut inner, *b"mfhd", &full(0, &[number as u32 + 1]));
    let mut is_first = true;
    for track in tracks {
        let until = (first + form.samples).min(track.samples.len());
        let Some(samples) = track.samples.get(first..until).filter(|samples| !samples.is_empty()) else {
            continue;
        };
        let begin = (moof_size + 8 + data.len()) as u32;
        let mut traf = Vec::new();
        match form.base {
            Base::Moof => put(&mut traf, *b"tfhd", &full(0x0002_0000, &[track.id])),
            Base::Absolute => put(&mut traf, *b"tfhd", &full(1, &[track.id, 0, moof_offset as u32])),
            Base::Previous => put(&mut traf, *b"tfhd", &full(0, &[track.id])),
        }
        // Without a clock of its own, a fragment goes on where the one before it ended.
        if form.base != Base::Previous {
            put(&mut traf, *b"tfdt", &full(0, &[first as u32 * track.duration]));
        }
        let has_offset = form.base != Base::Previous || is_first;
        let flags = 0x600 | u32::from(has_offset);
        let mut fields = vec![samples.len() as u32];
        fields.extend(has_offset.then_some(begin));
        for (sample, sync) in samples {
            fields.extend([sample.len() as u32, if *sync { 0 } else { 0x0001_0000 }]);
            data.extend_from_slice(sample);
        }
        put(&mut traf, *b"trun", &full(flags, &fields));
        put(&mut inner, *b"traf", &traf);
        is_first = false;
    }
    let mut moof = Vec::new();
    put(&mut moof, *b"moof", &inner);
    (moof, data)
}
