"""What `orgflow_ir.testing` tries of a leaf: each function returns problems, a line each."""
