# Lists, leaderboard, models, hardware, organizations.

## Addresses that cannot be understood

query-unknown = “{ $parameter }” is no parameter of this list. It knows: { $known }.
query-twice = “{ $parameter }” is given twice. Give it once.
query-too-long = “{ $parameter }” is longer than { $limit } characters.
query-invalid = “{ $parameter }” cannot be “{ $value }”. It can be: { $expected }.
query-per-request-of-prefill = “metric” cannot be per_request where “phase” is prefill: one request reads a prompt alone. Choose total or ttft, or phase=decode.
query-per-gpu-of-none = “metric” cannot be per_gpu where “gpus” is 0. Choose another metric, or leave “gpus” out.
query-cursor = “after” is no page of this list. Leave it out for the first page.
