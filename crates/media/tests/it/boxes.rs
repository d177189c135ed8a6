//! Rewriting of MP4 files box by box: fixtures that this project's own encoder does not write.

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
}

/// Form of a fragmented file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragments {
    pub(crate) base: Base,
    /// Samples of each track in a fragment.
    pub(crate) samples: usize,
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
    let mut out = Vec::new();
    put(&mut out, *b"ftyp", payload(file, &[b"ftyp"]));
    out.extend(index(moov, &tracks));
    let longest = tracks.iter().map(|track| track.samples.len()).max().unwrap();
    for (number, first) in (0..longest).step_by(form.samples).enumerate() {
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

/// `moov` without samples.
fn index(moov: &[u8], tracks: &[TrackData<'_>]) -> Vec<u8> {
    let mut inner = Vec::new();
    put(&mut inner, *b"mvhd", payload(moov, &[b"mvhd"]));
    for track in tracks {
        put(&mut inner, *b"trak", &empty_track(track.raw));
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

fn empty_track(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, inner) in boxes(raw) {
        match &name {
            // The length of the edit is not known in advance.
            b"edts" => {
                let edit = numbers(payload(inner, &[b"elst"]));
                let mut list = Vec::new();
                put(&mut list, *b"elst", &full(0, &[1, 0, edit[3], edit[4]]));
                put(&mut out, *b"edts", &list);
            }
            b"mdia" | b"minf" | b"stbl" => put(&mut out, name, &empty_track(inner)),
            b"stts" | b"stsc" | b"stco" | b"stss" => put(&mut out, name, &full(0, &[0])),
            b"stsz" => put(&mut out, name, &full(0, &[0, 0])),
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
        }
        put(&mut traf, *b"tfdt", &full(0, &[first as u32 * track.duration]));
        let mut fields = vec![samples.len() as u32, begin];
        for (sample, sync) in samples {
            fields.extend([sample.len() as u32, if *sync { 0 } else { 0x0001_0000 }]);
            data.extend_from_slice(sample);
        }
        put(&mut traf, *b"trun", &full(0x601, &fields));
        put(&mut inner, *b"traf", &traf);
    }
    let mut moof = Vec::new();
    put(&mut moof, *b"moof", &inner);
    (moof, data)
}
