# 快速上手，以及首页文字。

## 首页

home-title = 语言模型服务器到底有多快？
home-what = tokgrid 按上下文长度和并发请求数测量服务器，得出它的速度测试矩阵。本站保存大家发布的测试，进行排名，并提供给程序读取。
home-trust = 每个数值都有判定。有疑问的数值会附上证据加以标记，并且不参与排名。
home-fastest = 当前最快
home-whole-leaderboard = 查看完整排行榜

## 快速上手

start-lead = 从零开始，四步发布一次测试。您需要 Rust、C 编译器，以及一台支持 OpenAI API 的服务器：vLLM、SGLang、llama.cpp 或其他。
start-install = 1. 安装
start-install-how = 测量、发布和运行本站，用的是同一个程序。
start-install-try = 手头没有服务器？下面的命令会测量一台模拟服务器：
start-measure = 2. 测量
start-measure-how = 给出服务器的地址。开头几行会说明将测量多少个单元格，大约需要多长时间。
start-measure-note = 不写 --contexts 和 --concurrency 时会测量整个矩阵：上下文从 8K 到模型上限，并发请求从 1 到 128。测量期间请不要让其他任务使用该服务器。按 Ctrl-C 中断后，在同一命令后加上 --resume 即可继续。
start-look = 3. 查看
start-look-how = 报告是一个独立文件：包含全部数值、判定和存疑之处。其他人在本站看到的就是这些内容。
start-look-import = 已经用 llm-inference-bench 测过？它的结果文件可以转换为测试文档：
start-publish = 4. 发布
start-publish-how = 首次发布时，终端会显示一个代码和一个地址：在任意浏览器中打开该地址，登录并确认。
start-publish-note = 测试会立即公开，符合条件的单元格会参与排名。请看：
