"""A server of GoToSocial is filled, followed by svc, stopped, taken over by svc, and served at the same address: takeover.py GOTOSOCIAL SVC WEB WORK.

GOTOSOCIAL is its program, WEB its folder with template and assets, WORK an empty folder. With KEEP=FILE the database is kept as a compressed script of SQL.
"""
import gzip
import http.cookiejar
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

GTS, SVC, WEB, WORK = sys.argv[1:5]
OLD, PEER = int(os.environ.get("OLD_PORT", "8080")), int(os.environ.get("PEER_PORT", "8090"))
BASE, PEER_BASE = f"http://localhost:{OLD}", f"http://localhost:{PEER}"
PASSWORD = "correct horse battery staple 7"
running = []


def call(base, path, token=None, data=None, method=None, form=None, accept=None, opener=None, raw=False):
    headers = {"Accept": accept or "application/json"}
    body = None
    if token:
        headers["Authorization"] = "Bearer " + token
    if data is not None:
        body, headers["Content-Type"] = json.dumps(data).encode(), "application/json"
    if form is not None:
        body = urllib.parse.urlencode(form).encode()
    r = urllib.request.Request(base + path, body, headers, method=method)
    try:
        with (opener or urllib.request.build_opener()).open(r, timeout=60) as answer:
            content = answer.read()
            return (answer, content) if raw else json.loads(content or b"null")
    except urllib.error.HTTPError as err:
        err.msg += f" for {method or ''} {base + path}: {err.read()[:500]!r}"
        raise


def wait(what, fn, seconds=180):
    end = time.time() + seconds
    last = None
    while time.time() < end:
        try:
            if (value := fn()):
                return value
        except (OSError, urllib.error.HTTPError) as err:
            last = err
        time.sleep(0.3)
    sys.exit(f"waited in vain: {what} ({last})")


def start(args, env=None, log="log"):
    out = open(os.path.join(WORK, log), "ab")
    p = subprocess.Popen(args, env={**os.environ, **(env or {})}, stdout=out, stderr=out, cwd=WORK)
    running.append(p)
    return p


def stop(p):
    p.send_signal(signal.SIGTERM)
    p.wait(60)
    running.remove(p)


GTS_ENV = {
    "GTS_HOST": f"localhost:{OLD}", "GTS_PROTOCOL": "http", "GTS_BIND_ADDRESS": "127.0.0.1", "GTS_PORT": str(OLD), "GTS_DB_TYPE": "sqlite",
    "GTS_DB_ADDRESS": os.path.join(WORK, "gts.db"), "GTS_STORAGE_LOCAL_BASE_PATH": os.path.join(WORK, "storage"), "GTS_LOG_LEVEL": "info",
    "GTS_WEB_TEMPLATE_BASE_DIR": os.path.join(WEB, "template") + "/", "GTS_WEB_ASSET_BASE_DIR": os.path.join(WEB, "assets") + "/",
    "GTS_HTTP_CLIENT_ALLOW_IPS": "127.0.0.0/8,::1/128", "GTS_HTTP_CLIENT_INSECURE_OUTGOING": "true", "GTS_LETSENCRYPT_ENABLED": "false",
    "GTS_WAZERO_COMPILATION_CACHE": os.path.join(os.path.dirname(os.path.abspath(GTS)), "wazero"), "GTS_TRUSTED_PROXIES": "127.0.0.1/32", "GTS_ADVANCED_RATE_LIMIT_REQUESTS": "0", "GTS_ADVANCED_THROTTLING_MULTIPLIER": "0",
}


