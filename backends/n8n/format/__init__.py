"""n8n's workflow format: documents, versions, expressions. Also the frontend's."""
