"""Parts of a compilation: inputs, the choice of frontends, targets and agents, processes."""
