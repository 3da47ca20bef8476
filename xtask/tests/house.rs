//! The house rules hold for the workspace as it is.

use std::process::Command;

#[test]
fn the_house_rules_hold() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("check")
        .output()
        .expect("xtask runs");
    assert!(
        output.status.success(),
        "\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
