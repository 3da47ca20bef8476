//! What answered and on what, as far as the file says it without naming anybody.

use document::{Engine, Extra, Hardware, Model, RunDocument, RunEvent, Telemetry};

use super::positive;
use crate::error::ImportError;
use crate::fields::Fields;

/// Most lines of the event log that are read.
const MAX_EVENTS: usize = 100_000;
/// Most GPUs of a machine.
const MAX_GPUS: u64 = 1024;
/// MiB in a GiB; what makers call a GB of memory.
const MIB_PER_GB: f64 = 1024.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Fills model, engine, hardware, telemetry and events.
pub(super) fn read(
    file: &Fields<'_>,
    metadata: &Fields<'_>,
    run: &mut RunDocument,
    notes: &mut Vec<String>,
) -> Result<(), ImportError> {
    run.model = model(metadata)?;
    run.engine = engine(metadata)?;
    run.hardware = hardware(file, metadata, notes)?;
    run.events = events(&file.texts("event_log", MAX_EVENTS)?);
    if let Some(summary) = file.object("hardware_run_summary")? {
        let extra = summary.unread(&[]);
        run.telemetry = (!extra.is_empty()).then_some(Telemetry { extra });
    }
    let missing: Vec<&str> = [
        ("the model", run.model.id.is_none()),
        ("its revision", run.model.revision.is_none()),
        ("the engine", run.engine.name.is_none()),
        ("its version", run.engine.version.is_none()),
        ("the quantization", run.engine.quantization.is_none()),
        ("the GPU", run.hardware.gpu.is_none()),
        (
            "how many GPUs the server used",
            run.hardware.gpu_count.is_none(),
        ),
        ("the launch command", true),
        ("when it ran, with a time zone", run.finished_at.is_none()),
    ]
    .into_iter()
    .filter(|(_, is_null)| *is_null)
    .map(|(what, _)| what)
    .collect();
    notes.push(format!("The file does not say: {}.", missing.join(", ")));
    if run.engine.max_model_len.is_none() {
        notes.push("The file does not say the model's longest sequence, so `exceeds_context` cannot be judged.".to_owned());
    }
    Ok(())
}

fn model(metadata: &Fields<'_>) -> Result<Model, ImportError> {
    let name = metadata.text("model")?.map(|name| public_name(&name));
    let served = metadata
        .text("served_model")?
        .map(|name| public_name(&name));
    Ok(Model {
        served_name: served.or_else(|| name.clone()),
        id: name,
        revision: metadata.text("revision")?,
        extra: Extra::new(),
    })
}

/// A model served from a folder is known by its name: paths name people.
fn public_name(name: &str) -> String {
    let is_path =
        name.starts_with(['/', '~', '.']) || name.contains('\\') || name.matches('/').count() > 1;
    let last = name
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next();
    match last {
        Some(last) if is_path => last.to_owned(),
        Some(_) | None => name.to_owned(),
    }
}

fn engine(metadata: &Fields<'_>) -> Result<Engine, ImportError> {
    Ok(Engine {
        name: metadata.text("engine")?,
        version: metadata.text("engine_version")?,
        quantization: metadata.text("quantization")?,
        backend: metadata.text("backend")?,
        repository: metadata.text("repository")?,
        build: metadata.text("build")?,
        commit: metadata.text("commit")?,
        max_model_len: positive(metadata.count("max_model_len")?),
        max_num_seqs: metadata.small_count("max_num_seqs")?,
        // The tool's word for the server's KV budget.
        kv_cache_tokens: positive(metadata.count("max_total_tokens")?),
        extra: Extra::new(),
    })
}

