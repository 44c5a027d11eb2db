extension Migration {
    /// Used nonces instead of minted ones, and the key that authenticates nonces.
    ///
    /// The table `nonce` stays for what earlier versions minted: its nonces are good until they expire, and
    /// are forgotten a day later.
    static let fifth = Migration(
        number: 5,
        sql: """
            CREATE TABLE used_nonce (
                digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                -- No token that carries it is valid any more then.
                kept_until INTEGER NOT NULL CHECK (kept_until BETWEEN 0 AND 253402300799999)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX used_nonce_by_end ON used_nonce (kept_until);

            -- A secret that nonces can be made with, and nothing else. At most one row.
            CREATE TABLE nonce_key (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                bytes BLOB NOT NULL CHECK (length(bytes) = 32)
            ) STRICT;
            """)
}
