//! The XMP packet of a film (ISO 16684-1): where its frames come from, in the vocabulary of IPTC, its title and its description.
//!
//! A film has it in a `uuid` box. Other containers have forms of their own (XMP specification part 3): `XMP_` in the user data of
//! `QuickTime`, an application extension in GIF.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use super::boxes::{BoxWriter, children};
use super::tags::FilmTags;
use super::top_level::{self, TopLevelBox};
use crate::MediaError;

/// Marks the box of an XMP packet (XMP specification part 3, "MPEG-4").
const UUID: [u8; 16] =
    [0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac];
/// The property of the source of frames, with the beginning of its value.
const SOURCE: &str = "Iptc4xmpExt:DigitalSourceType=\"";
/// The largest packet that is carried over, in bytes.
const MAX_PACKET_BYTES: u64 = 16 << 20;
/// The largest index of a film that is changed, in bytes.
const MAX_INDEX_BYTES: u64 = 256 << 20;

/// The box of a film's packet; nothing where the source of the frames is not known.
pub(super) fn film_box(tags: &FilmTags) -> Vec<u8> {
    let Some(packet) = packet(tags) else { return Vec::new() };
    uuid_box(packet.as_bytes())
}

fn packet(tags: &FilmTags) -> Option<String> {
    let source = tags.source?.term();
    let text = |name: &str, text: &Option<String>| {
        text.as_deref().map_or_else(String::new, |text| {
            let text = escaped(text);
            format!("<{name}><rdf:Alt><rdf:li xml:lang=\"x-default\">{text}</rdf:li></rdf:Alt></{name}>\n")
        })
    };
    let tool = tags.encoder.as_deref().map(|tool| format!(" xmp:CreatorTool=\"{}\"", escaped(tool)));
    Some(format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n\
         <rdf:Description rdf:about=\"\" xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" \
         {SOURCE}http://cv.iptc.org/newscodes/digitalsourcetype/{source}\"{}>\n{}{}\
         </rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>",
        tool.unwrap_or_default(),
        text("dc:title", &tags.title),
        text("dc:description", &tags.description),
    ))
}

/// Text as XML has it, without the control characters that it cannot have.
fn escaped(text: &str) -> String {
    let is_legal =
        |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    quick_xml::escape::escape(text.chars().filter(is_legal).collect::<String>()).into_owned()
}

fn uuid_box(packet: &[u8]) -> Vec<u8> {
    let mut out = BoxWriter::default();
    out.child(*b"uuid", |out| {
        out.bytes(&UUID);
        out.bytes(packet);
    });
    out.into_bytes()
}

/// The packet of a film that [`crate::join`] has written; `None` if it has none.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn film_packet(path: &Path) -> Result<Option<Vec<u8>>, MediaError> {
    read_packet(path).map_err(MediaError::io("cannot read the film")).map_err(|error| error.at(path))
}

fn read_packet(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let is_packet = |file: &mut File, top_box: &TopLevelBox| {
        let mut uuid = [0; UUID.len()];
        Ok(top_box.name == *b"uuid"
            && top_box.payload_bytes() >= UUID.len() as u64
            && file.read_exact(&mut uuid).map(|()| uuid == UUID)?)
    };
    let Some(top_box) = top_level::find(&mut file, is_packet)? else { return Ok(None) };
    let payload = top_level::payload(&mut file, &top_box, MAX_PACKET_BYTES)?;
    Ok(payload.and_then(|payload| payload.get(UUID.len()..).map(<[u8]>::to_vec)))
}

/// Where the frames come from, as the URL of a term, from a packet that this crate has written.
pub(crate) fn source_of(packet: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(packet).ok()?;
    let (_, rest) = text.split_once(SOURCE)?;
    rest.split_once('"').map(|(source, _)| source)
}

/// Appends a packet to an MP4 file.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn append_to_mp4(path: &Path, packet: &[u8]) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(&uuid_box(packet))
}

/// Puts a packet into the user data of a `QuickTime` file whose index is its last box, as ffmpeg writes it.
///
/// # Errors
/// When the file cannot be read or written, and when its index is not its last box.
pub(crate) fn add_to_quicktime(path: &Path, packet: &[u8]) -> io::Result<()> {
    let other_form = || io::Error::new(io::ErrorKind::InvalidData, "its index is not at its end");
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let index = top_level::find(&mut file, |_, top_box| Ok(top_box.name == *b"moov"))?;
    let index = index.filter(|index| index.end == length).ok_or_else(other_form)?;
    let payload = top_level::payload(&mut file, &index, MAX_INDEX_BYTES)?.ok_or_else(other_form)?;
    let mut new = BoxWriter::default();
    new.child(*b"moov", |out| {
        let mut user_data = Vec::new();
        for child in children(&payload) {
            if child.name == *b"udta" {
                // A list of user data may end with four zeros.
                children(child.payload).for_each(|item| user_data.extend_from_slice(item.whole));
            } else {
                out.bytes(child.whole);
            }
        }
        out.child(*b"udta", |out| {
            out.bytes(&user_data);
            out.child(*b"XMP_", |out| out.bytes(packet));
        });
    });
    file.seek(SeekFrom::Start(index.start))?;
    file.write_all(&new.into_bytes())
}

