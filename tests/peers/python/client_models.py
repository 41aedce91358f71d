"""Asks a model provider through its vendor's own SDK: `client_models.py WIRE URL`. Prints what the SDK understood as one
JSON object: `text`, `calls` (name and arguments), `input` and `output` (tokens).
"""

import json
import sys

QUESTION = "What is 3 + 7?"


def ask_anthropic(url):
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    with client.messages.stream(
        model="m", max_tokens=100, messages=[{"role": "user", "content": QUESTION}]
    ) as stream:
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [[block.name, block.input] for block in message.content if block.type == "tool_use"]
    return text, calls, message.usage.input_tokens, message.usage.output_tokens


def ask_chat(url):
    import openai

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    with client.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": QUESTION}], stream_options={"include_usage": True}
    ) as stream:
        whole = stream.get_final_completion()
    message = whole.choices[0].message
    calls = [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls or []]
    return message.content or "", calls, whole.usage.prompt_tokens, whole.usage.completion_tokens


def ask_responses(url):
    import openai

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    with client.responses.stream(model="m", input=QUESTION, store=False) as stream:
        response = stream.get_final_response()
    calls = [[item.name, json.loads(item.arguments)] for item in response.output if item.type == "function_call"]
    return response.output_text, calls, response.usage.input_tokens, response.usage.output_tokens


def ask_gemini(url):
    from google import genai

    client = genai.Client(api_key="k", http_options={"base_url": url})
    text, calls, usage = "", [], None
    for chunk in client.models.generate_content_stream(model="m", contents=QUESTION):
        for part in chunk.candidates[0].content.parts:
            text += part.text or ""
            if part.function_call:
                calls.append([part.function_call.name, part.function_call.args])
        usage = chunk.usage_metadata
    return text, calls, usage.prompt_token_count, usage.candidates_token_count


def ask_ollama(url):
    import ollama

    client = ollama.Client(host=url)
    text, calls, last = "", [], None
    for last in client.chat(model="m", messages=[{"role": "user", "content": QUESTION}], stream=True):
        text += last.message.content or ""
        calls += [[call.function.name, dict(call.function.arguments)] for call in last.message.tool_calls or []]
    return text, calls, last.prompt_eval_count, last.eval_count


ASK = {
    "anthropic": ask_anthropic,
    "chat": ask_chat,
    "responses": ask_responses,
    "gemini": ask_gemini,
    "ollama": ask_ollama,
}
text, calls, given, made = ASK[sys.argv[1]](sys.argv[2])
print(json.dumps({"text": text, "calls": calls, "input": given, "output": made}))
