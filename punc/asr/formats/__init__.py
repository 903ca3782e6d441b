"""The formats of recognisers: one file each, found by its name.

A file has

    recognises(data)   whether these bytes (UTF-8) are of the format
    read(source)       the `Document` of a `Source`
    AFTER              formats that are tried first, because their files could be taken for this one
"""
