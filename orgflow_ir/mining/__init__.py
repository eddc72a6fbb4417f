"""Process trees from event rows: an inductive miner, and models of the trees."""
