#!/bin/sh
# Runs the A2A conformance kits, which come from no registry, against a binary of ours, and prints their counts.
#
#   run.sh BINARY TCK_CHECKOUT [WHERE]
#
# TCK_CHECKOUT is a clone of a2aproject/a2a-tck with the branches 1.0-dev and 0.3.x. WHERE, a new directory, keeps the
# reports; without it nothing is kept. TCK_PYTHON is a Python (3.11 or later) that has what both kits need:
#
#   python3 -m venv V && V/bin/pip install pytest pytest-asyncio pytest-html pytest-json-report httpx requests responses \
#       grpcio grpcio-tools protobuf googleapis-common-protos jsonschema gherkin-official Jinja2 deepdiff packaging \
#       PyYAML python-dotenv pyOpenSSL
#
# 1.0-dev gets the strict card. It can try an agent only on what its card offers or leaves out, so it is run on three:
# with everything, with nothing, and with an extension that clients must know. Ends with 0 when nothing failed.
set -eu

if [ $# -lt 2 ]; then
    sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
binary=$(realpath "$1")
checkout=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
python=${TCK_PYTHON:-python3}
if [ -n "${3:-}" ]; then
    mkdir -p "$3"
    where=$(realpath "$3")
    keep=yes
else
    where=$(mktemp -d)
    keep=no
fi
daemon=
failed=0

stop() {
    [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
    [ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
    daemon=
}
leave() {
    stop
    [ "$keep" = yes ] || rm -rf "$where"
}
trap leave EXIT
trap 'exit 130' INT TERM

# start NAME LINE...: a home with the agent and these lines under [a2a], and a daemon on it; `address` is where it listens.
start() {
    home=$where/home-$1
    mkdir -p "$home/agents/tck"
    cp "$here/agent.toml" "$here/script.toml" "$home/agents/tck/"
    shift
    {
        echo 'default_agent = "tck"'
        # Kit 1.0-dev uses one message id for many messages.
        echo 'resends = false'
        # The kits receive push notifications on this machine.
        printf '[egress]\nallow = ["127.0.0.1", "localhost"]\n'
        printf '[a2a]\nenabled = true\n'
        printf '%s\n' "$@"
    } >"$home/config.toml"
    OPENFANG_HOME=$home "$binary" start --listen 127.0.0.1:0 >"$home/log" 2>&1 &
    daemon=$!
    tries=0
    until [ -s "$home/daemon.json" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ] || ! kill -0 "$daemon" 2>/dev/null; then
            cat "$home/log" >&2
            exit 1
        fi
        sleep 0.1
    done
    address=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$home/daemon.json")
}

# kit NAME BRANCH OPTION...: a run of the kit; the last line of pytest has the counts.
kit() {
    name=$1 branch=$2
    shift 2
    tree=$where/$branch
    if [ ! -d "$tree" ]; then
        mkdir "$tree"
        git -C "$checkout" archive "$branch" | tar -x -C "$tree"
    fi
    status=0
    (cd "$tree" && "$python" run_tck.py "$@") >"$where/$name.log" 2>&1 || status=$?
    counts=$(grep -E '[0-9]+ (passed|failed|skipped|error).* in [0-9.]+s' "$where/$name.log" | tail -n 1 | tr -d '=')
    printf '%-32s %s\n' "$name" "${counts:-did not run: see its log}"
    grep -E '^(FAILED|ERROR) tests' "$where/$name.log" | sed 's/^/    /' || true
    [ $status -eq 0 ] || failed=1
}

both=jsonrpc,http_json

start everything
for transport in jsonrpc http_json; do
    kit "1.0-everything-$transport" 1.0-dev --sut-host "http://$address/a2a/strict" --transport $transport \
        -- --webhook-host 127.0.0.1
done
for transport in jsonrpc rest; do
    for category in mandatory capabilities quality features; do
        kit "0.3-$category-$transport" 0.3.x --sut-url "http://$address/a2a" --category $category \
            --transports $transport
    done
done
kit 0.3-transport-equivalence 0.3.x --sut-url "http://$address/a2a" --category transport-equivalence \
    --transports jsonrpc,rest
stop

start nothing 'streaming = false' 'push_notifications = false' 'extended_card = false'
kit 1.0-nothing 1.0-dev --sut-host "http://$address/a2a/strict" --transport $both -- -k 'not_supported or unsupported'
stop

start extension 'required_extensions = ["urn:a2a:tck:required-extension"]'
kit 1.0-extension 1.0-dev --sut-host "http://$address/a2a/strict" --transport $both -- -k 'required_extension'
stop

exit $failed
