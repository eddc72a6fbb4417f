"""The language server: findings and fixes of models and of `orgflow.toml` in editors."""
