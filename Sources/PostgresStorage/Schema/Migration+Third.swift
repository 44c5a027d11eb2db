extension Migration {
    /// Distinguishes an address of which nothing is known from one that Apple called no relay.
    ///
    /// Until here both were false in `email_is_private`, which older replicas go on to write. So a second
    /// column says what is known; what it does not say of a row is unknown. An older replica that writes an
    /// address during a rolling upgrade leaves it as it is, until the person's next sign-in.
    static let third = Migration(
        number: 3, minimumReader: 1,
        sql: """
            -- True where Apple said that the address is no relay. Without it, email_is_private = false says nothing.
            ALTER TABLE subject ADD COLUMN email_is_not_private boolean;
            """)
}
