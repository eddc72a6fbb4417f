"""The types of nodes that orgflow emits, one module each."""