def sign_in(base, email):
    """Returns a token of GoToSocial, by its pages."""
    app = call(base, "/api/v1/apps", data={"client_name": "fixture", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"})
    o = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    query = urllib.parse.urlencode({"client_id": app["client_id"], "redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "response_type": "code", "scope": "read write"})
    call(base, "/oauth/authorize?" + query, accept="text/html", opener=o, raw=True)
    call(base, "/auth/sign_in", form={"username": email, "password": PASSWORD}, accept="text/html", opener=o, raw=True)
    answer, page = call(base, "/oauth/authorize", form={}, accept="text/html", opener=o, raw=True)
    code = re.search(r"<code>([^<]+)</code>", page.decode()) or re.search(r"code=([A-Z0-9]+)", answer.url + page.decode())
    return call(base, "/oauth/token", data={
        "client_id": app["client_id"], "client_secret": app["client_secret"], "redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "grant_type": "authorization_code", "code": code[1],
    })["access_token"]


def picture():
    """Returns a small PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(bytes((x * 5, y * 5, 90)) for x in range(48)) for y in range(32))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 32, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def upload(base, token, path, name, method="POST", **fields):
    boundary = "fixture-boundary"
    b = io.BytesIO()
    for k, v in fields.items():
        b.write(f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode())
    b.write(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="p.png"\r\nContent-Type: image/png\r\n\r\n'.encode() + picture() + f"\r\n--{boundary}--\r\n".encode())
    r = urllib.request.Request(base + path, b.getvalue(), {"Authorization": "Bearer " + token, "Content-Type": "multipart/form-data; boundary=" + boundary}, method=method)
    return json.loads(urllib.request.urlopen(r, timeout=60).read())


def svc_config(name, port):
    path = os.path.join(WORK, name + ".toml")
    with open(path, "w") as f:
        f.write(f'[server]\nurl = "http://localhost:{port}"\nlisten = "127.0.0.1:{port}"\n[data]\ndir = "{WORK}/{name}"\n'
                "[federation]\nallow_loopback = true\n[rate_limit]\nenabled = false\n")
    return path


def svc_token(base, nick):
    app = call(base, "/api/v1/apps", data={"client_name": "t", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write follow"})
    return call(base, "/oauth/token", data={"grant_type": "password", "username": nick, "password": PASSWORD, "client_id": app["client_id"],
                                            "client_secret": app["client_secret"], "scope": "read write follow"})["access_token"]


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, want {want!r}")
    print("ok", what)


def main():
    gts = start([GTS, "server", "start"], GTS_ENV, "gts.log")  # makes what accounts need
    wait("GoToSocial", lambda: call(BASE, "/api/v1/instance"), 400)  # it compiles ffmpeg
    stop(gts)
    for nick in ("alice", "bob"):
        email = nick + "@example.org"
        for args in (["create", "--username", nick, "--email", email, "--password", PASSWORD], ["confirm", "--username", nick]):
            subprocess.run([GTS, "admin", "account"] + args, env={**os.environ, **GTS_ENV}, cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([GTS, "admin", "account", "promote", "--username", "alice"], env={**os.environ, **GTS_ENV}, cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    gts = start([GTS, "server", "start"], GTS_ENV, "gts.log")
    wait("GoToSocial", lambda: call(BASE, "/api/v1/instance"), 400)
    alice, bob = sign_in(BASE, "alice@example.org"), sign_in(BASE, "bob@example.org")
    for token, name in ((alice, "Alice"), (bob, "Bob")):
        call(BASE, "/api/v1/accounts/update_credentials", token, method="PATCH", form={
            "locked": "false", "display_name": name + " of old", "note": "I am #" + name, "discoverable": "true",
            "fields_attributes[0][name]": "Site", "fields_attributes[0][value]": "https://example.org"})
    upload(BASE, alice, "/api/v1/accounts/update_credentials", "avatar", "PATCH")
    media = upload(BASE, alice, "/api/v1/media", "file", description="a picture")
    post = lambda token, text, **more: call(BASE, "/api/v1/statuses", token, {"status": text, **more})
    first = post(alice, "Hello #World, here is a picture", media_ids=[media["id"]], visibility="public", spoiler_text="a warning", sensitive=True)
    poll = post(alice, "Tea or coffee?", poll={"options": ["tea", "coffee"], "expires_in": 86400}, visibility="public")
    private = post(alice, "for followers", visibility="private")
    direct = post(alice, "@bob psst", visibility="direct")
    post(bob, "@alice yes?", visibility="direct", in_reply_to_id=direct["id"])
    reply = post(bob, "@alice nice", in_reply_to_id=first["id"], visibility="public")
    edited = post(alice, "befor", visibility="unlisted")
    call(BASE, f"/api/v1/statuses/{edited['id']}", alice, {"status": "after"}, method="PUT")
    call(BASE, f"/api/v1/polls/{poll['poll']['id']}/votes", bob, {"choices": [1]})
    for verb, what in (("favourite", first), ("reblog", first), ("bookmark", first)):
        call(BASE, f"/api/v1/statuses/{what['id']}/{verb}", bob, {})
    call(BASE, f"/api/v1/statuses/{first['id']}/pin", alice, {})
    bob_id = call(BASE, "/api/v1/accounts/lookup?acct=bob", alice)["id"]
    alice_id = call(BASE, "/api/v1/accounts/lookup?acct=alice", bob)["id"]
    call(BASE, f"/api/v1/accounts/{bob_id}/follow", alice, {"notify": True})
    call(BASE, f"/api/v1/accounts/{bob_id}/note", alice, {"comment": "a friend"})
    members = call(BASE, "/api/v1/lists", alice, {"title": "friends"})
    call(BASE, f"/api/v1/lists/{members['id']}/accounts", alice, {"account_ids": [bob_id]})
    call(BASE, "/api/v2/filters", alice, {"title": "no spoilers", "context": ["home"], "filter_action": "warn", "keywords_attributes": [{"keyword": "finale", "whole_word": True}]})

    peer_config = svc_config("peer", PEER)
    start([SVC, "--config", peer_config, "serve"], log="peer.log")
    wait("the other server", lambda: call(PEER_BASE, "/api/v1/instance"))
    subprocess.run([SVC, "--config", peer_config, "user", "create", "dave", "--email", "dave@example.org", "--password", PASSWORD], check=True, stdout=subprocess.DEVNULL)
    dave = svc_token(PEER_BASE, "dave")
    handle = f"@alice@localhost:{OLD}"
    found = wait("alice at the other server", lambda: call(PEER_BASE, "/api/v2/search?resolve=true&type=accounts&q=" + urllib.parse.quote(handle), dave)["accounts"])[0]
    call(PEER_BASE, f"/api/v1/accounts/{found['id']}/follow", dave, {})
    wait("the follow to be accepted", lambda: call(PEER_BASE, f"/api/v1/accounts/relationships?id[]={found['id']}", dave)[0]["following"])
    dave_there = wait("dave at GoToSocial", lambda: call(BASE, "/api/v2/search?resolve=true&type=accounts&q=" + urllib.parse.quote(f"@dave@localhost:{PEER}"), alice)["accounts"])[0]
    call(BASE, f"/api/v1/accounts/{dave_there['id']}/follow", alice, {})
    wait("the follow of dave", lambda: call(BASE, f"/api/v1/accounts/relationships?id[]={dave_there['id']}", alice)[0]["following"])
    news = post(alice, "to all who follow", visibility="public")
    copy = wait("the post at the other server", lambda: [s for s in call(PEER_BASE, "/api/v1/timelines/home", dave) if s["uri"] == news["uri"]])[0]
    call(PEER_BASE, f"/api/v1/statuses/{copy['id']}/favourite", dave, {})
    wait("the favourite of dave", lambda: call(BASE, f"/api/v1/statuses/{news['id']}", alice)["favourites_count"] == 1)
    answer = call(PEER_BASE, "/api/v1/statuses", dave, {"status": f"{handle} hello", "in_reply_to_id": copy["id"]})
    there = wait("the reply of dave", lambda: [n for n in call(BASE, "/api/v1/notifications", alice) if n["type"] == "mention" and n["status"]["uri"] == answer["uri"]])[0]["status"]
    call(BASE, f"/api/v1/statuses/{there['id']}/favourite", alice, {})

    activity = "application/activity+json"
    shown = call(BASE, f"/api/v1/statuses/{first['id']}", alice)
    stop(gts)
    with sqlite3.connect(os.path.join(WORK, "gts.db")) as db:  # its documents are for signed requests only
        names = ("id", "inbox", "followers", "following", "featured", "url", "key")
        actor = dict(zip(names, db.execute("SELECT uri, inbox_uri, followers_uri, following_uri, featured_collection_uri, url, public_key_uri FROM accounts "
                                           "WHERE username = 'alice' AND domain IS NULL").fetchone()))
    with sqlite3.connect(f"file:{WORK}/peer/svc.db?mode=ro", uri=True) as db:
        actor["pem"] = db.execute("SELECT public FROM actor_keys WHERE uri = ?", (actor["key"],)).fetchone()[0]
    if os.environ.get("KEEP"):
        keep(os.environ["KEEP"])

    config = svc_config("new", OLD)
    with open(os.path.join(WORK, "report.txt"), "w") as report:
        args = [SVC, "--config", config, "takeover", os.path.join(WORK, "gts.db"), "--media", os.path.join(WORK, "storage"), "--admins", "alice"]
        subprocess.run(args + ["--dry-run"], check=True, stdout=report)
        subprocess.run(args, check=True, stdout=report)
    print(open(os.path.join(WORK, "report.txt")).read())
    start([SVC, "--config", config, "serve"], log="new.log")
    wait("the new server", lambda: call(BASE, "/api/v1/instance"))

    now = call(BASE, "/users/alice", accept=activity)
    same("actor id", now["id"], actor["id"])
    for name in ("inbox", "followers", "following", "featured", "url"):
        same(name, now[name], actor[name])
    same("public key", now["publicKey"]["publicKeyPem"].split(), actor["pem"].split())
    same("key id", now["publicKey"]["id"], actor["key"])
    same("post id", call(BASE, urllib.parse.urlsplit(first["uri"]).path, accept=activity)["id"], first["uri"])
    answer, content = call(BASE, urllib.parse.urlsplit(shown["media_attachments"][0]["url"]).path, raw=True)
    same("media at its old address", (answer.headers["Content-Type"], len(content) > 0), ("image/png", True))
    mine = svc_token(BASE, "alice")
    same("password, administrator", call(BASE, "/api/v1/accounts/verify_credentials", mine)["role"]["name"].lower(), "admin")
    same("token of the old server", call(BASE, "/api/v1/accounts/verify_credentials", alice)["username"], "alice")
    account = call(BASE, "/api/v1/accounts/verify_credentials", mine)
    same("display name", account["display_name"], "Alice of old")
    same("followers", account["followers_count"], 1)
    post_now = [s for s in call(BASE, f"/api/v1/accounts/{account['id']}/statuses?limit=40", mine) if s["uri"] == first["uri"]][0]
    same("favourites, boosts, replies", [post_now[k] for k in ("favourites_count", "reblogs_count", "replies_count")], [1, 1, 1])
    same("spoiler and description", [post_now["spoiler_text"], post_now["media_attachments"][0]["description"]], ["a warning", "a picture"])
    same("list", [x["title"] for x in call(BASE, "/api/v1/lists", mine)], ["friends"])
    same("filter", [x["title"] for x in call(BASE, "/api/v2/filters", mine)], ["no spoilers"])
    same("conversations", len(call(BASE, "/api/v1/conversations", mine)), 1)
    news = call(BASE, "/api/v1/statuses", mine, {"status": "from the new server"})
    wait("a post of the new server at the other one", lambda: [s for s in call(PEER_BASE, "/api/v1/timelines/home", dave) if s["uri"] == news["uri"]])
    said = call(PEER_BASE, "/api/v1/statuses", dave, {"status": "dave says"})
    wait("a post of the other server in home", lambda: [s for s in call(BASE, "/api/v1/timelines/home", mine) if s["uri"] == said["uri"]])
    print("ok posts in both directions")


def keep(path):
    """Writes the database as a script of SQL without what tests do not need."""
    db = sqlite3.connect(os.path.join(WORK, "gts.db"))
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        for line in db.iterdump():
            f.write((line + "\n").encode())
    shutil.make_archive(path.removesuffix(".sql.gz"), "zip", os.path.join(WORK, "storage"))


try:
    main()
finally:
    for p in running:
        p.terminate()
