//! `serve PRESET PORT SPEED [FAULT…]`: a simulated server until Ctrl-C.
#![allow(clippy::print_stdout)]

use simulator::{Config, Simulator};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut config = Config::preset(&arguments.next().ok_or("a preset")?)?;
    config.listen = ([127, 0, 0, 1], arguments.next().ok_or("a port")?.parse()?).into();
    config.speed = arguments.next().ok_or("a speed")?.parse()?;
    for fault in arguments {
        config.faults.push(fault.parse()?);
    }
    let server = Simulator::start(config).await?;
    println!("{} {}", server.url(), server.config().model);
    tokio::signal::ctrl_c().await?;
    server.stop().await;
    Ok(())
}
