"""The result of `benchmarks/fit_cases.py`: the weight of each measure of two groups."""

WEIGHTS = (
    0.206,  # always
    0.772,  # pause
    0.259,  # reply
    0.299,  # handover
    0.0,  # again
    0.061,  # other receiver
    0.218,  # other sender
    -1.008,  # strangers
    0.972,  # same subject
    -2.7,  # interleaved
    0.103,  # duration
    0.703,  # people
    0.628,  # other people
    2.691,  # numbers
    0.758,  # other numbers
    1.164,  # names
    0.088,  # other names
    0.385,  # subjects
    0.025,  # other subjects
    1.342,  # smaller
    -0.215,  # larger
    -1.284,  # newcomers
    -0.371,  # people of many
    -0.999,  # rival numbers
    -0.903,  # rival names
    2.101,  # likeness
    -1.673,  # likeness of many
    -1.58,  # steps again
)
