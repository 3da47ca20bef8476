//! Machines as their makers specify them, commonest first.

/// What a machine is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineKind {
    /// A card with memory of its own.
    Discrete,
    /// Memory shared by processor and GPU.
    Unified,
    /// No GPU.
    Processor,
}

impl MachineKind {
    /// As run documents say it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            MachineKind::Discrete => "Discrete GPU",
            MachineKind::Unified => "Unified memory",
            MachineKind::Processor => "CPU only",
        }
    }
}

/// A GPU, or a machine without one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// What it is made of.
    pub kind: MachineKind,
    /// Memory of one, GB.
    pub memory_gb: f64,
    /// Memory bandwidth of one, GB/s.
    pub bandwidth_gb_s: f64,
    /// Dense 16-bit arithmetic of one, TFLOP/s.
    pub tflops: f64,
}

const fn card(name: &'static str, memory_gb: f64, bandwidth_gb_s: f64, tflops: f64) -> Machine {
    Machine {
        name,
        kind: MachineKind::Discrete,
        memory_gb,
        bandwidth_gb_s,
        tflops,
    }
}

const fn unified(name: &'static str, memory_gb: f64, bandwidth_gb_s: f64, tflops: f64) -> Machine {
    Machine {
        name,
        kind: MachineKind::Unified,
        memory_gb,
        bandwidth_gb_s,
        tflops,
    }
}

const fn processor(
    name: &'static str,
    memory_gb: f64,
    bandwidth_gb_s: f64,
    tflops: f64,
) -> Machine {
    Machine {
        name,
        kind: MachineKind::Processor,
        memory_gb,
        bandwidth_gb_s,
        tflops,
    }
}

/// Commonest first.
pub const MACHINES: [Machine; 60] = [
    card("RTX PRO 6000 Blackwell Server Edition", 96.0, 1597.0, 503.0),
    card("GeForce RTX 4090", 24.0, 1008.0, 165.0),
    card("H100 SXM5 80GB", 80.0, 3350.0, 989.0),
    card("GeForce RTX 3090", 24.0, 936.0, 71.0),
    card("GeForce RTX 5090", 32.0, 1792.0, 210.0),
    card("H200 SXM 141GB", 141.0, 4800.0, 989.0),
    card("A100 SXM4 80GB", 80.0, 2039.0, 312.0),
    card("L40S", 48.0, 864.0, 362.0),
    card("B200 SXM 180GB", 180.0, 8000.0, 2250.0),
    unified("Apple M4 Max", 128.0, 546.0, 34.0),
    card("RTX 6000 Ada Generation", 48.0, 960.0, 364.0),
    unified("Ryzen AI Max+ 395", 128.0, 256.0, 59.0),
    unified("NVIDIA GB10", 128.0, 273.0, 125.0),
    card("Instinct MI300X", 192.0, 5300.0, 1307.0),
    card("A100 PCIe 40GB", 40.0, 1555.0, 312.0),
    card("RTX A6000", 48.0, 768.0, 155.0),
    card("GeForce RTX 5080", 16.0, 960.0, 113.0),
    card("GeForce RTX 4080 SUPER", 16.0, 736.0, 104.0),
    card("H100 PCIe 80GB", 80.0, 2000.0, 756.0),
    card("GeForce RTX 5070 Ti", 16.0, 896.0, 88.0),
    card("Radeon RX 7900 XTX", 24.0, 960.0, 123.0),
    card("L4", 24.0, 300.0, 121.0),
    unified("Apple M3 Ultra", 512.0, 819.0, 57.0),
    card("Instinct MI325X", 256.0, 6000.0, 1307.0),
    card("A10G", 24.0, 600.0, 70.0),
    card("GeForce RTX 4070 Ti SUPER", 16.0, 672.0, 88.0),
    card("GeForce RTX 3060 12GB", 12.0, 360.0, 25.0),
    card("Radeon AI PRO R9700", 32.0, 640.0, 96.0),
    card("Tesla V100 SXM2 32GB", 32.0, 900.0, 125.0),
    card("GeForce RTX 5060 Ti 16GB", 16.0, 448.0, 47.0),
    processor("EPYC 9654 96-Core", 768.0, 461.0, 10.0),
    card("Tesla P40", 24.0, 347.0, 12.0),
    unified("Apple M2 Ultra", 192.0, 800.0, 54.0),
    card("GH200 480GB", 96.0, 4000.0, 989.0),
    card("Instinct MI355X", 288.0, 8000.0, 2500.0),
    card("Arc Pro B60", 24.0, 456.0, 98.0),
    card("GeForce RTX 3080 10GB", 10.0, 760.0, 60.0),
    card("GeForce RTX 4060 Ti 16GB", 16.0, 288.0, 44.0),
    card("Radeon RX 9070 XT", 16.0, 640.0, 97.0),
    unified("Apple M4 Pro", 64.0, 273.0, 17.0),
    processor("Xeon 6980P", 1024.0, 844.0, 40.0),
    card("Tesla T4", 16.0, 320.0, 65.0),
    card("Arc A770 16GB", 16.0, 560.0, 78.0),
    card("A40", 48.0, 696.0, 150.0),
    card("Radeon PRO W7900", 48.0, 864.0, 123.0),
    unified("Apple M1 Max", 64.0, 400.0, 10.0),
    card("Instinct MI210", 64.0, 1638.0, 181.0),
    card("RTX 4000 SFF Ada Generation", 20.0, 280.0, 77.0),
    processor("Ryzen 9 9950X", 192.0, 90.0, 2.5),
    card("GeForce RTX 2080 Ti", 11.0, 616.0, 54.0),
    unified("Jetson AGX Orin 64GB", 64.0, 205.0, 42.0),
    card("Gaudi 3", 128.0, 3700.0, 1835.0),
    processor("Xeon Platinum 8480+", 512.0, 307.0, 25.0),
    card("Instinct MI100", 32.0, 1229.0, 92.0),
    unified("Jetson Thor", 128.0, 273.0, 250.0),
    processor("Threadripper PRO 7995WX", 512.0, 333.0, 11.0),
    card("Tesla P100 16GB", 16.0, 732.0, 21.0),
    processor("Core i9-14900K", 128.0, 85.0, 1.6),
    unified("Apple M3", 24.0, 100.0, 7.0),
    processor("Graviton4", 768.0, 537.0, 8.0),
];