/// Puts a packet before the end of a GIF.
///
/// # Errors
/// When the file cannot be read or written, and when it does not end as a GIF does.
pub(crate) fn add_to_gif(path: &Path, packet: &[u8]) -> io::Result<()> {
    const TRAILER: u8 = 0x3b;
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut last = [0];
    let end = file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last != [TRAILER] {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not end as a GIF does"));
    }
    // A reader that takes the packet for blocks of data, each after its length, comes to the end wherever it lands in these bytes.
    let mut out = b"\x21\xff\x0bXMP DataXMP".to_vec();
    out.extend_from_slice(packet);
    out.push(0x01);
    out.extend((0..=u8::MAX).rev());
    out.extend([0, TRAILER]);
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DigitalSource;

    fn tags() -> FilmTags {
        FilmTags {
            title: Some("pier".to_owned()),
            description: Some("door: \"a <door>\" & more\u{1}\nstairs: up".to_owned()),
            encoder: Some("runner".to_owned()),
            source: Some(DigitalSource::TrainedAlgorithmicMedia),
            ..FilmTags::default()
        }
    }

    #[test]
    fn packet_says_what_the_film_is() {
        insta::assert_snapshot!(packet(&tags()).unwrap());
        assert_eq!(
            source_of(packet(&tags()).unwrap().as_bytes()),
            Some("http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia")
        );
        assert_eq!(packet(&FilmTags { source: None, ..tags() }), None);
    }

    #[test]
    fn packets_are_added_to_each_container() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let boxes = |list: &[([u8; 4], &[u8])]| {
            let mut out = BoxWriter::default();
            for (name, payload) in list {
                out.child(*name, |out| out.bytes(payload));
            }
            out.into_bytes()
        };
        let film = file("a.mp4", &boxes(&[(*b"ftyp", b"isom"), (*b"uuid", &[7; 20]), (*b"mdat", b"1")]));
        assert_eq!(film_packet(&film).unwrap(), None);
        append_to_mp4(&film, b"<x/>").unwrap();
        assert_eq!(film_packet(&film).unwrap().unwrap(), b"<x/>");

        let user_data = [&boxes(&[(*b"\xa9nam", b"pier")])[..], &[0; 4]].concat();
        let index = boxes(&[(*b"mvhd", b"m"), (*b"udta", &user_data), (*b"trak", b"t")]);
        let before = boxes(&[(*b"ftyp", b"qt  "), (*b"mdat", b"1")]);
        let movie = file("a.mov", &[&before[..], &boxes(&[(*b"moov", &index)])].concat());
        add_to_quicktime(&movie, b"<x/>").unwrap();
        let user_data = boxes(&[(*b"\xa9nam", b"pier"), (*b"XMP_", b"<x/>")]);
        let index = boxes(&[(*b"mvhd", b"m"), (*b"trak", b"t"), (*b"udta", &user_data)]);
        assert_eq!(std::fs::read(&movie).unwrap(), [&before[..], &boxes(&[(*b"moov", &index)])].concat());
        let media_last = file("b.mov", &boxes(&[(*b"moov", &index), (*b"mdat", b"1")]));
        assert!(add_to_quicktime(&media_last, b"<x/>").is_err());

        let gif = file("a.gif", b"GIF89a...\x3b");
        add_to_gif(&gif, b"<x/>").unwrap();
        let bytes = std::fs::read(&gif).unwrap();
        assert!(bytes.starts_with(b"GIF89a...\x21\xff\x0bXMP DataXMP<x/>\x01\xff\xfe"));
        // As blocks of data: from wherever a reader comes out of the packet it ends at the same zero.
        let data = bytes.len() - 259;
        for start in data..data + 257 {
            let mut position = start;
            while bytes[position] != 0 {
                position += 1 + usize::from(bytes[position]);
            }
            assert!(
                position == bytes.len() - 2 || position == bytes.len() - 3,
                "from {start}: {position} of {}",
                bytes.len()
            );
        }
        assert!(add_to_gif(&file("b.gif", b"GIF89a"), b"<x/>").is_err());
    }
}
