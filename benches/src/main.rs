//! The command.
use std::sync::Arc;
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let n: u64 = std::env::args().nth(2).unwrap_or_default().parse()?;
    let store = store::Store::open(&format!("sqlite:{path}").parse()?).await?;
    let world = Arc::new(benches::world::World::new(1)?);
    let start = std::time::Instant::now();
    benches::fill::fill(&store, &world, n, |there| {
        eprintln!("{there} {:?}", start.elapsed())
    })
    .await
}
