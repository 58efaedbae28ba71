#!/usr/bin/python3
"""What the client scripts share: a picture, one line per check, and a person in front of the authorize page.

lib.py authorize URL NICKNAME   sign in on the page, agree, and print the code
lib.py png FILE                 write a small picture
lib.py mail FOLDER TO SUBJECT   print the text of the newest mail to an address whose subject contains SUBJECT
"""

import contextlib
import email
import email.policy
import html.parser
import http.cookiejar
import os
import pathlib
import re
import struct
import sys
import traceback
import urllib.error
import urllib.parse
import urllib.request
import zlib

PASSWORD = os.environ["PASSWORD"]


def png(width=64, height=48, colour=(200, 80, 40)):
    """A picture of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(colour) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@contextlib.contextmanager
def check(name):
    """Stands around the statements of one check; the first failure ends the script."""
    try:
        yield
    except Exception as e:
        line = next(f for f in traceback.extract_tb(e.__traceback__) if f.filename != __file__)
        print(f"FAIL {name}: {type(e).__name__}: {e}\n     line {line.lineno}: {line.line}", flush=True)
        sys.exit(1)
    print("ok  ", name, flush=True)


class Page(html.parser.HTMLParser):
    """The forms of a page as a browser would send them, and the text of its code and read-only fields."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.codes, self.form, self.button, self.in_code = [], [], None, None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = {name: value or "" for name, value in attributes}
        kind = a.get("type", "submit" if tag == "button" else "text").lower()
        if tag == "form":
            method = a.get("method", "get").lower()
            self.form = {"action": a.get("action", ""), "method": method, "fields": [], "buttons": []}
            self.forms.append(self.form)
        elif tag == "code":
            self.in_code = True
        elif tag == "input" and "readonly" in a:
            self.codes.append(a.get("value", ""))
        elif self.form is None or tag not in ("input", "button"):
            return
        elif kind == "submit":
            self.button = {**a, "text": a.get("value", "") if tag == "input" else ""}
            self.form["buttons"].append(self.button)
        elif tag == "input" and a.get("name") and (kind not in ("checkbox", "radio") or "checked" in a):
            default = "on" if kind in ("checkbox", "radio") else ""
            self.form["fields"].append({"name": a["name"], "type": kind, "value": a.get("value", default)})

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None
        elif tag == "button":
            self.button = None
        elif tag == "code":
            self.in_code = False

    def handle_data(self, data):
        if self.in_code:
            self.codes.append(data.strip())
        elif self.button is not None:
            self.button["text"] += data


class StopAtTheClient(urllib.request.HTTPRedirectHandler):
    """Follows redirects within the server; one that leads elsewhere is the client's and ends the walk."""

    def __init__(self, server):
        self.server = server

    def redirect_request(self, request, fp, code, message, headers, url):
        if url.startswith(self.server + "/"):
            return super().redirect_request(request, fp, code, message, headers, url)
        return None


def authorize(url, nickname, password=PASSWORD):
    """Walks through the authorize page at url as nickname and returns what it hands out.

    That is the code shown for the out-of-band address, or the address of the client with all its parameters.
    """
    parts = urllib.parse.urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}"
    jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    opener = urllib.request.build_opener(jar, StopAtTheClient(server))
    opener.addheaders = [("Accept", "text/html"), ("User-Agent", "Mozilla/5.0")]

    request = urllib.request.Request(url)
    for _ in range(5):
        try:
            with opener.open(request) as response:
                here, text = response.geturl(), response.read().decode()
        except urllib.error.HTTPError as e:
            if e.code in (302, 303):
                return e.headers["Location"]
            raise AssertionError(f"{request.get_method()} {request.full_url}: {e.code} {e.read().decode()[:500]}") from None
        page = Page(text)
        codes = [code for code in page.codes if re.fullmatch(r"[\w.~-]{16,}", code)]
        if codes:
            return codes[0]
        request = fill(page, here, server, nickname, password)
    raise AssertionError("no code after five pages")


def fill(page, here, server, nickname, password):
    """The request that a browser sends when a person fills the first form that posts and agrees."""
    form = next((f for f in page.forms if f["method"] == "post" and f["buttons"]), None)
    if form is None:
        raise AssertionError(f"{here} has neither a form nor a code")
    agree = next(b for b in form["buttons"] if not re.search(r"deny|cancel|refuse|reject", b["text"], re.I))
    data = []
    for field in form["fields"]:
        value = field["value"]
        if field["type"] == "password":
            value = password
        elif field["type"] in ("text", "email"):
            value = nickname
        data.append((field["name"], value))
    if agree.get("name"):
        data.append((agree["name"], agree.get("value", "")))
    action = urllib.parse.urljoin(here, agree.get("formaction") or form["action"] or here)
    headers = {"Origin": server, "Referer": here, "Sec-Fetch-Site": "same-origin"}
    return urllib.request.Request(action, urllib.parse.urlencode(data).encode(), headers)


def mail(folder, to, subject):
    """The text of the newest mail to an address whose subject contains a text; exits with 3 if there is none.

    The HTML part must have the same links.
    """
    files = [f for f in pathlib.Path(folder).glob("**/*") if f.is_file()]
    for file in sorted(files, key=lambda f: f.stat().st_mtime_ns, reverse=True):
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        if to in str(message["To"]) and subject in str(message["Subject"]):
            text = message.get_body(["plain"]).get_content()
            page = html.unescape(message.get_body(["html"]).get_content())
            missing = [link for link in re.findall(r"https?://\S+", text) if link not in page]
            if missing:
                raise AssertionError(f"{missing} are not in the HTML part of {file}")
            return text
    sys.exit(3)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["authorize", url, nickname]:
            print(authorize(url, nickname))
        case ["mail", folder, to, subject]:
            print(mail(folder, to, subject))
        case ["png", file]:
            with open(file, "wb") as f:
                f.write(png())
        case _:
            sys.exit(__doc__)
