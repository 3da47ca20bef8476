//! axe-core, which finds what keeps people out of a page.

use serde_json::Value;

use super::Browser;

/// Names the file of axe-core. `scripts/test browser` fetches it.
const AXE_VARIABLE: &str = "TOKGRID_AXE";
/// Of axe's minor, moderate, serious and critical.
const GRAVE: [&str; 2] = ["serious", "critical"];
/// Hands over what axe finds: which rule, how grave, where.
const RUN: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(
        found => done({
            passes: found.passes.length,
            violations: found.violations.flatMap(violation => violation.nodes.map(node => ({
                rule: violation.id,
                impact: violation.impact,
                where: node.target.join(' '),
                why: node.failureSummary,
            }))),
        }),
        error => done({ error: String(error) }));";

/// The script.
pub fn script() -> String {
    let path = std::env::var(AXE_VARIABLE).unwrap_or_else(|_| {
        panic!("{AXE_VARIABLE} names no file of axe-core: scripts/test browser does")
    });
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The grave faults of the page that is shown.
pub async fn grave_faults(browser: &Browser, script: &str) -> Vec<String> {
    browser.eval(script).await;
    let found = browser.eval_later(RUN).await;
    assert_eq!(found["error"], Value::Null, "axe failed");
    assert!(
        found["passes"].as_u64().unwrap() > 0,
        "axe looked at nothing"
    );
    let violations = found["violations"].as_array().unwrap();
    let grave = violations
        .iter()
        .filter(|violation| GRAVE.iter().any(|impact| violation["impact"] == *impact));
    grave.map(|violation| format!("{violation:#}")).collect()
}
