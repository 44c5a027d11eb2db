// PostgresStorage owns the PostgreSQL database: its schema, its pool of connections over libpq, and how domain values
// become rows. Every rule about accounts is AppleAccounts', which also says what a store promises.
