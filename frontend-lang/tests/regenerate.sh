#!/bin/sh
# Writes the expected output of every program with CPython 3.11.
folder=$(cd "$(dirname "$0")/programs" && pwd) || exit 1
empty=$(mktemp -d)
cd "$empty" || exit 1
for file in "$folder"/*.py; do
    PYTHONHASHSEED=0 python3.11 "$file" > "${file%.py}.out" || echo "failed: $file"
done
rmdir "$empty"
