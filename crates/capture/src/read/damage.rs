//! The damage in a file, with its places.

use std::fmt;

/// A place where a file is damaged. Reading continued behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The number of the packet that was expected there.
    pub packet: u64,
    /// Bytes from the beginning of the unpacked file.
    pub offset: u64,
    /// The kind of damage.
    pub what: What,
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The file ends within a packet or block.
    CutOff {
        /// The bytes it needs.
        needs: u64,
        /// The bytes available.
        has: u64,
    },
    /// An impossible length: the following bytes were searched for the next packet.
    Length {
        /// The length.
        len: u32,
    },
    /// A block that is too short for its mandatory content.
    Block {
        /// Its kind.
        kind: u32,
        /// Its length, bytes.
        len: u32,
    },
    /// A packet of an interface that the file does not describe.
    Interface {
        /// Its number in the section.
        number: u32,
    },
    /// A section in an unknown version of the format.
    Version {
        /// The major version.
        major: u16,
    },
    /// The compressed data is corrupt or ends early.
    Unpacking,
}

/// All damage in a file: the number of places, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    count: u64,
    first: Vec<Damage>,
}

impl Damages {
    /// The maximum number of places that are kept.
    pub const KEPT: usize = 100;

    pub(super) fn add(&mut self, damage: Damage) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(damage);
        }
    }

    /// The number of places.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first place, if there is any.
    pub fn first(&self) -> Option<&Damage> {
        self.first.first()
    }

    /// The first [`Damages::KEPT`] of them.
    pub fn kept(&self) -> &[Damage] {
        &self.first
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} at byte {}: {}", self.packet, self.offset, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::CutOff { needs, has } => write!(f, "the file ends after {has} of {needs} bytes"),
            What::Length { len } => {
                write!(f, "a length of {len} bytes is impossible; reading resumed at the next packet")
            }
            What::Block { kind, len } => write!(f, "{len} bytes are too few for a block of kind {kind:#x}"),
            What::Interface { number } => {
                write!(f, "it refers to interface {number}, which the file does not describe")
            }
            What::Version { major } => write!(f, "a section of version {major}; only version 1 is known"),
            What::Unpacking => write!(f, "it cannot be decompressed from here on"),
        }
    }
}
