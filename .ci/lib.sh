# shellcheck shell=bash
# The form of .ci/run and .ci/full: steps one after the other, and in the last lines how long each took, what
# this machine could not check, and the result.
#
# A step is a command. Exit status 77 says that this machine cannot do it; the last line of its output says why. A step can also leave out a
# part of its work: it prints a line "skipped: WHAT: WHY".
#
# PASSED=FILE keeps the names of the steps that passed on this commit, so that .ci/full can go on where it was interrupted. It is for a clean
# checkout; a step with needed=yes before it runs every time, because others use what it makes.

readonly SKIPPED=77

# The Go of go.mod, whatever the environment says: an older one has known vulnerabilities, and releases are built with it. Commands of the
# README need no more than the go line.
GO_MOD=$(dirname "${BASH_SOURCE[0]}")/../go.mod
GOTOOLCHAIN=$(awk '$1 == "toolchain" { print $2 }' "$GO_MOD")
OLDEST_GO=go$(awk '$1 == "go" { print $2 }' "$GO_MOD")
export GOTOOLCHAIN OLDEST_GO

# skip WHY… ends a step that this machine cannot do.
skip() {
  echo "$*"
  exit "$SKIPPED"
}

current='' begin=0 running='' times=() skipped=() failures=''

# begin_checks sets the folder $tmp and prints the last lines at the end.
begin_checks() {
  tmp=$(mktemp -d /tmp/ci.XXXXXX)
  trap finish_checks EXIT
  trap 'exit 1' HUP INT PIPE TERM
  current="the Go of go.mod"
  go version
  current="free disk"
  check_disk "$tmp" "$(go env GOCACHE)"
}

readonly DISK_NEEDED=3 # GiB, if the cache of Go is filled; 12 if it is empty

# check_disk FOLDER… fails early where the disk of one of them has not enough room: a build that runs out of it fails with messages of all kinds.
check_disk() {
  local folder free
  for folder in "$@"; do
    mkdir -p "$folder"
    free=$(($(stat -f -c '%a * %S' "$folder") >> 30))
    echo "$free GiB are free on the disk of $folder"
    [ "$free" -ge "$DISK_NEEDED" ] || { echo "at least $DISK_NEEDED are needed"; return 1; }
  done
}

# passed_before and remember NAME ask and say whether a step of this script has passed on this commit.
passed_before() { [ -n "${PASSED:-}" ] && [ -z "${needed:-}" ] && grep -qxF "$(step_of_commit "$1")" "$PASSED" 2>/dev/null; }
remember() { [ -z "${PASSED:-}" ] || step_of_commit "$1" >>"$PASSED"; }
step_of_commit() {
  [ -z "$(git status --porcelain)" ] || { echo "PASSED needs a clean checkout" >&2; return 1; }
  echo "$(git rev-parse HEAD) $(basename "$0"): $1"
}

# step NAME COMMAND… runs one step, and ends the script if it fails. The command has a group of processes of its own, so that an interruption
# ends all of it at once, and set -e, which is off in a condition.
step() {
  local status=0 line count='' log=$tmp/step.log
  current=$1 begin=$SECONDS
  shift
  if passed_before "$current"; then
    times+=("     -  $current: passed before")
    return
  fi
  printf '\n=== %s\n' "$current"
  set -m
  (set -eo pipefail; "$@" 2>&1 | tee "$log") </dev/null &
  running=$!
  set +m
  wait "$running" || status=$?
  running=''
  if [ "$status" -eq "$SKIPPED" ]; then
    note_skipped "skipped: $current: $(tail -n 1 "$log")"
    times+=("$(printf '%4d s  %s: skipped' $((SECONDS - begin)) "$current")")
    return
  fi
  while read -r line; do
    note_skipped "$line"
  done < <(grep '^skipped: ' "$log")
  if [ "$status" -ne 0 ]; then
    failures=$(grep -E '^[[:space:]]*--- FAIL|^FAIL[[:space:]]|^panic: |^FAILED' "$log" | head -n 30) || true
    return "$status"
  fi
  if grep -q '^ok ' "$log"; then
    count=" ($(grep -c '^ok ' "$log") packages ok)"
  fi
  times+=("$(printf '%4d s  %s%s' $((SECONDS - begin)) "$current" "$count")")
  echo "--- $current: $((SECONDS - begin)) s"
  grep -q '^skipped: ' "$log" || remember "$current" # a repetition names again what could not be checked
}

