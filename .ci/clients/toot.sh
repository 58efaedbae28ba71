#!/usr/bin/env bash
# toot, the command-line client, as Debian packages it.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export XDG_CONFIG_HOME=$WORK/toot

as() { # as NICKNAME COMMAND ARGUMENT…
  local nick=$1 command=$2
  shift 2
  toot "$command" "$@" --using "$nick@$DOMAIN" </dev/null
}

# sign_in_by_page NICKNAME signs in on the page that toot opens in a browser, and passes the code to toot.
sign_in_by_page() {
  local line='' code
  coproc TOOT { PYTHONUNBUFFERED=1 toot login --instance "$DOMAIN" 2>&1; }
  local pid=$TOOT_PID from=${TOOT[0]} to=${TOOT[1]}
  until [[ $line == "$BASE_URL/oauth/authorize"* ]]; do
    IFS= read -r line <&"$from" || return 1
  done
  code=$("$here/lib.py" authorize "$line" "$1")
  printf 'n\n%s\n' "$code" >&"$to"
  wait "$pid"
}

# post NICKNAME ARGUMENT… posts and leaves the status id in $id.
post() {
  expect "post: $2" "Toot posted: " as "$1" post "${@:2}"
  id=${out##*/}
}

expect "instance" "$DOMAIN" toot instance "$DOMAIN"
expect "log in by password" "Successfully logged in" \
  toot login_cli --instance "$DOMAIN" --email alice@example.org <<<"$PASSWORD"
refuse "log in by a wrong password" toot login_cli --instance "$DOMAIN" --email bob@example.org <<<"wrong $PASSWORD"
check "log in by the authorize page" sign_in_by_page bob
expect "both are logged in" "bob@$DOMAIN" toot auth
expect "whoami" "@alice" as alice whoami
expect "whois" "@bob" as alice whois bob
expect "search accounts" "@bob" as alice search bob

expect "follow" "now following" as bob follow alice
expect "following" "@alice" as bob following bob
expect "followers" "@bob" as alice followers alice

post alice "Hello from the command line #terminal"
hello=$id
post alice "A picture" --media "$WORK/picture.png" --description "An orange rectangle"
picture=$id
expect "the picture has its description" "An orange rectangle" \
  curl -fsS "$BASE_URL/api/v1/statuses/$picture"
post alice "Only for followers" --visibility private
private=$id
for id in "$hello" "$picture" "$private"; do
  expect "home timeline" "$id" as bob timeline --once
done
lacks "public timeline without what is private" "$private" as bob timeline --public --once
expect "public timeline" "$hello" as bob timeline --public --once
expect "local timeline" "$hello" as bob timeline --public --local --once
expect "tag timeline" "$hello" as bob timeline --tag terminal --once
expect "public timeline of an anonymous reader" "$hello" as bob timeline --public --instance "$DOMAIN" --once

post bob "@alice Hello yourself" --reply-to "$hello"
reply=$id
expect "reply is in the thread" "$reply" as alice thread "$hello"
expect "favourite" "favourited" as bob favourite "$hello"
expect "reblog" "reblogged" as bob reblog "$hello"
expect "reblogged_by" "@bob" toot reblogged_by "$hello"
expect "bookmark" "bookmarked" as bob bookmark "$hello"
expect "bookmarks" "$hello" as bob bookmarks --once
expect "pin" "pinned" as alice pin "$hello"

check "notifications" as alice notifications
for event in "now follows you" "mentioned you in" "favourited your status" "reblogged your status"; do
  expect "notification: $event" "@bob $event" as alice notifications
done
expect "notifications, mentions only" "mentioned you in" as alice notifications --mentions
expect "clear notifications" "Cleared" as alice notifications --clear
expect "no notification is left" "No notification" as alice notifications

expect "unpin" "unpinned" as alice unpin "$hello"
expect "unbookmark" "unbookmarked" as bob unbookmark "$hello"
expect "unreblog" "unreblogged" as bob unreblog "$hello"
expect "unfavourite" "unfavourited" as bob unfavourite "$hello"
expect "mute" "muted bob" as alice mute bob
expect "unmute" "no longer muted" as alice unmute bob
expect "block" "blocking bob" as alice block bob
expect "unblock" "no longer blocked" as alice unblock bob
lacks "the block ended the follow" "@alice" as bob following bob
expect "follow again" "now following" as bob follow alice
expect "unfollow" "no longer following" as bob unfollow alice

refuse "delete what is not one's own" as bob delete "$hello"
expect "delete" "deleted" as alice delete "$hello"
refuse "what is deleted is gone" as bob thread "$hello"
