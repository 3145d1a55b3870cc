"""
A receiver of Countersign's webhook in Python 3, without dependencies: it verifies each POST, decides, and answers.

    WEBHOOK_SECRET=whsec_... python3 receiver.py 8090

It answers both ways: to polling under /requests/ID, and to the callback URL if a request names one. docs/webhook.md has the
channel that posts to it.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ["WEBHOOK_SECRET"].split()  # several while you rotate, the newest first
TOLERANCE_SECONDS = 5 * 60
MAX_BODY_BYTES = 2_000_000

answers = {}  # request id -> answer; keep them in a database
seen = {}  # webhook ids that were handled, with the time; the same message may come twice


def key_of(secret):
    if secret.startswith("whsec_"):
        return base64.b64decode(secret[len("whsec_"):])
    return secret.encode()


def signature(secret, message_id, timestamp, body):
    signed = message_id.encode() + b"." + timestamp.encode() + b"." + body
    return "v1," + base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()


def is_genuine(headers, body):
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = headers.get("webhook-signature", "").encode().split(b" ")
    expected = [signature(secret, message_id, timestamp, body).encode() for secret in SECRETS]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def decide(request):
    """Your own rule, or a page for people: return None while nobody has decided."""
    if request["toolName"] == "pay" and request["arguments"].get("amount", 0) <= 100:
        return {"approved": True, "reason": "Small enough", "reviewerId": "payments-desk"}
    return {"approved": False, "reason": "Too much for a program to decide", "reviewerId": "payments-desk"}


def signed(answer):
    """An answer as it is sent: with the request and the call that it is about, and a signature."""
    body = json.dumps(answer).encode()
    message_id = "ans_" + answer["requestId"]
    timestamp = str(int(time.time()))
    headers = {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature(SECRETS[0], message_id, timestamp, body),
    }
    return headers, body


def handle(request):
    delivery = request["delivery"]
    if delivery["event"] == "settled":
        print(json.dumps({"settled": request["requestId"], "outcome": request["settled"]["outcome"]}), flush=True)
        return
    decision = answers.get(request["requestId"]) or decide(request)
    if decision is None:
        return
    answer = {**decision, "requestId": request["requestId"], "digest": request["digest"]}
    answers[request["requestId"]] = answer
    if "callbackUrl" in delivery:
        headers, body = signed(answer)
        post = urllib.request.Request(delivery["callbackUrl"], data=body, headers=headers, method="POST")
        with urllib.request.urlopen(post, timeout=10) as response:
            print(json.dumps({"receipt": json.load(response)["message"]}), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            return self.reply(413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.reply(401)
        message_id = self.headers["webhook-id"]
        is_new = message_id not in seen
        seen[message_id] = time.time()
        self.reply(204)
        if is_new:
            handle(json.loads(body))

    def do_GET(self):
        answer = answers.get(self.path.rsplit("/", 1)[-1])
        if answer is None:
            return self.reply(202)
        self.reply(200, *signed(answer))

    def reply(self, status, headers=None, body=b""):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Receiver)
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever()
