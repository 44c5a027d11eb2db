extension Migration {
    /// Finds a person by a digest of their key instead of the key itself.
    ///
    /// An index of Apple's names has a page for 50 people, and with millions of them the pages that lead to
    /// those are too many to stay in memory. Of digests there are more than twice as many in a page, so most
    /// look-ups read one page less. SQLite cannot change the constraints of a table, so it is made anew.
    static let third = Migration(
        number: 3,
        rebuildsTables: true,
        sql: """
            CREATE TABLE new_subject (
                id INTEGER PRIMARY KEY,
                team_id INTEGER NOT NULL REFERENCES team (id),
                sub TEXT NOT NULL CHECK (length(sub) BETWEEN 1 AND 255),
                account_id BLOB UNIQUE CHECK (length(account_id) = 16),
                created_at INTEGER CHECK (created_at BETWEEN 0 AND 253402300799999),
                email TEXT CHECK (length(email) BETWEEN 1 AND 320),
                email_is_verified INTEGER CHECK (email_is_verified IN (0, 1)),
                email_is_private INTEGER CHECK (email_is_private IN (0, 1)),
                email_at INTEGER CHECK (email_at BETWEEN 0 AND 253402300799999),
                unsigned_email TEXT CHECK (length(unsigned_email) BETWEEN 1 AND 320),
                forwarding INTEGER CHECK (forwarding BETWEEN 1 AND 99),
                forwarding_at INTEGER CHECK (forwarding_at BETWEEN 0 AND 253402300799999),
                first_name TEXT CHECK (length(first_name) BETWEEN 1 AND 256),
                last_name TEXT CHECK (length(last_name) BETWEEN 1 AND 256),
                real_user_status INTEGER,
                -- Of team_id and sub, by the rule of KeyDigest. In its index stands who is there once.
                key_digest BLOB NOT NULL CHECK (length(key_digest) = 16),
                CHECK ((account_id IS NULL) = (created_at IS NULL)),
                CHECK ((email IS NULL) = (email_is_verified IS NULL)),
                CHECK ((email IS NULL) = (email_is_private IS NULL)),
                CHECK ((email IS NULL) = (email_at IS NULL)),
                CHECK (email IS NULL OR unsigned_email IS NULL),
                CHECK ((forwarding IS NULL) = (forwarding_at IS NULL))
            ) STRICT;

            INSERT INTO new_subject
            SELECT id, team_id, sub, account_id, created_at, email, email_is_verified, email_is_private, email_at,
                unsigned_email, forwarding, forwarding_at, first_name, last_name, real_user_status,
                key_digest(team_id, sub)
            FROM subject ORDER BY id;

            DROP TABLE subject;
            ALTER TABLE new_subject RENAME TO subject;
            CREATE UNIQUE INDEX subject_by_key ON subject (key_digest);
            """)
}