fn hardware(
    file: &Fields<'_>,
    metadata: &Fields<'_>,
    notes: &mut Vec<String>,
) -> Result<Hardware, ImportError> {
    let mut hardware = Hardware {
        gpu: metadata.text("gpu")?,
        gpu_count: metadata.small_count("gpu_count")?,
        vram_gb_each: metadata.figure("vram_gb_each")?,
        ..Hardware::default()
    };
    if let Some(startup) = file.object("startup_diagnostics")? {
        let system = startup.text("uname")?;
        hardware.os = system
            .and_then(|uname| uname.split(' ').next().map(str::to_lowercase))
            .filter(|os| !os.is_empty());
        if let Some(query) = startup.object("nvidia_smi_query")?
            && let Some(listed) = query.text("stdout")?
        {
            let gpus = Gpus::of(&listed);
            hardware.gpu = hardware.gpu.or(gpus.name);
            hardware.driver = gpus.driver;
            machine_wide(gpus.count, &mut hardware, notes);
        }
    }
    if let Some(summary) = file.object("hardware_run_summary")? {
        let count = summary
            .count("gpu_count")?
            .filter(|c| (1..=MAX_GPUS).contains(c));
        let total_mib = summary.figure("vram_total_mb")?;
        if let (Some(count), Some(total_mib), None) = (count, total_mib, hardware.vram_gb_each) {
            hardware.vram_gb_each = Some((total_mib / count as f64 / MIB_PER_GB).round());
        }
    }
    hardware.vram_gb = hardware
        .vram_gb_each
        .zip(hardware.gpu_count)
        .map(|(each, count)| each * f64::from(count));
    Ok(hardware)
}

/// The machine's GPUs are the server's where there is one; of several it may use some.
fn machine_wide(count: u32, hardware: &mut Hardware, notes: &mut Vec<String>) {
    match (hardware.gpu_count, count) {
        (None, 1) => hardware.gpu_count = Some(1),
        (None, 2..) => notes.push(format!(
            "The machine has {count} GPUs; how many of them the server used is not in the file."
        )),
        (Some(_), _) | (None, 0) => {}
    }
}

/// The GPUs of a machine, as `nvidia-smi --query-gpu=index,name,driver_version,…`
/// lists them.
struct Gpus {
    count: u32,
    /// Where all have the same.
    name: Option<String>,
    driver: Option<String>,
}

impl Gpus {
    fn of(listed: &str) -> Gpus {
        let rows: Vec<Vec<&str>> = listed
            .lines()
            .map(|line| line.split(',').map(str::trim).collect())
            .collect();
        let same = |column: usize| {
            let first = rows.first()?.get(column).filter(|text| !text.is_empty())?;
            let is_same = rows.iter().all(|row| row.get(column) == Some(first));
            is_same.then(|| (*first).to_owned())
        };
        Gpus {
            count: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            name: same(1).map(|name| name.trim_start_matches("NVIDIA ").to_owned()),
            driver: same(2),
        }
    }
}

/// Lines as `16:03:49 cell start C=64 ctx=32k`, counted from the first. Lines that
/// name an address are left out.
fn events(log: &[String]) -> Vec<RunEvent> {
    let mut began_s = None;
    let mut before_s = 0.0;
    let mut days_s = 0.0;
    let mut events = Vec::new();
    for line in log {
        let Some((clock, text)) = line.split_once(' ') else {
            continue;
        };
        let Some(clock_s) = seconds_of(clock) else {
            continue;
        };
        // Past midnight the clock begins again.
        if clock_s < before_s {
            days_s += SECONDS_PER_DAY;
        }
        before_s = clock_s;
        let began_s = *began_s.get_or_insert(clock_s);
        if !text.contains("://") {
            events.push(RunEvent {
                at_s: days_s + clock_s - began_s,
                text: text.to_owned(),
                extra: Extra::new(),
            });
        }
    }
    events
}

/// `hh:mm:ss` as seconds of the day.
fn seconds_of(clock: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let mut parts = 0;
    for part in clock.split(':') {
        seconds = seconds * 60.0 + f64::from(part.parse::<u8>().ok()?);
        parts += 1;
    }
    (parts == 3).then_some(seconds)
}
