# 一次矩阵测试的页面与报告，以及各处通用的测量名词。

## 阶段、状态、标记

run-phase-prefill = 预填充
run-phase-decode = 持续解码
run-status-valid = 有效
run-status-queued = 请求排队
run-status-over-capacity = 超出容量
run-status-failed = 失败
run-sentence-queued = 请求排队：服务器无法同时处理全部请求，部分请求在队列中等待。
run-sentence-over-capacity = 超出容量：在该上下文长度下，这么多请求会超出服务器的 KV 缓存，因此未运行。
run-sentence-failed = 失败：有请求被拒绝或中断，或者服务器未能恢复空闲；不显示任何数值。
run-flag-contaminated = 受外部请求干扰
run-flag-client-limited = 客户端受限
run-flag-token-count-disputed = token 计数不一致
run-flag-exceeds-context = 超出上下文上限
run-flag-repetition = 重复输出
run-flag-unsteady = 吞吐不稳定
run-flag-preempted = 发生抢占
run-flag-short-output = 提前结束
run-flag-prefix-cache-hit = 命中前缀缓存
run-flag-cold-outlier = 冷启动离群值
run-flag-prefix-cache-miss = 未命中前缀缓存
run-flag-throttled = GPU 降频

## 列名与数值名

run-phase = 阶段
run-context = 上下文
run-concurrency = 并发请求数
run-status = 状态
run-total-tok-s = 总吞吐 tok/s
run-per-request-tok-s = 单请求 tok/s
run-prompt-tok-s = 提示词 tok/s
run-ttft = TTFT
run-tbt = token 间隔
run-average-active = 平均活跃请求数
run-completed = 完成请求数
run-output-tokens = 输出 token 数
run-measured-for = 测量时长
run-tok-s = tok/s
run-not-measured = 未测量
run-list-separator = 、
# 一个单元格：持续解码，8K × 64。
run-place-prefill = 预填充，{ $context }
run-place-decode = 持续解码，{ $context } × { $concurrency }

## 标题

run-eyebrow = 速度测试矩阵
run-model-unnamed = 未命名的模型
run-on-hardware = 运行于 { $hardware }
run-matrix-size = { $contexts }（{ $context_span }）× { $levels }（{ $level_span }）
run-count-contexts = { $shown } 种上下文长度
run-count-levels = { $shown } 档并发
run-prefill-at = 预填充测于 { $contexts }
run-by = 作者
run-origin-measured = 由 tokgrid 测得
run-origin-imported = 导入
run-origin-imported-from = 导入自 { $tool }
run-badge-measured = 实测
run-badge-simulated = 模拟

## 主要数值

run-lead = 主要数值
run-lead-one-request = { $context } 上下文，单个请求
run-lead-each-request = { $context } 上下文，{ $concurrency } 并发时的单请求速度
run-lead-most = 最高总吞吐：{ $context }，{ $concurrency } 并发
run-lead-reading = 读取 { $context } 提示词（预填充）
run-lead-valid-cells = 个有效单元格
run-lead-every-cell = 矩阵的全部单元格
run-lead-queued = { $shown } 个排队
run-lead-over-capacity = { $shown } 个超出容量
run-lead-failed = { $shown } 个失败
run-lead-not-measured = { $shown } 个未测量
run-lead-flagged = { $shown } 个带标记
run-incomplete = 不完整。
run-nothing-measured = 没有任何测量结果。
run-no-end = 全部单元格均已测量，但测试没有正常结束。
run-interrupted = 测试被中断：{ $shown } 个单元格未测量。
run-not-complete = 测试不完整：{ $shown } 个单元格未测量。

## 基本信息

run-hardware = 硬件
run-hardware-type = 类型
run-gpu = GPU
run-gpu-count = GPU 数量
run-vram = 显存
run-cpu = CPU
run-memory = 内存
run-os = 操作系统
run-driver = 驱动
run-engine = 推理引擎
run-version = 版本
run-quantization = 量化
run-backend = 后端
run-repository = 代码仓库
run-build = 构建
run-commit = 提交
run-longest-sequence = 最大序列长度
run-runs-at-once = 同时运行
run-kv-cache = KV 缓存
run-run = 测试
run-served-model = 服务模型名
run-revision = 模型修订版
run-benchmark-tool = 测试工具
run-decode-test = 解码测试
run-prefill-mode = 预填充方式
run-window = 每次测量时长
run-max-output = 最大输出
run-model = 模型
run-prompts = 提示词
run-prefill-samples = 预填充样本数
run-api = API
run-seed = 随机种子
run-stream-seeds = 各请求流的种子
run-ignore-eos = 忽略 EOS
run-shared-prompts = KV 缓存中的共享提示词
run-started = 开始时间
run-finished = 结束时间
run-tokens = { $shown } token
run-requests = { $shown } 个请求
run-yes = 是
run-no = 否
run-counted-once = 只计一次
run-prompts-shared = 所有请求共用
run-prompts-source-shared = { $source }；所有请求共用
# 测试文档中含义固定的词。
run-value-discrete-gpu = 独立 GPU
run-value-unified-memory = 统一内存
run-value-cpu-only = 仅 CPU
run-value-simulated-engine = 模拟引擎
run-value-fixed-duration = 固定时长
run-value-decode-warm-up = 在解码预热期间测得
run-value-cold-samples = 单独的冷样本

## 启动命令

run-launch = 启动命令
run-launch-none = 未知：既未捕获也未提供服务器的启动方式。
run-launch-captured = 捕获：读取自服务器的运行进程。
run-launch-provided = 提供：随测试结果给出，并非读取自服务器的运行进程。
run-launch-reconstructed = 重建：事后整理而成，并非读取自服务器的运行进程。
run-launch-unknown = 未知：没有记录该命令的来源。

