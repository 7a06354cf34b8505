#!/bin/bash
# The same as drive.sh under tiresias, which stops and moves jobs.
POLICY=tiresias:limit_s=4 exec "$(dirname "$0")/drive.sh"
