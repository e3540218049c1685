#!/bin/sh
# alone.sh FOLDER: complains if another one is at work there.
mkdir "$1/at_work" 2>/dev/null || echo two >>"$1/two_at_a_time"
sleep 0.3
rmdir "$1/at_work"
