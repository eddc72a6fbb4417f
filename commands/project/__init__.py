"""The decisions of a project in its `orgflow.toml`, and fixes in its files."""
