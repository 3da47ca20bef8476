# Getting started, and what the first page says.

## Home

home-title = How fast is a language model server, really?
home-what = tokgrid measures a server by the length of the context and the number of requests at once: its speed test matrix. This site keeps the runs that people publish, ranks them and gives them to programs.
home-trust = Every figure has a verdict. What is in doubt is flagged with its evidence, and never ranks.
home-fastest = Fastest now
home-whole-leaderboard = The whole leaderboard

## Getting started

start-lead = From nothing to a published run, in four steps. You need Rust, a C compiler, and a server that speaks the OpenAI API: vLLM, SGLang, llama.cpp or another.
start-install = 1. Install
start-install-how = The program that measures is also the one that publishes, and that serves this site.
start-install-try = No server at hand? This measures a simulated one:
start-measure = 2. Measure
start-measure-how = Give the address of your server. The first lines say how many cells will be measured and about how long it takes.
start-measure-note = Without --contexts and --concurrency it is the whole matrix: from 8K to the model's limit, 1 to 128 requests at once. Let nothing else use the server meanwhile. After Ctrl-C, the same command with --resume goes on.
start-look = 3. Look
start-look-how = The report is one file: every figure, its verdict, and what is in doubt. It is what others will see here.
start-look-import = Measured with llm-inference-bench already? Its result file becomes a run document:
start-publish = 4. Publish
start-publish-how = The first time, the terminal shows a code and an address: sign in there, in any browser, and confirm it.
start-publish-note = Your run is public at once, and ranks where it may. See:
