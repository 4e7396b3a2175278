# shellcheck shell=sh
# Sets $python to the first Python 3.11 or newer on PATH. Sourced by the commands beside it.
# Each candidate is tried, not only looked up: the python3 of a version manager may stand on PATH
# and yet refuse to run.
python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    found=$(python3 -c 'import sys; print("; python3 is Python %d.%d" % sys.version_info[:2])' 2>/dev/null)
    echo "Canopy needs Python 3.11 or newer on PATH, as python3 or python3.11 to python3.14$found." >&2
    exit 2
fi
