#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads an OCI archive: archive.py FILE. Prints the name and the id of its image: the digest of its configuration. Fails
when there is no image or several, or when a blob is missing or another one is in its place.
"""
import hashlib
import json
import sys
import tarfile


def read_blob(archive, digest):
    algorithm, value = digest.split(':')
    data = archive.extractfile(f'blobs/{algorithm}/{value}').read()
    found = hashlib.new(algorithm, data).hexdigest()
    if found != value:
        sys.exit(f'blob {value} is {found}')
    return data


def main():
    with tarfile.open(sys.argv[1]) as archive:
        image, = json.load(archive.extractfile('index.json'))['manifests']
        manifest = json.loads(read_blob(archive, image['digest']))
        for blob in [manifest['config'], *manifest['layers']]:
            read_blob(archive, blob['digest'])
    print(image['annotations']['org.opencontainers.image.ref.name'], manifest['config']['digest'])


main()
