#!/bin/bash
# The same as drive.sh under gavel, which stops and moves jobs.
POLICY=gavel:round_s=3 exec "$(dirname "$0")/drive.sh"
