"""The result of `benchmarks/fit_cases.py`: the weight of each measure of two groups."""

WEIGHTS = (
    0.434,  # always
    0.793,  # pause
    0.514,  # reply
    0.254,  # handover
    0.231,  # again
    0.0,  # other receiver
    0.162,  # other sender
    -1.369,  # strangers
    0.817,  # same subject
    -2.718,  # interleaved
    0.153,  # duration
    0.51,  # people
    0.546,  # other people
    2.677,  # numbers
    0.942,  # other numbers
    1.273,  # names
    0.527,  # other names
    0.544,  # subjects
    0.316,  # other subjects
    0.548,  # smaller
    -0.17,  # larger
    -1.247,  # newcomers
    2.115,  # likeness
    -2.779,  # likeness of many
    -1.504,  # steps again
)
