extension Migration {
    /// Used nonces instead of minted ones, and the key that authenticates nonces.
    ///
    /// The table `nonce` stays for what earlier versions minted, and for replicas of theirs that still run.
    /// Such a replica refuses a nonce of the new form as expired, which makes its client ask for another one.
    static let second = Migration(
        number: 2, minimumReader: 1,
        sql: """
            CREATE TABLE used_nonce (
                digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
                -- No token that carries it is valid any more then.
                kept_until bigint NOT NULL CHECK (kept_until BETWEEN 0 AND 253402300799999)
            );

            CREATE INDEX used_nonce_by_end ON used_nonce (kept_until);

            -- A secret that nonces can be made with, and nothing else. At most one row, which all replicas read.
            CREATE TABLE nonce_key (
                id integer PRIMARY KEY CHECK (id = 1),
                bytes bytea NOT NULL CHECK (octet_length(bytes) = 32)
            );
            """)
}
