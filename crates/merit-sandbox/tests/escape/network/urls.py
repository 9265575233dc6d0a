# tries: the library's clients
# contained: Ok
import http.client, urllib.request
def fetch(url):
    with urllib.request.urlopen(url, timeout=2) as reply:
        escaped(reply.read(100))
for url in ("http://127.0.0.1:{{PORT}}/", "http://example.com/", "http://169.254.169.254/latest/meta-data/"):
    attempt(url, lambda: fetch(url))
def by_file():
    with urllib.request.urlopen("file://{{CANARY_FILE}}") as reply:
        print(reply.read(200))
attempt("file", by_file)
