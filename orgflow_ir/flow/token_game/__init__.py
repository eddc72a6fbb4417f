"""The BPMN token game: the semantics of a model, its runs, and replay."""
