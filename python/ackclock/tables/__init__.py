"""Tables of runs: names of columns, measurements as Polars frames, and tables for people."""
