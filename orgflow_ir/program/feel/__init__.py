"""The values and functions of FEEL: decimals, dates, durations, ranges, and their relations."""
