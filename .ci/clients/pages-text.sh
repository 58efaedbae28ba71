#!/usr/bin/env bash
# The web interface as text, in w3m: signing in and a first post by plain forms, and pages on which everything is readable.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

jar=$WORK/cookies
browse() { curl -fsS -b "$jar" -c "$jar" -H "Origin: $BASE_URL" "$@"; }

# as_text PATH prints a page as w3m shows it, in lines that are long enough not to break texts.
as_text() {
  browse -L "$BASE_URL$1" | w3m -dump -cols 300 -T text/html -I UTF-8 -O UTF-8
}

# send PATH NAME=VALUE… sends a form with the token of the session and follows to the page afterwards.
send() {
  local path=$1 token fields=() field
  shift
  token=$(browse "$BASE_URL/web/compose" | grep -oE 'name="form_token" value="[^"]+"' | head -n 1 | cut -d'"' -f4)
  for field in "$@"; do fields+=(-F "$field"); done
  browse -L -o /dev/null "$BASE_URL$path" -F "form_token=$token" "${fields[@]}"
}

# reads NAME PATH TEXT… checks that the page has all texts, each in one line.
reads() {
  local name=$1 path=$2 text
  shift 2
  out=$(as_text "$path")
  for text in "$@"; do
    grep -qF -- "$text" <<<"$out" || { printf 'FAIL %s: %q is not in\n%s\n' "$name" "$text" "$out"; exit 1; }
  done
  echo "ok   $name"
}

reads "front page" / "Skip to the content" "Sign in" "Create an account"
check "sign in" browse -o /dev/null "$BASE_URL/web/sign_in" --data-urlencode "name=carol" --data-urlencode "password=$PASSWORD"
reads "home without posts" /web "Home" "Direct messages" "Sign out" "What’s new?" "Accounts to follow"
check "first post" send /web/compose "status=First words in w3m"
browse "$BASE_URL/web/compose" -o "$WORK/compose.html"
post=$(browse "$BASE_URL/web" | grep -oE '/@carol/[0-9A-Za-z]+' | head -n 1)
check "upload, described" send /web/do/api/v1/statuses "status=A second one" "spoiler_text=About tea" "visibility=unlisted"
check "reply" send /web/compose "status=An answer to it" "in_reply_to_id=${post##*/}"
reads home /web "First words in w3m" "An answer to it" "In reply to @carol" "About tea" "Quiet public" "Reply" "Boost" "Favourite" "Bookmark" "More"
reads thread "$post" "First words in w3m" "An answer to it" "@carol" "0 boosts · 0 favourites"
reads profile /@carol "carol" "3 posts" "0 following" "0 followers" "Joined" "Posts and replies" "Media" "First words in w3m"
reads compose /web/compose "Text" "Content warning" "Who can see it" "Add files" "Poll" "Options" "More options" "Publish later" "Preview Post"
reads settings /web/settings "Profile" "Name, description, pictures, fields" "Close the account"
reads "settings of the profile" /web/settings/profile "Display name" "About you" "Field 1: name" "Save"
reads notifications /web/notifications "All" "Mentions" "Who may notify me"
for path in /web "$post" /@carol /web/settings /web/menu; do
  out=$(as_text "$path")
  # Names of links and words must not run together.
  ! grep -nE 'HomeNotifications|PostsPosts|repliesMedia|SearchMenu|ReplyBoost|BoostFavourite|[a-z]@carol|UTC[A-Z]' <<<"$out" || { echo "FAIL words run together on $path"; exit 1; }
done
echo "ok   no words run together"
