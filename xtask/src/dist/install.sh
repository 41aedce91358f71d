#!/bin/sh
# Installs OpenFang @VERSION@ for one user: no root, nothing outside of the prefix.
#
#   OPENFANG_BASE=https://example.com/openfang sh install.sh [--prefix DIR] [--uninstall]
#
# OPENFANG_BASE is where the archive and SHA256SUMS are. The prefix is ~/.local.
set -eu

version=@VERSION@
system=@SYSTEM@
prefix=${HOME:?}/.local
action=install

fail() {
    echo "install: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
        --prefix)
            [ $# -ge 2 ] || fail "--prefix needs a directory"
            prefix=$2
            shift
            ;;
        --uninstall) action=uninstall ;;
        *) fail "unknown option $1; use --prefix DIR or --uninstall" ;;
    esac
    shift
done

if [ "$action" = uninstall ]; then
    list=$prefix/share/openfang/installed
    [ -f "$list" ] || fail "nothing is installed in $prefix"
    while IFS= read -r file; do
        rm -f "$prefix/$file"
    done < "$list"
    rm -f "$list"
    rmdir "$prefix/share/openfang" 2> /dev/null || true
    echo "removed OpenFang from $prefix; your data in ~/.openfang is untouched"
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this archive is for Linux; build OpenFang from its sources on $(uname -s)"
case $(uname -m) in
    x86_64 | amd64) ;;
    *) fail "this archive is for x86-64; build OpenFang from its sources on $(uname -m)" ;;
esac
base=${OPENFANG_BASE:?set OPENFANG_BASE to the URL of the directory with the archive and SHA256SUMS}
archive=openfang-$version-$system.tar.gz

if command -v curl > /dev/null; then
    fetch() { curl --fail --silent --show-error --location --output "$2" "$1"; }
elif command -v wget > /dev/null; then
    fetch() { wget --quiet --output-document "$2" "$1"; }
else
    fail "curl or wget is needed"
fi
if command -v sha256sum > /dev/null; then
    digest() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v shasum > /dev/null; then
    digest() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
else
    fail "sha256sum or shasum is needed to verify the archive"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch "$base/$archive" "$work/$archive" || fail "cannot fetch $base/$archive"
fetch "$base/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot fetch $base/SHA256SUMS"
expected=$(grep "  $archive\$" "$work/SHA256SUMS" | cut -d ' ' -f 1)
[ -n "$expected" ] || fail "SHA256SUMS does not name $archive; nothing was installed"
[ "$(digest "$work/$archive")" = "$expected" ] || fail "the checksum of $archive is wrong; nothing was installed"

mkdir "$work/tree"
tar -xzf "$work/$archive" -C "$work/tree"
mkdir -p "$prefix/share/openfang"
(cd "$work/tree" && find . -type f | sed 's|^\./||') > "$work/installed"
while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Renamed into place, so that a running binary is not written to.
    cp "$work/tree/$file" "$prefix/$file.new"
    mv "$prefix/$file.new" "$prefix/$file"
done < "$work/installed"
cp "$work/installed" "$prefix/share/openfang/installed"

echo "installed OpenFang $version in $prefix"
case :${PATH:-}: in
    *:"$prefix/bin":*) echo "next: openfang init" ;;
    *) echo "next: $prefix/bin/openfang init (add $prefix/bin to PATH)" ;;
esac
