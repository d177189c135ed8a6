#!/bin/sh
# One task with curl: submit, poll every second, download. Retries as `curl --retry` does: timeouts, 408, 429 and 5xx.
set -eu
number=$1
file="$PEER_OUT/$number.mp4"
[ -e "$file" ] && exit 0
image=
if [ "${2:-}" ]; then image=",\"image\":\"$PEER_BASE_URL/files/$2.png\""; fi
call() { curl --silent --show-error --fail --retry 5 --header "Authorization: Bearer $PEER_API_KEY" "$@"; }
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
body="{\"model\":\"modela-video-2-0-260128\",\"prompt\":\"scene $number\",\"seconds\":\"4\",\"resolution\":\"480p\",\"ratio\":\"16:9\"$image}"
task=$(call --header 'Content-Type: application/json' --data "$body" "$PEER_BASE_URL/v1/videos" | member id)
[ "$task" ] || exit 1
while :; do
  status=$(call "$PEER_BASE_URL/v1/videos/$task" | member status)
  case $status in
    completed) break ;;
    queued | in_progress) ;;
    *) exit 1 ;;
  esac
  sleep 1
done
call --output "$file.part" "$PEER_BASE_URL/v1/videos/$task/content"
mv "$file.part" "$file"
