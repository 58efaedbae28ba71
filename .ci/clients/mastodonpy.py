#!/usr/bin/python3
"""Mastodon.py, the Python library, as Debian packages it (python3-mastodon).

It believes the version that the server announces and refuses calls that are newer. So two kinds of client are made:
one that finds out for itself that it talks to 2.7.2, and one that is told a newer version for the later endpoints.
"""

import base64
import datetime
import hashlib
import os
import re
import secrets
import time

import requests
from mastodon import Mastodon, MastodonAPIError, MastodonIllegalArgumentError, MastodonNotFoundError

from lib import PASSWORD, authorize, check, png

URL = os.environ["BASE_URL"]
PICTURE = os.path.join(os.environ["WORK"], "picture.png")
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
LATER = "3.5.5"


def ids(entities):
    return [entity.id for entity in entities]


def expect(error, call, *arguments, **named):
    """Calls and demands the error."""
    try:
        call(*arguments, **named)
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def client(token=None, **options):
    return Mastodon(client_id=app[0], client_secret=app[1], api_base_url=URL, access_token=token,
                    ratelimit_method="throw", request_timeout=30, **options)


def sign_in(nickname):
    """A client that finds out the version, and one that is told a later one."""
    token = client().log_in(f"{nickname}@example.org", PASSWORD)
    return client(token), client(token, mastodon_version=LATER)


