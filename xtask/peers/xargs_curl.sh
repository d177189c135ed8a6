#!/bin/sh
# All tasks: xargs runs as many at once as are allowed; a chain is a loop.
set -eu
here=$(dirname "$0")
if [ "$PEER_CHAIN" = 1 ]; then
  before=
  for number in $(seq -f %04.0f 0 $((PEER_TASKS - 1))); do
    sh "$here/one_task.sh" "$number" $before
    before=$number
  done
else
  seq -f %04.0f 0 $((PEER_TASKS - 1)) | xargs -P "$PEER_JOBS" -n 1 sh "$here/one_task.sh"
fi
