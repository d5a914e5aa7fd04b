#!/usr/bin/env bash
# skipped.sh REASON: a test that this build does not have. 77: skipped.
echo "$1"
exit 77
