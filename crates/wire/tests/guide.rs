//! The guide shows the example, and the example does what the guide says.

#[path = "../examples/echo.rs"]
mod echo;

const GUIDE: &str = include_str!("../../../docs/embedding.md");
const EXAMPLE: &str = include_str!("../examples/echo.rs");

#[test]
fn the_example_runs() {
    echo::main().unwrap();
}

#[test]
fn the_blocks_of_the_guide_are_the_example_from_its_first_line_to_its_last() {
    let blocks = GUIDE.split("```rust\n").skip(1).map(|rest| rest.split("```\n").next().unwrap());
    let shown: Vec<_> = blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect();
    let example: Vec<_> = EXAMPLE.lines().filter(|line| !line.is_empty()).collect();
    for (shown, line) in shown.iter().zip(&example) {
        assert_eq!(shown, line, "the guide shows another line than the example");
    }
    assert_eq!(shown.len(), example.len(), "lines shown, and of the example");
    assert!(EXAMPLE.lines().count() <= 150);
}
