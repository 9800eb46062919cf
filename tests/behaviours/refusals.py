"""What is not an answer, what servers refuse, and what they do not take."""
import email.utils
import json
import time

from .request import behaviour
from .shapes import Gemini


# --- Not an answer. ---

PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in to\n Corporate Wi-Fi</title></head><body>" + b"<p>x</p>" * 500 + b"</body></html>"


@behaviour()
def page(r):
    r.whole(200, PAGE, "text/html; charset=utf-8")


@behaviour()
def page_502(r):
    r.whole(502, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"502 Bad Gateway"), "text/html")


@behaviour()
def page_403(r):
    r.whole(403, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"Attention required"), "text/html")


@behaviour()
def page_404(r):
    r.whole(404, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"Not Found"), "text/html")


@behaviour()
def prose(r):
    r.whole(200, b"The service is being updated.\nPlease come back.", "text/plain")


@behaviour()
def alien(r):
    r.whole(200, {"hello": "world"})


@behaviour()
def image(r):
    r.whole(200, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "image/png")


@behaviour()
def not_http(r):
    r.h.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n" * 3)
    r.hang_up()


@behaviour()
def bad_gzip(r):
    r.whole(200, b"this is not gzip at all", r.shape.type, Content_Encoding="gzip")


@behaviour()
def redirect(r):
    r.whole(301, b"", Location="https://example.invalid/")


# --- Refusals of the server. ---

@behaviour()
def rate(r):
    r.fail(429, "rate_limit_exceeded", "Rate limit reached for requests")


@behaviour()
def rate_seconds(r):
    r.fail(429, "rate_limit_error", "Number of requests has exceeded your rate limit", Retry_After="7")


@behaviour()
def rate_date(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After=email.utils.formatdate(time.time() + 90, usegmt=True))


@behaviour()
def rate_ms(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="3", retry_after_ms="2500")


@behaviour()
def rate_absurd(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="99999999999999999999")


@behaviour()
def rate_nonsense(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="soon, perhaps")


@behaviour()
def rate_minute(r):
    """Google says 'billing' for a limit of a minute."""
    body = Gemini.error(429, "", "You exceeded your current quota, please check your plan and billing details.")
    body["error"]["details"] = [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}, {"retryDelay": "34s"}]
    r.whole(429, body)


@behaviour()
def rate_day(r):
    body = Gemini.error(429, "", "You exceeded your current quota.")
    body["error"]["details"] = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]
    r.whole(429, body)


