"""The lines of outlines, for the frontend and the backend: their forms and their text."""
