"""What a project decides in its `orgflow.toml`, and fixes in its files."""