def sign_in_with_pkce(nickname):
    """The code flow as by RFC 7636, which the library does not know. Returns the codes that two verifiers get."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    page = client().auth_request_url(force_login=True) + f"&code_challenge={challenge}&code_challenge_method=S256"
    answers = []
    for v in ("x" * 64, verifier):
        answers.append(requests.post(URL + "/oauth/token", data={
            "grant_type": "authorization_code", "client_id": app[0], "client_secret": app[1],
            "redirect_uri": OUT_OF_BAND, "code": authorize(page, nickname), "code_verifier": v}))
    return answers


with check("create_app"):
    app = Mastodon.create_app("client checks", api_base_url=URL, website="https://app.example.org/")
    assert all(app)

with check("the version is understood"):
    anonymous = client()
    assert (anonymous.mastodon_major, anonymous.mastodon_minor, anonymous.mastodon_patch) == (2, 7, 2)
    instance = anonymous.instance()
    assert instance.uri == os.environ["DOMAIN"] and instance.max_toot_chars > 0 and instance.urls.streaming_api
    assert isinstance(anonymous.custom_emojis(), list)

with check("log_in by password"):
    alice, alice_later = sign_in("alice")
    bob, bob_later = sign_in("bob")
    assert alice.me().acct == "alice" and alice.app_verify_credentials().name == "client checks"
    expect(MastodonIllegalArgumentError, client().log_in, "alice@example.org", "wrong " + PASSWORD)

with check("log_in by code"):
    carol = client()
    carol.log_in(code=authorize(carol.auth_request_url(), "carol"))
    assert carol.me().acct == "carol"

with check("code flow with PKCE"):
    wrong, right = sign_in_with_pkce("carol")
    assert wrong.status_code == 400 and wrong.json()["error"] == "invalid_grant", wrong.text
    assert right.status_code == 200 and right.json()["access_token"], right.text

with check("create_account"):
    dave = client()
    dave.create_account("dave", PASSWORD, "dave@example.org", agreement=True)
    assert dave.me().acct == "dave"

with check("account_follow and relationships"):
    me, her = bob.me(), bob.account_search("alice")[0]
    assert her.acct == "alice"
    assert bob.account_follow(her).following
    assert bob.account_relationships([her.id, me.id])[0].following
    assert alice.account_relationships(me)[0].followed_by
    assert ids(bob.account_following(me)) == [her.id] and ids(alice.account_followers(her)) == [me.id]

with check("media_post and status_post"):
    media = alice.media_post(PICTURE, description="An orange rectangle")
    assert media.type == "image" and media.description == "An orange rectangle"
    media = alice.media_update(media, description="A rectangle")
    picture = alice.status_post("A picture #rectangle", media_ids=[media], sensitive=True)
    attached = picture.media_attachments[0]
    assert attached.description == "A rectangle" and picture.sensitive
    for url in (attached.url, attached.preview_url):
        answer = requests.get(url)
        assert answer.ok and answer.headers["Content-Type"].startswith("image/"), url

with check("media_post by the second version of the endpoint"):
    media = alice_later.media_post(png(colour=(0, 0, 255)), mime_type="image/png", description="Blue")
    deadline = time.monotonic() + 10
    while not alice_later.media(media).url:
        assert time.monotonic() < deadline, "still processed after 10 s"
        time.sleep(0.1)

with check("status_post with all its parameters"):
    warned = alice.status_post("Hello @bob <b>&", visibility="unlisted", spoiler_text="a warning", language="en",
                               idempotency_key="once")
    again = alice.status_post("Hello @bob <b>&", visibility="unlisted", idempotency_key="once")
    assert warned.id == again.id and warned.visibility == "unlisted" and warned.spoiler_text == "a warning"
    assert "&lt;b&gt;&amp;" in warned.content and [m.acct for m in warned.mentions] == ["bob"]
    private = alice.status_post("For followers", visibility="private")
    direct = alice.status_post("@bob Between us", visibility="direct")

with check("timelines: home, public, local, tag"):
    posts = {picture.id, warned.id, private.id, direct.id}
    assert posts <= set(ids(bob.timeline_home()))
    for page in (bob.timeline_public(), bob.timeline_local(), bob.timeline_public(only_media=True),
                 bob.timeline_hashtag("Rectangle"), anonymous.timeline_public()):
        assert posts & set(ids(page)) == {picture.id}
    assert set(ids(carol.account_statuses(her))) & posts == {picture.id, warned.id}

with check("what is private stays so"):
    assert bob.status(private).id == private.id
    expect(MastodonNotFoundError, carol.status, private)
    expect(MastodonNotFoundError, carol.status, direct)
    expect(MastodonNotFoundError, anonymous.status, private)

with check("lists and their timeline"):
    colours = bob.list_create("Colours")
    bob.list_accounts_add(colours, [her])
    assert ids(bob.list_accounts(colours)) == [her.id] and ids(bob.account_lists(her)) == [colours.id]
    shape = alice.status_post("A shape")
    assert shape.id in ids(bob.timeline_list(colours))
    assert bob.list_update(colours, "Shapes").title == "Shapes" and [one.title for one in bob.lists()] == ["Shapes"]
    bob.list_accounts_delete(colours, [her])
    assert bob.list_accounts(colours) == []
    bob.list_delete(colours)
    assert bob.lists() == []

with check("replies and context"):
    reply = bob.status_reply(picture, "Nice")
    answer = alice.status_reply(reply, "Thank you")
    assert reply.in_reply_to_id == picture.id and reply.in_reply_to_account_id == her.id
    context = carol.status_context(reply)
    assert ids(context.ancestors) == [picture.id] and ids(context.descendants) == [answer.id]

with check("reblog, favourite, bookmark, pin, mute of a thread"):
    boost = bob.status_reblog(picture)
    assert boost.reblog.id == picture.id and boost.reblog.reblogged and boost.id != picture.id
    assert bob.status_favourite(picture).favourites_count == 1
    assert bob_later.status_bookmark(picture).bookmarked
    assert ids(bob.favourites()) == [picture.id] == ids(bob_later.bookmarks())
    assert ids(alice.status_reblogged_by(picture)) == ids(alice.status_favourited_by(picture)) == [me.id]
    assert alice.status_pin(picture).pinned and ids(carol.account_statuses(her, pinned=True)) == [picture.id]
    assert bob.status_mute(picture).muted and not bob.status_unmute(picture).muted

with check("notifications"):
    received = alice.notifications()
    assert {"follow", "mention", "reblog", "favourite"} == {n.type for n in received}
    assert all(n.account.id == me.id and isinstance(n.id, int) for n in received)
    assert {n.type for n in alice.notifications(exclude_types=["follow", "reblog"])} == {"mention", "favourite"}
    assert {n.type for n in alice_later.notifications(types=["follow"])} == {"follow"}
    assert {n.type for n in alice.notifications(mentions_only=True)} == {"mention"}
    assert alice.notifications(id=received[0].id).type == received[0].type

with check("notifications: markers, dismiss, clear"):
    markers = alice_later.markers_set("notifications", received[0])
    assert markers.notifications.last_read_id == received[0].id
    assert alice_later.markers_get("notifications").notifications.last_read_id == received[0].id
    alice.notifications_dismiss(received[0])
    alice_later.notifications_dismiss(received[1])
    assert ids(alice.notifications()) == ids(received[2:])
    alice.notifications_clear()
    assert alice.notifications() == []

with check("what was done can be undone"):
    assert not bob.status_unreblog(picture).reblogged and not bob.status_unfavourite(picture).favourited
    assert not bob_later.status_unbookmark(picture).bookmarked and not alice.status_unpin(picture).pinned
    assert bob.favourites() == bob_later.bookmarks() == carol.account_statuses(her, pinned=True) == []

with check("mute, block, note, remove from followers"):
    assert bob.account_mute(her, duration=3600).muting and ids(bob.mutes()) == [her.id]
    assert picture.id not in ids(bob.timeline_home())
    assert not bob.account_unmute(her).muting and picture.id in ids(bob.timeline_home())
    assert bob_later.account_note_set(her, "likes colours").note == "likes colours"
    assert not alice_later.account_remove_from_followers(me).followed_by
    assert bob.account_follow(her, reblogs=False).showing_reblogs is False
    assert alice.account_block(me).blocking and ids(alice.blocks()) == [me.id]
    expect(MastodonNotFoundError, bob.status, picture)
    assert not alice.account_unblock(me).blocking and not bob.account_relationships(her)[0].following

with check("follow requests of a locked account"):
    assert carol.account_update_credentials(locked=True).locked
    it = carol.me()
    assert bob.account_follow(it).requested and alice.account_follow(it).requested
    assert set(ids(carol.follow_requests())) == {me.id, her.id}
    carol.follow_request_authorize(me)
    carol.follow_request_reject(her)
    assert bob.account_relationships(it)[0].following and not alice.account_relationships(it)[0].following

with check("domain blocks"):
    bob.domain_block("spam.example.com")
    assert bob.domain_blocks() == ["spam.example.com"]
    bob.domain_unblock("spam.example.com")
    assert bob.domain_blocks() == []

with check("update_credentials with avatar and header"):
    profile = alice.account_update_credentials(display_name="Alice <3", note="Rectangles", bot=True, discoverable=True,
                                               avatar=PICTURE, header=PICTURE, fields=[("Colour", "orange")])
    assert profile.display_name == "Alice <3" and profile.bot and "Rectangles" in profile.note
    assert profile.source.note == "Rectangles" and profile.source.fields[0].value == "orange"
    for url in (profile.avatar, profile.avatar_static, profile.header):
        assert requests.get(url).headers["Content-Type"].startswith("image/"), url

with check("account and search"):
    assert carol.account(her).display_name == "Alice <3" and isinstance(carol.account(her).created_at, datetime.datetime)
    assert carol.account("alice").id == her.id == alice_later.account_lookup("alice").id
    assert ids(carol.search("alice").accounts) == [her.id] == ids(anonymous.account_search("alice"))

with check("edit, history and source"):
    edited = alice_later.status_update(picture, "An edited picture", media_ids=[attached], spoiler_text="edited")
    assert edited.id == picture.id and "An edited picture" in edited.content and edited.edited_at
    versions = alice_later.status_history(picture)
    assert len(versions) == 2 and "#" in versions[0].content and versions[1].spoiler_text == "edited"
    assert alice_later.status_source(picture).text == "An edited picture"
    expect(MastodonAPIError, bob_later.status_update, picture, "Mine")

with check("delete returns the text"):
    expect(MastodonNotFoundError, bob.status_delete, picture)
    deleted = alice.status_delete(picture)
    assert deleted.text == "An edited picture" and deleted.media_attachments[0].id == attached.id
    expect(MastodonNotFoundError, alice.status, picture)
    assert alice.status_post("Once more", media_ids=deleted.media_attachments).media_attachments[0].id == attached.id

with check("fetch_next and fetch_previous over 45 statuses"):
    carol.account_update_credentials(locked=False)
    posted = [carol.status_post(f"Number {n}").id for n in range(45)][::-1]
    for read in (lambda: carol.timeline_home(limit=20), lambda: carol.account_statuses(it, limit=20),
                 lambda: anonymous.timeline_public(limit=20)):
        pages = [read()]
        while len(pages) < 3:
            pages.append(carol.fetch_next(pages[-1]))
        walked = sum(map(ids, pages), [])
        assert walked[:45] == posted and len(set(walked)) == len(walked)
        back = carol.fetch_previous(pages[2])
        assert ids(back) == ids(pages[1]) and ids(carol.fetch_previous(back)) == ids(pages[0])
    assert ids(carol.fetch_remaining(carol.account_statuses(it, limit=7))) == posted

with check("revoke_access_token"):
    token = bob.access_token
    bob.revoke_access_token()
    answer = requests.get(URL + "/api/v1/accounts/verify_credentials", headers={"Authorization": "Bearer " + token})
    assert answer.status_code == 401 and re.search("token", answer.json()["error"])
