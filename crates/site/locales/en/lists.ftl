# Lists, leaderboard, models, hardware, organizations.

## Addresses that cannot be understood

query-unknown = “{ $parameter }” is no parameter of this list. It knows: { $known }.
query-twice = “{ $parameter }” is given twice. Give it once.
query-too-long = “{ $parameter }” is longer than { $limit } characters.
query-invalid = “{ $parameter }” cannot be “{ $value }”. It can be: { $expected }.
query-per-request-of-prefill = “metric” cannot be per_request where “phase” is prefill: one request reads a prompt alone. Choose total or ttft, or phase=decode.
query-per-gpu-of-none = “metric” cannot be per_gpu where “gpus” is 0. Choose another metric, or leave “gpus” out.
query-cursor = “after” is no page of this list. Leave it out for the first page.

## Lists

list-filter = Filter
list-apply = Show
list-search = Search
list-any = any
list-model = Model
list-hardware = GPU or processor
list-organization = Organization
list-kind = Kind
list-kind-imported = Imported
list-kind-not-simulated = measured and imported
list-no-gpu = none or unknown
list-ranked-by = Ranked by
list-per-gpu = Total tok/s per GPU
list-prompt-per-gpu = Prompt tok/s per GPU
list-active-filters = Active filters
list-remove = (remove)
list-chip-model = Model: { $value }
list-chip-hardware = GPU: { $value }
list-chip-gpus = GPU count: { $value }
list-chip-engine = Engine: { $value }
list-chip-quantization = Quantization: { $value }
list-chip-kind = Kind: { $value }
list-chip-search = Search: { $value }
list-chip-organization = Organization: { $value }
list-chip-account = Published by: { $value }
list-shapes = Measured most
list-rank = Rank
list-cell = Cell
list-run = run
list-run-of = Run of
list-published-by = Published by
list-published = Published
list-newest = Newest run
list-newest-first = Newest first
list-newest-runs = Newest runs
list-decode-max = Decode, most tok/s
list-prefill-max = Prefill, most tok/s
list-reach = Context × requests, up to
list-cells = Cells
list-runs-caption = Runs, newest first
list-count-runs = { $count ->
    [one] { $shown } matrix run
   *[other] { $shown } matrix runs
}
list-cache-unproven = cache unproven
list-cache-failed = cache not as needed
list-cache-note = Cache unproven: the server does not say whether the prompt was in its cache, so the figure may hold more or less prefill than it should.
list-nothing = Nothing found
list-nothing-yet = Nothing is published yet. Measure a server and publish the first run:
list-loosen = Leave something out, or look at what was measured:
list-without = without “{ $part }”
list-unknown = “{ $parameter }”: nothing here is called “{ $value }”.
list-did-you-mean = Did you mean:
list-show-simulated = simulated runs
list-pages = Pages of the list
list-first-page = First page
list-next-page = Next page
list-files = The same list as
list-in-leaderboard = In the leaderboard
list-belongs-to = What this run belongs to
list-hidden = This run is hidden.
list-hidden-who = Only its author and administrators see it; it is in no list and no ranking.
list-hidden-since = Hidden on
list-hidden-reason = The reason:
list-hidden-runs = Hidden runs
list-hide-run = Hide this run
list-delete-run = Delete this run
list-actions = What you can do with this run

## Leaderboard

leaderboard-lead = { $shape }: the best cell of each configuration. Ranked by: { $metric }.
leaderboard-note = Only valid cells rank, and no figure that a flag takes away. Equal figures share a rank. A simulated engine's runs rank only among themselves.

## Models, hardware, organizations

models-lead = Models by number of runs
hardware-lead = GPUs, and processors where there is no GPU, by number of runs
organizations-lead = Who publishes, by number of runs
model-best = Best for each GPU and quantization
model-lead = { $shape }. Ranked by: { $metric }.
model-nothing-at-shape = No cell of this model may rank here. Choose another context, or fewer requests at once.
hardware-specification = Specification
hardware-specification-lead = as the newest run says it
hardware-best = What it serves best
hardware-best-lead = the best cell of each configuration, at what was measured most on it
organization-nothing = Nothing is published for this organization yet.

## Curves

chart-lead = the best cell of each configuration; figures that a flag takes away are left out
chart-description = { $title }. One line for each configuration; the horizontal axis is logarithmic, the vertical one starts at zero. The figures are in the table below.
chart-by-concurrency = Total tok/s by requests at once, at { $context }
chart-by-context = Prompt tok/s by context
chart-along-concurrency = Requests at once (log scale)
chart-along-context = Context (log scale)
chart-configurations = Configurations
chart-data = Figures of the curves
chart-point = { $configuration }, { $place }: { $value } tok/s
