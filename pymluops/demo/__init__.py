"""The ``pymluops demo`` program: five operator families on a real scan and a real picture, checked against NumPy.

Data flows in one direction::

    scans.py, ply.py, records.py   files -> points, a piece at a time; npy.py reads headers
    images.py                      files -> pixels, at most as large as picture_size.py says
    lidar.py, range_view.py        used without a file: a modelled scan, a scan as a picture
    sources.py                     which of these a run uses
    voxels.py, image_features.py   points and pixels -> operator arguments
    pipeline.py                    runs and times the nine operator functions, one function a family
    reference.py, checks.py        the NumPy references and the comparison with them
    report.py, pictures_*.py       the table, the JSON document, the pictures
    command.py                     the command line
"""
