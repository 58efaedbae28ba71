# shellcheck shell=bash
# Helpers of the shell suites, to be sourced.

# check NAME COMMAND… prints one line; a command that fails ends the script with its output.
check() {
  local name=$1
  shift
  if out=$("$@" 2>&1); then
    echo "ok   $name"
  else
    printf 'FAIL %s: %s\n%s\n' "$name" "$*" "$out"
    exit 1
  fi
}

# expect NAME TEXT COMMAND… is check, and the output must contain TEXT. Sets $out to the output.
expect() {
  check_output "$1" "$2" 0 "${@:3}"
}

# lacks NAME TEXT COMMAND… is check, and the output must not contain TEXT.
lacks() {
  check_output "$1" "$2" 1 "${@:3}"
}

# check_output NAME TEXT STATUS COMMAND… is check, and grep for TEXT in the output must end with STATUS.
check_output() {
  local name=$1 text=$2 want=$3 status=0 got=0
  shift 3
  out=$("$@" 2>&1) || status=$?
  grep -qF -- "$text" <<<"$out" || got=$?
  if [ "$status" -ne 0 ] || [ "$got" -ne "$want" ]; then
    printf 'FAIL %s: %s\nexit code %d, looked for: %s\n%s\n' "$name" "$*" "$status" "$text" "$out"
    exit 1
  fi
  echo "ok   $name"
}

# refuse NAME COMMAND… checks that the command fails.
refuse() {
  local name=$1
  shift
  if out=$("$@" 2>&1); then
    printf 'FAIL %s: %s succeeded\n%s\n' "$name" "$*" "$out"
    exit 1
  fi
  echo "ok   $name"
}

# wait_for SECONDS COMMAND… waits until the command succeeds, and fails if it does not in that time.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}

# set_key FILE TABLE KEY VALUE sets a key of a settings file, and adds it if it is missing.
set_key() {
  awk -v table="[$2]" -v key="$3" -v line="$3 = $4" '
    /^[[:space:]]*\[/ { inside = index($0, table) == 1 }
    inside && $0 ~ "^[[:space:]#]*" key "[[:space:]]*=" { next }
    { print }
    inside && index($0, table) == 1 { print line; done = 1 }
    END { if (!done) printf "\n%s\n%s\n", table, line }
  ' "$1" >"$1.new"
  mv "$1.new" "$1"
}

# free_port prints an unused port of the loopback address outside of the system's ephemeral range. It prints no port twice, because suites
# run at the same time and use a port later: the folder $PORTS has an entry for each.
free_port() {
  local port
  [ -d "$PORTS" ] || return 1
  while port=$((20000 + RANDOM % 10000)) && { listening "$port" || ! mkdir "$PORTS/$port" 2>/dev/null; }; do :; done
  echo "$port"
}

# listening PORT succeeds if a process listens on a port of the loopback address.
listening() {
  (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# gone PID succeeds if a process has ended.
gone() {
  ! kill -0 "$1" 2>/dev/null
}

# stop PID terminates a child process and returns its exit code; it kills a process that does not end.
stop() {
  kill "$1" 2>/dev/null || true
  wait_for 15 gone "$1" || { echo "process $1 did not stop within 15 s"; kill -9 "$1"; }
  wait "$1"
}

trial_servers=()

# start_trial_server NAME [TABLE KEY VALUE]… starts a server in $WORK/NAME that federates on this machine, with these settings. Its
# address is in the file url.
start_trial_server() {
  local home=$WORK/$1 port url
  shift
  port=$(free_port) url=http://localhost:$port
  rm -rf "$home" && mkdir "$home"
  echo "$url" >"$home/url"
  (cd "$home" && "$BINARY" setup --yes --registrations open --url "$url" --listen "127.0.0.1:$port" --data-dir "$home/data" \
    --admin admin --email admin@example.org --password "$PASSWORD") >"$home/setup.log" 2>&1
  set_key "$home/config.toml" rate_limit enabled false
  set_key "$home/config.toml" federation allow_loopback true
  for (( ; $# >= 3; )); do
    set_key "$home/config.toml" "$1" "$2" "$3"
    shift 3
  done
  "$BINARY" serve --config "$home/config.toml" >"$home/log" 2>&1 &
  trial_servers+=($!)
  wait_for 30 curl -fsS "$url/api/v1/instance" || { cat "$home/log"; return 1; }
}

# stop_trial_servers stops them; each must exit with 0.
stop_trial_servers() {
  local server status=0
  for server in "${trial_servers[@]}"; do
    stop "$server" || status=1
  done
  trial_servers=()
  return "$status"
}

# unfit_logs FILE… fails if a server has logged an error.
unfit_logs() {
  ! grep -E 'level=ERROR|^panic:|DATA RACE' "$@"
}
