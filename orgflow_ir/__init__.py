"""The process IR, its meaning, and the contracts of what stands around it."""
