# A matrix run, its report, and the nouns of the measurements everywhere.

## Phases, statuses, flags

run-phase-prefill = Prefill
run-phase-decode = Sustained decode
run-status-valid = Valid
run-status-queued = Requests queued
run-status-over-capacity = Over capacity
run-status-failed = Failed
run-sentence-queued = Requests queued: the server could not run all requests at once, so some waited in a queue.
run-sentence-over-capacity = Over capacity: not run because this many requests at this context would exceed the server's KV cache.
run-sentence-failed = Failed: a request was refused or broke off, or the server did not come to rest; no figure is shown.
run-flag-contaminated = contaminated
run-flag-client-limited = client_limited
run-flag-token-count-disputed = token_count_disputed
run-flag-exceeds-context = exceeds_context
run-flag-repetition = repetition
run-flag-unsteady = unsteady
run-flag-preempted = preempted
run-flag-short-output = short_output
run-flag-prefix-cache-hit = prefix_cache_hit
run-flag-cold-outlier = cold_outlier
run-flag-prefix-cache-miss = prefix_cache_miss
run-flag-throttled = throttled

## Names of columns and figures

run-phase = Phase
run-context = Context
run-concurrency = Requests at once
run-status = Status
run-total-tok-s = Total tok/s
run-per-request-tok-s = Per request tok/s
run-prompt-tok-s = Prompt tok/s
run-ttft = TTFT
run-tbt = Time between tokens
run-average-active = Average active requests
run-completed = Completed requests
run-output-tokens = Output tokens
run-measured-for = Measured for
run-tok-s = tok/s
run-not-measured = not measured
run-list-separator = { ", " }
# A cell: Sustained decode, 8K × 64.
run-place-prefill = Prefill, { $context }
run-place-decode = Sustained decode, { $context } × { $concurrency }

## Title

run-eyebrow = Speed test matrix
run-model-unnamed = A model that was not named
run-on-hardware = on { $hardware }
run-matrix-size = { $contexts } ({ $context_span }) × { $levels } ({ $level_span })
run-count-contexts = { $count ->
    [one] { $shown } context
   *[other] { $shown } contexts
}
run-count-levels = { $count ->
    [one] { $shown } concurrency level
   *[other] { $shown } concurrency levels
}
run-prefill-at = prefill at { $contexts }
run-by = by
run-origin-measured = measured here
run-origin-imported = imported
run-origin-imported-from = imported from { $tool }
run-badge-measured = Measured
run-badge-simulated = Simulated

## Leading figures

run-lead = Leading figures
run-lead-one-request = for one request at { $context }
run-lead-each-request = for each of { $concurrency } requests at { $context }
run-lead-most = most in all: { $concurrency } at once, { $context }
run-lead-reading = reading a prompt of { $context }
run-lead-valid-cells = { $count ->
    [one] valid cell
   *[other] valid cells
}
run-lead-every-cell = every cell of the matrix
run-lead-queued = { $shown } queued
run-lead-over-capacity = { $shown } over capacity
run-lead-failed = { $shown } failed
run-lead-not-measured = { $shown } not measured
run-lead-flagged = { $shown } flagged
run-incomplete = Incomplete.
run-nothing-measured = Nothing was measured.
run-no-end = The run did not come to its end, though every cell was measured.
run-interrupted = The run was interrupted: { $count ->
    [one] { $shown } cell was
   *[other] { $shown } cells were
} not measured.
run-not-complete = The run is not complete: { $count ->
    [one] { $shown } cell was
   *[other] { $shown } cells were
} not measured.

## Facts

run-hardware = Hardware
run-hardware-type = Type
run-gpu = GPU
run-gpu-count = GPU count
run-vram = VRAM
run-cpu = CPU
run-memory = Memory
run-os = OS
run-driver = Driver
run-engine = Engine
run-version = Version
run-quantization = Quantization
run-backend = Backend
run-repository = Repository
run-build = Build
run-commit = Commit
run-longest-sequence = Longest sequence
run-runs-at-once = Runs at once
run-kv-cache = KV cache
run-run = Run
run-served-model = Served model
run-revision = Revision
run-benchmark-tool = Benchmark tool
run-decode-test = Decode test
run-prefill-mode = Prefill mode
run-window = Time per measurement
run-max-output = Max output
run-model = Model
run-prompts = Prompts
run-prefill-samples = Prefill samples
run-api = API
run-seed = Seed
run-stream-seeds = Seeds of streams
run-ignore-eos = Ignore EOS
run-shared-prompts = Shared prompts in the KV cache
run-started = Started
run-finished = Finished
run-tokens = { $shown } tokens
run-requests = { $shown } requests
run-yes = yes
run-no = no
run-counted-once = counted once
run-prompts-shared = shared by all requests
run-prompts-source-shared = { $source }; shared by all requests
# Words of a run document that have a fixed meaning.
run-value-discrete-gpu = Discrete GPU
run-value-unified-memory = Unified memory
run-value-cpu-only = CPU only
run-value-simulated-engine = Simulated engine
run-value-fixed-duration = Fixed duration
run-value-decode-warm-up = Measured during decode warm-up
run-value-cold-samples = Separate cold samples

## Launch command

