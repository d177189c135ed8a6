#!/usr/bin/env bash
# The command of the action: check, plan or run. Reads COMMAND, FILE, MAX_COST, ARGS and REPORT; writes the summary of the job and the exit code.
set -uo pipefail

fail() { echo "::error::$1"; exit 2; }

[ -f "$FILE" ] || fail "there is no file $FILE"
# Arguments are separated by blanks, and are not expanded.
read -r -a more <<< "${ARGS:-}"
summary=${GITHUB_STEP_SUMMARY:-/dev/null}

case "$COMMAND" in
  check)
    runner check "$FILE" --format github ${more[@]+"${more[@]}"}
    code=$?
    ;;
  plan)
    {
      echo "### Plan of \`$FILE\`"
      echo
      echo '```text'
      # Its messages, such as that the account is not checked without a key, go to the log of the job.
      runner plan "$FILE" ${more[@]+"${more[@]}"}
      code=$?
      echo '```'
      [ "$code" = 0 ] || echo "\`runner plan\` ended with exit code $code; its messages are in the log of the job."
    } > "$REPORT"
    cat "$REPORT" >> "$summary"
    ;;
  run)
    if [ -n "${RUNNER_BASE_URL:-}" ] && [ -z "${MAX_COST:-}" ]; then
      fail "max-cost is missing: a job spends money only within a cap"
    fi
    runner run "$FILE" ${MAX_COST:+--max-cost "$MAX_COST"} ${more[@]+"${more[@]}"}
    code=$?
    runner report "$FILE" >> "$summary"
    runner report "$FILE" --format junit --output "${REPORT%.md}.xml"
    ;;
  *) fail "the command $COMMAND is none of check, plan and run" ;;
esac

echo "exit-code=$code" >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