@behaviour()
def quota(r):
    r.fail(429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")


@behaviour()
def quota_400(r):
    r.fail(400, "invalid_request_error", "Your credit balance is too low to access the API.")


@behaviour()
def payment(r):
    r.fail(402, "payment", "Insufficient Balance")


@behaviour()
def auth(r):
    r.fail(401, "authentication_error", "invalid key")


@behaviour()
def auth_echo(r):
    """Repeats the key that it was sent."""
    sent = " ".join(v for k, v in r.h.headers.items() if k.lower() in ("authorization", "x-api-key", "x-goog-api-key"))
    r.fail(401, "invalid_api_key", "Incorrect API key provided: " + sent)


@behaviour()
def auth_400(r):
    r.fail(400, "API_KEY_INVALID", "API key not valid. Please pass a valid API key.")


@behaviour()
def auth_plain(r):
    r.whole(401, b"Unauthorized", "text/plain")


@behaviour()
def renewed(r):
    """The key "old" is no longer taken."""
    if any("old" in v for k, v in r.h.headers.items() if k.lower() == "authorization"):
        r.fail(401, "authentication_error", "token has expired")
    else:
        r.stream()


@behaviour()
def forbidden(r):
    r.fail(403, "permission_error", "Your project does not have access to this.")


@behaviour()
def busy(r):
    r.fail(503, "overloaded", "server busy, please try again. maximum pending requests exceeded")


@behaviour()
def overloaded(r):
    r.fail(529, "overloaded_error", "Overloaded")


@behaviour()
def loading(r):
    r.fail(503, "unavailable_error", "Loading model")


@behaviour()
def error_500(r):
    r.fail(500, "server_error", "The server had an error while processing your request")


@behaviour()
def error_500_empty(r):
    r.whole(500, b"")


@behaviour()
def error_lists(r):
    """An array with the error in it."""
    r.whole(500, [{"error": {"code": 500, "message": "An internal error has occurred", "status": "INTERNAL"}}])


@behaviour()
def error_detail(r):
    """As FastAPI says it."""
    r.whole(422, {"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "value_error.missing"}]})


@behaviour()
def flaky(r):
    """Fails twice, then is well."""
    if r.count() <= 2:
        r.fail(500, "server_error", "try again")
    else:
        r.stream()


@behaviour()
def model_unknown(r):
    r.fail(404, "model_not_found", "The model `x` does not exist or you do not have access to it.")


@behaviour()
def model_unknown_flat(r):
    r.whole(404, {"error": 'model "x" not found, try pulling it first'})


@behaviour()
def model_unknown_400(r):
    r.fail(400, "invalid_request_error", "x is not a valid model ID")


@behaviour()
def no_path(r):
    r.whole(404, b"404 page not found", "text/plain")


@behaviour()
def too_long(r):
    r.fail(400, "context_length_exceeded", "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.")


@behaviour()
def too_long_413(r):
    r.whole(413, b"Request Entity Too Large", "text/plain")


@behaviour()
def error_in_stream(r):
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans"), r.shape.error(500, "server_error", "An error occurred")]:
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def overloaded_in_stream(r):
    r.head()
    for e in [*r.shape.start(), r.shape.error(529, "overloaded_error", "Overloaded")]:
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def coded_in_stream(r):
    """A gateway that tells the status of the server behind it inside the stream."""
    r.head()
    for e in [*r.shape.start(), {"error": {"code": 402, "message": "Provider returned error"}}]:
        r.chunk(r.render(e))
    r.finish()


# --- What a server does not take. ---

def has_format(r):
    return any(w in r.json for w in ("response_format", "format", "tools")) or "responseMimeType" in r.json.get("generationConfig", {})


def has_schema(r):
    j = r.json
    return (j.get("response_format", {}).get("type") == "json_schema" or isinstance(j.get("format"), dict) or "tools" in j
            or "responseJsonSchema" in j.get("generationConfig", {}))


@behaviour()
def no_schema(r):
    if has_schema(r):
        r.fail(400, "invalid_request_error", "'response_format.type' must be 'json_object' or 'text'; tools, responseJsonSchema are not known")
    else:
        r.stream()


@behaviour()
def no_limits(r):
    if '"maxLength"' in json.dumps(r.json):
        r.fail(400, "invalid_request_error", "'maxLength' is not permitted")
    else:
        r.stream()


@behaviour()
def no_json(r):
    if has_format(r):
        r.fail(400, "invalid_request_error", "response_format is not supported by this model")
    else:
        r.stream()


@behaviour()
def no_extras(r):
    """Says no without saying to what."""
    if has_format(r):
        r.whole(422, {"detail": "Extra inputs are not permitted"})
    else:
        r.stream()


@behaviour()
def schema_500(r):
    if has_schema(r):
        r.fail(500, "server_error", "invalid JSON schema in format")
    else:
        r.stream()


@behaviour()
def always_400(r):
    r.fail(400, "invalid_request_error", "something is wrong")


@behaviour()
def no_usage(r):
    if "stream_options" in r.json:
        r.fail(400, "invalid_request_error", "Unrecognized request argument supplied: stream_options")
    else:
        r.stream()


@behaviour()
def new_names(r):
    if "max_tokens" in r.json:
        r.fail(400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    elif "temperature" in r.json:
        r.fail(400, "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model.")
    else:
        r.stream()


@behaviour()
def no_v1(r):
    """Its path has no version."""
    if "/v1/" in r.h.path:
        r.whole(404, b"404 page not found", "text/plain")
    else:
        r.stream()
