#!/bin/sh
# Process 1 of the image's containers. The kernel drops what process 1 has no handler for, and a Node that starts has none
# yet: a container that is stopped while it starts would live until its grace period is over. So the program is a child,
# which a signal always reaches, and whatever loses its parent in the container is reaped here.
child= caught=
trap 'caught=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM USR1 INT HUP
# What runs in the background gets no standard input unless told so.
exec 3<&0
haptic "$@" <&3 3<&- &
child=$!
[ -z "$caught" ] || kill -TERM "$child" 2>/dev/null
# A signal ends `wait` early; then it is asked again.
while :; do
  caught=
  wait "$child"
  code=$?
  [ -n "$caught" ] || exit "$code"
done
