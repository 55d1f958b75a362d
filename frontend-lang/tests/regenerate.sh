#!/bin/sh
# Writes the expected output of every program with CPython 3.11.
cd "$(dirname "$0")/programs" || exit 1
for file in *.py; do
    PYTHONHASHSEED=0 python3.11 "$file" > "${file%.py}.out" || echo "failed: $file"
done
