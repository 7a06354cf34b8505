#!/bin/bash
# The Debian package: built, looked into, unpacked, and as root installed, removed and purged below a directory.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
repository=$(realpath "$here/../..")
build=$(dirname "$STINT")
version=$(cat "$repository/VERSION")

if ! command -v dpkg-deb >/dev/null || ! command -v make >/dev/null || [ ! -x "$build/stint-guard" ]; then
	echo "skip - dpkg-deb, make or $build/stint-guard is not there: no package was built"
	finish
fi

# shellcheck disable=SC2317 # called by run
make_deb() { # DIR
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$repository" -o all B="$build" DEB_DIR="$PWD/$1" deb
}

# ---- built

arch=$(dpkg --print-architecture)
run make_deb one
want 0 "make deb"
deb=$PWD/one/stint_$version-1_$arch.deb
is "is where it is said to be" [ "$(cat stdout)" = "$deb" ]
is "and nothing is left beside it" [ "$(ls one)" = "$(basename "$deb")" ]
run make_deb two
is "built again it is the same" cmp "$deb" "two/$(basename "$deb")"

# ---- looked into

run dpkg-deb --info "$deb"
want 0 "its head can be read"
out "^ Version: $version-1$" "it has our version"
out "^ Depends: .*libc6" "it says what it needs"
out '^ Installed-Size: [1-9]' "it says how large it is"
dpkg-deb --contents "$deb" | awk '{ print $1, $2, $6 }' >contents
run cat contents
for file in usr/bin/stint usr/libexec/stint/stint-guard; do
	out "^-rwxr-xr-x root/root \./$file$" "$file is a program of root's"
done
for file in etc/default/stint usr/lib/systemd/system/stint.service usr/lib/systemd/user/stint.service \
	usr/share/man/man1/stint.1.gz usr/share/man/man1/stint-sim.1.gz \
	usr/share/bash-completion/completions/stint usr/share/zsh/vendor-completions/_stint \
	usr/share/fish/vendor_completions.d/stint.fish usr/share/doc/stint/copyright \
	usr/share/doc/stint/changelog.gz usr/share/doc/stint/changelog.Debian.gz \
	usr/share/doc/stint/doc/operations.md usr/share/stint/clients/python/stint.py; do
	out "^-rw-r--r-- root/root \./$file$" "$file is there"
done
is "nothing is elsewhere" [ -z "$(awk '{ print $3 }' contents | grep -vE '^\./(usr/|etc/|$)')" ]
is "nothing is enabled" [ "$(grep -c wants contents)" = 0 ]
dpkg-deb --control "$deb" control
is "the one file of settings is a conffile" [ "$(cat control/conffiles)" = /etc/default/stint ]
for script in postinst prerm postrm; do
	is "$script is a shell script" sh -n control/$script
done
cat control/p* >scripts
is "scripts enable and start nothing" [ "$(grep -cE '(invoke|systemctl|helper).* (start|enable|restart)( |$)' scripts)" = 0 ]
if command -v lintian >/dev/null; then
	run lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$deb"
	want 0 "lintian has no complaint"
else
	echo "skip - lintian is not installed: the package was not checked by it"
fi

# ---- unpacked

run dpkg-deb --extract "$deb" tree
want 0 "it unpacks"
run tree/usr/bin/stint --version
out "^stint $version" "what is in it runs"
is "checksums are right" eval '(cd tree && md5sum --quiet -c ../control/md5sums)'
is "so are its pages" eval 'gzip -dc tree/usr/share/man/man1/stint.1.gz | grep -q "^\.TH STINT 1"'
# shellcheck disable=SC2016 # for eval
is "its changelog is Debian's" eval 'gzip -dc tree/usr/share/doc/stint/changelog.Debian.gz | head -n 1 | grep -q "^stint ($version-1) "'

# ---- installed, removed, purged

if [ "$(id -u)" != 0 ]; then
	echo "skip - installing a package needs root: it was not installed"
	finish
fi
root=$PWD/root
mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root/var/lib/stint/jobs/1/1"
touch "$root/var/lib/dpkg/status" "$root/var/lib/stint/stint.db"
# shellcheck disable=SC2317 # called by run
dpkg_there() {
	dpkg --root="$root" --log=/dev/null --force-depends --force-script-chrootless --force-not-root "$@"
}
run dpkg_there --install "$deb"
want 0 "it installs"
is "it is known as installed" grep -q '^Status: install ok installed' "$root/var/lib/dpkg/status"
run "$root/usr/bin/stint" --version
want 0 "the installed program runs"
is "no service was enabled" [ ! -e "$root/etc/systemd" ]
echo 'STINT_DAEMON_FLAGS=--policy srtf' >"$root/etc/default/stint"
run dpkg_there --install "two/$(basename "$deb")"
want 0 "it installs over itself"
is "settings are kept" grep -q srtf "$root/etc/default/stint"
run dpkg_there --remove stint
want 0 "it is removed"
is "programs are gone" [ ! -e "$root/usr/bin/stint" ]
is "settings stay" [ -e "$root/etc/default/stint" ]
is "the record stays" [ -e "$root/var/lib/stint/stint.db" ]
run dpkg_there --purge stint
want 0 "it is purged"
is "settings are gone" [ ! -e "$root/etc/default/stint" ]
is "the record is gone" [ ! -e "$root/var/lib/stint" ]
is "nothing of ours is left" [ -z "$(find "$root" -name '*stint*' -not -path '*/var/lib/dpkg/*')" ]

finish