# note_skipped LINE adds a line to the last ones, once: .ci/full and the .ci/run in it can lack the same.
note_skipped() {
  local line
  for line in "${skipped[@]}"; do
    [ "$line" != "$1" ] || return 0
  done
  skipped+=("$1")
}

# finish_checks ends what runs and prints the last lines.
finish_checks() {
  local status=$?
  trap - EXIT
  trap '' PIPE
  set +e
  end_step
  rm -rf "$tmp"
  printf '\n'
  [ ${#times[@]} -eq 0 ] || printf '%s\n' "${times[@]}"
  [ ${#skipped[@]} -eq 0 ] || printf '%s\n' "${skipped[@]}"
  [ -z "$failures" ] || printf '%s\n' "$failures"
  if [ "$status" -ne 0 ]; then
    echo "FAILED: $current, after $((SECONDS - begin)) s"
  elif [ ${#skipped[@]} -gt 0 ]; then
    echo "passed in $SECONDS s, but ${#skipped[@]} checks could not run on this machine"
  else
    echo "passed in $SECONDS s"
  fi
  exit "$status"
}

# end_step ends the step that runs, with all that it has started.
end_step() {
  [ -n "$running" ] || return 0
  kill -TERM -- "-$running" 2>/dev/null
  wait "$running"
  for _ in {1..150}; do
    kill -0 -- "-$running" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$running"
}

# go_test ARGUMENTS… is go test, and prints which tests this machine cannot run: those that were skipped for a reason, other than those that a
# flag asks for ("runs with -duration only"). Of a package it shows one line, and what failing tests print.
go_test() {
  go test -v "$@" | awk '
    /^=== / { why = "" }
    /^ +[A-Za-z0-9_]+_test\.go:[0-9]+: / { why = $0; sub(/^ +[^ ]+ /, "", why) }
    /^ *--- SKIP: / && why != "" && why !~ /runs with -.* only/ { skipped = skipped "skipped: " $3 ": " why "\n" }
    /^(ok|\?) .*\t/ { print; printf "%s", skipped; text = skipped = why = ""; next }
    /^FAIL\t/ { printf "%s%s\n%s", text, $0, skipped; text = skipped = why = ""; next }
    !/^=== / && !/^ *--- PASS: / { text = text $0 "\n" }
    END { printf "%s", text }'
}

# debian PACKAGE… installs packages of Debian that are missing. If that is not possible, it says why and fails.
debian() {
  local missing=() package log
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  log=$(mktemp)
  if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
    rm "$log"
    return 0
  fi
  tail -n 5 "$log"
  rm "$log"
  return 1
}

RACE_FLAGS=(-gcflags=all=-d=checkptr=0 "-gcflags=modernc.org/sqlite/lib=-d=checkptr=0 -race=false") # the code of SQLite itself is not checked, which would take most of the time

# race PACKAGE… runs tests under the race detector, two packages at a time, with -short, which leaves out what handles much data or many
# signatures in one goroutine. Servers have another api.name, so that the tests pass with both. It needs gcc.
race() {
  command -v gcc >/dev/null || debian gcc libc6-dev || skip "gcc cannot be installed"
  SVC_TEST_API_NAME=pleroma CGO_ENABLED=1 go test -race "${RACE_FLAGS[@]}" -short -p 2 -timeout 15m "$@"
}

# memory BINARY SECONDS attacks the binary in a memory cgroup. .ci/memory ends with the status of skip where it cannot make one.
memory() {
  [ -x .ci/memory ] || skip "there is no .ci/memory"
  .ci/memory "$@"
}