## 预填充

run-prefill-lead = 各上下文长度的提示词 tok/s
run-prefill-caption = 各上下文长度的提示词 tok/s 与 TTFT
run-prefill-bar = 条形
run-prefill-context = 上下文

## 热力图

run-decode-lead = 总吞吐 tok/s · 行为上下文长度，列为并发请求数
run-decode-caption = 各上下文长度与并发请求数下的总输出 tok/s，数值下方为 TTFT
run-ttft-sentence = TTFT（首 token 延迟）在基准测试预热服务器的提示词缓存之后测量，因此基本不含预填充时间。
run-censored-sentence = ≥：测量窗口关闭时仍有请求在等待首个 token，因此 TTFT 只是下界。
run-struck-sentence = 划掉的数值因所列标记而作废：虽已测得，但不可采信。
run-colours = 颜色按等比分级
run-per-request = 单请求
run-per-request-lead = 单请求 tok/s 中位数 · 行为上下文长度，列为并发请求数
run-per-request-caption = 各上下文长度与并发请求数下的单请求输出 tok/s，数值下方为扩展效率
run-scaling = 扩展 { $percent } %
run-scaling-sentence = 扩展效率 = 总吞吐 tok/s ÷（并发请求数 × 同一上下文下单个请求的总吞吐 tok/s）：100 % 为理想值。

## 吞吐与单请求速度

run-curve = 单请求速度与总吞吐
run-curve-lead = 每个点是一个有效单元格；越靠右单请求越快，越靠上总吞吐越高
run-curve-title = 总吞吐与单请求速度的关系
run-curve-description = 每个上下文一条线：并发请求越多，总吞吐 tok/s 越高，单请求 tok/s 越低。具体数值见“全部测量”表。
run-curve-point = { $context }，{ $concurrency } 并发：总吞吐 { $total } tok/s，单请求 { $each }
run-curve-x = 单请求 tok/s
run-curve-y = 总吞吐 tok/s
run-curve-legend = 上下文
run-curve-figures = 具体数值见
run-full-stop = 。

## 标记、失败与备注

run-doubts = 标记、失败与备注
run-remarks = 备注
run-doubts-lead = 观察到的现象，以及因此作废的数值
run-doubts-caption = 各单元格的{ $title }
run-doubt-cell = 单元格
run-doubt-flag = 标记
run-doubt-takes = 作废
run-doubt-evidence = 依据
run-doubt-failed = 失败
run-doubt-queue-inferred = 推断排队
run-doubt-remark = 备注
run-no-reason = 没有记录原因
run-queue-inferred = 服务器不报告其队列；排队是由同时进行的流的数量推断的
run-takes-all = 全部数值
run-takes-nothing = 无
run-takes-tok-s-and-tbt = tok/s 与 token 间隔
run-takes-total-and-ttft = 总吞吐 tok/s 与 TTFT
run-takes-total = 总吞吐 tok/s
run-takes-latencies = 单请求 tok/s 与各项延迟
run-takes-per-request = 单请求 tok/s
run-takes-ttft = TTFT

## 全部测量

run-measurements = 全部测量
run-measurements-lead = 延迟为中位数。总吞吐 tok/s 为所有并发请求的输出之和。
run-measurements-caption = 本次测试的全部单元格
run-interval-sentence = ±：总吞吐 tok/s 的 95 % 置信区间半宽，以百分比表示。

## 数值背后

run-evidence = 数值背后
run-evidence-lead = 百分位数，以及各数值的统计方式
run-percentiles-ttft = TTFT（ms）
run-percentiles-tbt = token 间隔（ms）
run-percentiles-answer = 推理后首个回答 token 的时间（ms）
run-percentiles-gaps = 数据块间隔（事件之间，一个事件可含多个 token，ms）
run-min = 最小
run-max = 最大
run-mean = 平均
run-counting = 各数值的由来
run-counting-interval = 总吞吐 tok/s，95 % 区间
run-counting-prompt-tokens = 提示词 token 数
run-counting-cached-tokens = 其中命中缓存
run-counting-cache = 缓存
run-counting-token-source = token 计数依据
run-counting-client = 客户端计数
run-counting-engine = 引擎计数
run-counting-timestamps = 到达时间
run-counting-waiting = 结束时等待
run-counting-failed = 失败请求数
run-counting-engine-prefill = 引擎预填充时间
run-counting-kv-used = KV 缓存峰值占用
run-counting-reason = 原因
run-cold-proved = 冷，已证实
run-cold-failed = 非冷
run-cold-unproven = 冷，未证实
run-warm-proved = 热，已证实
run-warm-failed = 非热
run-warm-unproven = 热，未证实
run-tokens-usage = 每个事件的 usage
run-tokens-event = 每个事件一个 token
run-tokens-spread = 最终 usage 均摊到各事件
run-tokens-events-only = 仅事件数，未必等于 token 数
run-time-kernel = 内核
run-time-read = 读取时刻
run-events = 测试过程中的事件

## 如何复现

run-reproduce = 如何复现
run-reproduce-lead = 在您自己的服务器上测量同样的矩阵。

## 报告框架

run-on-this-page = 本页内容
run-nav-reproduce = 复现
run-nav-cite = 引用
run-notes = 说明
run-footer = 由 tokgrid { $version } 根据测试文档生成；文档保存了全部未取整的数值

## 引用

run-cite = 引用本次测试
run-cite-lead = 永久地址：
run-citation-title = 速度测试矩阵：{ $what }
run-citation-run = tokgrid 测试 { $id }