run-launch = Launch command
run-launch-none = Unknown: how the server was started was neither captured nor provided.
run-launch-captured = Captured: read from the server's running process.
run-launch-provided = Provided: given with the run, not read from the server's running process.
run-launch-reconstructed = Reconstructed: put together afterwards, not read from the server's running process.
run-launch-unknown = Unknown: where this command comes from was not recorded.

## Prefill

run-prefill-lead = prompt tok/s by context length
run-prefill-caption = Prompt tok/s and TTFT by context length
run-prefill-bar = Bar
run-prefill-context = context

## Heat maps

run-decode-lead = total tok/s · rows are context length, columns are simultaneous requests
run-decode-caption = Total output tok/s by context length and simultaneous requests, with TTFT under each figure
run-ttft-sentence = TTFT is measured after the benchmark warms the server's prompt cache, so it mostly excludes prefill.
run-censored-sentence = ≥: requests still waited for their first token when the window closed, so TTFT is a lower bound.
run-struck-sentence = A figure struck through is taken away by the flag named: it was measured and is not to be relied on.
run-colours = colours step by equal ratios
run-per-request = Per request
run-per-request-lead = median tok/s of one request · rows are context length, columns are simultaneous requests
run-per-request-caption = Output tok/s of one request by context length and simultaneous requests, with scaling efficiency under each figure
run-scaling = { $percent } % scaling
run-scaling-sentence = Scaling is total tok/s ÷ (requests at once × total tok/s of one request at the same context): 100 % would be perfect.

## Throughput against speed

run-curve = Speed each, speed together
run-curve-lead = each point one valid cell; right is faster for each, up is more for all
run-curve-title = Throughput against speed per request
run-curve-description = One line for each context: as more requests run at once, total tok/s rises and tok/s per request falls. The figures are in the table All measurements.
run-curve-point = { $context }, { $concurrency } at once: { $total } tok/s, { $each } per request
run-curve-x = tok/s per request
run-curve-y = total tok/s
run-curve-legend = Contexts
run-curve-figures = The figures are in
run-full-stop = .

## Flags, failures and remarks

run-doubts = Flags, failures and remarks
run-remarks = Remarks
run-doubts-lead = what was seen, and which figures it takes away
run-doubts-caption = { $title } by cell
run-doubt-cell = Cell
run-doubt-flag = Flag
run-doubt-takes = Takes away
run-doubt-evidence = Evidence
run-doubt-failed = failed
run-doubt-queue-inferred = queue inferred
run-doubt-remark = remark
run-no-reason = the reason was not recorded
run-queue-inferred = the server does not report its queue; it was inferred from how many streams overlapped
run-takes-all = all figures
run-takes-nothing = nothing
run-takes-tok-s-and-tbt = tok/s and time between tokens
run-takes-total-and-ttft = total tok/s and TTFT
run-takes-total = total tok/s
run-takes-latencies = per request tok/s and latencies
run-takes-per-request = per request tok/s
run-takes-ttft = TTFT

## All measurements

run-measurements = All measurements
run-measurements-lead = Latencies are medians. Total tok/s is output across all simultaneous requests.
run-measurements-caption = Every cell of the run
run-interval-sentence = ±: half of the 95 % confidence interval of total tok/s, in percent of it.

## Behind the figures

run-evidence = Behind the figures
run-evidence-lead = percentiles, and how each figure was counted
run-percentiles-ttft = TTFT, ms
run-percentiles-tbt = Time between tokens, ms
run-percentiles-answer = Time to first answer after reasoning, ms
run-percentiles-gaps = Chunk gaps (between events, which may carry several tokens), ms
run-min = min
run-max = max
run-mean = mean
run-counting = How each figure came about
run-counting-interval = Total tok/s, 95 % interval
run-counting-prompt-tokens = Prompt tokens
run-counting-cached-tokens = Of these cached
run-counting-cache = Cache
run-counting-token-source = Tokens counted by
run-counting-client = By the client
run-counting-engine = By the engine
run-counting-timestamps = Arrival times
run-counting-waiting = Waiting at end
run-counting-failed = Failed requests
run-counting-engine-prefill = Engine's prefill
run-counting-kv-used = Most of KV cache in use
run-counting-reason = Reason
run-cold-proved = cold, proved
run-cold-failed = not cold
run-cold-unproven = cold, unproven
run-warm-proved = warm, proved
run-warm-failed = not warm
run-warm-unproven = warm, unproven
run-tokens-usage = usage in each event
run-tokens-event = one token in each event
run-tokens-spread = final usage, spread over the events
run-tokens-events-only = events only, which need not be tokens
run-time-kernel = kernel
run-time-read = time of the read
run-events = What happened during the run

## How to reproduce

run-reproduce = How to reproduce
run-reproduce-lead = The same matrix against a server of yours.

## The report's frame

run-on-this-page = On this page
run-nav-reproduce = Reproduce
run-nav-cite = Cite
run-notes = Notes
run-footer = written by tokgrid { $version } from the run document, which holds every figure unrounded

## Citation

run-cite = Cite this run
run-cite-lead = Its lasting address:
run-citation-title = Speed test matrix: { $what }
run-citation-run = tokgrid run { $id }
