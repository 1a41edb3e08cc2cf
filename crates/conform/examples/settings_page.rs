//! Prints the guide's page about the settings of scripts.

fn main() {
    print!("{}", ackclock_conform::engine::page());
}
