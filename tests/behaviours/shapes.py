"""The shapes in which servers of models speak. An event is a JSON object; how it is sent is the shape's business."""

TEXT = '{"title": "Ünïcode 日本 🎉", "body": "The parser reads é, 語 and 👩‍👩‍👧 now."}'
MODEL = "scripted-1"
DIMS = 48


class Openai:
    streams, lines, type = True, False, "text/event-stream; charset=utf-8"

    @staticmethod
    def start():
        return [{"id": "c1", "object": "chat.completion.chunk", "model": MODEL, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]

    @staticmethod
    def text(t):
        return {"model": MODEL, "choices": [{"index": 0, "delta": {"content": t}, "finish_reason": None}]}

    @staticmethod
    def thought(t):
        return {"model": MODEL, "choices": [{"index": 0, "delta": {"reasoning_content": t}}]}

    @staticmethod
    def end(reason):
        reason = {"stop": "stop", "cut": "length", "filter": "content_filter"}[reason]
        return [{"model": MODEL, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                {"model": MODEL, "choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 34, "total_tokens": 154}}]

    mark = b"data: [DONE]\n\n"

    @staticmethod
    def refusal(t):
        return [{"model": MODEL, "choices": [{"index": 0, "delta": {"refusal": t}, "finish_reason": "stop"}]}]

    @staticmethod
    def whole(t, thought=None):
        return {"id": "c1", "object": "chat.completion", "model": MODEL,
                "choices": [{"index": 0, "message": {"role": "assistant", "content": t, "reasoning_content": thought}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 120, "completion_tokens": 34}}

    @staticmethod
    def error(status, kind, message):
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


class Ollama:
    streams, lines, type, mark = True, True, "application/x-ndjson", b""

    @staticmethod
    def start():
        return []

    @staticmethod
    def text(t):
        return {"model": MODEL, "created_at": "2026-11-29T00:00:00Z", "message": {"role": "assistant", "content": t}, "done": False}

    @staticmethod
    def thought(t):
        return {"model": MODEL, "message": {"role": "assistant", "content": "", "thinking": t}, "done": False}

    @staticmethod
    def end(reason):
        return [{"model": MODEL, "message": {"role": "assistant", "content": ""}, "done": True,
                 "done_reason": {"stop": "stop", "cut": "length", "filter": "stop"}[reason],
                 "total_duration": 14153000000, "load_duration": 5000000, "prompt_eval_count": 120, "prompt_eval_duration": 929000000,
                 "eval_count": 34, "eval_duration": 1619000000}]

    @staticmethod
    def refusal(t):
        return [Ollama.text(t)] + Ollama.end("stop")

    @staticmethod
    def whole(t, thought=None):
        return {**Ollama.end("stop")[0], "message": {"role": "assistant", "content": t, "thinking": thought or ""}}

    @staticmethod
    def error(status, kind, message):
        return {"error": message}


class Anthropic:
    streams, lines, type, mark = True, False, "text/event-stream", b""
    uses_tool = False

    @staticmethod
    def start():
        return [{"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
                                                      "stop_reason": None, "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}, {"type": "ping"}]

    @staticmethod
    def text(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}

    @staticmethod
    def tool(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": t}}

    @staticmethod
    def thought(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": t}}

    @staticmethod
    def end(reason):
        reason = {"stop": "end_turn", "cut": "max_tokens", "filter": "refusal"}[reason]
        return [{"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 34}}, {"type": "message_stop"}]

    @staticmethod
    def refusal(t):
        return [Anthropic.text(t)] + Anthropic.end("filter")

    @staticmethod
    def whole(t, thought=None):
        blocks = [{"type": "thinking", "thinking": thought}] if thought else []
        return {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": blocks + [{"type": "text", "text": t}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 120, "output_tokens": 34}}

    @staticmethod
    def error(status, kind, message):
        return {"type": "error", "error": {"type": kind, "message": message}}


class Gemini:
    streams, lines, type, mark = True, False, "text/event-stream", b""

    @staticmethod
    def start():
        return []

    @staticmethod
    def text(t):
        return {"candidates": [{"content": {"parts": [{"text": t}], "role": "model"}, "index": 0}], "modelVersion": MODEL,
                "usageMetadata": {"promptTokenCount": 120}}

    @staticmethod
    def thought(t):
        return {"candidates": [{"content": {"parts": [{"text": t, "thought": True}], "role": "model"}}], "modelVersion": MODEL}

    @staticmethod
    def end(reason):
        reason = {"stop": "STOP", "cut": "MAX_TOKENS", "filter": "SAFETY"}[reason]
        return [{"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason}], "modelVersion": MODEL,
                 "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 30, "thoughtsTokenCount": 4}}]

    @staticmethod
    def refusal(t):
        return [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 120}, "modelVersion": MODEL}]

    @staticmethod
    def whole(t, thought=None):
        parts = ([{"text": thought, "thought": True}] if thought else []) + [{"text": t}]
        return {**Gemini.end("stop")[0], "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}

    @staticmethod
    def error(status, kind, message):
        status_name = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": status_name, "details": [{"reason": kind}]}}


class OpenaiEmbed(Openai):
    pass


class OllamaEmbed(Ollama):
    pass


class Jobs(Openai):
    pass


def shape_of(path):
    path = path.split("?")[0]
    for end, shape in (("/chat/completions", Openai), ("/api/chat", Ollama), ("/messages", Anthropic), (":streamGenerateContent", Gemini),
                       ("/embeddings", OpenaiEmbed), ("/api/embed", OllamaEmbed), ("/api/jobs", Jobs)):
        if path.endswith("/api/embeddings"):
            return OllamaEmbed
        if path.endswith(end):
            return shape
    return None


def parts_of(text, n=5):
    step = max(1, len(text) // n)
    return [text[i:i + step] for i in range(0, len(text), step)]
