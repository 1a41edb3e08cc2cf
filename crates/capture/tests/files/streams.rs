//! A file has the same contents in one piece, in many, and packed.

use crate::make::{header, packet, read_all, whole, Keep};
use ackclock_capture::read::{Packing, Reader};
use ackclock_capture::{analyse, Contents, Frame, Input};
use std::io::{Read, Write};

const ACK: u8 = 0x10;

/// Returns a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(buf.len()).min(1 + self.1 % 7);
        self.1 = self.1.wrapping_mul(31).wrapping_add(7);
        let (now, rest) = self.0.split_at(n);
        buf[..n].copy_from_slice(now);
        self.0 = rest;
        Ok(n)
    }
}

fn pcap(packets: u32) -> Vec<u8> {
    let packets: Vec<_> = (0..packets).map(|i| packet(&header(i % 2 == 0, ACK, 10 * i, 7), 10)).collect();
    whole(101, &packets)
}

fn pcapng() -> Vec<u8> {
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
    let mut writer = pcap_file::pcapng::PcapNgWriter::new(vec![]).unwrap();
    writer
        .write_pcapng_block(InterfaceDescriptionBlock {
            linktype: pcap_file::DataLink::RAW,
            snaplen: 0,
            options: vec![],
        })
        .unwrap();
    for i in 0..300u32 {
        let data = packet(&header(false, ACK, 10 * i, 7), 10 + i as usize % 4);
        writer
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: std::time::Duration::from_micros(u64::from(i)),
                original_len: data.len() as u32,
                data: data.into(),
                options: vec![],
            })
            .unwrap();
    }
    writer.into_inner()
}

#[test]
fn a_stream_has_the_same_results_as_the_file() {
    for file in [pcap(300), pcapng()] {
        let (want, contents, traffic) = read_all(&file);
        let mut keep = Keep::default();
        let of = analyse(Input::Stream(&mut Trickle(&file, 1)), 100, &mut keep).unwrap();
        assert_eq!(of, (contents, traffic));
        let segments = |all: &[crate::make::Finished]| all.iter().flat_map(|t| t.segments.clone()).collect::<Vec<_>>();
        assert_eq!(segments(&keep.0), segments(&want));
        assert_eq!(segments(&want).len(), 300);
    }
}

#[test]
fn wherever_a_damaged_file_is_cut_into_pieces_the_same_is_found_in_it() {
    for (file, at) in [(pcap(300), 24 + 86 + 66 + 86 + 8), (pcapng(), 28 + 20 + 3 * 84 + 4)] {
        let mut file = file;
        file[at..at + 4].copy_from_slice(&[0xee; 4]);
        let read = |pieces: &mut dyn FnMut(usize) -> usize| {
            let (mut reader, mut frames) = (Reader::default(), vec![]);
            let (mut done, mut offered) = (0, 0);
            let mut each =
                |frame: &Frame<'_>| frames.push((frame.number, frame.offset, frame.at, frame.bytes.to_vec()));
            while offered < file.len() {
                offered = (offered + pieces(offered)).min(file.len());
                done += reader.feed(&file[done..offered], offered == file.len(), &mut each).unwrap();
            }
            let contents: Contents = reader.finish(Packing::Plain).unwrap();
            (frames, contents)
        };
        let want = read(&mut |_| usize::MAX / 2);
        assert_eq!((want.0.len() >= 298, want.1.damages.count()), (true, 1), "{:?}", want.1.damages);
        assert_eq!(want.1.bytes, file.len() as u64);
        for step in [1, 7, 50, 1000] {
            assert_eq!(read(&mut |_| step), want, "{step}");
        }
    }
}

#[test]
fn packed_files_are_unpacked() {
    let file = pcap(6000);
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    gzip.write_all(&file[..5000]).unwrap();
    let mut two = gzip.finish().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    gzip.write_all(&file[5000..]).unwrap();
    two.extend(gzip.finish().unwrap());
    let blocks = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut lz4 = lz4_flex::frame::FrameEncoder::with_frame_info(blocks, vec![]);
    lz4.write_all(&file).unwrap();
    let zstd = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let zstd = [zstd(&file[..200_000]), zstd(&file[200_000..])].concat();
    let (_, want, _) = read_all(&file);
    for (packed, packing) in [(two, Packing::Gzip), (lz4.finish().unwrap(), Packing::Lz4), (zstd, Packing::Zstd)] {
        for stream in [false, true] {
            let mut trickle = Trickle(&packed, 3);
            let input = if stream { Input::Stream(&mut trickle) } else { Input::Bytes(&packed) };
            let (contents, traffic) = analyse(input, 100, &mut Keep::default()).unwrap();
            assert_eq!((contents.packing, contents.bytes, traffic.segments), (packing, want.bytes, 6000));
            assert_eq!(contents.damages.count(), 0);
        }
        // Data unpacked before the end counts.
        let (contents, _) =
            analyse(Input::Bytes(&packed[..packed.len() - packed.len() / 3]), 100, &mut Keep::default())
                .unwrap_or_else(|e| panic!("{packing:?}: {e}"));
        assert!(contents.frames < 6000 && contents.damages.count() > 0, "{packing:?}: {contents:?}");
    }
}

#[test]
fn a_file_that_is_packed_in_an_unknown_way_says_how() {
    let error = analyse(Input::Bytes(b"\xfd7zXZ\0\0\0................"), 9, &mut Keep::default()).unwrap_err();
    assert_eq!(error.to_string(), "it is compressed with xz; decompress it first");
}
