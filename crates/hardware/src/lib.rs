#![doc = include_str!("../README.md")]

use document::Hardware;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// Bytes in a GB as memory is sold.
const GIB: f64 = (1u64 << 30) as f64;

/// What the operating system tells of this machine: system, processor, memory.
#[must_use]
pub fn this_machine() -> Hardware {
    let system = System::new_with_specifics(
        RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram()),
    );
    let cpu = system
        .cpus()
        .first()
        .map(|cpu| cpu.brand().trim().to_owned());
    let ram_gb = (system.total_memory() as f64 / GIB * 10.0).round() / 10.0;
    Hardware {
        cpu: cpu.filter(|name| !name.is_empty()),
        ram_gb: (ram_gb > 0.0).then_some(ram_gb),
        os: Some(std::env::consts::OS.to_owned()),
        ..Hardware::default()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_has_a_system_and_memory() {
        let machine = super::this_machine();
        assert_eq!(machine.os.as_deref(), Some(std::env::consts::OS));
        assert!(machine.ram_gb.is_some_and(|gb| gb > 0.1));
    }
}
