//! The library's exports, as packetdrill and the loader look them up.

#![cfg(target_os = "linux")]
#![cfg(target_pointer_width = "64")]

use std::path::PathBuf;

/// A number of `width` bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> usize {
    let mut all = [0; 8];
    let place = if cfg!(target_endian = "little") { 0..width } else { 8 - width..8 };
    all[place].copy_from_slice(&bytes[at..at + width]);
    u64::from_ne_bytes(all) as usize
}

/// The names of functions that an ELF file defines for the loader (`Elf64_Shdr`, `Elf64_Sym`; System V ABI, chapter 4).
fn exported(elf: &[u8]) -> Vec<String> {
    const DYNAMIC_SYMBOLS: usize = 11;
    let (headers, size, count) = (number(elf, 0x28, 8), number(elf, 0x3a, 2), number(elf, 0x3c, 2));
    let header = |section: usize| headers + section * size;
    let table =
        (0..count).map(header).find(|at| number(elf, at + 4, 4) == DYNAMIC_SYMBOLS).expect("a table of symbols");
    let (start, len) = (number(elf, table + 0x18, 8), number(elf, table + 0x20, 8));
    let strings = number(elf, header(number(elf, table + 0x28, 4)) + 0x18, 8);
    let symbols = (start..start + len).step_by(24);
    let defined = symbols.filter(|at| number(elf, at + 6, 2) != 0);
    let name = |at| elf[strings + number(elf, at, 4)..].split(|byte| *byte == 0).next().unwrap_or_default();
    defined.map(|at| String::from_utf8_lossy(name(at)).into_owned()).collect()
}

#[test]
fn the_library_exports_packetdrills_entry_and_the_calls_that_bypass_the_table() {
    let here = std::env::current_exe().expect("this program's path");
    let folder = here.parent().map(PathBuf::from).expect("its folder");
    let library = [folder.join("libackclock_packetdrill.so"), folder.join("../libackclock_packetdrill.so")]
        .into_iter()
        .find(|path| path.is_file())
        .expect("cargo builds the library for this test");
    let found = exported(&std::fs::read(library).expect("the library"));
    for name in ["packetdrill_interface_init", "getsockopt", "mlockall", "sched_setscheduler", "times"] {
        assert!(found.iter().any(|one| one == name), "{name} is not in {found:?}");
    }
}
