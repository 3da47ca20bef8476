# 列表、排行榜、模型、硬件、组织。

## 无法理解的地址

query-unknown = 此列表没有参数“{ $parameter }”。可用的参数：{ $known }。
query-twice = 参数“{ $parameter }”给出了两次，请只给一次。
query-too-long = 参数“{ $parameter }”的长度超过 { $limit } 个字符。
query-invalid = 参数“{ $parameter }”不能是“{ $value }”。可以是：{ $expected }。
query-per-request-of-prefill = “phase”为 prefill 时，“metric”不能是 per_request：每个提示词只由一个请求读取。请选择 total 或 ttft，或改用 phase=decode。
query-per-gpu-of-none = “gpus”为 0 时，“metric”不能是 per_gpu。请选择其他指标，或去掉“gpus”。
query-cursor = “after”不是此列表中的页。去掉它即可回到第一页。

## 列表

list-filter = 筛选
list-apply = 查看
list-search = 搜索
list-any = 不限
list-model = 模型
list-hardware = GPU 或处理器
list-organization = 组织
list-kind = 数据来源
list-kind-imported = 导入
list-kind-not-simulated = 实测和导入
list-no-gpu = 无或未知
list-ranked-by = 排名依据
list-per-gpu = 每 GPU 总吞吐 tok/s
list-prompt-per-gpu = 每 GPU 提示词 tok/s
list-active-filters = 当前筛选条件
list-remove = （移除）
list-chip-model = 模型：{ $value }
list-chip-hardware = GPU：{ $value }
list-chip-gpus = GPU 数量：{ $value }
list-chip-engine = 引擎：{ $value }
list-chip-quantization = 量化：{ $value }
list-chip-kind = 数据来源：{ $value }
list-chip-search = 搜索：{ $value }
list-chip-organization = 组织：{ $value }
list-chip-account = 发布者：{ $value }
list-shapes = 最常测的条件
list-rank = 名次
list-cell = 单元格
list-run = 测试
list-run-of = 被测模型
list-published-by = 发布者
list-published = 发布时间
list-newest = 最近一次测试
list-newest-first = 按时间从新到旧
list-newest-runs = 最新测试
list-decode-max = 解码最高 tok/s
list-prefill-max = 预填充最高 tok/s
list-reach = 最大上下文 × 并发
list-cells = 单元格数
list-runs-caption = 矩阵测试，从新到旧
list-count-runs = 共 { $shown } 次矩阵测试
list-cache-unproven = 缓存未证实
list-cache-failed = 缓存不符合要求
list-cache-note = 缓存未证实：服务器未说明提示词是否已在缓存中，因此该数值包含的预填充可能偏多或偏少。
list-nothing = 没有找到结果
list-nothing-yet = 目前还没有已发布的测试。请测量一台服务器，发布第一次测试：
list-loosen = 可以去掉一些条件，或查看已有的测量：
list-without = 去掉“{ $part }”
list-unknown = “{ $parameter }”：没有名为“{ $value }”的内容。
list-did-you-mean = 您是否要找：
list-show-simulated = 模拟测试
list-pages = 列表分页
list-first-page = 第一页
list-next-page = 下一页
list-files = 下载此列表：
list-in-leaderboard = 在排行榜中查看
list-belongs-to = 此次测试所属
list-hidden = 此次测试已被隐藏。
list-hidden-who = 只有作者和管理员能看到它；它不出现在任何列表和排名中。
list-hidden-since = 隐藏时间：
list-hidden-reason = 原因：
list-hidden-runs = 被隐藏的测试
list-hide-run = 隐藏此次测试
list-delete-run = 删除此次测试
list-actions = 可对此次测试进行的操作

## 排行榜

leaderboard-lead = { $shape }：每种配置的最佳单元格。排名依据：{ $metric }。
leaderboard-note = 只有有效的单元格参与排名，被标记否定的数值不参与。数值相同则名次相同。模拟引擎的测试只在彼此之间排名。

## 模型、硬件、组织

models-lead = 各模型，按测试次数排列
hardware-lead = 各 GPU（没有 GPU 时为处理器），按测试次数排列
organizations-lead = 各发布组织，按测试次数排列
model-best = 各 GPU 与量化的最佳成绩
model-lead = { $shape }。排名依据：{ $metric }。
model-nothing-at-shape = 该模型在此条件下没有可参与排名的单元格。请选择其他上下文或更少的并发请求。
hardware-specification = 规格
hardware-specification-lead = 以最近一次测试的记录为准
hardware-best = 最擅长运行的模型
hardware-best-lead = 在该硬件最常测的条件下，每种配置的最佳单元格
organization-nothing = 该组织尚未发布任何测试。

## 曲线

chart-lead = 每种配置的最佳单元格；被标记否定的数值不计入
chart-description = { $title }。每种配置一条线；横轴为对数刻度，纵轴从零开始。数值见下方表格。
chart-by-concurrency = { $context } 上下文：总吞吐 tok/s 随并发请求数的变化
chart-by-context = 提示词 tok/s 随上下文的变化
chart-along-concurrency = 并发请求数（对数刻度）
chart-along-context = 上下文（对数刻度）
chart-configurations = 配置
chart-data = 曲线数值
chart-point = { $configuration }，{ $place }：{ $value } tok/s
