"""What requests and responses share: ids, headers, CORS, compression, entity tags, errors."""
