# 列表、排行榜、模型、硬件、组织。

## 无法理解的地址

query-unknown = 此列表没有参数“{ $parameter }”。可用的参数：{ $known }。
query-twice = 参数“{ $parameter }”给出了两次，请只给一次。
query-too-long = 参数“{ $parameter }”的长度超过 { $limit } 个字符。
query-invalid = 参数“{ $parameter }”不能是“{ $value }”。可以是：{ $expected }。
query-per-request-of-prefill = “phase”为 prefill 时，“metric”不能是 per_request：每个提示词只由一个请求读取。请选择 total 或 ttft，或改用 phase=decode。
query-per-gpu-of-none = “gpus”为 0 时，“metric”不能是 per_gpu。请选择其他指标，或去掉“gpus”。
query-cursor = “after”不是此列表中的页。去掉它即可回到第一页。
