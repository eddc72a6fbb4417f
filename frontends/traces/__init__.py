"""Readers of event logs and tool calls; they return events of cases, not models.

A log is not a model: it states what happened, and several models explain it. So no reader here is a
`Frontend`, as none in `orgflow.frontends.messages` is: `orgflowc discover --traces` makes a model
of the events, by a miner with a threshold that a person chooses.
"""
