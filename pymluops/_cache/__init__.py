"""Where the package keeps what it compiles, and where its temporary files lie.

`private` says which folders nobody else can write to, `location` which folder is the cache, `store`
keeps entries there, `scratch` has the temporary folder of this process, `command` is ``pymluops
cache``. What uses the cache: `pymluops.bang` for objects and libraries, `pymluops.sim.neuware` for
its folder, the coverage of kernels for its lines.
"""
