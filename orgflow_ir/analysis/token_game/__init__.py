"""The BPMN token game: what a model means, its runs, and replay."""
