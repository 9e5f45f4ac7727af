#!/usr/bin/env bash
# Builds the wheel and installs it, with its dependencies, for each Python given, in new environments outside the repository;
# then it must import, play, and replay the golden records there, compiled and as plain Python.
#   scripts/check_packaging.sh [PYTHON ...]     without one: every python3.11 and newer on the PATH and in pyenv
set -euo pipefail

if [[ "${1-}" == --help || "${1-}" == -h ]]; then
    sed -n '2,4s/^# *//p' "$0"
    exit
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

pythons=("$@")
if ((${#pythons[@]} == 0)); then
    declare -A seen=()
    for python in $(compgen -c python3. | grep -E '^python3\.[0-9]+$' | sort -u) "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 11) else "")' 2>/dev/null) || continue
        [[ -z "$version" || -n "${seen[$version]-}" ]] && continue
        seen[$version]=1
        pythons+=("$python")
    done
fi
((${#pythons[@]})) || { echo 'no Python 3.11 or newer found' >&2; exit 1; }

"${pythons[0]}" -m venv "$folder/build"
"$folder/build/bin/python" -m pip install -q --disable-pip-version-check build
"$folder/build/bin/python" -m build --outdir "$folder/dist" "$root" >/dev/null

cd "$folder"
for python in "${pythons[@]}"; do
    rm -rf venv
    "$python" -m venv venv
    venv/bin/python -m pip install -q --disable-pip-version-check --no-input dist/*.whl
    env -u PYTHONPATH NUMBA_DISABLE_JIT=1 venv/bin/python "$root/scripts/check_installed.py" "$root" "$root"/tests/golden/*.record
    env -u PYTHONPATH venv/bin/python "$root/scripts/check_installed.py" "$root" "$root"/tests/golden/*.record
done
