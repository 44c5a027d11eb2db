// PostgresCluster starts throw-away PostgreSQL servers for tests.
