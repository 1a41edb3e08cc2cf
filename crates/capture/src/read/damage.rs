//! What was damaged in a file, and where.

use std::fmt;

/// A place where a file is damaged. Reading went on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The number of the packet that was to be read.
    pub packet: u64,
    /// Bytes from the beginning of the file, unpacked.
    pub offset: u64,
    /// What is wrong there.
    pub what: What,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The file ends within a packet or block.
    CutOff {
        /// Bytes that it was to have.
        needs: u64,
        /// Bytes that there are.
        has: u64,
    },
    /// A length that cannot be: what follows was searched for the next packet.
    Length {
        /// The length.
        len: u32,
    },
    /// A block is too short for what it has to contain.
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
    /// A section in a version of the format that is not known.
    Version {
        /// The major version.
        major: u16,
    },
    /// What it is packed with came to an untimely end.
    Unpacking,
}

/// All damages of a file: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    count: u64,
    first: Vec<Damage>,
}

impl Damages {
    /// Most damages that are kept with their places.
    pub const KEPT: usize = 100;

    pub(super) fn add(&mut self, damage: Damage) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(damage);
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first of them, if there are any.
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
            What::Length { len } => write!(f, "a length of {len} bytes cannot be; the next packet was searched for"),
            What::Block { kind, len } => write!(f, "{len} bytes are too few for a block of kind {kind:#x}"),
            What::Interface { number } => write!(f, "it is of interface {number}, which the file does not describe"),
            What::Version { major } => write!(f, "a section of version {major}, of which only 1 is known"),
            What::Unpacking => write!(f, "it cannot be unpacked from here on"),
        }
    }
}
