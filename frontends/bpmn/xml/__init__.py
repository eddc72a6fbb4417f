"""A BPMN file as XML: its tree and its namespaces."""
