"""The reader of sentences: parsing, phrases, conditions, step names; word lists are data in
`lexica/`. Drafts from texts (`agents/text`) and discovery (`agents/discovery`) read with it."""
