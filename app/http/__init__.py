"""HTTP for all routes: request ids, headers, CORS, compression, entity tags, errors."""
